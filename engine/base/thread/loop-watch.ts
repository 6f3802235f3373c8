/** Interval at which a thread notes that its event loop turns. */
const BEAT_MS = 100;
/** Lateness is told for at least so long, and at most twice as long. */
const WINDOW_MS = 15_000;
/** Beats after which a thread notes again what memory it has. */
const MEMORY_BEATS = 10;

/**
 * The cells: when the loop turned last, when the window began, the most lateness in it and in the window before; bytes
 * of the heap, of buffers and of kernels.
 */
const BEAT = 0;
const WINDOW = 1;
const MOST = 2;
const MOST_BEFORE = 3;
const HEAP = 4;
const BUFFERS = 5;
const KERNELS = 6;
const CELLS = 7;

/** Bytes that a thread has, as it noted them last; all are 0 before it begins. */
export interface ThreadMemory {
  /** Of objects and compiled code, free room included. */
  heap: number;
  /** Of array buffers: columns, blocks and what else lies outside of the heap, until it is collected. */
  buffers: number;
  /** Reserved for WebAssembly: pages that are never used take nothing. */
  kernels: number;
}

/** Milliseconds of a clock that all threads of the process have in common and that does not jump. */
function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}

/** Lag of a thread's event loop, and its memory: cells that the thread writes and others read. */
export class LoopWatch {
  /** The memory; given to another thread it makes a view of the same cells there. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Float64Array;
  readonly #nowMs: () => number;

  constructor(
    shared = new SharedArrayBuffer(CELLS * Float64Array.BYTES_PER_ELEMENT),
    nowMs: () => number = sharedNowMs,
  ) {
    this.shared = shared;
    this.#cells = new Float64Array(shared);
    this.#nowMs = nowMs;
  }

  /** Notes from now on, in the thread that is watched, that its loop turns, for as long as it does anything else. */
  begin(): void {
    this.beat();
    this.noteMemory();
    let beats = 0;
    setInterval(() => {
      this.beat();
      if (++beats % MEMORY_BEATS === 0) this.noteMemory();
    }, BEAT_MS).unref();
  }

  /** Notes the memory of the calling thread, which is the one that is watched. */
  noteMemory(): void {
    const { heapTotal, external, arrayBuffers } = process.memoryUsage();
    this.#cells[HEAP] = heapTotal;
    this.#cells[BUFFERS] = arrayBuffers;
    this.#cells[KERNELS] = Math.max(0, external - arrayBuffers);
  }

  /** The memory of the thread, as it noted it last. */
  get memory(): ThreadMemory {
    const cells = this.#cells;
    return { heap: cells[HEAP], buffers: cells[BUFFERS], kernels: cells[KERNELS] };
  }

  /** Notes that the loop turns: to be called as often as `begin` has it. */
  beat(): void {
    const cells = this.#cells;
    const nowMs = this.#nowMs();
    if (nowMs - cells[WINDOW] >= WINDOW_MS) {
      cells[MOST_BEFORE] = cells[MOST];
      cells[MOST] = 0;
      cells[WINDOW] = nowMs;
    }
    cells[MOST] = Math.max(cells[MOST], this.stalledMs);
    cells[BEAT] = nowMs;
  }

  /** Time by which the loop is late now; 0 before it begins. */
  get stalledMs(): number {
    const beatMs = this.#cells[BEAT];
    return beatMs === 0 ? 0 : Math.max(0, this.#nowMs() - beatMs - BEAT_MS);
  }

  /** The most that it was late of late. */
  get lagMs(): number {
    return Math.max(this.#cells[MOST], this.#cells[MOST_BEFORE], this.stalledMs);
  }
}
