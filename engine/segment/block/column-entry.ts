import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Region, RegionReader, Zone } from '../../column/chunk.ts';
import { KIND_COLUMN_MIN, Kind } from '../../column/kind.ts';
import { PresenceLayout, type PresentRows } from '../../column/presence.ts';
import { StringEncoding } from '../../column/text.ts';
import { DerivedRegion } from '../../derive/derived-text.ts';

/**
 * Which rows have a value, as a column's directory entry says it: all; those whose id is not 0; those of a new row
 * list that follows; those of the row list number `value - KNOWN`. The numbers are on disk. Source: FORMAT.md 4.1.
 */
export const ColumnPresence = { ALL: 0, IN_IDS: 1, NEW: 2, KNOWN: 3 } as const;

/** True when a zone is one number or two. The numbers are on disk. Source: FORMAT.md 4.1. */
export const ZoneForm = { POINT: 1, RANGE: 2 } as const;

const ENCODING_SHIFT = 4;
const KIND_MASK = (1 << ENCODING_SHIFT) - 1;

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

/** Facts of a block that bound what an entry may say. */
export interface EntryPlace {
  rowCount: number;
  pathCount: number;
  /** Row lists of the entries before. */
  listCount: number;
  /** Rows of one of these lists. */
  rowsOf(list: number): number;
}

/** A column's entry, with the row list that it brings. */
export interface ReadEntry {
  entry: ColumnEntry;
  list: PresenceEntry | undefined;
}

function hasIds(encoding: number): boolean {
  return encoding === StringEncoding.DICTIONARY || encoding === StringEncoding.SHARED;
}

/** Reads the next entry of `reader`. Throws CORRUPTION. */
export function readEntry(reader: RegionReader, place: EntryPlace): ReadEntry {
  return new EntryReader(reader, place).read();
}

class EntryReader {
  readonly #reader: RegionReader;
  readonly #place: EntryPlace;

  constructor(reader: RegionReader, place: EntryPlace) {
    this.#reader = reader;
    this.#place = place;
  }

  read(): ReadEntry {
    const { meta } = this.#reader;
    const { rowCount, pathCount } = this.#place;
    const path = meta.varint();
    if (path >= pathCount) damaged(`column of path ${path} of ${pathCount}`);
    const head = meta.u8();
    const kind = head & KIND_MASK;
    if (kind < KIND_COLUMN_MIN || kind > Kind.DATE) damaged(`column of kind ${kind}`);
    const column: ColumnEntry = {
      path,
      kind: kind as Kind,
      encoding: head >>> ENCODING_SHIFT,
      presentCount: rowCount,
      presence: -1,
      hasSlots: false,
      entryCount: 0,
      dictionary: -1,
      zone: undefined,
      regions: [],
    };
    const list = this.#readPresence(column);
    if (kind === Kind.STRING || kind === Kind.ARRAY) this.#readStringRegions(column);
    else {
      if (column.encoding !== 0 || column.hasSlots) damaged(`encoding ${column.encoding}`);
      if (kind !== Kind.BOOLEAN) column.zone = this.#readZone();
      column.regions = [this.#reader.region()];
    }
    return { entry: column, list };
  }

  /** Reads which rows have a value; gives the row list that the entry brings. */
  #readPresence(column: ColumnEntry): PresenceEntry | undefined {
    const { meta } = this.#reader;
    const presence = meta.varint();
    if (presence === ColumnPresence.ALL) return undefined;
    if (presence === ColumnPresence.IN_IDS) {
      if (!hasIds(column.encoding)) damaged('ids without a dictionary');
      column.hasSlots = true;
      column.presentCount = this.#readPresentCount();
      return undefined;
    }
    if (presence === ColumnPresence.NEW) {
      const layout = meta.u8();
      if (layout !== PresenceLayout.BITMAP && layout !== PresenceLayout.POSITIONS) {
        damaged(`unknown layout ${layout} of a row list`);
      }
      const presentCount = this.#readPresentCount();
      column.presentCount = presentCount;
      column.presence = this.#place.listCount;
      return { layout, presentCount, region: this.#reader.region() };
    }
    column.presence = presence - ColumnPresence.KNOWN;
    if (column.presence >= this.#place.listCount) damaged(`no row list ${column.presence}`);
    column.presentCount = this.#place.rowsOf(column.presence);
    return undefined;
  }

  #readPresentCount(): number {
    const count = this.#reader.meta.varint();
    const { rowCount } = this.#place;
    if (count < 1 || count >= rowCount) damaged(`${count} of ${rowCount} rows`);
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
    column.regions = Array.from({ length: regionCount }, () => this.#reader.region());
  }
}
