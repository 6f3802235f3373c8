import type { Duplex } from 'node:stream';
import { BLANK } from '../../engine/base/ascii.ts';
import type { LineOrigin, LineSink, LineSource } from '../ingest/worker-handle.ts';
import type { Sender } from '../registry/senders.ts';
import { Crowd, type Member } from './crowd.ts';
import { plainAddress } from './header.ts';
import { isCrowded, type LineChannel, type LineMeter } from './line-cells.ts';
import { type Framing, RecordSplitter } from './record-splitter.ts';

/** Receiver of the lines of connections. */
export interface ConnectionSink extends LineSink {
  /** Recognises `bytes[start, end)` as a write key that is on and has quota left. */
  isKey(bytes: Uint8Array, start: number, end: number): boolean;
  /** Is told once of each connection by whom it brought a valid key, given as its text or by its cell. */
  met?(sender: Sender, key: Uint8Array | number): void;
  /** Calls `resume` once, when there is room again behind a refusal. */
  whenRoom(resume: () => void): void;
  /** Calls `resume` when all that is durable by now is in the catalog, which an orderly close promises. */
  whenVisible(resume: () => void): void;
}

/** Dependencies of a listener's connections. */
export interface ConnectionsOptions {
  sink: ConnectionSink;
  /** Meter of the listener's channel. */
  meter: LineMeter;
  /** The cell of the write key that the listener is bound to; without it each line brings its own key. */
  cell?: () => number;
  /** The connections of the thread; those of the listener alone when it is not given. */
  crowd?: Crowd;
}

/** A socket that was accepted. */
export interface AcceptedSocket {
  readonly remoteAddress?: string | undefined;
  resetAndDestroy(): unknown;
  on(event: 'close', closed: () => void): unknown;
}

/** A connected socket, encrypted or not. */
export interface LineSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
  /** Closes when what was written is sent. */
  destroySoon(): void;
}

/** A connection is not read while this much of it waits for the worker, and again below half of it. */
const UNREAD_BYTES_MAX = 1_048_576;
/** Room beyond a chunk and what is held: line feeds that are added, the length of a frame that was none. */
const ADDED_BYTES_MAX = 16;
/** Bytes that are read from a socket at once. */
const READ_BYTES = 65_536;
/** The first bytes of a line that may hold its key. */
const KEY_LOOK_BYTES = 64;

/** The connections of a listener and what they share. */
export class Connections {
  readonly origin: LineOrigin;
  readonly sink: ConnectionSink;
  readonly meter: LineMeter;
  readonly crowd: Crowd;
  readonly #open = new Set<Connection>();
  /** Set while no connection is read for lack of room for lines. */
  #isFull = false;

  constructor(channel: LineChannel, { sink, meter, cell, crowd }: ConnectionsOptions) {
    this.origin = cell === undefined ? { channel } : { channel, cell };
    this.sink = sink;
    this.meter = meter;
    this.crowd = crowd ?? new Crowd();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Accepts a socket and returns the place at which its peer is counted; ends it when there are too many, of all or of
   * its peer. Near the limits idle connections without a valid key end to make room.
   */
  admit(socket: AcceptedSocket): number | undefined {
    const { meter, crowd } = this;
    const place = meter.placeOf(socket.remoteAddress ?? '');
    if (isCrowded(meter.peerShare(place))) crowd.evict(place);
    else if (isCrowded(meter.socketShare)) crowd.evict();
    if (meter.peerShare(place) >= 1 || meter.socketShare >= 1) {
      meter.refused();
      socket.resetAndDestroy();
      return undefined;
    }
    meter.socket(place, 1);
    socket.on('close', () => meter.socket(place, -1));
    return place;
  }

  /** Takes a new connection of a peer; `reset` ends it so that the peer sees an error. */
  add(socket: LineSocket, reset: () => void, place = 0): void {
    this.meter.opened();
    this.#open.add(new Connection(socket, reset, this, place));
  }

  remove(connection: Connection): void {
    this.crowd.leave(connection);
    if (this.#open.delete(connection)) this.meter.closed();
  }

  /** No connection takes any more bytes; each ends when what was taken of it is durable. */
  stop(): void {
    for (const connection of this.#open) connection.stop();
  }

  /** Ends all connections as they are. */
  reset(): void {
    for (const connection of this.#open) connection.reset();
  }

  /** Ends all connections as they are, as the worker dies. */
  lose(): void {
    const lost = [...this.#open];
    this.#open.clear();
    this.meter.lost(lost.length);
    for (const connection of lost) connection.reset();
  }

  /** Stops reading until there is room: further bytes stay in the kernel's buffers and with the senders. */
  stopReading(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    for (const connection of this.#open) connection.adjust();
    this.sink.whenRoom(() => {
      this.#isFull = false;
      for (const connection of this.#open) connection.again();
    });
  }
}

/**
 * One connection. Its lines go to one sink, in their order. It holds no slot, and no memory but the beginning
 * of a line whose end has not come yet.
 */
class Connection implements LineSource, Member {
  readonly origin: LineOrigin;
  readonly place: number;
  readonly #socket: LineSocket;
  readonly #reset: () => void;
  readonly #shared: Connections;
  readonly #frame: RecordSplitter;
  /** Read from the socket when there was no room. */
  #chunk: Uint8Array | undefined;
  /** Handed over and not decoded yet. */
  #unreadBytes = 0;
  /** Handed over and not durable yet. */
  #unsettledBytes = 0;
  #paused = false;
  #ended = false;
  #finished = false;
  /** Set when we end it before the peer does. Unread lines are then unknown, so an orderly close would be a lie. */
  #isStopped = false;
  /** Set once it has brought a valid key. */
  #isKnown = false;

  constructor(socket: LineSocket, reset: () => void, shared: Connections, place: number) {
    this.#socket = socket;
    this.#reset = reset;
    this.#shared = shared;
    this.origin = shared.origin;
    this.place = place;
    const isBound = shared.origin.cell !== undefined;
    this.#frame = new RecordSplitter(
      isBound,
      isBound ? undefined : (head) => this.#isKnownBy(head),
    );
    shared.crowd.join(this);
    readWith(socket, (chunk) => this.#onData(chunk));
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

  settled(bytes: number, stored: boolean, hasKey: boolean): void {
    this.#unsettledBytes -= bytes;
    if (hasKey) this.#know(this.origin.cell?.());
    if (!stored) this.reset();
    else this.#closeWhenDurable();
  }

  get heldBytes(): number {
    return this.#frame.heldBytes;
  }

  get isIdle(): boolean {
    return this.#unsettledBytes === 0 && this.#chunk === undefined;
  }

  refuse(): void {
    this.#shared.meter.refused();
    this.reset();
  }

  cut(): void {
    const { heldBytes } = this.#frame;
    if (!this.#shared.sink.roomForLines(heldBytes + ADDED_BYTES_MAX, this.origin)) {
      this.#shared.stopReading();
      return;
    }
    this.#frame.cut(this.#give);
    this.#shared.meter.hold(this.place, -heldBytes);
    this.#shared.crowd.note(this, false, 0);
  }

  /** Knows from now on that it brought a valid key, which is `undefined` when it stood somewhere in a line. */
  #know(key: Uint8Array | number | undefined): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#shared.crowd.know(this);
    const { channel } = this.origin;
    const peer = plainAddress(this.#socket.remoteAddress ?? '');
    if (key !== undefined) this.#shared.sink.met?.({ channel, peer }, key);
  }

  /** Recognises a valid key at the beginning of a line; the connection then has one. */
  #isKnownBy(head: Uint8Array): boolean {
    const keyEnd = head.indexOf(BLANK);
    const isKey = keyEnd > 0 && this.#shared.sink.isKey(head, 0, keyEnd);
    if (isKey) this.#know(head.subarray(0, keyEnd));
    return isKey;
  }

  /** The peer has ended: takes what is left as the last line, and closes when everything is durable. */
  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.pause();
    this.#takeRest();
  }

  /**
   * Reads no more. Resets the connection when what was given is durable, and drops a line that is not whole; one that
   * the peer has ended goes on to its close.
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

  /** Reads again, as there is room. */
  again(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined) this.#onData(chunk);
    if (this.#ended) this.#takeRest();
    this.adjust();
  }

  /** Reads or pauses, as decoding keeps up or not. */
  adjust(): void {
    if (this.#ended) return;
    const limit = this.#paused ? UNREAD_BYTES_MAX / 2 : UNREAD_BYTES_MAX;
    const pause = this.#shared.isFull || this.#unreadBytes > limit;
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Takes what came in; the chunk is another one's afterwards. */
  #onData(chunk: Uint8Array): void {
    const before = this.#frame.heldBytes;
    if (!this.#shared.sink.roomForLines(before + chunk.length + ADDED_BYTES_MAX, this.origin)) {
      this.#chunk = new Uint8Array(chunk);
      this.#shared.stopReading();
      return;
    }
    if (!this.#isKnown && !this.#frame.hasBegun && this.origin.cell === undefined) {
      this.#isKnownBy(chunk.subarray(0, KEY_LOOK_BYTES));
    }
    const wasKeyless = this.#frame.isKeyless;
    this.#frame.push(chunk, this.#give);
    const added = this.#frame.heldBytes - before;
    const { isKeyless } = this.#frame;
    if (added !== 0 || wasKeyless || isKeyless) this.#hold(added, isKeyless && wasKeyless);
    this.adjust();
  }

  /** Notes what is held. `isSame`: of a line that had begun before. */
  #hold(addedBytes: number, isSame: boolean): void {
    const { meter, crowd } = this.#shared;
    meter.hold(this.place, addedBytes);
    if (!isSame) crowd.note(this, false, 0);
    crowd.note(this, this.#frame.isKeyless, performance.now());
    if (addedBytes <= 0) return;
    if (meter.holdsMuchOf(this.place)) crowd.cutLargest(this.place);
    else if (meter.holdsMuch) crowd.cutLargest();
  }

  /** The stream is over: gives the last line, when there is one and there is room. */
  #takeRest(): void {
    if (this.#chunk !== undefined || this.#finished) return;
    const { heldBytes, hasBegun } = this.#frame;
    if (hasBegun) {
      if (!this.#shared.sink.roomForLines(heldBytes + ADDED_BYTES_MAX, this.origin)) {
        this.#shared.stopReading();
        return;
      }
      this.#frame.end(this.#give);
      this.#shared.meter.hold(this.place, -heldBytes);
    }
    this.#finished = true;
    this.#closeWhenDurable();
  }

  readonly #give = (head: Uint8Array, rest: Uint8Array, framing: Framing): void => {
    const isBare = framing !== 'lines';
    const form = framing === 'frame' || framing === 'cut' ? framing : undefined;
    const bytes = this.#shared.sink.appendLines(head, rest, isBare, this, form);
    this.#unreadBytes += bytes;
    this.#unsettledBytes += bytes;
  };

  #closeWhenDurable(): void {
    if (!this.#finished || this.#unsettledBytes > 0 || this.#socket.destroyed) return;
    if (this.#isStopped) {
      this.reset();
      return;
    }
    this.#shared.sink.whenVisible(() => {
      this.#socket.end();
      // What the peer still sends after our close is not read.
      this.#socket.destroySoon();
    });
  }

  #forget(): void {
    this.#shared.remove(this);
    this.#shared.meter.hold(this.place, -this.#frame.heldBytes);
    this.#frame.drop();
    this.#chunk = undefined;
    this.#ended = true;
    this.#finished = true;
  }
}

/** Memory that all sockets of this thread read into. */
const read = Buffer.allocUnsafeSlow(READ_BYTES);

/** Parts of a socket of Node's that reads into memory of its owner's, which clients' sockets have as `onread`. */
type Reading = Record<symbol, unknown> & { _handle?: { useUserBuffer?: unknown } | null };

/**
 * Reads a socket and gives `take` what comes, which is good during the call only. All sockets read into the same
 * memory: memory for each read would be collected after every few megabytes. Where Node has no such reads left, it
 * makes memory for each.
 */
function readWith(socket: LineSocket, take: (chunk: Uint8Array) => void): void {
  const reading = socket as unknown as Reading;
  const handle = reading._handle;
  const symbols = Object.getOwnPropertySymbols(reading);
  const named = (name: string): symbol | undefined =>
    symbols.find(({ description }) => description === name);
  const memory = named('kBuffer');
  const callback = named('kBufferCb');
  const isKnown = memory !== undefined && reading[memory] === null && callback !== undefined;
  if (!isKnown || typeof handle?.useUserBuffer !== 'function') {
    socket.on('data', take);
    return;
  }
  handle.useUserBuffer(read);
  reading[memory] = read;
  reading[callback] = (count: number): boolean => {
    take(read.subarray(0, count));
    return true;
  };
  socket.resume();
}
