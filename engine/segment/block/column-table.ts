import { damaged } from '../../base/errors.ts';
import { RegionReader, type Zone } from '../../column/chunk.ts';
import type { Kind } from '../../column/kind.ts';
import { type ColumnEntry, type PresenceEntry, type ReadEntry, readEntry } from './column-entry.ts';

/** Least bytes of a column's entry: bounds what a count can claim. */
const ENTRY_BYTES_MIN = 2;
/** Numbers of the table of a column: of its entry, where that begins in the meta, and how many row lists are before. */
const Cell = { PATH: 0, KIND: 1, PRESENT_COUNT: 2, AT: 3, LISTS: 4, LENGTH: 5 } as const;

/** Path, kind and count of values of a column. */
export type ColumnOutline = Pick<ColumnEntry, 'path' | 'kind' | 'presentCount'>;

/** The meta in which columns are, and the block that has them. */
export interface ColumnsOf {
  meta: Uint8Array;
  /** True when regions are chunks of a sealed file. */
  areChunks: boolean;
  rowCount: number;
  pathCount: number;
}

/**
 * The columns that a directory has. Readers keep those of many blocks, and an entry takes ten times the memory of its
 * bytes: so it is read from these whenever it is asked for, and what all are looked through for is in one array.
 */
export class ColumnTable {
  readonly length: number;
  readonly #of: ColumnsOf;
  readonly #cells: Uint32Array;
  /** Where the regions before each column's end. */
  readonly #ends: Float64Array;
  /** Least and greatest value of each column. */
  readonly #zones: Float64Array;
  /** The column whose entry brings each row list. */
  readonly #lists: number[] = [];

  /** Reads all, the next ones of `reader`. Throws CORRUPTION. */
  constructor(of: ColumnsOf, reader: RegionReader) {
    const { meta } = reader;
    const count = meta.varint();
    if (count * ENTRY_BYTES_MIN > of.meta.length) damaged(`${count} columns`);
    this.#of = of;
    this.length = count;
    this.#cells = new Uint32Array(count * Cell.LENGTH);
    this.#ends = new Float64Array(count);
    this.#zones = new Float64Array(count * 2);
    for (let column = 0; column < count; column++) {
      const cells = this.#cells.subarray(column * Cell.LENGTH, (column + 1) * Cell.LENGTH);
      cells[Cell.AT] = meta.at;
      cells[Cell.LISTS] = this.#lists.length;
      this.#ends[column] = reader.end;
      const { entry, list } = this.#readEntry(reader, this.#lists.length);
      cells[Cell.PATH] = entry.path;
      cells[Cell.KIND] = entry.kind;
      cells[Cell.PRESENT_COUNT] = entry.presentCount;
      if (entry.zone !== undefined) {
        this.#zones[column * 2] = entry.zone.min;
        this.#zones[column * 2 + 1] = entry.zone.max;
      }
      if (list !== undefined) this.#lists.push(column);
    }
  }

  /** Memory that it takes, but for the meta. */
  get memoryBytes(): number {
    const bounds = this.#ends.byteLength + this.#zones.byteLength;
    return this.#cells.byteLength + bounds + this.#lists.length * 8;
  }

  /** The number of the path of a column. */
  path(column: number): number {
    return this.#cells[column * Cell.LENGTH + Cell.PATH];
  }

  kind(column: number): Kind {
    return this.#cells[column * Cell.LENGTH + Cell.KIND] as Kind;
  }

  /** Bounds of the values of a column of numbers or dates. */
  zone(column: number): Zone {
    return { min: this.#zones[column * 2], max: this.#zones[column * 2 + 1] };
  }

  /** Path, kind and count of values of a column. */
  outline(column: number): ColumnOutline {
    return {
      path: this.path(column),
      kind: this.kind(column),
      presentCount: this.#presentCount(column),
    };
  }

  /** Path, kind and count of values of each column. */
  outlines(): ColumnOutline[] {
    return Array.from({ length: this.length }, (_, column) => this.outline(column));
  }

  /** The entry of a column, as it is in the meta. */
  entry(column: number): ColumnEntry {
    return this.#read(column).entry;
  }

  /** All entries, one after the other. */
  *entries(): Generator<ColumnEntry> {
    for (let column = 0; column < this.length; column++) yield this.entry(column);
  }

  /** A row list. */
  list(number: number): PresenceEntry {
    return this.#read(this.#lists[number]).list ?? damaged(`no row list ${number}`);
  }

  /** All row lists, one after the other. */
  *lists(): Generator<PresenceEntry> {
    for (let number = 0; number < this.#lists.length; number++) yield this.list(number);
  }

  /** Rows that have a value of a column. */
  #presentCount(column: number): number {
    return this.#cells[column * Cell.LENGTH + Cell.PRESENT_COUNT];
  }

  #read(column: number): ReadEntry {
    const { meta, areChunks } = this.#of;
    const at = column * Cell.LENGTH;
    const reader = new RegionReader(meta, areChunks, this.#cells[at + Cell.AT], this.#ends[column]);
    return this.#readEntry(reader, this.#cells[at + Cell.LISTS]);
  }

  #readEntry(reader: RegionReader, listCount: number): ReadEntry {
    const { rowCount, pathCount } = this.#of;
    const rowsOf = (list: number): number => this.#presentCount(this.#lists[list]);
    return readEntry(reader, { rowCount, pathCount, listCount, rowsOf });
  }
}
