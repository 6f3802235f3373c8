import { constants, createZstdCompress, createZstdDecompress, zstdCompressSync } from 'node:zlib';
import { sameBytes } from '../base/hash.ts';

/** Part of a stream of node:zlib that does its work. Node documents it nowhere, so it is tried before it is used. */
interface Handle {
  writeSync(
    flush: number,
    input: Uint8Array,
    inputFrom: number,
    inputBytes: number,
    output: Uint8Array,
    outputFrom: number,
    outputBytes: number,
  ): void;
  onerror(): void;
}

/** Text that is tried at first. */
const SAMPLE = new Uint8Array(1_024).fill(0x61, 512);

/**
 * A stream of node:zlib that is used for frame after frame: what is made for each call, a stream with its memory, takes
 * as long as a piece of a text. Owned by one thread.
 */
class FrameStream {
  readonly #handle: Handle;
  /** Room and input that the last write left. */
  readonly #state: Uint32Array;
  #hasFailed = false;

  private constructor(handle: Handle, state: Uint32Array) {
    this.#handle = handle;
    this.#state = state;
    handle.onerror = () => {
      this.#hasFailed = true;
    };
  }

  /** `undefined` where Node's streams are others. */
  static of(stream: { _handle?: Partial<Handle>; _writeState?: unknown }): FrameStream | undefined {
    const { _handle: handle, _writeState: state } = stream;
    if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array))
      return undefined;
    return new FrameStream(handle as Handle, state);
  }

  /** Does all of its work for `input`; returns the bytes at the begin of `output`, -1 when it failed. */
  write(input: Uint8Array, output: Uint8Array): number {
    const { length } = output;
    this.#handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, length);
    const [roomLeft, inputLeft] = this.#state;
    return this.#hasFailed || inputLeft !== 0 ? -1 : length - roomLeft;
  }
}

/** Decompressor that is used for frame after frame. Owned by one thread. */
export class ZstdFrames {
  readonly #stream: FrameStream;

  private constructor(stream: FrameStream) {
    this.#stream = stream;
  }

  /** `undefined` where Node has no such stream. */
  static make(): ZstdFrames | undefined {
    const stream = FrameStream.of(Object(createZstdDecompress()));
    if (stream === undefined) return undefined;
    const frames = new ZstdFrames(stream);
    const packed = zstdCompressSync(SAMPLE, { pledgedSrcSize: SAMPLE.length });
    const found = new Uint8Array(SAMPLE.length);
    const isRight = frames.inflate(packed, found) && frames.inflate(packed, found);
    return isRight && sameBytes(found, 0, SAMPLE, 0, SAMPLE.length) ? frames : undefined;
  }

  /** Decompresses a frame, which fills `target`; false when it does not, and then it is not to be used again. */
  inflate(frame: Uint8Array, target: Uint8Array): boolean {
    return this.#stream.write(frame, target) === target.length;
  }
}

/** Bytes that a frame may have beside those that it is made of: a part of them, and some more. */
const EXCESS_PART = 128;
const EXCESS_BYTES = 512;

/** Compressor that makes frame after frame. Owned by one thread. */
export class ZstdPacker {
  readonly #stream: FrameStream;
  #room = new Uint8Array(0);

  private constructor(stream: FrameStream) {
    this.#stream = stream;
  }

  /** `undefined` where Node has no such stream. */
  static make(level: number): ZstdPacker | undefined {
    const params = { [constants.ZSTD_c_compressionLevel]: level };
    const stream = FrameStream.of(Object(createZstdCompress({ params })));
    if (stream === undefined) return undefined;
    const packer = new ZstdPacker(stream);
    for (let time = 0; time < 2; time++) {
      const packed = packer.pack(SAMPLE);
      const wanted = zstdCompressSync(SAMPLE, { params, pledgedSrcSize: SAMPLE.length });
      if (packed === undefined || Buffer.compare(packed, wanted) !== 0) return undefined;
    }
    return packer;
  }

  /**
   * Makes a frame, which tells the length of its content; good until the next one. `undefined` when that fails, and
   * then it is not to be used again.
   */
  pack(bytes: Uint8Array): Uint8Array | undefined {
    const most = bytes.length + Math.ceil(bytes.length / EXCESS_PART) + EXCESS_BYTES;
    if (most > this.#room.length)
      this.#room = new Uint8Array(Math.max(most, this.#room.length * 2));
    const length = this.#stream.write(bytes, this.#room);
    return length > 0 && length < this.#room.length ? this.#room.subarray(0, length) : undefined;
  }
}
