import { assert, unreachable } from '../base/assert.ts';
import { ByteWriter } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import type { Batch, Builder } from '../column/batch.ts';
import { type BooleanBuilder, writeBooleans } from '../column/booleans.ts';
import { REGION_ALIGNMENT, RegionWriter } from '../column/chunk.ts';
import { compress } from '../column/compress.ts';
import { type DateBuilder, writeDates } from '../column/dates.ts';
import { writeIntegers } from '../column/integers.ts';
import { Kind } from '../column/kind.ts';
import { writeNumbers } from '../column/number-chunk.ts';
import type { NumberBuilder } from '../column/numbers.ts';
import { PATH_ROOT } from '../column/path.ts';
import { PresenceLayout, presenceLayout, writePresence } from '../column/presence.ts';
import { leafKey, leafKind, leafPath, type Shapes, writeShapes } from '../column/shape.ts';
import type { StringBuilder } from '../column/strings.ts';
import {
  StringEncoding,
  stringEncoding,
  usedEntries,
  writeConstantString,
  writeDictionary,
  writeText,
} from '../column/text.ts';
import type { Zone } from '../column/zone.ts';
import { ColumnPresence, columnHead, ZoneForm } from './directory.ts';
import { alignFrame, type EncodedBlock, FRAME_HEADER_BYTES } from './frame.ts';

/** The values of a column that go into a block, and the rows they lie in. */
interface Range {
  builder: Builder;
  from: number;
  to: number;
}

/** Row lists that columns of the block share, found by a cheap hash and compared. */
class PresenceTable {
  readonly #ranges: Range[] = [];
  readonly #numbers = new Map<number, number[]>();

  /** The number of a list of the same rows; -1 when it is new, and then it gets the next number. */
  find(range: Range): number {
    const { builder, from, to } = range;
    const middle = (from + to) >>> 1;
    const hash =
      (to - from) * 2 ** 32 +
      ((builder.rows[from] ^ (builder.rows[to - 1] << 8)) >>> 0) +
      builder.rows[middle];
    const candidates = this.#numbers.get(hash);
    for (const number of candidates ?? []) if (sameRows(this.#ranges[number], range)) return number;
    if (candidates === undefined) this.#numbers.set(hash, [this.#ranges.length]);
    else candidates.push(this.#ranges.length);
    this.#ranges.push(range);
    return -1;
  }
}

function sameRows(left: Range, right: Range): boolean {
  const count = left.to - left.from;
  if (right.to - right.from !== count) return false;
  const leftRows = left.builder.rows;
  const rightRows = right.builder.rows;
  for (let index = 0; index < count; index++) {
    if (leftRows[left.from + index] !== rightRows[right.from + index]) return false;
  }
  return true;
}

/** Numbers of the batch's paths in the block: only those in use, each after its parent. */
class BlockPaths {
  readonly #batch: Batch;
  readonly #numbers: Uint32Array;
  readonly #writer = new ByteWriter(1024);
  count = 0;

  constructor(batch: Batch) {
    this.#batch = batch;
    this.#numbers = new Uint32Array(batch.paths.count);
  }

  /** The block's number of `path`, from 0. The root has none. */
  number(path: number): number {
    if (this.#numbers[path] === 0) this.#add(path);
    return this.#numbers[path] - 1;
  }

  #add(path: number): void {
    const { paths } = this.#batch;
    assert(path !== PATH_ROOT, 'the root is no leaf');
    const parent = paths.parent(path);
    const parentNumber = parent === PATH_ROOT ? 0 : this.number(parent) + 1;
    this.#writer.varint(parentNumber);
    this.#writer.blob(paths.name(path));
    this.count++;
    this.#numbers[path] = this.count;
  }

  bytes(): Uint8Array {
    return this.#writer.bytes();
  }
}

/** The shapes that rows of the batch have, renumbered; `ids` is by row of the block. */
function blockShapes(
  batch: Batch,
  fromRow: number,
  toRow: number,
  paths: BlockPaths,
): { shapes: Shapes; ids: Float64Array } {
  const { shapes, shapeIds } = batch;
  const numbers = new Int32Array(shapes.count);
  const ids = new Float64Array(toRow - fromRow);
  const used: number[] = [];
  let leafCount = 0;
  for (let row = fromRow; row < toRow; row++) {
    const shape = shapeIds[row];
    if (numbers[shape] === 0) {
      used.push(shape);
      numbers[shape] = used.length;
      leafCount += shapes.starts[shape + 1] - shapes.starts[shape];
    }
    ids[row - fromRow] = numbers[shape] - 1;
  }
  const starts = new Uint32Array(used.length + 1);
  const keys = new Uint32Array(leafCount);
  let at = 0;
  for (const [number, shape] of used.entries()) {
    for (let leaf = shapes.starts[shape]; leaf < shapes.starts[shape + 1]; leaf++) {
      const key = shapes.keys[leaf];
      keys[at++] = leafKey(paths.number(leafPath(key)), leafKind(key));
    }
    starts[number + 1] = at;
  }
  return { shapes: { count: used.length, starts, keys }, ids };
}

class BlockEncoder {
  readonly #batch: Batch;
  readonly #fromRow: number;
  readonly #toRow: number;
  readonly #out = new RegionWriter();
  readonly #paths: BlockPaths;
  readonly #presences = new PresenceTable();

  constructor(batch: Batch, fromRow: number, toRow: number) {
    this.#batch = batch;
    this.#fromRow = fromRow;
    this.#toRow = toRow;
    this.#paths = new BlockPaths(batch);
  }

  get #rowCount(): number {
    return this.#toRow - this.#fromRow;
  }

  encode(firstSequence: number): EncodedBlock {
    const batch = this.#batch;
    const out = this.#out;
    const timeMs = batch.timeMs.subarray(this.#fromRow, this.#toRow);
    writeIntegers(out.region, timeMs, this.#rowCount, 'values');
    out.end();
    const receivedMs = batch.receivedMs.subarray(this.#fromRow, this.#toRow);
    writeIntegers(out.region, receivedMs, this.#rowCount, 'values');
    out.end();
    const { shapes, ids } = blockShapes(batch, this.#fromRow, this.#toRow, this.#paths);
    out.meta.varint(shapes.count);
    writeShapes(out.region, new ByteWriter(1024), shapes);
    out.end();
    writeIntegers(out.region, ids, this.#rowCount, 'ids');
    out.end();
    const ranges = this.#ranges();
    out.meta.varint(ranges.length);
    for (const range of ranges) this.#writeColumn(range);
    const meta = new ByteWriter(1024);
    meta.varint(this.#paths.count);
    meta.raw(this.#paths.bytes());
    meta.raw(out.meta.bytes());
    let minTimeMs = timeMs[0];
    let maxTimeMs = timeMs[0];
    for (let row = 1; row < timeMs.length; row++) {
      minTimeMs = Math.min(minTimeMs, timeMs[row]);
      maxTimeMs = Math.max(maxTimeMs, timeMs[row]);
    }
    return {
      ...frameOf(meta.bytes(), out.regions.bytes()),
      rowCount: this.#rowCount,
      firstSequence,
      minTimeMs,
      maxTimeMs,
    };
  }

  /** The columns that have values in the rows of the block. */
  #ranges(): Range[] {
    const ranges: Range[] = [];
    for (const builder of this.#batch.columns) {
      if (builder.count === 0 || builder.rows[builder.count - 1] < this.#fromRow) continue;
      const from = builder.valuesBefore(this.#fromRow);
      const to = builder.valuesBefore(this.#toRow);
      if (from < to) ranges.push({ builder, from, to });
    }
    return ranges;
  }

  #writeColumn(range: Range): void {
    const { builder } = range;
    this.#out.meta.varint(this.#paths.number(builder.path));
    switch (builder.kind) {
      case Kind.STRING:
      case Kind.ARRAY:
        this.#writeStrings(range, builder as StringBuilder);
        break;
      case Kind.NUMBER: {
        this.#writeHead(range);
        const { from, to } = range;
        this.#endZoned(writeNumbers(this.#out.region, builder as NumberBuilder, from, to));
        break;
      }
      case Kind.DATE: {
        this.#writeHead(range);
        const { from, to } = range;
        const { timeMs } = this.#batch;
        this.#endZoned(writeDates(this.#out.region, builder as DateBuilder, from, to, timeMs));
        break;
      }
      case Kind.BOOLEAN:
        this.#writeHead(range);
        writeBooleans(this.#out.region, builder as BooleanBuilder, range.from, range.to);
        this.#out.end();
        break;
      case Kind.NULL:
      case Kind.OBJECT:
        throw new Error(`assertion failed: a column of kind ${builder.kind}`);
      default:
        unreachable(builder.kind);
    }
  }

  #writeStrings(range: Range, builder: StringBuilder): void {
    const { from, to } = range;
    const out = this.#out;
    const used = usedEntries(builder, from, to);
    const encoding = stringEncoding(builder, used, to - from);
    out.meta.u8(columnHead(builder.kind, encoding));
    if (encoding === StringEncoding.DICTIONARY && this.#hasSlots(range)) {
      out.meta.varint(ColumnPresence.IN_IDS);
      out.meta.varint(to - from);
      const slots = { firstRow: this.#fromRow, rowCount: this.#rowCount };
      writeDictionary(out, builder, used, from, to, slots);
      return;
    }
    this.#writePresence(range);
    if (encoding === StringEncoding.CONSTANT) writeConstantString(out, builder, used.entries[0]);
    else if (encoding === StringEncoding.DICTIONARY) {
      writeDictionary(out, builder, used, from, to, undefined);
    } else writeText(out, builder, from, to);
  }

  /** Whether a dictionary has an id for each row: some rows have no value, but not most. */
  #hasSlots(range: Range): boolean {
    const count = range.to - range.from;
    return (
      count < this.#rowCount && presenceLayout(count, this.#rowCount) === PresenceLayout.BITMAP
    );
  }

  /** Kind and presence of a column that has one encoding. */
  #writeHead(range: Range): void {
    this.#out.meta.u8(columnHead(range.builder.kind, 0));
    this.#writePresence(range);
  }

  /** Ends a region of numbers or dates; their zone stands before it. */
  #endZoned(zone: Zone): void {
    const { meta } = this.#out;
    const isPoint = zone.min === zone.max;
    meta.u8(isPoint ? ZoneForm.POINT : ZoneForm.RANGE);
    meta.f64(zone.min);
    if (!isPoint) meta.f64(zone.max);
    this.#out.end();
  }

  #writePresence(range: Range): void {
    const { builder, from, to } = range;
    const { meta, region } = this.#out;
    const rowCount = this.#rowCount;
    if (to - from === rowCount) {
      meta.varint(ColumnPresence.ALL);
      return;
    }
    const known = this.#presences.find(range);
    if (known >= 0) {
      meta.varint(ColumnPresence.KNOWN + known);
      return;
    }
    const layout = presenceLayout(to - from, rowCount);
    meta.varint(ColumnPresence.NEW);
    meta.u8(layout);
    meta.varint(to - from);
    writePresence(region, layout, builder.rows, from, to, this.#fromRow, rowCount);
    this.#out.end();
  }
}

/** Puts meta and regions into a whole frame, its header left zero. */
function frameOf(
  rawMeta: Uint8Array,
  regions: Uint8Array,
): Pick<EncodedBlock, 'bytes' | 'metaBytes' | 'metaRawBytes' | 'metaChecksum'> {
  const packed = compress(rawMeta);
  const meta = packed ?? rawMeta;
  const metaEnd = FRAME_HEADER_BYTES + meta.length;
  const regionsStart = Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT;
  const bytes = new Uint8Array(alignFrame(regionsStart + regions.length));
  bytes.set(meta, FRAME_HEADER_BYTES);
  bytes.set(regions, regionsStart);
  return {
    bytes,
    metaBytes: meta.length,
    metaRawBytes: packed === undefined ? 0 : rawMeta.length,
    metaChecksum: checksum(meta),
  };
}

/**
 * Encodes the rows `[fromRow, toRow)` of a batch as a block; row `fromRow` gets `firstSequence`. The frame is the
 * caller's, its header is still zero. The batch is only read. At least one row. Source: FORMAT.md 4.
 */
export function encodeBlock(
  batch: Batch,
  fromRow: number,
  toRow: number,
  firstSequence: number,
): EncodedBlock {
  assert(fromRow >= 0 && fromRow < toRow && toRow <= batch.rowCount, `rows ${fromRow} to ${toRow}`);
  assert(toRow - fromRow <= BLOCK_ROWS_MAX, 'rows fit in a block');
  return new BlockEncoder(batch, fromRow, toRow).encode(firstSequence);
}
