import { randomBytes } from 'node:crypto';
import { hashBytes } from '../../engine/base/hash.ts';
import { peerOf } from './peer.ts';

/** The channels whose connections are counted here. */
const LINE_CHANNELS = ['tcp', 'tls'] as const;

/** A channel of connections with lines. */
export type LineChannel = (typeof LINE_CHANNELS)[number];

/** Counts of a channel's connections. */
export interface LineCounts {
  /** Connections since the start. */
  connections: number;
  connectionsOpen: number;
  /** Closed by us for want of room, or of a valid write key. */
  connectionsRefused: number;
  /** Ended as their worker died. */
  connectionsLost: number;
}

/** Memory for the beginnings of lines, of all connections of all workers together; each worker has an equal part. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes that one peer may hold. */
const HELD_BYTES_PEER_MAX = HELD_BYTES_MAX / 4;
/** The greatest part of all connections for one peer: many senders may stand behind one address. */
const PEER_SHARE = 7 / 8;
/** The part of a limit from which on connections without a valid key are ended for new ones. */
const CROWDED_SHARE = 15 / 16;
/** Connections that are allowed unless a number is given. */
const UNLIMITED = 1_000_000;
/** Places for counts of peers; those of one place are counted together. */
const PEERS = 4_096;
const SALT_BYTES = 4;

/** Numbers at the beginning: connections that there may be, and what spreads peers over their places. */
const LIMIT = 0;
const SALT = 1;
/** Cells by worker: held bytes, sockets, and four counts for each channel, in whole cache lines. */
const STRIDE = 16;
const HELD = 0;
const CONNECTIONS = 1;
const OPEN = 2;
const REFUSED = 3;
const LOST = 4;
const OF_CHANNEL = 4;
const SOCKETS = 9;
/** Cells by worker behind those: sockets and held bytes for each place of peers. */
const PEER_STRIDE = 2 * PEERS;

/** The memory as its threads see it. */
interface Cells {
  numbers: Float64Array;
  peers: Int32Array;
  workers: number;
}

/** Counts of a channel's connections in one worker, their only writer. */
export class LineMeter {
  readonly #cells: Cells;
  readonly #worker: number;
  readonly #channel: number;
  readonly #peers: number;

  constructor(cells: Cells, worker: number, channel: LineChannel) {
    this.#cells = cells;
    this.#worker = (worker + 1) * STRIDE;
    this.#channel = this.#worker + LINE_CHANNELS.indexOf(channel) * OF_CHANNEL;
    this.#peers = worker * PEER_STRIDE;
  }

  /** Counts a connection that was taken. */
  opened(): void {
    this.#cells.numbers[this.#channel + CONNECTIONS]++;
    this.#cells.numbers[this.#channel + OPEN]++;
  }

  /** Counts a connection that is over. */
  closed(): void {
    this.#cells.numbers[this.#channel + OPEN]--;
  }

  /** Counts open connections that end with their worker. */
  lost(count: number): void {
    this.#cells.numbers[this.#channel + OPEN] -= count;
    this.#cells.numbers[this.#channel + LOST] += count;
  }

  /** Counts a connection that is closed for want of room or of a valid key. */
  refused(): void {
    this.#cells.numbers[this.#channel + REFUSED]++;
  }

  /** The place where a remote address is counted. */
  placeOf(address: string): number {
    const bytes = Buffer.from(peerOf(address));
    return hashBytes(bytes, 0, bytes.length, this.#cells.numbers[SALT]) % PEERS;
  }

  /** Counts a socket that was accepted, or that is gone when `change` is -1. */
  socket(place: number, change: 1 | -1): void {
    this.#cells.numbers[this.#worker + SOCKETS] += change;
    this.#cells.peers[this.#peers + place] += change;
  }

  /** Share of the allowed sockets that are open, over all workers. */
  get socketShare(): number {
    const { numbers } = this.#cells;
    let sockets = 0;
    for (let at = STRIDE + SOCKETS; at < numbers.length; at += STRIDE) sockets += numbers[at];
    return sockets / numbers[LIMIT];
  }

  /** The same of those that one peer may have. */
  peerShare(place: number): number {
    return this.#peerSum(place) / (this.#cells.numbers[LIMIT] * PEER_SHARE);
  }

  /** Adds bytes that are held of lines without an end; less than 0 gives bytes back. */
  hold(place: number, bytes: number): void {
    this.#cells.numbers[this.#worker + HELD] += bytes;
    this.#cells.peers[this.#peers + PEERS + place] += bytes;
  }

  /** Is set while the worker holds more than its part. */
  get holdsMuch(): boolean {
    const { numbers, workers } = this.#cells;
    return numbers[this.#worker + HELD] > HELD_BYTES_MAX / workers;
  }

  /** Reports whether all workers together hold too much of a peer. */
  holdsMuchOf(place: number): boolean {
    return this.#peerSum(PEERS + place) > HELD_BYTES_PEER_MAX;
  }

  #peerSum(cell: number): number {
    const { peers } = this.#cells;
    let sum = 0;
    for (let at = cell; at < peers.length; at += PEER_STRIDE) sum += peers[at];
    return sum;
  }
}

/** Reports whether a limit is so nearly reached that connections without a valid key have to end. */
export function isCrowded(share: number): boolean {
  return share >= CROWDED_SHARE;
}

/** Counts of all workers' connections, in memory that all threads see. */
export class LineCells {
  /** The memory; given to another thread it makes a view of the same cells there. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Cells;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    const workers = workersOf(shared.byteLength);
    const numbers = new Float64Array(shared, 0, (workers + 1) * STRIDE);
    const peers = new Int32Array(shared, numbers.byteLength, workers * PEER_STRIDE);
    this.#cells = { numbers, peers, workers };
  }

  /** Cells for so many workers, and the connections that all of them may have together. */
  static for(workers: number, connectionsMax = UNLIMITED): LineCells {
    const cells = new LineCells(new SharedArrayBuffer(bytesFor(workers)));
    const { numbers } = cells.#cells;
    numbers[LIMIT] = connectionsMax;
    numbers[SALT] = randomBytes(SALT_BYTES).readInt32LE();
    return cells;
  }

  /** The counts of a channel in a worker. */
  meter(worker: number, channel: LineChannel): LineMeter {
    return new LineMeter(this.#cells, worker, channel);
  }

  /** Counts the open connections of a worker that is gone as lost, and what they held as given back. */
  lose(worker: number): void {
    const { numbers, peers } = this.#cells;
    const first = (worker + 1) * STRIDE;
    numbers[first + HELD] = 0;
    numbers[first + SOCKETS] = 0;
    peers.fill(0, worker * PEER_STRIDE, (worker + 1) * PEER_STRIDE);
    for (const [index, channel] of LINE_CHANNELS.entries()) {
      this.meter(worker, channel).lost(numbers[first + index * OF_CHANNEL + OPEN]);
    }
  }

  /** Bytes of lines without an end that all workers hold. */
  get heldBytes(): number {
    const { numbers } = this.#cells;
    let heldBytes = 0;
    for (let at = STRIDE + HELD; at < numbers.length; at += STRIDE) heldBytes += numbers[at];
    return heldBytes;
  }

  /** The sums of a channel over all workers. */
  counts(channel: LineChannel): LineCounts {
    const { numbers } = this.#cells;
    const sum = (count: number): number => {
      const place = STRIDE + LINE_CHANNELS.indexOf(channel) * OF_CHANNEL + count;
      let total = 0;
      for (let at = place; at < numbers.length; at += STRIDE) total += numbers[at];
      return total;
    };
    return {
      connections: sum(CONNECTIONS),
      connectionsOpen: sum(OPEN),
      connectionsRefused: sum(REFUSED),
      connectionsLost: sum(LOST),
    };
  }
}

function bytesFor(workers: number): number {
  const numbers = (workers + 1) * STRIDE * Float64Array.BYTES_PER_ELEMENT;
  return numbers + workers * PEER_STRIDE * Int32Array.BYTES_PER_ELEMENT;
}

function workersOf(bytes: number): number {
  const perWorker = bytesFor(1) - bytesFor(0);
  return Math.round((bytes - bytesFor(0)) / perWorker);
}
