import { createServer, type Server, type Socket } from 'node:net';
import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Intake } from '../ingest/intake.ts';
import type { IngestThread, LineSource } from '../ingest/thread.ts';
import { LineFrame } from './frame.ts';

/** What the listener for lines over TCP needs. */
export interface TcpOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  intake: Pick<Intake, 'leastBusy' | 'whenRoom'>;
  /** Told of accept failures, such as too many open files; the listener goes on. */
  failed: (error: Error) => void;
}

/** An open TCP listener. */
export interface TcpListener {
  readonly port: number;
  readonly counts: TcpCounts;
  /**
   * Takes no new connection and no more bytes; closes each connection when what it sent is durable, at most `graceMs`
   * later.
   */
  close(graceMs: number): Promise<void>;
}

/** Sums since the start. */
export interface TcpCounts {
  connections: number;
  /** Closed by us as their unfinished lines took too much memory in all. */
  connectionsRefused: number;
  linesCut: number;
}

const BACKLOG = 1_024;
const KEEP_ALIVE_MS = 60_000;
/** A connection is not read while this much of it waits for the worker, and again below half of it. */
const UNREAD_BYTES_MAX = 1_048_576;
/** Memory for the beginnings of lines, of all connections together. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** Room beyond a chunk and what is held: line feeds that are added. */
const ADDED_BYTES_MAX = 16;

/** What the connections of a listener share. */
interface Shared {
  intake: TcpOptions['intake'];
  connections: Set<Connection>;
  counts: TcpCounts;
  heldBytes: number;
  /** Whether no connection is read, as there is no room for lines. */
  full: boolean;
}

/**
 * Listens for lines, `<key> <content>` each. Nothing is ever sent; a half-close is answered by ours when all lines are
 * durable. Rejects with USAGE when the address cannot be had. Source: interface.md 4.4, decisions.md 2.
 */
export function listenTcp(options: TcpOptions): Promise<TcpListener> {
  const shared: Shared = {
    intake: options.intake,
    connections: new Set(),
    counts: { connections: 0, connectionsRefused: 0, linesCut: 0 },
    heldBytes: 0,
    full: false,
  };
  const server = createServer(
    { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    (socket) => {
      shared.counts.connections++;
      shared.connections.add(new Connection(socket, shared));
    },
  );
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const { host, port } = options;
      reject(
        new EngineError('USAGE', `tcp: ${host}:${port} cannot be listened on: ${cause.code}`, {
          cause,
        }),
      );
    });
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.on('error', options.failed);
      const address = must(server.address(), 'tcp address');
      resolve({
        port: typeof address === 'string' ? 0 : address.port,
        counts: shared.counts,
        close: (graceMs) => close(server, shared, graceMs),
      });
    });
  });
}

async function close(server: Server, shared: Shared, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const connection of shared.connections) connection.finish();
  const timer = setTimeout(() => {
    for (const connection of shared.connections) connection.reset();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}

/** Nothing is read any more until there is room: what the senders have stays in the kernel's buffers and with them. */
function stopReading(shared: Shared): void {
  if (shared.full) return;
  shared.full = true;
  for (const connection of shared.connections) connection.adjust();
  shared.intake.whenRoom(() => {
    shared.full = false;
    for (const connection of shared.connections) connection.again();
  });
}

/**
 * One connection. Its lines go to one ingest worker, in their order. It holds no slot, and no memory but the beginning
 * of a line whose end has not come yet.
 */
class Connection implements LineSource {
  readonly #socket: Socket;
  readonly #shared: Shared;
  readonly #thread: IngestThread;
  readonly #frame = new LineFrame();
  /** Read from the socket when there was no room. */
  #chunk: Uint8Array | undefined;
  /** Handed over and not read by the worker yet. */
  #unreadBytes = 0;
  /** Handed over and not durable yet. */
  #unsettledBytes = 0;
  #paused = false;
  #ended = false;
  #finished = false;

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
    this.#thread = shared.intake.leastBusy();
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('end', () => this.finish());
    // Errors are those of the peer or its network, and 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => this.#forget());
    this.adjust();
  }

  read(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.adjust();
  }

  settled(bytes: number, stored: boolean): void {
    this.#unsettledBytes -= bytes;
    if (!stored) this.reset();
    else this.#closeWhenDurable();
  }

  /** Reads no more, takes what is left as the last line, and closes when everything is durable. */
  finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.pause();
    this.#takeRest();
  }

  /** Ends the connection so that the sender sees that something was lost. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** There is room again. */
  again(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined) this.#take(chunk);
    if (this.#ended) this.#takeRest();
    this.adjust();
  }

  /** Reads or pauses, as the worker keeps up or not. */
  adjust(): void {
    if (this.#ended) return;
    const limit = this.#paused ? UNREAD_BYTES_MAX / 2 : UNREAD_BYTES_MAX;
    const pause = this.#shared.full || this.#unreadBytes > limit;
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  #take(chunk: Uint8Array): void {
    const before = this.#frame.heldBytes;
    if (!this.#thread.roomForLines(before + chunk.length + ADDED_BYTES_MAX)) {
      this.#chunk = chunk;
      stopReading(this.#shared);
      return;
    }
    this.#frame.push(chunk, this.#give);
    this.#shared.heldBytes += this.#frame.heldBytes - before;
    if (this.#shared.heldBytes > HELD_BYTES_MAX && this.#frame.heldBytes > before) {
      this.#shared.counts.connectionsRefused++;
      this.reset();
      return;
    }
    this.adjust();
  }

  /** The stream is over: gives the last line, when there is one and there is room. */
  #takeRest(): void {
    if (this.#chunk !== undefined || this.#finished) return;
    const { heldBytes } = this.#frame;
    if (heldBytes > 0) {
      if (!this.#thread.roomForLines(heldBytes + ADDED_BYTES_MAX)) {
        stopReading(this.#shared);
        return;
      }
      this.#frame.end(this.#give);
      this.#shared.heldBytes -= heldBytes;
    }
    this.#finished = true;
    this.#closeWhenDurable();
  }

  readonly #give = (head: Uint8Array, rest: Uint8Array, cut: boolean): void => {
    const bytes = this.#thread.lines(head, rest, cut, this);
    if (cut) this.#shared.counts.linesCut++;
    this.#unreadBytes += bytes;
    this.#unsettledBytes += bytes;
  };

  #closeWhenDurable(): void {
    if (!this.#finished || this.#unsettledBytes > 0 || this.#socket.destroyed) return;
    this.#socket.end();
    // What the peer still sends after our close, when it was we who began to close, is not read.
    this.#socket.destroySoon();
  }

  #forget(): void {
    this.#shared.connections.delete(this);
    this.#shared.heldBytes -= this.#frame.heldBytes;
    this.#frame.drop();
    this.#chunk = undefined;
    this.#ended = true;
    this.#finished = true;
  }
}
