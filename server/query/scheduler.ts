import { EngineError } from '../../engine/base/errors.ts';

/** A query in pieces of a few milliseconds: each `next` does one, the last one returns the result. */
export type Units<T> = Generator<UnitProgress | undefined, T, void>;

/** What a unit may yield: how far the query is. */
export interface UnitProgress {
  unitsDone: number;
  unitsTotal: number;
  /** Whether nothing can be done before `wake`. */
  waits?: boolean;
}

/** What a scheduler goes by. */
export interface SchedulerOptions {
  /** A clock that does not jump, in milliseconds. */
  nowMs?: () => number;
  /** Whether ingestion is behind: then heavy queries pause. */
  isBehind?: () => boolean;
}

/** How long units of one query are done before the event loop has its turn. */
const TURN_MS = 2;
/** A query is heavy when it had so much time. */
const HEAVY_MS = 50;
/** How often it is told how far a query is that takes longer than this. */
const PROGRESS_MS = 100;
/** While ingestion is behind, one turn of a heavy query comes in so much time: it goes on, at a tenth of the speed. */
const HEAVY_PAUSE_MS = 20;

/** Time that someone had, counted from what the others had had in the mean when it came. */
interface Served {
  servedMs: number;
}

/** A query that is being worked on. */
interface Active extends Served {
  query: number;
  party: Party;
  units: Units<unknown>;
  /** Whether it waits for `wake`. */
  waits: boolean;
  /** Time that it had itself. */
  usedMs: number;
  /** When it was told how far the query is, or when it came. */
  toldMs: number;
  progressed: ((progress: UnitProgress) => void) | undefined;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** The queries of one key. */
interface Party extends Served {
  key: string;
  queries: Set<Active>;
  /** Time that each of its queries had in the mean. */
  meanMs: number;
}

/**
 * Shares one thread between queries: the next unit is always of the key that had the least time, and of its queries of
 * the one that had the least. So short ones pass by long ones, none starves, and many queries of one key do not crowd
 * out the one of another. Between turns the event loop works, so that messages arrive.
 */
export class Scheduler {
  readonly #nowMs: () => number;
  readonly #isBehind: () => boolean;
  readonly #active = new Map<number, Active>();
  readonly #parties = new Map<string, Party>();
  /** Time that each key had in the mean. */
  #meanMs = 0;
  #heavyMs = Number.NEGATIVE_INFINITY;
  #immediate: NodeJS.Immediate | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor({ nowMs, isBehind }: SchedulerOptions = {}) {
    this.#nowMs = nowMs ?? (() => performance.now());
    this.#isBehind = isBehind ?? (() => false);
  }

  /** Queries that are not done. */
  get activeCount(): number {
    return this.#active.size;
  }

  /**
   * Works on `units` under the number `query`, for `key`; rejects with CANCELLED, or with what the units throw. Of a query
   * that takes longer `progressed` is told every 100 ms at most what its last unit yielded.
   */
  run<T>(
    query: number,
    key: string,
    units: Units<T>,
    progressed?: (progress: UnitProgress) => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let party = this.#parties.get(key);
      if (party === undefined) {
        party = { key, queries: new Set(), servedMs: this.#meanMs, meanMs: 0 };
        this.#parties.set(key, party);
      }
      const active: Active = {
        query,
        party,
        units,
        waits: false,
        servedMs: party.meanMs,
        usedMs: 0,
        toldMs: this.#nowMs(),
        progressed,
        resolve: resolve as Active['resolve'],
        reject,
      };
      party.queries.add(active);
      this.#active.set(query, active);
      this.#schedule();
    });
  }

  /** Goes on with a query that may wait. */
  wake(query: number): void {
    const active = this.#active.get(query);
    if (active === undefined) return;
    active.waits = false;
    this.#schedule();
  }

  /** Stops a query between two of its units; one that is over or unknown is left alone. */
  cancel(query: number): void {
    const active = this.#active.get(query);
    if (active === undefined) return;
    this.#end(active);
    const error = new EngineError('CANCELLED', 'the query was cancelled');
    try {
      active.units.return(undefined);
    } finally {
      active.reject(error);
    }
  }

  #end(active: Active): void {
    const { party, query } = active;
    this.#active.delete(query);
    party.queries.delete(active);
    if (party.queries.size === 0) this.#parties.delete(party.key);
  }

  #schedule(): void {
    clearTimeout(this.#pause);
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined;
      this.#next();
    });
  }

  /** Gives a turn to whose turn it is. When only heavy queries are there and they have to pause, comes back later. */
  #next(): void {
    if (this.#active.size === 0) return;
    const behind = this.#isBehind();
    const pauseMs = behind ? this.#heavyMs + HEAVY_PAUSE_MS - this.#nowMs() : 0;
    const active = this.#choose(pauseMs > 0);
    if (active === undefined) {
      if (pauseMs > 0) this.#pause = setTimeout(() => this.#schedule(), pauseMs);
      return;
    }
    if (behind) forgive(active, this.#meanMs);
    this.#turn(active);
    if (this.#active.size > 0) this.#schedule();
  }

  /** The query whose turn it is; heavy ones are left aside when `lightOnly`. */
  #choose(lightOnly: boolean): Active | undefined {
    const may = ({ usedMs, waits }: Active): boolean => !waits && (!lightOnly || usedMs < HEAVY_MS);
    let chosen: Active | undefined;
    for (const party of this.#parties.values()) {
      if (chosen !== undefined && party.servedMs > chosen.party.servedMs) continue;
      chosen = least(party.queries, may) ?? chosen;
    }
    return chosen;
  }

  #turn(active: Active): void {
    const startedMs = this.#nowMs();
    let step: IteratorResult<UnitProgress | undefined, unknown>;
    try {
      do step = active.units.next();
      while (
        step.done !== true &&
        step.value?.waits !== true &&
        this.#nowMs() - startedMs < TURN_MS
      );
    } catch (error) {
      this.#charge(active, startedMs);
      this.#end(active);
      active.reject(error);
      return;
    }
    this.#charge(active, startedMs);
    if (step.done !== true) {
      active.waits = step.value?.waits === true;
      this.#tell(active, step.value);
      return;
    }
    this.#end(active);
    active.resolve(step.value);
  }

  #tell(active: Active, progress: UnitProgress | undefined): void {
    const nowMs = this.#nowMs();
    if (progress === undefined || nowMs - active.toldMs < PROGRESS_MS) return;
    active.toldMs = nowMs;
    active.progressed?.(progress);
  }

  /** Counts a turn. The means grow by each one's part of it, so that whoever comes anew is not ahead of those who wait. */
  #charge(active: Active, startedMs: number): void {
    const { party } = active;
    const endMs = this.#nowMs();
    const tookMs = endMs - startedMs;
    active.usedMs += tookMs;
    active.servedMs += tookMs;
    party.servedMs += tookMs;
    party.meanMs += tookMs / party.queries.size;
    this.#meanMs += tookMs / this.#parties.size;
    if (active.usedMs >= HEAVY_MS) this.#heavyMs = endMs;
  }
}

/** The query that had the least time of those that `may`; of equals the last, as it waits for its first answer. */
function least(queries: Iterable<Active>, may: (active: Active) => boolean): Active | undefined {
  let found: Active | undefined;
  for (const active of queries) {
    if (may(active) && (found === undefined || active.servedMs <= found.servedMs)) found = active;
  }
  return found;
}

/** Counts what was missed in a pause as served: it would crowd out the others when the pause is over. */
function forgive(active: Active, meanMs: number): void {
  const { party } = active;
  active.servedMs = Math.max(active.servedMs, party.meanMs);
  party.servedMs = Math.max(party.servedMs, meanMs);
}
