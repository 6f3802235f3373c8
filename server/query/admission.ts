import { must } from '../../engine/base/assert.ts';
import { QueryRefused } from './refusal.ts';

/** How many queries may run and wait. */
export interface AdmissionLimits {
  /** Queries of all keys, and of one, that run at once. */
  running: number;
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

/**
 * Lets some queries run at once, a few of each key; more wait, up to a limit: those of a key in the order in which they came,
 * and the next is of the key with the fewest that run.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** The key whose turn came last at the end. */
  readonly #parties = new Map<string, Party>();
  #runningCount = 0;
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
    const party = this.#parties.get(key) ?? { runningCount: 0, waiting: new Set() };
    const { waitingPerKey, waiting } = this.#limits;
    if (
      !this.#mayRun(party) &&
      (party.waiting.size >= waitingPerKey || this.#waitingCount >= waiting)
    ) {
      throw new QueryRefused(
        429,
        'queue_full',
        `too many queries: ${this.#runningCount} run, ${party.runningCount} of this key; ${this.#waitingCount} wait, ${party.waiting.size} of this key; try again`,
      );
    }
    this.#parties.set(key, party);
    party.waiting.add(start);
    this.#waitingCount++;
    this.#startWaiting();
    let left = false;
    return {
      leave: () => {
        if (!left) this.#leave(key, party, start);
        left = true;
      },
    };
  }

  #mayRun(party: Party): boolean {
    const { running, perKey } = this.#limits;
    return this.#runningCount < running && party.runningCount < perKey;
  }

  /** Starts what may run now. */
  #startWaiting(): void {
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      const party = must(this.#parties.get(key), 'party');
      const [start] = party.waiting;
      party.waiting.delete(start);
      this.#waitingCount--;
      party.runningCount++;
      this.#runningCount++;
      this.#parties.delete(key);
      this.#parties.set(key, party);
      start();
    }
  }

  /** Of the keys with a query that may run, the one with the fewest that do. */
  #nextKey(): string | undefined {
    if (this.#waitingCount === 0) return undefined;
    let least: string | undefined;
    let leastCount = Number.POSITIVE_INFINITY;
    for (const [key, party] of this.#parties) {
      if (party.waiting.size === 0 || party.runningCount >= leastCount || !this.#mayRun(party))
        continue;
      least = key;
      leastCount = party.runningCount;
    }
    return least;
  }

  #leave(key: string, party: Party, start: () => void): void {
    if (party.waiting.delete(start)) this.#waitingCount--;
    else {
      party.runningCount--;
      this.#runningCount--;
    }
    if (party.runningCount === 0 && party.waiting.size === 0) this.#parties.delete(key);
    this.#startWaiting();
  }
}
