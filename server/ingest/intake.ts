import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openPool, type Pool } from '../../engine/base/pool.ts';
import type { CommittedGroup } from '../../engine/engine.ts';
import type { KeyTable } from '../registry/key-table.ts';
import type { FromIngest, IngestData, SegmentGrant, TaskOutcome, ToIngest } from './protocol.ts';
import { type Slot, Slots } from './slots.ts';
import { IngestThread } from './thread.ts';

/** Memory of one ingest worker; its pages are touched only when slots lie there. */
const MEMORY_BYTES = 160 * 1024 * 1024;
const PAGE_BYTES = 65_536;
/** What is left below the slots to the worker's own code. */
const MEMORY_BASE_BYTES = 65_536;
/** How long the workers may take to make everything durable at the end. */
const CLOSE_GRACE_MS = 30_000;
/** Lines are taken again when this share of every worker's memory is free. */
const ROOM_SHARE = 0.5;
/** How often it is looked for room while lines wait for it. */
const ROOM_POLL_MS = 5;

/** What the intake needs of the rest of the front thread. */
export interface IntakeOptions {
  workers: number;
  /** The data folder. */
  root: string;
  /** The bytes by which the folder's files know it. */
  folderId: Uint8Array;
  keys: KeyTable;
  cells: SharedArrayBuffer;
  nowMs: () => number;
  /** Takes a segment number for a writer, durably; its sequences begin at `floor` or above. */
  allocate: (writer: number, floor: number) => Promise<SegmentGrant>;
  /** Records, durably, that a segment is closed. */
  closed: (segment: number, bytes: number, sequence: number) => Promise<void>;
  /** Makes a durable group visible to queries, before it returns. */
  committed: (group: CommittedGroup) => void;
  /** A bug showed in a worker, which goes on; what it was met in has failed. */
  fault: (error: Error) => void;
  /** A worker is gone: what waited for it has been failed. */
  died: (error: Error) => void;
  /** The module with the worker's `start`; another one in tests. */
  entry?: URL;
}

/** Sums since the start, for statistics. */
export interface IntakeCounts {
  events: number;
  linesDropped: number;
}

/** The way of received bytes to the ingest workers, on the front thread. */
export class Intake {
  readonly counts: IntakeCounts = { events: 0, linesDropped: 0 };
  readonly #options: IntakeOptions;
  readonly #threads: IngestThread[] = [];
  readonly #pool: Pool<ToIngest, FromIngest>;
  readonly #ready: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(options: IntakeOptions) {
    this.#options = options;
    const memories = Array.from({ length: options.workers }, makeMemory);
    let readyCount = 0;
    const started = Promise.withResolvers<void>();
    this.#ready = started.promise;
    // Whoever does not wait for the start hears of a death by `died`.
    this.#ready.catch(() => {});
    this.#pool = openPool<IngestData, ToIngest, FromIngest>(
      options.entry ?? new URL('./ingest-worker.ts', import.meta.url),
      options.workers,
      (writer) => ({
        memory: must(memories[writer], 'memory'),
        cells: options.cells,
        keys: options.keys,
        root: options.root,
        folderId: options.folderId,
        writer,
      }),
      (thread, error) => {
        started.reject(error);
        this.#thread(thread).die();
        options.died(error);
      },
    );
    for (const [writer, port] of this.#pool.ports.entries()) {
      const slots = new Slots(must(memories[writer], 'memory'), MEMORY_BASE_BYTES);
      const thread = new IngestThread(slots, port, options.nowMs);
      this.#threads.push(thread);
      port.listen((message) => {
        if (message.type === 'ready') {
          readyCount++;
          if (readyCount === options.workers) started.resolve();
        } else {
          this.#take(writer, thread, message);
        }
      });
    }
  }

  /** Resolves when all workers take tasks; rejects when one could not start. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** The worker with the fewest unfinished tasks, for a new request or connection. */
  leastBusy(): IngestThread {
    return this.#threads.reduce((best, thread) =>
      best.dead || (!thread.dead && thread.pendingCount < best.pendingCount) ? thread : best,
    );
  }

  /** Room for `bytes` of a body in some worker's memory; `undefined` when there is none anywhere. */
  reserve(bytes: number): { thread: IngestThread; slot: Slot } | undefined {
    const first = this.leastBusy();
    for (const thread of [first, ...this.#threads.filter((other) => other !== first)]) {
      if (thread.dead) continue;
      const slot = thread.slots.reserve(bytes);
      if (slot !== undefined) return { thread, slot };
    }
    return undefined;
  }

  /** Calls `resume` once, when there is room for lines again. */
  whenRoom(resume: () => void): void {
    this.#waiting.push(resume);
    if (this.#waiting.length === 1) this.#awaitRoom();
  }

  /** Tells the workers of new, changed and deleted write keys, before any task that is given later. */
  changeKeys(table: KeyTable): void {
    for (const port of this.#pool.ports) port.post({ type: 'keys', table });
  }

  /** Ends the workers when they have made durable what they have. No task may be given any more. */
  async close(): Promise<void> {
    for (const thread of this.#threads) thread.flush();
    for (const port of this.#pool.ports) port.post({ type: 'close' });
    await this.#pool.close(CLOSE_GRACE_MS);
  }

  #thread(writer: number): IngestThread {
    return must(this.#threads[writer], 'ingest thread');
  }

  #take(writer: number, thread: IngestThread, message: FromIngest): void {
    if (message.type === 'report') {
      this.#count(message.outcomes);
      thread.report(message.freed, message.outcomes);
    } else if (message.type === 'committed') {
      this.#options.committed(message.group);
    } else if (message.type === 'allocate') {
      this.#answer(writer, 'allocate', async () => ({
        type: 'allocated',
        grant: await this.#options.allocate(writer, message.floor),
      }));
    } else if (message.type === 'closed') {
      this.#answer(writer, 'closed', async () => {
        await this.#options.closed(message.segment, message.bytes, message.sequence);
        return { type: 'recorded' };
      });
    } else if (message.type === 'fault') {
      this.#options.fault(message.error);
    }
  }

  #answer(writer: number, of: 'allocate' | 'closed', work: () => Promise<ToIngest>): void {
    const port = must(this.#pool.ports[writer], 'ingest port');
    work().then(
      (answer) => port.post(answer),
      (error: unknown) => {
        const message = error instanceof EngineError ? error.message : 'the manifest failed';
        port.post({ type: 'failed', of, message });
      },
    );
  }

  #count(outcomes: readonly TaskOutcome[]): void {
    for (const outcome of outcomes) {
      this.counts.events += outcome.events;
      this.counts.linesDropped += outcome.linesDropped;
    }
  }

  #awaitRoom(): void {
    setTimeout(() => {
      const full = ({ dead, slots }: IngestThread): boolean =>
        !dead && slots.freeBytes < slots.totalBytes * ROOM_SHARE;
      if (this.#threads.some(full)) {
        this.#awaitRoom();
        return;
      }
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resume of waiting) resume();
    }, ROOM_POLL_MS);
  }
}

function makeMemory(): WebAssembly.Memory {
  const pages = MEMORY_BYTES / PAGE_BYTES;
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}
