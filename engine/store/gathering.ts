/** Senders that have just been answered are waited for when there are so many, and no more than so many. */
const SENDERS_MIN = 4;
const SENDERS_ENOUGH = 64;
/** Time in which senders come that send as soon as they are answered, and that of each at least. */
const SOON_MS = 1;
const SENDER_MS = 1 / 16;
/** Senders beside those of a group that are few: what they bring is read faster than it is written. */
const OTHERS_MAX = 16;
/** Time without waiting after they did not all come soon: at less than full load each would wait for the others. */
const PAUSE_MS = 1_000;
/** So often all must have come soon for one time that they did not, and so many times count. */
const TIMES_A_MISS = 4;
const TIMES_MAX = 32;

/**
 * Has the thread wait for further appends for up to `ms`, and take them; false when none came, `undefined` when it has
 * other things to do.
 */
export type WaitForAppends = (ms: number) => boolean | undefined;

/**
 * Wait of a commit group for senders that were just answered, when there are some: a group each would cost more than
 * the moment that they take. Owned by a writer.
 */
export class Gathering {
  readonly #monotonicMs: () => number;
  readonly #waitFor: WaitForAppends | undefined;
  #senderCount = 0;
  /** Senders that are not answered, as it was told last, and the most since the last group was durable. */
  #unanswered = 0;
  #mostUnanswered = 0;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** Ends the wait. */
  #complete: (() => void) | undefined;
  /** How often all came soon, of which each miss takes some, and when there was a miss too many. */
  #times = 0;
  #missedMs = Number.NEGATIVE_INFINITY;

  /** `monotonicMs` is a clock that is never set. */
  constructor(monotonicMs: () => number, waitFor?: WaitForAppends) {
    this.#monotonicMs = monotonicMs;
    this.#waitFor = waitFor;
  }

  /** So many senders are not answered by now, those whose bodies have not come here among them. */
  told(senderCount: number): void {
    this.#unanswered = senderCount;
    this.#mostUnanswered = Math.max(this.#mostUnanswered, senderCount);
  }

  /** Reports whether few senders are known beside the `count` of a group: little comes before that is durable. */
  leavesFew(count: number): boolean {
    return count > 0 && this.#mostUnanswered > 0 && this.#mostUnanswered - count <= OTHERS_MAX;
  }

  /** Senders that a group waits for. */
  get #awaited(): number {
    return Math.min(this.#senderCount, SENDERS_ENOUGH);
  }

  /** A group of `count` senders is durable; the next one has `nextCount` already. */
  answered(count: number, nextCount: number): void {
    this.#senderCount = Math.max(count + nextCount, this.#mostUnanswered);
    this.#answeredMs = this.#monotonicMs();
    this.#unanswered = Math.max(0, this.#unanswered - count);
    this.#mostUnanswered = this.#unanswered;
  }

  /** The next group has `count` senders by now. */
  joined(count: number): void {
    if (count >= this.#awaited) this.#complete?.();
  }

  /**
   * Resolves when as many senders came as there were, or soon; at once when it is not likely that they come. `count`
   * tells how many have come by now.
   */
  async wait(count: () => number): Promise<void> {
    // Bodies that came while those of the group were read are read without a wait.
    this.#waitFor?.(0);
    const nowMs = this.#monotonicMs();
    const waitMs = Math.max(SOON_MS, this.#awaited * SENDER_MS);
    const isJustAnswered = nowMs - this.#answeredMs < waitMs;
    if (!isJustAnswered || this.#senderCount < SENDERS_MIN || count() >= this.#awaited) return;
    if (nowMs - this.#missedMs < PAUSE_MS) return;
    const isComplete = this.#waitHere(count, nowMs + waitMs) ?? (await this.#waitForAll(waitMs));
    if (isComplete) this.#times = Math.min(this.#times + 1, TIMES_MAX);
    else if (this.#times >= TIMES_A_MISS) this.#times -= TIMES_A_MISS;
    else this.#missedMs = this.#monotonicMs();
  }

  /** Has the thread wait: whether all came by `endMs`; `undefined` when it has other things to do. */
  #waitHere(count: () => number, endMs: number): boolean | undefined {
    while (count() < this.#awaited) {
      const hasCome = this.#waitFor?.(endMs - this.#monotonicMs());
      if (hasCome !== true) return hasCome;
    }
    return true;
  }

  /** Resolves with whether all came in time. */
  async #waitForAll(waitMs: number): Promise<boolean> {
    const isComplete = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#complete = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
    this.#complete = undefined;
    return isComplete;
  }
}
