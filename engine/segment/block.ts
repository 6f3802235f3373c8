import { ByteReader } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { EngineError } from '../base/errors.ts';
import type { DiskFile } from '../base/file.ts';
import { readBooleans } from '../column/booleans.ts';
import { REGION_ALIGNMENT, type Region } from '../column/chunk.ts';
import type { Column, StringColumn } from '../column/column.ts';
import { decompress } from '../column/compress.ts';
import { DateChunk } from '../column/dates.ts';
import { IntegerStream } from '../column/integers.ts';
import { KIND_COLUMN_MIN, Kind } from '../column/kind.ts';
import { NumberChunk } from '../column/number-chunk.ts';
import { PresentRows } from '../column/presence.ts';
import { leafKey, leafKind, leafPath, readShapes, type Shapes } from '../column/shape.ts';
import { StringChunk, type StringEncoding } from '../column/text.ts';
import { type ColumnEntry, type Directory, readDirectory, regionsOf } from './directory.ts';
import {
  type BlockRef,
  corruption,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  FrameKind,
  readFrameHeader,
} from './frame.ts';
import { decodeText, escapeSurrogates, type Leaf, type Template, templateOf } from './rebuild.ts';

/** Bytes read at first: header, most metas, and small blocks whole. */
const FIRST_READ_BYTES = 16_384;

/** What a block has under one path and kind. */
export interface ColumnInfo {
  /** Names joined by dots: `custom.http.verb`. */
  path: string;
  /** Names from the root; a name may hold dots. */
  names: string[];
  kind: Kind;
  /** Rows that have a value, at least 1. */
  presentCount: number;
  /** Bounds of numbers, and of dates in epoch milliseconds; never narrower than the values. */
  min?: number;
  max?: number;
}

/** Bytes of a block's frame as they are needed, each region checked against its checksum before it is used. */
class FrameSource {
  readonly #source: Pick<DiskFile, 'read'>;
  readonly #ref: BlockRef;
  readonly #first: Uint8Array;
  #regionsStart = 0;

  constructor(source: Pick<DiskFile, 'read'>, ref: BlockRef) {
    this.#source = source;
    this.#ref = ref;
    this.#first = this.#read(0, Math.min(ref.bytes, FIRST_READ_BYTES));
  }

  header(): FrameHeader {
    const header = readFrameHeader(this.#first);
    const ref = this.#ref;
    if (
      header === undefined ||
      header.kind !== FrameKind.BLOCK ||
      header.segment !== ref.segment ||
      header.ordinal !== ref.ordinal ||
      header.frameBytes !== ref.bytes ||
      header.rowCount !== ref.rowCount ||
      header.firstSequence !== ref.firstSequence ||
      header.minTimeMs !== ref.minTimeMs ||
      header.maxTimeMs !== ref.maxTimeMs
    ) {
      damaged('no header of this block');
    }
    return header;
  }

  /** The meta region, uncompressed. Regions can be read after it. */
  meta(header: FrameHeader): Uint8Array {
    this.#regionsStart = regionsStartOf(header);
    const stored = this.#at(FRAME_HEADER_BYTES, header.metaBytes);
    return checkedMeta(stored, header);
  }

  region(region: Region): Uint8Array {
    if (region.inline !== undefined) return region.inline;
    const bytes = this.#at(this.#regionsStart + region.offset, region.bytes);
    if (checksum(bytes) !== region.checksum)
      damaged(`region at ${region.offset} is not as written`);
    return bytes;
  }

  #at(position: number, count: number): Uint8Array {
    if (position + count <= this.#first.length) {
      return this.#first.subarray(position, position + count);
    }
    if (position + count > this.#ref.bytes)
      damaged(`region beyond the frame, to ${position + count}`);
    return this.#read(position, count);
  }

  #read(position: number, count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    const done = this.#source.read(bytes, this.#ref.offset + position);
    if (done !== count) damaged(`the file ends after ${done} of ${count} bytes`);
    return bytes;
  }
}

function damaged(what: string): never {
  throw new EngineError('CORRUPTION', what);
}

function regionsStartOf(header: FrameHeader): number {
  const metaEnd = FRAME_HEADER_BYTES + header.metaBytes;
  return Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT;
}

function checkedMeta(stored: Uint8Array, header: FrameHeader): Uint8Array {
  if (checksum(stored) !== header.metaChecksum) damaged('meta region is not as written');
  return header.metaRawBytes === 0 ? stored : decompress(stored, header.metaRawBytes);
}

/** Runs `read`; what it finds damaged is reported with the block's place. */
function placed<T>(ref: BlockRef, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') corruption(ref, error.message);
    throw error;
  }
}

/**
 * A block that is open for reading. Reads and decodes what is asked for, once, and keeps it; everything it hands
 * out is its own and must not be written. Methods throw CORRUPTION naming the place, and what the source throws.
 */
export class Block {
  readonly ref: BlockRef;
  readonly #source: FrameSource;
  readonly #directory: Directory;
  #infos: ColumnInfo[] | undefined;
  #times: Float64Array | undefined;
  #received: IntegerStream | undefined;
  #shapes: Shapes | undefined;
  #shapeIds: IntegerStream | undefined;
  #columnOf: Map<number, number> | undefined;
  readonly #names: (string[] | undefined)[] = [];
  readonly #templates = new Map<number, Template>();
  readonly #presences: (PresentRows | undefined)[] = [];
  readonly #strings: (StringChunk | undefined)[] = [];
  readonly #numbers: (NumberChunk | undefined)[] = [];
  readonly #dates: (DateChunk | undefined)[] = [];
  readonly #columns: (Column | undefined)[] = [];

  /** For `openBlock`. */
  constructor(ref: BlockRef, source: FrameSource, directory: Directory) {
    this.ref = ref;
    this.#source = source;
    this.#directory = directory;
  }

  get rowCount(): number {
    return this.ref.rowCount;
  }

  /** What the block has, in no particular order. */
  get columns(): readonly ColumnInfo[] {
    this.#infos ??= this.#directory.columns.map((entry) => this.#info(entry));
    return this.#infos;
  }

  /** Event date of each row, epoch milliseconds. */
  timeMs(): Float64Array {
    return placed(this.ref, () => this.#timeMs());
  }

  /** Reception date of each row, epoch milliseconds. */
  receivedMs(): Float64Array {
    return placed(this.ref, () => {
      this.#received ??= this.#stream(this.#directory.received);
      return this.#received.values();
    });
  }

  /** The column number `index` of `columns`, decoded. */
  column(index: number): Column {
    const known = this.#columns[index];
    if (known !== undefined) return known;
    const column = placed(this.ref, () => this.#readColumn(index));
    this.#columns[index] = column;
    return column;
  }

  /** JSON text of what `row` has in the column number `index`; `undefined` when it has nothing. */
  valueText(index: number, row: number): string | undefined {
    return placed(this.ref, () => this.#valueText(index, row));
  }

  /** JSON text of `{custom, syslog, message}`: the event of `row` as its row record was. */
  eventText(row: number): string {
    return placed(this.ref, () => {
      const { texts, columns } = this.#template(row);
      let text = texts[0];
      for (let at = 0; at < columns.length; at++) {
        const value = this.#valueText(columns[at], row);
        if (value === undefined) damaged(`row ${row} has no value in column ${columns[at]}`);
        text += value + texts[at + 1];
      }
      return text;
    });
  }

  #info(entry: ColumnEntry): ColumnInfo {
    const names = this.#pathNames(entry.path);
    const { kind, presentCount, zone } = entry;
    return { path: names.join('.'), names, kind, presentCount, ...zone };
  }

  #pathNames(path: number): string[] {
    const known = this.#names[path];
    if (known !== undefined) return known;
    const { parents, names } = this.#directory;
    const name = names[path];
    const text = decodeText(name, 0, name.length);
    const parent = parents[path];
    const all = parent === 0 ? [text] : [...this.#pathNames(parent - 1), text];
    this.#names[path] = all;
    return all;
  }

  #stream(region: Region): IntegerStream {
    return new IntegerStream(new ByteReader(this.#source.region(region)), this.rowCount);
  }

  #timeMs(): Float64Array {
    this.#times ??= this.#stream(this.#directory.time).values();
    return this.#times;
  }

  #present(entry: ColumnEntry): PresentRows | undefined {
    if (entry.presence < 0) return undefined;
    const known = this.#presences[entry.presence];
    if (known !== undefined) return known;
    const { layout, presentCount, region } = this.#directory.presences[entry.presence];
    const reader = new ByteReader(this.#source.region(region));
    const present = PresentRows.read(reader, layout, presentCount, this.rowCount);
    this.#presences[entry.presence] = present;
    return present;
  }

  #stringChunk(index: number, entry: ColumnEntry): StringChunk {
    const known = this.#strings[index];
    if (known !== undefined) return known;
    const source = { region: (number: number) => this.#source.region(entry.regions[number]) };
    const chunk = new StringChunk(
      entry.encoding as StringEncoding,
      source,
      entry.hasSlots ? this.rowCount : entry.presentCount,
      entry.entryCount,
    );
    this.#strings[index] = chunk;
    return chunk;
  }

  #numberChunk(index: number, entry: ColumnEntry): NumberChunk {
    const known = this.#numbers[index];
    if (known !== undefined) return known;
    const chunk = new NumberChunk(this.#source.region(entry.regions[0]), entry.presentCount);
    this.#numbers[index] = chunk;
    return chunk;
  }

  #dateChunk(index: number, entry: ColumnEntry): DateChunk {
    const known = this.#dates[index];
    if (known !== undefined) return known;
    const chunk = new DateChunk(this.#source.region(entry.regions[0]), entry.presentCount);
    this.#dates[index] = chunk;
    return chunk;
  }

  #readColumn(index: number): Column {
    const entry = this.#directory.columns[index];
    const present = this.#present(entry);
    const { kind, presentCount, regions } = entry;
    if (kind === Kind.NUMBER) {
      return this.#numberChunk(index, entry).column(present, this.rowCount);
    }
    if (kind === Kind.DATE) {
      return this.#dateChunk(index, entry).column(present, this.rowCount, this.#timeMs());
    }
    if (kind === Kind.BOOLEAN) {
      return readBooleans(this.#source.region(regions[0]), presentCount, present, this.rowCount);
    }
    const stringKind = kind as StringColumn['kind'];
    return this.#stringChunk(index, entry).column(stringKind, present, this.rowCount);
  }

  #valueText(index: number, row: number): string | undefined {
    const entry = this.#directory.columns[index];
    const present = this.#present(entry);
    const rank = present === undefined ? row : present.rank(row);
    if (rank < 0) return undefined;
    const { kind } = entry;
    if (kind === Kind.NUMBER) return this.#numberChunk(index, entry).text(rank);
    if (kind === Kind.STRING || kind === Kind.ARRAY) {
      const place = this.#stringChunk(index, entry).value(rank);
      if (place === undefined) return undefined;
      const text = decodeText(place.bytes, place.start, place.end);
      return kind === Kind.STRING ? JSON.stringify(text) : escapeSurrogates(text);
    }
    if (kind === Kind.DATE) {
      return `"${this.#dateChunk(index, entry).text(rank, this.#timeMs()[row])}"`;
    }
    const column = this.column(index);
    if (column.kind !== Kind.BOOLEAN) damaged(`a column of kind ${column.kind}`);
    return (column.values[row >>> 5] >>> (row & 31)) & 1 ? 'true' : 'false';
  }

  #template(row: number): Template {
    const directory = this.#directory;
    this.#shapeIds ??= this.#stream(directory.shapeIds);
    const shape = this.#shapeIds.at(row);
    const known = this.#templates.get(shape);
    if (known !== undefined) return known;
    if (!(shape >= 0 && shape < directory.shapeCount)) damaged(`shape ${shape}`);
    const template = templateOf(this.#leaves(shape));
    this.#templates.set(shape, template);
    return template;
  }

  #leaves(shape: number): Leaf[] {
    const { shapeCount, shapes, names, columns } = this.#directory;
    this.#shapes ??= readShapes(this.#source.region(shapes), shapeCount, names.length);
    this.#columnOf ??= new Map(
      columns.map((column, index) => [leafKey(column.path, column.kind), index]),
    );
    const leaves: Leaf[] = [];
    for (let at = this.#shapes.starts[shape]; at < this.#shapes.starts[shape + 1]; at++) {
      const key = this.#shapes.keys[at];
      const kind = leafKind(key);
      const column = this.#columnOf.get(key) ?? -1;
      if (column < 0 && kind >= KIND_COLUMN_MIN) damaged(`no column for leaf ${key}`);
      leaves.push({ names: this.#pathNames(leafPath(key)), kind, column });
    }
    return leaves;
  }
}

/**
 * Opens the block at `ref`: reads its header and meta; the rest when it is asked for. Throws CORRUPTION naming the
 * place when they are not what was written there, and what `source` throws.
 */
export function openBlock(source: Pick<DiskFile, 'read'>, ref: BlockRef): Block {
  return placed(ref, () => {
    const frame = new FrameSource(source, ref);
    const header = frame.header();
    return new Block(ref, frame, readDirectory(frame.meta(header), ref.rowCount));
  });
}

/** Whether `frame` holds a whole block frame whose header, meta and regions are what was written. */
export function verifyBlock(frame: Uint8Array): boolean {
  const header = readFrameHeader(frame);
  if (header === undefined || header.kind !== FrameKind.BLOCK) return false;
  if (header.frameBytes > frame.length) return false;
  try {
    const stored = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + header.metaBytes);
    const directory = readDirectory(checkedMeta(stored, header), header.rowCount);
    const start = regionsStartOf(header);
    if (start + directory.regionBytes > header.frameBytes) return false;
    return regionsOf(directory).every((region) => {
      if (region.inline !== undefined) return true;
      const from = start + region.offset;
      return checksum(frame, from, from + region.bytes) === region.checksum;
    });
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return false;
    throw error;
  }
}
