import type { Attributes } from './extraction.ts';
import { toNumber } from './grok-matchers.ts';

const QUOTES = '""\'\'<>';
const DELIMITERS = ' ,;\t\r\n';
/** Pairs of one text, at most: those behind are left out. */
const PAIRS_MAX = 1_000;

/**
 * Finds pairs `name separator value` with a separator, quotes and delimiters of the user's own. Names are letters,
 * digits, `_`, `.`, `-`, `@`, and whatever is beyond ASCII, or stand in quotes. Values are quoted, or end at a
 * delimiter. Empty values and `null` give nothing.
 */
export class PairFilter {
  #separator: string;
  #isValueCharacter: (character: string) => boolean;
  #closings: ReadonlyMap<string, string>;
  #delimiters: string;

  /**
   * `characters`: with any, values without quotes have letters, digits, `_.-@` and these only. `quotes`: an opening and
   * a closing character each; empty: `""`, `''` and `<>`. `delimiters`: a text that stands between pairs; empty: any
   * of blank, comma, semicolon and line end.
   */
  constructor(separator: string, characters: string, quotes: string, delimiters: string) {
    this.#separator = separator;
    const extra = new Set(characters);
    this.#isValueCharacter =
      characters === ''
        ? () => true
        : (character) => isNameCharacter(character) || extra.has(character);
    const pairs = quotes === '' ? QUOTES : quotes;
    const closings = new Map<string, string>();
    for (let at = 0; at < pairs.length; at += 2) closings.set(pairs[at], pairs[at + 1]);
    this.#closings = closings;
    this.#delimiters = delimiters;
  }

  /** The pairs of `text`, in their order; a repeated name keeps its last value. */
  read(text: string): Attributes {
    const attributes: Attributes = new Map();
    const closers = new Map<string, number>();
    let at = 0;
    while (at < text.length && attributes.size < PAIRS_MAX) {
      const nameStart = at;
      const nameEnd = this.#nameEnd(text, at, closers);
      if (nameEnd === nameStart || !text.startsWith(this.#separator, nameEnd)) {
        at = Math.max(nameEnd, nameStart + 1);
        continue;
      }
      const isQuotedName = !isNameCharacter(text[nameStart]);
      const name = isQuotedName
        ? text.slice(nameStart + 1, nameEnd - 1)
        : text.slice(nameStart, nameEnd);
      let valueStart = nameEnd + this.#separator.length;
      while (text[valueStart] === ' ' && !this.#isDelimiter(text, valueStart)) valueStart++;
      const quotedEnd = this.#quotedEnd(text, valueStart, closers);
      const end = quotedEnd > 0 ? quotedEnd : this.#plainEnd(text, valueStart);
      const value =
        quotedEnd > 0 ? text.slice(valueStart + 1, quotedEnd - 1) : text.slice(valueStart, end);
      if (value !== '' && !(value === 'null' && quotedEnd === 0) && name !== '') {
        attributes.set(name, quotedEnd > 0 ? value : toNumber(value));
      }
      at = Math.max(end, nameEnd + 1);
    }
    return attributes;
  }

  #nameEnd(text: string, start: number, closers: Map<string, number>): number {
    if (!isNameCharacter(text[start])) {
      const end = this.#quotedEnd(text, start, closers);
      return end > 0 && text.startsWith(this.#separator, end) ? end : start;
    }
    let at = start;
    while (
      at < text.length &&
      isNameCharacter(text[at]) &&
      !(at > start && text.startsWith(this.#separator, at))
    ) {
      at++;
    }
    return at;
  }

  /**
   * Offset behind the closing quote of the one at `start`; 0 when there is none. `closers` has where each closing quote
   * comes next, so that it is looked for once and the time stays in proportion to the text.
   */
  #quotedEnd(text: string, start: number, closers: Map<string, number>): number {
    const closing = this.#closings.get(text[start] ?? '');
    if (closing === undefined) return 0;
    let end = closers.get(closing) ?? start;
    if (end <= start) {
      end = text.indexOf(closing, start + 1);
      if (end < 0) end = Number.POSITIVE_INFINITY;
      closers.set(closing, end);
    }
    return end < text.length ? end + 1 : 0;
  }

  #plainEnd(text: string, start: number): number {
    let at = start;
    while (at < text.length && this.#isValueCharacter(text[at]) && !this.#isDelimiter(text, at)) {
      at++;
    }
    return at;
  }

  #isDelimiter(text: string, at: number): boolean {
    if (this.#delimiters !== '') return text.startsWith(this.#delimiters, at);
    return DELIMITERS.includes(text[at]);
  }
}

function isNameCharacter(character: string): boolean {
  return /^[\w.@\-\u0080-\uffff]$/.test(character);
}
