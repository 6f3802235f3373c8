import type { Duplex } from 'node:stream';
import type { Intake } from '../ingest/intake.ts';
import type { Channel } from '../ingest/protocol.ts';
import type { IngestThread, LineOrigin, LineSource } from '../ingest/thread.ts';
import { type Framing, LineFrame } from './frame.ts';

/** Memory for the beginnings of lines, which the connections of several listeners may share. */
export interface HeldLines {
  bytes: number;
}

/** What a listener for lines needs. */
export interface LinesOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  intake: Pick<Intake, 'leastBusy' | 'whenRoom'>;
  /** Told of accept failures, such as too many open files; the listener goes on. */
  failed: (error: Error) => void;
  /** The cell of the write key that the listener is bound to; without it each line brings its own key. */
  cell?: () => number;
  /** Its own when it is not given. */
  held?: HeldLines;
}

/** Sums since the start. */
export interface TcpCounts {
  connections: number;
  /** Closed by us as their unfinished lines took too much memory in all. */
  connectionsRefused: number;
  linesCut: number;
}

/** A connected socket, encrypted or not. */
export interface LineSocket extends Duplex {
  /** Closes when what was written is sent. */
  destroySoon(): void;
}

/** A connection is not read while this much of it waits for the worker, and again below half of it. */
const UNREAD_BYTES_MAX = 1_048_576;
/** Memory for the beginnings of lines, of all connections together. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** Room beyond a chunk and what is held: line feeds that are added, the length of a frame that was none. */
const ADDED_BYTES_MAX = 16;

/** The connections of a listener and what they share. */
export class Connections {
  readonly origin: LineOrigin;
  readonly intake: LinesOptions['intake'];
  readonly held: HeldLines;
  readonly counts: TcpCounts = { connections: 0, connectionsRefused: 0, linesCut: 0 };
  readonly #open = new Set<Connection>();
  /** Whether no connection is read, as there is no room for lines. */
  #isFull = false;

  constructor(channel: Channel, { intake, cell, held }: LinesOptions) {
    this.origin = cell === undefined ? { channel } : { channel, cell };
    this.intake = intake;
    this.held = held ?? { bytes: 0 };
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Connections that are open. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Takes a new connection; `reset` ends it so that the peer sees an error. */
  add(socket: LineSocket, reset: () => void): void {
    this.counts.connections++;
    this.#open.add(new Connection(socket, reset, this));
  }

  remove(connection: Connection): void {
    this.#open.delete(connection);
  }

  /** No connection takes any more bytes; each ends when what was taken of it is durable. */
  stop(): void {
    for (const connection of this.#open) connection.stop();
  }

  /** Ends all connections as they are. */
  reset(): void {
    for (const connection of this.#open) connection.reset();
  }

  /** Nothing is read any more until there is room: what the senders have stays in the kernel's buffers and with them. */
  stopReading(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    for (const connection of this.#open) connection.adjust();
    this.intake.whenRoom(() => {
      this.#isFull = false;
      for (const connection of this.#open) connection.again();
    });
  }
}

/**
 * One connection. Its lines go to one ingest worker, in their order. It holds no slot, and no memory but the beginning
 * of a line whose end has not come yet.
 */
class Connection implements LineSource {
  readonly origin: LineOrigin;
  readonly #socket: LineSocket;
  readonly #reset: () => void;
  readonly #shared: Connections;
  readonly #thread: IngestThread;
  readonly #frame: LineFrame;
  /** Read from the socket when there was no room. */
  #chunk: Uint8Array | undefined;
  /** Handed over and not read by the worker yet. */
  #unreadBytes = 0;
  /** Handed over and not durable yet. */
  #unsettledBytes = 0;
  #paused = false;
  #ended = false;
  #finished = false;
  /** Whether we end it before the peer has: what was not read is unknown, so that a close in order would be a lie. */
  #isStopped = false;

  constructor(socket: LineSocket, reset: () => void, shared: Connections) {
    this.#socket = socket;
    this.#reset = reset;
    this.#shared = shared;
    this.origin = shared.origin;
    this.#frame = new LineFrame(shared.origin.cell !== undefined);
    this.#thread = shared.intake.leastBusy();
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('end', () => this.#finish());
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

  /** The peer has ended: takes what is left as the last line, and closes when everything is durable. */
  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.pause();
    this.#takeRest();
  }

  /**
   * Reads no more. Resets the connection when what was given is durable, and drops a line that is not whole; one that the
   * peer has ended goes on to its close.
   */
  stop(): void {
    if (this.#ended) return;
    this.#isStopped = true;
    this.#ended = true;
    this.#finished = true;
    this.#socket.pause();
    this.#closeWhenDurable();
  }

  /** Ends the connection so that the sender sees that something was lost. */
  reset(): void {
    this.#reset();
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
    const pause = this.#shared.isFull || this.#unreadBytes > limit;
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  #take(chunk: Uint8Array): void {
    const before = this.#frame.heldBytes;
    if (!this.#thread.roomForLines(before + chunk.length + ADDED_BYTES_MAX, this.origin)) {
      this.#chunk = chunk;
      this.#shared.stopReading();
      return;
    }
    this.#frame.push(chunk, this.#give);
    const { held, counts } = this.#shared;
    held.bytes += this.#frame.heldBytes - before;
    if (held.bytes > HELD_BYTES_MAX && this.#frame.heldBytes > before) {
      counts.connectionsRefused++;
      this.reset();
      return;
    }
    this.adjust();
  }

  /** The stream is over: gives the last line, when there is one and there is room. */
  #takeRest(): void {
    if (this.#chunk !== undefined || this.#finished) return;
    const { heldBytes, hasBegun } = this.#frame;
    if (hasBegun) {
      if (!this.#thread.roomForLines(heldBytes + ADDED_BYTES_MAX, this.origin)) {
        this.#shared.stopReading();
        return;
      }
      this.#frame.end(this.#give);
      this.#shared.held.bytes -= heldBytes;
    }
    this.#finished = true;
    this.#closeWhenDurable();
  }

  readonly #give = (head: Uint8Array, rest: Uint8Array, framing: Framing): void => {
    const isBare = framing !== 'lines';
    const form = framing === 'frame' ? framing : undefined;
    const bytes = this.#thread.lines(head, rest, isBare, this, form);
    if (framing === 'cut') this.#shared.counts.linesCut++;
    this.#unreadBytes += bytes;
    this.#unsettledBytes += bytes;
  };

  #closeWhenDurable(): void {
    if (!this.#finished || this.#unsettledBytes > 0 || this.#socket.destroyed) return;
    if (this.#isStopped) {
      this.reset();
      return;
    }
    this.#socket.end();
    // What the peer still sends after our close, when it was we who began to close, is not read.
    this.#socket.destroySoon();
  }

  #forget(): void {
    this.#shared.remove(this);
    this.#shared.held.bytes -= this.#frame.heldBytes;
    this.#frame.drop();
    this.#chunk = undefined;
    this.#ended = true;
    this.#finished = true;
  }
}
