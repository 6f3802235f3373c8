import { pointBytes } from '../../word/code-point.ts';
import type { Pattern } from '../model/predicate.ts';
import { encodeText } from './text.ts';

/** Tokens above all bytes: `?`, `*`, and the end of the pattern. */
const ONE = 256;
const ANY = 257;
const END = 258;

/** A pattern as tokens: a byte, `?` or `*` each; the last one is the end. */
export type PatternTokens = Int16Array;

/** Compiles a pattern; literals become WTF-8. */
export function compilePattern(pattern: Pattern): PatternTokens {
  const tokens: number[] = [];
  for (const piece of pattern) {
    if ('literal' in piece) for (const byte of encodeText(piece.literal)) tokens.push(byte);
    else tokens.push(piece.wildcard === '*' ? ANY : ONE);
  }
  tokens.push(END);
  return Int16Array.from(tokens);
}

/**
 * True when the whole of `bytes[start, end)` is as the pattern says. `fold` maps each byte before it is compared:
 * SAME or LOWER of text.ts. Goes back to the last `*` only: at most pattern times text steps.
 */
export function matchesPattern(
  tokens: PatternTokens,
  bytes: Uint8Array,
  start: number,
  end: number,
  fold: Uint8Array,
): boolean {
  let token = 0;
  let at = start;
  let anyToken = -1;
  let anyAt = start;
  while (at < end) {
    const wanted = tokens[token];
    if (wanted === ANY) {
      anyToken = token++;
      anyAt = at;
      if (tokens[token] === END) return true;
    } else if (wanted === ONE) {
      token++;
      at += pointBytes(bytes[at]);
    } else if (wanted === fold[bytes[at]]) {
      token++;
      at++;
    } else {
      if (anyToken < 0) return false;
      token = anyToken + 1;
      anyAt += pointBytes(bytes[anyAt]);
      at = anyAt;
    }
  }
  while (tokens[token] === ANY) token++;
  return tokens[token] === END;
}
