import { createSocket, type Socket } from 'node:dgram';
import { readSync } from 'node:fs';
import { must } from '../../../engine/base/assert.ts';
import type { Address } from '../../address.ts';

/** Receiver of datagrams, which owns the place that they are read into. */
export interface DatagramSink {
  /** Buffer with at least DATAGRAM_BYTES_MAX bytes behind `start`, where the next datagram goes. */
  readonly bytes: Buffer;
  readonly start: number;
  /** Takes the datagram at `start`. `address` is that of its sender, where it is known. */
  take(length: number, address?: string): void;
}

/** Length of the longest datagram. */
export const DATAGRAM_BYTES_MAX = 65_535;

/** Buffer asked of the kernel, which gives as much as `net.core.rmem_max` allows. */
const RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;
/** Time from one reading of the descriptor to the next. */
const READ_MS = 1;
/** Datagrams that one reading takes at most, so that the thread does something else in between. */
const READ_DATAGRAMS_MAX = 1_024;
/** Readings in a row, before the next datagram is an event, which has the address of its sender. */
const READINGS_MAX = 50;

/** Parts of the handle of a socket that node:dgram does not document. */
interface Handle {
  fd: number;
  recvStart(): unknown;
  recvStop(): unknown;
}

/** The handle, which node:dgram keeps in a state under a symbol; undefined when that is not as it is known. */
function handleOf(socket: Socket): Handle | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state = symbol && (Reflect.get(socket, symbol) as { handle?: Partial<Handle> | null });
  const handle = state?.handle;
  const isKnown =
    typeof handle?.recvStart === 'function' &&
    typeof handle.recvStop === 'function' &&
    typeof handle.fd === 'number' &&
    handle.fd >= 0;
  return isKnown ? (handle as Handle) : undefined;
}

/**
 * A socket for datagrams, which go to a sink. The first one is an event of node:dgram. Those behind it are read from
 * the descriptor once a millisecond, straight to their place, until none is left: that takes 2 us each where an event
 * takes 7. Where the descriptor cannot be had all are events.
 */
export class DatagramSocket {
  readonly #socket: Socket;
  readonly #sink: DatagramSink;
  readonly #failed: (error: Error) => void;
  readonly #handle: Handle | undefined;
  #timer: NodeJS.Timeout | undefined;
  #readings = 0;

  private constructor(socket: Socket, sink: DatagramSink, failed: (error: Error) => void) {
    this.#socket = socket;
    this.#sink = sink;
    this.#failed = failed;
    this.#handle = handleOf(socket);
    socket.on('error', failed);
    socket.on('message', (datagram, { address }) => {
      sink.bytes.set(datagram, sink.start);
      sink.take(datagram.length, address);
      this.#readOn();
    });
  }

  /** Takes an address; its port may be 0. Rejects with the fault of the system. `failed` is told what fails later. */
  static bind(
    { host, port }: Address,
    sink: DatagramSink,
    failed: (error: Error) => void,
  ): Promise<DatagramSocket> {
    const type = host.includes(':') ? 'udp6' : 'udp4';
    const socket = createSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES });
    return new Promise((resolve, reject) => {
      socket.once('error', (cause) => {
        socket.close();
        reject(cause);
      });
      socket.bind({ address: host, port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        resolve(new DatagramSocket(socket, sink, failed));
      });
    });
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Gives the sink what has come; resolves when the socket is closed. */
  close(): Promise<void> {
    if (this.#timer !== undefined) this.#read();
    clearTimeout(this.#timer);
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  /** Leaves the next datagrams to readings. */
  #readOn(): void {
    if (this.#handle === undefined) return;
    this.#handle.recvStop();
    this.#readings = 0;
    this.#timer = setTimeout(() => this.#reading(), READ_MS);
  }

  #reading(): void {
    this.#timer = undefined;
    const count = this.#read();
    if (count === 0 || ++this.#readings === READINGS_MAX) this.#handle?.recvStart();
    else this.#timer = setTimeout(() => this.#reading(), READ_MS);
  }

  /** Reads datagrams until none is left; returns how many. */
  #read(): number {
    const { fd } = must(this.#handle, 'handle');
    const sink = this.#sink;
    let count = 0;
    try {
      for (; count < READ_DATAGRAMS_MAX; count++) {
        sink.take(readSync(fd, sink.bytes, sink.start, DATAGRAM_BYTES_MAX, null));
      }
    } catch (error) {
      // None is left, as mostly, or the socket has a fault.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.#failed(error as Error);
    }
    return count;
  }
}
