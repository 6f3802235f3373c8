import { KIND_COLUMN_MIN, Kind } from '../../engine/column/kind.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { EventValues } from '../../engine/query/filter/event-test.ts';
import type { PathNames } from '../decode/path-names.ts';
import { RowIndex } from './row-index.ts';
import { ALL_SIGNS, MAY_BE_BROKEN, signsOf } from './signs.ts';

/** Number of the cursor when it goes to all values. */
const ALL = 0;

/** Paths whose first text is asked for; those of equal lists are in one list, so that it is looked for once. */
export type Sources = readonly string[];

/** Place of a text; without bytes it is none. */
interface Place {
  bytes: Uint8Array | undefined;
  start: number;
  end: number;
}

/**
 * Values of the last row of rows: a cursor, and what extensions ask of texts one after the other, which is found once.
 * Made for one path table, owned by one thread.
 */
export class RowValues implements EventValues {
  kind: Kind = Kind.NULL;
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  readonly index: RowIndex;
  readonly #rows: Rows;
  #row = 0;
  /** The cursor: the next entry, the end of those that may be meant, and the number of their dotted path, or ALL. */
  #entry = 0;
  #end = 0;
  #wanted = ALL;
  /** The sources that were turned to last, and whether there was a text; `undefined` when something else was since. */
  #sources: Sources | undefined;
  #hasText = false;
  /** The text that was asked for last, and the signs that were. */
  #text = '';
  readonly #textPlace: Place = { bytes: undefined, start: 0, end: 0 };
  #signs = 0;
  readonly #signsPlace: Place = { bytes: undefined, start: 0, end: 0 };
  readonly #sourceTexts = new Texts();
  readonly #sideTexts = new Texts();

  constructor(rows: Rows, names: PathNames) {
    this.#rows = rows;
    this.index = new RowIndex(rows, names);
  }

  /** Turns to a row, whose texts are not those of the last one. */
  begin(row: number): void {
    this.#row = row;
    this.#textPlace.bytes = undefined;
    this.#signsPlace.bytes = undefined;
    this.turn();
  }

  /** Turns to what the row has become. */
  turn(): void {
    this.index.turnTo(this.#row);
    this.#sources = undefined;
  }

  /** Turns to the entries that have come behind those of the row. */
  grow(): void {
    this.#sources = undefined;
  }

  open(path: string): void {
    this.#open(this.index.number(path));
  }

  #open(number: number): void {
    const { index } = this;
    this.#sources = undefined;
    this.#wanted = number;
    const first = index.first(number);
    this.#entry = Math.max(first, 0);
    const isMixed = first >= 0 && index.isMixed;
    this.#end = isMixed ? this.#rows.rowEntry[this.#row + 1] : first + 1;
  }

  openAll(): void {
    this.#sources = undefined;
    this.#wanted = ALL;
    this.#entry = this.#rows.rowEntry[this.#row];
    this.#end = this.#rows.rowEntry[this.#row + 1];
  }

  next(): boolean {
    const rows = this.#rows;
    while (this.#entry < this.#end) {
      const entry = this.#entry++;
      if (rows.kind[entry] < KIND_COLUMN_MIN) continue;
      const isWanted =
        this.#wanted === ALL || this.index.numberOf(rows.path[entry]) === this.#wanted;
      if (!isWanted) continue;
      this.#turnTo(entry);
      return true;
    }
    return false;
  }

  /** The entry that was turned to last. */
  get entry(): number {
    return this.#entry - 1;
  }

  /** Turns to an entry, which has a column. */
  turnToEntry(entry: number): void {
    this.#sources = undefined;
    this.#entry = entry + 1;
    this.#end = 0;
    this.#turnTo(entry);
  }

  #turnTo(entry: number): void {
    const rows = this.#rows;
    const start = rows.start[entry];
    this.kind = rows.kind[entry] as Kind;
    this.bytes = start < 0 ? rows.side : rows.source;
    this.start = start < 0 ? ~start : start;
    this.end = this.start + rows.length[entry];
  }

  has(path: string): boolean {
    const { index } = this;
    return index.first(index.number(path)) >= 0 || index.hasIn(path);
  }

  /** Turns to the first string, number or boolean that one of `sources` has; false when there is none. */
  turnToText(sources: Sources): boolean {
    if (sources === this.#sources) return this.#hasText;
    this.#hasText = this.#findText(sources);
    this.#sources = sources;
    return this.#hasText;
  }

  #findText(sources: Sources): boolean {
    for (const source of sources) {
      this.open(source);
      while (this.next()) if (this.kind !== Kind.ARRAY) return true;
    }
    return false;
  }

  /** Is set when the text is in the rows' side buffer. */
  get isInSide(): boolean {
    return this.bytes !== this.#rows.source;
  }

  /** The text of the string, number or boolean that was turned to. */
  get text(): string {
    if (this.kind === Kind.BOOLEAN) return String(this.end > this.start);
    if (!this.#isAt(this.#textPlace)) {
      const texts = this.isInSide ? this.#sideTexts : this.#sourceTexts;
      this.#text = texts.of(this.bytes, this.start, this.end);
    }
    return this.#text;
  }

  /** Its signs, at least. */
  get signs(): number {
    if (this.kind === Kind.BOOLEAN) return ALL_SIGNS;
    if (!this.#isAt(this.#signsPlace)) this.#signs = signsOf(this.bytes, this.start, this.end);
    return this.#signs;
  }

  /** Tells that it is a text as finders read it. */
  get isPlain(): boolean {
    return this.kind !== Kind.BOOLEAN && (this.signs & MAY_BE_BROKEN) === 0;
  }

  /** Its first byte; `undefined` when it has none, or is a boolean. */
  get firstByte(): number | undefined {
    const hasFirst = this.end > this.start && this.kind !== Kind.BOOLEAN;
    return hasFirst ? this.bytes[this.start] : undefined;
  }

  /** Reports whether a place is that of the text, and makes it that. */
  #isAt(place: Place): boolean {
    const { bytes, start, end } = this;
    if (place.bytes === bytes && place.start === start && place.end === end) return true;
    place.bytes = bytes;
    place.start = start;
    place.end = end;
    return false;
  }
}

/** Decodes texts of one array of bytes after the other: a view of the array serves many texts. */
class Texts {
  #bytes: Uint8Array | undefined;
  #view: Buffer = Buffer.alloc(0);

  of(bytes: Uint8Array, start: number, end: number): string {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.#view.toString('utf8', start, end);
  }
}
