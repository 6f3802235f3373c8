import { assert, must } from '../../base/assert.ts';
import { inParts, type Units } from '../../base/pause.ts';
import type {
  BooleanColumn,
  CodedNumbers,
  Column,
  DateColumn,
  NumberColumn,
  StringColumn,
} from '../../column/column.ts';
import type { Entries, KeptEntries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../../column/number-text.ts';
import { grow } from '../../packed/growth.ts';
import { unpackedView } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { ArrayCursor } from '../filter/json.ts';
import { asciiText } from '../filter/text.ts';
import { type Bitmap, dropRow, eachRow, hasRow, nextRow } from '../model/bitmap.ts';
import { partsOfRows } from '../model/units.ts';
import { rowsPresent } from '../scan/column-rows.ts';
import { columnsAt } from '../scan/scan.ts';
import {
  areKnown,
  type CodedValues,
  type KnownCodes,
  type RowValues,
  unknownCodes,
} from './coded-values.ts';
import { TEXT_NEEDED, type ValueNumbers } from './value-numbers.ts';

/** Mantissas below are looked up in an array. */
const SMALL_NUMBERS = 4_096;
const SMALL_MASK = SMALL_NUMBERS - 1;
/** Entries of a dictionary of a segment up to which it is read in pieces as needed. */
export const LARGE_ENTRIES = 32_768;
/** Texts that are needed of a larger one before it is read whole. */
const SINGLE_TEXTS_MAX = 1_024;
/** Words of a bitmap, and texts that are new, whose rows are looked at in a unit. */
const UNIT_WORDS = 512;
const UNIT_TEXTS = 2_048;
/** Rows whose several values are put side by side in a unit. */
const UNIT_ROWS = 8_192;
/** Rows of a word of a bitmap, and so texts at most by which a unit may have more than UNIT_TEXTS. */
const WORD_ROWS = 32;

const cursor = new ArrayCursor();

/** Meaning of code 0 alone. */
const NO_VALUE = Int32Array.of(1);
const NO_WORDS = new Uint32Array(0);

/** Where the strings of a column are got from: `entries` when they are read whole. */
interface Texts {
  dictionary: KeptEntries | undefined;
  entries: Entries | undefined;
  hashes: Int32Array | undefined;
}

/** The values of an attribute, as numbers that `numbers` gives them. */
export class FieldValues<Numbers extends ValueNumbers> {
  readonly path: string;
  readonly numbers: Numbers;
  /** True when it left out a dictionary that is too large for `smallOnly`. */
  isLarge = false;
  readonly smallOnly: boolean;
  /** The rows that it is prepared for. */
  #rows: Bitmap = new Uint32Array(0);
  #coded: CodedValues | undefined;
  #values = new Int32Array(0);
  #ids = new Uint32Array(0);
  #found: RowValues | undefined;
  #known = new Int32Array(0);
  #knownOf: object | undefined;
  /** Of the dictionary that `#known` is of. */
  #textCount = 0;
  #small = new Int32Array(0);
  #smallScale = Number.NaN;
  /** Further values of rows that have several. */
  #moreRows = new Uint32Array(64);
  #moreValues = new Int32Array(64);
  #moreCount = 0;

  /** `smallOnly`: it leaves out dictionaries of segments with more than some 10,000 entries, and is not right then. */
  constructor(path: string, numbers: Numbers, smallOnly = false) {
    this.path = path;
    this.numbers = numbers;
    this.smallOnly = smallOnly;
  }

  /** Finds the values of `rows`, in units. Throws CORRUPTION. */
  *prepare(block: Block, rows: Bitmap): Units<void> {
    const { rowCount } = block;
    this.#rows = rows;
    this.#coded = undefined;
    this.#found = undefined;
    const indexes = columnsAt(block, this.path);
    if (indexes.length === 1) {
      if (rows.length > UNIT_WORDS) yield;
      this.#coded = yield* this.#code(block.column(indexes[0]), rows);
      if (this.#coded !== undefined) return;
    }
    this.#clear(rowCount);
    for (const index of indexes) {
      const column = block.column(index);
      if (rows.length > UNIT_WORDS) yield;
      yield* this.#addColumn(column, rows);
    }
    this.#found =
      this.#moreCount === 0
        ? { starts: undefined, values: this.#values }
        : yield* this.#distinct(rowCount);
  }

  /**
   * The values of a block by codes, as far as they are known by now, without a look at rows; `undefined` when they do
   * not come so. Throws CORRUPTION.
   */
  knownCodes(block: Block): KnownCodes | undefined {
    const [index, ...others] = columnsAt(block, this.path);
    if (others.length > 0) return undefined;
    if (index === undefined) {
      const codes = { words: NO_WORDS, count: block.rowCount, width: 0, base: 0 };
      return { codes, known: NO_VALUE };
    }
    const column = block.column(index);
    if (column.kind === Kind.NUMBER) {
      const coded = column.coded();
      if (coded !== undefined) return this.#knownOfCoded(coded, column.scale);
      const codes = column.packed(SMALL_NUMBERS - 1);
      return codes && { codes, known: this.#smallOf(column.scale) };
    }
    if (column.kind !== Kind.STRING) return undefined;
    const { entryCount } = column;
    const dictionary = column.shared ?? column.own;
    if (dictionary === undefined || entryCount > LARGE_ENTRIES) return undefined;
    const codes = column.packed?.();
    return codes && { codes, known: this.#knownFor(dictionary, entryCount) };
  }

  /** Meanings of codes of small numbers, as far as these are known; `undefined` when the numbers are not small. */
  #knownOfCoded({ codes, table }: CodedNumbers, scale: number): KnownCodes | undefined {
    if (!(table[0] >= 0 && table[table.length - 1] < SMALL_NUMBERS)) return undefined;
    return { codes, known: this.#knownOfTable(table, scale) };
  }

  #knownOfTable(table: Float64Array, scale: number): Int32Array {
    const small = this.#smallOf(scale);
    return Int32Array.from(table, (mantissa) => small[mantissa + 1]);
  }

  /**
   * The same when what the codes of `rows` mean has been made known, in units; `undefined` also when one is of nothing.
   * Throws CORRUPTION.
   */
  *learnCodes(block: Block, rows: Bitmap): Units<KnownCodes | undefined> {
    const found = this.knownCodes(block);
    const codes = found && unknownCodes(found, rows);
    if (found === undefined || codes === undefined) return undefined;
    if (codes.length === 0) return found;
    const [index] = columnsAt(block, this.path);
    const column = block.column(index);
    const table = column.kind === Kind.NUMBER ? column.coded()?.table : undefined;
    const learn = yield* this.#learnerOf(column);
    for (let from = 0; from < codes.length; from += SINGLE_TEXTS_MAX) {
      for (const code of codes.subarray(from, from + SINGLE_TEXTS_MAX)) learn(code);
      yield;
    }
    // Between units the block may let go of its columns: of one that is read again nothing would be known.
    if (column.kind !== Kind.NUMBER || table === undefined) return found;
    return { codes: found.codes, known: this.#knownOfTable(table, column.scale) };
  }

  /** Learns what a code means in a column for which `knownCodes` gives some. Throws CORRUPTION. */
  *#learnerOf(column: Column): Units<(code: number) => void> {
    if (column.kind === Kind.NUMBER) {
      const small = this.#smallOf(column.scale);
      const numberOf = this.#decimalsOf(column);
      const table = column.coded()?.table;
      return (code) => {
        const mantissa = table === undefined ? code - 1 : table[code];
        small[mantissa + 1] = numberOf(mantissa) + 2;
      };
    }
    assert(column.kind === Kind.STRING, 'numbers or strings');
    const { entryCount } = column;
    const dictionary = must(column.shared ?? column.own, 'a dictionary');
    const known = this.#knownFor(dictionary, entryCount);
    const texts: Texts = { dictionary, entries: undefined, hashes: undefined };
    if (this.numbers.usesHashes) texts.hashes = yield* dictionary.hashUnits(this.numbers);
    return (code) => {
      known[code] = this.#numberOf(texts, code - 1) + 2;
    };
  }

  #decimalsOf({ scale }: NumberColumn): (mantissa: number) => number {
    const divisor = scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[scale];
    return (mantissa) => this.numbers.decimal(mantissa, divisor);
  }

  /** The values of the rows that it is prepared for, by codes; `undefined` when they do not come so. */
  coded(): CodedValues | undefined {
    return this.#coded;
  }

  /**
   * The values of the rows that it is prepared for; of other rows they mean nothing. Valid until it is prepared again.
   */
  values(): RowValues {
    this.#found ??= this.#decoded(must(this.#coded, 'values'));
    return this.#found;
  }

  #clear(rowCount: number): void {
    this.#moreCount = 0;
    if (this.#values.length === rowCount) this.#values.fill(0);
    else this.#values = new Int32Array(rowCount);
  }

  #decoded({ codes, known }: CodedValues): RowValues {
    if (this.#values.length !== codes.length) this.#values = new Int32Array(codes.length);
    const values = this.#values;
    eachRow(this.#rows, (row) => {
      values[row] = known[codes[row]] - 1;
    });
    return { starts: undefined, values };
  }

  /** The values of a column by codes, found in units; `undefined` when it has none. */
  *#code(column: Column, rows: Bitmap): Units<CodedValues | undefined> {
    if (column.kind === Kind.STRING) return yield* this.#codeStrings(column, rows);
    if (column.kind !== Kind.NUMBER) return undefined;
    const codes = column.small(SMALL_NUMBERS - 1);
    if (codes === undefined) return undefined;
    const { scale } = column;
    const known = this.#smallOf(scale);
    if (areKnown(codes, known, rows)) return { codes, known };
    const numberOf = this.#decimalsOf(column);
    for (let word = 0; word < rows.length; ) {
      word = this.#learn(codes, known, rows, numberOf, word, Number.POSITIVE_INFINITY);
    }
    return { codes, known };
  }

  *#addColumn(column: Column, rows: Bitmap): Units<void> {
    const coded = yield* this.#code(column, rows);
    if (coded !== undefined) {
      const { codes, known } = coded;
      eachRow(rows, (row) => this.#put(row, known[codes[row]] - 2));
      return;
    }
    if ('shared' in column && column.shared !== undefined) yield* column.shared.entryUnits();
    for (const part of partsOfRows(rows)) {
      this.#addRows(column, part);
      if (part !== rows) yield;
    }
  }

  #addRows(column: Column, rows: Bitmap): void {
    if (column.kind === Kind.NUMBER) this.#addNumbers(column, rows);
    else if (column.kind === Kind.DATE) this.#addDates(column, rows);
    else if (column.kind === Kind.BOOLEAN) this.#addBooleans(column, rows);
    else this.#addArrays(column, rows);
  }

  #put(row: number, value: number): void {
    if (value < 0) return;
    if (this.#values[row] === 0) {
      this.#values[row] = value + 1;
      return;
    }
    if (this.#values[row] === value + 1) return;
    if (this.#moreCount === this.#moreRows.length) {
      this.#moreRows = grow(this.#moreRows, this.#moreCount + 1);
      this.#moreValues = grow(this.#moreValues, this.#moreCount + 1);
    }
    this.#moreRows[this.#moreCount] = row;
    this.#moreValues[this.#moreCount++] = value;
  }

  /** The strings of a column; of a dictionary of the segment no more is read than needed. */
  *#codeStrings(column: StringColumn, rows: Bitmap): Units<CodedValues> {
    const { shared } = column;
    if (this.smallOnly && shared !== undefined && shared.entryCount > LARGE_ENTRIES) {
      this.isLarge = true;
      return { codes: new Uint32Array(rows.length * WORD_ROWS), known: Int32Array.of(1) };
    }
    const codes = this.#idsOf(column);
    const dictionary = shared ?? column.own;
    const known = this.#knownFor(dictionary ?? column.offsets, column.entryCount);
    if (areKnown(codes, known, rows)) return { codes, known };
    const texts: Texts = { dictionary, entries: undefined, hashes: undefined };
    if (dictionary !== undefined && this.numbers.usesHashes) {
      texts.hashes = yield* dictionary.hashUnits(this.numbers);
    } else if (shared === undefined) {
      texts.entries = { bytes: column.bytes, offsets: column.offsets };
    }
    const isLarge = column.entryCount > LARGE_ENTRIES;
    for (let word = 0; word < rows.length; ) {
      const isMuch = isLarge && this.#textCount >= SINGLE_TEXTS_MAX;
      if (isMuch && this.#needsText(codes, rows, word, known, texts.hashes)) {
        texts.entries ??= yield* must(dictionary, 'a dictionary').entryUnits();
      }
      const textMax = texts.entries === undefined ? SINGLE_TEXTS_MAX : UNIT_TEXTS;
      const numberOf = (entry: number): number => this.#numberOf(texts, entry);
      word = this.#learn(codes, known, rows, numberOf, word, this.#textCount + textMax);
      if (rows.length > UNIT_WORDS || word < rows.length) yield;
    }
    return { codes, known };
  }

  /** The ids of a column; as they are unpacked they lie in memory that the next column uses again. */
  #idsOf(column: StringColumn): Uint32Array {
    const packed = column.packed?.();
    const found = packed && unpackedView(packed, column.entryCount);
    if (found === undefined) return column.ids;
    if (this.#ids.length < found.length) this.#ids = new Uint32Array(found.length);
    this.#ids.set(found);
    return this.#ids.subarray(0, found.length);
  }

  /**
   * Makes known what the codes of rows mean, `numberOf(code - 1)`, from a word of the bitmap up to the end of a unit,
   * or the word with which as many texts were needed as may be; the word behind it.
   */
  #learn(
    codes: Uint32Array,
    known: Int32Array,
    rows: Bitmap,
    numberOf: (entry: number) => number,
    from: number,
    textMax: number,
  ): number {
    let end = Math.min(from + UNIT_WORDS, rows.length);
    for (let word = from; word < end; word++) {
      for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
        const code = codes[(word << 5) + 31 - Math.clz32(bits & -bits)];
        if (known[code] !== 0) continue;
        known[code] = numberOf(code - 1) + 2;
        if (this.#textCount >= textMax) end = word + 1;
      }
    }
    return end;
  }

  /** True when the text of an entry is needed that a row of the next unit has. */
  #needsText(
    ids: Uint32Array,
    rows: Bitmap,
    from: number,
    known: Int32Array,
    hashes: Int32Array | undefined,
  ): boolean {
    const end = Math.min(from + UNIT_WORDS, rows.length) * 32;
    for (let row = nextRow(rows, from * 32); row >= 0 && row < end; row = nextRow(rows, row + 1)) {
      const id = ids[row];
      if (known[id] !== 0) continue;
      if (hashes === undefined || this.numbers.ofHash(hashes[id - 1]) === TEXT_NEEDED) return true;
    }
    return false;
  }

  #numberOf({ dictionary, entries, hashes }: Texts, entry: number): number {
    const number = hashes === undefined ? TEXT_NEEDED : this.numbers.ofHash(hashes[entry]);
    if (number !== TEXT_NEEDED) return number;
    this.#textCount++;
    if (entries === undefined) {
      const { bytes, start, end } = must(dictionary, 'a dictionary').place(entry);
      return this.numbers.string(bytes, start, end);
    }
    const { bytes, offsets } = entries;
    return this.numbers.string(bytes, offsets[entry], offsets[entry + 1]);
  }

  /** Value + 2 by entry + 1, 1 for no value, 0 for not known yet; remembered while blocks share a `dictionary`. */
  #knownFor(dictionary: object, entryCount: number): Int32Array {
    if (this.#knownOf === dictionary) return this.#known;
    this.#known = new Int32Array(entryCount + 1);
    this.#known[0] = 1;
    this.#knownOf = dictionary;
    this.#textCount = 0;
    return this.#known;
  }

  #addArrays(column: StringColumn, rows: Bitmap): void {
    const { ids, bytes, offsets } = column;
    const known = new Map<number, Int32Array>();
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const id = ids[row];
      if (id === 0) continue;
      let elements = known.get(id);
      if (elements === undefined) {
        cursor.open(bytes, offsets[id - 1], offsets[id]);
        elements = this.#elements();
        known.set(id, elements);
      }
      for (const value of elements) this.#put(row, value);
    }
  }

  /** The values of the array that `cursor` has open. */
  #elements(): Int32Array {
    const found: number[] = [];
    while (cursor.next()) {
      const { kind, bytes, start, end, truth } = cursor;
      let value: number;
      if (kind === Kind.STRING) value = this.numbers.string(bytes, start, end);
      else if (kind === Kind.BOOLEAN) value = this.numbers.boolean(truth);
      else value = this.numbers.numberText(asciiText(bytes, start, end));
      if (value >= 0) found.push(value);
    }
    return Int32Array.from(found);
  }

  #addNumbers(column: NumberColumn, rows: Bitmap): void {
    const { mantissas, scale, exceptions } = column;
    const { numbers } = this;
    const plain = rowsPresent(column, rows);
    for (const { row } of exceptions) dropRow(plain, row);
    const isDouble = scale === SCALE_DOUBLE;
    const divisor = isDouble ? 1 : POWERS_OF_TEN[scale];
    const small = this.#smallOf(scale);
    let last = Number.NaN;
    let lastKnown = 0;
    eachRow(plain, (row) => {
      const mantissa = mantissas[row];
      const whole = mantissa & SMALL_MASK;
      const code = whole === mantissa ? whole + 1 : 0;
      let known = code === 0 ? 0 : small[code];
      if (known === 0 && mantissa !== last) {
        last = mantissa;
        lastKnown = 2 + (isDouble ? numbers.double(mantissa) : numbers.decimal(mantissa, divisor));
        if (code !== 0) small[code] = lastKnown;
      }
      if (known === 0) known = lastKnown;
      this.#put(row, known - 2);
    });
    for (const { row, text } of exceptions) {
      if (hasRow(rows, row)) this.#put(row, numbers.numberText(text));
    }
  }

  /** Value + 2 by mantissa + 1, 1 for no value, 0 for not known yet; remembered while blocks have the same scale. */
  #smallOf(scale: number): Int32Array {
    if (this.#smallScale === scale) return this.#small;
    this.#small = new Int32Array(SMALL_NUMBERS + 1);
    this.#small[0] = 1;
    this.#smallScale = scale;
    return this.#small;
  }

  #addDates(column: DateColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
      this.#put(row, this.numbers.date(column.values[row], column.forms[row]));
    }
  }

  #addBooleans(column: BooleanColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
      this.#put(row, this.numbers.boolean(hasRow(column.values, row)));
    }
  }

  /** The values of all rows, each row's one after the other and once each. */
  *#distinct(rowCount: number): Units<RowValues> {
    const ends = new Uint32Array(rowCount + 1);
    for (let row = 0; row < rowCount; row++) if (this.#values[row] !== 0) ends[row + 1]++;
    for (let at = 0; at < this.#moreCount; at++) ends[this.#moreRows[at] + 1]++;
    for (let row = 0; row < rowCount; row++) ends[row + 1] += ends[row];
    const all = new Int32Array(ends[rowCount]);
    const next = ends.slice(0, rowCount);
    for (let row = 0; row < rowCount; row++) {
      if (this.#values[row] !== 0) all[next[row]++] = this.#values[row] - 1;
    }
    for (let at = 0; at < this.#moreCount; at++) {
      all[next[this.#moreRows[at]]++] = this.#moreValues[at];
    }
    const starts = new Uint32Array(rowCount + 1);
    let length = 0;
    yield* inParts(rowCount, UNIT_ROWS, (begin, end) => {
      for (let row = begin; row < end; row++) {
        const from = length;
        if (ends[row + 1] - ends[row] > 1) all.subarray(ends[row], ends[row + 1]).sort();
        for (let at = ends[row]; at < ends[row + 1]; at++) {
          if (length === from || all[length - 1] !== all[at]) all[length++] = all[at];
        }
        starts[row + 1] = length;
      }
    });
    return { starts, values: all };
  }
}
