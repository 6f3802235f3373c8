import { createSocket, type Socket } from 'node:dgram';
import { must } from '../../../engine/base/assert.ts';
import type { Address } from '../../address.ts';
import { BatchReader } from './batch-reader.ts';
import { type DatagramReader, type DatagramSink, SingleReader } from './datagram-reader.ts';

/** Buffer asked of the kernel, which gives as much as `net.core.rmem_max` allows. */
const RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;
/** Time from one reading of the descriptor to the next, while more is left or the kernel's buffer is small. */
const READ_MS = 1;
/** That time where the kernel gave the whole buffer: fewer wake-ups, each with more datagrams. */
const READ_LARGE_MS = 3;
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
 * the descriptor every few milliseconds until none is left: that takes 1 us each where an event takes 7. Where the
 * descriptor cannot be had all are events.
 */
export class DatagramSocket {
  readonly #socket: Socket;
  readonly #sink: DatagramSink;
  readonly #failed: (error: Error) => void;
  readonly #handle: Handle | undefined;
  readonly #readMs: number;
  #reader: DatagramReader;
  #timer: NodeJS.Timeout | undefined;
  #readings = 0;

  private constructor(
    socket: Socket,
    sink: DatagramSink,
    failed: (error: Error) => void,
    reader: DatagramReader,
  ) {
    this.#socket = socket;
    this.#sink = sink;
    this.#failed = failed;
    this.#reader = reader;
    this.#handle = handleOf(socket);
    this.#readMs = socket.getRecvBufferSize() >= RECEIVE_BUFFER_BYTES ? READ_LARGE_MS : READ_MS;
    socket.on('error', failed);
    socket.on('message', (datagram, { address }) => {
      sink.take(datagram, 0, datagram.length, address);
      this.#readOn();
    });
  }

  /**
   * Takes an address; its port may be 0. Rejects with the fault of the system. `failed` is told what fails later.
   * Datagrams are read many at a time where the system can; `reader` is for tests.
   */
  static async bind(
    { host, port }: Address,
    sink: DatagramSink,
    failed: (error: Error) => void,
    reader?: DatagramReader,
  ): Promise<DatagramSocket> {
    const way = reader ?? (await BatchReader.open()) ?? new SingleReader();
    const type = host.includes(':') ? 'udp6' : 'udp4';
    const socket = createSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES });
    return new Promise((resolve, reject) => {
      socket.once('error', (cause) => {
        socket.close();
        reject(cause);
      });
      socket.bind({ address: host, port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        resolve(new DatagramSocket(socket, sink, failed, way));
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
    else {
      const waitMs = count < READ_DATAGRAMS_MAX ? this.#readMs : READ_MS;
      this.#timer = setTimeout(() => this.#reading(), waitMs);
    }
  }

  /** Reads datagrams until none is left; returns how many. After a fault they are read one by one. */
  #read(): number {
    const { fd } = must(this.#handle, 'handle');
    try {
      return this.#reader.read(fd, this.#sink, READ_DATAGRAMS_MAX);
    } catch (error) {
      this.#reader = new SingleReader();
      this.#failed(error as Error);
      return 0;
    }
  }
}
