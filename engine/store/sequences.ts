import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';

/** Sequences are below this number. Source: FORMAT.md 8. */
export const SEQUENCES_MAX = 2 ** 48;

/** Sequences that a commit group takes: `first <= sequence < end`. Plain data that crosses threads. */
export interface Claim {
  first: number;
  end: number;
}

const LOCK_BYTES = 8;
const FREE = 0;
/** Places among the numbers: the next sequence, then a writer's last claim, first and end. */
const NEXT = 0;
const CLAIMS = 1;

/** Makes the memory of a counter for `writers` writers that begins at `next`. */
export function makeSequences(writers: number, next: number): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(LOCK_BYTES + (CLAIMS + 2 * writers) * 8);
  new Float64Array(shared, LOCK_BYTES)[NEXT] = next;
  return shared;
}

/**
 * The one counter from which all writers take the sequences of their rows, in memory that their threads share. Its
 * lock is held for a few instructions. The last claim of each writer stands in it, so that it is known whenever the
 * thread dies. Source: FORMAT.md 5.
 */
export class Sequences {
  readonly #lock: Int32Array;
  readonly #numbers: Float64Array;

  /** `shared` is of `makeSequences`. */
  constructor(shared: SharedArrayBuffer) {
    this.#lock = new Int32Array(shared, 0, 1);
    this.#numbers = new Float64Array(shared, LOCK_BYTES);
  }

  /** Takes the next `count` sequences for a writer. Its claim before is done, or has failed. Throws LIMIT. */
  claim(writer: number, count: number): Claim {
    this.#acquire(writer);
    try {
      const numbers = this.#numbers;
      const first = must(numbers[NEXT], 'next sequence');
      const end = first + count;
      if (end > SEQUENCES_MAX) throw new EngineError('LIMIT', `no number left: row ${first}`);
      const at = CLAIMS + 2 * writer;
      numbers[at] = first;
      numbers[at + 1] = end;
      // From here on the claim stands; `claimOfDead` depends on the order of these three.
      numbers[NEXT] = end;
      return { first, end };
    } finally {
      this.#release();
    }
  }

  /**
   * The last claim of a writer whose thread is gone, empty when it made none; the lock is freed when it died with it.
   */
  claimOfDead(writer: number): Claim {
    const numbers = this.#numbers;
    const at = CLAIMS + 2 * writer;
    const claim = { first: must(numbers[at], 'claim'), end: must(numbers[at + 1], 'claim') };
    if (Atomics.load(this.#lock, 0) !== writer + 1) return claim;
    // Nobody has moved the counter meanwhile: a claim that is not whole, or reaches beyond it, was never made.
    const stands = claim.first < claim.end && claim.end <= must(numbers[NEXT], 'next sequence');
    this.#release();
    return stands ? claim : { first: 0, end: 0 };
  }

  #acquire(writer: number): void {
    for (;;) {
      const holder = Atomics.compareExchange(this.#lock, 0, FREE, writer + 1);
      if (holder === FREE) return;
      Atomics.wait(this.#lock, 0, holder);
    }
  }

  #release(): void {
    Atomics.store(this.#lock, 0, FREE);
    Atomics.notify(this.#lock, 0);
  }
}
