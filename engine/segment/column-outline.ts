import { ByteReader } from '../base/bytes.ts';
import { Kind } from '../column/kind.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import type { ColumnInfo } from './block/block-head.ts';

/** Facts about a column in the footer. Arrays are by block; min and max are those of the values, in ms for dates. */
export interface ColumnOutline {
  path: number;
  kind: Kind;
  /** Number of its dictionary; -1 when it has none. */
  dictionary: number;
  presentCounts: Float64Array;
  /** Of numbers and dates; they mean nothing where no value is present. */
  mins: Float64Array | undefined;
  maxs: Float64Array | undefined;
}

/** A column of one block, as the footer has it, with the dictionary of the segment that has its values; -1: none. */
export type ColumnFacts = ColumnInfo & Pick<ColumnOutline, 'dictionary'>;

/** Of what kind a column of a segment is, and in which dictionary its values are; -1: in none. */
export type ColumnForm = Pick<ColumnOutline, 'kind' | 'dictionary'>;

/** Gives the columns of one block whose paths are wanted, in no particular order. */
export type BlockColumns = (isWanted: (path: string) => boolean) => ColumnFacts[];

/** A column as a footer's bytes have it: `at` is where in them the regions of its numbers begin. */
export interface ColumnPlace extends ColumnForm {
  path: number;
  at: number;
}

/** Where a column's facts are in its entry of the table: `DICTIONARY` + 1, `START` where its numbers begin. */
const Entry = { PATH: 0, KIND: 1, DICTIONARY: 2, AT: 3, START: 4, LENGTH: 5 } as const;

/**
 * The columns that a footer names. Readers keep those of many segments for all time, and arrays and objects of each
 * column would take ten times as much: so all facts are in one array, and so are the numbers of blocks, each column's
 * of which are read from the footer's bytes when they are asked for first.
 */
export class OutlineTable {
  readonly #bytes: Uint8Array;
  readonly #blockCount: number;
  /** Of each path, its names joined by dots. */
  readonly #names: readonly string[];
  readonly #columnCount: number;
  /** An entry of each column, and one that says where numbers end. */
  readonly #table: Uint32Array;
  /**
   * Column by column a stretch of counts, and when it has zones one of mins and one of maxs; NaN stands where a stretch
   * of counts begins that was not read yet.
   */
  #numbers: Float64Array | undefined;

  /** `names`: of each path, joined by dots; `bytes`: those of the footer, with all regions in the meta. */
  constructor(
    columns: readonly ColumnPlace[],
    names: readonly string[],
    blockCount: number,
    bytes: Uint8Array,
  ) {
    this.#bytes = bytes;
    this.#blockCount = blockCount;
    this.#names = names;
    this.#columnCount = columns.length;
    this.#table = new Uint32Array((columns.length + 1) * Entry.LENGTH);
    let start = 0;
    let entry = 0;
    for (const { path, kind, dictionary, at } of columns) {
      this.#table[entry + Entry.PATH] = path;
      this.#table[entry + Entry.KIND] = kind;
      this.#table[entry + Entry.DICTIONARY] = dictionary + 1;
      this.#table[entry + Entry.AT] = at;
      this.#table[entry + Entry.START] = start;
      entry += Entry.LENGTH;
      start += blockCount * (hasZones(kind) ? 3 : 1);
    }
    this.#table[entry + Entry.START] = start;
  }

  /** Memory that it takes when all is read, about; the names aside, which others have too. */
  get memoryBytes(): number {
    const numbers = this.#start(this.#columnCount) * Float64Array.BYTES_PER_ELEMENT;
    return this.#table.byteLength + numbers + this.#bytes.length;
  }

  /** All columns of the segment, in the order of their numbers. */
  all(): { path: string; dictionary: number }[] {
    const columns: { path: string; dictionary: number }[] = [];
    for (let at = 0; at < this.#columnCount; at++) {
      columns.push({ path: this.#path(at), dictionary: this.dictionaryOf(at) });
    }
    return columns;
  }

  /** The columns of the segment at `path`. */
  forms(path: string): ColumnForm[] {
    const found: ColumnForm[] = [];
    for (let at = 0; at < this.#columnCount; at++) {
      if (this.#path(at) !== path) continue;
      found.push({ kind: this.#kind(at), dictionary: this.dictionaryOf(at) });
    }
    return found;
  }

  /** The number of the column of a kind at `path`; -1 when there is none, or several whose names are joined alike. */
  numberOf(path: string, kind: Kind): number {
    let found = -1;
    for (let at = 0; at < this.#columnCount; at++) {
      if (this.#kind(at) !== kind || this.#path(at) !== path) continue;
      if (found >= 0) return -1;
      found = at;
    }
    return found;
  }

  /** The dictionary of the column number `column`; -1 when it has none. */
  dictionaryOf(column: number): number {
    return this.#table[column * Entry.LENGTH + Entry.DICTIONARY] - 1;
  }

  /**
   * Tells which parts of the column number `column` are of a block: the parts have `valueCount` values each, the last
   * one of a block may have fewer.
   */
  partsOf(column: number, block: number, valueCount: number): { from: number; to: number } {
    const numbers = this.#numbersOf(column);
    const start = this.#start(column);
    let from = 0;
    for (let before = 0; before < block; before++) {
      from += Math.ceil(numbers[start + before] / valueCount);
    }
    return { from, to: from + Math.ceil(numbers[start + block] / valueCount) };
  }

  /** Gives the columns of the block number `block` whose paths are wanted. */
  columns(block: number, isWanted: (path: string) => boolean): ColumnFacts[] {
    const found: ColumnFacts[] = [];
    for (let column = 0; column < this.#columnCount; column++) {
      const path = this.#path(column);
      if (!isWanted(path)) continue;
      const numbers = this.#numbersOf(column);
      const at = this.#start(column) + block;
      const presentCount = numbers[at];
      if (presentCount === 0) continue;
      const kind = this.#kind(column);
      const facts: ColumnFacts = {
        path,
        kind,
        presentCount,
        dictionary: this.dictionaryOf(column),
      };
      if (hasZones(kind)) {
        facts.min = numbers[at + this.#blockCount];
        facts.max = numbers[at + this.#blockCount * 2];
      }
      found.push(facts);
    }
    return found;
  }

  #path(column: number): string {
    return this.#names[this.#table[column * Entry.LENGTH + Entry.PATH]];
  }

  #kind(column: number): Kind {
    return this.#table[column * Entry.LENGTH + Entry.KIND] as Kind;
  }

  #start(column: number): number {
    return this.#table[column * Entry.LENGTH + Entry.START];
  }

  /** The numbers of all columns, in which those of `column` are read. */
  #numbersOf(column: number): Float64Array {
    this.#numbers ??= new Float64Array(this.#start(this.#columnCount)).fill(Number.NaN);
    const numbers = this.#numbers;
    const start = this.#start(column);
    const end = this.#start(column + 1);
    if (!Number.isNaN(numbers[start])) return numbers;
    const reader = new ByteReader(this.#bytes, this.#table[column * Entry.LENGTH + Entry.AT]);
    for (let at = start; at < end; at += this.#blockCount) {
      numbers.set(readInlineStream(reader, this.#blockCount), at);
    }
    return numbers;
  }
}

/** Tells of a kind of columns whether they have least and greatest values. */
export function hasZones(kind: Kind): boolean {
  return kind === Kind.NUMBER || kind === Kind.DATE;
}

/** Reads a region that is in the meta, a stream of `count` numbers. */
export function readInlineStream(reader: ByteReader, count: number): Float64Array {
  const bytes = reader.raw((reader.varint() - 1) / 2);
  return new IntegerStream(new ByteReader(bytes), count).values();
}
