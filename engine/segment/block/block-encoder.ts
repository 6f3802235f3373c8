import { assert, unreachable } from '../../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import type {
  BatchEncoder,
  BatchRows,
  Builder,
  EncodedColumns,
  RowList,
} from '../../column/batch.ts';
import { type BooleanBuilder, writeBooleans } from '../../column/booleans.ts';
import { REGION_ALIGNMENT, RegionWriter, writeInline, type Zone } from '../../column/chunk.ts';
import { type DateBuilder, writeDates } from '../../column/dates.ts';
import type { Entries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { writeOrderedShapes } from '../../column/leaf-order.ts';
import { writeNumbers } from '../../column/number-chunk.ts';
import type { NumberBuilder } from '../../column/numbers.ts';
import type { PathTable } from '../../column/path.ts';
import { PresenceLayout, presenceLayout, writePresence } from '../../column/presence.ts';
import { ORDERED_SHAPES, type Shapes, writeShapes } from '../../column/shape.ts';
import type { StringBuilder } from '../../column/strings.ts';
import {
  StringEncoding,
  stringEncoding,
  usedEntries,
  writeConstantString,
  writeDictionary,
  writeLengthsOf,
  writeText,
  writeTextOf,
} from '../../column/text.ts';
import type { RowsText } from '../../derive/row-texts.ts';
import { writeTemplates } from '../../derive/template.ts';
import type { DerivedParts } from '../../derive/text-deriver.ts';
import { writePacked } from '../../packed/compress.ts';
import { free } from '../../packed/growth.ts';
import { idsToWrite, writeIds } from '../../packed/integers.ts';
import type { EncodedBlock } from '../frame.ts';
import { type FrameParts, layFrame, layParts } from '../frame-layout.ts';
import { BlockPaths, blockShapes } from './block-paths.ts';
import { ColumnPresence, columnHead, ZoneForm } from './column-entry.ts';
import { NO_COLUMNS } from './directory.ts';
import type { RowKeys } from './keys/present-writers.ts';
import { writeRowKeys } from './keys/row-keys.ts';
import { writeRowMarks } from './keys/row-marks.ts';
import { OverflowWriter } from './overflow-writer.ts';
import { RowListTable } from './row-list.ts';
import { type Run, writeRuns } from './runs.ts';

/** The values of a column that go into a block, and the rows they lie in. */
interface Range {
  builder: Builder;
  from: number;
  to: number;
}

/** Parts that all rows of a block have. The arrays are by row of the block. */
export interface BlockRows {
  timeMs: Float64Array;
  receivedMs: Float64Array;
  /** Numbers of `shapes`, whose leaves are over the table of paths. */
  shapeIds: Uint16Array | Uint32Array;
  shapes: Shapes;
  /** Of a sealed block. */
  keys?: RowKeys;
  /** Of a batch that encodes parts of the block itself. */
  encoder?: BatchEncoder | undefined;
}

/** Ids of a column of strings in a block: an entry + 1 of the segment dictionary number `dictionary` each. */
export interface SharedIds {
  path: number;
  kind: typeof Kind.STRING | typeof Kind.ARRAY;
  dictionary: number;
  /** Rows that have a value. */
  list: RowList;
  /** One a value. */
  ids: Uint32Array;
}

const NO_MARKS = new Uint8Array(0);

/** Facts about a block's rows in its header. */
type BlockFacts = Pick<EncodedBlock, 'rowCount' | 'minTimeMs' | 'maxTimeMs'>;

function factsOf(timeMs: Float64Array): BlockFacts {
  let minTimeMs = timeMs[0];
  let maxTimeMs = timeMs[0];
  for (let row = 1; row < timeMs.length; row++) {
    minTimeMs = Math.min(minTimeMs, timeMs[row]);
    maxTimeMs = Math.max(maxTimeMs, timeMs[row]);
  }
  return { rowCount: timeMs.length, minTimeMs, maxTimeMs };
}

/** Encodes one block: what all rows have, then column by column. Source: FORMAT.md 4. */
export class BlockEncoder {
  readonly #timeMs: Float64Array;
  readonly #firstRow: number;
  readonly #facts: BlockFacts;
  readonly #rowCount: number;
  readonly #out: RegionWriter;
  readonly #paths: BlockPaths;
  readonly #presences: Pick<BatchEncoder, 'find'>;
  readonly #rowsBytes: number;
  /** Marks of the rows; none of a few. */
  #marks = NO_MARKS;
  #columnCount = 0;

  /**
   * Row `firstRow` of the columns' builders is row 0 of the block. `rows.timeMs` must not change until the last column
   * of dates is written. `out` is empty, and the encoder's until `finish`.
   */
  constructor(paths: PathTable, rows: BlockRows, firstRow: number, out: RegionWriter) {
    this.#out = out;
    this.#timeMs = rows.timeMs;
    this.#firstRow = firstRow;
    this.#rowCount = rows.timeMs.length;
    this.#facts = factsOf(rows.timeMs);
    this.#paths = new BlockPaths(paths, out.paths, rows.encoder?.pathNumbers);
    this.#presences = rows.encoder ?? new RowListTable();
    assert(this.#rowCount > 0 && this.#rowCount <= BLOCK_ROWS_MAX, 'rows fit in a block');
    this.#writeRows(rows);
    this.#rowsBytes = this.#out.meta.length;
  }

  #writeRows(rows: BlockRows): void {
    const out = this.#out;
    const { timeMs, receivedMs, keys } = rows;
    out.integers(out.region, timeMs, this.#rowCount, 'values');
    out.end();
    out.integers(out.region, receivedMs, this.#rowCount, 'values');
    out.end();
    if (!this.#takeShapes(rows.encoder)) {
      const { shapes, ids } = blockShapes(rows.shapes, rows.shapeIds, this.#paths);
      this.#writeShapes(shapes);
      out.integers(out.region, ids, this.#rowCount, 'ids');
      free(ids, shapes.starts, shapes.keys);
      out.end();
    }
    if (keys === undefined) return;
    writeRowKeys(out.region, keys);
    out.end();
    writeRowMarks(out.region, timeMs, keys);
    this.#marks = out.region.bytes().slice();
    out.region.reset();
  }

  /** Adds the shapes, and the shape of each row, that the batch encodes; false when it does not. */
  #takeShapes(encoder: BatchEncoder | undefined): boolean {
    const out = this.#out;
    out.packed.reset();
    const count = encoder?.writeShapes(out.packed, (path) => this.#paths.number(path)) ?? -1;
    if (encoder === undefined || count < 0) return false;
    out.meta.varint(count);
    writePacked(out.region, out.packed.bytes(), out.compressor());
    out.end();
    out.add(encoder.shapeIds());
    return true;
  }

  /** Writes the shapes: in a sealed segment by an order of their leaves. */
  #writeShapes(shapes: Shapes): void {
    const out = this.#out;
    out.meta.varint(shapes.count);
    out.packed.reset();
    if (out.isCold) {
      out.region.varint(ORDERED_SHAPES);
      writeOrderedShapes(out.packed, shapes);
    } else writeShapes(out.packed, shapes);
    writePacked(out.region, out.packed.bytes(), out.compressor());
    out.end();
  }

  /** Adds the columns that have values in the rows `[fromRow, toRow)` of a batch. */
  writeColumns(columns: Iterable<EncodedColumns | Builder>, fromRow: number, toRow: number): void {
    for (const part of columns) {
      if ('regions' in part) {
        this.#addEncoded(part);
        continue;
      }
      if (part.count === 0 || part.rows[part.count - 1] < fromRow) continue;
      const from = part.valuesBefore(fromRow);
      const to = part.valuesBefore(toRow);
      if (from < to) this.writeColumn(part, from, to);
    }
  }

  #addEncoded(columns: EncodedColumns): void {
    const { meta, regions } = this.#out;
    meta.raw(columns.meta);
    if (columns.regions.length > 0) regions.pad(REGION_ALIGNMENT);
    regions.raw(columns.regions);
    this.#columnCount += columns.count;
  }

  /** Adds the values `[from, to)` of a column, at least one; returns the zone of numbers and dates. */
  writeColumn(builder: Builder, from: number, to: number): Zone | undefined {
    const range = { builder, from, to };
    this.#begin(builder.path);
    switch (builder.kind) {
      case Kind.STRING:
      case Kind.ARRAY:
        this.#writeStrings(range, builder as StringBuilder);
        return undefined;
      case Kind.NUMBER:
        this.#writeHead(range);
        return this.#endZoned(this.#writeNumbers(builder as NumberBuilder, from, to));
      case Kind.DATE:
        this.#writeHead(range);
        return this.#endZoned(this.#writeDates(builder as DateBuilder, from, to));
      case Kind.BOOLEAN:
        this.#writeHead(range);
        writeBooleans(this.#out.region, builder as BooleanBuilder, from, to);
        this.#out.end();
        return undefined;
      case Kind.NULL:
      case Kind.OBJECT:
        throw new Error(`assertion failed: a column of kind ${builder.kind}`);
      default:
        return unreachable(builder.kind);
    }
  }

  #writeNumbers(builder: NumberBuilder, from: number, to: number): Zone {
    const { region, integers } = this.#out;
    return writeNumbers(region, builder, from, to, integers);
  }

  #writeDates(builder: DateBuilder, from: number, to: number): Zone {
    const { region, integers } = this.#out;
    return writeDates(region, builder, from, to, this.#timeMs, this.#firstRow, integers);
  }

  /** Adds a column of strings as text: a value for each of `rows`. */
  writeText(
    { path, kind }: Pick<SharedIds, 'path' | 'kind'>,
    rows: Uint16Array,
    text: Entries,
  ): void {
    this.#begin(path);
    this.#out.meta.u8(columnHead(kind, StringEncoding.TEXT));
    this.#writePresence({ rows, from: 0, to: rows.length });
    writeTextOf(this.#out, text);
  }

  /** Adds a column of strings as what they are derived of: a value for each of `rows`. */
  writeDerived(
    { path, kind }: Pick<SharedIds, 'path' | 'kind'>,
    text: RowsText,
    { templates, numbers, own }: DerivedParts,
  ): void {
    const out = this.#out;
    const { rows } = text;
    this.#begin(path);
    out.meta.u8(columnHead(kind, StringEncoding.DERIVED));
    this.#writePresence({ rows, from: 0, to: rows.length });
    writeLengthsOf(out, text);
    const compress = out.compressor();
    out.packed.reset();
    writeTemplates(out.packed, templates);
    writePacked(out.region, out.packed.bytes(), out.compressor());
    out.end();
    idsToWrite(numbers.length).set(numbers);
    writeIds(out.region, numbers.length);
    out.end();
    for (const piece of own) {
      writePacked(out.region, piece, compress);
      out.end();
    }
  }

  /** Adds a column of strings whose entries are in a dictionary of the segment. */
  writeShared(column: SharedIds): void {
    const { ids, list, dictionary } = column;
    const out = this.#out;
    const count = list.to - list.from;
    this.#begin(column.path);
    out.meta.u8(columnHead(column.kind, StringEncoding.SHARED));
    const hasSlots = this.#hasSlots(count);
    if (hasSlots) {
      out.meta.varint(ColumnPresence.IN_IDS);
      out.meta.varint(count);
    } else {
      this.#writePresence(list);
    }
    out.meta.varint(dictionary);
    // No list of the block's own.
    out.meta.varint(0);
    out.end();
    const storedCount = hasSlots ? this.#rowCount : count;
    const stored = idsToWrite(storedCount);
    if (hasSlots) {
      stored.fill(0, 0, storedCount);
      for (let index = 0; index < count; index++) {
        stored[list.rows[list.from + index] - this.#firstRow] = ids[index];
      }
    } else stored.set(ids);
    writeIds(out.region, storedCount);
    out.endIds();
  }

  /** Begins an overflow map, which is behind all columns: nothing else is added until it is finished. */
  overflow(): OverflowWriter {
    return new OverflowWriter(this.#out);
  }

  /** Leaf key of a kind at `path`, as overflow maps have it; -1 when the block does not have the path. */
  leafKey(path: number, kind: Kind): number {
    return this.#paths.leafKey(path, kind);
  }

  /** The whole block, which begins with the rows of `runs`. The frame is the caller's, its header is still zero. */
  finish(runs: readonly Run[]): EncodedBlock {
    const meta = this.#meta(runs);
    return { ...layFrame(meta, this.#out.regions.parts()), runs, ...this.#facts };
  }

  /** The whole block, which repeats no rows, in parts. The regions are those of `out`. */
  parts(): FrameParts & BlockFacts {
    return { ...layParts(this.#meta([]), this.#out.regions.parts()), ...this.#facts };
  }

  /** The meta, in memory that `out` uses for columns again. */
  #meta(runs: readonly Run[]): Uint8Array {
    const out = this.#out;
    const meta = out.packed;
    meta.reset();
    if (runs.length > 0) writeRuns(meta, runs);
    meta.varint(this.#paths.count);
    meta.raw(this.#paths.bytes());
    const written = out.meta.bytes();
    meta.raw(written.subarray(0, this.#rowsBytes));
    meta.varint(this.#columnCount);
    meta.raw(written.subarray(this.#rowsBytes));
    if (this.#marks.length > 0) {
      meta.varint(NO_COLUMNS);
      writeInline(meta, this.#marks);
    }
    return meta.bytes();
  }

  #begin(path: number): void {
    this.#columnCount++;
    this.#out.meta.varint(this.#paths.number(path));
  }

  #writeStrings(range: Range, builder: StringBuilder): void {
    const { from, to } = range;
    const out = this.#out;
    // Two entries that differ are enough to say so: nothing else about them matters.
    if (builder.plain && builder.entries[from] !== builder.entries[to - 1]) {
      out.meta.u8(columnHead(builder.kind, StringEncoding.TEXT));
      this.#writePresence({ rows: builder.rows, from, to });
      writeText(out, builder, from, to);
      return;
    }
    const used = usedEntries(builder, from, to);
    const encoding = stringEncoding(builder, used, to - from);
    out.meta.u8(columnHead(builder.kind, encoding));
    if (encoding === StringEncoding.DICTIONARY && this.#hasSlots(to - from)) {
      out.meta.varint(ColumnPresence.IN_IDS);
      out.meta.varint(to - from);
      const slots = { firstRow: this.#firstRow, rowCount: this.#rowCount };
      writeDictionary(out, builder, used, from, to, slots);
      return;
    }
    this.#writePresence({ rows: builder.rows, from, to });
    if (encoding === StringEncoding.CONSTANT) writeConstantString(out, builder, used.entries[0]);
    else if (encoding === StringEncoding.DICTIONARY) {
      writeDictionary(out, builder, used, from, to, undefined);
    } else writeText(out, builder, from, to);
  }

  /** True when a dictionary has an id for each row: some rows have no value, but not most. */
  #hasSlots(count: number): boolean {
    return (
      count < this.#rowCount && presenceLayout(count, this.#rowCount) === PresenceLayout.BITMAP
    );
  }

  /** Kind and presence of a column that has one encoding. */
  #writeHead(range: Range): void {
    this.#out.meta.u8(columnHead(range.builder.kind, 0));
    this.#writePresence({ rows: range.builder.rows, from: range.from, to: range.to });
  }

  /** Ends a region of numbers or dates; their zone stands before it. */
  #endZoned(zone: Zone): Zone {
    const { meta } = this.#out;
    const isPoint = zone.min === zone.max;
    meta.u8(isPoint ? ZoneForm.POINT : ZoneForm.RANGE);
    meta.f64(zone.min);
    if (!isPoint) meta.f64(zone.max);
    this.#out.end();
    return zone;
  }

  #writePresence(list: RowList): void {
    const { rows, from, to } = list;
    const { meta, region } = this.#out;
    const rowCount = this.#rowCount;
    if (to - from === rowCount) {
      meta.varint(ColumnPresence.ALL);
      return;
    }
    const known = this.#presences.find(list);
    if (known >= 0) {
      meta.varint(ColumnPresence.KNOWN + known);
      return;
    }
    const layout = presenceLayout(to - from, rowCount);
    meta.varint(ColumnPresence.NEW);
    meta.u8(layout);
    meta.varint(to - from);
    writePresence(region, layout, rows, from, to, this.#firstRow, rowCount);
    this.#out.end();
  }
}

/**
 * Encodes the rows `[fromRow, toRow)` of a batch as a block; `runs` are those of them that earlier blocks have, from
 * `fromRow` on. The frame is the caller's, its header is still zero. The batch is only read. At least one row. `out` is
 * emptied and written over.
 * Source: FORMAT.md 4.
 */
export function encodeBlock(
  batch: BatchRows,
  fromRow: number,
  toRow: number,
  runs: readonly Run[] = [],
  out = new RegionWriter(),
): EncodedBlock {
  assert(fromRow >= 0 && fromRow < toRow && toRow <= batch.rowCount, 'a block has rows');
  const own = batch.encode?.(fromRow, toRow);
  const rows = {
    encoder: own,
    timeMs: batch.timeMs.subarray(fromRow, toRow),
    receivedMs: batch.receivedMs.subarray(fromRow, toRow),
    shapeIds: batch.shapeIds.subarray(fromRow, toRow),
    shapes: batch.shapes,
  };
  out.reset();
  const encoder = new BlockEncoder(batch.paths, rows, fromRow, out);
  encoder.writeColumns(own?.parts() ?? batch.columnsFrom(fromRow), fromRow, toRow);
  return encoder.finish(runs);
}
