import type { MergePlan } from './policy.ts';

const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;

/** Failures of one segment among others. */
interface Failure {
  /** Consecutive failures. */
  count: number;
  /** Consecutive failures in which it was alone. */
  aloneCount: number;
  /** Segments that were rewritten together the last time. */
  together: number;
  /** On the monotonic clock. */
  retryAtMs: number;
}

/**
 * Remembers which segments could not be rewritten: they wait longer and longer while others come to their turn, and are
 * tried again in smaller and smaller pieces: with half as many others, at last alone, and cut into new segments of
 * fewer rows. None is given up.
 */
export class MergeFailures {
  readonly #failures = new Map<number, Failure>();

  /** Segments that wait. */
  waiting(nowMs: number): number {
    let count = 0;
    for (const { retryAtMs } of this.#failures.values()) if (retryAtMs > nowMs) count++;
    return count;
  }

  /** Reports whether a segment has to wait before it is tried again. */
  isWaiting(segment: number, nowMs: number): boolean {
    return (this.#failures.get(segment)?.retryAtMs ?? nowMs) > nowMs;
  }

  /** The plan, or a smaller one when some of it failed before. */
  smaller(plan: MergePlan): MergePlan {
    let most = plan.sources.length;
    for (const { segment } of plan.sources) {
      const together = this.#failures.get(segment)?.together;
      if (together !== undefined) most = Math.min(most, Math.max(1, Math.floor(together / 2)));
    }
    const sources = plan.sources.slice(0, most);
    const [first] = sources;
    const aloneCount =
      sources.length > 1 ? 0 : (this.#failures.get(first.segment)?.aloneCount ?? 0);
    if (aloneCount === 0) return { ...plan, sources };
    const rows = Math.min(plan.rowsMax, first.rowCount);
    return { ...plan, sources, rowsMax: Math.max(1, Math.ceil(rows / 2 ** aloneCount)) };
  }

  /**
   * Notes that segments could not be rewritten together; returns how long they wait. `isTheirs`: it was not the disk.
   */
  failed(segments: readonly number[], isTheirs: boolean, nowMs: number): number {
    let waitMs = 0;
    for (const segment of segments) {
      const { count = 0, aloneCount = 0, together } = this.#failures.get(segment) ?? {};
      const ownMs = Math.min(BACKOFF_MS * 2 ** count, BACKOFF_MAX_MS);
      this.#failures.set(segment, {
        count: count + 1,
        aloneCount: aloneCount + (isTheirs && segments.length === 1 ? 1 : 0),
        together: isTheirs ? segments.length : (together ?? 2 * segments.length),
        retryAtMs: nowMs + ownMs,
      });
      waitMs = Math.max(waitMs, ownMs);
    }
    return waitMs;
  }

  /** Forgets segments that were rewritten, or are gone. */
  forget(segments: readonly number[]): void {
    for (const segment of segments) this.#failures.delete(segment);
  }
}
