import { must } from '../../engine/base/assert.ts';
import type { DiskFailure } from '../../engine/base/disk-watch.ts';
import { NAMES_PER_KEY_DAY } from '../../engine/base/limits.ts';
import { openPool, type Pool, type Port } from '../../engine/base/pool.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import { Restarts, type RestartTimes } from '../../engine/base/thread/restart.ts';
import type { CommittedGroup } from '../../engine/engine.ts';
import { makeSequences, Sequences } from '../../engine/store/sequences.ts';
import type { ExtensionStep } from '../extend/extension.ts';
import { type KeyTable, NO_CELL } from '../registry/key-table.ts';
import { Ledger } from '../registry/ledger.ts';
import { Senders } from '../registry/senders.ts';
import { CommitOrder } from './commit-order.ts';
import { IngestCounts } from './counts.ts';
import { DRY_BYTES_MAX, DRY_TOO_LARGE } from './dry.ts';
import { NameCounts } from './name-counts.ts';
import {
  type BodyForm,
  type DryOptions,
  type DryRun,
  type FromIngest,
  groupOf,
  type IngestData,
  type SegmentLimits,
  type ToIngest,
} from './protocol.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { OVERLOADED } from './refusal.ts';
import { type Slot, SlotBudget, Slots } from './slots.ts';
import type { SocketOrder, SocketReport } from './socket-order.ts';
import { type IngestStats, StatCells, sumStats } from './stats.ts';
import { TroubleLog } from './trouble.ts';
import { IngestWorkerHandle } from './worker-handle.ts';

/** Memory that one ingest worker has alone, for what it receives itself: pages are touched when slots lie there. */
const OWN_BYTES = 64 * 1024 * 1024;
/** Memory shared with it for what the front receives for a worker: the largest body, and half of it while it grows. */
const FRONT_BYTES = 160 * 1024 * 1024;
/** Share of a worker in the memory of all. Bodies that come faster than they are decoded wait at their senders. */
const FRONT_BYTES_EACH = 48 * 1024 * 1024;
/** Shares of the largest body that it takes while it grows, and bytes that others take beside it. */
const GROWTH_SHARE = 1.5;
const BESIDE_BYTES = 16 * 1024 * 1024;
/** The largest body when it is not said. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes that large bodies leave free for small ones. */
const BEGIN_BYTES = 8 * 1024 * 1024;
/** Bytes that bodies leave free for datagrams. */
const SPARE_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 65_536;
/** Time that the workers may take to make everything durable at the end. */
const CLOSE_GRACE_MS = 30_000;
/** Ingestion is behind when a worker has so much unread, or so little of its memory is left. */
const BEHIND_BYTES = 16 * 1024 * 1024;
const BEHIND_SHARE = 0.25;
/** Objects of a worker: one that takes more ends alone, and not the process. */
const HEAP = { oldMb: 1_024 };

/** Dependencies of the intake on the front thread. */
export interface IntakeOptions extends RecorderOptions {
  workers: number;
  /** The data folder. */
  root: string;
  /** Id of the data folder, which stands in its files. */
  folderId: Uint8Array;
  segments?: SegmentLimits;
  keys: KeyTable;
  /** The parsing extensions in force at first; none when it is not said. */
  extensions?: readonly ExtensionStep[];
  cells: SharedArrayBuffer;
  /** Distinct names of attributes that a write key may bring on a UTC day; NAMES_PER_KEY_DAY when it is not said. */
  namesPerKeyDay?: number | undefined;
  nowMs: () => number;
  /** A sequence above those of all existing rows. */
  sequence: number;
  /** Makes a durable group visible to queries, before it returns. */
  committed: (group: CommittedGroup) => void;
  /** A bug showed in a worker, which goes on; what it was met in has failed. */
  fault: (error: Error) => void;
  /** A write of a worker failed. */
  diskFailed?: (failure: DiskFailure) => void;
  /**
   * A worker is gone: what waited for it has been failed. Another takes its place `delayMs` later, or some time after.
   */
  died: (error: Error, writer: number, delayMs: number) => void;
  /** Set to 1 while ingestion is behind, otherwise 0: one Int32, which query workers read. */
  behind?: SharedArrayBuffer;
  /** Counts of the sockets of all workers. */
  lineCells: SharedArrayBuffer;
  /** The module with the worker's `start`. */
  entry: URL;
  /** Times between restarts; tests have shorter ones. */
  restartTimes?: RestartTimes;
  /** Bytes of the largest body, which may change. */
  bodyBytesMax?: () => number;
}

/** Outcome of a dry run in the terms of HTTP. Statuses other than 200 have a message and no events. */
export interface DryOutcome extends DryRun {
  /** 200, 400, 413, 429, 503. */
  status: number;
  message: string;
}

/** Load of the ways to the ingest workers. */
export interface IntakeGauges {
  workersUp: number;
  slotBytes: number;
  slotBytesFree: number;
  tasksPending: number;
}

/** Caretaker of the workers' sockets. */
export interface SocketWatcher {
  /** A worker took the place of one that died. */
  begun(writer: number): void;
  /** A worker is gone, with its sockets. */
  died(writer: number): void;
  /** A worker said something. */
  told(writer: number, report: SocketReport): void;
}

/** The way of received bytes to the ingest workers, on the front thread. */
export class Intake {
  readonly counts = new IngestCounts();
  readonly ledger = new Ledger();
  readonly troubles = new TroubleLog();
  readonly senders = new Senders();
  readonly #options: IntakeOptions;
  /** Memory for what the front thread receives, of all workers. */
  readonly #budget: SlotBudget;
  readonly #memories: readonly WebAssembly.Memory[];
  readonly #stats: readonly StatCells[];
  readonly #nameCounts: SharedArrayBuffer;
  readonly #threads: IngestWorkerHandle[] = [];
  readonly #pool: Pool<ToIngest, FromIngest>;
  readonly #restarts: Restarts;
  readonly #sequences: Sequences;
  readonly #sequencesShared: SharedArrayBuffer;
  readonly #order: CommitOrder;
  readonly #recorder: Recorder;
  /** Promises by writer that resolve when the remains of a dead worker are in order. */
  readonly #recoveries: Promise<void>[] = [];
  readonly #started = Promise.withResolvers<void>();
  readonly #behind: Int32Array;
  #keys: KeyTable;
  #extensions: readonly ExtensionStep[];
  #readyCount = 0;
  #turn = 0;
  #diskRefuses = false;
  #watcher: SocketWatcher | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#keys = options.keys;
    this.#extensions = options.extensions ?? [];
    this.#behind = new Int32Array(options.behind ?? new SharedArrayBuffer(4));
    this.#memories = Array.from({ length: options.workers }, makeMemory);
    this.#stats = this.#memories.map(() => new StatCells());
    const { workers, bodyBytesMax = () => BODY_BYTES_MAX } = options;
    this.#budget = new SlotBudget(
      () => Math.max(workers * FRONT_BYTES_EACH, GROWTH_SHARE * bodyBytesMax() + BESIDE_BYTES),
      BEGIN_BYTES,
    );
    this.#nameCounts = NameCounts.memory(options.workers);
    this.#sequencesShared = makeSequences(options.workers, options.sequence);
    this.#sequences = new Sequences(this.#sequencesShared);
    this.#recorder = new Recorder(options);
    this.#order = new CommitOrder(options.workers, options.sequence);
    this.#restarts = new Restarts({
      prepare: (writer) => must(this.#recoveries[writer], 'recovery'),
      start: (writer) => this.#begin(writer, this.#pool.restart(writer)),
      failed: (_, error) => options.fault(asError(error)),
      ...(options.restartTimes === undefined ? {} : { times: options.restartTimes }),
    });
    // Whoever does not wait for the start hears of a death by `died`.
    this.#started.promise.catch(() => {});
    this.#pool = openPool<IngestData, ToIngest, FromIngest>(
      options.entry,
      options.workers,
      (writer) => this.#data(writer),
      (writer, error) => this.#died(writer, error),
      { heap: HEAP },
    );
    for (const [writer, port] of this.#pool.ports.entries()) {
      const memory = must(this.#memories[writer], 'memory');
      const slots = new Slots(memory, 0, FRONT_BYTES, SPARE_BYTES, this.#budget);
      const thread = new IngestWorkerHandle(slots, port, options.nowMs, (channel, outcome) =>
        this.counts.take(channel, outcome),
      );
      this.#threads.push(thread);
      this.#begin(writer, port);
    }
  }

  /** Resolves when all workers take tasks; rejects when one could not start. */
  ready(): Promise<void> {
    return this.#started.promise;
  }

  /** The worker with the fewest unfinished tasks, for a new request or connection; equals take turns. */
  leastBusy(): IngestWorkerHandle {
    const count = this.#threads.length;
    this.#turn = (this.#turn + 1) % count;
    let best = this.#thread(this.#turn);
    for (let step = 1; step < count; step++) {
      const thread = this.#thread((this.#turn + step) % count);
      if (thread.dead) continue;
      if (best.dead || thread.pendingCount < best.pendingCount) best = thread;
    }
    return best;
  }

  /** Room for `bytes` of a body in some worker's memory; `undefined` when there is none anywhere. */
  reserve(bytes: number): { thread: IngestWorkerHandle; slot: Slot } | undefined {
    this.#tellBehind();
    const first = this.leastBusy();
    const place = reserveIn(first, bytes);
    if (place !== undefined) return place;
    for (const thread of this.#threads) {
      const other = thread === first ? undefined : reserveIn(thread, bytes);
      if (other !== undefined) return other;
    }
    return undefined;
  }

  /** Set while the disk takes nothing, being full or failing, so that no lines are taken. */
  set diskRefuses(refuses: boolean) {
    this.#diskRefuses = refuses;
    this.#tellTakers();
  }

  /** Numbers of the workers that are there. */
  get writers(): number[] {
    return [...this.#threads.keys()].filter((writer) => !this.#thread(writer).dead);
  }

  /** Tells `watcher` of the sockets of the workers from now on. */
  watchSockets(watcher: SocketWatcher): void {
    this.#watcher = watcher;
  }

  /** Says something to the sockets of a worker. */
  order(writer: number, order: SocketOrder): void {
    must(this.#pool.ports[writer], 'port').post({ type: 'sockets', order });
  }

  /** Tells the workers of new, changed and deleted write keys, before any task that is given later. */
  changeKeys(table: KeyTable): void {
    this.#keys = table;
    for (const port of this.#pool.ports) port.post({ type: 'keys', table });
  }

  /** Tells the workers of the parsing extensions in force, before any task that is given later. */
  setExtensions(steps: readonly ExtensionStep[]): void {
    this.#extensions = steps;
    for (const port of this.#pool.ports) port.post({ type: 'extensions', steps });
  }

  /**
   * Shows what would become of a body, with the extensions in force or with those of `options`; nothing of it is
   * stored or counted. Never rejects.
   */
  async dry(body: Uint8Array, form: BodyForm, options: DryOptions = {}): Promise<DryOutcome> {
    const nothing = { events: [], tookMs: 0, extendMs: 0, failed: 0 };
    if (body.length > DRY_BYTES_MAX) return { ...DRY_TOO_LARGE, ...nothing };
    const place = this.reserve(body.length);
    if (place === undefined) return { ...OVERLOADED, ...nothing };
    const { thread, slot } = place;
    thread.slots.write(body, slot.start);
    const { status, message, dry } = await thread.body(slot, {
      type: 'body',
      channel: 'http',
      bytes: body.length,
      form,
      key: { id: '', cell: NO_CELL },
      receivedMs: this.#options.nowMs(),
      enrichment: undefined,
      dry: options,
    });
    return { status, message, ...(dry ?? nothing) };
  }

  /** Current values. */
  gauges(): IntakeGauges {
    const gauges = { workersUp: 0, slotBytes: 0, slotBytesFree: 0, tasksPending: 0 };
    for (const [writer, { dead, slots, pendingCount }] of this.#threads.entries()) {
      const { own } = must(this.#stats[writer], 'stats');
      if (!dead) gauges.workersUp++;
      gauges.slotBytes += slots.totalBytes + OWN_BYTES;
      gauges.slotBytesFree += slots.freeBytes + OWN_BYTES - own.takenBytes;
      gauges.tasksPending += pendingCount + own.pendingCount;
    }
    return gauges;
  }

  /** Counts of the workers since the start, dead ones included. */
  stats(): IngestStats {
    return sumStats(this.#stats.map(({ shared }) => shared));
  }

  /** Workers that were put in the place of dead ones. */
  get restartCount(): number {
    return this.#restarts.count;
  }

  /** Lag of the workers' event loops; `undefined` for those that are not there. */
  get loops(): readonly (LoopWatch | undefined)[] {
    return this.#pool.loops.map((loop, writer) => (this.#thread(writer).dead ? undefined : loop));
  }

  /** Ends the workers when they have made durable what they have. No task may be given any more. */
  async close(): Promise<void> {
    await Promise.all([this.#recorder.close(), this.#restarts.close()]);
    for (const thread of this.#threads) thread.flush();
    for (const port of this.#pool.ports) port.post({ type: 'close' });
    await this.#pool.close(CLOSE_GRACE_MS);
  }

  #thread(writer: number): IngestWorkerHandle {
    return must(this.#threads[writer], 'ingest thread');
  }

  #data(writer: number): IngestData {
    const { cells, lineCells, root, folderId, segments } = this.#options;
    const { namesPerKeyDay = NAMES_PER_KEY_DAY } = this.#options;
    return {
      memory: must(this.#memories[writer], 'memory'),
      ownBytes: OWN_BYTES,
      lineCells,
      cells,
      sequences: this.#sequencesShared,
      stats: must(this.#stats[writer], 'stats').shared,
      nameCounts: this.#nameCounts,
      namesPerKeyDay,
      keys: this.#keys,
      extensions: this.#extensions,
      root,
      folderId,
      writer,
      segments,
    };
  }

  /** Listens to a worker that was started, for the first time or in the place of a dead one. */
  #begin(writer: number, port: Port<ToIngest, FromIngest>): void {
    port.listen((message) => {
      if (message.type === 'ready') this.#isReady(writer, port);
      else if (message.type === 'disk') this.#options.diskFailed?.(message.failure);
      else if (message.type === 'sockets') this.#watcher?.told(writer, message.report);
      else {
        const plain = message.type === 'report' ? message.group : undefined;
        if (plain !== undefined) {
          const group = groupOf(plain);
          this.#order.add(writer, () => this.#committed(group), group.claim);
        }
        const claim = message.type === 'closed' ? message.failed : undefined;
        this.#order.add(writer, () => this.#take(writer, port, message), claim);
      }
      this.#tellBehind();
    });
  }

  #isReady(writer: number, port: Port<ToIngest, FromIngest>): void {
    const thread = this.#thread(writer);
    // Both may have changed since the worker was given its own.
    port.post({ type: 'keys', table: this.#keys });
    port.post({ type: 'extensions', steps: this.#extensions });
    if (thread.dead) {
      thread.revive(port);
      this.#tellTakers();
      this.#watcher?.begun(writer);
      return;
    }
    this.#readyCount++;
    if (this.#readyCount === this.#threads.length) this.#started.resolve();
  }

  #died(writer: number, error: Error): void {
    this.#started.reject(error);
    this.#thread(writer).die();
    must(this.#stats[writer], 'stats').own = { unreadBytes: 0, pendingCount: 0, takenBytes: 0 };
    this.#watcher?.died(writer);
    this.#order.forget(writer);
    this.#recoveries[writer] = this.#recover(writer);
    this.#tellTakers();
    this.#tellBehind();
    this.#options.died(error, writer, this.#restarts.died(writer));
  }

  /** Tells listeners that lines have no room while the disk takes nothing, and datagrams none without a worker. */
  #tellTakers(): void {
    const takesLines = !this.#diskRefuses;
    const takes = takesLines && this.#threads.some(({ dead }) => !dead);
    for (const thread of this.#threads) thread.takesLines = takes;
    for (const port of this.#pool.ports) port.post({ type: 'room', takesLines });
  }

  /**
   * Has the segments of a dead worker recovered when all groups before its last one are settled; that one is settled by
   * it. Resolves when it is done, or when the intake ends.
   */
  #recover(writer: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const deliver = async (): Promise<void> => {
      await this.#recorder.recover(writer);
      resolve();
    };
    this.#order.addLast(writer, deliver, this.#sequences.claimOfDead(writer));
    return Promise.race([promise, this.#recorder.ended]);
  }

  /** Tells the query workers whether they should make room for ingestion. */
  #tellBehind(): void {
    let isBehind = false;
    for (let writer = 0; writer < this.#threads.length; writer++) {
      isBehind ||= this.#isBehind(this.#thread(writer), must(this.#stats[writer], 'stats'));
    }
    Atomics.store(this.#behind, 0, isBehind ? 1 : 0);
  }

  #isBehind({ dead, slots, unreadBytes }: IngestWorkerHandle, { own }: StatCells): boolean {
    if (dead) return false;
    return (
      unreadBytes + own.unreadBytes > BEHIND_BYTES ||
      slots.freeBytes < slots.totalBytes * BEHIND_SHARE ||
      own.takenBytes > OWN_BYTES * (1 - BEHIND_SHARE)
    );
  }

  #committed(group: CommittedGroup): void {
    this.#options.committed(group);
    this.ledger.take(group, this.#options.nowMs());
    this.senders.stored(group.usage, this.#options.nowMs());
  }

  #take(
    writer: number,
    port: Port<ToIngest, FromIngest>,
    message: Exclude<FromIngest, { type: 'ready' | 'disk' | 'sockets' }>,
  ): Promise<void> | undefined {
    if (message.type === 'report') {
      const { stored, rest } = message;
      this.#thread(writer).report(rest?.freed ?? [], rest?.outcomes ?? [], stored);
      if (rest === undefined) return undefined;
      for (const [channel, outcome] of rest.own) this.counts.take(channel, outcome);
      if (rest.asks) port.post({ type: 'taken' });
    } else if (message.type === 'allocate') {
      this.#recorder.allocate(writer, port);
    } else if (message.type === 'begun') {
      this.#recorder.begun(writer, port, message.segment);
    } else if (message.type === 'closed') {
      return this.#recorder.closed(writer, port, message);
    } else if (message.type === 'sender') {
      this.senders.note(message.key, this.#options.nowMs(), () => message.sender);
    } else if (message.type === 'troubles') {
      this.troubles.take(message.troubles);
    } else {
      this.#options.fault(message.error);
    }
    return undefined;
  }
}

function reserveIn(
  thread: IngestWorkerHandle,
  bytes: number,
): { thread: IngestWorkerHandle; slot: Slot } | undefined {
  if (thread.dead) return undefined;
  const slot = thread.slots.reserveBody(bytes);
  return slot === undefined ? undefined : { thread, slot };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function makeMemory(): WebAssembly.Memory {
  const pages = FRONT_BYTES / PAGE_BYTES;
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}
