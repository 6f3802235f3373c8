import type { ByteReader } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { unpack } from './bitpack.ts';
import type { PackedSpan, PackedSteps, PackedValues, Patches, ValuesFound } from './cells.ts';
import { readDoubles } from './compress.ts';
import { DeltaSums, type Deltas, SUM_VALUES } from './delta-sums.ts';
import { free } from './growth.ts';
import { checkedCodes, readCodeCount, StreamHead, WORD_BITS, WORD_RANGE } from './integers.ts';
import { findValues, unpackedView, unpackValues } from './packed.ts';
import { addPatches } from './patches.ts';
import { checkId, StoredPatches } from './stored-patches.ts';
import { placeIn, placesWithin, type Runs, runsOf, StoredRuns, spreadRuns } from './stored-runs.ts';
import { readWidth, StoredWords } from './stored-words.ts';

/** Ids below are decoded and checked as whole numbers of 32 bits. */
const ID_END = 2 ** 31;
const CODE_WIDTH_MAX = 8;
/** Width above which words are read for one look. */
const LOOKED_WIDTH = 16;
const { CONSTANT, PACKED, DELTA, RUNS, DOUBLES, CODES } = StreamHead;

/** Values that are decoded at a time: few enough to stay near the processor. */
const PART_VALUES = 4_096;
const scratch = new Uint32Array(PART_VALUES);
const NO_WORDS = new Uint32Array(0);
const partValues = new Float64Array(PART_VALUES);

/** A stream of numbers that is open for reading: one by one, or all. Views the bytes that it was read from. */
export class IntegerStream {
  readonly count: number;
  readonly #encoding: number;
  readonly #base: number;
  readonly #step: number;
  readonly #width: number;
  readonly #low: StoredWords | undefined;
  readonly #high: StoredWords | undefined;
  readonly #patches: StoredPatches | undefined;
  /** Values of codes, ascending. */
  readonly #table: Float64Array | undefined;
  #values: Float64Array | undefined;
  readonly #runs: StoredRuns | undefined;
  #sums: DeltaSums | undefined;

  /**
   * Throws CORRUPTION when the bytes are not those of a stream of `count` numbers. `isWhole`: false of one inside of
   * another. `sums`: of the same stream, when it was open before.
   */
  constructor(reader: ByteReader, count: number, isWhole = true, sums?: DeltaSums) {
    this.#sums = sums;
    const head = count === 0 ? CONSTANT : reader.u8();
    const encoding = head & StreamHead.ENCODING_MASK;
    this.count = count;
    this.#encoding = encoding;
    this.#base = 0;
    this.#step = 0;
    this.#width = 0;
    if (count === 0) return;
    if (encoding === RUNS && isWhole) {
      this.#runs = readRuns(reader, count, sums);
    } else if (encoding === DOUBLES && isWhole) {
      this.#values = readDoubles(reader, count);
    } else if (encoding === CODES && isWhole) {
      const codeCount = readCodeCount(reader, count);
      this.#table = checkedCodes(new IntegerStream(reader, codeCount, false).values());
      this.#width = readWidth(reader, CODE_WIDTH_MAX);
      this.#low = new StoredWords(reader, count, this.#width);
    } else if (encoding <= DELTA) {
      const base = reader.varint();
      this.#base = head & StreamHead.BASE_NEGATIVE ? -base : base;
      if (encoding === CONSTANT) return;
      const step = encoding === DELTA ? reader.varint() : 0;
      this.#step = head & StreamHead.STEP_NEGATIVE ? -step : step;
      this.#width = readWidth(reader);
      const packed = encoding === DELTA ? count - 1 : count;
      this.#low = new StoredWords(reader, packed, Math.min(this.#width, WORD_BITS));
      if (this.#width > WORD_BITS) {
        this.#high = new StoredWords(reader, packed, this.#width - WORD_BITS);
      }
      if (head & StreamHead.PATCHED) {
        if (!isWhole) damaged('patches inside of a stream');
        this.#patches = readPatches(reader, packed, this.#width, sums);
      }
    } else {
      damaged(`unknown stream encoding ${encoding}`);
    }
  }

  /** The value at `index`, which is below `count`. */
  at(index: number): number {
    if (this.#encoding === CONSTANT) return this.#base;
    if (this.#values !== undefined) return this.#values[index];
    if (this.#runs !== undefined) return this.#runs.at(index);
    if (this.#encoding === DELTA && this.#width <= WORD_BITS) return this.#sumAt(index);
    if (this.#table !== undefined)
      return this.#table[this.#numberAt(index)] ?? damaged('an unknown code');
    if (this.#encoding !== PACKED) return this.values()[index];
    return this.#base + (this.#high?.at(index) ?? 0) * WORD_RANGE + this.#numberAt(index);
  }

  /** The low bits of a number that is stored, with its patch. */
  #numberAt(index: number): number {
    return (this.#low?.at(index) ?? 0) + (this.#patches?.at(index) ?? 0);
  }

  /** True when it is stored as runs. */
  get hasRuns(): boolean {
    return this.#runs !== undefined;
  }

  /** Where runs of equal values begin, and what these are. Not to be written. */
  runs(): Runs {
    return this.#runs?.all() ?? runsOf(this.values());
  }

  /** Checks that all values lie from `min` to `max`, as far as that is known without decoding them. */
  isWithin(min: number, max: number): boolean {
    const table = this.#table;
    if (table !== undefined) return table[0] >= min && table[table.length - 1] <= max;
    if (this.#encoding !== CONSTANT && this.#encoding !== PACKED) return false;
    return this.#base >= min && this.#isUpTo(max - this.#base);
  }

  /** Checks that the numbers that are stored, with their patches, are up to `max`. */
  #isUpTo(max: number): boolean {
    return this.#patches?.areWithin(max) ?? 2 ** this.#width - 1 <= max;
  }

  /** Checks the same also of runs and deltas: these by the greatest steps that they have room for. */
  isBetween(min: number, max: number): boolean {
    if (this.#runs !== undefined)
      return this.#runs.all().heads.every((head) => head >= min && head <= max);
    if (this.#encoding !== DELTA) return this.isWithin(min, max);
    const stepCount = this.count - 1;
    if (this.#base + stepCount * Math.min(this.#step, 0) < min) return false;
    const stepMax = (max - this.#base) / stepCount;
    return stepMax >= 0 && this.#isUpTo(Math.floor(stepMax) - this.#step);
  }

  /** All values, each more 1, of a stream for which `isWithin` held with bounds below ID_END; a new array. */
  ranks(): Uint32Array {
    if (this.#encoding === CONSTANT) return new Uint32Array(this.count).fill(this.#base + 1);
    if (this.#table !== undefined) return this.#coded(this.#table.map((value) => value + 1));
    const ranks = unpackValues(this.#stored(1), ID_END - 1);
    return ranks ?? damaged('ranks are too many');
  }

  /** The numbers as they are stored, each more `more`: of packed ones from 0 to some below ID_END. */
  packed(more: number): PackedValues | undefined {
    const base = this.#base + more;
    const isPacked = this.#encoding === CONSTANT || this.#encoding === PACKED;
    const isSmall = this.#width < WORD_BITS && base >= 0 && this.#isUpTo(ID_END - 1 - base);
    return isPacked && isSmall ? this.#stored(more) : undefined;
  }

  /** The values by their codes, ascending, and the codes; `undefined` when it has none. */
  codes(): { codes: PackedValues; table: Float64Array } | undefined {
    return this.#table && { codes: this.#stored(0), table: this.#table };
  }

  /** The stored numbers, each more its base and `more`. */
  #stored(more: number, words = this.#low?.all() ?? NO_WORDS): PackedValues {
    const { count } = this;
    const stored = { words, count, width: this.#width, base: this.#base + more };
    return this.#patches === undefined ? stored : { ...stored, patches: this.#patches.checked() };
  }

  /** Deltas above 0 as they are stored, of whole numbers from 0 to some below ID_END; else `undefined`. */
  steps(): PackedSteps | undefined {
    const [base, step] = [this.#base, this.#step];
    const isSmall = this.#width < WORD_BITS && base >= 0 && base < ID_END && step < ID_END;
    if (this.#encoding !== DELTA || !isSmall || step < 1) return undefined;
    const words = this.#low?.all() ?? NO_WORDS;
    return { words, count: this.count, width: this.#width, base, step };
  }

  /** The values in `table` that codes stand for, whole numbers below 2^32; a new array. */
  #coded(table: Float64Array): Uint32Array {
    const values = unpackValues(this.#stored(0), table.length - 1) ?? damaged('an unknown code');
    const whole = Uint32Array.from(table);
    for (let index = 0; index < values.length; index++) values[index] = whole[values[index]];
    return values;
  }

  /** The value at `index` of deltas: the last sum that is kept, and the deltas behind it. */
  #sumAt(index: number): number {
    const kept = Math.floor(index / SUM_VALUES);
    return this.#summed(kept * SUM_VALUES, this.#keptSum(kept), index);
  }

  /** The value at `index` of deltas, of which that at `from` is `value`. */
  #summed(from: number, value: number, index: number): number {
    let sum = value;
    for (let at = from; at < index; ) {
      const first = at - (at % SUM_VALUES);
      const steps = this.#stepsFrom(first);
      const end = Math.min(index, first + SUM_VALUES);
      for (; at < end; at++) sum += this.#step + steps[at - first];
    }
    return sum;
  }

  /** The value at `index`; that at `from`, not far before, is known to be `value`. */
  atBehind(from: number, value: number, index: number): number {
    const isSummed = this.#encoding === DELTA && this.#width <= WORD_BITS;
    return isSummed ? this.#summed(from, value, index) : this.at(index);
  }

  /** The kept sum number `kept`, summed up from the mark before it when there are marks. */
  #keptSum(kept: number): number {
    this.#sums ??= new DeltaSums();
    const near = this.#sums.near(kept, this.#deltas, (from) => this.#stepsFrom(from));
    return near ?? this.#sumsUpTo(kept)[kept];
  }

  get #deltas(): Deltas {
    return { count: this.count, base: this.#base, step: this.#step };
  }

  /** The deltas behind a kept sum, up to the next one. */
  #stepsFrom(first: number): Uint32Array {
    const count = Math.min(SUM_VALUES, this.count - 1 - first);
    if (count === 0) return NO_WORDS;
    const patches = this.#patchesAmong(first, count);
    return this.#unpacked(this.#low?.page(first), patches, first, count);
  }

  /**
   * Finds the last place whose value is not above `value`, in deltas that ascend and of which the first is not above
   * it; `undefined` when it is another stream, or it is not known that they do.
   */
  placeOf(value: number): number | undefined {
    if (this.#encoding !== DELTA || this.#width > WORD_BITS || this.#step < 1) return undefined;
    const sums = this.#sumsUpTo(Math.floor((this.count - 1) / SUM_VALUES));
    const kept = placeIn(sums, value);
    const first = kept * SUM_VALUES;
    let sum = sums[kept];
    let place = first;
    if (place === this.count - 1) return place;
    const steps = this.#stepsFrom(first);
    for (let at = 0; at < steps.length; at++) {
      sum += this.#step + steps[at];
      if (sum > value) break;
      place++;
    }
    return place;
  }

  /**
   * Finds the values from `from` up to `end`, and the place of the first of them, in deltas that ascend; `undefined`
   * when it is another stream, or it is not known that they do.
   */
  valuesBetween(from: number, end: number): ValuesFound | undefined {
    if (this.#encoding !== DELTA || this.#width > WORD_BITS || this.#step < 1) return undefined;
    const sums = this.#sumsUpTo(Math.floor((this.count - 1) / SUM_VALUES));
    const kept = placeIn(sums, from);
    const values: number[] = [];
    let steps: Uint32Array = NO_WORDS;
    let place = kept * SUM_VALUES;
    for (let value = sums[kept]; value < end; place++) {
      if (value >= from) values.push(value);
      const at = place % SUM_VALUES;
      if (place === this.count - 1) value = Number.POSITIVE_INFINITY;
      else {
        if (at === 0) steps = this.#stepsFrom(place);
        value += this.#step + steps[at];
      }
    }
    return { first: place - values.length, values };
  }

  /** The kept sums, up to that number `last` at least. */
  #sumsUpTo(last: number): Float64Array {
    this.#sums ??= new DeltaSums();
    if (last < this.#sums.count) return this.#sums.values;
    this.#low?.all();
    return this.#sums.upTo(last, this.#deltas, (from) =>
      this.#lower(from, Math.min(PART_VALUES, this.count - 1 - from)),
    );
  }

  /**
   * A bit for each value, set when it is from `low` to `high`: found without decoding the values. `undefined` when they
   * are stored so that this is not possible.
   */
  bitsWithin(low: number, high: number): Uint32Array | undefined {
    const span = this.spanWithin(low, high);
    return span && findValues(span.values, span.first, span.last);
  }

  /** The values from `low` to `high`, as they are stored; `undefined` when they have to be decoded. */
  spanWithin(low: number, high: number): PackedSpan | undefined {
    const table = this.#table;
    if (table !== undefined) return { values: this.#stored(0), ...placesWithin(table, low, high) };
    if (this.#encoding !== PACKED || this.#width >= WORD_BITS) return undefined;
    const first = Math.max(Math.ceil(low - this.#base), 0);
    const last = Math.min(Math.floor(high - this.#base), ID_END - 1);
    // Nobody keeps words of wide numbers.
    const words = this.#width > LOOKED_WIDTH ? this.#low?.some(0, this.count) : undefined;
    return { values: this.#stored(0, words), first, last };
  }

  /** All values; decoded once and kept. Not to be written. */
  values(): Float64Array {
    this.#values ??= this.#decode();
    return this.#values;
  }

  /** Lets go of what can be read again, but of sums and patches; the bytes that it still holds. */
  rest(): number {
    if (this.#encoding !== DOUBLES) this.#values = undefined;
    let bytes = this.#values?.byteLength ?? 0;
    bytes += (this.#table?.byteLength ?? 0) + (this.#sums?.values.byteLength ?? 0);
    bytes += (this.#low?.rest() ?? 0) + (this.#high?.rest() ?? 0);
    return bytes + (this.#patches?.rest() ?? 0) + (this.#runs?.rest() ?? 0);
  }

  /** Ends it, and frees what `values` gave. */
  free(): void {
    free(this.#values);
  }

  /**
   * `count` numbers from `from` on, which is a multiple of SUM_VALUES: of packed ones from 0 to some below ID_END,
   * which are read alone; `undefined` of others. Good until any stream is read again. Throws CORRUPTION when one is
   * above `max`.
   */
  some(from: number, count: number, max: number): Uint32Array | undefined {
    const base = this.#base;
    const isSmall = this.#width < WORD_BITS && base >= 0 && this.#isUpTo(ID_END - 1 - base);
    if (this.#encoding !== PACKED || !isSmall || count > PART_VALUES) return undefined;
    if (this.#patches === undefined) {
      const words = this.#low?.some(from, count) ?? NO_WORDS;
      const stored = { words, count, width: this.#width, base };
      return unpackedView(stored, Math.min(max, ID_END - 1)) ?? damaged(`an id above ${max}`);
    }
    const numbers = this.#lower(from, count);
    for (let index = 0; index < count; index++) {
      numbers[index] += base;
      checkId(numbers[index], max);
    }
    return numbers;
  }

  /**
   * `count` values from `from` on, which is a multiple of SUM_VALUES: packed ones alone. Good until the next call, not
   * to be written.
   */
  part(from: number, count: number): Float64Array {
    const isAlone = this.#encoding === PACKED && this.#values === undefined;
    if (!isAlone || count > PART_VALUES) return this.values().subarray(from, from + count);
    const values = partValues.subarray(0, count);
    this.#unpack(from, values, this.#base);
    return values;
  }

  #decode(): Float64Array {
    const values = new Float64Array(this.count);
    if (this.#encoding === CONSTANT) return values.fill(this.#base);
    if (this.#runs !== undefined) return spreadRuns(this.#runs.all(), values);
    if (this.#table !== undefined) return this.#decodeCodes(this.#table, values);
    values[0] = this.#base;
    this.#low?.all();
    this.#high?.all();
    const isDelta = this.#encoding === DELTA;
    const target = isDelta ? values.subarray(1) : values;
    for (let from = 0; from < target.length; from += PART_VALUES) {
      const part = target.subarray(from, from + PART_VALUES);
      if (isDelta) this.#addSteps(from, part, values[from]);
      else this.#unpack(from, part, this.#base, true);
    }
    return values;
  }

  #decodeCodes(table: Float64Array, values: Float64Array): Float64Array {
    const codes = unpackedView(this.#stored(0), table.length - 1) ?? damaged('an unknown code');
    for (let index = 0; index < values.length; index++) values[index] = table[codes[index]];
    return values;
  }

  /** Decodes the values after the one at `from`, which is `value`. */
  #addSteps(from: number, values: Float64Array, value: number): void {
    const { length } = values;
    let last = value;
    if (this.#width <= WORD_BITS) {
      const steps = this.#lower(from, length, true);
      const step = this.#step;
      for (let index = 0; index < length; index++) {
        last += step + steps[index];
        values[index] = last;
      }
      return;
    }
    this.#unpack(from, values, this.#step);
    for (let index = 0; index < length; index++) {
      last += values[index];
      values[index] = last;
    }
  }

  /** Unpacks what is stored from `from` on into `values`, each more `base`. */
  #unpack(from: number, values: Float64Array, base: number, isAll = false): void {
    const { length } = values;
    const lower = this.#lower(from, length, isAll);
    for (let index = 0; index < length; index++) values[index] = base + lower[index];
    if (this.#high === undefined) return;
    const words = this.#high.some(from, length);
    const upper = unpack(words, length, this.#width - WORD_BITS, 0, scratch);
    for (let index = 0; index < length; index++) values[index] += upper[index] * WORD_RANGE;
  }

  /** The low bits of `count` stored numbers, with patches; `isAll`: all are decoded. Good until a stream is read. */
  #lower(from: number, count: number, isAll = false): Uint32Array {
    const width = this.#width;
    if (isAll && this.#patches === undefined && width < WORD_BITS) {
      const words = this.#low?.some(from, count) ?? NO_WORDS;
      const numbers = unpackedView({ words, count, width, base: 0 }, ID_END - 1);
      return numbers ?? damaged(`numbers of more than ${width} bits`);
    }
    // Both are read and unpacked in the same memory.
    const patches = this.#patchesAmong(from, count);
    return this.#unpacked(this.#low?.some(from, count), patches, from, count);
  }

  #patchesAmong(from: number, count: number): Pick<Patches, 'places' | 'highs'> | undefined {
    const isPart = count <= SUM_VALUES;
    return isPart ? this.#patches?.among(from, from + count) : this.#patches?.all();
  }

  /** The same of their words and patches. */
  #unpacked(
    words: Uint32Array | undefined,
    patches: Pick<Patches, 'places' | 'highs'> | undefined,
    from: number,
    count: number,
  ): Uint32Array {
    const width = Math.min(this.#width, WORD_BITS);
    const numbers = unpack(words ?? NO_WORDS, count, width, 0, scratch);
    if (patches !== undefined) addPatches(numbers, patches, from);
    return numbers;
  }

  /** All values as whole numbers up to `max`; a new array. Throws CORRUPTION when one is not. */
  ids(max: number): Uint32Array {
    const isPlain = this.#encoding === CONSTANT || this.#encoding === PACKED;
    if (isPlain && this.#base >= 0 && this.#isUpTo(ID_END - 1 - this.#base)) {
      const last = Math.min(max, ID_END - 1);
      const ids = unpackValues(this.#stored(0), last);
      return ids ?? damaged(`an id above ${max}`);
    }
    if (this.#encoding === DELTA && this.#width <= WORD_BITS) return this.#summedIds(max);
    if (this.#table !== undefined) {
      for (const value of this.#table) checkId(value, max);
      return this.#coded(this.#table);
    }
    const values = this.values();
    for (let index = 0; index < values.length; index++) checkId(values[index], max);
    return new Uint32Array(values);
  }

  /** The same of deltas, which are summed up as they are unpacked. */
  #summedIds(max: number): Uint32Array {
    const ids = new Uint32Array(this.count);
    const step = this.#step;
    let value = this.#base;
    checkId(value, max);
    ids[0] = value;
    this.#low?.all();
    for (let from = 1; from < ids.length; from += PART_VALUES) {
      const steps = this.#lower(from - 1, Math.min(PART_VALUES, ids.length - from), true);
      for (let index = 0; index < steps.length; index++) {
        value += step + steps[index];
        checkId(value, max);
        ids[from + index] = value;
      }
    }
    return ids;
  }
}

function readPatches(
  reader: ByteReader,
  count: number,
  width: number,
  sums: DeltaSums | undefined,
): StoredPatches {
  const patchCount = reader.varint();
  if (patchCount < 1 || patchCount > count) damaged(`${patchCount} patches of ${count} numbers`);
  const places = new IntegerStream(reader, patchCount, false, sums?.inside);
  return new StoredPatches(count, width, places, new IntegerStream(reader, patchCount, false));
}

function readRuns(reader: ByteReader, count: number, sums: DeltaSums | undefined): StoredRuns {
  const runCount = reader.varint();
  if (runCount < 1 || runCount > count) damaged(`${runCount} runs of ${count} values`);
  const starts = new IntegerStream(reader, runCount, false, sums?.inside);
  return new StoredRuns(count, starts, new IntegerStream(reader, runCount, false));
}
