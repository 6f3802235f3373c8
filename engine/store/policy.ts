import { DAY_MS } from '../base/durations.ts';
import { DAY_ROWS_MIN } from '../base/limits.ts';

const MS_OF_AN_HOUR = 3_600_000;

/** Sealed segments of a day from which they are merged whatever their size, and log segments that are sealed so. */
const SEGMENTS_MANY = 64;
/** Sealed segments of several days from which they are merged, though they have few rows. */
const SEGMENTS_SEVERAL = 16;
/** A segment is rewritten only with others that have together a share of its rows: 1 in this. */
const LARGEST_RATIO = 2;

/**
 * Bytes of the files of sealed segments that are merged together. It is less than a new segment may hold in memory, so
 * that the result is one segment. Segments of more than half of it are left as they are.
 */
const MERGE_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of closed log segments from which they are sealed. */
const SEAL_BYTES = 256 * 1024 * 1024;

/** Facts by which policies judge a segment. Log segments are closed ones. */
export interface SegmentFacts {
  segment: number;
  sealed: boolean;
  /** Bytes of its file. */
  bytes: number;
  rowCount: number;
  /** Oldest date of its rows; 0 when it has none. */
  minTimeMs: number;
  maxTimeMs: number;
  /** When it was sealed, by the clock of that time; undefined for a log segment. */
  sealedMs: number | undefined;
  /** Time since it was sealed or closed, by a clock that does not jump. */
  restedMs: number;
}

/** When segments are rewritten. */
export interface MergePolicy {
  /** Rows of closed log segments from which they are sealed, and of a sealed segment, about. */
  sealRows: number;
  /** Time that closed log segments wait for others. */
  idleMs: number;
  /**
   * Rows of a merged segment at most; segments of more than half of it are left as they are. As many as are sealed
   * together: over 8M access-log rows in two segments instead of eight top lists and distinct counts cost up to half
   * more, only a page of a rare word cost less; they took 19 % more disk, because the entries of long columns are too
   * many for a dictionary, and 3.5 us a row to merge.
   */
  mergeRows: number;
}

/** A set of segments that is to be rewritten as another. */
export interface MergePlan {
  sources: SegmentFacts[];
  /** Rows of a new segment at most. */
  rowsMax: number;
}

/** Sum of the rows of segments. */
export function rowsOf(segments: readonly SegmentFacts[]): number {
  return segments.reduce((rows, { rowCount }) => rows + rowCount, 0);
}

function bytesOf(segments: readonly SegmentFacts[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Size of the closed log segments among `segments`, as a multiple of the rows that are sealed together. */
export function backlogOf(
  segments: readonly SegmentFacts[],
  { sealRows }: Pick<MergePolicy, 'sealRows'>,
): number {
  const logs = segments.filter(({ sealed }) => !sealed);
  return Math.max(rowsOf(logs) / sealRows, bytesOf(logs) / SEAL_BYTES);
}

/**
 * The segments that are to be rewritten next: closed log segments first, so that their files do not pile up, then
 * sealed segments of one day. A row is rewritten once and, when it came late or in small numbers or its day is over,
 * once more. `nowMs` only tells which days are over. Beside `running` others, whose segments are not among these, only
 * log segments are, when as many sealings wait as run: so threads become more while what waits does.
 */
export function planMerge(
  segments: readonly SegmentFacts[],
  policy: MergePolicy,
  nowMs: number,
  running = 0,
): MergePlan | undefined {
  if (running > 0 && backlogOf(segments, policy) < running) return undefined;
  const logs = segments.filter(({ sealed }) => !sealed);
  const sealing = planSealing(logs, policy);
  return sealing ?? (running > 0 ? undefined : planMergeOfDay(segments, policy, nowMs));
}

function planSealing(
  logs: readonly SegmentFacts[],
  { sealRows, idleMs }: MergePolicy,
): MergePlan | undefined {
  if (logs.length === 0) return undefined;
  const restedMs = Math.max(...logs.map((facts) => facts.restedMs));
  const due = backlogOf(logs, { sealRows }) >= 1 || logs.length >= SEGMENTS_MANY;
  if (!due && restedMs < idleMs) return undefined;
  const sources = reaching(logs, sealRows);
  return { sources, rowsMax: evenRows(rowsOf(sources), sealRows) };
}

function planMergeOfDay(
  segments: readonly SegmentFacts[],
  policy: MergePolicy,
  nowMs: number,
): MergePlan | undefined {
  const { mergeRows } = policy;
  const days = new Map<number | undefined, SegmentFacts[]>();
  for (const facts of segments) {
    if (!facts.sealed || facts.rowCount * 2 > mergeRows) continue;
    if (facts.bytes * 2 > MERGE_BYTES_MAX) continue;
    const day = dayOf(facts);
    const others = days.get(day);
    if (others === undefined) days.set(day, [facts]);
    else others.push(facts);
  }
  for (const [day, ofDay] of days) {
    const worth = worthMerging(ofDay);
    if (isMergeDue(day, worth, policy, nowMs)) {
      return { sources: upTo(worth, mergeRows), rowsMax: mergeRows };
    }
  }
  return undefined;
}

/** Smallest first, without those that would be rewritten for much smaller ones: so a row is rewritten a few times. */
function worthMerging(ofDay: SegmentFacts[]): SegmentFacts[] {
  const worth = ofDay.sort((a, b) => a.rowCount - b.rowCount);
  for (;;) {
    const largest = worth.at(-1)?.rowCount ?? 0;
    if (largest <= LARGEST_RATIO * (rowsOf(worth) - largest)) return worth;
    worth.pop();
  }
}

/** The UTC day of all rows of a segment; `undefined` when it has rows of several. */
function dayOf({ minTimeMs, maxTimeMs }: SegmentFacts): number | undefined {
  const day = Math.floor(minTimeMs / DAY_MS);
  return day === Math.floor(maxTimeMs / DAY_MS) ? day : undefined;
}

function isMergeDue(
  day: number | undefined,
  ofDay: readonly SegmentFacts[],
  { mergeRows }: MergePolicy,
  nowMs: number,
): boolean {
  const rows = rowsOf(ofDay);
  if (ofDay.length < 2) return false;
  if (rows >= mergeRows || bytesOf(ofDay) >= MERGE_BYTES_MAX) return true;
  if (ofDay.length >= SEGMENTS_MANY) return true;
  const endMs = day === undefined ? 0 : (day + 1) * DAY_MS;
  const restedMs = Math.min(...ofDay.map((facts) => facts.restedMs));
  // A day that lies ahead, by a clock that was set back or by dates, is over when it has been at rest for as long.
  const over = nowMs - endMs >= MS_OF_AN_HOUR || restedMs >= DAY_MS;
  if (restedMs < MS_OF_AN_HOUR || !over) return false;
  // Strays of a few rows would stay strays.
  return day !== undefined || rows >= DAY_ROWS_MIN || ofDay.length >= SEGMENTS_SEVERAL;
}

/** Rows of a segment when `rows` become as many segments of about `target` rows as it takes: no small rest is left. */
function evenRows(rows: number, target: number): number {
  return Math.max(1, Math.ceil(rows / Math.max(1, Math.round(rows / target))));
}

/** The first segments that have `rows` or SEAL_BYTES together, or all. */
function reaching(segments: readonly SegmentFacts[], rows: number): SegmentFacts[] {
  let sum = 0;
  let sumBytes = 0;
  const end = segments.findIndex(({ rowCount, bytes }) => {
    sum += rowCount;
    sumBytes += bytes;
    return sum >= rows || sumBytes >= SEAL_BYTES;
  });
  return end < 0 ? [...segments] : segments.slice(0, end + 1);
}

/** The first segments, at least one, that have up to `rowsMax` rows and MERGE_BYTES_MAX together. */
function upTo(segments: readonly SegmentFacts[], rowsMax: number): SegmentFacts[] {
  const taken: SegmentFacts[] = [];
  let rows = 0;
  let bytes = 0;
  for (const facts of segments) {
    rows += facts.rowCount;
    bytes += facts.bytes;
    if (taken.length > 0 && (rows > rowsMax || bytes > MERGE_BYTES_MAX)) break;
    taken.push(facts);
  }
  return taken;
}
