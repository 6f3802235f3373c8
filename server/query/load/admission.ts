import { QueryRefused } from '../refusal.ts';
import { type Allowance, LIGHT_BYTES } from '../scheduler.ts';

/** Numbers of queries that may run and wait, and the memory that they may take. */
export interface AdmissionLimits {
  /** Queries of all keys, and of one, that run at once. */
  running: number;
  perKey: number;
  /** Queries of one key, and of all keys, that wait. */
  waitingPerKey: number;
  waiting: number;
  /** Queries of one key that run at once and are not light. */
  heavyPerKey: number;
  /** Bytes that one query may take, and that all may take with the answers that clients have not taken. */
  queryBytes: number;
  memoryBytes: number;
}

/** A place among those that run or wait. */
export interface Ticket {
  /**
   * Calls `go` when it may take more than a light query, maybe at once; until then it stands still, and keeps nothing
   * when it waits for memory.
   */
  need(allowance: Allowance, go: () => void): void;
  /** Notes that it is answered: until `leave` it keeps the bytes of its answer. */
  answered(bytes: number): void;
  /** Gives the place up, whether its turn came or not; calling it again does nothing. */
  leave(): void;
}

/** A query that runs, waits, or is answered. */
interface Entry {
  tenant: Tenant;
  start: () => void;
  /** `standing`: it needs more than it may take, and waits for that. */
  state: 'waiting' | 'running' | 'standing' | 'answered' | 'left';
  allowance: Allowance;
  /** Bytes of it that count in the memory of all. */
  bytes: number;
  /** Allowance that it waits for while it stands still. */
  needed: Allowance;
  go: () => void;
}

/** A key with queries or answers. */
interface Tenant {
  readonly key: string;
  /** Queries that began and are not answered, except those that stand still; and the heavy ones among them. */
  begunCount: number;
  heavyCount: number;
  /** Bytes of the memory of queries, and of their answers alone. */
  bytes: number;
  answerBytes: number;
  readonly waiting: Set<Entry>;
  readonly standing: Set<Entry>;
}

/** The part of all memory that the answers of one key may take before its next query waits for its clients. */
const ANSWERS_PART = 4;

/**
 * Lets some queries run at once, a few of each key, as long as there is memory for them. More wait, up to a limit:
 * those of a key in the order in which they came; the next one is of the key with the fewest that run. A query begins
 * as a light one. When it turns out heavy it stands still until there is room for it, so that of many heavy ones a few
 * run at a time. A query that was given memory is refused nothing else, so it ends. When no query has memory, the next
 * one gets it whatever it takes, so every query goes on.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** The key whose turn came last at the end. */
  readonly #tenants = new Map<string, Tenant>();
  #runningCount = 0;
  #waitingCount = 0;
  #standingCount = 0;
  /** Queries that may take memory. */
  #largeCount = 0;
  #bytes = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Queries that wait for their turn, also those that began and stand still. */
  get waitingCount(): number {
    return this.#waitingCount + this.#standingCount;
  }

  /** Bytes that are counted of all. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Calls `start` when it is the turn of a query of `key`, maybe at once. Throws QueryRefused 429 when too many wait.
   */
  enter(key: string, start: () => void): Ticket {
    const tenant = this.#tenants.get(key) ?? newTenant(key);
    const { waitingPerKey, waiting } = this.#limits;
    if (
      !this.#mayRun(tenant) &&
      (tenant.waiting.size >= waitingPerKey || this.#waitingCount >= waiting)
    ) {
      throw new QueryRefused(
        429,
        'queue_full',
        `too many queries: ${this.#runningCount} run, ${tenant.begunCount} of this key; ${this.#waitingCount} wait, ${tenant.waiting.size} of this key; try again`,
      );
    }
    this.#tenants.set(key, tenant);
    const entry: Entry = {
      ...{ tenant, start, state: 'waiting', allowance: 'light', bytes: 0 },
      ...{ needed: 'light', go: () => {} },
    };
    tenant.waiting.add(entry);
    this.#waitingCount++;
    this.#advance();
    return {
      need: (allowance, go) => this.#need(entry, allowance, go),
      answered: (bytes) => this.#answered(entry, bytes),
      leave: () => this.#leave(entry),
    };
  }

  #mayRun(tenant: Tenant): boolean {
    const { running, perKey, memoryBytes } = this.#limits;
    if (this.#runningCount >= running || tenant.begunCount >= perKey) return false;
    // Whoever has little is not kept waiting by what others take.
    if (tenant.begunCount === 0 && tenant.answerBytes <= LIGHT_BYTES) return true;
    if (tenant.answerBytes > memoryBytes / ANSWERS_PART) return false;
    return this.#bytes + LIGHT_BYTES <= memoryBytes;
  }

  #need(entry: Entry, allowance: Allowance, go: () => void): void {
    if (entry.state !== 'running') return;
    this.#stop(entry);
    entry.state = 'standing';
    entry.needed = allowance;
    entry.go = go;
    entry.tenant.standing.add(entry);
    this.#standingCount++;
    if (allowance === 'memory') this.#charge(entry, 0);
    this.#advance();
  }

  #answered(entry: Entry, bytes: number): void {
    if (entry.state !== 'running') return;
    this.#stop(entry);
    this.#end(entry);
    entry.state = 'answered';
    this.#charge(entry, bytes);
    entry.tenant.answerBytes += bytes;
    this.#advance();
  }

  #leave(entry: Entry): void {
    const { tenant, state } = entry;
    if (state === 'left') return;
    entry.state = 'left';
    if (state === 'waiting') {
      tenant.waiting.delete(entry);
      this.#waitingCount--;
    } else if (state === 'answered') {
      tenant.answerBytes -= entry.bytes;
    } else {
      if (state === 'running') this.#stop(entry);
      else this.#unstand(entry);
      this.#end(entry);
    }
    this.#charge(entry, 0);
    if (tenant.bytes === 0 && tenant.begunCount === 0 && tenant.waiting.size === 0) {
      this.#tenants.delete(tenant.key);
    }
    this.#advance();
  }

  /** Resumes queries that stand still, and then starts those that may run now. */
  #advance(): void {
    for (let entry = this.#nextStanding(); entry !== undefined; entry = this.#nextStanding()) {
      this.#unstand(entry);
      if (entry.needed === 'memory' && entry.allowance !== 'memory') this.#largeCount++;
      entry.allowance = entry.needed;
      this.#run(entry);
      if (entry.needed === 'memory') this.#charge(entry, this.#limits.queryBytes);
      this.#hadTurn(entry.tenant);
      entry.go();
    }
    for (let tenant = this.#nextTenant(); tenant !== undefined; tenant = this.#nextTenant()) {
      const [entry] = tenant.waiting;
      tenant.waiting.delete(entry);
      this.#waitingCount--;
      tenant.begunCount++;
      this.#run(entry);
      this.#charge(entry, LIGHT_BYTES);
      this.#hadTurn(tenant);
      entry.start();
    }
  }

  #hadTurn(tenant: Tenant): void {
    this.#tenants.delete(tenant.key);
    this.#tenants.set(tenant.key, tenant);
  }

  /** The query that may go on whose key has the fewest heavy ones. */
  #nextStanding(): Entry | undefined {
    if (this.#standingCount === 0) return undefined;
    let next: Entry | undefined;
    for (const { standing } of this.#tenants.values()) {
      for (const entry of standing) {
        if (next !== undefined && entry.tenant.heavyCount >= next.tenant.heavyCount) break;
        if (this.#mayGoOn(entry)) next = entry;
      }
    }
    return next;
  }

  #mayGoOn({ tenant, needed, bytes }: Entry): boolean {
    const { heavyPerKey, queryBytes, memoryBytes } = this.#limits;
    if (tenant.heavyCount >= heavyPerKey) return false;
    if (needed === 'time' || this.#largeCount === 0) return true;
    return this.#bytes - bytes + queryBytes <= memoryBytes;
  }

  /** Of the keys with a query that may run, the one with the fewest that do. */
  #nextTenant(): Tenant | undefined {
    if (this.#waitingCount === 0) return undefined;
    let least: Tenant | undefined;
    let leastCount = Number.POSITIVE_INFINITY;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting.size === 0 || tenant.begunCount >= leastCount || !this.#mayRun(tenant))
        continue;
      least = tenant;
      leastCount = tenant.begunCount;
    }
    return least;
  }

  #run(entry: Entry): void {
    entry.state = 'running';
    this.#runningCount++;
    if (entry.allowance !== 'light') entry.tenant.heavyCount++;
  }

  #stop(entry: Entry): void {
    this.#runningCount--;
    if (entry.allowance !== 'light') entry.tenant.heavyCount--;
  }

  #unstand(entry: Entry): void {
    entry.tenant.standing.delete(entry);
    this.#standingCount--;
  }

  /** A query that began is over. */
  #end(entry: Entry): void {
    entry.tenant.begunCount--;
    if (entry.allowance === 'memory') this.#largeCount--;
  }

  #charge(entry: Entry, bytes: number): void {
    const change = bytes - entry.bytes;
    entry.bytes = bytes;
    entry.tenant.bytes += change;
    this.#bytes += change;
  }
}

function newTenant(key: string): Tenant {
  return {
    key,
    ...{ begunCount: 0, heavyCount: 0, bytes: 0, answerBytes: 0 },
    ...{ waiting: new Set(), standing: new Set() },
  };
}
