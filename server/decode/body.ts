import { CARRIAGE_RETURN, LESS, LINE_FEED } from '../../engine/base/ascii.ts';
import { BODY_EVENTS_MAX, EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { LineReader } from './line.ts';
import type { KnownLines } from './template/known-lines.ts';
import type { Separator } from './template/template-kernel.ts';
import { CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipBlanks } from './text.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A body of type JSON that is not JSON; nothing of it is kept. Source: INTERFACE.md 4.4. */
export class BadBody extends Error {
  /** Bytes of the source before the fault. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = 'BadBody';
    this.offset = offset;
  }
}

/** An event of a body that is longer than EVENT_BYTES_MAX; nothing of the body is kept. Source: INTERFACE.md 4.4. */
export class EventTooLarge extends Error {
  /** Bytes of the source before the event. */
  readonly offset: number;

  constructor(offset: number, lengthBytes: number) {
    super(
      `the event at byte ${offset} has ${lengthBytes} bytes, at most ${EVENT_BYTES_MAX} are allowed`,
    );
    this.name = 'EventTooLarge';
    this.offset = offset;
  }
}

/** A body with more than BODY_EVENTS_MAX lines or elements; nothing of it is kept. */
export class TooManyEvents extends Error {
  /** Bytes of the source before the first that is too many. */
  readonly offset: number;

  constructor(offset: number) {
    super(`the body has more than ${BODY_EVENTS_MAX} events, which are allowed`);
    this.name = 'TooManyEvents';
    this.offset = offset;
  }
}

/** Limits of a piece of a body that is read in one go. It ends behind the line or element that reaches one of them. */
export interface PieceSize {
  /** Lines or elements. */
  events: number;
  /** Bytes of the source. */
  bytes: number;
  /** Reports that the last event cost so much that it ends the piece. */
  isSpent?(): boolean;
}

/**
 * Reads bodies: many lines, or JSON with many events, piece by piece. Whoever reads them drops the rows of those
 * before when one throws.
 */
export class BodyReader {
  readonly #rows: Rows;
  readonly #lines: LineReader;
  readonly #known: KnownLines;
  readonly #behind = { at: 0 };
  #isJson = false;
  #isInArray = false;
  /** Place where the body begins, behind a byte order mark; the place where it is read on; its end. */
  #first = 0;
  #at = 0;
  #end = 0;
  #eventCount = 0;
  /** Places of the lines that became rows, while they are asked for. */
  #starts: number[] | undefined;

  constructor(rows: Rows, lines: LineReader, known: KnownLines) {
    this.#rows = rows;
    this.#lines = lines;
    this.#known = known;
  }

  /** Turns to a body that is not read yet. */
  begin(start: number, end: number, isJson: boolean): void {
    const bytes = this.#rows.source;
    const first = behindMark(bytes, start, end);
    this.#isJson = isJson;
    this.#isInArray = false;
    this.#first = isJson ? skipBlanks(bytes, first, end) : first;
    this.#at = this.#first;
    this.#end = end;
    this.#eventCount = 0;
  }

  /**
   * Reads a piece; whether the body is over. Throws EventTooLarge, TooManyEvents and, of JSON, BadBody, and leaves the
   * rows then.
   */
  read(size: PieceSize): boolean {
    if (this.#isJson) this.#readJson(size);
    else this.#readLines(size);
    return this.#at >= this.#end && !this.#isInArray;
  }

  /**
   * Reads the bodies of lines that begin at 0 and end, each behind a line feed, at `ends`, as if they were one;
   * `counts` gets the rows of each. Throws EventTooLarge.
   */
  readLinesOf(ends: readonly number[], counts: number[]): void {
    const starts: number[] = [];
    const end = ends.at(-1) ?? 0;
    this.begin(0, end, false);
    this.#starts = starts;
    try {
      this.#readLines({ events: end, bytes: end });
    } finally {
      this.#starts = undefined;
    }
    counts.length = 0;
    let row = 0;
    for (const bodyEnd of ends) {
      const first = row;
      while (row < starts.length && starts[row] < bodyEnd) row++;
      counts.push(row - first);
    }
  }

  #readLines({ events, bytes: pieceBytes, isSpent = never }: PieceSize): void {
    const bytes = this.#rows.source;
    const end = this.#end;
    const until = Math.min(this.#at + pieceBytes, end);
    let search: Buffer | undefined;
    let at = this.#at;
    for (let left = events; at < until && left > 0 && !isSpent(); left--) {
      if (bytes[at] === OPEN_BRACE || bytes[at] === LESS) {
        const { count, behind } = this.#readKnown(at, until, left, LINE_FEED, isSpent);
        left -= count;
        at = behind;
        if (at >= until || left <= 0) break;
      }
      // A buffer is searched by vectors, an array of shared memory byte by byte.
      search ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      const found = search.indexOf(LINE_FEED, at);
      const lineEnd = found < 0 || found > end ? end : found;
      const hasReturn = lineEnd < end && lineEnd > at && bytes[lineEnd - 1] === CARRIAGE_RETURN;
      const contentEnd = hasReturn ? lineEnd - 1 : lineEnd;
      checkSize(at, contentEnd, at);
      if (contentEnd > at) {
        this.#count(at);
        const before = this.#rows.rowCount;
        this.#known.beginLine();
        this.#lines.line(at, contentEnd, false, false);
        if (this.#rows.rowCount > before) this.#starts?.push(at);
        if (lineEnd < end) this.#known.endLine(at, lineEnd + 1);
      }
      at = lineEnd + 1;
    }
    this.#at = at;
  }

  /** Reads lines with known templates, at most `linesMax`; how many there were, and the offset behind them. */
  #readKnown(
    at: number,
    until: number,
    linesMax: number,
    separator: Separator,
    isSpent: () => boolean,
  ): { count: number; behind: number } {
    const templates = this.#known.usable(this.#rows.source[at]);
    if (templates === undefined) return { count: 0, behind: at };
    const most = Math.min(linesMax, BODY_EVENTS_MAX - this.#eventCount);
    templates.read(this.#rows, at, until, 0, most, separator);
    const count = this.#known.take(templates, isSpent);
    this.#eventCount += count;
    for (let line = 0; this.#starts !== undefined && line < count; line++)
      this.#starts.push(templates.offset(line));
    return { count, behind: templates.offset(count) };
  }

  #readJson({ events, bytes: pieceBytes, isSpent = never }: PieceSize): void {
    const bytes = this.#rows.source;
    const end = this.#end;
    const until = Math.min(this.#at + pieceBytes, end);
    // An array that has begun has to end.
    for (let left = events; left > 0 && !isSpent(); left--) {
      if (this.#at >= until && !(this.#isInArray && this.#at >= end)) return;
      if (this.#isInArray && bytes[this.#at] === OPEN_BRACE) {
        const { count, behind } = this.#readKnown(this.#at, until, left, COMMA, isSpent);
        left -= count;
        this.#at = skipBlanks(bytes, behind, end);
        if (left <= 0 || this.#at >= until) return;
      }
      if (this.#isInArray) this.#nextElement(this.#at, end);
      else this.#nextValue(bytes, this.#at, end);
    }
  }

  /** Reads a value that stands by itself, or goes into an array. */
  #nextValue(bytes: Uint8Array, at: number, end: number): void {
    const isArray = bytes[at] === OPEN_BRACKET;
    const isContainer = isArray || bytes[at] === OPEN_BRACE;
    if (!isContainer && at > this.#first) throw new BadBody('JSON goes on behind its end', at);
    if (isArray) {
      this.#at = skipBlanks(bytes, at + 1, end);
      this.#isInArray = true;
      if (this.#at < end && bytes[this.#at] === CLOSE_BRACKET) this.#endArray(bytes, end);
      return;
    }
    this.#at = skipBlanks(bytes, this.#element(at, end), end);
    if (!isContainer && this.#at < end) throw new BadBody('JSON goes on behind its end', this.#at);
  }

  #nextElement(start: number, end: number): void {
    const bytes = this.#rows.source;
    this.#known.beginLine();
    const behind = this.#element(start, end);
    if (behind < end && bytes[behind] === COMMA) this.#known.endLine(start, behind + 1, COMMA);
    else this.#known.passLine();
    const at = skipBlanks(bytes, behind, end);
    this.#at = at;
    if (at < end && bytes[at] === CLOSE_BRACKET) this.#endArray(bytes, end);
    else if (at >= end || bytes[at] !== COMMA) throw new BadBody('no , or ] behind an element', at);
    else this.#at = skipBlanks(bytes, at + 1, end);
  }

  #endArray(bytes: Uint8Array, end: number): void {
    this.#at = skipBlanks(bytes, this.#at + 1, end);
    this.#isInArray = false;
  }

  #count(at: number): void {
    if (++this.#eventCount > BODY_EVENTS_MAX) throw new TooManyEvents(at);
  }

  /** Reads the value at `at` as an event; returns the offset behind it. */
  #element(at: number, end: number): number {
    this.#count(at);
    const lines = this.#lines;
    const leaves = lines.leaves;
    const byte = at < end ? this.#rows.source[at] : 0;
    lines.turnToSource(end);
    let behind = 0;
    if (byte === OPEN_BRACE && !lines.isSuspect) {
      behind = lines.object(at);
      if (behind < 0) throw new BadBody('malformed JSON', leaves.errorAt);
      checkSize(at, behind, at);
      lines.tellTrouble(at, behind);
      return behind;
    }
    behind = leaves.scanner.skip(leaves.bytes, at, end);
    if (behind < 0) throw new BadBody('malformed JSON', leaves.scanner.errorAt);
    checkSize(at, behind, at);
    this.#value(at, behind, byte);
    lines.tellTrouble(at, behind);
    return behind;
  }

  /** Reads the valid JSON value `[start, end)` as an event. */
  #value(start: number, end: number, byte: number): void {
    const lines = this.#lines;
    let at = start;
    if (lines.isBroken(start, end)) at = lines.turnToRepaired(start, end);
    if (byte === OPEN_BRACE) {
      lines.object(at);
    } else if (byte === QUOTE) {
      lines.content(lines.turnToString(at, this.#behind), false);
    } else {
      lines.jsonText(at, lines.leaves.inSide ? lines.leaves.end : end);
    }
  }
}

function never(): boolean {
  return false;
}

function checkSize(start: number, end: number, offset: number): void {
  if (end - start > EVENT_BYTES_MAX) throw new EventTooLarge(offset, end - start);
}

function behindMark(bytes: Uint8Array, start: number, end: number): number {
  const isMarked =
    start + 3 <= end && BYTE_ORDER_MARK.every((byte, at) => bytes[start + at] === byte);
  return isMarked ? start + 3 : start;
}
