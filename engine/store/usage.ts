/**
 * Bytes and events that a write key brought in on one UTC day. The same shape as `KeyUsage` of engine/engine.ts,
 * which lies above this layer.
 */
export interface KeyUsage {
  key: string;
  /** Days since 1970-01-01, UTC. */
  day: number;
  bytes: number;
  events: number;
}

/** Bytes of a key id. Source: FORMAT.md 3. */
export const KEY_BYTES_MAX = 64;

/** Sums usages by key and day. */
export class UsageSum {
  readonly #days = new Map<number, Map<string, KeyUsage>>();

  get empty(): boolean {
    return this.#days.size === 0;
  }

  /** Adds one usage; keeps no reference to it. */
  add(usage: KeyUsage): void {
    let keys = this.#days.get(usage.day);
    if (keys === undefined) {
      keys = new Map();
      this.#days.set(usage.day, keys);
    }
    const sum = keys.get(usage.key);
    if (sum === undefined) {
      keys.set(usage.key, { ...usage });
    } else {
      sum.bytes += usage.bytes;
      sum.events += usage.events;
    }
  }

  addAll(usages: readonly KeyUsage[]): void {
    for (const usage of usages) this.add(usage);
  }

  /** Forgets all days but the newest ones. */
  keepDays(daysMax: number): void {
    if (this.#days.size <= daysMax) return;
    const days = [...this.#days.keys()].sort((a, b) => b - a);
    for (const day of days.slice(daysMax)) this.#days.delete(day);
  }

  /** The sums, one a key and day, the oldest day first. Copies. */
  list(): KeyUsage[] {
    const days = [...this.#days].sort(([a], [b]) => a - b);
    return days.flatMap(([, keys]) => [...keys.values()].map((sum) => ({ ...sum })));
  }
}
