import { EngineError } from '../../../engine/base/errors.ts';
import type { Units } from '../../../engine/base/pause.ts';
import type {
  AggregateResult,
  Bound,
  ListResult,
  Selection,
  Snapshot,
  UnitReader,
} from '../../../engine/engine.ts';
import type { Predicate } from '../../../engine/query/model/predicate.ts';
import { allOf } from '../../language/filter.ts';
import { wordsOf as patternWords } from '../../language/search.ts';
import {
  type CountedTerm,
  type HintFacts,
  type HintScope,
  isKnown,
  type Leaf,
  leavesOf,
} from './hint.ts';

const MESSAGE = 'message';
/** Units of a few milliseconds that the facts of one answer may take. */
const UNITS_MAX = 400;
/** Terms that are counted, and values and words that are looked for. */
const TERMS_MAX = 10;
const LEAVES_MAX = 4;
/** Attributes that are known by name. */
const ATTRIBUTES_MAX = 20_000;
/** Attributes that are searched for words. */
const PLACES_MAX = 500;
/** Values of an attribute with which one that it has not is compared. */
const VALUES_MAX = 200;

type Words = Extract<Predicate, { type: 'words' }>;

/** Finds what may explain that a list has no events; see `factsOf`. */
export function* listFacts(
  reader: UnitReader,
  snapshot: Snapshot,
  scope: HintScope,
  { events, bound }: ListResult,
): Units<HintFacts | undefined> {
  if (events.length > 0) return undefined;
  return yield* factsOf(new Probe(reader, snapshot, scope), scope, bound);
}

/** Finds what may explain that an aggregation was one of no events, when it was; see `factsOf`. */
export function* aggregateFacts(
  reader: UnitReader,
  snapshot: Snapshot,
  scope: HintScope,
  { buckets, bound }: AggregateResult,
): Units<HintFacts | undefined> {
  const isEmpty = (value: unknown): boolean => value === null || value === 0;
  if (!buckets.every(({ values }) => values.flat().every(isEmpty))) return undefined;
  const probe = new Probe(reader, snapshot, scope);
  // Events without the attributes that were asked for make no buckets, and no values.
  if ((yield* probe.count(scope.selection.predicate)) !== 0) return undefined;
  return yield* factsOf(probe, scope, bound);
}

/**
 * Finds what may explain that no event was found, in units: of the events alone that the asker may see, and without
 * what takes too long. `bound` is that of the answer.
 */
function* factsOf(
  probe: Probe,
  { selection, terms }: HintScope,
  bound: Bound | undefined,
): Units<HintFacts> {
  const attributes = yield* probe.attributes();
  const counted: CountedTerm[] = [];
  for (const term of terms.slice(0, TERMS_MAX)) {
    const count = terms.length === 1 ? 0 : yield* probe.count(term.predicate);
    counted.push(count === undefined ? term : { ...term, count });
  }
  const values: HintFacts['values'] & Map<Leaf, unknown> = new Map();
  const places = new Map<Leaf, string>();
  if (attributes !== undefined) {
    for (const { leaf, path, text } of textsOf(counted, attributes)) {
      const texts = yield* probe.texts(path, text);
      if (texts !== undefined) values.set(leaf, { path, texts });
    }
    for (const leaf of wordsOf(counted)) {
      const place = yield* probe.placeOf(leaf, attributes);
      if (place !== undefined) places.set(leaf, place);
    }
    for (const { leaf, words } of messagesOf(counted)) {
      if (yield* probe.hasWords(words)) places.set(leaf, MESSAGE);
    }
  }
  const newestMs = yield* probe.nextBefore(bound?.oldestMs ?? selection.fromMs);
  const oldestMs = yield* probe.nextFrom(selection.toMs);
  return {
    ...{ terms: counted, values, places },
    ...(attributes === undefined ? {} : { attributes }),
    ...(newestMs === undefined ? {} : { newestMs }),
    ...(oldestMs === undefined ? {} : { oldestMs }),
  };
}

/** Texts that were looked for, each with a path that events have. */
function textsOf(
  terms: readonly CountedTerm[],
  attributes: readonly string[],
): { leaf: Leaf; path: string; text: string }[] {
  return terms
    .flatMap(leavesOf)
    .flatMap((leaf) => {
      if (leaf.type !== 'value' || leaf.match.type !== 'text') return [];
      const path = leaf.paths.find((one) => isKnown(one, attributes));
      return path === undefined ? [] : [{ leaf, path, text: leaf.match.text }];
    })
    .slice(0, LEAVES_MAX);
}

/** The terms that look for words and nothing else. */
function wordsOf(terms: readonly CountedTerm[]): Words[] {
  return terms
    .flatMap((term) => leavesOf(term).filter((leaf) => leaf === term.predicate))
    .filter((leaf) => leaf.type === 'words')
    .slice(0, LEAVES_MAX);
}

/** Texts with which terms compare whole messages, as words. */
function messagesOf(terms: readonly CountedTerm[]): { leaf: Leaf; words: Words['words'] }[] {
  return terms
    .filter(({ text }) => text.startsWith(`${MESSAGE}:`))
    .flatMap(leavesOf)
    .flatMap((leaf) => {
      if (leaf.type !== 'value' || !leaf.paths.includes(MESSAGE)) return [];
      const { match } = leaf;
      if (match.type !== 'text' && match.type !== 'pattern') return [];
      const words = patternWords(match.type === 'text' ? [{ literal: match.text }] : match.pattern);
      return words.length === 0 ? [] : [{ leaf, words }];
    })
    .slice(0, LEAVES_MAX);
}

/** Asks small questions of the events that may be seen, until its units are used up: the others have no answer. */
class Probe {
  readonly #reader: UnitReader;
  readonly #snapshot: Snapshot;
  readonly #selection: Selection;
  readonly #visible: Predicate;
  #unitsLeft = UNITS_MAX;

  constructor(reader: UnitReader, snapshot: Snapshot, { selection, visible }: HintScope) {
    this.#reader = reader;
    this.#snapshot = snapshot;
    this.#selection = selection;
    this.#visible = visible;
  }

  /** The attributes of the range. */
  *attributes(): Units<string[] | undefined> {
    const query = { ...this.#among({ type: 'all' }), limit: ATTRIBUTES_MAX };
    const found = yield* this.#ask(this.#reader.attributes(this.#snapshot, query));
    return found?.attributes.map(({ path }) => path);
  }

  /** Number of events of the range that hold. */
  *count(predicate: Predicate): Units<number | undefined> {
    const metric = { type: 'core' as const };
    const computes = [{ type: 'metric' as const, metric }];
    const query = { ...this.#among(predicate), computes, groupBys: [] };
    const found = yield* this.#ask(this.#reader.aggregate(this.#snapshot, query));
    const value = found?.buckets[0].values[0];
    return typeof value === 'number' ? value : undefined;
  }

  /** The text at `path` that differs from `text` in the case of letters alone; without one the most frequent texts. */
  *texts(path: string, text: string): Units<string[] | undefined> {
    const match = { type: 'pattern' as const, pattern: [{ literal: text }], ignoresCase: true };
    const same = this.#among({ type: 'value', paths: [path], match });
    const alike = yield* this.#textsOf(same, path);
    const close = alike?.filter((one) => one.toLowerCase() === text.toLowerCase());
    if (close === undefined || close.length > 0) return close;
    return yield* this.#textsOf(this.#among({ type: 'all' }), path);
  }

  /** Reports whether a message of the range has these words. */
  *hasWords(words: Words['words']): Units<boolean> {
    return (yield* this.#first(this.#among({ type: 'words', words }), 'desc')) !== undefined;
  }

  /** An attribute that has words which the message has not. */
  *placeOf({ words }: Words, attributes: readonly string[]): Units<string | undefined> {
    const match = { type: 'words' as const, words };
    const found = yield* this.#first(this.#among({ type: 'anywhere', match }), 'desc');
    if (found === undefined) return undefined;
    // What is asked of one event reads a block alone: the attributes in which it may have them are halved.
    const near = { fromMs: found, toMs: found + 1 };
    let rest = attributes.filter((path) => path !== MESSAGE).slice(0, PLACES_MAX);
    let paths = rest;
    while (rest.length > 0) {
      const among = this.#among({ type: 'value', paths, match });
      const isThere = (yield* this.#first({ ...among, ...near }, 'desc')) !== undefined;
      if (isThere && paths.length === 1) return paths[0];
      rest = isThere ? paths : rest.slice(paths.length);
      paths = rest.slice(0, Math.ceil(rest.length / 2));
    }
    return undefined;
  }

  /** The date of the newest matching event before the range. */
  *nextBefore(toMs: number): Units<number | undefined> {
    const { predicate } = this.#selection;
    return yield* this.#first({ fromMs: Number.NEGATIVE_INFINITY, toMs, predicate }, 'desc');
  }

  /** The date of the oldest one from `fromMs` on. */
  *nextFrom(fromMs: number): Units<number | undefined> {
    const { predicate } = this.#selection;
    return yield* this.#first({ fromMs, toMs: Number.POSITIVE_INFINITY, predicate }, 'asc');
  }

  *#first(selection: Selection, order: 'asc' | 'desc'): Units<number | undefined> {
    const query = { ...selection, order, limit: 1, event: false, columns: [] };
    const found = yield* this.#ask<ListResult>(this.#reader.list(this.#snapshot, query));
    return found?.events[0]?.timeMs;
  }

  *#textsOf(selection: Selection, path: string): Units<string[] | undefined> {
    const query = { ...selection, paths: [path], limit: VALUES_MAX };
    const found = yield* this.#ask(this.#reader.facets(this.#snapshot, query));
    return found?.facets[0].values.flatMap(({ key }) => (key.type === 'string' ? [key.text] : []));
  }

  /** The events of the range that may be seen and hold. */
  #among(predicate: Predicate): Selection {
    return { ...this.#selection, predicate: allOf([this.#visible, predicate]) };
  }

  /** Does the units of a question while there are some left. */
  *#ask<T>(units: Iterator<unknown, T>): Units<T | undefined> {
    try {
      for (; this.#unitsLeft > 0; this.#unitsLeft--) {
        const step = units.next();
        if (step.done === true) return step.value;
        yield;
      }
      return undefined;
    } catch (error) {
      // What is too much for an answer is too much for a hint.
      if (error instanceof EngineError && ['LIMIT', 'MEMORY'].includes(error.code))
        return undefined;
      throw error;
    } finally {
      units.return?.();
    }
  }
}
