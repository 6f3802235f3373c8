import { unreachable } from '../../base/assert.ts';
import type { CountedEntries, EntrySource, Terms } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { BlockColumns, ColumnFacts } from '../../segment/column-outline.ts';
import type { Footer } from '../../segment/footer.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { ValueTest } from '../filter/match.ts';
import type { Plan } from '../filter/plan.ts';
import { type BlockSource, isDamage } from '../model/source.ts';
import { ownerOf } from './column-rows.ts';
import { passesNone, type TestOwner } from './entry-passes.ts';

/** The columns of the block at `ref` as the footer has them; `undefined` when it says nothing, or is damaged. */
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
 * True when a row of the block at `ref` may be selected by `plan`, as far as that is known without opening it. A
 * damaged footer knows nothing: the blocks may be right, and say it themselves when they are not. Adds the block to
 * `refuted` when it is words of its segment that rule it out.
 */
export function mayHaveRows(
  source: BlockSource,
  ref: BlockRef,
  plan: Plan,
  refuted?: Set<BlockRef>,
): boolean {
  if (plan.type === 'all') return true;
  const columns = columnsOf(source, ref);
  if (columns === undefined) return true;
  let isByWords = false;
  const isMaybe = isPossible(plan, columns, {
    dictionary: (number) => dictionaryOf(source, ref, number),
    mayHave: (path, terms) => {
      const may = source.partsWith?.(ref, path, terms)?.parts.includes(1) ?? true;
      isByWords ||= !may;
      return may;
    },
  });
  if (!isMaybe && isByWords) refuted?.add(ref);
  return isMaybe;
}

/** The dictionary of a number (-1: none) of the block's segment; `undefined` when there is none, or it is damaged. */
export function dictionaryOf(
  source: BlockSource,
  ref: BlockRef,
  number: number,
): CountedEntries | undefined {
  try {
    return number < 0 ? undefined : source.dictionary?.(ref, number);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Knowledge of a segment about the strings of a block. */
interface Strings {
  dictionary(number: number): EntrySource | undefined;
  /** True when a string at `path` may have what is looked for. */
  mayHave(path: string, terms: Terms): boolean;
}

/** True when a value of a column may pass, as far as it is known by now. */
function mayPass(facts: ColumnFacts, test: ValueTest, strings: Strings): boolean {
  if (facts.kind === Kind.NUMBER) return test.possible(facts);
  return mayHaveEntry(facts, ownerOf(test), strings);
}

/** True when a text of a column may pass the test of `owner`. */
function mayHaveEntry(
  { path, kind, dictionary }: ColumnFacts,
  owner: TestOwner,
  strings: Strings,
): boolean {
  if (dictionary >= 0 && passesNone(owner, () => strings.dictionary(dictionary))) return false;
  if (kind !== Kind.STRING || owner.terms === undefined) return true;
  return strings.mayHave(path, owner.terms);
}

/** True when a row of a block with these columns may be selected. May say yes wrongly, never no. */
function isPossible(plan: Plan, columns: BlockColumns, strings: Strings): boolean {
  switch (plan.type) {
    case 'all':
    case 'not':
      return true;
    case 'none':
      return false;
    case 'and':
      return plan.children.every((child) => isPossible(child, columns, strings));
    case 'or':
      return plan.children.some((child) => isPossible(child, columns, strings));
    case 'words':
      return columns((path) => path === 'message').some((facts) =>
        mayHaveEntry(facts, plan.test.words, strings),
      );
    case 'value':
      return columns((path) => plan.paths.includes(path)).some((facts) =>
        mayPass(facts, plan.test, strings),
      );
    case 'anywhere':
      return columns(() => true).some((facts) => mayPass(facts, plan.test, strings));
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
