import type { BlockRef } from '../segment/frame.ts';

/** A block by the place that no other live one has. */
export type BlockPlace = Pick<BlockRef, 'segment' | 'ordinal'>;

/**
 * Changes from one state of the live blocks to a later one: first all of `removed` go, then `added` come. Plain data
 * that crosses threads.
 */
export interface BlockChanges {
  /** Number of the state that it leads to. */
  version: number;
  /** Set when all earlier blocks go, so that `added` are all live blocks. */
  isWhole: boolean;
  removed: readonly BlockPlace[];
  added: readonly BlockRef[];
}

/** Steps are kept, however few blocks there are, until they come to so many blocks. */
const KEPT_MIN = 1_024;

/** One step from a state of the live blocks to the next. */
interface Step {
  removed: readonly BlockRef[];
  added: readonly BlockRef[];
}

/**
 * The last changes of the live blocks, which bring the holder of an earlier state up to date without telling
 * everything. Keeps about as many blocks as are live; beyond that telling everything is cheaper. Owned by the front
 * thread.
 */
export class ChangeLog {
  #version = 0;
  /** The steps to the last states, the oldest first. */
  #steps: Step[] = [];
  /** Weight of the kept changes, by `weightOf`. */
  #keptCount = 0;

  /** Number of the state of this moment. */
  get version(): number {
    return this.#version;
  }

  /** Counts a step in which `removed` went and `added` came; `liveCount` blocks are there now. Keeps both lists. */
  add(removed: readonly BlockRef[], added: readonly BlockRef[], liveCount: number): void {
    this.#version++;
    this.#steps.push({ removed, added });
    this.#keptCount += weightOf({ removed, added });
    const most = Math.max(liveCount, KEPT_MIN);
    if (this.#keptCount <= 2 * most) return;
    let gone = 0;
    while (this.#keptCount > most) this.#keptCount -= weightOf(this.#steps[gone++]);
    this.#steps = this.#steps.slice(gone);
  }

  /** Changes from state `since` to this one; `undefined` when they are no longer known. */
  since(since: number): BlockChanges | undefined {
    const count = this.#version - since;
    if (count < 0 || count > this.#steps.length) return undefined;
    const added = new Map<string, BlockRef>();
    const removed: BlockRef[] = [];
    for (const step of this.#steps.slice(this.#steps.length - count)) {
      for (const block of step.removed) {
        // What came and went meanwhile is nobody's concern.
        if (!added.delete(nameOf(block))) removed.push(block);
      }
      for (const block of step.added) added.set(nameOf(block), block);
    }
    const places = removed.map(({ segment, ordinal }) => ({ segment, ordinal }));
    const version = this.#version;
    return { version, isWhole: false, removed: places, added: [...added.values()] };
  }
}

/** The live blocks as a thread knows them that is told of changes only. */
export class LiveBlocks {
  readonly #blocks = new Map<string, BlockRef>();
  #snapshot: { readonly blocks: readonly BlockRef[] } | undefined;

  /** Takes the changes from the state that it has to another. */
  apply({ isWhole, removed, added }: BlockChanges): void {
    if (isWhole) this.#blocks.clear();
    for (const place of removed) this.#blocks.delete(nameOf(place));
    for (const block of added) this.#blocks.set(nameOf(block), block);
    this.#snapshot = undefined;
  }

  /** The blocks of this state: the same object until something changes, and never changed itself. */
  snapshot(): { readonly blocks: readonly BlockRef[] } {
    this.#snapshot ??= { blocks: [...this.#blocks.values()] };
    return this.#snapshot;
  }
}

/** Blocks of a step, and one more: steps without any are not free either. */
function weightOf({ removed, added }: Step): number {
  return removed.length + added.length + 1;
}

function nameOf({ segment, ordinal }: BlockPlace): string {
  return `${segment} ${ordinal}`;
}
