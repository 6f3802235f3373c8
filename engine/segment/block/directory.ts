import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import { type Region, RegionReader } from '../../column/chunk.ts';
import { type DirectoryPaths, readPaths } from '../directory-paths.ts';
import { type FrameHeader, FrameKind, isSealedBlock } from '../frame.ts';
import { ColumnTable } from './column-table.ts';
import { type Run, readRuns } from './runs.ts';

/** Stands for the columns of an overflow map before marks. Source: FORMAT.md 4.1. */
export const NO_COLUMNS = 0;

/** An overflow map of a block, as its directory has it. */
export interface OverflowEntry {
  columnCount: number;
  valueCount: number;
  /** Leaf keys, and counts of values. */
  columns: Region;
  rows: Region;
  lengths: Region;
  texts: Region[];
}

/** A block's directory: what its meta region says. Views the meta's bytes. */
export interface Directory extends DirectoryPaths {
  /** The rows of earlier blocks with which it begins. */
  runs: Run[];
  time: Region;
  received: Region;
  shapeCount: number;
  shapes: Region;
  shapeIds: Region;
  /** Writers and sequences; of sealed blocks only. */
  keys: Region | undefined;
  columns: ColumnTable;
  overflow: OverflowEntry | undefined;
  /** Marks of rows; of large sealed blocks only. */
  marks: Region | undefined;
  /** Bytes of all regions outside the meta. */
  regionBytes: number;
}

/** Reads the meta region of a block, uncompressed, as its header says. Throws CORRUPTION. */
export function readDirectory(meta: Uint8Array, header: FrameHeader): Directory {
  const { rowCount, firstSequence } = header;
  const areChunks = header.kind === FrameKind.DIRECTORY;
  const reader = new RegionReader(meta, areChunks);
  const runs = header.repeats ? readRuns(reader.meta, rowCount, firstSequence) : [];
  const { parents, names } = readPaths(meta, reader);
  const time = reader.region();
  const received = reader.region();
  const shapeCount = reader.meta.varint();
  if (shapeCount < 1 || shapeCount > rowCount) damaged(`${shapeCount} shapes of ${rowCount} rows`);
  const shapes = reader.region();
  const shapeIds = reader.region();
  const keys = isSealedBlock(header.kind) ? reader.region() : undefined;
  const columns = new ColumnTable({ meta, areChunks, rowCount, pathCount: names.length }, reader);
  const { overflow, marks } = readRest(reader);
  if (reader.meta.remaining !== 0) damaged(`${reader.meta.remaining} bytes after the directory`);
  const regionBytes = reader.end;
  return {
    runs,
    parents,
    names,
    time,
    received,
    shapeCount,
    shapes,
    shapeIds,
    keys,
    columns,
    overflow,
    marks,
    regionBytes,
  };
}

/** Reads what may stand behind the columns. */
function readRest(reader: RegionReader): Pick<Directory, 'overflow' | 'marks'> {
  let overflow: OverflowEntry | undefined;
  while (reader.meta.remaining > 0) {
    const columnCount = reader.meta.varint();
    if (columnCount === NO_COLUMNS) return { overflow, marks: reader.region() };
    if (overflow !== undefined) damaged('two overflow maps');
    overflow = readOverflow(reader, columnCount);
  }
  return { overflow, marks: undefined };
}

function readOverflow(reader: RegionReader, columnCount: number): OverflowEntry {
  const { meta } = reader;
  const valueCount = meta.varint();
  const pieceCount = Math.ceil(valueCount / TEXT_PIECE_ROWS);
  if (columnCount > valueCount || pieceCount > meta.remaining) {
    damaged(`${columnCount} columns of ${valueCount} values together`);
  }
  const [columns, rows, lengths] = [reader.region(), reader.region(), reader.region()];
  const texts = Array.from({ length: pieceCount }, () => reader.region());
  return { columnCount, valueCount, columns, rows, lengths, texts };
}

/** The regions of an overflow map, in their order. */
export function overflowRegions(overflow: OverflowEntry | undefined): Region[] {
  if (overflow === undefined) return [];
  const { columns, rows, lengths, texts } = overflow;
  return [columns, rows, lengths, ...texts];
}

/** All regions of a directory that lie outside the meta, in their order. */
export function regionsOf(directory: Directory): Region[] {
  const { time, received, shapes, shapeIds, keys, columns, overflow, marks } = directory;
  return [
    time,
    received,
    shapes,
    shapeIds,
    ...(keys === undefined ? [] : [keys]),
    ...columns.lists().map(({ region }) => region),
    ...columns.entries().flatMap(({ regions }) => regions),
    ...overflowRegions(overflow),
    ...(marks === undefined ? [] : [marks]),
  ].filter((region) => region.inline === undefined);
}
