import { damaged } from '../../base/errors.ts';
import type { Region } from '../../column/chunk.ts';
import { Kind } from '../../column/kind.ts';
import { StringEncoding } from '../../column/text.ts';
import { hasZones } from '../column-outline.ts';
import { placed } from '../frame.ts';
import type { BlockHead, ColumnInfo } from './block-head.ts';
import { BlockOverflow, type OverflowString } from './block-overflow.ts';
import { bytesOf } from './block-regions.ts';
import type { ColumnEntry } from './column-entry.ts';
import type { ColumnOutline, ColumnTable } from './column-table.ts';
import { overflowRegions } from './directory.ts';

/** Memory of a column of an overflow map, with its info, and of the row of a value. */
const COLUMN_BYTES = 400;
const VALUE_BYTES = 4;
/** Memory of an entry of a directory, of a region, and of one whose bytes are in the meta; and of those that stay. */
const ENTRY_BYTES = 240;
const REGION_BYTES = 72;
const INLINE_REGION_BYTES = 160;
const ENTRIES_BYTES_MAX = 16 * 1024;

/** Paths of which it is known which columns are there, at most, and memory of one. */
const NUMBERS_MAX = 8;
const NUMBERS_BYTES = 100;

/** A column of an overflow map, by its number there. */
interface OverflowColumn {
  map: BlockOverflow;
  number: number;
}

/** The columns of a block: those of its directory, behind them those of its overflow map. Throws CORRUPTION. */
export class BlockColumns {
  /** How many they are. */
  readonly count: number;
  readonly overflow: BlockOverflow | undefined;
  readonly #head: BlockHead;
  readonly #table: ColumnTable;
  /** Those of the directory that were asked for, by number. */
  #entries: ColumnEntry[] = [];
  #entriesBytes = 0;
  /** Numbers of the columns at the paths that were asked for last. */
  readonly #numbers = new Map<string, number[]>();
  #infos: readonly ColumnInfo[] | undefined;
  #outlines: readonly ColumnOutline[] | undefined;

  /** Of the block of a head; `region` reads one of its regions. */
  constructor(head: BlockHead, region: (region: Region) => Uint8Array) {
    const { columns, overflow, names } = head.directory;
    this.#head = head;
    this.#table = columns;
    this.overflow =
      overflow && new BlockOverflow(overflow, head.ref.rowCount, names.length, region);
    this.count = columns.length + (overflow?.columnCount ?? 0);
  }

  /** Paths, kinds and bounds, in no particular order; columns of an overflow map have no bounds. */
  get infos(): readonly ColumnInfo[] {
    this.#infos ??= this.outlines.map((outline, index) => this.#info(outline, index));
    return this.#infos;
  }

  /** Path, kind and bounds of the column number `index`. */
  info(index: number): ColumnInfo {
    if (index >= this.count) damaged(`column ${index} of ${this.count}`);
    const isOwn = index < this.#table.length;
    const outline = isOwn ? this.#table.outline(index) : this.outlines[index];
    return this.#infos?.[index] ?? this.#info(outline, index);
  }

  /** Numbers of the columns at `path`; not to be written. */
  at(path: string): number[] {
    const known = this.#numbers.get(path);
    if (known !== undefined) return known;
    if (this.#numbers.size >= NUMBERS_MAX) this.#numbers.clear();
    const found = this.#find(path);
    this.#numbers.set(path, found);
    return found;
  }

  #find(path: string): number[] {
    const found: number[] = [];
    const { paths } = this.#head;
    const { length } = this.#table;
    for (let index = 0; index < length; index++) {
      if (paths[this.#table.path(index)] === path) found.push(index);
    }
    if (this.overflow === undefined) return found;
    for (let index = length; index < this.count; index++) {
      if (paths[this.outlines[index].path] === path) found.push(index);
    }
    return found;
  }

  get outlines(): readonly ColumnOutline[] {
    const { overflow } = this;
    this.#outlines ??= [
      ...this.#table.outlines(),
      ...(overflow === undefined ? [] : placed(this.#head.ref, () => overflow.outlines())),
    ];
    return this.#outlines;
  }

  /** The column number `index` as a directory has it. */
  entry(index: number): ColumnEntry {
    const known = this.#entries[index];
    if (known !== undefined) return known;
    if (index >= this.count) damaged(`column ${index} of ${this.count}`);
    const overflowed = this.overflowed(index);
    if (overflowed !== undefined) return overflowed.map.entry(overflowed.number);
    const entry = this.#table.entry(index);
    this.#entries[index] = entry;
    this.#entriesBytes += memoryOf(entry);
    return entry;
  }

  /** The column number `index` in the overflow map; `undefined` when it is none of it. */
  overflowed(index: number): OverflowColumn | undefined {
    const number = index - this.#table.length;
    return this.overflow === undefined || number < 0 ? undefined : { map: this.overflow, number };
  }

  /** The number of the column of the overflow map with a leaf key; -1 when there is none. */
  findOverflowed(key: number): number {
    const number = this.overflow?.find(key) ?? -1;
    return number < 0 ? -1 : this.#table.length + number;
  }

  /** The strings of all columns of the overflow map. */
  *overflowStrings(): Generator<OverflowString> {
    const strings = this.overflow?.strings();
    while (strings !== undefined) {
      const { done, value } = placed(this.#head.ref, () => strings.next());
      if (done === true) return;
      yield value;
    }
  }

  /** Memory of what stays at rest, about: entries that are not many, and of an overflow map. */
  get restingBytes(): number {
    const { overflow } = this.#head.directory;
    const bytes = this.#entriesBytes + this.#numbers.size * NUMBERS_BYTES;
    if (overflow === undefined) return bytes;
    const { columnCount, valueCount } = overflow;
    return bytes + columnCount * COLUMN_BYTES + valueCount * VALUE_BYTES;
  }

  /** Bytes that the values of each take; of those of an overflow map about. */
  bytes(): { path: string; bytes: number }[] {
    const { overflow } = this.#head.directory;
    const valueBytes = sumOf(overflowRegions(overflow)) / (overflow?.valueCount ?? 1);
    const own = [...this.#table.entries()].map(({ regions }) => sumOf(regions));
    return this.infos.map(({ path, presentCount }, index) => ({
      path,
      bytes: own[index] ?? Math.round(valueBytes * presentCount),
    }));
  }

  /** Bytes that the texts of columns take. */
  get textBytes(): number {
    return this.#table.entries().reduce((sum, { encoding, kind, regions }) => {
      const isText = kind === Kind.STRING || kind === Kind.ARRAY;
      const isOwn = encoding !== StringEncoding.TEXT && encoding !== StringEncoding.DERIVED;
      return !isText || isOwn ? sum : sum + sumOf(regions);
    }, 0);
  }

  /** Lets go of what can be read again; entries stay unless they are many, as each search would read them anew. */
  rest(): void {
    if (this.#entriesBytes > ENTRIES_BYTES_MAX) {
      this.#entries = [];
      this.#entriesBytes = 0;
    }
    this.#infos = undefined;
    this.#outlines = undefined;
    this.overflow?.forget();
  }

  /** Lets go of all but outlines: what is read once is not needed again. */
  forget(): void {
    this.#entries = [];
    this.#entriesBytes = 0;
    this.#infos = undefined;
    this.overflow?.forget();
  }

  #info({ path, kind, presentCount }: ColumnOutline, index: number): ColumnInfo {
    const info = { path: this.#head.paths[path], kind, presentCount };
    const hasZone = index < this.#table.length && hasZones(kind);
    return hasZone ? { ...info, ...this.#table.zone(index) } : info;
  }
}

/** Memory of an entry, about. */
function memoryOf({ regions }: ColumnEntry): number {
  let bytes = ENTRY_BYTES;
  for (const { inline } of regions)
    bytes += inline === undefined ? REGION_BYTES : INLINE_REGION_BYTES;
  return bytes;
}

function sumOf(regions: readonly Region[]): number {
  return regions.reduce((sum, region) => sum + bytesOf(region), 0);
}
