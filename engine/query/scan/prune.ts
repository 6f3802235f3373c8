import { unreachable } from '../../base/assert.ts';
import type { EntrySource } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { BlockColumns, ColumnFacts } from '../../segment/column-outline.ts';
import type { Footer } from '../../segment/footer.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { ValueTest } from '../filter/match.ts';
import type { Plan } from '../filter/plan.ts';
import { WordsTest } from '../filter/printed-test.ts';
import { type BlockSource, isDamage } from '../model/source.ts';
import { passesNone } from './entry-passes.ts';

/** What the footer says that the block at `ref` has; `undefined` when it says nothing, or is damaged. */
export function columnsOf(source: BlockSource, ref: BlockRef): BlockColumns | undefined {
  try {
    return ref.sealed ? source.columns?.(ref) : undefined;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** The footer of the segment of the block at `ref`; `undefined` when there is none, or it is damaged. */
export function footerOf(source: BlockSource, ref: BlockRef): Footer | undefined {
  try {
    return ref.sealed ? source.footer?.(ref) : undefined;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/**
 * Whether a row of the block at `ref` may be selected by `plan`, as far as that is known without opening it. A damaged
 * footer knows nothing: the blocks may be right, and say it themselves when they are not.
 */
export function mayHaveRows(source: BlockSource, ref: BlockRef, plan: Plan): boolean {
  if (plan.type === 'all') return true;
  const columns = columnsOf(source, ref);
  if (columns === undefined) return true;
  return isPossible(plan, columns, (number) => dictionaryOf(source, ref, number));
}

/** A dictionary of the segment of the block at `ref`; `undefined` when there is none, or it is damaged. */
function dictionaryOf(source: BlockSource, ref: BlockRef, number: number): EntrySource | undefined {
  try {
    return source.dictionary?.(ref, number);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Gives a dictionary of a segment by its number. */
type Dictionaries = (number: number) => EntrySource | undefined;

/** Whether a value of a column may pass, as far as it is known by now. */
function mayPass(facts: ColumnFacts, test: ValueTest, dictionaries: Dictionaries): boolean {
  if (facts.kind === Kind.NUMBER) return test.possible(facts);
  return mayHaveEntry(facts, test instanceof WordsTest ? test.words : test, dictionaries);
}

/** Whether a text of a column may pass the test of `owner`. */
function mayHaveEntry(
  { dictionary }: ColumnFacts,
  owner: object,
  dictionaries: Dictionaries,
): boolean {
  return dictionary < 0 || !passesNone(owner, () => dictionaries(dictionary));
}

/** Whether a row of a block with these columns may be selected. May say yes wrongly, never no. */
function isPossible(plan: Plan, columns: BlockColumns, dictionaries: Dictionaries): boolean {
  switch (plan.type) {
    case 'all':
    case 'not':
      return true;
    case 'none':
      return false;
    case 'and':
      return plan.children.every((child) => isPossible(child, columns, dictionaries));
    case 'or':
      return plan.children.some((child) => isPossible(child, columns, dictionaries));
    case 'words':
      return columns((path) => path === 'message').some((facts) =>
        mayHaveEntry(facts, plan.words, dictionaries),
      );
    case 'value':
      return columns((path) => plan.paths.includes(path)).some((facts) =>
        mayPass(facts, plan.test, dictionaries),
      );
    case 'anywhere':
      return columns(() => true).some((facts) => mayPass(facts, plan.test, dictionaries));
    case 'exists':
      return (
        columns((path) =>
          plan.paths.some((wanted) => path === wanted || path.startsWith(`${wanted}.`)),
        ).length > 0
      );
    default:
      return unreachable(plan);
  }
}
