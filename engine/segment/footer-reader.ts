import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { type Region, RegionReader } from '../column/chunk.ts';
import { KIND_COLUMN_MIN, Kind } from '../column/kind.ts';
import { type ColumnPlace, hasZones, OutlineTable, readInlineStream } from './column-outline.ts';
import { joinedNames, readPaths } from './directory-paths.ts';
import type { Footer, FramePlace, MinuteRows, WordPlace } from './footer.ts';
import { type BlockRef, FRAME_ALIGNMENT } from './frame.ts';

/** Least bytes of an entry of any list: bounds what a count can claim. */
const ENTRY_BYTES_MIN = 3;

/** The bytes of a footer in its frame: its meta, and the checked ones of each region. */
export interface FooterBytes {
  meta: Uint8Array;
  /** Throws CORRUPTION. */
  region: (region: Region) => Uint8Array;
}

/** A footer in the least bytes from which it can be read: they were found right. */
export interface PlainFooter {
  /** The names of each path, joined by dots. */
  names: readonly string[];
  /** The rest of the meta behind the paths, with all regions in it. */
  bytes: Uint8Array;
}

/** Gives the names that were made of the bytes of paths, or else those of `read`. */
export type ShareNames = (paths: Uint8Array, read: () => string[]) => readonly string[];

/** The minutes of a footer, which are read when they are asked for. */
class StoredMinutes implements MinuteRows {
  readonly count: number;
  readonly #bytes: Uint8Array;
  readonly #at: number;
  #streams: { minutes: Float64Array; rowsBefore: Float64Array } | undefined;

  /** `at`: where in `bytes` their two regions begin. */
  constructor(bytes: Uint8Array, at: number, count: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.count = count;
  }

  get minutes(): Float64Array {
    return this.#read().minutes;
  }

  get rowsBefore(): Float64Array {
    return this.#read().rowsBefore;
  }

  #read(): { minutes: Float64Array; rowsBefore: Float64Array } {
    if (this.#streams === undefined) {
      const reader = new ByteReader(this.#bytes, this.#at);
      const minutes = readInlineStream(reader, this.count);
      this.#streams = { minutes, rowsBefore: readInlineStream(reader, this.count) };
    }
    return this.#streams;
  }
}

/** Takes a region of `count` numbers, which stands from `from` to `to` in the meta, or is named there. */
type TakeStream = (region: Region, count: number, from: number, to: number) => void;

/** Reads what follows the paths of a footer, but the numbers of its streams. */
class FooterReader {
  readonly #bytes: Uint8Array;
  readonly #reader: RegionReader;
  readonly #names: readonly string[];
  readonly #take: TakeStream;

  constructor({ bytes, names }: PlainFooter, take: TakeStream = () => {}) {
    this.#bytes = bytes;
    this.#reader = new RegionReader(bytes);
    this.#names = names;
    this.#take = take;
  }

  read(segment: number): Footer {
    const { meta } = this.#reader;
    const names = this.#names;
    const rowCount = meta.varint();
    const minTimeMs = meta.f64();
    const maxTimeMs = meta.f64();
    const sequences = this.#list(() => ({ writer: meta.u8(), sequence: meta.varint() }));
    const blocks = this.#list(() => this.#block(segment));
    const blockRows = blocks.reduce((sum, block) => sum + block.rowCount, 0);
    if (rowCount !== blockRows) damaged(`${rowCount} rows, ${blockRows} in blocks`);
    const minuteCount = meta.varint();
    if (minuteCount > rowCount) damaged(`${minuteCount} minutes of ${rowCount} rows`);
    const minutes = new StoredMinutes(this.#bytes, this.#at, minuteCount);
    this.#stream(minuteCount);
    this.#stream(minuteCount);
    const dictionaries = this.#list(() => this.#place());
    const isComplete = meta.u8() === 1;
    const places = this.#list(() => this.#column(blocks.length));
    // Draft 1 has no words.
    const words = meta.remaining === 0 ? [] : this.#list(() => this.#wordPlace(places.length));
    if (meta.remaining !== 0) damaged(`${meta.remaining} bytes after the footer`);
    const columns = isComplete
      ? new OutlineTable(places, names, blocks.length, this.#bytes)
      : undefined;
    const facts = { rowCount, minTimeMs, maxTimeMs, sequences, blocks, dictionaries };
    return { ...facts, minutes, columns, words };
  }

  /** Where in the bytes the reader is. */
  get #at(): number {
    return this.#bytes.length - this.#reader.meta.remaining;
  }

  #list<T>(read: () => T): T[] {
    const { meta } = this.#reader;
    const count = meta.varint();
    if (count * ENTRY_BYTES_MIN > meta.remaining + ENTRY_BYTES_MIN) {
      damaged(`${count} entries in ${meta.remaining} bytes`);
    }
    const list: T[] = [];
    for (let index = 0; index < count; index++) list.push(read());
    return list;
  }

  #stream(count: number): void {
    const from = this.#at;
    const region = this.#reader.region();
    this.#take(region, count, from, this.#at);
  }

  #place(): FramePlace {
    const { meta } = this.#reader;
    const offset = meta.varint() * FRAME_ALIGNMENT;
    const bytes = meta.varint() * FRAME_ALIGNMENT;
    return { offset, bytes, ordinal: meta.varint() };
  }

  #wordPlace(columnCount: number): WordPlace {
    const column = this.#reader.meta.varint();
    if (column >= columnCount) damaged(`words of column ${column} of ${columnCount}`);
    return { column, ...this.#place() };
  }

  #block(segment: number): BlockRef {
    const place = this.#place();
    const { meta } = this.#reader;
    const rowCount = meta.varint();
    if (rowCount < 1 || rowCount > BLOCK_ROWS_MAX) damaged(`block of ${rowCount} rows`);
    const minTimeMs = meta.f64();
    const maxTimeMs = meta.f64();
    const nowhere = { writer: 0, firstSequence: 0, endSequence: 0 };
    return { sealed: true, segment, ...place, ...nowhere, rowCount, minTimeMs, maxTimeMs };
  }

  #column(blockCount: number): ColumnPlace {
    const { meta } = this.#reader;
    const path = meta.varint();
    if (path >= this.#names.length) damaged(`column of path ${path} of ${this.#names.length}`);
    const kind = meta.u8() as Kind;
    if (kind < KIND_COLUMN_MIN || kind > Kind.DATE) damaged(`column of kind ${kind}`);
    const dictionary = meta.varint() - 1;
    const at = this.#at;
    for (let stream = hasZones(kind) ? 3 : 1; stream > 0; stream--) this.#stream(blockCount);
    return { path, kind, dictionary, at };
  }
}

/** Checks all of the footer of `segment`, and gives its plain form. Throws CORRUPTION. */
export function plainFooter(
  { meta, region }: FooterBytes,
  segment: number,
  share: ShareNames = (_, read) => read(),
): PlainFooter {
  const reader = new RegionReader(meta);
  const paths = readPaths(meta, reader);
  const start = meta.length - reader.meta.remaining;
  const names = share(meta.subarray(0, start), () => joinedNames(paths));
  const rest = meta.subarray(start);
  const out = new ByteWriter(meta.length);
  let done = 0;
  const take: TakeStream = (place, count, from, to) => {
    const bytes = region(place);
    const begin = out.length + (from - done);
    out.raw(rest.subarray(done, from));
    out.varint(bytes.length * 2 + 1);
    out.raw(bytes);
    done = to;
    readInlineStream(new ByteReader(out.bytes(), begin), count);
  };
  new FooterReader({ names, bytes: rest }, take).read(segment);
  out.raw(rest.subarray(done));
  return { names, bytes: out.bytes().slice() };
}

/** Reads the footer of `segment` from its plain form, whose bytes it keeps. */
export function readFooter(plain: PlainFooter, segment: number): Footer {
  return new FooterReader(plain).read(segment);
}
