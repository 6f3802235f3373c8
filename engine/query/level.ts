import type {
  BooleanColumn,
  Column,
  DateColumn,
  NumberColumn,
  StringColumn,
} from '../column/column.ts';
import { grow } from '../column/growth.ts';
import { Kind } from '../column/kind.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../column/number-text.ts';
import type { Block } from '../segment/block.ts';
import { type Bitmap, dropRow, dropRows, hasRow, nextRow } from './bitmap.ts';
import { ArrayCursor } from './json.ts';
import { type Plan, planOf } from './plan.ts';
import type { Boundaries, BucketKey, TagRule } from './query.ts';
import { columnsAt, rowsPresent, rowsWhere } from './scan.ts';
import { asciiText } from './text.ts';
import type { ValueTable } from './value-table.ts';

/** Mantissas below are looked up in an array. */
const SMALL_NUMBERS = 4_096;

const cursor = new ArrayCursor();

/**
 * The values of each row of a block. Without `starts` row r has value `values[r] - 1`, and none at 0; with them it has
 * the distinct `values[starts[r]]` to `values[starts[r + 1] - 1]`.
 */
export interface RowValues {
  starts: Uint32Array | undefined;
  values: Int32Array;
}

/** What the buckets of a level are made from. */
export interface Level {
  /** Reads all that it needs of a block, so that `values` of these rows cannot fail. Throws CORRUPTION. */
  prepare(block: Block, rows: Bitmap): void;
  /** The values of the `rows` that it is prepared for; of other rows they mean nothing. Valid until the next call. */
  values(block: Block, rows: Bitmap): RowValues;
  /** What a value is in the answer. */
  key(value: number): BucketKey;
  /** The value of a key; -1 when it can have none. */
  place(key: BucketKey): number;
  /** Natural order: negative when `left` comes first. */
  compare(left: number, right: number): number;
  /** Memory that it takes. */
  readonly memoryBytes: number;
}

/** Steps of time. Values are their numbers. */
export class TimeLevel implements Level {
  readonly memoryBytes = 0;
  readonly #boundaries: Float64Array;
  /** Steps before this one are in no bucket. */
  readonly #first: number;

  /** Without `afterMs` all steps are taken, with it those that begin later. */
  constructor(boundaries: Boundaries, afterMs = Number.NEGATIVE_INFINITY) {
    this.#boundaries = Float64Array.from(boundaries);
    const first = boundaries.findIndex((boundary) => boundary > afterMs);
    this.#first = first < 0 ? boundaries.length : first;
  }

  /** Steps that there are. */
  get stepCount(): number {
    return Math.max(this.#boundaries.length - 1, 0);
  }

  prepare(block: Block): void {
    block.timeMs();
  }

  values(block: Block, rows: Bitmap): RowValues {
    const times = block.timeMs();
    const values = new Int32Array(block.rowCount);
    const boundaries = this.#boundaries;
    let step = 0;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const time = times[row];
      if (!(time >= boundaries[step] && time < boundaries[step + 1])) step = this.#step(time);
      if (step >= this.#first) values[row] = step + 1;
    }
    return { starts: undefined, values };
  }

  key(value: number): BucketKey {
    return { type: 'time', timeMs: this.#boundaries[value] };
  }

  place(key: BucketKey): number {
    return key.type === 'time' ? this.#boundaries.indexOf(key.timeMs) : -1;
  }

  compare(left: number, right: number): number {
    return left - right;
  }

  /** The step that `time` is in; it is in one. */
  #step(time: number): number {
    let low = 0;
    let high = this.#boundaries.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#boundaries[middle] <= time) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Tags of a tagset. Values are their places. */
export class TagLevel implements Level {
  readonly memoryBytes = 0;
  readonly #tags: readonly TagRule[];
  readonly #plans: Plan[];
  #values = new Int32Array(0);

  constructor(tags: readonly TagRule[]) {
    this.#tags = tags;
    this.#plans = tags.map((tag) => planOf(tag.predicate));
  }

  prepare(block: Block, rows: Bitmap): void {
    const values = new Int32Array(block.rowCount);
    const rest = rows.slice();
    for (const [place, plan] of this.#plans.entries()) {
      const found = rowsWhere(plan, block, rest).slice();
      for (let row = nextRow(found, 0); row >= 0; row = nextRow(found, row + 1)) {
        values[row] = place + 1;
      }
      dropRows(rest, found);
    }
    this.#values = values;
  }

  values(): RowValues {
    return { starts: undefined, values: this.#values };
  }

  key(value: number): BucketKey {
    return { type: 'tag', id: this.#tags[value].id };
  }

  place(key: BucketKey): number {
    return key.type === 'tag' ? this.#tags.findIndex((tag) => tag.id === key.id) : -1;
  }

  compare(left: number, right: number): number {
    return left - right;
  }
}

/** The distinct values of an attribute. Values are numbers of `table`. */
export class FieldLevel implements Level {
  readonly path: string;
  table: ValueTable;
  #values = new Int32Array(0);
  #known = new Int32Array(0);
  #knownOffsets: Uint32Array | undefined;
  #knownTable: ValueTable | undefined;
  #small = new Int32Array(0);
  #smallScale = Number.NaN;
  #smallTable: ValueTable | undefined;
  /** Further values of rows that have several. */
  #moreRows = new Uint32Array(64);
  #moreValues = new Int32Array(64);
  #moreCount = 0;

  constructor(path: string, table: ValueTable) {
    this.path = path;
    this.table = table;
  }

  get memoryBytes(): number {
    return this.table.memoryBytes;
  }

  prepare(block: Block): void {
    for (const index of columnsAt(block, this.path)) block.column(index);
  }

  values(block: Block, rows: Bitmap): RowValues {
    this.#values = new Int32Array(block.rowCount);
    this.#moreCount = 0;
    for (const index of columnsAt(block, this.path)) this.#addColumn(block.column(index), rows);
    if (this.#moreCount === 0) return { starts: undefined, values: this.#values };
    return this.#distinct(block.rowCount);
  }

  key(value: number): BucketKey {
    return this.table.key(value);
  }

  place(key: BucketKey): number {
    return this.table.addKey(key);
  }

  compare(left: number, right: number): number {
    return this.table.compare(left, right);
  }

  #addColumn(column: Column, rows: Bitmap): void {
    if (column.kind === Kind.NUMBER) this.#addNumbers(column, rows);
    else if (column.kind === Kind.DATE) this.#addDates(column, rows);
    else if (column.kind === Kind.BOOLEAN) this.#addBooleans(column, rows);
    else if (column.kind === Kind.ARRAY) this.#addArrays(column, rows);
    else this.#addStrings(column, rows);
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

  #addStrings(column: StringColumn, rows: Bitmap): void {
    const { ids, bytes, offsets } = column;
    const table = this.table;
    const values = this.#values;
    const known = this.#knownOf(column);
    for (let word = 0; word < rows.length; word++) {
      for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
        const row = (word << 5) + 31 - Math.clz32(bits & -bits);
        const id = ids[row];
        if (known[id] === 0) known[id] = table.string(bytes, offsets[id - 1], offsets[id]) + 2;
        const value = known[id] - 1;
        if (value === 0) continue;
        if (values[row] === 0) values[row] = value;
        else this.#put(row, value - 1);
      }
    }
  }

  /** Value + 2 by entry + 1, 1 for no value, 0 for not known yet; remembered while blocks share a dictionary. */
  #knownOf({ offsets, entryCount }: StringColumn): Int32Array {
    if (this.#knownOffsets === offsets && this.#knownTable === this.table) return this.#known;
    this.#known = new Int32Array(entryCount + 1);
    this.#known[0] = 1;
    this.#knownOffsets = offsets;
    this.#knownTable = this.table;
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
      if (kind === Kind.STRING) value = this.table.string(bytes, start, end);
      else if (kind === Kind.BOOLEAN) value = this.table.boolean(truth);
      else value = this.table.numberText(asciiText(bytes, start, end));
      if (value >= 0) found.push(value);
    }
    return Int32Array.from(found);
  }

  #addNumbers(column: NumberColumn, rows: Bitmap): void {
    const { mantissas, scale, exceptions } = column;
    const table = this.table;
    const plain = rowsPresent(column, rows);
    for (const { row } of exceptions) dropRow(plain, row);
    const divisor = scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[scale];
    const small = this.#smallOf(scale);
    let last = Number.NaN;
    let value = -1;
    for (let row = nextRow(plain, 0); row >= 0; row = nextRow(plain, row + 1)) {
      const mantissa = mantissas[row];
      if (mantissa !== last) {
        last = mantissa;
        const isSmall = mantissa >= 0 && mantissa < SMALL_NUMBERS && Number.isInteger(mantissa);
        const known = isSmall ? small[mantissa] : 0;
        if (known !== 0) value = known - 2;
        else {
          value =
            scale === SCALE_DOUBLE ? table.double(mantissa) : table.decimal(mantissa, divisor);
          if (isSmall) small[mantissa] = value + 2;
        }
      }
      this.#put(row, value);
    }
    for (const { row, text } of exceptions) {
      if (hasRow(rows, row)) this.#put(row, table.numberText(text));
    }
  }

  /** Value + 2 by mantissa, 1 for no value, 0 for not known yet; remembered while blocks have the same scale. */
  #smallOf(scale: number): Int32Array {
    if (this.#smallScale === scale && this.#smallTable === this.table) return this.#small;
    this.#small = new Int32Array(SMALL_NUMBERS);
    this.#smallScale = scale;
    this.#smallTable = this.table;
    return this.#small;
  }

  #addDates(column: DateColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
      this.#put(row, this.table.date(column.values[row], column.forms[row]));
    }
  }

  #addBooleans(column: BooleanColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
      this.#put(row, this.table.boolean(hasRow(column.values, row)));
    }
  }

  /** The values of all rows, each row's one after the other and once each. */
  #distinct(rowCount: number): RowValues {
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
    for (let row = 0; row < rowCount; row++) {
      const sorted = all.subarray(ends[row], ends[row + 1]).sort();
      const from = length;
      for (const value of sorted) {
        if (length === from || all[length - 1] !== value) all[length++] = value;
      }
      starts[row + 1] = length;
    }
    return { starts, values: all };
  }
}
