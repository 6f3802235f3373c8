import { APOSTROPHE, BLANK, EQUALS } from '../../engine/base/ascii.ts';
import { PATH_MESSAGE } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { latin1, OPEN_BRACE, QUOTE, skipBlanks } from './text.ts';

/** Mark of JSON in the text of a line. Source: CEE Log Syntax. */
const COOKIE = '@cee:';
/** Places of a text that are read as an object before it is taken to have none. */
export const OBJECTS_TRIED_MAX = 4;

/**
 * Offset of the next `{` of a text that may begin an object: a name follows, and it is no value of a pair or quoted.
 * -1 when there is none before `end`.
 */
export function nextObject(bytes: Uint8Array, text: number, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== OPEN_BRACE) continue;
    const before = at > text ? bytes[at - 1] : BLANK;
    const isValue = before === EQUALS || before === QUOTE || before === APOSTROPHE;
    const inside = skipBlanks(bytes, at + 1, end);
    if (!isValue && inside < end && bytes[inside] === QUOTE) return at;
  }
  return -1;
}

/**
 * The text around the object `[object, objectEnd)` in `[text, end)`; `undefined` when it is only blanks and the
 * cookie.
 */
export function textAround(
  bytes: Uint8Array,
  text: number,
  end: number,
  object: number,
  objectEnd: number,
): TextAround | undefined {
  const start = skipBlanks(bytes, text, object);
  const isLast = skipBlanks(bytes, objectEnd, end) === end;
  if (start === object && isLast) return undefined;
  const before = trimmed(bytes, start, object);
  const isCookie = before.length === COOKIE.length && latin1(before, 0, before.length) === COOKIE;
  if (isCookie && isLast) return undefined;
  return new TextAround(before, trimmed(bytes, objectEnd, end));
}

/** The text before and behind an object, without the blanks at the ends of both. */
export class TextAround {
  readonly #before: Uint8Array;
  readonly #behind: Uint8Array;

  /** Both are views that stay valid until the message is made. */
  constructor(before: Uint8Array, behind: Uint8Array) {
    this.#before = before;
    this.#behind = behind;
  }

  /** Puts both into the side buffer of `rows`, with `message` between them; `start` and `length` of a row entry. */
  join(rows: Rows, message: Uint8Array): { start: number; length: number } {
    const parts = [this.#before, message, this.#behind].filter(({ length }) => length > 0);
    const length = parts.reduce((sum, part) => sum + part.length, Math.max(parts.length - 1, 0));
    const start = rows.reserveSide(length);
    let at = start;
    for (const part of parts) {
      if (at > start) rows.side[at++] = BLANK;
      rows.side.set(part, at);
      at += part.length;
    }
    return { start: ~start, length };
  }

  /** Joins both with the message of the row that is being written. */
  joinMessage(rows: Rows): void {
    let entry = rows.rowEntry[rows.rowCount];
    while (entry < rows.entryCount && rows.path[entry] !== PATH_MESSAGE) entry++;
    if (entry === rows.entryCount) return;
    // A view of the side buffer would not survive its growth.
    const { start, length } = this.join(rows, rows.text(entry).slice());
    rows.start[entry] = start;
    rows.length[entry] = length;
  }
}

function trimmed(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const from = skipBlanks(bytes, start, end);
  let to = end;
  while (to > from && skipBlanks(bytes, to - 1, to) === to) to--;
  return bytes.subarray(from, to);
}
