import { unreachable } from '../../base/assert.ts';
import { Kind } from '../../column/kind.ts';
import type { BlockColumns } from '../../segment/column-outline.ts';
import type { Footer } from '../../segment/footer.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { Plan } from '../filter/plan.ts';
import { type BlockSource, isDamage } from '../model/source.ts';

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
  return columns === undefined || isPossible(plan, columns);
}

/** Whether a row of a block with these columns may be selected. May say yes wrongly, never no. */
function isPossible(plan: Plan, columns: BlockColumns): boolean {
  switch (plan.type) {
    case 'all':
    case 'not':
      return true;
    case 'none':
      return false;
    case 'and':
      return plan.children.every((child) => isPossible(child, columns));
    case 'or':
      return plan.children.some((child) => isPossible(child, columns));
    case 'words':
      return columns((path) => path === 'message').length > 0;
    case 'value':
      return columns((path) => plan.paths.includes(path)).some(
        (facts) => facts.kind !== Kind.NUMBER || plan.test.possible(facts),
      );
    case 'anywhere':
      return columns(() => true).length > 0;
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
