import { getSystemErrorName } from 'node:util';
import { type CLibrary, openCLibrary } from '../../c-library.ts';
import { DATAGRAM_BYTES_MAX, type DatagramReader, type DatagramSink } from './datagram-reader.ts';

/**
 * The memory that the system reads and writes:
 *
 *   headers   DATAGRAMS_MAX times `struct mmsghdr`: a `struct msghdr`, and the length of what was received
 *   vectors   DATAGRAMS_MAX times `struct iovec`: the place of a room and its length
 *   rooms     DATAGRAMS_MAX times ROOM_BYTES
 *
 * with structures as 64-bit Linux has them.
 */

/** Datagrams that one call receives at most. */
const DATAGRAMS_MAX = 64;
/** A datagram's room is an odd number of cache lines, so that all of them do not share few sets of a cache. */
const ROOM_BYTES = 65_536 + 33 * 64;

const HEADER_BYTES = 64;
const HEADER_VECTORS = 16;
const HEADER_VECTOR_COUNT = 24;
const HEADER_LENGTH = 56;

const VECTORS_START = DATAGRAMS_MAX * HEADER_BYTES;
const VECTOR_BYTES = 16;
const VECTOR_LENGTH = 8;

const ROOMS_START = VECTORS_START + DATAGRAMS_MAX * VECTOR_BYTES;
const MEMORY_BYTES = ROOMS_START + DATAGRAMS_MAX * ROOM_BYTES;

const MSG_DONTWAIT = 0x40;

/** Part of the C library that is called. */
interface Library extends Pick<CLibrary, 'addressOf' | 'errno'> {
  /** Fills in rooms and headers; returns how many, or -1. */
  recvmmsg(fd: number, headers: Buffer, count: number, flags: number, timeout: null): number;
}

/** The C library; undefined where it cannot be called, or has no such function. */
async function openLibrary(): Promise<Library | undefined> {
  const library = await openCLibrary();
  if (library === undefined) return undefined;
  try {
    const recvmmsg = library.func('int recvmmsg(int, void *, unsigned int, int, void *)');
    return { ...library, recvmmsg };
  } catch {
    return undefined;
  }
}

/** Reader of many datagrams by one call of `recvmmsg`, which Node does not have. */
export class BatchReader implements DatagramReader {
  readonly #library: Library;
  /** V8 neither moves nor frees it while the reader has it. */
  readonly #memory = Buffer.alloc(MEMORY_BYTES);

  private constructor(library: Library) {
    this.#library = library;
    const memory = this.#memory;
    const base = library.addressOf(memory);
    const point = (at: number, to: number): void => {
      memory.writeBigUInt64LE(base + BigInt(to), at);
    };
    for (let at = 0; at < DATAGRAMS_MAX; at++) {
      const header = at * HEADER_BYTES;
      const vector = VECTORS_START + at * VECTOR_BYTES;
      point(header + HEADER_VECTORS, vector);
      memory.writeUInt32LE(1, header + HEADER_VECTOR_COUNT);
      point(vector, ROOMS_START + at * ROOM_BYTES);
      memory.writeUInt32LE(DATAGRAM_BYTES_MAX, vector + VECTOR_LENGTH);
    }
  }

  /** A reader; undefined where the system or its library has no such call. */
  static async open(): Promise<BatchReader | undefined> {
    const library = await openLibrary();
    return library && new BatchReader(library);
  }

  read(fd: number, sink: DatagramSink, max: number): number {
    const memory = this.#memory;
    let sum = 0;
    for (let count = DATAGRAMS_MAX; count === DATAGRAMS_MAX && sum < max; sum += count) {
      count = this.#receive(fd);
      for (let at = 0; at < count; at++) {
        const start = ROOMS_START + at * ROOM_BYTES;
        const length = memory.readUInt32LE(at * HEADER_BYTES + HEADER_LENGTH);
        sink.take(memory, start, start + length);
      }
    }
    return sum;
  }

  /** Fills in the first rooms; returns how many. */
  #receive(fd: number): number {
    const library = this.#library;
    const count = library.recvmmsg(fd, this.#memory, DATAGRAMS_MAX, MSG_DONTWAIT, null);
    if (count >= 0) return count;
    const code = getSystemErrorName(-library.errno());
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw Object.assign(new Error(`${code}: recvmmsg`), { code });
  }
}
