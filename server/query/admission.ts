import { QueryRefused } from './refusal.ts';

/** How many queries may run and wait. */
export interface AdmissionLimits {
  /** Queries of one key that run at once. */
  perKey: number;
  /** Queries of one key, and of all keys, that wait. */
  waitingPerKey: number;
  waiting: number;
}

/** A place among those that run or wait. */
export interface Ticket {
  /** Gives the place up, whether its turn came or not; calling it again does nothing. */
  leave(): void;
}

/** A key with queries that run or wait. */
interface Party {
  runningCount: number;
  readonly waiting: Set<() => void>;
}

/** Lets a few queries of each key run at once; more wait in the order in which they came, up to a limit. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #parties = new Map<string, Party>();
  #waitingCount = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Queries that wait for their turn. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** Calls `start` when it is the turn of a query of `key`, maybe at once. Throws QueryRefused 429 when too many wait. */
  enter(key: string, start: () => void): Ticket {
    let party = this.#parties.get(key);
    if (party === undefined) {
      party = { runningCount: 0, waiting: new Set() };
      this.#parties.set(key, party);
    }
    if (party.runningCount < this.#limits.perKey) {
      party.runningCount++;
      start();
    } else {
      const { waitingPerKey, waiting } = this.#limits;
      if (party.waiting.size >= waitingPerKey || this.#waitingCount >= waiting) {
        throw new QueryRefused(
          429,
          'queue_full',
          `too many queries: ${party.runningCount} of this key run and ${party.waiting.size} wait; try again`,
        );
      }
      party.waiting.add(start);
      this.#waitingCount++;
    }
    let left = false;
    return {
      leave: () => {
        if (!left) this.#leave(key, party, start);
        left = true;
      },
    };
  }

  #leave(key: string, party: Party, start: () => void): void {
    if (party.waiting.delete(start)) this.#waitingCount--;
    else party.runningCount--;
    const [next] = party.waiting;
    if (next !== undefined && party.runningCount < this.#limits.perKey) {
      party.waiting.delete(next);
      this.#waitingCount--;
      party.runningCount++;
      next();
    }
    if (party.runningCount === 0) this.#parties.delete(key);
  }
}
