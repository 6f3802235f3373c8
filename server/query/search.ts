import type { Pattern, Predicate, WordPattern } from '../../engine/query/predicate.ts';
import { allOf, anyOf, negated, pathsOfName } from './filter.ts';
import { rangeEnd, SearchError, type Token, tokenize } from './lexer.ts';

/** Parentheses inside parentheses. */
export const SEARCH_DEPTH_MAX = 100;
/** Terms of a query. */
export const SEARCH_CLAUSES_MAX = 1_000;

/** The path of the field whose id is `name`; `undefined` when there is none. */
export type DeclaredPath = (name: string) => string | undefined;

const NO_FIELDS: DeclaredPath = () => undefined;

/** Runs of word characters, and runs of others. Source: decisions.md 4.1, FORMAT.md. */
const RUNS = /([\p{L}\p{N}\p{M}_]+)|[^\p{L}\p{N}\p{M}_]+/gu;

/**
 * Parses a query of the search bar, of `search.query`, or of a security filter. Throws SearchError when malformed.
 *
 * An empty query, `*`, and a bare term of nothing but `*` and other characters hold for every event. A term without a
 * word character and without wildcard (`"--"`) holds for none: no message has such a word.
 * An attribute's value is compared exactly, also that of `message:`. `declared` gives the path of a name that is the id of
 * a field, which wins over what the name means otherwise. Source: decisions.md 4.
 */
export function parseSearch(query: string, declared: DeclaredPath = NO_FIELDS): Predicate {
  const parser = new Parser(tokenize(query), declared);
  return parser.parse();
}

/** The attribute names in a query, as they are written, each once. Throws SearchError when malformed. */
export function searchNames(query: string): Set<string> {
  const names = new Set<string>();
  parseSearch(query, (name) => {
    names.add(name);
    return undefined;
  });
  return names;
}

/**
 * The words of a pattern, lower-cased, each with the wildcards that touch it. A word of `*` alone at either end says
 * nothing and is left out. Source: decisions.md 4.1.
 */
export function wordsOf(pattern: Pattern): WordPattern[] {
  const words: WordPattern[] = [];
  let word: WordPattern = [];
  const endWord = (): void => {
    if (word.length > 0) words.push(word);
    word = [];
  };
  for (const piece of pattern) {
    if ('wildcard' in piece) {
      word.push(piece);
      continue;
    }
    for (const [run, characters] of piece.literal.matchAll(RUNS)) {
      if (characters === undefined) endWord();
      else word.push({ literal: run.toLowerCase() });
    }
  }
  endWord();
  let from = 0;
  let to = words.length;
  while (from < to && isAnyRun(words[from])) from++;
  while (from < to && isAnyRun(words[to - 1])) to--;
  return words.slice(from, to);
}

/** Whether a pattern is `*`. */
function isAnyRun(pattern: Pattern): boolean {
  const [piece] = pattern;
  return pattern.length === 1 && 'wildcard' in piece && piece.wildcard === '*';
}

class Parser {
  readonly #tokens: Token[];
  readonly #declared: DeclaredPath;
  #next = 0;
  #depth = 0;
  #clauses = 0;

  constructor(tokens: Token[], declared: DeclaredPath) {
    this.#tokens = tokens;
    this.#declared = declared;
  }

  parse(): Predicate {
    if (this.#token().type === 'end') return { type: 'all' };
    const predicate = this.#alternatives(undefined);
    const token = this.#token();
    if (token.type !== 'end') throw new SearchError(token.at, `unexpected ")"; nothing is open`);
    return predicate;
  }

  /** The token at the place; the last one, `end`, is never passed. */
  #token(): Token {
    return this.#tokens[this.#next];
  }

  /** Terms between OR. `paths` are those of the attribute in whose parentheses they stand. */
  #alternatives(paths: string[] | undefined): Predicate {
    const children = [this.#conjunction(paths)];
    while (this.#token().type === 'or') {
      this.#next++;
      children.push(this.#conjunction(paths));
    }
    return anyOf(children);
  }

  /** Terms side by side or between AND. */
  #conjunction(paths: string[] | undefined): Predicate {
    const children = [this.#negation(paths)];
    for (;;) {
      const { type } = this.#token();
      if (type === 'or' || type === 'close' || type === 'end') return allOf(children);
      if (type === 'and') this.#next++;
      children.push(this.#negation(paths));
    }
  }

  #negation(paths: string[] | undefined): Predicate {
    let negations = 0;
    for (; this.#token().type === 'not'; this.#next++) negations++;
    const predicate = this.#primary(paths);
    return negations % 2 === 1 ? negated(predicate) : predicate;
  }

  #primary(paths: string[] | undefined): Predicate {
    const token = this.#token();
    if (token.type === 'open') return this.#parenthesis(paths);
    if (token.type === 'name') {
      this.#next++;
      const path = this.#declared(token.name);
      return this.#primary(path === undefined ? pathsOfName(token.name) : [path]);
    }
    if (++this.#clauses > SEARCH_CLAUSES_MAX) {
      throw new SearchError(token.at, `more than ${SEARCH_CLAUSES_MAX} terms`);
    }
    const predicate = paths === undefined ? wordTerm(token) : valueTerm(token, paths);
    this.#next++;
    return predicate;
  }

  #parenthesis(paths: string[] | undefined): Predicate {
    const { at } = this.#token();
    if (++this.#depth > SEARCH_DEPTH_MAX) {
      throw new SearchError(at, `more than ${SEARCH_DEPTH_MAX} levels of parentheses`);
    }
    this.#next++;
    const predicate = this.#alternatives(paths);
    const token = this.#token();
    if (token.type !== 'close') {
      throw new SearchError(token.at, `expected ")" for the "(" at position ${at}`);
    }
    this.#next++;
    this.#depth--;
    return predicate;
  }
}

function wordTerm(token: Token): Predicate {
  if (token.type === 'quoted') return words(wordsOf([{ literal: token.text }]));
  if (token.type !== 'text') return expectedTerm(token, 'a term');
  const found = wordsOf(token.pattern);
  const star = token.pattern.some((piece) => 'wildcard' in piece);
  return found.length === 0 && star ? { type: 'all' } : words(found);
}

function words(found: WordPattern[]): Predicate {
  return found.length === 0 ? { type: 'none' } : { type: 'words', words: found };
}

function valueTerm(token: Token, paths: string[]): Predicate {
  if (token.type === 'quoted') {
    return { type: 'value', paths, match: { type: 'text', text: token.text } };
  }
  if (token.type === 'comparison') {
    const end = rangeEnd(token.value, token.comparison.length === 2);
    return token.comparison.startsWith('>')
      ? { type: 'range', paths, from: end }
      : { type: 'range', paths, to: end };
  }
  if (token.type === 'range') {
    const { from, to } = token;
    if (from === undefined && to === undefined) return { type: 'exists', paths };
    return {
      type: 'range',
      paths,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
  }
  if (token.type !== 'text') return expectedTerm(token, 'a value');
  const { pattern } = token;
  if (isAnyRun(pattern)) return { type: 'exists', paths };
  const [piece] = pattern;
  const text = pattern.length === 1 && 'literal' in piece ? piece.literal : undefined;
  return {
    type: 'value',
    paths,
    match: text === undefined ? { type: 'pattern', pattern } : { type: 'text', text },
  };
}

const FOUND: Record<Token['type'], string> = {
  open: '"("',
  close: '")"',
  and: 'AND',
  or: 'OR',
  not: 'NOT',
  end: 'the end',
  name: 'an attribute',
  text: 'a term',
  quoted: 'a quoted term',
  comparison: 'a comparison',
  range: 'a range',
};

function expectedTerm(token: Token, what: string): never {
  throw new SearchError(token.at, `expected ${what}, found ${FOUND[token.type]}`);
}
