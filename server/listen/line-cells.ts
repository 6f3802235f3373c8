/** The channels whose connections are counted here. */
const LINE_CHANNELS = ['tcp', 'tls'] as const;

/** A channel of connections with lines. */
export type LineChannel = (typeof LINE_CHANNELS)[number];

/** What the connections of a channel come to. */
export interface LineCounts {
  /** Since the start. */
  connections: number;
  connectionsOpen: number;
  /** Closed by us as their unfinished lines took too much memory in all. */
  connectionsRefused: number;
  /** Ended as their worker died. */
  connectionsLost: number;
}

/** Memory for the beginnings of lines, of all connections of all workers together. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** By worker: what it holds, and for each channel four counts; whole cache lines. */
const STRIDE = 16;
const HELD = 0;
const CONNECTIONS = 1;
const OPEN = 2;
const REFUSED = 3;
const LOST = 4;
const OF_CHANNEL = 4;

/** What the connections of a channel count in one worker, their only writer. */
export class LineMeter {
  readonly #cells: Float64Array;
  readonly #worker: number;
  readonly #channel: number;

  constructor(cells: Float64Array, worker: number, channel: LineChannel) {
    this.#cells = cells;
    this.#worker = worker * STRIDE;
    this.#channel = this.#worker + LINE_CHANNELS.indexOf(channel) * OF_CHANNEL;
  }

  /** Counts a connection that was taken. */
  opened(): void {
    this.#cells[this.#channel + CONNECTIONS]++;
    this.#cells[this.#channel + OPEN]++;
  }

  /** Counts a connection that is over. */
  closed(): void {
    this.#cells[this.#channel + OPEN]--;
  }

  /** Counts open connections that end with their worker. */
  lost(count: number): void {
    this.#cells[this.#channel + OPEN] -= count;
    this.#cells[this.#channel + LOST] += count;
  }

  /** Counts a connection that is closed for want of memory. */
  refused(): void {
    this.#cells[this.#channel + REFUSED]++;
  }

  /** Adds what is held of lines without an end; less than 0 when it is given back. */
  hold(bytes: number): void {
    this.#cells[this.#worker + HELD] += bytes;
  }

  /** Whether all workers together hold too much. */
  get isFull(): boolean {
    return heldIn(this.#cells) > HELD_BYTES_MAX;
  }
}

/** What all workers hold of lines without an end. */
function heldIn(cells: Float64Array): number {
  let heldBytes = 0;
  for (let at = HELD; at < cells.length; at += STRIDE) heldBytes += cells[at];
  return heldBytes;
}

/** What the connections of all workers count, in memory that all threads see. */
export class LineCells {
  /** The memory; given to another thread it makes a view of the same cells there. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Float64Array;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#cells = new Float64Array(shared);
  }

  /** Cells for so many workers. */
  static for(workers: number): LineCells {
    return new LineCells(new SharedArrayBuffer(workers * STRIDE * Float64Array.BYTES_PER_ELEMENT));
  }

  /** The counts of a channel in a worker. */
  meter(worker: number, channel: LineChannel): LineMeter {
    return new LineMeter(this.#cells, worker, channel);
  }

  /** Counts the open connections of a worker that is gone as lost, and what they held as given back. */
  lose(worker: number): void {
    const first = worker * STRIDE;
    this.#cells[first + HELD] = 0;
    for (const [index, channel] of LINE_CHANNELS.entries()) {
      this.meter(worker, channel).lost(this.#cells[first + index * OF_CHANNEL + OPEN]);
    }
  }

  /** Bytes of lines without an end that all workers hold. */
  get heldBytes(): number {
    return heldIn(this.#cells);
  }

  /** The sums of a channel over all workers. */
  counts(channel: LineChannel): LineCounts {
    const sum = (count: number): number => {
      const place = LINE_CHANNELS.indexOf(channel) * OF_CHANNEL + count;
      let total = 0;
      for (let at = place; at < this.#cells.length; at += STRIDE) total += this.#cells[at];
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
