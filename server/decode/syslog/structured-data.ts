import { AT, BLANK, DELETE, EQUALS } from '../../../engine/base/ascii.ts';
import { Note, type Pairs } from '../pairs.ts';
import { BACKSLASH, CLOSE_BRACKET, OPEN_BRACKET, QUOTE } from '../text.ts';

/**
 * Finds the elements of structured data, `[id name="value" ...]` one behind the other, and adds each as an ELEMENT
 * with its members to `pairs`. Returns the offset behind them; -1, adding none, when it is not structured data. An
 * element that consists of a name which no enterprise owns (`[info]`) is none: it begins a text. Source: RFC 5424
 * section 6.3; a `]` inside of quotes may lack its backslash.
 */
export function scanStructuredData(
  bytes: Uint8Array,
  start: number,
  end: number,
  pairs: Pairs,
): number {
  const count = pairs.count;
  let at = start;
  do {
    at = scanElement(bytes, at, end, pairs);
  } while (at >= 0 && at < end && bytes[at] === OPEN_BRACKET);
  const isDelimited = at === end || (at >= 0 && bytes[at] === BLANK);
  if (!isDelimited) pairs.count = count;
  return isDelimited ? at : -1;
}

function scanElement(bytes: Uint8Array, start: number, end: number, pairs: Pairs): number {
  let at = nameEnd(bytes, start + 1, end);
  if (at === start + 1) return -1;
  pairs.add(start + 1, at, at, at, Note.ELEMENT);
  if (at < end && bytes[at] === CLOSE_BRACKET) return hasOwner(bytes, start, at) ? at + 1 : -1;
  while (at < end && bytes[at] === BLANK) {
    const nameStart = at + 1;
    const equals = nameEnd(bytes, nameStart, end);
    const isValue = equals + 1 < end && bytes[equals] === EQUALS && bytes[equals + 1] === QUOTE;
    if (equals === nameStart || !isValue) return -1;
    const valueStart = equals + 2;
    let note: Note = Note.STRING;
    at = valueStart;
    while (at < end && bytes[at] !== QUOTE) {
      if (bytes[at] === BACKSLASH) {
        note = Note.ESCAPED;
        at++;
      }
      at++;
    }
    if (at >= end) return -1;
    pairs.add(nameStart, equals, valueStart, at, note);
    at++;
  }
  return at < end && bytes[at] === CLOSE_BRACKET ? at + 1 : -1;
}

/** Offset of the first byte from `start` on that no name may have. */
function nameEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte <= BLANK || byte === DELETE) break;
    if (byte === EQUALS || byte === CLOSE_BRACKET || byte === QUOTE) break;
    at++;
  }
  return at;
}

function hasOwner(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === AT) return true;
  return false;
}
