import { finished, inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Spread, Tally } from '../../packed/cells.ts';
import { grow } from '../../packed/growth.ts';
import type { Pairs } from '../value/pairs.ts';
import { DenseCounts, type DenseCountsData } from './dense-counts.ts';
import { FewValues, type FewValuesData } from './few-values.ts';
import { CODES, codeAtRank, codeOf, smallCodesOf, valueOfCode } from './quantile-code.ts';
import { Sums } from './sum.ts';

const ENTRIES_MIN = 64;
const ENTRY_BYTES = 16;
/** Places over which groups are spread, a power of two. */
const OFFSETS = 1 << 16;
const HASH_FACTOR = 0x9e3779b1;

/**
 * The entry that a code of a group may have: nothing is lost when it is another one. One for all quantiles of this
 * thread.
 */
const places = new Uint32Array(CODES + OFFSETS);
/** The quantiles whose entries are in `places`. */
let owner = 0;
let owners = 0;

const NO_STARTS = new Uint32Array(1);
const NO_VALUES = new Float64Array(0);

/** Entries and first values as plain data. */
export interface QuantilesData {
  count: number;
  groups: Uint32Array<ArrayBuffer>;
  codes: Uint32Array<ArrayBuffer>;
  counts: Float64Array<ArrayBuffer>;
  few: FewValuesData;
  dense: DenseCountsData;
}

/**
 * Quantiles of numbers by group: of up to FEW_MAX values the one at the rank itself, of more by log-linear histograms,
 * which are within 0.1 % of it. A list of entries (group, code, count): a code has one as long as groups come one after
 * the other, each value by itself. When they do not it may have more, which become one when many may. Tallies of many
 * numbers are counted in arrays instead. Mergeable; a merge gives what adding all values to one would give. Values are
 * finite.
 */
export class Quantiles {
  readonly #number = ++owners;
  #count = 0;
  #groups = new Uint32Array(ENTRIES_MIN);
  #codes = new Uint32Array(ENTRIES_MIN);
  #counts = new Float64Array(ENTRIES_MIN);
  #groupCount = 0;
  /** The first values of each group: they are in no entry while it has no others. */
  readonly #few = new FewValues();
  /** Values of groups that have many small ones; what else these have is put there in the end, if that is possible. */
  readonly #dense = new DenseCounts();
  /** True when groups ascend, and each code has one entry. */
  #isOrdered = true;
  /** Entries that were the first of their groups, and those that were there when they were put in order. */
  #freshCount = 0;
  /** The first entry of the last group that `places` know. */
  #lastStart = 0;
  /** Entries of the group to which values are added are none before this one. */
  #first = 0;
  /** Where the places of its codes begin. */
  #offset = 0;
  /** Where the entries of each group begin, and the last ones end, once that was asked for. */
  #starts: Uint32Array | undefined;
  /** The same of groups without entries and their values. */
  #fewStarts: Uint32Array = NO_STARTS;
  #fewValues: Float64Array = NO_VALUES;

  /** Its parts; it is not to be used any more. */
  get data(): QuantilesData {
    return {
      count: this.#count,
      groups: this.#groups,
      codes: this.#codes,
      counts: this.#counts,
      few: this.#few.data,
      dense: this.#dense.data,
    };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#codes.length * ENTRY_BYTES + this.#few.memoryBytes + this.#dense.memoryBytes;
  }

  /** Frees most of its memory at once; it is not to be used any more. */
  free(): void {
    this.#dense.free();
  }

  /** Makes room for `count` more entries. */
  #reserve(count: number): void {
    if (this.#count + count <= this.#codes.length) return;
    // Worth while when half of the entries may become fewer, and when half of them came since.
    const isWorthwhile = !this.#isOrdered && this.#freshCount * 2 <= this.#count;
    if (isWorthwhile) this.#order();
    const needed = this.#count + count;
    if (isWorthwhile && needed * 2 <= this.#codes.length) return;
    const length = isWorthwhile ? needed * 2 : needed;
    this.#groups = grow(this.#groups, length);
    this.#codes = grow(this.#codes, length);
    this.#counts = grow(this.#counts, length);
  }

  /** Adds `value` to a group. */
  add(group: number, value: number): void {
    this.#starts = undefined;
    if (this.#few.roomOf(group) > 0) {
      this.#few.add(group, value, 1);
      return;
    }
    this.#take();
    this.#add(group, codeOf(value), 1);
  }

  /** Adds `mantissas[row] / divisor` of the row of each of `pairs` to its group. */
  addNumbers({ rows, groups, count }: Pairs, mantissas: Float64Array, divisor: number): void {
    this.#reserve(count);
    this.#starts = undefined;
    this.#take();
    const few = this.#few;
    const small = smallCodesOf(divisor);
    const entryGroups = this.#groups;
    const codes = this.#codes;
    const counts = this.#counts;
    let used = this.#count;
    for (let at = 0; at < count; ) {
      const group = groups[at];
      if (few.roomOf(group) > 0) {
        few.add(group, mantissas[rows[at++]] / divisor, 1);
        continue;
      }
      this.#count = used;
      this.#begin(group);
      const first = this.#first;
      const offset = this.#offset;
      for (; at < count && groups[at] === group; at++) {
        const mantissa = mantissas[rows[at]];
        const whole = mantissa | 0;
        const isSmall = whole === mantissa && whole >= 0 && whole < small.length;
        const code = isSmall ? small[whole] : codeOf(mantissa / divisor);
        const entry = places[offset + code];
        const isNear = entry >= first && entry < used;
        if (isNear && codes[entry] === code && entryGroups[entry] === group) {
          counts[entry]++;
          continue;
        }
        entryGroups[used] = group;
        codes[used] = code;
        counts[used] = 1;
        places[offset + code] = used++;
      }
    }
    this.#count = used;
  }

  /** Adds to a group `(code - 1) / divisor` for each code of a tally above 0, as often as it was counted. */
  addTally(group: number, tally: Tally, divisor: number): void {
    const { codes: wholes, codeCount, times, rowCount } = tally;
    this.#starts = undefined;
    if (rowCount <= this.#few.roomOf(group)) {
      for (let at = 0; at < codeCount; at++) {
        const whole = wholes[at];
        if (whole !== 0) this.#few.add(group, (whole - 1) / divisor, times[whole]);
      }
      return;
    }
    if (this.#dense.add(group, tally, divisor)) return;
    this.#reserve(codeCount);
    const small = smallCodesOf(divisor);
    const codes = this.#codes;
    const counts = this.#counts;
    let used = this.#count;
    for (let at = 0; at < codeCount; at++) {
      const whole = wholes[at];
      if (whole === 0) continue;
      codes[used] = small[whole - 1];
      counts[used++] = times[whole];
    }
    this.#groups.fill(group, this.#count, used);
    this.#append(group, used - this.#count);
  }

  /** The same of a spread over the ranks of `divisor`; false when that is not possible. */
  addSpread(group: number, spread: Spread, divisor: number): boolean {
    if (spread.rowCount <= this.#few.roomOf(group)) return false;
    this.#starts = undefined;
    return this.#dense.addSpread(group, spread, divisor);
  }

  /** Takes entries of a group that were put behind the others: their codes may have some already. */
  #append(group: number, count: number): void {
    this.#count += count;
    this.#isOrdered = false;
    if (group < this.#groupCount) return;
    this.#groupCount = group + 1;
    this.#lastStart = this.#count;
    this.#freshCount += count;
  }

  /** Adds, in units, what another one has; its group g is `groups[g]` here. */
  *merge(
    { count, groups: from, codes, counts, few, dense }: QuantilesData,
    groups: Uint32Array,
  ): Units<void> {
    yield* this.#dense.merge(dense, groups, (group, code, times) => {
      this.#take();
      this.#add(group, code, times);
    });
    yield* inParts(few.count, UNIT_SLOTS, (begin, end) => {
      for (let at = begin; at < end; at++) this.add(groups[few.groups[at]], few.values[at]);
    });
    this.#reserve(count);
    this.#starts = undefined;
    yield* inParts(count, UNIT_SLOTS, (begin, end) => {
      const first = this.#count;
      this.#codes.set(codes.subarray(begin, end), first);
      this.#counts.set(counts.subarray(begin, end), first);
      for (let at = begin, to = first; at < end; ) {
        const group = groups[from[at]];
        const start = to;
        for (const own = from[at]; at < end && from[at] === own; at++) this.#groups[to++] = group;
        this.#append(group, to - start);
      }
    });
  }

  /** Makes ready for `at`, in units, as long as nothing is added; without it the first `at` takes as long. */
  *settle(): Units<void> {
    if (this.#starts !== undefined) return;
    if (!this.#dense.isEmpty) yield* this.#settleDense();
    if (this.#few.count > 0) yield* this.#releaseFew();
    const few = yield* this.#few.sorted();
    this.#fewStarts = few.starts;
    this.#fewValues = few.values;
    const starts = yield* this.#startsOfGroups();
    if (!this.#isOrdered) yield* this.#group(starts.slice());
    this.#starts = starts;
  }

  /** Puts what groups with dense counts have elsewhere there too, or all of them into entries. */
  *#settleDense(): Units<void> {
    const dense = this.#dense;
    const isDense = (group: number): boolean => dense.has(group);
    const spill = (group: number): void => {
      this.#take();
      dense.release(group, (code, times) => this.#add(group, code, times));
    };
    yield* this.#few.release(isDense, (group, value) => {
      const code = codeOf(value);
      if (isDense(group) && dense.addCode(group, code, 1)) return;
      if (isDense(group)) spill(group);
      this.#take();
      this.#add(group, code, 1);
    });
    const strange = new Set<number>();
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) {
        const group = this.#groups[at];
        if (isDense(group) && !dense.takes(this.#codes[at])) strange.add(group);
      }
    });
    for (const group of strange) {
      spill(group);
      yield;
    }
    let kept = 0;
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) {
        const [group, code, times] = [this.#groups[at], this.#codes[at], this.#counts[at]];
        if (isDense(group) && dense.addCode(group, code, times)) continue;
        this.#groups[kept] = group;
        this.#codes[kept] = code;
        this.#counts[kept++] = times;
      }
    });
    if (kept < this.#count) this.#isOrdered = false;
    this.#count = kept;
    this.#lastStart = Math.min(this.#lastStart, kept);
    this.#freshCount = Math.min(this.#freshCount, kept);
  }

  /** Makes the first values of groups with entries entries too. */
  *#releaseFew(): Units<void> {
    const starts = yield* this.#startsOfGroups();
    const has = (group: number): boolean => starts[group] < starts[group + 1];
    yield* this.#few.release(has, (group, value) => {
      this.#take();
      this.#add(group, codeOf(value), 1);
    });
  }

  /**
   * The value at the rank of `percent` % of the values of a group, at 50 % of an even number the mean of the middle
   * two; `undefined` when it has none.
   */
  at(group: number, percent: number): number | undefined {
    if (this.#starts === undefined) finished(this.settle());
    const total = this.#totalOf(group);
    if (total === 0) return undefined;
    const rank = Math.max(Math.ceil((percent * total) / 100), 1);
    const value = this.#atRank(group, rank);
    if (percent !== 50 || total % 2 === 1) return value;
    return meanOf(value, this.#atRank(group, rank + 1));
  }

  #totalOf(group: number): number {
    if (this.#dense.has(group)) return this.#dense.totalOf(group);
    const starts = this.#starts ?? NO_STARTS;
    let total = (this.#fewStarts[group + 1] ?? 0) - (this.#fewStarts[group] ?? 0);
    for (let at = starts[group]; at < starts[group + 1]; at++) total += this.#counts[at];
    return total;
  }

  /** The value at a rank, from 1 on, of those that a group has. */
  #atRank(group: number, rank: number): number {
    if (this.#dense.has(group)) return valueOfCode(this.#dense.codeAt(group, rank));
    const few = this.#fewStarts[group];
    if (few < this.#fewStarts[group + 1]) return this.#fewValues[few + rank - 1];
    const [from, to] = (this.#starts ?? NO_STARTS).subarray(group, group + 2);
    return valueOfCode(codeAtRank(this.#codes, this.#counts, from, to, rank));
  }

  /** Has `places` to itself until others add to theirs: a code that was in them may get another entry then. */
  #take(): void {
    if (owner === this.#number) return;
    owner = this.#number;
    if (this.#count > 0) this.#isOrdered = false;
  }

  #add(group: number, code: number, times: number): void {
    this.#begin(group);
    const entry = places[this.#offset + code];
    const isNear = entry >= this.#first && entry < this.#count;
    if (isNear && this.#codes[entry] === code && this.#groups[entry] === group) {
      this.#counts[entry] += times;
      return;
    }
    if (this.#count === this.#codes.length) {
      this.#reserve(1);
      this.#begin(group);
    }
    const at = this.#count++;
    this.#groups[at] = group;
    this.#codes[at] = code;
    this.#counts[at] = times;
    places[this.#offset + code] = at;
  }

  /** Finds out where entries of a group may be, to which values are about to be added. */
  #begin(group: number): void {
    if (group >= this.#groupCount) {
      this.#groupCount = group + 1;
      this.#lastStart = this.#count;
    }
    const isLast = group === this.#groupCount - 1;
    if (!isLast) this.#isOrdered = false;
    this.#first = isLast ? this.#lastStart : 0;
    this.#offset = isLast ? 0 : Math.imul(group, HASH_FACTOR) & (OFFSETS - 1);
  }

  /** Puts the entries in the order of their groups; those of one group begin at `next`. */
  *#group(next: Uint32Array): Units<void> {
    const { length } = this.#codes;
    const groups = new Uint32Array(length);
    const codes = new Uint32Array(length);
    const counts = new Float64Array(length);
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; ) {
        const group = this.#groups[at];
        let entry = next[group];
        for (; at < to && this.#groups[at] === group; at++) {
          groups[entry] = group;
          codes[entry] = this.#codes[at];
          counts[entry++] = this.#counts[at];
        }
        next[group] = entry;
      }
    });
    this.#groups = groups;
    this.#codes = codes;
    this.#counts = counts;
  }

  /** Puts the entries in the order of their groups, and those of one code together, if that is to be done. */
  #order(): void {
    if (this.#isOrdered) return;
    finished(this.#group(finished(this.#startsOfGroups())));
    const [groups, codes, counts] = [this.#groups, this.#codes, this.#counts];
    let kept = 0;
    let first = 0;
    let last = 0;
    owner = this.#number;
    for (let at = 0; at < this.#count; at++) {
      const group = groups[at];
      const code = codes[at];
      if (group !== last) first = kept;
      last = group;
      const entry = places[code];
      if (entry >= first && entry < kept && codes[entry] === code) {
        counts[entry] += counts[at];
        continue;
      }
      groups[kept] = group;
      codes[kept] = code;
      counts[kept] = counts[at];
      places[code] = kept++;
    }
    this.#lastStart = first;
    this.#freshCount = kept;
    this.#count = kept;
    this.#isOrdered = true;
  }

  /** Where the entries of each group begin in the order of groups. */
  *#startsOfGroups(): Units<Uint32Array> {
    const starts = new Uint32Array(this.#groupCount + 1);
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; ) {
        const group = this.#groups[at];
        const first = at;
        while (at < to && this.#groups[at] === group) at++;
        starts[group + 1] += at - first;
      }
    });
    for (let group = 0; group < this.#groupCount; group++) starts[group + 1] += starts[group];
    return starts;
  }
}

/** The mean of two numbers, exact where their decimals are. */
function meanOf(left: number, right: number): number {
  if (left === right) return left;
  const sums = new Sums();
  sums.ensure(1);
  sums.addDouble(0, left);
  sums.addDouble(0, right);
  const sum = sums.result(0);
  return Number.isFinite(sum) ? sum / 2 : left / 2 + right / 2;
}
