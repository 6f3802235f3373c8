import type { Pattern, Predicate, RangeEnd } from '../../engine/query/model/predicate.ts';

/** Prints predicates as texts of the search language, for tests that ask one thing in both forms. */

/**
 * The text of a predicate. A tree that a search can mean is parsed back to itself; another one to a tree that holds for
 * the same events: alternatives of paths become terms between OR. Not to be said are the pattern of one literal, which
 * compares numbers by their text, and words that begin or end with `*` alone. `plain` chooses between two spellings of
 * everything that has two.
 */
export function printSearch(predicate: Predicate, plain = true): string {
  const child = (of: Predicate) => {
    const text = printSearch(of, plain);
    return isBare(of) ? text : `(${text})`;
  };
  switch (predicate.type) {
    case 'all':
      return '*';
    case 'none':
      return '"--"';
    case 'and':
      if (predicate.children.length === 0) return '*';
      return predicate.children.map(child).join(plain ? ' ' : ' AND ');
    case 'or':
      if (predicate.children.length === 0) return '"--"';
      return predicate.children.map(child).join(' OR ');
    case 'not':
      return `${plain ? '-' : 'NOT '}${child(predicate.child)}`;
    case 'words':
      return printedWords(predicate.words, plain);
    case 'anywhere': {
      const { match } = predicate;
      if (match.type === 'regex') return `*:${printedRegex(match.source)}`;
      if (match.type !== 'words') throw new Error('only words can be looked for anywhere');
      return `*:${printedWords(match.words, plain)}`;
    }
    case 'exists':
      return named(predicate.paths, plain ? '*' : '(*)');
    case 'value': {
      const { match } = predicate;
      if (match.type === 'words')
        throw new Error('words are looked for in the message or anywhere');
      if (match.type === 'regex') return named(predicate.paths, printedRegex(match.source));
      return named(
        predicate.paths,
        match.type === 'pattern' ? printedMatch(match.pattern) : printedText(match.text, plain),
      );
    }
    case 'range':
      return named(predicate.paths, printedRange(predicate.from, predicate.to, plain));
  }
}

function printedRegex(source: string): string {
  return `/${source.replace(/\\.|\//gs, (found) => (found === '/' ? '\\/' : found))}/`;
}

function printedWords(words: readonly Pattern[], plain: boolean): string {
  return words.every(isLiteral) && plain
    ? quoted(words.map(literalOf).join(' ,'))
    : words.map(printedPattern).join(plain ? '\\ ' : '..');
}

/** True when a child needs no parentheses. */
function isBare(predicate: Predicate): boolean {
  if (predicate.type === 'and' || predicate.type === 'or') return false;
  return !('paths' in predicate) || nameOf(predicate.paths) !== undefined;
}

/** A value of one name, or of one path after the other. */
function named(paths: readonly string[], value: string): string {
  const name = nameOf(paths);
  if (name !== undefined) return `${name}:${value}`;
  return paths.length === 0
    ? '"--"'
    : paths.map((path) => `${escaped(path)}:${value}`).join(' OR ');
}

/** The name that means all of these paths, if there is one. */
function nameOf(paths: readonly string[]): string | undefined {
  if (paths.length === 1) return escaped(paths[0]);
  const [first, second] = paths;
  const isAt = paths.length === 2 && first.startsWith('custom.@');
  if (!isAt || second !== `custom.${first.slice('custom.@'.length)}`) return undefined;
  return `@${escaped(second.slice('custom.'.length))}`;
}

function printedText(text: string, plain: boolean): string {
  if (plain || text === '') return quoted(text);
  return `(${escaped(text).replace(/^(?=AND$|OR$|NOT$)/, '\\')})`;
}

/** A pattern of `*` alone, which a search takes for "there is one", is any character and more, or nothing. */
function printedMatch(pattern: Pattern): string {
  if (pattern.length === 0) return '""';
  return pattern.every((piece) => 'wildcard' in piece && piece.wildcard === '*')
    ? '(?* OR "")'
    : printedPattern(pattern);
}

function printedRange(
  from: RangeEnd | undefined,
  to: RangeEnd | undefined,
  plain: boolean,
): string {
  const text = (end: RangeEnd) => (plain && end.text !== '' ? escaped(end.text) : quoted(end.text));
  if (plain && to === undefined && from !== undefined) {
    return `>${from.inclusive ? '=' : ''}${text(from)}`;
  }
  if (plain && from === undefined && to !== undefined) {
    return `<${to.inclusive ? '=' : ''}${text(to)}`;
  }
  const open = from?.inclusive === false ? '{' : '[';
  const close = to?.inclusive === false ? '}' : ']';
  return `${open}${from ? text(from) : '*'} TO ${to ? text(to) : '*'}${close}`;
}

function isLiteral(pattern: Pattern): boolean {
  return pattern.length === 1 && 'literal' in pattern[0];
}

function literalOf([piece]: Pattern): string {
  return 'literal' in piece ? piece.literal : '';
}

function printedPattern(pattern: Pattern): string {
  return pattern
    .map((piece) => ('wildcard' in piece ? piece.wildcard : escaped(piece.literal)))
    .join('');
}

/** Escapes all that might be special. */
function escaped(text: string): string {
  return text.replace(/[\s!-/:-@[-`{-~]/g, '\\$&');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
