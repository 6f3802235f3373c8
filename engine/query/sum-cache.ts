import type { Units } from '../base/pause.ts';
import type { GrowingSumKeeper, SumKey, Summed } from '../column/entries.ts';
import type { SumSource } from '../segment/block/block-sources.ts';
import { IdleCache } from './idle-cache.ts';
import type { Shrinkable } from './model/room.ts';

/** Memory of sums: of 50 million rows, how many distinct values two attributes have with a million each. */
const BYTES_MAX = 36 * 1024 * 1024;
/** In place of the segment of what is of all log segments. */
const ALL_SEGMENTS = -1;
/** Memory of a sum beside what it says. */
const SUM_BYTES = 256;

/** Hashes and other sums of dictionaries. Used by one thread. */
export class SumCache implements SumSource {
  readonly #kept: IdleCache<Summed>;

  constructor(bytesMax = BYTES_MAX) {
    this.#kept = new IdleCache(bytesMax, 'first');
  }

  keeper(segment: number, dictionary: string): GrowingSumKeeper {
    const place = `${segment} ${dictionary}`;
    return {
      keptUnits: (key, make) => this.#keptUnits(segment, `${place} ${key.name}`, key, make),
      isDue: (key, bytes) => this.#kept.isDue(`${place} ${key.name}`, bytes + SUM_BYTES),
      weigh: (key, sum) =>
        this.#kept.weigh(`${place} ${key.name}`, sum, sum.memoryBytes + SUM_BYTES),
    };
  }

  keeperOfAll(path: string): GrowingSumKeeper {
    return this.keeper(ALL_SEGMENTS, path);
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

  /** Where it keeps them. */
  get caches(): readonly Shrinkable[] {
    return [this.#kept];
  }

  /** Forgets segments that are gone, and all that may be of one of them. */
  forget(segments: readonly number[]): void {
    if (segments.length > 0) this.#kept.forget([...segments, ALL_SEGMENTS]);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}
