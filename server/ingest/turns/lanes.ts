/** Time that a lane has before the next one's turn comes; one that took more waits for as many turns. */
const QUANTUM_MS = 4;

/** Jobs that are over and may be kept: taking each away would cost more. */
const OVER_MAX = 1_024;

/** The jobs of one sender, in their order. */
interface Lane<Job> {
  jobs: Job[];
  /** Jobs that are over. */
  overCount: number;
  leftMs: number;
}

/**
 * Jobs in lanes that take turns by the time that they need: what fills one lane, or takes long in it, does not hold up
 * the others.
 */
export class Lanes<Job> {
  /** Lanes in the order of their turns; none is empty. */
  readonly #lanes = new Map<number, Lane<Job>>();

  /** Puts a job behind those of its lane. */
  add(lane: number, job: Job): void {
    const there = this.#lanes.get(lane);
    if (there === undefined) {
      this.#lanes.set(lane, { jobs: [job], overCount: 0, leftMs: QUANTUM_MS });
    } else {
      there.jobs.push(job);
    }
  }

  /** The lane whose turn it is; `undefined` when there is no job. */
  next(): number | undefined {
    for (const [number, lane] of this.#lanes) {
      if (lane.leftMs > 0 || this.#lanes.size === 1) return number;
      lane.leftMs += QUANTUM_MS;
      // Lanes that are put behind the last one come up in this loop again.
      this.#lanes.delete(number);
      this.#lanes.set(number, lane);
    }
    return undefined;
  }

  /** The first job of a lane. */
  first(lane: number): Job | undefined {
    const there = this.#lanes.get(lane);
    return there?.jobs[there.overCount];
  }

  /** The first jobs of a lane, up to one that `joins` declines; the first one is not asked about. */
  leading(lane: number, joins: (job: Job) => boolean): Job[] {
    const there = this.#lanes.get(lane);
    if (there === undefined) return [];
    const { jobs, overCount } = there;
    let end = overCount + 1;
    while (end < jobs.length && joins(jobs[end])) end++;
    return jobs.slice(overCount, end);
  }

  /** Counts what the first `count` jobs of a lane took together, and takes them away. */
  tookAll(lane: number, ms: number, count: number): void {
    for (let job = 0; job < count; job++) this.took(lane, ms / count, true);
  }

  /** Counts what the first job of a lane took, and takes it away when it is over. */
  took(number: number, ms: number, isOver: boolean): void {
    const lane = this.#lanes.get(number);
    if (lane === undefined) return;
    lane.leftMs = Math.max(lane.leftMs, 0) - ms;
    if (!isOver) return;
    lane.overCount++;
    if (lane.overCount === lane.jobs.length) {
      this.#lanes.delete(number);
    } else if (lane.overCount === OVER_MAX) {
      lane.jobs.splice(0, OVER_MAX);
      lane.overCount = 0;
    }
  }
}
