import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';
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
 * Decompressor that is used for frame after frame: what node:zlib makes for each call, a stream with its memory, takes
 * as long as a piece of a dictionary. Owned by one thread.
 */
export class ZstdFrames {
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

  /** `undefined` where Node has no such stream. */
  static make(): ZstdFrames | undefined {
    const stream: { _handle?: Partial<Handle>; _writeState?: unknown } = Object(
      createZstdDecompress(),
    );
    const { _handle: handle, _writeState: state } = stream;
    if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array))
      return undefined;
    const frames = new ZstdFrames(handle as Handle, state);
    const packed = zstdCompressSync(SAMPLE, { pledgedSrcSize: SAMPLE.length });
    const found = new Uint8Array(SAMPLE.length);
    const isRight = frames.inflate(packed, found) && frames.inflate(packed, found);
    return isRight && sameBytes(found, 0, SAMPLE, 0, SAMPLE.length) ? frames : undefined;
  }

  /** Decompresses a frame, which fills `target`; false when it does not, and then it is not to be used again. */
  inflate(frame: Uint8Array, target: Uint8Array): boolean {
    const { length } = target;
    const end = constants.ZSTD_e_end;
    this.#handle.writeSync(end, frame, 0, frame.length, target, 0, length);
    const [roomLeft, inputLeft] = this.#state;
    return !this.#hasFailed && roomLeft === 0 && inputLeft === 0;
  }
}
