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

  /** The sums: one a key and day, in order of arrival within a day. Copies. */
  list(): KeyUsage[] {
    return [...this.#days.values()].flatMap((keys) =>
      [...keys.values()].map((sum) => ({ ...sum })),
    );
  }

  /** The sums of one day. Copies. */
  ofDay(day: number): KeyUsage[] {
    return [...(this.#days.get(day)?.values() ?? [])].map((sum) => ({ ...sum }));
  }
}
