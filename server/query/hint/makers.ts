import { nearest } from '../../../engine/base/nearest.ts';
import { shown } from '../../language/shown.ts';
import { nameText, valueText } from '../../language/written.ts';
import { isoIn, type Zone } from '../../language/zone.ts';
import { habitsOf } from './habits.ts';
import {
  type CountedTerm,
  type Hint,
  type HintFacts,
  isKnown,
  type Leaf,
  leavesOf,
} from './hint.ts';

/** Makes hints of one kind. */
type Maker = (facts: HintFacts, zone: Zone) => Hint[];

/** The name that a term begins with, and its colon. */
const TERM_NAME = /^(?:[^\\:"\s()]|\\.)+:/;
/** The value behind it, when it is one text. */
const TERM_VALUE = /(?<=^(?:[^\\:"\s()]|\\.)+:)(?:"(?:[^"\\]|\\.)*"|[^\s"()]+)$/;
/** Names that are compared with one that nobody has: the distance is dear. */
const NAMES_COMPARED = 2_000;

const MAKERS: readonly Maker[] = [syntax, attribute, value, word, term, range];

/** All hints that facts give, in the order in which they help. */
export function hintsOf(facts: HintFacts, zone: Zone): Hint[] {
  return MAKERS.flatMap((make) => make(facts, zone));
}

/** The path among `attributes` that somebody who wrote `path` most likely meant. */
export function nearestPath(path: string, attributes: readonly string[]): string | undefined {
  const name = nameOf(path).toLowerCase();
  const same = attributes.find((known) => nameOf(known).toLowerCase() === name);
  const below = attributes.find((known) => known.toLowerCase().endsWith(`.${name}`));
  if (same !== undefined || below !== undefined) return same ?? below;
  const some = attributes.slice(0, NAMES_COMPARED);
  const close = nearest(name, some.map(nameOf));
  return close === undefined ? undefined : some.find((known) => nameOf(known) === close);
}

/** Terms written in the way of other languages. */
function syntax({ terms }: HintFacts): Hint[] {
  const isOne = terms.length === 1;
  const written = terms.map(({ text, count }) => ({ text, vain: isOne || count === 0 }));
  return habitsOf(written).map(({ from, count, reason, try: instead }) => {
    const some = written.slice(from, from + count);
    const term = some.map(({ text }) => text).join(' ');
    const message = `${shown(term)} ${reason}: try ${instead}`;
    return { type: 'syntax', message, term, try: instead };
  });
}

/** Attributes that no event of the range has. */
function attribute({ terms, attributes }: HintFacts): Hint[] {
  if (attributes === undefined || attributes.length === 0) return [];
  const hints = new Map<string, Hint>();
  for (const term of terms) {
    for (const leaf of leavesOf(term)) {
      const path = 'paths' in leaf ? leaf.paths.at(-1) : undefined;
      if (path === undefined || !('paths' in leaf)) continue;
      if (leaf.paths.some((one) => isKnown(one, attributes))) continue;
      const meant = nearestPath(path, attributes);
      const question = meant === undefined ? '' : `; did you mean ${shown(meant)}?`;
      hints.set(path, {
        type: 'attribute',
        message: `no event of the time has the attribute ${shown(path)}${question}`,
        term: term.text,
        attribute: path,
        ...(meant === undefined ? {} : { nearest: meant }),
        ...(meant === undefined ? {} : instead(term, leaf, TERM_NAME, `${nameText(meant)}:`)),
      });
    }
  }
  return [...hints.values()];
}

/** Values that no event of the range has, with ones that are almost the same. */
function value({ terms, values }: HintFacts): Hint[] {
  const hints: Hint[] = [];
  for (const term of terms) {
    for (const leaf of leavesOf(term)) {
      if (leaf.type !== 'value' || leaf.match.type !== 'text') continue;
      const { text } = leaf.match;
      const { path, texts } = values.get(leaf) ?? { path: '', texts: [] };
      const close = texts.includes(text) ? undefined : nearest(text, texts);
      if (close === undefined) continue;
      hints.push({
        type: 'value',
        message: `no event of the time has ${shown(text)} as ${shown(path)}; did you mean ${shown(close)}?`,
        term: term.text,
        attribute: path,
        value: text,
        nearest: close,
        ...instead(term, leaf, TERM_VALUE, valueText(close)),
      });
    }
  }
  return hints;
}

/** Words that are in no message, but in an attribute; whole messages that were meant as words. */
function word({ terms, places }: HintFacts): Hint[] {
  return terms.flatMap((term): Hint[] => {
    const { text } = term;
    const path = leavesOf(term)
      .map((leaf) => places.get(leaf))
      .find((place) => place !== undefined);
    if (path === undefined) return [];
    const isMessage = path === 'message';
    const written = isMessage ? text.slice(text.indexOf(':') + 1) : `*:${text}`;
    const reason = isMessage
      ? `${shown(text)} compares whole messages`
      : `${shown(path)} has ${shown(text)}`;
    const message = `bare words search the message; ${reason}: try ${written}`;
    return [{ type: 'word', message, term: text, attribute: path, try: written }];
  });
}

/** Counts of several terms, each alone. */
function term({ terms, attributes }: HintFacts): Hint[] {
  if (terms.length < 2 || attributes?.length === 0) return [];
  return terms.flatMap(({ text, count }): Hint[] => {
    if (count === undefined) return [];
    const message = `${shown(text)} alone: ${count} ${count === 1 ? 'event' : 'events'} of the time`;
    return [{ type: 'term', message, term: text, count }];
  });
}

/** Events before the range and behind it. */
function range({ newestMs, oldestMs }: HintFacts, zone: Zone): Hint[] {
  const hints: Hint[] = [];
  if (newestMs !== undefined) {
    const message = `the newest event before the time that matches is of ${isoIn(zone, newestMs)}`;
    hints.push({ type: 'range', message, newestMs });
  }
  if (oldestMs !== undefined) {
    const message = `the oldest event behind the time that matches is of ${isoIn(zone, oldestMs)}`;
    hints.push({ type: 'range', message, oldestMs });
  }
  return hints;
}

/** The text of a term that is one test, with a part of it replaced: what may be written instead. */
function instead(term: CountedTerm, leaf: Leaf, part: RegExp, by: string): { try?: string } {
  if (term.predicate !== leaf || !part.test(term.text)) return {};
  return { try: term.text.replace(part, () => by) };
}

/** A path without the parts of the event that it begins with. */
function nameOf(path: string): string {
  return path.replace(/^(?:(?:custom|syslog)\.)+/, '');
}
