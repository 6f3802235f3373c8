import { readSync } from 'node:fs';

/** Receiver of datagrams. */
export interface DatagramSink {
  /**
   * Takes the datagram in `bytes[start, end)`, which is overwritten behind the call. `address` is that of its sender,
   * where it is known.
   */
  take(bytes: Buffer, start: number, end: number, address?: string): void;
}

/** Way to read datagrams from a descriptor without waiting for any. */
export interface DatagramReader {
  /**
   * Gives a sink what is there, `max` datagrams and some 60 more at most; returns how many. Throws what the system
   * says of the socket.
   */
  read(fd: number, sink: DatagramSink, max: number): number;
}

/** Length of the longest datagram. */
export const DATAGRAM_BYTES_MAX = 65_535;

/** Reader of one datagram a call, the plain form. */
export class SingleReader implements DatagramReader {
  readonly #bytes = Buffer.alloc(DATAGRAM_BYTES_MAX);

  read(fd: number, sink: DatagramSink, max: number): number {
    const bytes = this.#bytes;
    let count = 0;
    try {
      for (; count < max; count++) {
        sink.take(bytes, 0, readSync(fd, bytes, 0, DATAGRAM_BYTES_MAX, null));
      }
    } catch (error) {
      // None is left, as mostly, or the socket has a fault.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    return count;
  }
}
