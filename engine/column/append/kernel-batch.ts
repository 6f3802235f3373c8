import { randomBytes } from 'node:crypto';
import { copyBytes } from '../../base/bytes.ts';
import { BLOCK_ROWS_CLOSE } from '../../base/limits.ts';
import { makeKernels } from '../../kernel/kernel.ts';
import type { BatchEncoder, BatchRows, Builder, EncodedColumns } from '../batch.ts';
import { BooleanBuilder } from '../booleans.ts';
import { DateBuilder } from '../dates.ts';
import { Dictionary } from '../dictionary.ts';
import { Kind } from '../kind.ts';
import { NumberBuilder } from '../numbers.ts';
import type { PathTable } from '../path.ts';
import { copyEntries, type EntryArrays, type Rows } from '../rows.ts';
import { leafKind, leafPath, type Shapes } from '../shape.ts';
import { StringBuilder } from '../strings.ts';
import { type EncodeExports, EncodeKernel } from './encode-kernel.ts';

/** Functions and places of append.as.ts. */
interface Exports extends EncodeExports {
  appendRows(count: number, sourceFrom: number, sourceEnd: number, sideEnd: number): number;
  isBatchFull(): number;
  clearBatch(): void;
  resetBatch(): void;
  beginBatch(low: number, high: number): number;
  batchRowCount: WebAssembly.Global;
  batchBytes: WebAssembly.Global;
  columnCount: WebAssembly.Global;
  shapeCount: WebAssembly.Global;
  BATCH_SOURCE: WebAssembly.Global;
  BATCH_SOURCE_BYTES: WebAssembly.Global;
  BATCH_SIDE: WebAssembly.Global;
  BATCH_SIDE_BYTES: WebAssembly.Global;
  LEAVES: WebAssembly.Global;
  LEAF_PATH: WebAssembly.Global;
  LEAF_START: WebAssembly.Global;
  LEAF_LENGTH: WebAssembly.Global;
  LEAF_VALUE: WebAssembly.Global;
  LEAF_DETAIL: WebAssembly.Global;
  LEAF_KIND: WebAssembly.Global;
  RECORDS: WebAssembly.Global;
  RECORD_LEAF: WebAssembly.Global;
  COLUMN: WebAssembly.Global;
  COLUMN_BYTES: WebAssembly.Global;
  ROW_SHAPE: WebAssembly.Global;
  SHAPE_START: WebAssembly.Global;
  SHAPE_KEY: WebAssembly.Global;
  ARENA: WebAssembly.Global;
}

/** Fields of a column of append.as.ts, in words. */
const Field = {
  KEY: 0,
  COUNT: 1,
  ROWS: 3,
  DETAILS: 4,
  VALUES: 5,
  ENTRIES: 6,
  OFFSETS: 8,
  BYTES_AT: 12,
  PLAIN: 14,
} as const;

/** A part of the source of rows. */
interface SourceRange {
  start: number;
  end: number;
}

/** A kernel that is not in use; more are left to the collector. */
let spare: Exports | undefined;

function takeKernel(): Exports | undefined {
  if (spare !== undefined) {
    const kernel = spare;
    spare = undefined;
    return kernel;
  }
  const kernel = makeKernels() as Exports | undefined;
  if (kernel === undefined) return undefined;
  const secret = randomBytes(8);
  return kernel.beginBatch(secret.readInt32LE(0), secret.readInt32LE(4)) === 0 ? undefined : kernel;
}

/**
 * The open block in the memory of the kernel append.as.ts. What it gives is as `Batch` has it, and lies in that memory:
 * good until the next call that changes the batch. Owned by one thread.
 */
export class KernelBatch implements BatchRows {
  readonly timeMs = new Float64Array(BLOCK_ROWS_CLOSE);
  readonly receivedMs = new Float64Array(BLOCK_ROWS_CLOSE);
  readonly shapeIds: Uint16Array;
  readonly #exports: Exports;
  readonly #buffer: ArrayBuffer;
  readonly #memory: Uint8Array;
  /** The arrays of leaves in its memory. */
  readonly #leaves: EntryArrays;
  readonly #recordLeaf: Uint32Array;
  #paths: PathTable;
  readonly #encoder: EncodeKernel;
  #declines = false;
  #isBroken = false;

  private constructor(paths: PathTable, exports: Exports) {
    this.#paths = paths;
    this.#exports = exports;
    this.#encoder = new EncodeKernel(exports);
    const { buffer } = exports.memory;
    this.#buffer = buffer;
    this.#memory = new Uint8Array(buffer);
    const leaves = exports.LEAVES.value;
    this.#leaves = {
      path: new Uint32Array(buffer, exports.LEAF_PATH.value, leaves),
      start: new Int32Array(buffer, exports.LEAF_START.value, leaves),
      length: new Uint32Array(buffer, exports.LEAF_LENGTH.value, leaves),
      value: new Float64Array(buffer, exports.LEAF_VALUE.value, leaves),
      detail: new Uint16Array(buffer, exports.LEAF_DETAIL.value, leaves),
      kind: new Uint8Array(buffer, exports.LEAF_KIND.value, leaves),
    };
    this.#recordLeaf = new Uint32Array(
      buffer,
      exports.RECORD_LEAF.value,
      exports.RECORDS.value + 1,
    );
    this.shapeIds = new Uint16Array(buffer, exports.ROW_SHAPE.value, BLOCK_ROWS_CLOSE);
  }

  /** An empty batch; `undefined` where there are no kernels, or no memory for one. */
  static make(paths: PathTable): KernelBatch | undefined {
    const kernel = takeKernel();
    return kernel === undefined ? undefined : new KernelBatch(paths, kernel);
  }

  get paths(): PathTable {
    return this.#paths;
  }

  get rowCount(): number {
    return this.#exports.batchRowCount.value;
  }

  /** Bytes of its values and, 16 each, of its leaves. */
  get bytes(): number {
    return this.#exports.batchBytes.value;
  }

  /** Is set when the kernel has failed: nothing here is to be trusted, nor used again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Is set when the batch takes no more rows. */
  get isFull(): boolean {
    return this.#declines || this.#exports.isBatchFull() !== 0;
  }

  /** The shapes of its rows. */
  get shapes(): Shapes {
    const { shapeCount, SHAPE_START, SHAPE_KEY } = this.#exports;
    const count = shapeCount.value;
    const starts = new Uint32Array(this.#buffer, SHAPE_START.value, count + 1);
    return { count, starts, keys: new Uint32Array(this.#buffer, SHAPE_KEY.value, starts[count]) };
  }

  /** The columns that have values in rows from `row` on. Of many columns a small block has few. */
  columnsFrom(row: number): Builder[] {
    const { columnCount, COLUMN, COLUMN_BYTES, ARENA } = this.#exports;
    const words = COLUMN_BYTES.value / 4;
    const fields = new Uint32Array(this.#buffer, COLUMN.value, words * columnCount.value);
    const halves = new Uint16Array(this.#buffer, ARENA.value);
    const columns: Builder[] = [];
    for (let at = 0; at < fields.length; at += words) {
      const count = fields[at + Field.COUNT];
      const last = fields[at + Field.ROWS] / 2 + count - 1;
      if (count > 0 && halves[last] >= row) {
        columns.push(this.#column(fields.subarray(at, at + words)));
      }
    }
    return columns;
  }

  encode(fromRow: number, toRow: number): BatchEncoder | undefined {
    const encoder = this.#encoder;
    if (encoder.isBroken) return undefined;
    const timeMs = this.timeMs.subarray(fromRow, toRow);
    return {
      pathNumbers: encoder.begin(fromRow, timeMs, this.#paths.count),
      writeShapes: (writer, number) => encoder.writeShapes(writer, number),
      shapeIds: () => encoder.shapeIds(),
      parts: () => this.#parts(),
      find: (list) => encoder.find(list),
    };
  }

  *#parts(): Generator<EncodedColumns | Builder> {
    const { COLUMN, COLUMN_BYTES } = this.#exports;
    const words = COLUMN_BYTES.value / 4;
    for (const part of this.#encoder.parts()) {
      if (typeof part === 'number') {
        const at = COLUMN.value + part * COLUMN_BYTES.value;
        yield this.#column(new Uint32Array(this.#buffer, at, words));
      } else yield part;
    }
  }

  /**
   * Takes `rows` from row `fromRow` on until it is full, as `Batch` does; returns how many rows it took. A row whose
   * texts have no room in the memory of the kernel makes it full: without rows before it, it is for `Batch`. Throws
   * when the kernel fails.
   */
  append(rows: Rows, fromRow: number): number {
    let row = fromRow;
    while (row < rows.rowCount && !this.isFull) {
      const at = this.rowCount;
      const taken = this.#appendSome(rows, row);
      for (let of = 0; of < taken; of++) this.timeMs[at + of] = rows.timeMs[row + of];
      this.receivedMs.fill(rows.receivedMs, at, at + taken);
      row += taken;
      if (taken === 0) this.#declines = true;
    }
    return row - fromRow;
  }

  /** Takes rows from `from` on whose texts lie near to each other. */
  #appendSome(rows: Rows, from: number): number {
    const exports = this.#exports;
    const { to, sourceFrom, sourceEnd } = this.#near(rows, from);
    const { sideBytes } = rows;
    if (to === from || sideBytes > exports.BATCH_SIDE_BYTES.value) return 0;
    const first = rows.rowEntry[from];
    const end = rows.rowEntry[to];
    copyEntries(rows, first, end, this.#leaves, 0);
    for (let row = from; row <= to; row++)
      this.#recordLeaf[row - from] = rows.rowEntry[row] - first;
    copyBytes(rows.side, 0, sideBytes, this.#memory, exports.BATCH_SIDE.value);
    copyBytes(rows.source, sourceFrom, sourceEnd, this.#memory, exports.BATCH_SOURCE.value);
    try {
      return exports.appendRows(to - from, sourceFrom, sourceEnd, sideBytes);
    } catch (cause) {
      this.#isBroken = true;
      throw new Error('the kernel of the open block failed', { cause });
    }
  }

  /** Rows `[from, to)` that there is room for, and the part of the source in which their texts are. */
  #near(rows: Rows, from: number): { to: number; sourceFrom: number; sourceEnd: number } {
    const { LEAVES, RECORDS, BATCH_SOURCE_BYTES } = this.#exports;
    const leavesEnd = rows.rowEntry[from] + LEAVES.value;
    let to = Math.min(rows.rowCount, from + RECORDS.value);
    for (;;) {
      const first = nextTexts(rows, from, to, 1);
      const last = nextTexts(rows, to - 1, from - 1, -1);
      const sourceFrom = first.start;
      const sourceEnd = Math.max(first.end, last.end);
      const fits = sourceEnd - sourceFrom <= BATCH_SOURCE_BYTES.value;
      if (fits && rows.rowEntry[to] <= leavesEnd) return { to, sourceFrom, sourceEnd };
      to = from + ((to - from) >>> 1);
      if (to === from) return { to, sourceFrom: 0, sourceEnd: 0 };
    }
  }

  /** A column as a builder that is only read: its arrays are views, and nothing else is made for it. */
  #column(fields: Uint32Array): Builder {
    const key = fields[Field.KEY];
    const count = fields[Field.COUNT];
    const kind = leafKind(key);
    const at = (field: number): number => this.#exports.ARENA.value + fields[field];
    const rows = new Uint16Array(this.#buffer, at(Field.ROWS), count);
    const details = new Uint16Array(this.#buffer, at(Field.DETAILS), count);
    const common = { path: leafPath(key), kind, count, rows };
    if (kind === Kind.BOOLEAN) {
      const values = Uint8Array.from(details);
      return Object.assign(Object.create(BooleanBuilder.prototype), { ...common, values });
    }
    if (kind === Kind.STRING || kind === Kind.ARRAY) {
      const dictionary = this.#dictionary(fields);
      const strings = { entries: details, plain: fields[Field.PLAIN] !== 0, dictionary };
      return Object.assign(Object.create(StringBuilder.prototype), common, strings);
    }
    const values = new Float64Array(this.#buffer, at(Field.VALUES), count);
    if (kind === Kind.DATE) {
      return Object.assign(Object.create(DateBuilder.prototype), common, {
        values,
        forms: details,
      });
    }
    const texts = this.#dictionary(fields);
    return Object.assign(Object.create(NumberBuilder.prototype), common, {
      values,
      details,
      texts,
    });
  }

  #dictionary(fields: Uint32Array): Dictionary {
    const entryCount = fields[Field.ENTRIES];
    const arena = this.#exports.ARENA.value;
    const offsets = new Uint32Array(this.#buffer, arena + fields[Field.OFFSETS], entryCount + 1);
    const byteCount = entryCount === 0 ? 0 : offsets[entryCount];
    const bytes = new Uint8Array(this.#buffer, arena + fields[Field.BYTES_AT], byteCount);
    return Object.assign(Object.create(Dictionary.prototype), { entryCount, offsets, bytes });
  }

  /** Forgets all rows. */
  clear(): void {
    this.#declines = false;
    this.#exports.clearBatch();
  }

  /** Forgets all rows and columns, and takes another path table. */
  replacePaths(paths: PathTable): void {
    this.#declines = false;
    this.#exports.resetBatch();
    this.#paths = paths;
  }

  /** Gives its memory to the next one; it is not to be used any more. */
  release(): void {
    if (this.#isBroken) return;
    this.#exports.resetBatch();
    spare = this.#exports;
  }
}

/** The texts of the next row from `row` on that has some in the source, up to `end`; empty at 0 when none has. */
function nextTexts(rows: Rows, row: number, end: number, step: 1 | -1): SourceRange {
  for (let at = row; at !== end; at += step) {
    const texts = textsOf(rows, at);
    if (texts.end > 0) return texts;
  }
  return { start: 0, end: 0 };
}

/** The part of the source in which the texts of a row are; empty at 0 when it has none. */
function textsOf({ rowEntry, kind, start, length }: Rows, row: number): SourceRange {
  let from = Number.POSITIVE_INFINITY;
  let end = 0;
  for (let entry = rowEntry[row]; entry < rowEntry[row + 1]; entry++) {
    if (kind[entry] < Kind.NUMBER || start[entry] < 0 || length[entry] === 0) continue;
    if (start[entry] < from) from = start[entry];
    if (start[entry] + length[entry] > end) end = start[entry] + length[entry];
  }
  return end === 0 ? { start: 0, end: 0 } : { start: from, end };
}
