import { unreachable } from '../../base/assert.ts';
import type { Predicate, ValueMatch } from '../model/predicate.ts';
import { TextTest, type ValueTest } from './match.ts';
import { type Allowance, PatternTest, RegexTest, WordsTest } from './printed-test.ts';
import { RangeTest } from './range.ts';
import { WordSequence } from './word.ts';

/**
 * A predicate made ready for the blocks of one query: texts encoded, patterns compiled, the cheap children of an
 * `and` first. Used by one thread.
 */
export type Plan =
  | { type: 'all' }
  | { type: 'none' }
  | { type: 'and'; children: Plan[] }
  | { type: 'or'; children: Plan[] }
  | { type: 'not'; child: Plan }
  | { type: 'words'; test: WordsTest }
  | { type: 'value'; paths: readonly string[]; test: ValueTest }
  | { type: 'anywhere'; test: ValueTest }
  | { type: 'exists'; paths: readonly string[] };

/**
 * Makes a predicate ready. A range without ends is `exists`. When there is an `allowance`, regular expressions hold for
 * no text that it does not reach for.
 */
export function planOf(predicate: Predicate, allowance?: Allowance): Plan {
  switch (predicate.type) {
    case 'all':
    case 'none':
      return predicate;
    case 'and': {
      const children = predicate.children.map((child) => planOf(child, allowance));
      return { type: 'and', children: children.sort((a, b) => costOf(a) - costOf(b)) };
    }
    case 'or':
      return { type: 'or', children: predicate.children.map((child) => planOf(child, allowance)) };
    case 'not':
      return { type: 'not', child: planOf(predicate.child, allowance) };
    case 'words':
      return { type: 'words', test: new WordsTest(new WordSequence(predicate.words)) };
    case 'value':
      return { type: 'value', paths: predicate.paths, test: testOf(predicate.match, allowance) };
    case 'anywhere':
      return { type: 'anywhere', test: testOf(predicate.match, allowance) };
    case 'exists':
      return { type: 'exists', paths: predicate.paths };
    case 'range': {
      const { paths, from, to } = predicate;
      if (from === undefined && to === undefined) return { type: 'exists', paths };
      return { type: 'value', paths, test: new RangeTest(from, to) };
    }
    default:
      return unreachable(predicate);
  }
}

function testOf(match: ValueMatch, allowance: Allowance | undefined): ValueTest {
  if (match.type === 'text') return new TextTest(match.text);
  if (match.type === 'words') return new WordsTest(new WordSequence(match.words));
  if (match.type === 'regex') return new RegexTest(match.source, allowance);
  return new PatternTest(match.pattern, match.ignoresCase ?? false);
}

/** Ranks what a plan costs a block: constants, presence, values, patterns, words, all columns. */
function costOf(plan: Plan): number {
  switch (plan.type) {
    case 'all':
    case 'none':
      return 0;
    case 'exists':
      return 1;
    case 'value':
      return plan.test.printsNumbers ? 3 : 2;
    case 'words':
      return 4;
    case 'anywhere':
      return 5;
    case 'not':
      return costOf(plan.child);
    case 'and':
    case 'or':
      return plan.children.reduce((cost, child) => Math.max(cost, costOf(child)), 0);
    default:
      return unreachable(plan);
  }
}
