import { NINE } from '../../engine/base/ascii.ts';
import { DEPTH_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { DecodeCounters } from './counters.ts';
import { boundedDate, DateFormReader, numberDate, parseDate } from './date.ts';
import { compactJson, literalEnd, ValueScanner } from './json.ts';
import type { KeyTable } from './key.ts';
import type { NumberResult } from './number.ts';
import { scanNumber } from './number.ts';
import {
  BACKSLASH,
  MINUS,
  OPEN_BRACKET,
  plainEndOf,
  QUOTE,
  stringEnd,
  unescapeString,
} from './text.ts';
import type { WriteKeyTest } from './write-key.ts';

/** Role of an attribute beyond its value. From `Role.DATE` on the roles are date attributes by rank. */
export const Role = { NONE: 0, MESSAGE: 1, SYSLOG: 2, WRITE_KEY: 3, DATE: 4 } as const;

/** Attributes that are read as the event's date, in this order. Source: INTERFACE.md 1.2. */
const DATE_NAMES = [
  'timestamp',
  'date',
  '_timestamp',
  'Timestamp',
  'eventTime',
  'published_date',
  '@timestamp',
  'syslog.timestamp',
  'date_access',
];

const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const RANK_NONE = 1000;

/**
 * Reads the values that are leaves of an event (all but objects with members) from a range of bytes, adds them to
 * the rows, and keeps the event's date and write key. Shared by the two readers of objects (object.ts, tree.ts).
 */
export class LeafReader {
  /** Bytes that are read, up to `end`. They are the rows' source or, when `inSide` is set, their side buffer. */
  bytes: Uint8Array = new Uint8Array(0);
  /** A view of `bytes`. */
  view = new DataView(this.bytes.buffer);
  end = 0;
  inSide = false;
  /** Position of the fault in the JSON after a failed read. */
  errorAt = 0;

  /** Recognises the write keys that are taken out of events. */
  isWriteKey: WriteKeyTest = () => false;
  /** The key that was taken out of the event, as `start` and `length` of a row entry; -1 when there was none. */
  #writeKeyStart = 0;
  #writeKeyBytes = -1;

  /** Role of each path. */
  readonly roles = new Uint8Array(PATHS_MAX);
  readonly #rolePaths = new Map<string, number>();
  readonly scanner = new ValueScanner();
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #counters: DecodeCounters;
  readonly #number: NumberResult = { value: 0, detail: 0 };
  readonly #dateForm = new DateFormReader();
  /** Place of the best date attribute in the order so far, and its date. */
  #dateRank = RANK_NONE;
  #dateMs = 0;
  #hasUnreadDate = false;

  constructor(rows: Rows, keys: KeyTable, counters: DecodeCounters) {
    this.#rows = rows;
    this.#keys = keys;
    this.#counters = counters;
    const assign = (name: string, role: number): void => {
      const bytes = Buffer.from(name);
      const path = keys.resolve(PATH_CUSTOM, bytes, 0, bytes.length);
      this.roles[path] = role;
      this.#rolePaths.set(name, path);
    };
    assign('message', Role.MESSAGE);
    assign('syslog', Role.SYSLOG);
    assign('logmaticKey', Role.WRITE_KEY);
    for (const [rank, name] of DATE_NAMES.entries()) assign(name, Role.DATE + rank);
  }

  /** The path of a name in the object `parent` that has a role; -1 when it has none. */
  rolePath(parent: number, name: string): number {
    const key = parent === PATH_SYSLOG ? `syslog.${name}` : name;
    return parent === PATH_SYSLOG || parent === PATH_CUSTOM ? (this.#rolePaths.get(key) ?? -1) : -1;
  }

  /** Turns to another range of bytes. */
  turnTo(bytes: Uint8Array, end: number, inSide: boolean): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    this.end = end;
    this.inSide = inSide;
  }

  /** Is set when the event just read has no date that could be read, but one that could not. */
  get hasUnreadDate(): boolean {
    return this.#dateRank === RANK_NONE && this.#hasUnreadDate;
  }

  /** Is set when the event just read has a date of its own. */
  get hasDate(): boolean {
    return this.#dateRank !== RANK_NONE;
  }

  /** Forgets the date and the key of the last event. */
  beginEvent(): void {
    this.#dateRank = RANK_NONE;
    this.#hasUnreadDate = false;
    this.#writeKeyBytes = -1;
  }

  /** The write key that was taken out of the event, a view; `undefined` when there was none. */
  get writeKey(): Uint8Array | undefined {
    if (this.#writeKeyBytes < 0) return undefined;
    const { side, source } = this.#rows;
    const start = this.#writeKeyStart < 0 ? ~this.#writeKeyStart : this.#writeKeyStart;
    return (this.#writeKeyStart < 0 ? side : source).subarray(start, start + this.#writeKeyBytes);
  }

  /** Date of the event that was read, `receivedMs` when it has none. Counts dates that could not be read. */
  eventDate(receivedMs: number): number {
    if (this.#dateRank !== RANK_NONE) return this.#dateMs;
    if (this.hasUnreadDate) this.#counters.datesUnread++;
    return receivedMs;
  }

  /**
   * Adds the scalar or array at `at` as the leaf `path`; returns the offset behind it, -1 when it is not JSON.
   * An array that nests deeper than DEPTH_MAX allows below its path becomes a string.
   */
  read(path: number, at: number): number {
    const bytes = this.bytes;
    const byte = at < this.end ? bytes[at] : 0;
    if (byte === QUOTE) return this.#string(path, at);
    if (byte < 0x3a) {
      const behind = scanNumber(bytes, at, this.end, this.#number);
      if (behind < 0) return this.#fail(at);
      const start = this.inSide ? ~at : at;
      this.#rows.add(
        path,
        Kind.NUMBER,
        start,
        behind - at,
        this.#number.value,
        this.#number.detail,
      );
      return behind;
    }
    if (byte === OPEN_BRACKET) return this.#array(path, at);
    const behind = literalEnd(bytes, at, this.end);
    if (behind < 0) return this.#fail(at);
    const kind = byte === LETTER_N ? Kind.NULL : Kind.BOOLEAN;
    this.#rows.add(path, kind, 0, byte === LETTER_T ? 1 : 0, 0, 0);
    return behind;
  }

  /** Reads as `read` does, for a path with a role: finds the leaf's place and what it says of the event. */
  readRole(path: number, role: number, at: number): number {
    const isString = at < this.end && this.bytes[at] === QUOTE;
    if (role === Role.MESSAGE) return this.read(isString ? PATH_MESSAGE : path, at);
    const behind = this.read(path, at);
    if (behind < 0) return behind;
    if (role >= Role.DATE) {
      this.readDate(this.#rows.entryCount - 1, role - Role.DATE);
    } else if (role === Role.WRITE_KEY && isString) {
      this.#takeKey();
    }
    return behind;
  }

  /**
   * Adds text that is no JSON, given as `start` and `length` of a row entry, as the leaf `path`: a number when it may
   * be one and is, otherwise a string.
   */
  addPlain(path: number, start: number, length: number, mayBeNumber: boolean): void {
    const rows = this.#rows;
    const number = this.#number;
    const role = this.roles[path];
    if (mayBeNumber && this.isNumber(start, length)) {
      rows.add(path, Kind.NUMBER, start, length, number.value, number.detail);
    } else {
      rows.add(path, Kind.STRING, start, length, 0, 0);
    }
    if (role >= Role.DATE) this.readDate(this.#rows.entryCount - 1, role - Role.DATE);
    else if (role === Role.WRITE_KEY) this.#takeKey();
  }

  /** Recognises a JSON number in a text given as `start` and `length` of a row entry. */
  isNumber(start: number, length: number): boolean {
    const bytes = start < 0 ? this.#rows.side : this.#rows.source;
    const at = start < 0 ? ~start : start;
    const first = length === 0 ? 0 : bytes[at];
    if (first > NINE || first < MINUS) return false;
    return scanNumber(bytes, at, at + length, this.#number) === at + length;
  }

  /** Adds the valid JSON `[start, end)`, without blanks between its tokens, as the text of a leaf. */
  addJson(path: number, kind: Kind, start: number, end: number): void {
    const rows = this.#rows;
    const at = rows.reserveSide(end - start);
    const length = compactJson(this.bytes, start, end, rows.side, at) - at;
    if (length === end - start) {
      rows.sideBytes = at;
      rows.add(path, kind, this.inSide ? ~start : start, length, 0, 0);
    } else {
      rows.sideBytes = at + length;
      rows.add(path, kind, ~at, length, 0, 0);
    }
  }

  /** Adds the object `[start, end)` below the deepest level as a string of its JSON. */
  addTooDeep(path: number, start: number, end: number): void {
    this.#counters.subtreesTooDeep++;
    this.addJson(path, Kind.STRING, start, end);
  }

  /** Takes out the last entry, a `logmaticKey`, when it is a write key. */
  #takeKey(): void {
    const rows = this.#rows;
    const entry = rows.entryCount - 1;
    const text = rows.text(entry);
    if (!this.isWriteKey(text, 0, text.length)) return;
    rows.entryCount = entry;
    this.#writeKeyStart = rows.start[entry];
    this.#writeKeyBytes = text.length;
  }

  #string(path: number, at: number): number {
    const bytes = this.bytes;
    const stop = plainEndOf(this.view, at + 1, this.end);
    if (stop < this.end && bytes[stop] === QUOTE) {
      const start = this.inSide ? ~(at + 1) : at + 1;
      this.#rows.add(path, Kind.STRING, start, stop - at - 1, 0, 0);
      return stop + 1;
    }
    const closing =
      stop < this.end && bytes[stop] === BACKSLASH ? stringEnd(bytes, stop, this.end) : -1;
    if (closing < 0) return this.#fail(stop);
    const rows = this.#rows;
    const to = rows.reserveSide(closing - at - 1);
    rows.sideBytes = unescapeString(bytes, at + 1, closing, rows.side, to);
    rows.add(path, Kind.STRING, ~to, rows.sideBytes - to, 0, 0);
    return closing + 1;
  }

  #array(path: number, at: number): number {
    const scanner = this.scanner;
    const behind = scanner.skip(this.bytes, at, this.end);
    if (behind < 0) return this.#fail(scanner.errorAt);
    const levels = path === PATH_MESSAGE ? 1 : this.#keys.depth(path);
    if (scanner.depth > 1 && levels + scanner.depth - 1 > DEPTH_MAX) {
      this.addTooDeep(path, at, behind);
    } else if (scanner.hasBlanks) {
      this.addJson(path, Kind.ARRAY, at, behind);
    } else {
      this.#rows.add(path, Kind.ARRAY, this.inSide ? ~at : at, behind - at, 0, 0);
    }
    return behind;
  }

  /** Reads an entry as the date attribute of `rank`; a text in a known form becomes a DATE. */
  readDate(entry: number, rank: number): void {
    const rows = this.#rows;
    const kind = rows.kind[entry];
    let ms = Number.NaN;
    if (kind === Kind.NUMBER) {
      ms = numberDate(rows.value[entry], rows.detail[entry]);
    } else if (kind === Kind.STRING) {
      const from = rows.start[entry];
      const bytes = from < 0 ? rows.side : rows.source;
      const start = from < 0 ? ~from : from;
      const end = start + rows.length[entry];
      const form = this.#dateForm;
      if (form.read(bytes, start, end)) {
        rows.kind[entry] = Kind.DATE;
        rows.value[entry] = form.value;
        rows.detail[entry] = form.form;
        ms = boundedDate(form.timeMs);
      } else {
        ms = parseDate(bytes, start, end, rows.receivedMs);
      }
    } else if (kind === Kind.NULL) {
      return;
    }
    if (Number.isNaN(ms)) {
      this.#hasUnreadDate = true;
    } else if (rank < this.#dateRank) {
      this.#dateRank = rank;
      this.#dateMs = ms;
    }
  }

  #fail(at: number): number {
    this.errorAt = at;
    return -1;
  }
}
