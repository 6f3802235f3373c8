import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';

/** Most values of a group that are kept as they are. */
export const FEW_MAX = 100;

const CAPACITY_MIN = 64;
const VALUE_BYTES = 12;
/** Groups whose values are sorted in a unit. */
const UNIT_GROUPS = 512;

/** First values of groups as plain data. */
export interface FewValuesData {
  count: number;
  groups: Uint32Array<ArrayBuffer>;
  values: Float64Array<ArrayBuffer>;
}

/** The first FEW_MAX values of each group, in any order. Owned by one thread. */
export class FewValues {
  #count = 0;
  #groups = new Uint32Array(CAPACITY_MIN);
  #values = new Float64Array(CAPACITY_MIN);
  /** Values that a group ever had here. */
  #counts = new Uint8Array(CAPACITY_MIN);

  /** Values that it has. */
  get count(): number {
    return this.#count;
  }

  /** Its parts; it is not to be used any more. */
  get data(): FewValuesData {
    return { count: this.#count, groups: this.#groups, values: this.#values };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#groups.length * VALUE_BYTES + this.#counts.length;
  }

  /** Values of a group for which there is room. */
  roomOf(group: number): number {
    return FEW_MAX - (group < this.#counts.length ? this.#counts[group] : 0);
  }

  /** Adds `value` so many times to a group, which has room for them. */
  add(group: number, value: number, times: number): void {
    if (group >= this.#counts.length) this.#counts = grow(this.#counts, group + 1);
    const needed = this.#count + times;
    if (needed > this.#groups.length) {
      this.#groups = grow(this.#groups, needed);
      this.#values = grow(this.#values, needed);
    }
    for (let time = 0; time < times; time++) {
      this.#groups[this.#count] = group;
      this.#values[this.#count++] = value;
    }
    this.#counts[group] += times;
  }

  /** Hands the values of groups for which `isWanted` over to `take`, in units. These groups keep no room. */
  *release(
    isWanted: (group: number) => boolean,
    take: (group: number, value: number) => void,
  ): Units<void> {
    let kept = 0;
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) {
        const group = this.#groups[at];
        const value = this.#values[at];
        if (isWanted(group)) {
          take(group, value);
          continue;
        }
        this.#groups[kept] = group;
        this.#values[kept++] = value;
      }
    });
    this.#count = kept;
  }

  /**
   * The values by group, ascending in each, made in units: those of group g are from `starts[g]` up to `starts[g + 1]`.
   */
  *sorted(): Units<{ starts: Uint32Array; values: Float64Array }> {
    const groupCount = this.#counts.length;
    const starts = new Uint32Array(groupCount + 1);
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) starts[this.#groups[at] + 1]++;
    });
    for (let group = 0; group < groupCount; group++) starts[group + 1] += starts[group];
    const next = starts.slice(0, groupCount);
    const values = new Float64Array(this.#count);
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) values[next[this.#groups[at]]++] = this.#values[at];
    });
    yield* inParts(groupCount, UNIT_GROUPS, (from, to) => {
      for (let group = from; group < to; group++) {
        if (starts[group + 1] - starts[group] > 1) {
          values.subarray(starts[group], starts[group + 1]).sort();
        }
      }
    });
    return { starts, values };
  }
}
