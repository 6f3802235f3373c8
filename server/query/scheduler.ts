import { EngineError } from '../../engine/base/errors.ts';

/** A query in pieces of a few milliseconds: each `next` does one, the last one returns the result. */
export type QueryUnits<T> = Generator<UnitProgress | undefined, T, void>;

/** Progress that a unit may yield. */
export interface UnitProgress {
  unitsDone: number;
  unitsTotal: number;
  /** Set when nothing can be done before `wake`. */
  waits?: boolean;
  /** Bytes of what it has found by now. */
  heldBytes?: number;
}

/**
 * Resources that a query may take: `light`, little of both; `time`, as much time as it needs; `memory`, that and
 * memory.
 */
export type Allowance = 'light' | 'time' | 'memory';

/** A scheduler's view of a query besides its units. */
export interface Running {
  /** Receives the last unit's progress, every 100 ms at most, while a query takes longer. */
  progressed?: (progress: UnitProgress) => void;
  /** Allowance at first; `light` when left out. */
  allowance?: Allowance;
  /**
   * Is called when the query needs more than it may take: it then stands still until `allow`. Without this nothing is
   * asked.
   */
  needs?: (allowance: Allowance) => void;
}

/** Settings of a scheduler. */
export interface SchedulerOptions {
  /** A clock that does not jump, in milliseconds. */
  nowMs?: () => number;
  /** Reports whether ingestion is behind, so that heavy queries pause. */
  isBehind?: () => boolean;
}

/** Time that units of one query run before the event loop has its turn. */
const TURN_MS = 2;
/** While ingestion is behind a query pauses when it had so much time. */
const PAUSED_MS = 50;
/** Time of a light query: many times what most need. */
const LIGHT_MS = 500;
/** Bytes of what a light query may have found. */
export const LIGHT_BYTES = 16 * 1024 * 1024;
/**
 * A turn of a query that is not light counts so many times, so that light ones are answered nearly as quickly as alone.
 */
const HEAVY_COST = 4;
/** Interval at which the progress of a query that takes longer is told. */
const PROGRESS_MS = 100;
/** While ingestion is behind, one turn of a heavy query comes in so much time: it goes on, at a tenth of the speed. */
const HEAVY_PAUSE_MS = 20;

/**
 * Time that someone had, that of heavy queries several times, counted from what the others had had in the mean when it
 * came.
 */
interface Served {
  servedMs: number;
}

/** A query that is being worked on. */
interface Active extends Served {
  query: number;
  tenant: Tenant;
  units: QueryUnits<unknown>;
  /** Set while it waits for `wake`. */
  waits: boolean;
  /** Time that it had itself. */
  usedMs: number;
  allowance: Allowance;
  /** Set while it stands still until `allow`. */
  isHeld: boolean;
  needs: ((allowance: Allowance) => void) | undefined;
  /** When it was told how far the query is, or when it came. */
  toldMs: number;
  progressed: ((progress: UnitProgress) => void) | undefined;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** The queries of one key. */
interface Tenant extends Served {
  key: string;
  queries: Set<Active>;
  /** Time that each of its queries had in the mean. */
  meanMs: number;
}

/**
 * Shares one thread between queries. The next unit is always of the key that has used the least time, and among its
 * queries of the one that has used the least. So short queries pass by long ones, none starves, and many queries of
 * one key do not crowd out those of another. Between turns the event loop works, so that messages arrive.
 */
export class Scheduler {
  readonly #nowMs: () => number;
  readonly #isBehind: () => boolean;
  readonly #active = new Map<number, Active>();
  readonly #tenants = new Map<string, Tenant>();
  /** Time that each key had in the mean. */
  #meanMs = 0;
  #heavyMs = Number.NEGATIVE_INFINITY;
  #immediate: NodeJS.Immediate | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor({ nowMs, isBehind }: SchedulerOptions = {}) {
    this.#nowMs = nowMs ?? (() => performance.now());
    this.#isBehind = isBehind ?? (() => false);
  }

  /** Works on `units` under the number `query`, for `key`; rejects with CANCELLED, or with what the units throw. */
  run<T>(
    query: number,
    key: string,
    units: QueryUnits<T>,
    { progressed, allowance = 'light', needs }: Running = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let tenant = this.#tenants.get(key);
      if (tenant === undefined) {
        tenant = { key, queries: new Set(), servedMs: this.#meanMs, meanMs: 0 };
        this.#tenants.set(key, tenant);
      }
      const active: Active = {
        query,
        tenant,
        units,
        waits: false,
        servedMs: tenant.meanMs,
        usedMs: 0,
        allowance,
        isHeld: false,
        needs,
        toldMs: this.#nowMs(),
        progressed,
        resolve: resolve as Active['resolve'],
        reject,
      };
      tenant.queries.add(active);
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

  /** Lets a query take more, and go on. */
  allow(query: number, allowance: Allowance): void {
    const active = this.#active.get(query);
    if (active === undefined) return;
    active.allowance = allowance;
    active.isHeld = false;
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
    const { tenant, query } = active;
    this.#active.delete(query);
    tenant.queries.delete(active);
    if (tenant.queries.size === 0) this.#tenants.delete(tenant.key);
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
    const may = ({ usedMs, waits, isHeld }: Active): boolean =>
      !waits && !isHeld && (!lightOnly || usedMs < PAUSED_MS);
    let chosen: Active | undefined;
    for (const tenant of this.#tenants.values()) {
      if (chosen !== undefined && tenant.servedMs > chosen.tenant.servedMs) continue;
      chosen = least(tenant.queries, may) ?? chosen;
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
        lackOf(active, step.value) === undefined &&
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
      const lacking = lackOf(active, step.value);
      if (lacking !== undefined) hold(active, lacking);
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

  /** Counts a turn. The means grow in proportion, so that a new query is not ahead of those that wait. */
  #charge(active: Active, startedMs: number): void {
    const { tenant } = active;
    const endMs = this.#nowMs();
    const tookMs = endMs - startedMs;
    const cost = active.allowance === 'light' ? tookMs : tookMs * HEAVY_COST;
    active.usedMs += tookMs;
    active.servedMs += cost;
    tenant.servedMs += cost;
    tenant.meanMs += cost / tenant.queries.size;
    this.#meanMs += cost / this.#tenants.size;
    if (active.usedMs >= PAUSED_MS) this.#heavyMs = endMs;
  }
}

/** Resource that a query lacks; `undefined` when it may go on. */
function lackOf(
  { allowance, needs, usedMs }: Active,
  progress: UnitProgress | undefined,
): Allowance | undefined {
  if (needs === undefined || allowance === 'memory') return undefined;
  if ((progress?.heldBytes ?? 0) > LIGHT_BYTES) return 'memory';
  return allowance === 'light' && usedMs >= LIGHT_MS ? 'time' : undefined;
}

/** Has a query stand still until it may take more. */
function hold(active: Active, allowance: Allowance): void {
  active.isHeld = true;
  active.needs?.(allowance);
}

/**
 * The query that has used the least time among those that `may` run; of equals the last, as it waits for its first
 * answer.
 */
function least(queries: Iterable<Active>, may: (active: Active) => boolean): Active | undefined {
  let found: Active | undefined;
  for (const active of queries) {
    if (may(active) && (found === undefined || active.servedMs <= found.servedMs)) found = active;
  }
  return found;
}

/** Counts the time of a pause as served; otherwise the paused query would crowd out the others afterwards. */
function forgive(active: Active, meanMs: number): void {
  const { tenant } = active;
  active.servedMs = Math.max(active.servedMs, tenant.meanMs);
  tenant.servedMs = Math.max(tenant.servedMs, meanMs);
}
