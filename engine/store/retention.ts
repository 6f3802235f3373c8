import { DAY_MS } from '../base/durations.ts';
import { rowsOf, type SegmentFacts } from './policy.ts';

const MS_OF_AN_HOUR = 3_600_000;
/** Running time for which a large drop by age waits. */
const WAIT_MS = DAY_MS;
/** Running time after which the manifest is told how long the wait has been. */
const KEEP_EVERY_MS = 300_000;
/** Time that the disk may take to show the space of dropped files as free. */
const SETTLE_MS = 60_000;
const NONE: ReadonlySet<number> = new Set();

/** When segments are dropped; undefined is never. */
export interface RetentionPolicy {
  /** Age of a segment's newest event. */
  ageMaxMs: number | undefined;
  /** Bytes of all closed and sealed segments. */
  bytesMax: number | undefined;
  /** Free bytes of the disk below which sealed segments go. */
  freeBytesMin: number | undefined;
}

/** The part of retention that outlives the process. Source: FORMAT.md 6. */
export interface KeptRetention {
  /** The age that was in force; 0 is none. */
  ageMaxMs: number;
  /** Running time that a large drop by age has waited; 0 when none waits. */
  waitedMs: number;
}

/** The state of a store when retention passes over it. */
export interface RetentionView {
  /** All segments but the open log segments, for which nothing is dropped. */
  segments: readonly SegmentFacts[];
  /** Sources of the merge that runs: they stay. */
  busy: ReadonlySet<number>;
  nowMs: number;
  /** Free bytes of the disk; undefined when unknown. */
  freeBytes: number | undefined;
}

/** Segments that are to be dropped now. */
export interface RetentionDrops {
  old: SegmentFacts[];
  /** Segments that space is too little for. */
  surplus: SegmentFacts[];
}

/** Drops that a policy would bring, now or once they have waited. */
export interface PlannedDrops extends RetentionDrops {
  /** Those by age would wait, in case the clock is wrong. */
  isHeld: boolean;
}

/** A large drop by age that waits. */
export interface WaitingDrop {
  segments: number;
  rows: number;
  bytes: number;
  /** Running time until the drop. */
  leftMs: number;
}

/** Reports of retention about a drop by age. */
export type RetentionEvent =
  | ({ type: 'dropWaits' } & WaitingDrop)
  /** The clock, most likely, was put right: nothing was dropped. */
  | { type: 'dropCalledOff' };

/** Dependencies of retention. */
export interface RetentionOptions {
  policy: RetentionPolicy;
  kept: KeptRetention;
  /** Milliseconds of a clock that runs with the process and does not jump. */
  monotonicMs(): number;
  tell(event: RetentionEvent): void;
}

/**
 * Decides which segments are dropped. A wrong clock makes old what is not: so a pass over more than one segment and
 * more than 1/days of the sealed bytes, or over more than half of them, waits for 24 hours of running time, those of
 * earlier processes included, and is called off when the clock is put right. Drops for space and those that a shorter
 * retention asks for never wait. Owned by compaction. Source: FORMAT.md 5.
 */
export class Retention {
  readonly #options: RetentionOptions;
  #policy: RetentionPolicy;
  #kept: KeptRetention;
  #state: KeptRetention;
  #lastMs: number;
  #waiting: WaitingDrop | undefined;
  #toldMs = Number.NEGATIVE_INFINITY;
  /** Wait after a drop for free disk, which ends at the time or once so many bytes are free. */
  #settling = { untilMs: Number.NEGATIVE_INFINITY, freeBytes: 0 };

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#kept = options.kept;
    this.#state = { ...options.kept };
    this.#lastMs = options.monotonicMs();
  }

  /** The policy in force. */
  get policy(): RetentionPolicy {
    return this.#policy;
  }

  set policy(policy: RetentionPolicy) {
    this.#policy = policy;
  }

  /** The drop by age that waits. */
  get waiting(): WaitingDrop | undefined {
    return this.#waiting;
  }

  /** The state that the manifest has still to be told; `kept` confirms it. */
  get unkept(): KeptRetention | undefined {
    const { ageMaxMs, waitedMs } = this.#state;
    const sinceMs = waitedMs - this.#kept.waitedMs;
    const due = ageMaxMs !== this.#kept.ageMaxMs || sinceMs < 0 || sinceMs >= KEEP_EVERY_MS;
    return due ? { ageMaxMs, waitedMs: Math.floor(waitedMs) } : undefined;
  }

  kept(state: KeptRetention): void {
    this.#kept = state;
  }

  /** The segments that age ends at `nowMs`, those that wait for it included. */
  tooOld(segments: readonly SegmentFacts[], nowMs: number): SegmentFacts[] {
    return tooOldFor(this.#policy, segments, nowMs);
  }

  /** The drops that another policy would bring by itself. Changes nothing. */
  plan(
    policy: RetentionPolicy,
    { segments, nowMs, freeBytes }: Omit<RetentionView, 'busy'>,
  ): PlannedDrops {
    const old = tooOldFor(policy, segments, nowMs);
    const left = segments.filter((facts) => !old.includes(facts));
    const { bytesMax = Number.POSITIVE_INFINITY, freeBytesMin = 0 } = policy;
    const shortBytes = freeBytes === undefined ? 0 : freeBytesMin - freeBytes;
    const order = new Ages(segments, nowMs).oldestFirst(left);
    const surplus = surplusOf(order, NONE, bytesOf(left) - bytesMax, shortBytes);
    return { old, surplus, isHeld: this.#isHeld(old, segments, policy.ageMaxMs ?? 0) };
  }

  /** The segments to be dropped now. To be called about once a second. */
  pass({ segments, busy, nowMs, freeBytes }: RetentionView): RetentionDrops {
    const { bytesMax, freeBytesMin } = this.#policy;
    const tooOld = this.tooOld(segments, nowMs);
    const mayGo = this.#judge(tooOld, segments);
    const old = mayGo ? tooOld.filter(({ segment }) => !busy.has(segment)) : [];
    const left = mayGo ? segments.filter((facts) => !old.includes(facts)) : segments;
    const overBytes = bytesMax === undefined ? 0 : bytesOf(left) - bytesMax;
    const shortBytes = this.#shortBytes(freeBytesMin, freeBytes);
    if (overBytes <= 0 && shortBytes <= 0) return { old, surplus: [] };
    const order = new Ages(segments, nowMs).oldestFirst(left);
    const surplus = surplusOf(order, busy, overBytes, shortBytes);
    if (shortBytes > 0 && surplus.length > 0) this.#settle((freeBytes ?? 0) + bytesOf(surplus) / 2);
    return { old, surplus };
  }

  /** Decides whether the segments that are too old may be dropped now. */
  #judge(old: readonly SegmentFacts[], segments: readonly SegmentFacts[]): boolean {
    const { monotonicMs } = this.#options;
    const ageMaxMs = this.#policy.ageMaxMs ?? 0;
    const elapsedMs = monotonicMs() - this.#lastMs;
    this.#lastMs += elapsedMs;
    if (!isLarge(old, segments, ageMaxMs)) {
      this.#callOff();
      this.#state = { ageMaxMs, waitedMs: 0 };
      return true;
    }
    if (!this.#isHeld(old, segments, ageMaxMs)) return true;
    // A wait begins with its first pass, or goes on from before the start.
    const ranMs = this.#waiting === undefined && this.#state.waitedMs === 0 ? 0 : elapsedMs;
    const waitedMs = Math.min(this.#state.waitedMs + ranMs, WAIT_MS);
    this.#state = { ageMaxMs, waitedMs };
    if (waitedMs >= WAIT_MS) {
      this.#waiting = undefined;
      return true;
    }
    this.#wait(old, WAIT_MS - waitedMs);
    return false;
  }

  /** Reports whether a drop by age is one that waits. Those who shorten the age want what is older to go. */
  #isHeld(
    old: readonly SegmentFacts[],
    segments: readonly SegmentFacts[],
    ageMaxMs: number,
  ): boolean {
    const isShorter = this.#state.ageMaxMs === 0 || ageMaxMs < this.#state.ageMaxMs;
    return !isShorter && isLarge(old, segments, ageMaxMs);
  }

  #wait(old: readonly SegmentFacts[], leftMs: number): void {
    this.#waiting = { segments: old.length, ...sumsOf(old), leftMs };
    if (this.#lastMs - this.#toldMs < MS_OF_AN_HOUR) return;
    this.#toldMs = this.#lastMs;
    this.#options.tell({ type: 'dropWaits', ...this.#waiting });
  }

  #callOff(): void {
    const wasWaiting = this.#waiting !== undefined;
    this.#waiting = undefined;
    this.#toldMs = Number.NEGATIVE_INFINITY;
    if (wasWaiting) this.#options.tell({ type: 'dropCalledOff' });
  }

  #shortBytes(freeBytesMin: number | undefined, freeBytes: number | undefined): number {
    if (freeBytesMin === undefined || freeBytes === undefined) return 0;
    // Files go when no query reads them, and some file systems count them for a while after that.
    const isSettling =
      this.#options.monotonicMs() < this.#settling.untilMs && freeBytes < this.#settling.freeBytes;
    return isSettling ? 0 : freeBytesMin - freeBytes;
  }

  #settle(freeBytes: number): void {
    this.#settling = { untilMs: this.#options.monotonicMs() + SETTLE_MS, freeBytes };
  }
}

function tooOldFor(
  { ageMaxMs }: RetentionPolicy,
  segments: readonly SegmentFacts[],
  nowMs: number,
): SegmentFacts[] {
  if (ageMaxMs === undefined) return [];
  const ages = new Ages(segments, nowMs);
  return segments.filter((facts) => ages.newestMs(facts) < nowMs - ageMaxMs);
}

/**
 * The times from which the ages of segments count: the date of their newest events. Rows dated more than a day ahead
 * of the clock are as old as the sealing of their segment, so that one such row does not keep it. When the sealing
 * lies ahead too, the next sealing that does not counts.
 */
class Ages {
  readonly #nowMs: number;
  readonly #aheadMs: number;
  /** Sealing times that do not lie ahead, in the order of their segments. */
  readonly #sealings: { segment: number; sealedMs: number }[] = [];

  constructor(segments: readonly SegmentFacts[], nowMs: number) {
    this.#nowMs = nowMs;
    this.#aheadMs = nowMs + DAY_MS;
    if (!segments.some(({ maxTimeMs }) => maxTimeMs > this.#aheadMs)) return;
    for (const { segment, sealedMs } of segments) {
      if (sealedMs === undefined || sealedMs > this.#aheadMs) continue;
      this.#sealings.push({ segment, sealedMs });
    }
    this.#sealings.sort((a, b) => a.segment - b.segment);
  }

  /** Newest date of a segment; infinite without rows, so that time does not end it. */
  newestMs({ segment, rowCount, minTimeMs, maxTimeMs }: SegmentFacts): number {
    if (rowCount === 0) return Number.POSITIVE_INFINITY;
    if (maxTimeMs <= this.#aheadMs) return maxTimeMs;
    const sealing = this.#sealings.find((each) => each.segment >= segment);
    const knownMs = minTimeMs <= this.#aheadMs ? minTimeMs : Number.NEGATIVE_INFINITY;
    return Math.max(sealing?.sealedMs ?? this.#nowMs, knownMs);
  }

  oldestFirst(segments: readonly SegmentFacts[]): SegmentFacts[] {
    return segments
      .map((facts) => ({ facts, newestMs: this.newestMs(facts) }))
      .sort((a, b) => a.newestMs - b.newestMs)
      .map(({ facts }) => facts);
  }
}

/**
 * Recognises a drop that passing time alone does not explain: several segments with more than a day's share of the
 * sealed bytes (half at most), or one segment with more than half.
 */
function isLarge(
  old: readonly SegmentFacts[],
  segments: readonly SegmentFacts[],
  ageMaxMs: number,
): boolean {
  if (old.length === 0) return false;
  const sealedBytes = bytesOf(segments.filter(({ sealed }) => sealed));
  const days = old.length === 1 ? 0 : ageMaxMs / DAY_MS;
  return bytesOf(old) > sealedBytes / Math.max(days, 2);
}

/** Sealed segments, then log segments, the oldest first, until there is space; a busy one is waited for. */
function surplusOf(
  left: readonly SegmentFacts[],
  busy: ReadonlySet<number>,
  overBytes: number,
  shortBytes: number,
): SegmentFacts[] {
  const surplus: SegmentFacts[] = [];
  let bytes = 0;
  const order = [...left].sort((a, b) => Number(b.sealed) - Number(a.sealed));
  for (const facts of order) {
    const isSurplus = bytes < overBytes || (facts.sealed && bytes < shortBytes);
    if (!isSurplus || busy.has(facts.segment)) break;
    surplus.push(facts);
    bytes += facts.bytes;
  }
  return surplus;
}

/** Rows and bytes of segments. */
export function sumsOf(segments: readonly SegmentFacts[]): { rows: number; bytes: number } {
  return { rows: rowsOf(segments), bytes: bytesOf(segments) };
}

function bytesOf(segments: readonly SegmentFacts[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}
