import { isUtf8 } from 'node:buffer';
import { BACKSLASH, BLANK, DELETE, QUOTE } from '../../../engine/base/ascii.ts';
import { hexAt } from '../query-string.ts';
import { hostAndPort } from '../url.ts';

const LETTER_X = 0x78;
/** An IPv6 address that embeds one of IPv4 has 45. */
const ADDRESS_LENGTH_MAX = 45;
const IPV4 = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const IPV6 = /^[\da-f]{0,4}(?::[\da-f]{0,4}){2,8}(?:(?:\.\d{1,3}){3})?$/i;

/** Recognises a blank or a control character, which separate the parts of a line. */
export function isBlank(code: number): boolean {
  return code <= BLANK;
}

/** Offset of the first character from `at` on that is no blank; at most the length of `text`. */
export function blanksEnd(text: string, at: number): number {
  let offset = at;
  while (offset < text.length && isBlank(text.charCodeAt(offset))) offset++;
  return offset;
}

/** Offset of the first blank from `at` on, or `end`. */
export function wordEnd(text: string, at: number, end: number): number {
  let offset = at;
  while (offset < end && !isBlank(text.charCodeAt(offset))) offset++;
  return offset;
}

/** The words of `text[start, end)`, at most `count`; the last one has all that is left. */
export function wordsOf(text: string, start: number, end: number, count: number): string[] {
  const words: string[] = [];
  let at = blanksEnd(text, start);
  while (at < end) {
    const stop = words.length === count - 1 ? end : wordEnd(text, at, end);
    words.push(text.slice(at, stop).trimEnd());
    at = blanksEnd(text, stop);
  }
  return words;
}

/** Finds a backslash, not itself escaped, before the quote at `at`, looking back to `start`. */
export function isEscaped(text: string, start: number, at: number): boolean {
  let first = at;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/**
 * Offset of the closing quote of a part that begins at `start`: the first one that is not escaped and stands before a
 * blank or at the end. The length of `text` when there is none: the line was cut.
 */
export function quotedEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    const isLast = at + 1 === text.length || isBlank(text.charCodeAt(at + 1));
    if (isLast && !isEscaped(text, start, at)) return at;
  }
  return text.length;
}

/**
 * The meaning of a quoted part, with `\"`, `\\` and `\xhh` undone. The part stays as written when the result would
 * hold control characters or no UTF-8, as the first bytes of TLS do. Gives `undefined` for `-` and an empty part.
 */
export function meaningOf(text: string): string | undefined {
  if (text === '' || text === '-') return undefined;
  if (!text.includes('\\')) return text;
  const bytes = Buffer.from(text);
  let to = 0;
  for (let from = 0; from < bytes.length; from++) {
    const next = bytes[from] === BACKSLASH && from + 1 < bytes.length ? bytes[from + 1] : 0;
    const value = next === LETTER_X ? hexAt(bytes, from + 2) : -1;
    if (value >= 0) {
      if (value < BLANK || value === DELETE) return text;
      bytes[to++] = value;
      from += 3;
    } else {
      if (next === QUOTE || next === BACKSLASH) from++;
      bytes[to++] = bytes[from];
    }
  }
  const meaning = bytes.subarray(0, to);
  return isUtf8(meaning) ? meaning.toString() : text;
}

/** Recognises an IPv4 or IPv6 address, without port and brackets. */
export function isAddress(text: string): boolean {
  return text.length <= ADDRESS_LENGTH_MAX && (IPV4.test(text) || IPV6.test(text));
}

/**
 * Recognises addresses between commas, as in X-Forwarded-For: with ports or without, some perhaps `unknown` or hidden
 * by a name with `_`. Source: RFC 7239 sections 6 and 7.4.
 */
export function isAddressList(text: string): boolean {
  let addressCount = 0;
  for (let at = 0; at <= text.length; ) {
    const comma = text.indexOf(',', at);
    const end = comma < 0 ? text.length : comma;
    const part = text.slice(at, end).trim();
    if (isAddress(part) || isAddress(hostAndPort(part).host)) addressCount++;
    else if (part !== 'unknown' && !part.startsWith('_')) return false;
    at = end + 1;
  }
  return addressCount > 0;
}
