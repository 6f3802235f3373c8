import { damaged } from '../../base/errors.ts';
import type { Region } from '../../column/chunk.ts';
import { Kind } from '../../column/kind.ts';
import { StringEncoding } from '../../column/text.ts';
import { placed } from '../frame.ts';
import type { BlockHead, ColumnInfo } from './block-head.ts';
import { BlockOverflow, type OverflowString } from './block-overflow.ts';
import { bytesOf } from './block-regions.ts';
import { type ColumnEntry, overflowRegions } from './directory.ts';

/** Memory of a column of an overflow map, with its info, and of the row of a value. */
const COLUMN_BYTES = 400;
const VALUE_BYTES = 4;

/** Path, kind and count of values of a column. */
export type ColumnOutline = Pick<ColumnEntry, 'path' | 'kind' | 'presentCount'>;

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
  readonly #entries: readonly ColumnEntry[];
  #infos: readonly ColumnInfo[] | undefined;
  #outlines: readonly ColumnOutline[] | undefined;

  /** Of the block of a head; `region` reads one of its regions. */
  constructor(head: BlockHead, region: (region: Region) => Uint8Array) {
    const { columns, overflow, names } = head.directory;
    this.#head = head;
    this.#entries = columns;
    this.overflow =
      overflow && new BlockOverflow(overflow, head.ref.rowCount, names.length, region);
    this.count = columns.length + (overflow?.columnCount ?? 0);
  }

  /** Paths, kinds and bounds, in no particular order; columns of an overflow map have no bounds. */
  get infos(): readonly ColumnInfo[] {
    if (this.overflow === undefined) return this.#head.columns;
    this.#infos ??= [...this.#head.columns, ...this.#overflowInfos()];
    return this.#infos;
  }

  get outlines(): readonly ColumnOutline[] {
    const { overflow } = this;
    if (overflow === undefined) return this.#entries;
    this.#outlines ??= [...this.#entries, ...placed(this.#head.ref, () => overflow.outlines())];
    return this.#outlines;
  }

  /** The column number `index` as a directory has it. */
  entry(index: number): ColumnEntry {
    const entry = this.#entries[index] ?? this.overflow?.entry(index - this.#entries.length);
    return entry ?? damaged(`column ${index} of ${this.count}`);
  }

  /** The column number `index` in the overflow map; `undefined` when it is none of it. */
  overflowed(index: number): OverflowColumn | undefined {
    const number = index - this.#entries.length;
    return this.overflow === undefined || number < 0 ? undefined : { map: this.overflow, number };
  }

  /** The number of the column of the overflow map with a leaf key; -1 when there is none. */
  findOverflowed(key: number): number {
    const number = this.overflow?.find(key) ?? -1;
    return number < 0 ? -1 : this.#entries.length + number;
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

  /** Memory of what stays of an overflow map, about. */
  get restingBytes(): number {
    const { overflow } = this.#head.directory;
    if (overflow === undefined) return 0;
    return overflow.columnCount * COLUMN_BYTES + overflow.valueCount * VALUE_BYTES;
  }

  /** Bytes that the values of each take; of those of an overflow map about. */
  bytes(): { path: string; bytes: number }[] {
    const { overflow } = this.#head.directory;
    const valueBytes = sumOf(overflowRegions(overflow)) / (overflow?.valueCount ?? 1);
    const own = this.#entries.map(({ regions }) => sumOf(regions));
    return this.infos.map(({ path, presentCount }, index) => ({
      path,
      bytes: own[index] ?? Math.round(valueBytes * presentCount),
    }));
  }

  /** Bytes that the texts of columns take. */
  get textBytes(): number {
    return this.#entries.reduce((sum, { encoding, kind, regions }) => {
      const isText = kind === Kind.STRING || kind === Kind.ARRAY;
      const isOwn = encoding !== StringEncoding.TEXT && encoding !== StringEncoding.DERIVED;
      return !isText || isOwn ? sum : sum + sumOf(regions);
    }, 0);
  }

  #overflowInfos(): ColumnInfo[] {
    return this.outlines.slice(this.#entries.length).map(({ path, kind, presentCount }) => {
      const names = this.#head.pathNames(path);
      return { path: names.join('.'), names, kind, presentCount };
    });
  }
}

function sumOf(regions: readonly Region[]): number {
  return regions.reduce((sum, region) => sum + bytesOf(region), 0);
}
