import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type Disk, type DiskSpace, isDiskFull, isOutOfDescriptors } from '../base/file.ts';
import type { BlockRef } from '../segment/frame.ts';
import type { SealResult } from '../segment/seal/seal.ts';
import {
  boundsOf,
  type CatalogTotals,
  type OpenedCatalog,
  type UnclosedSegment,
} from './catalog.ts';
import { SEALED_FOLDER } from './filename.ts';
import { type SealedNumbers, sealedNames } from './leftover.ts';
import { MergeFailures } from './merge-failures.ts';
import {
  backlogOf,
  type MergePlan,
  type MergePolicy,
  planMerge,
  rowsOf,
  type SegmentFacts,
} from './policy.ts';
import {
  Retention,
  type RetentionEvent,
  type RetentionPolicy,
  type RetentionView,
  sumsOf,
  type WaitingDrop,
} from './retention.ts';
import { type GoneSegment, RetiredFiles } from './retired.ts';

/** The reserve, unless one is set: this, or this share of the file system when that is less. */
const RESERVE_BYTES = 1_000_000_000;
const RESERVE_SHARE = 0.05;
/** Merging may use the reserve, because it frees more than it takes; this share of it is left to the manifest. */
const MERGE_RESERVE_SHARE = 0.25;
/**
 * Backlog of closed log segments, as a multiple of the rows that are sealed together, beyond which sealing goes
 * before all else.
 */
const BACKLOG_URGENT = 2;

/** Order to merge. Plain data that crosses threads. */
export interface MergeJob {
  /** The live blocks of whole segments. */
  refs: readonly BlockRef[];
  /** Rows of a new segment at most. */
  rowsMax: number;
  /** Set when much waits to be sealed and the merge has to keep pace. */
  isUrgent: boolean;
}

/** Bound of retention that segments were beyond. */
type DropReason = 'age' | 'space';

/** Something that was done or that failed, for the log. */
export type CompactionEvent =
  | { type: 'merged'; sources: number[]; segments: number[]; rows: number; tookMs: number }
  | { type: 'mergeFailed'; sources: number[]; error: unknown; retryMs: number }
  /** Segments with damage are not rewritten: what is left of them may be rescued, and answers stay marked. */
  | { type: 'heldBack'; segments: number[] }
  | { type: 'dropped'; reason: DropReason; segments: number[]; rows: number; bytes: number }
  | RetentionEvent
  | { type: 'failed'; error: unknown }
  | { type: 'full'; full: boolean; freeBytes: number; reserveBytes: number };

/** Dependencies of compaction on the front thread. */
export interface CompactionOptions {
  disk: Disk;
  opened: OpenedCatalog;
  /**
   * Rewrites blocks as sealed segments; `allocate` gives their numbers. Rejects when it could not, or was stopped. Up
   * to `mergesMax` run at once.
   */
  merge(job: MergeJob, allocate: () => number): Promise<SealResult>;
  mergesMax: number;
  space(): DiskSpace;
  nowMs(): number;
  /** Milliseconds of a clock that runs with the process and does not jump. */
  monotonicMs(): number;
  policy: MergePolicy;
  retention: RetentionPolicy;
  /** Free bytes below which nothing is taken in; by the size of the file system unless given. */
  reserveBytes: number | undefined;
  /** Receives segments whose files are gone, so that open ones are closed. */
  unlinked(files: readonly GoneSegment[]): void;
  tell(event: CompactionEvent): void;
}

/** The state of the store, for metrics. */
export interface CompactionGauges extends CatalogTotals {
  segments: number;
  /** Bytes of the files of segments, as far as they count. */
  fileBytes: number;
  /** Rows of closed log segments: they wait to be sealed. */
  sealingBacklogRows: number;
  /** Rows of sealed segments. */
  storeSealedRows: number;
  /** Rows that were sealed or merged since the start, and the sealings and merges that run. */
  sealedRows: number;
  sealsRunning: number;
  /** Duration of the last sealing or merge; 0 before the first. */
  lastSealMs: number;
  freeDiskBytes: number;
  /** Free bytes below which nothing is taken in. */
  reserveBytes: number;
  /**
   * Sealings and merges that failed since the start, and those among them whose new files did not have the rows of the
   * old ones.
   */
  sealFailures: number;
  sealMismatches: number;
  /** Sealings and merges since the start whose sources were too wide to be open together. */
  sealSplits: number;
  /** Rows that retention dropped since the start. */
  droppedRows: number;
  /** Segments that wait after such a failure, and those that stay as they are because of damage. */
  sealWaiting: number;
  sealHeld: number;
  /** The drop by age that waits. */
  waitingDrop: WaitingDrop | undefined;
}

/**
 * The life of segments after they are closed: sealing, merging, retention, unlinking; and the watch over free disk.
 * Owned by the front thread, which alone writes the manifest. Source: FORMAT.md 5.
 */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #retired: RetiredFiles;
  /** Judge of which segments are dropped. */
  readonly retention: Retention;
  /** Time on the monotonic clock since which each segment has not changed. */
  readonly #restingSinceMs = new Map<number, number>();
  /** Sources of the merges that run: neither dropped nor merged twice. */
  readonly #busy = new Set<number>();
  /** Segments that stay as they are until they are dropped. */
  readonly #heldBack: Set<number>;
  #unclosed: UnclosedSegment[];
  /** The merges that run. */
  readonly #merging = new Map<MergePlan, Promise<void>>();
  #tidying: Promise<void> | undefined;
  readonly #failures = new MergeFailures();
  /** Sealed segments that came of others which were not more: merging them again would bring nothing. */
  readonly #settled = new Set<number>();
  #failedCount = 0;
  #mismatchCount = 0;
  #splitCount = 0;
  #droppedRows = 0;
  #closed = false;
  #full = false;
  /** Undefined when the disk did not tell. */
  #freeBytes: number | undefined;
  #reserveBytes = RESERVE_BYTES;
  /** Segments of a set whose record may or may not be in the manifest: an append that works decides against it. */
  readonly #doubtful: SealedNumbers = new Set();
  #sealedRows = 0;
  #lastSealMs = 0;

  constructor(options: CompactionOptions) {
    this.#options = options;
    const { disk, opened, unlinked, tell } = options;
    const failed = (error: unknown): void => tell({ type: 'failed', error });
    this.#retired = new RetiredFiles(disk, unlinked, failed);
    const damaged = opened.report.remarks.filter((remark) => remark.damaged.length > 0);
    this.#heldBack = new Set(damaged.map(({ segment }) => segment));
    this.#unclosed = [...opened.report.unclosed];
    const { retention, monotonicMs } = options;
    const { retention: kept } = opened.manifest;
    const policy = opened.manifest.policy ?? retention;
    this.retention = new Retention({ policy, kept, monotonicMs, tell });
    this.#lookAtSpace();
  }

  /** Is set while free disk is below the reserve, so that nothing should be taken in. */
  get full(): boolean {
    return this.#full;
  }

  /** Keeps the files that snapshots of this moment name; the function that is returned ends that. */
  pin(): () => void {
    return this.#retired.pin();
  }

  /** Begins the work that is due. To be called about once a second. */
  tick(): void {
    if (this.#closed) return;
    this.#lookAtSpace();
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
    while (this.#beginMerge());
  }

  /** Begins the merge that is due next; returns whether there was one. */
  #beginMerge(): boolean {
    const { policy, mergesMax, nowMs } = this.#options;
    if (this.#merging.size >= mergesMax || this.#doubtful.size > 0) return false;
    const candidates = this.#candidates(nowMs());
    const whole = planMerge(candidates, policy, nowMs(), this.#merging.size);
    if (whole === undefined || !this.#hasRoom(whole)) return false;
    const plan = this.#failures.smaller(whole);
    for (const { segment } of plan.sources) this.#busy.add(segment);
    const merge = this.#merge(plan).finally(() => {
      this.#merging.delete(plan);
      for (const { segment } of plan.sources) this.#busy.delete(segment);
    });
    this.#merging.set(plan, merge);
    return true;
  }

  gauges(): CompactionGauges {
    const { manifest, catalog } = this.#options.opened;
    const facts = this.#facts();
    const open = [...manifest.segments].filter(([, entry]) => entry.closed === undefined);
    const openBytes = open.reduce((sum, [segment]) => sum + catalog.visibleBytes(segment), 0);
    return {
      segments: manifest.segments.size + manifest.sealed.size,
      ...catalog.totals(),
      fileBytes: facts.reduce((sum, { bytes }) => sum + bytes, openBytes),
      sealingBacklogRows: rowsOf(facts.filter(({ sealed }) => !sealed)),
      storeSealedRows: rowsOf(facts.filter(({ sealed }) => sealed)),
      sealedRows: this.#sealedRows,
      sealsRunning: this.#merging.size,
      lastSealMs: this.#lastSealMs,
      freeDiskBytes: this.#freeBytes ?? 0,
      reserveBytes: this.#reserveBytes,
      sealFailures: this.#failedCount,
      sealMismatches: this.#mismatchCount,
      sealSplits: this.#splitCount,
      droppedRows: this.#droppedRows,
      sealWaiting: this.#failures.waiting(this.#options.monotonicMs()),
      sealHeld: this.#heldBack.size,
      waitingDrop: this.retention.waiting,
    };
  }

  /** Waits for the work that was begun, and begins no more. The caller has stopped the merges that run. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.settled();
  }

  /** Resolves when nothing that was begun is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#merging.values(), this.#tidying]);
    await this.#retired.settled();
  }

  /** All segments but the log segments that are open. */
  #facts(): SegmentFacts[] {
    const { manifest, catalog } = this.#options.opened;
    const facts: SegmentFacts[] = [];
    for (const [segment, { closed }] of manifest.segments) {
      if (closed === undefined) continue;
      const bounds = boundsOf(catalog.blocksOf(segment));
      const restedMs = this.#restedMs(segment, 0);
      const { bytes } = closed;
      facts.push({ segment, sealed: false, bytes, ...bounds, sealedMs: undefined, restedMs });
    }
    for (const [segment, entry] of manifest.sealed) {
      const { bytes, rowCount, minTimeMs, maxTimeMs, sealedMs } = entry;
      const restedMs = this.#restedMs(segment, this.#options.nowMs() - sealedMs);
      const times = { minTimeMs, maxTimeMs, sealedMs, restedMs };
      facts.push({ segment, sealed: true, bytes, rowCount, ...times });
    }
    return facts;
  }

  /** Time since a segment changed last; it was `seenMs` when the segment was first seen. */
  #restedMs(segment: number, seenMs: number): number {
    const runningMs = this.#options.monotonicMs();
    let sinceMs = this.#restingSinceMs.get(segment);
    if (sinceMs === undefined) {
      sinceMs = runningMs - Math.max(seenMs, 0);
      this.#restingSinceMs.set(segment, sinceMs);
    }
    return runningMs - sinceMs;
  }

  /**
   * The segments that may be rewritten. Sealed ones that are too old are not among them, so that segments that wait to
   * be dropped stay as they are.
   */
  #candidates(nowMs: number): SegmentFacts[] {
    const { catalog } = this.#options.opened;
    const facts = this.#facts();
    const tooOld = new Set(this.retention.tooOld(facts, nowMs));
    const runningMs = this.#options.monotonicMs();
    const stays = ({ segment }: SegmentFacts): boolean =>
      this.#busy.has(segment) ||
      this.#heldBack.has(segment) ||
      this.#settled.has(segment) ||
      this.#failures.isWaiting(segment, runningMs) ||
      catalog.isDamaged(segment);
    return facts.filter((each) => !stays(each) && !(each.sealed && tooOld.has(each)));
  }

  #lookAtSpace(): void {
    const { space, reserveBytes, tell } = this.#options;
    try {
      const { freeBytes, totalBytes } = space();
      const reserve = reserveBytes ?? Math.min(RESERVE_BYTES, totalBytes * RESERVE_SHARE);
      this.#reserveBytes = reserve;
      this.#freeBytes = freeBytes;
      const full = freeBytes < reserve;
      if (full === this.#full) return;
      this.#full = full;
      tell({ type: 'full', full, freeBytes, reserveBytes: reserve });
    } catch (error) {
      this.#freeBytes = undefined;
      tell({ type: 'failed', error });
    }
  }

  /** Reports whether a merge has room beside those that run. */
  #hasRoom(plan: MergePlan): boolean {
    const sources = [plan, ...this.#merging.keys()].flatMap((each) => each.sources);
    const bytes = sources.reduce((sum, source) => sum + source.bytes, 0);
    const freeBytes = this.#freeBytes ?? 0;
    return bytes === 0 || freeBytes - bytes >= this.#reserveBytes * MERGE_RESERVE_SHARE;
  }

  /** Repeats the work that a full disk prevented, and drops segments by retention. */
  async #tidy(): Promise<void> {
    try {
      if (this.#doubtful.size > 0) await this.#endDoubt();
      await this.#closeRecovered();
      await this.#retain();
    } catch (error) {
      if (!isDiskFull(error)) this.#options.tell({ type: 'failed', error });
    }
  }

  /** Appends a record that changes nothing: it takes the place of the one that failed. */
  async #endDoubt(): Promise<void> {
    if (this.#merging.size > 0) return;
    await this.#options.opened.manifest.seal([], [], []);
    const reserved = new Set(this.#doubtful);
    this.#doubtful.clear();
    await this.#removeReserved(reserved);
  }

  async #closeRecovered(): Promise<void> {
    const { manifest } = this.#options.opened;
    for (;;) {
      const [first] = this.#unclosed;
      if (first === undefined) return;
      const { segment, bytes, sequence, damagedBlocks } = first;
      await manifest.close(segment, bytes, sequence, damagedBlocks);
      this.#unclosed.shift();
    }
  }

  async #retain(): Promise<void> {
    const { manifest, catalog } = this.#options.opened;
    const { old, surplus } = this.retention.pass({ ...this.toRetain(), busy: this.#busy });
    const drops = [...old, ...surplus];
    if (drops.length > 0) {
      const segments = drops.map(({ segment }) => segment);
      // A merge that begins while the record is being written must not take these.
      for (const segment of segments) this.#heldBack.add(segment);
      await manifest.drop(segments, catalog.usageOf(segments));
      this.#goneFrom(drops, []);
      this.#tellDropped('age', old);
      this.#tellDropped('space', surplus);
    }
    const { unkept } = this.retention;
    if (unkept === undefined) return;
    await manifest.keepRetention(unkept);
    this.retention.kept(unkept);
  }

  /** The state of the store as retention sees it. */
  toRetain(): Omit<RetentionView, 'busy'> {
    return { segments: this.#facts(), nowMs: this.#options.nowMs(), freeBytes: this.#freeBytes };
  }

  #tellDropped(reason: DropReason, drops: readonly SegmentFacts[]): void {
    if (drops.length === 0) return;
    const segments = drops.map(({ segment }) => segment);
    const sums = sumsOf(drops);
    this.#droppedRows += sums.rows;
    this.#options.tell({ type: 'dropped', reason, segments, ...sums });
  }

  async #merge(plan: MergePlan): Promise<void> {
    const sources = plan.sources.map(({ segment }) => segment);
    const reserved: SealedNumbers = new Set();
    let recorded = false;
    const startMs = performance.now();
    try {
      const result = await this.#rewrite(plan, reserved);
      if (result.damaged.length > 0) {
        this.#holdBack([...new Set(result.damaged.map(({ segment }) => segment))]);
        await this.#removeReserved(reserved);
        return;
      }
      const rows = rowsOf(plan.sources);
      assert(result.rowCount === rows, `${rows} rows became ${result.rowCount}`);
      recorded = true;
      await this.#record(plan, result);
      this.#settle(plan, result);
      if (result.parts > 1) this.#splitCount++;
      this.#lastSealMs = performance.now() - startMs;
      this.#sealedRows += rows;
      const segments = result.segments.map(({ segment }) => segment);
      const tookMs = Math.round(this.#lastSealMs);
      this.#options.tell({ type: 'merged', sources, segments, rows, tookMs });
    } catch (error) {
      // When the record was begun, a stop now would leave it to the next start to tell which files live.
      if (recorded) for (const segment of reserved) this.#doubtful.add(segment);
      else await this.#removeReserved(reserved);
      const isStopped = error instanceof EngineError && error.code === 'CLOSED';
      if (!isStopped && !this.#closed) this.#backOff(sources, error);
    }
  }

  /** Rewrites the blocks of the plan's segments. Segments without rows have no successor. */
  async #rewrite({ sources, rowsMax }: MergePlan, reserved: SealedNumbers): Promise<SealResult> {
    const { opened, merge, policy } = this.#options;
    const { manifest, catalog } = opened;
    const refs = sources.flatMap(({ segment }) => [...catalog.blocksOf(segment)]);
    if (refs.length === 0) return { segments: [], damaged: [], rowCount: 0, parts: 0 };
    const isUrgent = backlogOf(this.#facts(), policy) >= BACKLOG_URGENT;
    return merge({ refs, rowsMax, isUrgent }, () => {
      const segment = manifest.reserve();
      reserved.add(segment);
      return segment;
    });
  }

  /** Makes the new set the one that lives. */
  async #record({ sources }: MergePlan, result: SealResult): Promise<void> {
    const { opened, nowMs } = this.#options;
    const numbers = sources.map(({ segment }) => segment);
    const sealedMs = nowMs();
    const segments = result.segments.map((each) => ({
      segment: each.segment,
      bytes: each.bytes,
      rowCount: each.rowCount,
      minTimeMs: each.minTimeMs,
      maxTimeMs: each.maxTimeMs,
      sealedMs,
      blocks: each.blocks,
    }));
    await opened.manifest.seal(numbers, segments, opened.catalog.usageOf(numbers));
    this.#goneFrom(sources, segments);
  }

  #goneFrom(
    sources: readonly SegmentFacts[],
    segments: readonly { segment: number; blocks: readonly BlockRef[] }[],
  ): void {
    const numbers = sources.map(({ segment }) => segment);
    this.#options.opened.catalog.replaceSet(numbers, segments);
    for (const number of numbers) {
      this.#restingSinceMs.delete(number);
      this.#heldBack.delete(number);
      this.#settled.delete(number);
    }
    this.#failures.forget(numbers);
    this.#retired.retire(sources.map(({ sealed, segment }) => ({ sealed, segment })));
  }

  #holdBack(segments: number[]): void {
    for (const segment of segments) this.#heldBack.add(segment);
    this.#options.tell({ type: 'heldBack', segments });
  }

  /** Leaves segments alone whose merge has not made fewer of them. */
  #settle({ sources }: MergePlan, { segments }: SealResult): void {
    if (segments.length < sources.length || sources.some(({ sealed }) => !sealed)) return;
    for (const { segment } of segments) this.#settled.add(segment);
  }

  /** Lets the segments wait, so that others come to their turn; then fewer of them are tried at a time. */
  #backOff(sources: number[], error: unknown): void {
    this.#failedCount++;
    if (error instanceof EngineError && error.code === 'MISMATCH') this.#mismatchCount++;
    const nowMs = this.#options.monotonicMs();
    const isTheirs = !isDiskFull(error) && !isOutOfDescriptors(error);
    const retryMs = this.#failures.failed(sources, isTheirs, nowMs);
    this.#options.tell({ type: 'mergeFailed', sources, error, retryMs });
  }

  /** Removes what a merge that failed has left. */
  async #removeReserved(reserved: SealedNumbers): Promise<void> {
    const { disk, tell } = this.#options;
    try {
      const names = sealedNames(disk, reserved);
      for (const name of names) await disk.unlink(`${SEALED_FOLDER}/${name}`);
    } catch (error) {
      tell({ type: 'failed', error });
    }
  }
}
