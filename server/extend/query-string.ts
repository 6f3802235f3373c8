import { BLANK, PERCENT, PLUS } from '../../engine/base/ascii.ts';
import { ATTRIBUTES_MAX } from '../../engine/base/limits.ts';
import type { Attributes, Extraction, Extractor } from './extraction.ts';

/**
 * Finds the parameters of a query string, with or without its `?`; a text without `?` and `=` is none.
 * Source: WHATWG URL, section 5.1.
 */
export class QueryStringExtractor implements Extractor {
  extract(text: string): Extraction | undefined {
    const hasMark = text.startsWith('?');
    if (!hasMark && !text.includes('=')) return undefined;
    const attributes = queryParameters(hasMark ? text.slice(1) : text);
    return attributes.size === 0 ? undefined : { attributes };
  }
}

/**
 * The parameters of a query string without its `?`, decoded, in their order; those without a name are left out, one
 * without `=` is empty, a repeated one has an array. Those beyond ATTRIBUTES_MAX are left out.
 */
export function queryParameters(query: string): Attributes {
  const parameters = new Map<string, string | string[]>();
  let count = 0;
  for (let at = 0; at < query.length && count < ATTRIBUTES_MAX; ) {
    const ampersand = query.indexOf('&', at);
    const end = ampersand < 0 ? query.length : ampersand;
    const part = query.slice(at, end);
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name !== '') {
      count++;
      const value = equals < 0 ? '' : decoded(part.slice(equals + 1));
      const present = parameters.get(name);
      if (present === undefined) parameters.set(name, value);
      else if (typeof present === 'string') parameters.set(name, [present, value]);
      else present.push(value);
    }
    at = end + 1;
  }
  return parameters;
}

/** `text` with `+` as a blank and `%hh` undone as UTF-8; a `%` without two digits stays, U+FFFD is for bad UTF-8. */
function decoded(text: string): string {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text;
  const bytes = Buffer.from(text);
  let to = 0;
  for (let from = 0; from < bytes.length; from++) {
    const byte = bytes[from];
    const value = byte === PERCENT ? hexAt(bytes, from + 1) : -1;
    if (value >= 0) from += 2;
    bytes[to++] = value >= 0 ? value : byte === PLUS ? BLANK : byte;
  }
  return bytes.toString('utf8', 0, to);
}

/** Two hexadecimal digits at `at` as a number; -1 when they are not there. */
export function hexAt(bytes: Uint8Array, at: number): number {
  if (at + 2 > bytes.length) return -1;
  const high = hexDigit(bytes[at]);
  const low = hexDigit(bytes[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
