import type { Units } from '../base/pause.ts';
import type { SumKey, Summed } from '../column/entries.ts';
import type { KeepSum } from '../column/lazy-strings.ts';
import type { SumSource } from '../segment/block/block-sources.ts';
import type { BlockRef } from '../segment/frame.ts';
import { IdleCache } from './idle-cache.ts';

/** Memory of sums: of a million rows not yet sealed, hashes of three attributes with a value for every other row. */
const BYTES_MAX = 12 * 1024 * 1024;
/** Memory of a sum beside what it says. */
const SUM_BYTES = 256;

/** Hashes and other sums of dictionaries of log blocks that were made twice. Used by one thread. */
export class SumCache implements SumSource {
  readonly #kept: IdleCache<Summed>;

  constructor(bytesMax = BYTES_MAX) {
    this.#kept = new IdleCache(bytesMax);
  }

  keeper({ segment, offset }: BlockRef, column: number): KeepSum {
    const place = `${segment} ${offset} ${column}`;
    return (key, make) => this.#keptUnits(segment, `${place} ${key.name}`, key, make);
  }

  *#keptUnits<T extends Summed>(
    segment: number,
    name: string,
    key: SumKey<T>,
    make: () => Units<T>,
  ): Units<T> {
    const known = key.of(this.#kept.known(name));
    if (known !== undefined) return known;
    const made = yield* make();
    this.#kept.get(segment, name, () => ({ value: made, bytes: made.memoryBytes + SUM_BYTES }));
    return made;
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    this.#kept.forget(segments);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}
