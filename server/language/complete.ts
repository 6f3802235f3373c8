import { Pace, type Units } from '../../engine/base/pause.ts';
import type { AggregateResult, AttributeFacts, BucketKey } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { anyOf, pathsOfName } from './filter.ts';
import { endOfPiece } from './lexer.ts';
import type { Expectation } from './search.ts';
import { nameText, valueText } from './written.ts';

/** Suggestion to replace a part of a query. */
export interface Suggestion {
  text: string;
  kind: 'attribute' | 'field' | 'tagset' | 'tag' | 'value' | 'keyword';
  /** The name of what has an id. */
  label?: string;
  /** Events that have it. */
  count?: number;
}

/** A suggestion, and how well it fits: see `tierOf`. */
interface Found extends Suggestion {
  tier: number;
}

/**
 * The part of a query that is being typed, `query[from, to)`; `typed` is there already. Plain data that crosses
 * threads.
 */
export interface Typing {
  from: number;
  to: number;
  typed: string;
  quoted: boolean;
  /** Words of the language that may stand there. */
  keywords: string[];
  /** Suggestions that are wanted. */
  limit: number;
}

/** A field or tagset whose id may stand for a name; `attribute` is the path of a field. */
export interface DeclaredId {
  id: string;
  name: string;
  attribute?: string;
}

/** Steps that a name takes. */
const NAME_STEPS = 16;
/** Names that are kept beyond those that are suggested. */
const FOUND_MAX = 1_024;

const CUSTOM = 'custom.';

/** The part that is being typed at `position` of `query`. The colon behind a name is replaced with it. */
export function typingAt(
  query: string,
  position: number,
  { caret, subject, keywords }: Expectation,
  limit: number,
): Typing {
  const { typed, quoted } = caret;
  const end = endOfPiece(query, position, caret);
  const to = subject === undefined && !quoted && query[end] === ':' ? end + 1 : end;
  const fitting = keywords.filter((keyword) => keyword.startsWith(typed.toUpperCase()));
  return { from: caret.at, to, typed, quoted, keywords: to > end ? [] : fitting, limit };
}

/**
 * Names for a place of a term: those that begin with what is typed, then those that have it inside, both without regard
 * to case; tagsets first, then what most events have. Names of attributes are as short as they can be. There are as
 * many as are wanted at most. Works in units.
 */
export function* nameSuggestions(
  typing: Typing,
  declared: readonly DeclaredId[],
  attributes: readonly AttributeFacts[],
): Units<Suggestion[]> {
  if (typing.quoted) return [];
  const { typed, limit } = typing;
  const ids = new Set(declared.map(({ id }) => id));
  const counts = new Map(attributes.map(({ path, eventCount }) => [path, eventCount]));
  const found: Found[] = [];
  const pace = new Pace();
  const offer = (name: string, others: string[], suggestion: Suggestion): void => {
    const tier = tierOf(typed, [name, ...others]);
    if (tier < 2) found.push({ ...suggestion, tier });
  };
  for (const { id, name, attribute } of declared) {
    const text = `${id}:`;
    if (attribute === undefined) offer(id, [name], { text, kind: 'tagset', label: name });
    else offer(id, [name], { text, kind: 'field', label: name, count: counts.get(attribute) ?? 0 });
  }
  for (const { path, eventCount } of attributes) {
    const name = nameOf(path, typed, ids);
    if (ids.has(name)) continue;
    offer(name, [], { text: `${nameText(name)}:`, kind: 'attribute', count: eventCount });
    if (found.length >= limit + FOUND_MAX) keepFirst(found, limit);
    if (pace.isFull(NAME_STEPS)) yield;
  }
  keepFirst(found, limit);
  return found.map(({ tier, ...suggestion }) => suggestion);
}

/** Sorts what was found and leaves the first `limit`. */
function keepFirst(found: Found[], limit: number): void {
  const rank = ({ count }: Suggestion) => count ?? Number.POSITIVE_INFINITY;
  found.sort((a, b) => a.tier - b.tier || order(rank(b), rank(a)) || (a.text < b.text ? -1 : 1));
  found.length = Math.min(found.length, limit);
}

/** The tags of a tagset that what is typed may become. */
export function tagSuggestions(
  { typed, quoted }: Typing,
  tags: readonly { id: string; name: string }[],
): Suggestion[] {
  return tags
    .map(({ id, name }) => ({ id, name, tier: tierOf(typed, [id, name]) }))
    .filter(({ tier }) => tier < 2)
    .sort((a, b) => a.tier - b.tier)
    .map(({ id, name }) => ({ text: valueText(id, quoted), kind: 'tag', label: name }));
}

/**
 * Values that begin with what is typed, without regard to case, those of the most events first. `results` are the
 * buckets of the paths of one name.
 */
export function valueSuggestions(
  { typed, quoted }: Typing,
  results: readonly AggregateResult[],
): Suggestion[] {
  const counts = new Map<string, number>();
  for (const { keys, values } of results.flatMap(({ buckets }) => buckets)) {
    const text = textOf(keys[0]);
    const [count] = values;
    if (text === undefined || typeof count !== 'number') continue;
    if (tierOf(typed, [text]) === 0) counts.set(text, (counts.get(text) ?? 0) + count);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([text, count]) => ({ text: valueText(text, quoted), kind: 'value', count }));
}

/** Events that have a value at `path` that begins with what is typed, without regard to case. */
export function startsWithTyped(path: string, typed: string): Predicate {
  if (typed === '') return { type: 'exists', paths: [path] };
  const spellings = new Set([typed, typed.toLowerCase(), typed.toUpperCase()]);
  return anyOf(
    [...spellings].map((literal) => ({
      type: 'value',
      paths: [path],
      match: { type: 'pattern', pattern: [{ literal }, { wildcard: '*' }], ignoresCase: true },
    })),
  );
}

/** JSON text of `result` of a completion. Words of the language come last, and have their place within the limit. */
export function completionText(typing: Typing, suggestions: readonly Suggestion[]): string {
  const { from, to, keywords, limit } = typing;
  const words = keywords.slice(0, limit).map((text): Suggestion => ({ text, kind: 'keyword' }));
  const others = suggestions.slice(0, limit - words.length);
  return JSON.stringify({ from, to, suggestions: [...others, ...words] });
}

/** 0: one of the names begins with what is typed; 1: one has it inside; 2: none. */
function tierOf(typed: string, names: readonly string[]): number {
  const wanted = typed.toLowerCase();
  const lower = names.map((name) => name.toLowerCase());
  if (lower.some((name) => name.startsWith(wanted))) return 0;
  return lower.some((name) => name.includes(wanted)) ? 1 : 2;
}

/** Descending infinities differ by nothing. */
function order(left: number, right: number): number {
  return left === right ? 0 : left - right;
}

/** The name of the search bar for a path, in the form in which it is begun: `@` and `custom.` stay. */
function nameOf(path: string, typed: string, declared: ReadonlySet<string>): string {
  const rest = path.startsWith(CUSTOM) ? path.slice(CUSTOM.length) : path;
  const names = typed.startsWith('@')
    ? [rest, `@${rest}`].filter((name) => name.startsWith('@'))
    : [rest];
  if (typed.startsWith(CUSTOM)) names.unshift(path);
  return names.find((name) => !declared.has(name) && pathsOfName(name).includes(path)) ?? path;
}

function textOf(key: BucketKey): string | undefined {
  if (key.type === 'boolean') return String(key.value);
  return key.type === 'number' || key.type === 'string' ? key.text : undefined;
}
