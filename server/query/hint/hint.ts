import type { Selection } from '../../../engine/engine.ts';
import type { Predicate } from '../../../engine/query/model/predicate.ts';
import type { Term } from '../../language/search.ts';

/** Scope in which hints on an answer without events are looked for. Plain data that crosses threads. */
export interface HintScope {
  selection: Selection;
  /** Terms that have to hold together. */
  terms: Term[];
  /** Holds for the events that the caller may see; no others are read. */
  visible: Predicate;
}

/** Why an answer may have no events. Dates are epoch milliseconds. */
export interface Hint {
  type: 'term' | 'syntax' | 'attribute' | 'value' | 'word' | 'range';
  /** The whole of it, for people. */
  message: string;
  /** The text of the term that it is of. */
  term?: string;
  /** Events that hold for the term alone. */
  count?: number;
  /** The path that was asked for, or in which a word was found. */
  attribute?: string;
  /** The value that was asked for. */
  value?: string;
  /** A path, or a value, that was perhaps meant. */
  nearest?: string;
  /** Replacement for the term. */
  try?: string;
  /** Dates of the events next to the range that hold. */
  newestMs?: number;
  oldestMs?: number;
}

/** A term, and how many events hold for it alone when that is known. */
export interface CountedTerm extends Term {
  count?: number;
}

/** Known facts about the events around a question without answer. Facts that took too long are left out. */
export interface HintFacts {
  terms: readonly CountedTerm[];
  /** Paths of the attributes that events of the range have, those of the most events first. */
  attributes?: readonly string[];
  /** For tests of a text: a path of theirs that events have, and texts that it has. */
  values: ReadonlyMap<Leaf, { path: string; texts: readonly string[] }>;
  /** For tests of words of the message: a path that has them; `message` for texts that messages have as words. */
  places: ReadonlyMap<Leaf, string>;
  /** Dates of the events next to the range for which the question holds. */
  newestMs?: number;
  oldestMs?: number;
}

/** A test of one value or attribute within a predicate. */
export type Leaf = Extract<Predicate, { type: 'words' | 'value' | 'exists' | 'range' }>;

/** Tests in an open term that finds no event, without the negated ones; none in other terms. */
export function leavesOf({ predicate, isOpen, count }: CountedTerm): Leaf[] {
  return isOpen && count === 0 ? leavesIn(predicate) : [];
}

/** Reports whether events have something at `path`, or below it. */
export function isKnown(path: string, attributes: readonly string[]): boolean {
  return attributes.some((known) => known === path || known.startsWith(`${path}.`));
}

function leavesIn(predicate: Predicate): Leaf[] {
  if (predicate.type === 'and' || predicate.type === 'or') {
    return predicate.children.flatMap(leavesIn);
  }
  const { type } = predicate;
  if (type === 'words' || type === 'value' || type === 'exists' || type === 'range') {
    return [predicate];
  }
  return [];
}
