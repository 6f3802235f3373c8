import { unreachable } from '../base/assert.ts';
import type { ByteWriter } from '../base/bytes.ts';
import { BLOCK_ROWS_CLOSE, BLOCK_TEXT_BYTES_MAX } from '../base/limits.ts';
import { grow } from '../packed/growth.ts';
import { BooleanBuilder } from './booleans.ts';
import { DateBuilder } from './dates.ts';
import { KIND_BITS, KIND_COLUMN_MIN, Kind } from './kind.ts';
import { NumberBuilder } from './numbers.ts';
import type { PathTable } from './path.ts';
import type { Rows } from './rows.ts';
import { leafKey, leafKind, leafPath, type Shapes, ShapeTable } from './shape.ts';
import { StringBuilder } from './strings.ts';

/** A column of an open block. */
export type Builder = StringBuilder | NumberBuilder | DateBuilder | BooleanBuilder;

/** Bytes of values and leaves at which an open block is full, however few its rows: bounds its memory. */
const BATCH_BYTES_CLOSE = 64 * 1024 * 1024;
/** Text from which on it is looked whether the next row still fits, which all do before. */
const TEXT_BYTES_AMPLE = BLOCK_TEXT_BYTES_MAX / 2;
/** Bytes that a leaf costs beside its text. */
const LEAF_BYTES = 16;

function makeBuilder(path: number, kind: Kind): Builder {
  switch (kind) {
    case Kind.BOOLEAN:
      return new BooleanBuilder(path);
    case Kind.NUMBER:
      return new NumberBuilder(path);
    case Kind.STRING:
    case Kind.ARRAY:
      return new StringBuilder(path, kind);
    case Kind.DATE:
      return new DateBuilder(path);
    case Kind.NULL:
    case Kind.OBJECT:
      throw new Error(`assertion failed: kind ${kind} has a column`);
    default:
      return unreachable(kind);
  }
}

/** Rows of a block that have a value: `rows[from, to)`, ascending. The array must stay as it is. */
export interface RowList {
  rows: Uint16Array;
  from: number;
  to: number;
}

/** Rows as columns, for block-encoder.ts to read. The arrays are by row. */
export interface BatchRows {
  readonly paths: PathTable;
  readonly rowCount: number;
  readonly timeMs: Float64Array;
  readonly receivedMs: Float64Array;
  /** Shape of each row. */
  readonly shapeIds: Uint16Array;
  readonly shapes: Shapes;
  /** The columns that have values in rows from `row` on; others may be among them. */
  columnsFrom(row: number): readonly Builder[];
  /** Begins a block of the rows `[fromRow, toRow)`; `undefined` when the batch encodes nothing itself. */
  encode?(fromRow: number, toRow: number): BatchEncoder | undefined;
}

/** Parts of a block that its batch encodes: first shapes, then columns, until the next block or change of the batch. */
export interface BatchEncoder {
  /** By path its number in the block + 1, 0 of all at first: to be set. */
  readonly pathNumbers: Uint32Array;
  /**
   * Writes the shapes of the rows as `writeShapes` does, `number` giving their paths numbers. Returns how many there
   * are; -1 when that is for the plain form, and what was written has no use.
   */
  writeShapes(writer: ByteWriter, number: (path: number) => void): number;
  /** The number of the shape of each row as a stream of ids: a view that is good until columns are asked for. */
  shapeIds(): Uint8Array;
  /** Some columns after the other, each to be written before the next is asked for; builders may have no values. */
  parts(): Iterable<EncodedColumns | Builder>;
  /** The number of rows of a builder among the row lists of the block, as `RowListTable` has it. */
  find(list: RowList): number;
}

/** Columns of a block as block-encoder.ts writes them; views that are good until the next part. */
export interface EncodedColumns {
  count: number;
  /** Their part of the meta. */
  meta: Uint8Array;
  /** Their regions outside of it, the first at a multiple of REGION_ALIGNMENT. */
  regions: Uint8Array;
}

/**
 * The open block: rows that were taken in and are not yet all in a block on disk, as columns.
 * Copies what it takes; owned by one thread.
 */
export class Batch implements BatchRows {
  readonly paths: PathTable;
  readonly timeMs = new Float64Array(BLOCK_ROWS_CLOSE);
  readonly receivedMs = new Float64Array(BLOCK_ROWS_CLOSE);
  /** Shape of each row. */
  readonly shapeIds = new Uint16Array(BLOCK_ROWS_CLOSE);
  readonly shapes = new ShapeTable();
  columns: Builder[] = [];
  /** Column + 1 of each leaf key; 0 when there is none. */
  #columnOf = new Int32Array(1024);
  #rowCount = 0;
  #bytes = 0;
  #textBytes = 0;
  /** Set when a row did not fit any more. */
  #isTextFull = false;

  constructor(paths: PathTable) {
    this.paths = paths;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Bytes of its values and, LEAF_BYTES each, of its leaves. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Is set when the batch takes no more rows. */
  get isFull(): boolean {
    return (
      this.#rowCount === BLOCK_ROWS_CLOSE || this.#isTextFull || this.#bytes >= BATCH_BYTES_CLOSE
    );
  }

  /**
   * Takes `rows` from row `fromRow` on until it is full: at BLOCK_ROWS_CLOSE rows, when a row's text does not fit into
   * BLOCK_TEXT_BYTES_MAX with those before, or at 64 MiB of values and leaves.
   * Returns how many rows it took; fewer than there are means that it is full.
   */
  append(rows: Rows, fromRow: number): number {
    const { shapes } = this;
    const keyCount = this.paths.count << KIND_BITS;
    if (keyCount > this.#columnOf.length) this.#columnOf = grow(this.#columnOf, keyCount);
    let row = fromRow;
    let lastShape = this.#rowCount > 0 ? this.shapeIds[this.#rowCount - 1] : -1;
    for (; row < rows.rowCount && !this.isFull; row++) {
      const entry = rows.rowEntry[row];
      const end = rows.rowEntry[row + 1];
      if (this.#textBytes > TEXT_BYTES_AMPLE && !this.#hasRoom(rows, entry, end)) {
        this.#isTextFull = true;
        break;
      }
      const at = this.#rowCount++;
      if (lastShape < 0 || !shapes.is(lastShape, rows, entry, end)) {
        lastShape = shapes.intern(rows, entry, end);
      }
      this.timeMs[at] = rows.timeMs[row];
      this.receivedMs[at] = rows.receivedMs;
      this.shapeIds[at] = lastShape;
      this.#appendLeaves(rows, entry, end, at);
    }
    return row - fromRow;
  }

  #appendLeaves(rows: Rows, entry: number, end: number, row: number): void {
    const columnOf = this.#columnOf;
    const { columns } = this;
    let textBytes = 0;
    for (let at = entry; at < end; at++) {
      const kind = rows.kind[at];
      if (kind < KIND_COLUMN_MIN) continue;
      const key = leafKey(rows.path[at], kind);
      const number = columnOf[key];
      const column = number === 0 ? this.#addColumn(key) : columns[number - 1];
      const start = rows.start[at];
      const length = rows.length[at];
      const source = start >= 0 ? rows.source : rows.side;
      const from = start >= 0 ? start : ~start;
      textBytes += length;
      if (kind === Kind.STRING || kind === Kind.ARRAY) {
        (column as StringBuilder).append(row, source, from, length);
      } else if (kind === Kind.NUMBER) {
        const builder = column as NumberBuilder;
        builder.append(row, rows.value[at], rows.detail[at], source, from, length);
      } else if (kind === Kind.DATE) {
        (column as DateBuilder).append(row, rows.value[at], rows.detail[at]);
      } else {
        (column as BooleanBuilder).append(row, length);
      }
    }
    this.#textBytes += textBytes;
    this.#bytes += textBytes + (end - entry) * LEAF_BYTES;
  }

  columnsFrom(): readonly Builder[] {
    return this.columns;
  }

  /** Checks that the text of a row fits. */
  #hasRoom(rows: Rows, entry: number, end: number): boolean {
    let textBytes = this.#textBytes;
    for (let at = entry; at < end; at++) {
      if (rows.kind[at] >= KIND_COLUMN_MIN) textBytes += rows.length[at];
    }
    return textBytes <= BLOCK_TEXT_BYTES_MAX;
  }

  #addColumn(key: number): Builder {
    const column = makeBuilder(leafPath(key), leafKind(key));
    this.columns.push(column);
    this.#columnOf[key] = this.columns.length;
    return column;
  }

  /** Forgets all rows. Columns that had no value since the last time are dropped, the others keep their memory. */
  clear(): void {
    for (const column of this.columns) {
      if (column.count === 0) this.#columnOf[leafKey(column.path, column.kind)] = 0;
    }
    this.columns = this.columns.filter((column) => column.count > 0);
    for (const [number, column] of this.columns.entries()) {
      this.#columnOf[leafKey(column.path, column.kind)] = number + 1;
      column.clear();
    }
    this.shapes.clear();
    this.#rowCount = 0;
    this.#bytes = 0;
    this.#textBytes = 0;
    this.#isTextFull = false;
  }
}
