import { ExactNumber, type Json, textOf } from '../api/exact.ts';

/** Terms of the search language as clicks write them. Source: INTERFACE.md 10. */

const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{N}_.@%+-]*$/u;
const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'TO']);
const OPERATORS = /[\s()"\\:[\]{}<>=!*?/~^|&,;'#$]/gu;

/** A piece of a search: a term, a group or an operator, and where it stands. */
export interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** The term that finds the events whose attribute has a value. */
export function termOf(path: string, value: Json): string {
  return `${nameOf(path)}:${valueText(value)}`;
}

/** The term that finds the events which have an attribute. */
export function existsTerm(path: string): string {
  return `${nameOf(path)}:*`;
}

/** The name of an attribute as searches have it: without `custom.`. */
export function nameOf(path: string): string {
  const name = path.startsWith('custom.') ? path.slice('custom.'.length) : path;
  return name.replace(OPERATORS, (character) => `\\${character}`).replace(/^-/, '\\-');
}

function valueText(value: Json): string {
  const text = textOf(value);
  if (value instanceof ExactNumber || typeof value === 'number') return text.replace(/^-/, '\\-');
  if (PLAIN.test(text) && !KEYWORDS.has(text)) return text;
  return `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`;
}

/** The pieces of a search at its top level. */
export function piecesOf(query: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at <= query.length; at++) {
    const character = query[at];
    if (character === undefined || (/\s/.test(character) && depth === 0 && !isQuoted)) {
      if (at > from) pieces.push({ text: query.slice(from, at), from, to: at });
      from = at + 1;
    } else if (character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && '([{'.includes(character)) depth++;
    else if (!isQuoted && ')]}'.includes(character)) depth = Math.max(0, depth - 1);
  }
  return pieces;
}

/** Reports whether a search has a term at its top level. */
export function hasTerm(query: string, term: string): boolean {
  return piecesOf(query).some(({ text }) => text === term);
}

/** The search with a term more; without the opposite of it. */
export function withTerm(query: string, term: string): string {
  const rest = withoutTerm(query, opposite(term));
  if (hasTerm(rest, term)) return rest;
  if (rest === '' || rest === '*') return term;
  const isEither = piecesOf(rest).some(({ text }) => text === 'OR');
  return `${isEither ? `(${rest})` : rest} ${term}`;
}

/** The search without a term. */
export function withoutTerm(query: string, term: string): string {
  const pieces = piecesOf(query);
  const isEither = pieces.some(({ text }) => text === 'OR');
  if (isEither || !pieces.some(({ text }) => text === term)) return query;
  return pieces
    .map(({ text }) => text)
    .filter((text, at, all) => text !== term && !(text === 'AND' && all[at + 1] === term))
    .join(' ')
    .replace(/^AND /, '');
}

/** The search in which a term is the only one of its attribute. */
export function withOnly(query: string, term: string): string {
  const name = term.slice(0, term.search(/(?<!\\):/) + 1);
  const pieces = piecesOf(query);
  const others = pieces.some(({ text }) => text === 'OR')
    ? [query]
    : pieces
        .map(({ text }) => text)
        .filter((text) => !text.startsWith(name) && !text.startsWith(`-${name}`));
  return withTerm(others.join(' '), term);
}

/** The term that excludes what a term finds, and the other way round. */
export function opposite(term: string): string {
  return term.startsWith('-') ? term.slice(1) : `-${term}`;
}

/** The words that a search looks for in messages, for showing where they are. */
export function wordsOf(query: string): string[] {
  return piecesOf(query.replace(/[()]/g, ' '))
    .map(({ text }) => text)
    .filter((text) => !text.startsWith('-') && !KEYWORDS.has(text))
    .filter(
      (text) => !/(?<!\\):/.test(text) || text.startsWith('message:') || text.startsWith('*:'),
    )
    .map((text) => text.replace(/^(?:message|\*):/, ''))
    .flatMap((text) =>
      text.startsWith('"') ? [text.slice(1, -1)] : text.split(/[^\p{L}\p{N}_]+/u),
    )
    .map((text) => text.replaceAll(/\\(.)/g, '$1').replaceAll('*', ''))
    .filter((text) => text.length > 0);
}
