import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { LineReader } from './line.ts';
import { CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipBlanks } from './text.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A body of type JSON that is not JSON; nothing of it is kept. Source: decisions.md 1.8. */
export class BadBody extends Error {
  /** Bytes of the source before the fault. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = 'BadBody';
    this.offset = offset;
  }
}

/** An event of a body that is longer than EVENT_BYTES_MAX; nothing of the body is kept. Source: decisions.md 1.8. */
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

/** Reads bodies: many lines, or JSON with many events. All events of a body become rows, or none. */
export class BodyReader {
  readonly #rows: Rows;
  readonly #lines: LineReader;
  readonly #behind = { at: 0 };

  constructor(rows: Rows, lines: LineReader) {
    this.#rows = rows;
    this.#lines = lines;
  }

  /** Reads lines that end with `\n` or `\r\n`; the last may lack its end. Throws EventTooLarge. */
  text(start: number, end: number): void {
    this.#atomically(() => {
      const bytes = this.#rows.source;
      // A buffer is searched by vectors, an array of shared memory byte by byte.
      const search = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      let at = behindMark(bytes, start, end);
      while (at < end) {
        const found = search.indexOf(LINE_FEED, at);
        const lineEnd = found < 0 || found > end ? end : found;
        const hasReturn = lineEnd < end && lineEnd > at && bytes[lineEnd - 1] === CARRIAGE_RETURN;
        const contentEnd = hasReturn ? lineEnd - 1 : lineEnd;
        checkSize(at, contentEnd, at);
        this.#lines.line(at, contentEnd, false, false);
        at = lineEnd + 1;
      }
    });
  }

  /**
   * Reads one JSON value, or objects and arrays one behind the other. The elements of an array are events, strings are
   * lines of content. Throws BadBody and EventTooLarge.
   */
  json(start: number, end: number): void {
    this.#atomically(() => {
      const bytes = this.#rows.source;
      const first = skipBlanks(bytes, behindMark(bytes, start, end), end);
      let at = first;
      while (at < end) {
        const isArray = bytes[at] === OPEN_BRACKET;
        const isContainer = isArray || bytes[at] === OPEN_BRACE;
        if (!isContainer && at > first) throw new BadBody('JSON goes on behind its end', at);
        at = skipBlanks(bytes, isArray ? this.#array(at, end) : this.#element(at, end), end);
        if (!isContainer && at < end) throw new BadBody('JSON goes on behind its end', at);
      }
    });
  }

  /** Leaves the rows as they were when `read` throws. */
  #atomically(read: () => void): void {
    const rows = this.#rows;
    const { rowCount, sideBytes } = rows;
    try {
      read();
    } catch (error) {
      rows.rowCount = rowCount;
      rows.sideBytes = sideBytes;
      rows.dropRow();
      throw error;
    }
  }

  #array(start: number, end: number): number {
    const bytes = this.#rows.source;
    let at = skipBlanks(bytes, start + 1, end);
    if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      at = skipBlanks(bytes, this.#element(at, end), end);
      if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
      if (at >= end || bytes[at] !== COMMA) throw new BadBody('no , or ] behind an element', at);
      at = skipBlanks(bytes, at + 1, end);
    }
  }

  /** Reads the value at `at` as an event; returns the offset behind it. */
  #element(at: number, end: number): number {
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

function checkSize(start: number, end: number, offset: number): void {
  if (end - start > EVENT_BYTES_MAX) throw new EventTooLarge(offset, end - start);
}

function behindMark(bytes: Uint8Array, start: number, end: number): number {
  const isMarked =
    start + 3 <= end && BYTE_ORDER_MARK.every((byte, at) => bytes[start + at] === byte);
  return isMarked ? start + 3 : start;
}
