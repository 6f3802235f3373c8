import { assert, must } from '../../base/assert.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type {
  BooleanColumn,
  Column,
  DateColumn,
  NumberColumn,
  Presence,
  StringColumn,
} from '../../column/column.ts';
import { type KeptEntries, PIECE_ENTRIES, Scratch, SumKey } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../../column/number-text.ts';
import type { CellRows, PackedValues, Spread, Tallies, Tally } from '../../packed/cells.ts';
import { grow } from '../../packed/growth.ts';
import { sumCells } from '../../packed/packed.ts';
import { NumberReader } from '../filter/decimal.ts';
import { asciiText, encodeText } from '../filter/text.ts';
import { hasRow } from '../model/bitmap.ts';
import type { Aggregation, MetricValue } from '../model/query.ts';
import { Elements, ElementType, WantedIds } from '../value/elements.ts';
import { type GroupRuns, Pairs } from '../value/pairs.ts';
import type { ValueHash } from '../value/value-hash.ts';
import { Cardinalities } from './cardinality.ts';
import { DistinctNumbers } from './distinct-numbers.ts';
import { LongBounds } from './long-bounds.ts';
import {
  addUnpacked,
  countPairs,
  divisorOf,
  isPresent,
  keepNumbers,
  PACKED_MAX,
  RowNumbers,
  talliesOf,
  widenBounds,
} from './number-kernels.ts';
import { PERCENT } from './percent.ts';
import { Quantiles } from './quantile.ts';
import { placesOf } from './quantile-code.ts';
import { SharedStrings } from './shared-strings.ts';
import { Sums } from './sum.ts';
import type { SummaryData } from './summary-data.ts';

/** Rows from which on it is quicker to count ranks than to tally codes. */
const SPREAD_MIN = 1_024;

const reader = new NumberReader();

/** Bounds of the numbers among the entries of dictionaries. */
const NUMBERS = new SumKey<Summary>('numbers');
const BOUNDS: ReadonlySet<Aggregation> = new Set(['min', 'max']);
const FIRST = Uint32Array.of(0);

/**
 * Facts about the values of one path that aggregations need, by group. Mergeable; owned by one thread.
 *
 * Values are the scalars at the path and the scalar elements of arrays there. Numbers and numeric strings count as
 * numbers, unless they are beyond all doubles. Source: INTERFACE.md 4.3 and 4.8.
 */
export class Summary {
  #groupCount = 0;
  #counts = new Float64Array(0);
  #numberCounts = new Float64Array(0);
  #mins = new Float64Array(0);
  #maxs = new Float64Array(0);
  /** Of numbers that lie between doubles, which are not in `#mins` and `#maxs`. */
  readonly #longBounds = new LongBounds();
  readonly #sums: Sums | undefined;
  readonly #quantiles: Quantiles | undefined;
  readonly #cardinalities: Cardinalities | undefined;
  readonly #countsValues: boolean;
  readonly #needsNumbers: boolean;
  readonly #needsMins: boolean;
  readonly #needsMaxs: boolean;
  readonly #hash: ValueHash;
  readonly #strings: SharedStrings;
  readonly #distinct: DistinctNumbers;
  /** Pairs of rows that have plain numbers in a column. */
  readonly #numbers = new Pairs();
  readonly #mantissas = new RowNumbers();
  readonly #wanted = new WantedIds();

  /** Keeps no more than `aggregations` ask for. Summaries that are merged have hashes of one key. */
  constructor(aggregations: ReadonlySet<Aggregation>, hash: ValueHash) {
    const quantiles = [...aggregations].some((aggregation) => PERCENT.has(aggregation));
    this.#countsValues = aggregations.has('count');
    this.#needsMins = quantiles || aggregations.has('min');
    this.#needsMaxs = quantiles || aggregations.has('max');
    this.#sums = aggregations.has('sum') || aggregations.has('avg') ? new Sums() : undefined;
    this.#quantiles = quantiles ? new Quantiles() : undefined;
    this.#cardinalities = aggregations.has('cardinality') ? new Cardinalities() : undefined;
    this.#needsNumbers = this.#needsBounds || this.#sums !== undefined;
    this.#hash = hash;
    this.#strings = new SharedStrings(hash);
    this.#distinct = new DistinctNumbers(hash);
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    const arrays = [this.#counts, this.#numberCounts, this.#mins, this.#maxs];
    const own =
      arrays.reduce((sum, array) => sum + array.length * 8, this.#wanted.numbers.length * 4) +
      this.#longBounds.memoryBytes;
    const parts = [this.#sums, this.#quantiles, this.#cardinalities];
    return parts.reduce((sum, part) => sum + (part?.memoryBytes ?? 0), own);
  }

  /** Frees most of its memory at once; it is not to be used any more. */
  free(): void {
    this.#quantiles?.free();
  }

  /** Takes all that was added away, and keeps the memory: of light aggregations. */
  clear(): void {
    assert(this.#quantiles === undefined && this.#cardinalities === undefined, 'light ones');
    this.#counts.fill(0);
    this.#numberCounts.fill(0);
    this.#mins.fill(Number.POSITIVE_INFINITY);
    this.#maxs.fill(Number.NEGATIVE_INFINITY);
    this.#longBounds.clear();
    this.#sums?.clear();
  }

  /** Makes room for groups 0 to `groupCount - 1`. */
  ensure(groupCount: number): void {
    const before = this.#groupCount;
    if (groupCount <= before) return;
    const room = grow(this.#needsNumbers ? this.#numberCounts : this.#counts, groupCount);
    const { length } = room;
    if (this.#needsNumbers) this.#numberCounts = room;
    else this.#counts = room;
    if (this.#needsNumbers && this.#countsValues) this.#counts = grow(this.#counts, length);
    if (this.#needsMins) {
      this.#mins = grow(this.#mins, length).fill(Number.POSITIVE_INFINITY, before);
    }
    if (this.#needsMaxs) {
      this.#maxs = grow(this.#maxs, length).fill(Number.NEGATIVE_INFINITY, before);
    }
    this.#sums?.ensure(length);
    this.#cardinalities?.ensure(length);
    this.#groupCount = length;
  }

  get #needsBounds(): boolean {
    return this.#needsMins || this.#needsMaxs;
  }

  /** Reads all that it needs of a column, in units, so that `add` cannot fail. Throws CORRUPTION. */
  *prepare(column: Column): Units<void> {
    if (!('ids' in column)) return;
    const dictionary = column.shared ?? column.own;
    if (dictionary === undefined) return;
    const isPlain = !this.#needsNumbers && column.kind === Kind.STRING;
    if (!isPlain) yield* dictionary.entryUnits();
    else if (this.#cardinalities !== undefined) yield* this.#strings.prepare(dictionary);
  }

  /** Adds the values that `column` has in the rows of `pairs`, to their groups, for which there is room. */
  add(column: Column, pairs: Pairs): void {
    if (column.kind === Kind.NUMBER) this.#addNumbers(column, pairs);
    else if (column.kind === Kind.BOOLEAN) this.#addBooleans(column, pairs);
    else if (column.kind === Kind.DATE) this.#addDates(column, pairs);
    else this.#addStrings(column, pairs);
  }

  /** True when the entries of dictionaries tell all that it needs of strings, whatever rows have them. */
  get takesEntries(): boolean {
    return !this.#needsNumbers && !this.#countsValues && this.#cardinalities !== undefined;
  }

  /**
   * Adds all entries of a dictionary to group 0 but for their number, in units. Throws CORRUPTION before it has added
   * anything.
   */
  *addEntries(dictionary: KeptEntries): Units<void> {
    assert(this.#sums === undefined && this.#quantiles === undefined, 'each entry counts once');
    const numbers = this.#needsBounds
      ? yield* dictionary.keptUnits(NUMBERS, () => this.#numbersOf(dictionary))
      : undefined;
    if (this.#cardinalities !== undefined) {
      yield* this.#strings.addAll(dictionary, this.#cardinalities);
    }
    if (numbers !== undefined) yield* this.merge(numbers.data, FIRST);
  }

  /** The bounds of the numbers among the entries of a dictionary. */
  *#numbersOf(dictionary: KeptEntries): Units<Summary> {
    const numbers = new Summary(BOUNDS, this.#hash);
    numbers.ensure(1);
    const scratch = new Scratch();
    for (let first = 0; first < dictionary.entryCount; first += PIECE_ENTRIES) {
      const { bytes, offsets } = dictionary.piece(first, scratch);
      for (let at = 0; at < offsets.length - 1; at++) {
        numbers.#addText(0, bytes, offsets[at], offsets[at + 1]);
      }
      yield;
    }
    return numbers;
  }

  /** Its parts; it is not to be used any more. */
  get data(): SummaryData {
    return {
      groupCount: this.#groupCount,
      counts: this.#counts,
      numberCounts: this.#numberCounts,
      mins: this.#mins,
      maxs: this.#maxs,
      longBounds: this.#longBounds.data,
      sums: this.#sums?.data,
      quantiles: this.#quantiles?.data,
      cardinalities: this.#cardinalities?.data,
    };
  }

  /**
   * Adds, in units, the `data` of another one that was made for the same aggregations; its group g is `groups[g]` here,
   * where there is room. With `chosen`, of light ones, group `chosen[i]` is `groups[i]`, and no other is added.
   */
  *merge(data: SummaryData, groups: Uint32Array, chosen?: Uint32Array): Units<void> {
    const count = chosen?.length ?? Math.min(groups.length, data.groupCount);
    yield* inParts(count, UNIT_SLOTS, (begin, end) => {
      for (let at = begin; at < end; at++) {
        const from = chosen === undefined ? at : chosen[at];
        const group = groups[at];
        if (this.#countsValues) this.#counts[group] += data.counts[from];
        if (this.#needsNumbers) this.#numberCounts[group] += data.numberCounts[from];
        if (this.#needsMins) this.#mins[group] = Math.min(this.#mins[group], data.mins[from]);
        if (this.#needsMaxs) this.#maxs[group] = Math.max(this.#maxs[group], data.maxs[from]);
      }
    });
    const { sums, quantiles, cardinalities } = data;
    this.#longBounds.merge(data.longBounds, groups, chosen);
    if (sums !== undefined) yield* must(this.#sums, 'sums').merge(Sums.of(sums), groups, chosen);
    if (quantiles !== undefined) {
      yield* must(this.#quantiles, 'quantiles').merge(quantiles, groups);
    }
    if (cardinalities !== undefined) {
      yield* must(this.#cardinalities, 'cardinality').merge(cardinalities, groups);
    }
  }

  /** Makes ready for `value`, in units, as long as nothing is added; without it the first value may take as long. */
  *settle(): Units<void> {
    if (this.#quantiles !== undefined) yield* this.#quantiles.settle();
    if (this.#cardinalities !== undefined) yield* this.#cardinalities.settle();
  }

  /** The value of an aggregation, one of those that it was made for; `null` when the group has no numbers for it. */
  value(aggregation: Aggregation, group: number): MetricValue {
    const known = group < this.#groupCount;
    if (aggregation === 'count') return known ? this.#counts[group] : 0;
    if (aggregation === 'cardinality') {
      return known ? must(this.#cardinalities, 'cardinality').result(group) : 0;
    }
    if (!known || this.#numberCounts[group] === 0) return null;
    const value = this.#numericValue(aggregation, group);
    return Number.isFinite(Number(value)) ? value : null;
  }

  #numericValue(aggregation: Aggregation, group: number): number | string {
    switch (aggregation) {
      case 'sum':
        return must(this.#sums, 'sums').exact(group);
      case 'avg':
        return must(this.#sums, 'sums').result(group) / this.#numberCounts[group];
      case 'min':
        return this.#longBounds.least(group, this.#mins[group]);
      case 'max':
        return this.#longBounds.greatest(group, this.#maxs[group]);
      default: {
        const percent = must(PERCENT.get(aggregation), aggregation);
        const value = must(this.#quantiles?.at(group, percent), 'a quantile of numbers');
        const min = Number(this.#longBounds.least(group, this.#mins[group]));
        const max = Number(this.#longBounds.greatest(group, this.#maxs[group]));
        return Math.min(Math.max(value, min), max);
      }
    }
  }

  #addNumbers(column: NumberColumn, pairs: Pairs): void {
    let plain = pairs;
    if (column.presence !== undefined || column.exceptions.length > 0) {
      plain = this.#numbers;
      keepNumbers(column, pairs, plain);
    }
    if (this.#countsValues) countPairs(plain, this.#counts);
    if (this.#needsNumbers) this.#addPlain(column, plain);
    if (this.#cardinalities !== undefined) this.#distinct.add(column, plain, this.#cardinalities);
    if (column.exceptions.length > 0) this.#addExceptions(column, pairs);
  }

  /** Adds numbers that a column holds as mantissas or doubles. */
  #addPlain(column: NumberColumn, pairs: Pairs): void {
    const { scale } = column;
    const totals = [this.#numberCounts, this.#mins, this.#maxs] as const;
    if (this.#quantiles === undefined && addUnpacked(column, pairs, this.#sums, ...totals)) return;
    const mantissas = this.#mantissas.of(column, pairs);
    countPairs(pairs, this.#numberCounts);
    if (this.#sums !== undefined) {
      if (scale !== SCALE_DOUBLE) this.#sums.addDecimals(pairs, mantissas, scale);
      else this.#sums.addDoubles(pairs, mantissas);
    }
    if (this.#needsBounds)
      widenBounds(column, mantissas, pairs, this.#mins, this.#maxs, this.#longBounds);
    this.#quantiles?.addNumbers(pairs, mantissas, divisorOf(column));
  }

  /** Adds a column that `isTallied`: each number once a run, with how often it is there. */
  addRuns(column: Column, { rows, count, ends, groups }: GroupRuns): void {
    assert(column.kind === Kind.NUMBER, 'a column of numbers');
    const { scale } = column;
    const tallies = must(talliesOf(column, rows), 'small numbers');
    for (let run = 0, from = 0; run < count; from = ends[run++]) {
      const group = groups[run];
      if (group < 0 || this.#addSpread(tallies, from, ends[run], group, scale)) continue;
      const tally = tallies.tally(from, ends[run]);
      if (tally.rowCount === 0) continue;
      this.#addTotals(group, tally, scale);
      this.#quantiles?.addTally(group, tally, POWERS_OF_TEN[scale]);
      if (this.#cardinalities !== undefined) {
        this.#distinct.addTallied(group, tally, scale, this.#cardinalities);
      }
    }
  }

  /** Adds a run of many rows by the ranks of quantiles; false when it has to be tallied by codes. */
  #addSpread({ spread }: Tallies, from: number, to: number, group: number, scale: number): boolean {
    const quantiles = this.#quantiles;
    const isLong = to - from >= SPREAD_MIN && this.#cardinalities === undefined;
    if (spread === undefined || quantiles === undefined || !isLong) return false;
    const divisor = POWERS_OF_TEN[scale];
    const found = spread(from, to, placesOf(divisor).ranks);
    if (found.rowCount === 0) return true;
    if (!quantiles.addSpread(group, found, divisor)) return false;
    this.#addTotals(group, found, scale);
    return true;
  }

  /** Adds what is known of codes, which are one higher than the numbers. */
  #addTotals(group: number, totals: Tally | Spread, scale: number): void {
    const { rowCount, total, least, greatest } = totals;
    this.#addSummed(group, rowCount, total - rowCount, scale, [least - 1, greatest - 1]);
  }

  /** The numbers of a column as `addCells` can add them; `undefined` when it cannot. */
  numbersOf(column: Column): PackedValues | undefined {
    const isLight = this.#quantiles === undefined && this.#cardinalities === undefined;
    const isPlain = column.kind === Kind.NUMBER && column.scale !== SCALE_DOUBLE;
    return isLight && isPlain ? column.packed(PACKED_MAX) : undefined;
  }

  /** Adds a column of which `numbersOf` gives the numbers to `groups`: group + 1 by cell, 0 for none. */
  addCells(column: Column, rows: CellRows, groups: Uint32Array): void {
    const numbers = must(this.numbersOf(column), 'packed numbers');
    assert(column.kind === Kind.NUMBER, 'a column of numbers');
    const { scale } = column;
    // Codes are one higher than the numbers.
    const base = numbers.base - 1;
    const { counts, sums, least, greatest } = sumCells(rows, numbers, this.#needsBounds);
    for (let cell = 0; cell < groups.length; cell++) {
      const count = counts[cell];
      if (groups[cell] === 0 || count === 0) continue;
      const bounds: [number, number] = [least[cell] + base, greatest[cell] + base];
      this.#addSummed(groups[cell] - 1, count, sums[cell] + count * base, scale, bounds);
    }
  }

  /** Adds numbers of which the number, the sum and the bounds are known, in units of a scale, to all but quantiles. */
  #addSummed(
    group: number,
    count: number,
    sum: number,
    scale: number,
    [least, greatest]: readonly [number, number],
  ): void {
    if (this.#countsValues) this.#counts[group] += count;
    if (!this.#needsNumbers) return;
    this.#numberCounts[group] += count;
    this.#sums?.addDecimal(group, sum, scale);
    const divisor = POWERS_OF_TEN[scale];
    if (this.#needsMins) this.#mins[group] = Math.min(this.#mins[group], least / divisor);
    if (this.#needsMaxs) this.#maxs[group] = Math.max(this.#maxs[group], greatest / divisor);
  }

  /** Adds the numbers of a column that it holds as texts, by row. */
  #addExceptions({ exceptions }: NumberColumn, pairs: Pairs): void {
    const texts = new Map(exceptions.map(({ row, text }) => [row, text]));
    for (let at = 0; at < pairs.count; at++) {
      const text = texts.get(pairs.rows[at]);
      if (text === undefined) continue;
      const group = pairs.groups[at];
      if (this.#countsValues) this.#counts[group]++;
      if (this.#cardinalities !== undefined) {
        this.#hash.numberText(text);
        this.#cardinalities.add(group, this.#hash.low, this.#hash.high);
      }
      const bytes = encodeText(text);
      if (this.#needsNumbers) this.#addText(group, bytes, 0, bytes.length);
    }
  }

  /** Adds the number that a text is, if it is one. */
  #addText(group: number, bytes: Uint8Array, start: number, end: number): void {
    if (!reader.read(bytes, start, end)) return;
    if (reader.small) {
      this.#addValue(group, reader.value);
      this.#sums?.addDecimal(group, reader.mantissa, reader.scale);
    } else {
      this.#addLong(group, reader.value, asciiText(bytes, start, end));
    }
  }

  /** Adds a number to all but the sum. */
  #addValue(group: number, value: number): void {
    this.#numberCounts[group]++;
    if (this.#needsMins && value < this.#mins[group]) this.#mins[group] = value;
    if (this.#needsMaxs && value > this.#maxs[group]) this.#maxs[group] = value;
    this.#quantiles?.add(group, value);
  }

  /** Adds a number that may lie between doubles. */
  #addLong(group: number, value: number, text: string): void {
    this.#numberCounts[group]++;
    this.#sums?.addText(group, text);
    if (!this.#needsBounds) return;
    this.#longBounds.add(group, value, text);
    this.#quantiles?.add(group, value);
  }

  /** Adds strings, or the elements of arrays. */
  #addStrings(column: StringColumn, pairs: Pairs): void {
    const { ids, kind } = column;
    const dictionary = column.shared ?? column.own;
    const { rows, groups, count } = pairs;
    const cardinalities = this.#cardinalities;
    const isPlain = !this.#needsNumbers && kind === Kind.STRING;
    if (isPlain && (cardinalities === undefined || dictionary !== undefined)) {
      for (let at = 0; this.#countsValues && at < count; at++) {
        if (ids[rows[at]] !== 0) this.#counts[groups[at]]++;
      }
      if (dictionary !== undefined && cardinalities !== undefined) {
        this.#strings.add(ids, dictionary, pairs, cardinalities);
      }
      return;
    }
    const wanted = this.#wanted.of(column, pairs);
    const elements = new Elements(column, wanted, cardinalities && this.#hash);
    const { starts } = elements;
    const { numbers } = this.#wanted;
    for (let at = 0; at < count; at++) {
      const number = numbers[ids[rows[at]]];
      if (number === 0) continue;
      const group = groups[at];
      if (this.#countsValues) this.#counts[group] += starts[number] - starts[number - 1];
      for (let element = starts[number - 1]; element < starts[number]; element++) {
        this.#addElement(group, elements, element);
      }
    }
    for (let at = 0; at < wanted.length; at++) numbers[wanted[at]] = 0;
  }

  #addElement(group: number, elements: Elements, element: number): void {
    this.#cardinalities?.add(group, elements.lows[element], elements.highs[element]);
    const type = elements.types[element];
    if (type === ElementType.OTHER || !this.#needsNumbers) return;
    const value = elements.values[element];
    if (type === ElementType.LONG) {
      this.#addLong(group, value, must(elements.texts.get(element), 'a long number'));
    } else {
      this.#addValue(group, value);
      this.#sums?.addDecimal(group, elements.mantissas[element], elements.scales[element]);
    }
  }

  #addDates({ presence, values, forms }: DateColumn, pairs: Pairs): void {
    this.#addPresent(presence, pairs, (row) => this.#hash.date(values[row], forms[row]));
  }

  #addBooleans({ presence, values }: BooleanColumn, pairs: Pairs): void {
    this.#addPresent(presence, pairs, (row) => this.#hash.boolean(hasRow(values, row)));
  }

  /** Adds values that are no numbers; `hash` makes that of a row. */
  #addPresent(presence: Presence, pairs: Pairs, hash: (row: number) => void): void {
    const cardinalities = this.#cardinalities;
    for (let at = 0; at < pairs.count; at++) {
      const row = pairs.rows[at];
      if (!isPresent(presence, row)) continue;
      if (this.#countsValues) this.#counts[pairs.groups[at]]++;
      if (cardinalities === undefined) continue;
      hash(row);
      cardinalities.add(pairs.groups[at], this.#hash.low, this.#hash.high);
    }
  }
}
