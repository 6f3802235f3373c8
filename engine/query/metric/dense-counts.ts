import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Spread, Tally } from '../../packed/cells.ts';
import { free, grow } from '../../packed/growth.ts';
import { firstFrom } from '../../packed/patches.ts';
import { placesOf, type SmallPlaces } from './quantile-code.ts';

/** Counts of a slab: those of many groups. */
const SLAB = 1 << 16;
/** Counts of a group are a multiple of it. */
const SIZE_STEP = 256;
/** Numbers are counted so when one in so many places has some. */
const SPARSE_RATIO = 8;
const GROUPS_MIN = 64;

/** Dense counts as plain data. */
export interface DenseCountsData {
  divisor: number;
  slabs: Uint32Array<ArrayBuffer>[];
  starts: Float64Array<ArrayBuffer>;
  sizes: Uint32Array<ArrayBuffer>;
  totals: Float64Array<ArrayBuffer>;
}

/**
 * How often groups have the codes of small whole numbers that are divided by one divisor, in arrays: for groups of many
 * numbers. Mergeable; owned by one thread.
 */
export class DenseCounts {
  /** That of the first numbers; 0 before. */
  #divisor = 0;
  #slabs: Uint32Array<ArrayBuffer>[] = [];
  /** Counts of the last slab that are in use. */
  #used = SLAB;
  /** By group where its counts begin, in all slabs, and how many there are: 0 when it has none here. */
  #starts = new Float64Array(GROUPS_MIN);
  #sizes = new Uint32Array(GROUPS_MIN);
  /** Numbers by group. */
  #totals = new Float64Array(GROUPS_MIN);

  /** Its parts; it is not to be used any more. */
  get data(): DenseCountsData {
    const [divisor, slabs] = [this.#divisor, this.#slabs];
    return { divisor, slabs, starts: this.#starts, sizes: this.#sizes, totals: this.#totals };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#slabs.length * SLAB * 4 + this.#sizes.length * 20;
  }

  /** Frees its memory at once; it is not to be used any more. */
  free(): void {
    free(...this.#slabs);
    this.#slabs = [];
  }

  /** True when it has nothing of any group. */
  get isEmpty(): boolean {
    return this.#slabs.length === 0;
  }

  /** True when it has numbers of a group. */
  has(group: number): boolean {
    return group < this.#sizes.length && this.#sizes[group] > 0;
  }

  /** Numbers of a group. */
  totalOf(group: number): number {
    return this.has(group) ? this.#totals[group] : 0;
  }

  /**
   * Adds to a group `(code - 1) / divisor` for each code of a tally above 0, as often as it was counted; false when
   * that is not for it.
   */
  add(group: number, tally: Tally, divisor: number): boolean {
    const { codes, codeCount, times, rowCount, greatest } = tally;
    const { places } = placesOf(divisor);
    const needed = places[greatest - 1] + 1;
    if (this.#divisor === 0) this.#divisor = divisor;
    const isDense = this.has(group) || codeCount * SPARSE_RATIO >= needed;
    if (this.#divisor !== divisor || !isDense) return false;
    const counts = this.#countsOf(group, needed);
    for (let at = 0; at < codeCount; at++) {
      const code = codes[at];
      if (code !== 0) counts[places[code - 1]] += times[code];
    }
    this.#totals[group] += rowCount;
    return true;
  }

  /** The same of a spread over the ranks of `divisor`. */
  addSpread(group: number, spread: Spread, divisor: number): boolean {
    const { ranks } = placesOf(divisor);
    const first = ranks[spread.least] - 1;
    const end = ranks[spread.greatest];
    if (this.#divisor === 0) this.#divisor = divisor;
    const isDense = this.has(group) || spread.rankCount() * SPARSE_RATIO >= end;
    if (this.#divisor !== divisor || !isDense) return false;
    const counts = this.#countsOf(group, end);
    const more = spread.counts;
    for (let place = first; place < end; place++) counts[place] += more[place + 1];
    this.#totals[group] += spread.rowCount;
    return true;
  }

  /** True when a code of quantile-code.ts is one of a number that is counted. */
  takes(code: number): boolean {
    return placeOf(placesOf(this.#divisor), code) >= 0;
  }

  /** Adds a code of quantile-code.ts to a group, so many times; false when it is none of a number that is counted. */
  addCode(group: number, code: number, times: number): boolean {
    const place = placeOf(placesOf(this.#divisor), code);
    if (place < 0) return false;
    this.#countsOf(group, place + 1)[place] += times;
    this.#totals[group] += times;
    return true;
  }

  /** Hands the codes of a group over to `take`; it has none here then. */
  release(group: number, take: (code: number, times: number) => void): void {
    const { codes } = placesOf(this.#divisor);
    const counts = this.#view(group);
    for (let place = 0; place < counts.length; place++) {
      if (counts[place] > 0) take(codes[place], counts[place]);
    }
    this.#sizes[group] = 0;
    this.#totals[group] = 0;
  }

  /** The code at a rank, from 1 on, of those that a group has. */
  codeAt(group: number, rank: number): number {
    const counts = this.#view(group);
    const { codes } = placesOf(this.#divisor);
    // From the nearer end; places of four follow each other, as sizes are multiples of them.
    const above = this.#totals[group] - rank;
    if (above < rank) return codes[placeBelow(counts, above)];
    let left = rank;
    let place = 0;
    for (; ; place += 4) {
      const sum = fourFrom(counts, place);
      if (sum >= left) break;
      left -= sum;
    }
    for (left -= counts[place]; left > 0; left -= counts[place]) place++;
    return codes[place];
  }

  /**
   * Adds, in units, what another one has, of which it takes the arrays; its group g is `groups[g]` here. Hands those of
   * another divisor over to `take`.
   */
  *merge(
    data: DenseCountsData,
    groups: Uint32Array,
    take: (group: number, code: number, times: number) => void,
  ): Units<void> {
    const { divisor, slabs, starts, sizes, totals } = data;
    if (slabs.length === 0) return;
    if (this.#divisor === 0) this.#divisor = divisor;
    const isAlike = this.#divisor === divisor;
    const { codes } = placesOf(divisor);
    const base = this.#slabs.length * SLAB;
    if (isAlike) {
      // What is left of the last slab before stays empty.
      this.#slabs.push(...slabs);
      this.#used = SLAB;
    }
    const groupsAUnit = Math.ceil(UNIT_SLOTS / codes.length);
    yield* inParts(Math.min(groups.length, sizes.length), groupsAUnit, (begin, end) => {
      for (let from = begin; from < end; from++) {
        if (sizes[from] === 0) continue;
        const group = groups[from];
        if (isAlike && !this.has(group)) {
          this.#reserve(group);
          this.#starts[group] = base + starts[from];
          this.#sizes[group] = sizes[from];
          this.#totals[group] = totals[from];
          continue;
        }
        const others = viewOf(slabs, starts[from], sizes[from]);
        if (isAlike) {
          const counts = this.#countsOf(group, others.length);
          for (let place = 0; place < others.length; place++) counts[place] += others[place];
          this.#totals[group] += totals[from];
          continue;
        }
        for (let place = 0; place < others.length; place++) {
          if (others[place] > 0) take(group, codes[place], others[place]);
        }
      }
    });
  }

  #view(group: number): Uint32Array {
    return viewOf(this.#slabs, this.#starts[group], this.#sizes[group]);
  }

  /** The counts of a group, at least so many. */
  #countsOf(group: number, needed: number): Uint32Array {
    this.#reserve(group);
    if (needed <= this.#sizes[group]) return this.#view(group);
    // Room for as many more when it grows, none when it begins.
    const wanted = this.#sizes[group] === 0 ? needed : needed * 2;
    const size = Math.min(Math.ceil(wanted / SIZE_STEP) * SIZE_STEP, SLAB);
    if (this.#used + size > SLAB) {
      this.#slabs.push(new Uint32Array(SLAB));
      this.#used = 0;
    }
    const start = (this.#slabs.length - 1) * SLAB + this.#used;
    this.#used += size;
    const counts = viewOf(this.#slabs, start, size);
    if (this.#sizes[group] > 0) counts.set(this.#view(group));
    this.#starts[group] = start;
    this.#sizes[group] = size;
    return counts;
  }

  /** Makes room for a group. */
  #reserve(group: number): void {
    if (group < this.#sizes.length) return;
    this.#starts = grow(this.#starts, group + 1);
    this.#sizes = grow(this.#sizes, group + 1);
    this.#totals = grow(this.#totals, group + 1);
  }
}

function viewOf(slabs: readonly Uint32Array[], start: number, size: number): Uint32Array {
  const from = start % SLAB;
  return slabs[Math.floor(start / SLAB)].subarray(from, from + size);
}

/** The highest place of numbers of which no more than `above` lie at higher places. */
function placeBelow(counts: Uint32Array, above: number): number {
  let left = above;
  let place = counts.length - 4;
  for (; ; place -= 4) {
    const sum = fourFrom(counts, place);
    if (sum > left) break;
    left -= sum;
  }
  place += 3;
  for (left -= counts[place]; left >= 0; left -= counts[place]) place--;
  return place;
}

/** Numbers at four places, which are summed up beside each other. */
function fourFrom(counts: Uint32Array, place: number): number {
  return counts[place] + counts[place + 1] + (counts[place + 2] + counts[place + 3]);
}

/** The place of a code; -1 when it has none. */
function placeOf({ codes }: SmallPlaces, code: number): number {
  const place = firstFrom(codes, code);
  return codes[place] === code ? place : -1;
}
