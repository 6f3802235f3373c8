import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Zone } from '../../column/chunk.ts';
import { type Region, RegionReader } from '../../column/chunk.ts';
import { KIND_COLUMN_MIN, Kind } from '../../column/kind.ts';
import { PresenceLayout, type PresentRows } from '../../column/presence.ts';
import { StringEncoding } from '../../column/text.ts';
import { DerivedRegion } from '../../derive/derived-text.ts';
import { type FrameHeader, FrameKind, isSealedBlock } from '../frame.ts';
import { type Run, readRuns } from './runs.ts';

/**
 * Which rows have a value, as a column's directory entry says it: all; those whose id is not 0; those of a new row
 * list that follows; those of the row list number `value - KNOWN`. The numbers are on disk. Source: FORMAT.md 4.1.
 */
export const ColumnPresence = { ALL: 0, IN_IDS: 1, NEW: 2, KNOWN: 3 } as const;

/** True when a zone is one number or two. The numbers are on disk. Source: FORMAT.md 4.1. */
export const ZoneForm = { POINT: 1, RANGE: 2 } as const;

const ENCODING_SHIFT = 4;
const KIND_MASK = (1 << ENCODING_SHIFT) - 1;
/** Least bytes of a path's and of a column's entry: bounds what a count can claim. */
const ENTRY_BYTES_MIN = 2;
/** Far deeper than any decoder makes paths. */
const NESTING_MAX = 1024;

/** The byte that says kind and encoding of a column. */
export function columnHead(kind: Kind, encoding: number): number {
  return kind | (encoding << ENCODING_SHIFT);
}

/** A row list of a block. */
export interface PresenceEntry {
  layout: PresenceLayout;
  presentCount: number;
  region: Region;
}

/** A column of a block, as its directory has it. */
export interface ColumnEntry {
  path: number;
  kind: Kind;
  encoding: number;
  presentCount: number;
  /** Number of its row list; -1: all rows, or those that have an id. */
  presence: number;
  /** True when it is a dictionary with an id for each row. */
  hasSlots: boolean;
  /** Of a dictionary; of shared ids those in the block's own list, 0 when it has none. */
  entryCount: number;
  /** Number of the segment's dictionary; -1 when the entries are in the block. */
  dictionary: number;
  zone: Zone | undefined;
  regions: Region[];
  /** Rows that have a value, of a column of an overflow map in place of a row list. */
  own?: PresentRows | undefined;
}

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

/** Paths of a block or a footer. */
export interface DirectoryPaths {
  /** Parent of each path: 0 the root, else path + 1. */
  parents: Uint32Array;
  /** Last name of each path. */
  names: Uint8Array[];
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
  presences: PresenceEntry[];
  columns: ColumnEntry[];
  overflow: OverflowEntry | undefined;
  /** Bytes of all regions outside the meta. */
  regionBytes: number;
}

function hasIds(encoding: number): boolean {
  return encoding === StringEncoding.DICTIONARY || encoding === StringEncoding.SHARED;
}

/** Reads the columns' entries, which refer to one another's row lists. */
class ColumnReader {
  readonly presences: PresenceEntry[] = [];
  readonly #reader: RegionReader;
  readonly #rowCount: number;
  readonly #pathCount: number;

  constructor(reader: RegionReader, rowCount: number, pathCount: number) {
    this.#reader = reader;
    this.#rowCount = rowCount;
    this.#pathCount = pathCount;
  }

  read(): ColumnEntry {
    const { meta } = this.#reader;
    const path = meta.varint();
    if (path >= this.#pathCount) damaged(`column of path ${path} of ${this.#pathCount}`);
    const head = meta.u8();
    const kind = head & KIND_MASK;
    if (kind < KIND_COLUMN_MIN || kind > Kind.DATE) damaged(`column of kind ${kind}`);
    const column: ColumnEntry = {
      path,
      kind: kind as Kind,
      encoding: head >>> ENCODING_SHIFT,
      presentCount: this.#rowCount,
      presence: -1,
      hasSlots: false,
      entryCount: 0,
      dictionary: -1,
      zone: undefined,
      regions: [],
    };
    this.#readPresence(column);
    if (kind === Kind.STRING || kind === Kind.ARRAY) this.#readStringRegions(column);
    else {
      if (column.encoding !== 0 || column.hasSlots) damaged(`encoding ${column.encoding}`);
      if (kind !== Kind.BOOLEAN) column.zone = this.#readZone();
      column.regions = [this.#reader.region()];
    }
    return column;
  }

  #readPresence(column: ColumnEntry): void {
    const { meta } = this.#reader;
    const presence = meta.varint();
    if (presence === ColumnPresence.ALL) return;
    if (presence === ColumnPresence.IN_IDS) {
      if (!hasIds(column.encoding)) damaged('ids without a dictionary');
      column.hasSlots = true;
      column.presentCount = this.#readPresentCount();
      return;
    }
    if (presence === ColumnPresence.NEW) {
      const layout = meta.u8();
      if (layout !== PresenceLayout.BITMAP && layout !== PresenceLayout.POSITIONS) {
        damaged(`unknown layout ${layout} of a row list`);
      }
      const presentCount = this.#readPresentCount();
      this.presences.push({ layout, presentCount, region: this.#reader.region() });
    }
    column.presence =
      presence === ColumnPresence.NEW ? this.presences.length - 1 : presence - ColumnPresence.KNOWN;
    const entry = this.presences[column.presence];
    if (entry === undefined) damaged(`no row list ${column.presence}`);
    column.presentCount = entry.presentCount;
  }

  #readPresentCount(): number {
    const count = this.#reader.meta.varint();
    if (count < 1 || count >= this.#rowCount) damaged(`${count} of ${this.#rowCount} rows`);
    return count;
  }

  #readZone(): Zone {
    const { meta } = this.#reader;
    const form = meta.u8();
    if (form !== ZoneForm.POINT && form !== ZoneForm.RANGE) damaged(`unknown zone form ${form}`);
    const min = meta.f64();
    return { min, max: form === ZoneForm.POINT ? min : meta.f64() };
  }

  #readStringRegions(column: ColumnEntry): void {
    let regionCount = 1;
    if (column.encoding === StringEncoding.SHARED) {
      column.dictionary = this.#reader.meta.varint();
      column.entryCount = this.#reader.meta.varint();
      if (column.entryCount > column.presentCount) damaged(`list of ${column.entryCount} entries`);
      regionCount = 2;
    } else if (column.encoding === StringEncoding.DICTIONARY) {
      column.entryCount = this.#reader.meta.varint();
      if (column.entryCount < 1 || column.entryCount > column.presentCount) {
        damaged(`dictionary of ${column.entryCount} entries for ${column.presentCount} values`);
      }
      regionCount = 2;
    } else if (column.encoding === StringEncoding.TEXT) {
      regionCount = 1 + Math.ceil(column.presentCount / TEXT_PIECE_ROWS);
    } else if (column.encoding === StringEncoding.DERIVED) {
      regionCount = DerivedRegion.PIECES + Math.ceil(column.presentCount / TEXT_PIECE_ROWS);
    } else if (column.encoding !== StringEncoding.CONSTANT) {
      damaged(`unknown encoding ${column.encoding} of strings`);
    }
    // Sized at once: an array that grows has room for sixteen more, and wide data has very many of these.
    column.regions = Array.from({ length: regionCount }, () => this.#reader.region());
  }
}

/** Reads paths, each after its parent. Throws CORRUPTION. */
export function readPaths(reader: RegionReader): DirectoryPaths {
  const pathCount = reader.meta.varint();
  if (pathCount * ENTRY_BYTES_MIN > reader.meta.remaining) damaged(`${pathCount} paths`);
  const parents = new Uint32Array(pathCount);
  const depths = new Uint32Array(pathCount + 1);
  const names: Uint8Array[] = [];
  for (let path = 0; path < pathCount; path++) {
    const parent = reader.meta.varint();
    if (parent > path) damaged(`path ${path} below ${parent}`);
    parents[path] = parent;
    depths[path + 1] = depths[parent] + 1;
    if (depths[path + 1] > NESTING_MAX) damaged(`path ${path} is nested too deep`);
    names.push(reader.meta.blob());
  }
  return { parents, names };
}

/** Reads the meta region of a block, uncompressed, as its header says. Throws CORRUPTION. */
export function readDirectory(meta: Uint8Array, header: FrameHeader): Directory {
  const { rowCount, firstSequence } = header;
  const reader = new RegionReader(meta, header.kind === FrameKind.DIRECTORY);
  const runs = header.repeats ? readRuns(reader.meta, rowCount, firstSequence) : [];
  const { parents, names } = readPaths(reader);
  const time = reader.region();
  const received = reader.region();
  const shapeCount = reader.meta.varint();
  if (shapeCount < 1 || shapeCount > rowCount) damaged(`${shapeCount} shapes of ${rowCount} rows`);
  const shapes = reader.region();
  const shapeIds = reader.region();
  const keys = isSealedBlock(header.kind) ? reader.region() : undefined;
  const columnCount = reader.meta.varint();
  if (columnCount * ENTRY_BYTES_MIN > meta.length) damaged(`${columnCount} columns`);
  const columnReader = new ColumnReader(reader, rowCount, names.length);
  const columns: ColumnEntry[] = [];
  for (let column = 0; column < columnCount; column++) columns.push(columnReader.read());
  const overflow = reader.meta.remaining === 0 ? undefined : readOverflow(reader);
  if (reader.meta.remaining !== 0) damaged(`${reader.meta.remaining} bytes after the directory`);
  const { presences } = columnReader;
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
    presences,
    columns,
    overflow,
    regionBytes,
  };
}

function readOverflow(reader: RegionReader): OverflowEntry {
  const { meta } = reader;
  const columnCount = meta.varint();
  const valueCount = meta.varint();
  const pieceCount = Math.ceil(valueCount / TEXT_PIECE_ROWS);
  if (columnCount < 1 || columnCount > valueCount || pieceCount > meta.remaining) {
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
  const { time, received, shapes, shapeIds, keys, presences, columns, overflow } = directory;
  return [
    time,
    received,
    shapes,
    shapeIds,
    ...(keys === undefined ? [] : [keys]),
    ...presences.map((presence) => presence.region),
    ...columns.flatMap((column) => column.regions),
    ...overflowRegions(overflow),
  ].filter((region) => region.inline === undefined);
}
