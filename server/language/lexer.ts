import type { Pattern, RangeEnd } from '../../engine/query/model/predicate.ts';

/** Characters of a query; a longer one is refused. */
export const QUERY_CHARACTERS_MAX = 65_536;
/** Wildcards of one term: matching costs their number times the text. */
const WILDCARDS_MAX = 64;

/** A malformed query. `position` counts UTF-16 units from 0; the message holds it too. */
export class SearchError extends Error {
  readonly position: number;

  constructor(position: number, what: string) {
    super(`at position ${position}: ${what}`);
    this.name = 'SearchError';
    this.position = position;
  }
}

/** Operator of a comparison: `a:>=5` has `>=`. */
export type Comparison = '>' | '>=' | '<' | '<=';

/**
 * A piece of a query; `at` is where it begins. The last one is `end`, or a caret.
 * `name` is the attribute before a colon; `anywhere` the `*` before one; `text` a bare term or value; `close` a closing
 * parenthesis; `regex` what stands between slashes.
 */
export type Token =
  | { type: 'open' | 'close' | 'and' | 'or' | 'not' | 'anywhere' | 'end'; at: number }
  | { type: 'name'; at: number; name: string }
  | { type: 'text'; at: number; pattern: Pattern }
  | { type: 'quoted'; at: number; text: string }
  | { type: 'regex'; at: number; source: string }
  | { type: 'comparison'; at: number; comparison: Comparison; value: string }
  | { type: 'range'; at: number; from?: RangeEnd; to?: RangeEnd }
  | Caret;

/**
 * The end of a text that goes on behind it: the piece that is being typed there begins at `at`, and is empty between
 * pieces.
 */
export interface Caret {
  type: 'caret';
  at: number;
  /** The typed beginning of the piece, quotes and escapes undone. */
  typed: string;
  quoted: boolean;
  /**
   * `any`: what the parser expects; `bound`: a value of a comparison or a range; `to`: the TO of a range; `close`: its
   * end.
   */
  place: 'any' | 'bound' | 'to' | 'close';
  /** Characters that end the piece besides the usual ones, unless a closing quote does. */
  ends: string;
}

const BLANK = /\s/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Cuts a query into tokens, the last of type `end`, in linear time. Throws SearchError.
 * Where a value is expected (after `name:` and inside `name:( )`) a colon belongs to the value, `>`, `<`, `[` and `{`
 * begin comparisons and ranges. Source: INTERFACE.md 10.
 */
export function tokenize(query: string): Token[] {
  return new Lexer(query, false).tokens();
}

/** Tokens of a query that goes on behind its end: the last one is a caret, and nothing is missing there. */
export function tokenizeToCaret(query: string): Token[] {
  return new Lexer(query, true).tokens();
}

/** End of the piece that is being typed at `position` of `query`. */
export function endOfPiece(query: string, position: number, { quoted, ends }: Caret): number {
  const isWhole = quoted && isTokenizable(query);
  let at = position;
  for (; at < query.length; at++) {
    const character = query[at];
    if (character === '\\') at++;
    else if (quoted && character === '"') return at + 1;
    else if (!isWhole && (isBreak(character) || ends.includes(character))) return at;
  }
  return Math.min(at, query.length);
}

function isTokenizable(query: string): boolean {
  try {
    tokenize(query);
    return true;
  } catch (error) {
    if (error instanceof SearchError) return false;
    throw error;
  }
}

/** Recognises a character that ends bare terms. */
function isBreak(character: string): boolean {
  return BLANK.test(character) || '()"'.includes(character);
}

/** Ends the work of a lexer whose text goes on behind its end. */
class CaretReached extends Error {
  readonly caret: Caret;

  constructor(caret: Caret) {
    super('the caret is reached');
    this.caret = caret;
  }
}

/** The end of a range at `text`, with its number when it is one. */
export function rangeEnd(text: string, inclusive: boolean): RangeEnd {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? { text, number, inclusive } : { text, inclusive };
}

class Lexer {
  readonly #query: string;
  /** Set when the text goes on behind its end. */
  readonly #isCut: boolean;
  readonly #tokens: Token[] = [];
  /** For each open parenthesis whether it holds the values of an attribute. */
  readonly #groups: boolean[] = [];
  #at = 0;

  constructor(query: string, isCut: boolean) {
    if (query.length > QUERY_CHARACTERS_MAX) {
      throw new SearchError(
        QUERY_CHARACTERS_MAX,
        `expected the end, as the query has ${query.length} characters; allowed: ${QUERY_CHARACTERS_MAX}`,
      );
    }
    this.#query = query;
    this.#isCut = isCut;
  }

  tokens(): Token[] {
    try {
      this.#skipBlanks();
      while (this.#at < this.#query.length) {
        this.#next();
        this.#skipBlanks();
      }
      if (this.#isCut) this.#reach(this.#at, '', 'any', this.#groups.at(-1) === true ? '' : ':');
      this.#tokens.push({ type: 'end', at: this.#at });
    } catch (error) {
      if (!(error instanceof CaretReached)) throw error;
      this.#tokens.push(error.caret);
    }
    return this.#tokens;
  }

  /** Is set when the text ends here and goes on. */
  get #atCaret(): boolean {
    return this.#isCut && this.#at === this.#query.length;
  }

  #reach(at: number, typed: string, place: Caret['place'], ends = '', quoted = false): never {
    throw new CaretReached({ type: 'caret', at, typed, quoted, place, ends });
  }

  #skipBlanks(): void {
    while (this.#at < this.#query.length && BLANK.test(this.#query[this.#at])) this.#at++;
  }

  /** Reports whether a term ends at `at`. */
  #endsAt(at: number): boolean {
    const character = this.#query[at];
    return character === undefined || isBreak(character);
  }

  #next(): void {
    const at = this.#at;
    const character = this.#query[at];
    const inGroup = this.#groups.at(-1) ?? false;
    if (character === '(') {
      this.#open(inGroup);
    } else if (character === ')') {
      this.#groups.pop();
      this.#at++;
      this.#tokens.push({ type: 'close', at });
    } else if (character === '"') {
      this.#tokens.push({ type: 'quoted', at, text: this.#quoted('any') });
    } else if (character === '-') {
      this.#at++;
      if (!this.#atCaret && /^[\s)]?$/.test(this.#query[this.#at] ?? '')) {
        throw new SearchError(at, 'expected a term right after "-"; write "\\-" for the character');
      }
      this.#tokens.push({ type: 'not', at });
    } else if (inGroup) {
      this.#value();
    } else {
      this.#term();
    }
  }

  #open(inGroup: boolean): void {
    this.#groups.push(inGroup);
    this.#tokens.push({ type: 'open', at: this.#at++ });
  }

  /** A keyword, a bare term, or a name and what follows its colon. */
  #term(): void {
    const at = this.#at;
    const pattern = this.#pattern('any', ':');
    if (this.#query[this.#at] !== ':') {
      this.#addText(at, pattern);
      return;
    }
    if (pattern.length === 0) {
      throw new SearchError(at, 'expected an attribute before ":"; write "\\:" for the character');
    }
    const [piece] = pattern;
    if (pattern.length > 1 || ('wildcard' in piece && piece.wildcard === '?')) {
      const what = 'expected an attribute without wildcards, or "*", before ":"';
      throw new SearchError(at, what);
    }
    if ('wildcard' in piece) this.#tokens.push({ type: 'anywhere', at });
    else this.#tokens.push({ type: 'name', at, name: piece.literal });
    this.#at++;
    if (this.#query[this.#at] === '(') {
      this.#open(true);
    } else if (this.#query[this.#at] === '"') {
      this.#tokens.push({ type: 'quoted', at: this.#at, text: this.#quoted('any') });
    } else if (this.#atCaret) {
      this.#reach(this.#at, '', 'any');
    } else if (this.#endsAt(this.#at)) {
      throw new SearchError(
        this.#at,
        'expected a value right after ":"; write "\\:" for the character',
      );
    } else {
      this.#value();
    }
  }

  /** A comparison, a range or a text, of an attribute that has been named. */
  #value(): void {
    const at = this.#at;
    const character = this.#query[at];
    if (character === '>' || character === '<') {
      this.#comparison(character);
    } else if (character === '[' || character === '{') {
      this.#range(character === '[');
    } else if (character === '/' && this.#regexEnd() > 0) {
      const end = this.#regexEnd();
      this.#tokens.push({ type: 'regex', at, source: this.#query.slice(at + 1, end) });
      this.#at = end + 1;
    } else {
      const pattern = this.#pattern('any');
      if (this.#groups.at(-1) === true) this.#addText(at, pattern);
      else this.#tokens.push({ type: 'text', at, pattern });
    }
  }

  /**
   * Place of the slash that ends the regular expression which begins here; -1 when none begins. The next slash
   * without a backslash ends it, if a term ends there and something stands between.
   */
  #regexEnd(): number {
    const query = this.#query;
    let end = this.#at + 1;
    while (end < query.length && query[end] !== '/') end += query[end] === '\\' ? 2 : 1;
    const isCut = this.#isCut && end + 1 >= query.length;
    return end < query.length && end > this.#at + 1 && this.#endsAt(end + 1) && !isCut ? end : -1;
  }

  /** Adds a bare text, which is an operator when it is spelled as one, in capitals and without escapes. */
  #addText(at: number, pattern: Pattern): void {
    const source = this.#query.slice(at, this.#at);
    if (source === 'AND') this.#tokens.push({ type: 'and', at });
    else if (source === 'OR') this.#tokens.push({ type: 'or', at });
    else if (source === 'NOT') this.#tokens.push({ type: 'not', at });
    else this.#tokens.push({ type: 'text', at, pattern });
  }

  #comparison(character: '>' | '<'): void {
    const at = this.#at++;
    const orEqual = this.#query[this.#at] === '=';
    if (orEqual) this.#at++;
    this.#skipBlanks();
    const comparison: Comparison = orEqual ? `${character}=` : character;
    const value = this.#literal('', `"${comparison}"`);
    this.#tokens.push({ type: 'comparison', at, comparison, value });
  }

  #range(fromInclusive: boolean): void {
    const at = this.#at++;
    const from = this.#rangeValue('the start of a range');
    const separator = this.#at;
    const rest = this.#query.slice(separator, separator + 3);
    if (this.#isCut && 'TO'.startsWith(rest)) this.#reach(separator, rest, 'to');
    if (!/^TO\s$/.test(rest)) {
      throw new SearchError(separator, 'expected "TO" between the ends of a range');
    }
    this.#at += 2;
    const to = this.#rangeValue('the end of a range');
    if (this.#atCaret) this.#reach(this.#at, '', 'close');
    const close = this.#query[this.#at];
    if (close !== ']' && close !== '}') throw new SearchError(this.#at, 'expected "]" or "}"');
    this.#at++;
    this.#tokens.push({
      type: 'range',
      at,
      ...(from === undefined ? {} : { from: rangeEnd(from, fromInclusive) }),
      ...(to === undefined ? {} : { to: rangeEnd(to, close === ']') }),
    });
  }

  /** The text of a range's end, `undefined` for `*`. */
  #rangeValue(what: string): string | undefined {
    this.#skipBlanks();
    let value: string | undefined;
    if (this.#query[this.#at] === '*' && /[\s\]}]/.test(this.#query[this.#at + 1] ?? ''))
      this.#at++;
    else value = this.#literal(']}', what);
    this.#skipBlanks();
    return value;
  }

  /** A quoted or bare text without wildcards; `ends` are characters that end a bare one besides the usual. */
  #literal(ends: string, what: string): string {
    if (this.#query[this.#at] === '"') return this.#quoted('bound', ends);
    const at = this.#at;
    const pattern = this.#pattern('bound', ends);
    const [piece] = pattern;
    if (pattern.length === 0) throw new SearchError(at, `expected a value for ${what}`);
    if (pattern.length > 1 || !('literal' in piece)) {
      throw new SearchError(at, `expected a value without wildcards for ${what}`);
    }
    return piece.literal;
  }

  /** Reads to the end of a bare text, or to one of `ends`; undoes escapes, finds wildcards. */
  #pattern(place: Caret['place'], ends = ''): Pattern {
    const start = this.#at;
    const pattern: Pattern = [];
    let typed = '';
    let wildcards = 0;
    let literal = '';
    for (; !this.#endsAt(this.#at); this.#at++) {
      const character = this.#query[this.#at];
      if (ends.includes(character)) break;
      if (character !== '*' && character !== '?') {
        literal += character === '\\' ? this.#escaped() : character;
        continue;
      }
      typed += literal + character;
      if (literal !== '') pattern.push({ literal });
      literal = '';
      const last = pattern.at(-1);
      const repeated = last !== undefined && 'wildcard' in last && last.wildcard === '*';
      if (character === '*' && repeated) continue;
      if (++wildcards > WILDCARDS_MAX) {
        throw new SearchError(start, `the term has too many wildcards; allowed: ${WILDCARDS_MAX}`);
      }
      pattern.push({ wildcard: character });
    }
    if (this.#atCaret) this.#reach(start, typed + literal, place, ends);
    if (literal !== '') pattern.push({ literal });
    return pattern;
  }

  /** The character that a backslash at the place escapes; goes on to it. */
  #escaped(): string {
    if (this.#at + 1 < this.#query.length) return this.#query[++this.#at];
    if (this.#isCut) return '';
    throw new SearchError(this.#at, 'expected a character after "\\"');
  }

  #quoted(place: Caret['place'], ends = ''): string {
    const start = this.#at++;
    let text = '';
    for (; this.#at < this.#query.length; this.#at++) {
      const character = this.#query[this.#at];
      if (character === '"') {
        this.#at++;
        return text;
      }
      text += character === '\\' ? this.#escaped() : character;
    }
    if (this.#isCut) this.#reach(start, text, place, ends, true);
    throw new SearchError(start, 'expected a closing quote');
  }
}
