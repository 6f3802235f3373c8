import { addRun, holdsRuns, type Run } from '../segment/block/runs.ts';
import type { FoundSegment } from './found-segment.ts';

/**
 * The segments that are to go, so that no row is there twice, and why. A stop between the sealing of segments and the
 * removal of their files leaves both: then those go of which others have all rows, or would have but for damage. When
 * the others have a part of them only, not all was written that was to be sealed together, and these go. Source:
 * FORMAT.md 12.
 */
export function doubleSegments(segments: readonly FoundSegment[]): Map<FoundSegment, string> {
  const held = segments.map((segment): [FoundSegment, FoundSegment[]] => [
    segment,
    holdersOf(segment, segments),
  ]);
  const gone = new Map<FoundSegment, string>();
  for (const [segment, holders] of held) {
    if (holdsRuns(unionOf(holders), segment.runs)) continue;
    if (holders.some(({ isDamaged }) => isDamaged)) continue;
    for (const holder of holders) {
      gone.set(holder, `it holds only a part of the rows of ${segment.path}`);
    }
  }
  for (const [segment, holders] of held) {
    const left = holders.filter((holder) => !gone.has(holder));
    if (left.length === 0 || gone.has(segment)) continue;
    const paths = left.map(({ path }) => path);
    gone.set(segment, `its rows are in ${paths.join(', ')}`);
  }
  return gone;
}

/** The sealed segments with higher numbers that have rows of a segment. */
function holdersOf(segment: FoundSegment, all: readonly FoundSegment[]): FoundSegment[] {
  return all.filter(
    (holder) =>
      holder.sealed !== undefined &&
      holder.segment > segment.segment &&
      share(segment.runs, holder.runs),
  );
}

/** The rows of all these segments, as ascending runs that lie apart. */
function unionOf(segments: readonly FoundSegment[]): Run[] {
  const union: Run[] = [];
  const runs = segments.flatMap((segment) => segment.runs).sort((a, b) => a.first - b.first);
  for (const { first, rows } of runs) {
    const last = union.at(-1);
    const lastEnd = last === undefined ? 0 : last.first + last.rows;
    const from = Math.max(first, lastEnd);
    if (first + rows > from) addRun(union, { first: from, rows: first + rows - from });
  }
  return union;
}

/** Reports whether two lists of ascending runs have a sequence in common. */
function share(one: readonly Run[], other: readonly Run[]): boolean {
  for (let at = 0, beside = 0; at < one.length && beside < other.length; ) {
    const end = one[at].first + one[at].rows;
    const otherEnd = other[beside].first + other[beside].rows;
    if (Math.max(one[at].first, other[beside].first) < Math.min(end, otherEnd)) return true;
    if (end < otherEnd) at++;
    else beside++;
  }
  return false;
}
