import type { Zone } from '../../column/chunk.ts';
import { leafKey } from '../../column/shape.ts';
import type { ColumnOutline } from '../column-outline.ts';

/** Columns that a footer names at most; beyond them a block has to be opened to know what it has. */
const FOOTER_COLUMNS_MAX = 1_000;

/** Collects what a footer says of the columns of a segment, block by block. */
export class OutlineList {
  readonly #blockCount: number;
  readonly #outlines = new Map<number, ColumnOutline>();
  #isComplete = true;

  constructor(blockCount: number) {
    this.#blockCount = blockCount;
  }

  /** True when all columns are in the list. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Notes that there are columns that are not told. */
  leaveOut(): void {
    this.#isComplete = false;
  }

  /** Notes that a block has `presentCount` values of a column. */
  add(
    { path, kind, dictionary }: Pick<ColumnOutline, 'path' | 'kind' | 'dictionary'>,
    block: number,
    presentCount: number,
    zone: Zone | undefined,
  ): void {
    const key = leafKey(path, kind);
    let outline = this.#outlines.get(key);
    if (outline === undefined) {
      if (this.#outlines.size === FOOTER_COLUMNS_MAX) {
        this.#isComplete = false;
        return;
      }
      const byBlock = (): Float64Array => new Float64Array(this.#blockCount);
      const zones = zone === undefined ? undefined : { mins: byBlock(), maxs: byBlock() };
      const { mins, maxs } = zones ?? { mins: undefined, maxs: undefined };
      outline = { path, kind, dictionary, presentCounts: byBlock(), mins, maxs };
      this.#outlines.set(key, outline);
    }
    outline.presentCounts[block] = presentCount;
    if (zone === undefined || outline.mins === undefined || outline.maxs === undefined) return;
    outline.mins[block] = zone.min;
    outline.maxs[block] = zone.max;
  }

  list(): ColumnOutline[] {
    return [...this.#outlines.values()];
  }
}
