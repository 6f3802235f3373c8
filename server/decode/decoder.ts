import type { PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { BodyReader, type PieceSize } from './body.ts';
import { type DecodeCounters, noDecodeCounters, type TroubleWatch } from './counters.ts';
import type { Enrichment } from './enrichment.ts';
import { LineReader, type RowExtension } from './line.ts';
import type { NameLimit } from './name-limit.ts';
import { KnownLines } from './template/known-lines.ts';
import type { WriteKeyTest } from './write-key.ts';

/**
 * Turns the bytes of requests and lines into row records: the reference that every faster decoder is held to.
 * Owned by one thread, with its path table and its rows. Source: INTERFACE.md 1.2, 2.3, 4.4 and 8.
 */
export class Decoder {
  /** Limits and repairs that were applied. */
  readonly counters: DecodeCounters;
  /** Lines that need not be read by `line`. */
  readonly known: KnownLines;
  /** Makes `line` take the content of a line that is a JSON string, as raw channels do. INTERFACE.md 4.4. */
  unquotes = false;

  readonly #rows: Rows;
  readonly #lines: LineReader;
  readonly #bodies: BodyReader;
  /** Rows before the last line. */
  #rowCount = 0;

  /**
   * Makes a decoder for an empty or used path table, which others may use too; nobody else adds to `rows`. `counters`
   * may be those of others.
   */
  constructor(paths: PathTable, rows: Rows, counters: DecodeCounters = noDecodeCounters()) {
    this.#rows = rows;
    this.counters = counters;
    this.#lines = new LineReader(paths, rows, this.counters);
    this.known = new KnownLines(rows, this.#lines, this.counters);
    this.#bodies = new BodyReader(rows, this.#lines, this.known);
  }

  /** Recognises the write keys that no event keeps as `logmaticKey`; at first there are none. INTERFACE.md 4.4. */
  set isWriteKey(test: WriteKeyTest) {
    this.#lines.leaves.isWriteKey = test;
  }

  /** Leaves the events of `line` unfinished, for raw lines without a leading key; `writeKey` gives theirs. */
  set findsWriteKey(value: boolean) {
    this.#lines.findsWriteKey = value;
  }

  /** Receives lines and elements of bodies for which something was counted. */
  set watch(watch: TroubleWatch) {
    this.#lines.watch = watch;
  }

  /** Called with each event that has ended; `undefined` when there are no extensions. */
  set extension(extension: RowExtension | undefined) {
    this.#lines.extension = extension;
  }

  /** The names that events may have, extended ones too; `undefined`: all. */
  set nameLimit(limit: NameLimit | undefined) {
    this.#lines.nameLimit = limit;
  }

  /**
   * Turns to `source`, whose bytes `[start, end)` will be read, and empties the rows. `source` must stay unchanged
   * until the rows have been appended. `enrichment` is added to all events until the next `begin`.
   */
  begin(
    source: Uint8Array,
    receivedMs: number,
    enrichment: Enrichment | undefined,
    start = 0,
    end: number = source.length,
  ): void {
    this.#rows.reset(source, receivedMs);
    this.#lines.begin(start, end, enrichment);
    this.known.begin();
  }

  /** Empties the rows, which have been appended, to go on with the same source. */
  goOn(): void {
    this.#rows.reset(this.#rows.source, this.#rows.receivedMs);
    this.#lines.goOn();
  }

  /**
   * Reads `[start, end)`, a line without its end and its write key, as an event; a blank one is none. Never throws.
   * A line longer than EVENT_BYTES_MAX, or one that is known to be `isCut`, is text and marked `custom._truncated`.
   * While `findsWriteKey`, its event is not finished: nobody knows yet whether it is kept.
   */
  line(start: number, end: number, isCut = false): void {
    this.#rowCount = this.#rows.rowCount;
    this.#lines.leaves.beginEvent();
    this.#lines.line(start, end, isCut, this.unquotes);
  }

  /**
   * Extends the event of the last `line`, `[start, end)`, which was read with `findsWriteKey`, and limits its names.
   */
  finishLine(start: number, end: number): void {
    if (this.#rows.rowCount === this.#rowCount) return;
    this.#lines.finishRow();
    this.#lines.tellTrouble(start, end);
  }

  /** Takes back the event of the last `line`. */
  dropLine(): void {
    this.#rows.rowCount = this.#rowCount;
    this.#rows.dropRow();
  }

  /** The write key that the last `line` had as its `logmaticKey`, a view; undefined when it had none. */
  writeKey(): Uint8Array | undefined {
    return this.#lines.leaves.writeKey;
  }

  /**
   * Turns to `[start, end)`, a body that `readBody` reads: as JSON, which is an object, an array of events, where
   * strings are lines of content, or several of these one behind the other; else as lines that end with `\n` or `\r\n`,
   * the last maybe without its end. A line that is not JSON is text.
   */
  beginBody(start: number, end: number, isJson: boolean): void {
    this.#bodies.begin(start, end, isJson);
  }

  /**
   * Reads a piece of the body, behind the one before; whether the body is over. Throws BadBody, EventTooLarge and
   * TooManyEvents, and then the rows mean nothing.
   */
  readBody(size: PieceSize): boolean {
    return this.#bodies.read(size);
  }
  /**
   * Reads the bodies of lines that begin at 0 and end, each behind a line feed, at `ends`, as if they were one;
   * `counts` gets the rows of each. Throws EventTooLarge, and then the rows mean nothing.
   */
  readLinesOf(ends: readonly number[], counts: number[]): void {
    this.#bodies.readLinesOf(ends, counts);
  }
}
