import { Pattern as RegularPattern } from '../../engine/base/pattern.ts';
import { PatternError, readPattern } from '../../engine/base/pattern-text.ts';
import type { Pattern, Predicate, WordPattern } from '../../engine/query/model/predicate.ts';
import { allOf, anyOf, negated, pathsOfName, type Tag, tagFilter } from './filter.ts';
import {
  type Caret,
  rangeEnd,
  SearchError,
  type Token,
  tokenize,
  tokenizeToCaret,
} from './lexer.ts';
import { tagClauses, tagTest } from './tag-term.ts';

/** Parentheses inside parentheses. */
export const SEARCH_DEPTH_MAX = 100;
/** Terms of a query. */
export const SEARCH_CLAUSES_MAX = 1_000;

/** Instructions of a regular expression, and of all of a query: they bound what a character of a value takes. */
const REGEX_SIZE_MAX = 250;
const REGEX_SIZES_MAX = 4_000;
/** Factor by which the size of an expression that is not compiled may be overestimated. */
const REGEX_ESTIMATE = 4;

/** Characters of a term's text that are kept. */
const TEXT_CHARACTERS_MAX = 200;

/** Terms of a query, those of the tags that it names included. */
const SEARCH_TAG_CLAUSES_MAX = 20_000;

/** Meaning of a declared id: the path of a field, or the tags of a tagset. */
export type DeclaredName = { type: 'attribute'; attribute: string } | TagsetName;

/** The tags of a tagset, whose values they are. */
interface TagsetName {
  type: 'tagset';
  id: string;
  tags: readonly Tag[];
}

/** Looks up the meaning of the id `name`; `undefined` when it is not declared. */
export type DeclaredNames = (name: string) => DeclaredName | undefined;

/** Subject of values: the paths that a name may mean, or a tagset. */
export type Subject = { type: 'paths'; paths: string[] } | TagsetName;

/** A term of a query, which holds together with others. Plain data that crosses threads. */
export interface Term {
  /** Its text as written, cut off when it is long. */
  text: string;
  predicate: Predicate;
  /** Set when its parts may be told to the author; the queries of tags may not. */
  isOpen: boolean;
}

/** Scope of a term: values, any attribute, or the message. */
type Scope = Subject | { type: 'anywhere' } | undefined;

/** Texts that may stand at a caret. */
export interface Expectation {
  caret: Caret;
  /** Subject of a value; `undefined` where a term is expected. */
  subject: Subject | undefined;
  /** The words of the language that may stand there. */
  keywords: string[];
}

const NOTHING_DECLARED: DeclaredNames = () => undefined;

/** Runs of word characters, and runs of others. Source: INTERFACE.md 10, FORMAT.md 4.9. */
const RUNS = /([\p{L}\p{N}\p{M}_]+)|[^\p{L}\p{N}\p{M}_]+/gu;

/**
 * Parses a query of the search bar, of `search.query`, or of a security filter. Throws SearchError when malformed.
 *
 * An empty query, `*`, and a bare term of nothing but `*` and other characters hold for every event. A term without a
 * word character and without wildcard (`"--"`) holds for none: no message has such a word.
 * An attribute's value is compared exactly, also that of `message:`. `declared` tells what a name means that is the id
 * of a field or tagset, which wins over what it means otherwise. Source: INTERFACE.md 10.
 */
export function parseSearch(query: string, declared = NOTHING_DECLARED): Predicate {
  const parser = new Parser(tokenize(query), declared);
  return parser.parse();
}

/**
 * The terms that all have to hold for `parseSearch` of the same; a query with OR between them is one. Throws as that.
 */
export function searchTerms(query: string, declared = NOTHING_DECLARED): Term[] {
  const parser = new Parser(tokenize(query), declared);
  const predicate = parser.parse();
  const isOpen = parser.spans.every((span) => span.isOpen);
  const spans = parser.isChoice ? [{ from: 0, to: query.length, predicate, isOpen }] : parser.spans;
  return spans.map(({ from, to, ...term }) => ({
    text: shownTerm(query.slice(from, to)),
    ...term,
  }));
}

/** The text of a term as hints tell it. */
export function shownTerm(text: string): string {
  const whole = text.trim();
  return whole.length > TEXT_CHARACTERS_MAX ? `${whole.slice(0, TEXT_CHARACTERS_MAX)}…` : whole;
}

/**
 * Texts that may stand at the end of `query`, which goes on there; `undefined` when nothing can be said. Throws
 * SearchError when the text before the end is malformed already.
 */
export function expectedAfter(query: string, declared: DeclaredNames): Expectation | undefined {
  const parser = new Parser(tokenizeToCaret(query), declared);
  parser.parse();
  return parser.expectation;
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
 * nothing and is left out. Source: INTERFACE.md 10.
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

/** Recognises the pattern `*`. */
function isAnyRun(pattern: Pattern): boolean {
  const [piece] = pattern;
  return pattern.length === 1 && 'wildcard' in piece && piece.wildcard === '*';
}

class Parser {
  /** Texts that may stand at the caret, once one was reached. */
  expectation: Expectation | undefined;
  /** The terms outside of parentheses: where they begin, and what follows them. */
  readonly spans: (Omit<Term, 'text'> & { from: number; to: number })[] = [];
  /** Set when there is an OR between them. */
  isChoice = false;
  readonly #tokens: Token[];
  readonly #declared: DeclaredNames;
  #next = 0;
  #depth = 0;
  #clauses = 0;
  #tagClauses = 0;
  #regexSizes = 0;

  constructor(tokens: Token[], declared: DeclaredNames) {
    this.#tokens = tokens;
    this.#declared = declared;
  }

  parse(): Predicate {
    if (this.#token().type === 'end') return { type: 'all' };
    const predicate = this.#alternatives(undefined);
    const token = this.#token();
    if (token.type === 'close') {
      throw new SearchError(token.at, 'expected a term or the end, found ")" without a "("');
    }
    return predicate;
  }

  /** The token at the place; the last one is never passed. */
  #token(): Token {
    return this.#tokens[this.#next];
  }

  /** Terms between OR. `subject` is what they are values of, in whose parentheses they stand. */
  #alternatives(subject: Scope): Predicate {
    const children = [this.#conjunction(subject)];
    while (this.#token().type === 'or') {
      if (this.#depth === 0) this.isChoice = true;
      this.#next++;
      children.push(this.#conjunction(subject));
    }
    return anyOf(children);
  }

  /** Terms side by side or between AND. */
  #conjunction(subject: Scope): Predicate {
    const children = [this.#term(subject)];
    for (;;) {
      const token = this.#token();
      const { type } = token;
      if (type === 'caret') this.#expect(token, subject, ['AND', 'OR', 'NOT']);
      if (type === 'or' || type === 'close' || type === 'end' || type === 'caret') {
        return allOf(children);
      }
      if (type === 'and') this.#next++;
      children.push(this.#term(subject));
    }
  }

  /** Parses the text between ANDs, and notes its place when it is outside of parentheses. */
  #term(subject: Scope): Predicate {
    if (this.#depth > 0) return this.#negation(subject);
    const from = this.#token().at;
    const tagClauses = this.#tagClauses;
    const predicate = this.#negation(subject);
    const isOpen = this.#tagClauses === tagClauses;
    this.spans.push({ from, to: this.#token().at, predicate, isOpen });
    return predicate;
  }

  #negation(subject: Scope): Predicate {
    let negations = 0;
    for (; this.#token().type === 'not'; this.#next++) negations++;
    const predicate = this.#primary(subject, ['NOT']);
    return negations % 2 === 1 ? negated(predicate) : predicate;
  }

  /** `keywords` are the words that may stand in the place of a term. */
  #primary(subject: Scope, keywords: string[]): Predicate {
    const token = this.#token();
    if (token.type === 'caret') {
      this.#expect(token, subject, keywords);
      return { type: 'all' };
    }
    if (token.type === 'open') return this.#parenthesis(subject);
    if (token.type === 'name') {
      this.#next++;
      return this.#primary(this.#subjectOf(token.name), []);
    }
    if (token.type === 'anywhere') {
      this.#next++;
      return this.#primary({ type: 'anywhere' }, []);
    }
    if (++this.#clauses > SEARCH_CLAUSES_MAX) {
      throw new SearchError(
        token.at,
        `expected the end, found more than ${SEARCH_CLAUSES_MAX} terms`,
      );
    }
    this.#next++;
    if (subject === undefined) return wordTerm(token);
    if (token.type === 'regex' && subject.type !== 'tagset') return this.#regexTerm(token, subject);
    if (subject.type === 'anywhere') return anywhereTerm(token);
    return subject.type === 'paths'
      ? valueTerm(token, subject.paths)
      : this.#tagTerm(token, subject);
  }

  #subjectOf(name: string): Subject {
    const declared = this.#declared(name);
    if (declared?.type === 'tagset') return declared;
    return { type: 'paths', paths: declared ? [declared.attribute] : pathsOfName(name) };
  }

  #regexTerm(
    { at, source }: Extract<Token, { type: 'regex' }>,
    subject: Exclude<Scope, TagsetName | undefined>,
  ): Predicate {
    const size = regexSize(source, at);
    this.#regexSizes += size;
    if (this.#regexSizes > REGEX_SIZES_MAX) {
      const what = `expected fewer regular expressions, whose parts are more than ${REGEX_SIZES_MAX} together`;
      throw new SearchError(at, what);
    }
    const match = { type: 'regex' as const, source };
    if (subject.type === 'anywhere') return { type: 'anywhere', match };
    return { type: 'value', paths: subject.paths, match };
  }

  /** The events that have one of the tags that a value names. */
  #tagTerm(token: Token, { id, tags }: TagsetName): Predicate {
    let pattern: Pattern;
    if (token.type === 'quoted') pattern = [{ literal: token.text }];
    else if (token.type === 'text') pattern = token.pattern;
    else return expectedTerm(token, 'a tag');
    const isNamed = tagTest(pattern, token.at, id, tags);
    this.#tagClauses += tagClauses(tags);
    if (this.#tagClauses > SEARCH_TAG_CLAUSES_MAX) {
      const what = `expected fewer values of tagsets, whose queries have more than ${SEARCH_TAG_CLAUSES_MAX} terms`;
      throw new SearchError(token.at, what);
    }
    return tagFilter(tags, isNamed, false);
  }

  /** Keeps what may stand at the caret. */
  #expect(caret: Caret, subject: Scope, keywords: string[]): void {
    if (subject?.type === 'anywhere') return;
    const ofTerms = caret.place === 'any' && !caret.quoted ? keywords : [];
    const fitting = caret.place === 'to' ? ['TO'] : ofTerms;
    this.expectation ??= { caret, subject, keywords: fitting };
  }

  #parenthesis(subject: Scope): Predicate {
    const { at } = this.#token();
    if (++this.#depth > SEARCH_DEPTH_MAX) {
      throw new SearchError(
        at,
        `expected a term, found more than ${SEARCH_DEPTH_MAX} levels of parentheses`,
      );
    }
    this.#next++;
    const predicate = this.#alternatives(subject);
    const token = this.#token();
    if (token.type === 'caret') return predicate;
    if (token.type !== 'close') {
      throw new SearchError(token.at, `expected ")" for the "(" at position ${at}`);
    }
    this.#next++;
    this.#depth--;
    return predicate;
  }
}

/** Instructions of the regular expression that begins behind the slash at `at`. Throws SearchError. */
function regexSize(source: string, at: number): number {
  try {
    const read = readPattern(source);
    // What is too large by far is not compiled to learn how large it is.
    const isFar = read.size > REGEX_ESTIMATE * REGEX_SIZE_MAX;
    const { size } = isFar ? read : new RegularPattern(read);
    if (size <= REGEX_SIZE_MAX) return size;
    throw new PatternError(
      `the regular expression has ${size} parts, repeats multiplied out; allowed: ${REGEX_SIZE_MAX}`,
      0,
    );
  } catch (error) {
    if (error instanceof PatternError) throw new SearchError(at + 1 + error.at, error.message);
    throw error;
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

/** The events in which a value of any attribute has the words of a term. */
function anywhereTerm(token: Token): Predicate {
  const predicate = wordTerm(token);
  if (predicate.type !== 'words') return predicate;
  return { type: 'anywhere', match: predicate };
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
  anywhere: 'an attribute',
  text: 'a term',
  quoted: 'a quoted term',
  regex: 'a regular expression',
  comparison: 'a comparison',
  range: 'a range',
  caret: 'the end',
};

function expectedTerm(token: Token, what: string): never {
  throw new SearchError(token.at, `expected ${what}, found ${FOUND[token.type]}`);
}
