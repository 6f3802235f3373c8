import { checksum } from '../base/checksum.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { damaged } from '../base/errors.ts';
import { type Region, RegionWriter } from '../column/chunk.ts';
import type { PathTable } from '../column/path.ts';
import { writeIntegers } from '../packed/integers.ts';
import { BlockPaths } from './block/block-paths.ts';
import type { BlockColumns, ColumnOutline, OutlineTable } from './column-outline.ts';
import { type BlockRef, FRAME_ALIGNMENT } from './frame.ts';
import type { WriterSequence } from './sealed.ts';

/** Bytes of the trailer, the last ones of a sealed file. */
export const TRAILER_BYTES = 32;
/** `LSFT`, the first four bytes of a trailer. */
const TRAILER_MAGIC = 0x5446534c;
const CHECKSUM_AT = TRAILER_BYTES - 4;
/** Memory of a footer besides its lists. */
const FOOTER_MEMORY_BYTES = 1_000;
/** Memory of the place of a frame, of a block's, and of a minute. */
const PLACE_MEMORY_BYTES = 64;
const BLOCK_MEMORY_BYTES = 160;
const MINUTE_MEMORY_BYTES = 16;

/** Where a frame of a sealed file is, and by what it is known. */
export interface FramePlace {
  offset: number;
  bytes: number;
  ordinal: number;
}

/** Rows of a minute; minutes without rows are left out. */
export interface MinuteRows {
  count: number;
  /** Minutes since 1970-01-01 UTC, ascending. */
  minutes: Float64Array;
  /** Rows of the segment before each minute. */
  rowsBefore: Float64Array;
}

/** A frame with words of a column. */
export interface WordPlace extends FramePlace {
  /** Number of the column in the footer. */
  column: number;
}

/** Contents of the footer of a sealed segment. */
export interface Footer {
  rowCount: number;
  minTimeMs: number;
  maxTimeMs: number;
  sequences: WriterSequence[];
  blocks: BlockRef[];
  minutes: MinuteRows;
  dictionaries: FramePlace[];
  /** All columns of the segment; `undefined` when it does not name them all. */
  columns: OutlineTable | undefined;
  /** Of a column one after the other in the order of its parts. */
  words: WordPlace[];
}

/** A footer before it is written: the paths of its columns are numbers of a table. */
export interface FooterParts extends Omit<Footer, 'columns'> {
  paths: PathTable;
  columns: ColumnOutline[];
  /** True when all columns of the segment are in `columns`. */
  isComplete: boolean;
}

/** The bytes of a footer: its meta, and the checked ones of each region. */
export interface FooterBytes {
  meta: Uint8Array;
  /** Throws CORRUPTION. */
  region: (region: Region) => Uint8Array;
}

/** Counts the rows of minutes. */
export class MinuteCounter {
  readonly #minutes: number[] = [];
  readonly #rowsBefore: number[] = [];
  #rowCount = 0;

  /** Adds rows with ascending times, all of them not below those before. */
  add(timeMs: Float64Array): void {
    const last = this.#minutes.at(-1);
    let endMs = last === undefined ? Number.NEGATIVE_INFINITY : (last + 1) * MINUTE_MS;
    for (let row = 0; row < timeMs.length; row++) {
      if (timeMs[row] < endMs) continue;
      const minute = Math.floor(timeMs[row] / MINUTE_MS);
      this.#minutes.push(minute);
      this.#rowsBefore.push(this.#rowCount + row);
      endMs = (minute + 1) * MINUTE_MS;
    }
    this.#rowCount += timeMs.length;
  }

  minuteRows(): MinuteRows {
    return {
      count: this.#minutes.length,
      minutes: Float64Array.from(this.#minutes),
      rowsBefore: Float64Array.from(this.#rowsBefore),
    };
  }
}

function writeStream(out: RegionWriter, values: Float64Array): void {
  writeIntegers(out.region, values, values.length, 'values');
  out.end();
}

function writePlace(out: RegionWriter, place: FramePlace): void {
  out.meta.varint(place.offset / FRAME_ALIGNMENT);
  out.meta.varint(place.bytes / FRAME_ALIGNMENT);
  out.meta.varint(place.ordinal);
}

function writeOutline(out: RegionWriter, column: ColumnOutline, paths: BlockPaths): void {
  out.meta.varint(paths.number(column.path));
  out.meta.u8(column.kind);
  out.meta.varint(column.dictionary + 1);
  writeStream(out, column.presentCounts);
  if (column.mins !== undefined && column.maxs !== undefined) {
    writeStream(out, column.mins);
    writeStream(out, column.maxs);
  }
}

/** Writes a footer: `meta` and `regions` of its frame. Source: FORMAT.md 10.6. */
export function writeFooter(footer: FooterParts): {
  meta: Uint8Array;
  regions: readonly Uint8Array[];
} {
  const out = new RegionWriter();
  const paths = new BlockPaths(footer.paths);
  for (const column of footer.columns) paths.number(column.path);
  out.meta.varint(paths.count);
  out.meta.raw(paths.bytes());
  out.meta.varint(footer.rowCount);
  out.meta.f64(footer.minTimeMs);
  out.meta.f64(footer.maxTimeMs);
  out.meta.varint(footer.sequences.length);
  for (const { writer, sequence } of footer.sequences) {
    out.meta.u8(writer);
    out.meta.varint(sequence);
  }
  out.meta.varint(footer.blocks.length);
  for (const block of footer.blocks) {
    writePlace(out, block);
    out.meta.varint(block.rowCount);
    out.meta.f64(block.minTimeMs);
    out.meta.f64(block.maxTimeMs);
  }
  out.meta.varint(footer.minutes.minutes.length);
  writeStream(out, footer.minutes.minutes);
  writeStream(out, footer.minutes.rowsBefore);
  out.meta.varint(footer.dictionaries.length);
  for (const place of footer.dictionaries) writePlace(out, place);
  out.meta.u8(footer.isComplete ? 1 : 0);
  out.meta.varint(footer.columns.length);
  for (const column of footer.columns) writeOutline(out, column, paths);
  out.meta.varint(footer.words.length);
  for (const place of footer.words) {
    out.meta.varint(place.column);
    writePlace(out, place);
  }
  return { meta: out.meta.bytes(), regions: out.regions.parts() };
}

/** The columns of the block at `ref`, from its segment's footer; `undefined` when that does not say all. */
export function columnsOfBlock(
  { blocks, columns }: Footer,
  ref: BlockRef,
): BlockColumns | undefined {
  if (columns === undefined) return undefined;
  const block = blocks.findIndex(({ ordinal }) => ordinal === ref.ordinal);
  return block < 0 ? undefined : (isWanted) => columns.columns(block, isWanted);
}

/** Memory that a footer takes, about, when all of it was asked for. */
export function memoryOf({ blocks, minutes, dictionaries, columns, words }: Footer): number {
  const places = (dictionaries.length + words.length) * PLACE_MEMORY_BYTES;
  const lists = places + blocks.length * BLOCK_MEMORY_BYTES + minutes.count * MINUTE_MEMORY_BYTES;
  return FOOTER_MEMORY_BYTES + lists + (columns?.memoryBytes ?? 0);
}

/** The trailer of a file whose footer frame is at `place`. Source: FORMAT.md 10.7. */
export function writeTrailer(segment: number, place: FramePlace): Uint8Array {
  const bytes = new Uint8Array(TRAILER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, TRAILER_MAGIC, true);
  view.setUint32(4, segment, true);
  view.setFloat64(8, place.offset, true);
  view.setUint32(16, place.bytes, true);
  view.setUint32(20, place.ordinal, true);
  view.setUint32(CHECKSUM_AT, checksum(bytes, 0, CHECKSUM_AT), true);
  return bytes;
}

/** Reads the trailer of `segment`, whose file has `fileBytes`. Throws CORRUPTION. */
export function readTrailer(bytes: Uint8Array, segment: number, fileBytes: number): FramePlace {
  const view = new DataView(bytes.buffer, bytes.byteOffset, TRAILER_BYTES);
  const right =
    view.getUint32(0, true) === TRAILER_MAGIC &&
    view.getUint32(4, true) === segment &&
    view.getUint32(CHECKSUM_AT, true) === checksum(bytes, 0, CHECKSUM_AT);
  const offset = view.getFloat64(8, true);
  const place = { offset, bytes: view.getUint32(16, true), ordinal: view.getUint32(20, true) };
  if (!right || !(offset >= 0 && offset + place.bytes + TRAILER_BYTES === fileBytes)) {
    damaged('no trailer of this segment');
  }
  return place;
}
