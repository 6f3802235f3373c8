import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import { addRow, type Bitmap, countRows, keepRows, nextRow } from '../model/bitmap.ts';
import { filterName, type SelectedRows } from '../model/filter-cache.ts';
import type { Predicate } from '../model/predicate.ts';
import type { BlockSource } from '../model/source.ts';
import { mayHaveRows } from './prune.ts';
import { rowsWhere } from './scan.ts';

/**
 * Finds the rows of blocks for which a predicate holds. Those of whole blocks are kept in the source's cache for the
 * next time that somebody asks: on disk there is no index of values or words.
 */
export class PredicateRows {
  /** Blocks that `mayHave` ruled out by words of their segments. */
  readonly refuted = new Set<BlockRef>();
  readonly #source: BlockSource;
  readonly #plan: Plan;
  readonly #name: string;

  constructor(source: BlockSource, predicate: Predicate) {
    this.#source = source;
    this.#plan = planOf(predicate);
    this.#name = source.selected === undefined ? '' : filterName(predicate);
  }

  /** Whether all rows are selected. */
  get isAll(): boolean {
    return this.#plan.type === 'all';
  }

  /** Whether the block at `ref` may have such rows, as far as that is known without opening it. */
  mayHave(ref: BlockRef): boolean {
    if (this.#kept(ref)?.rowCount === 0) return false;
    return mayHaveRows(this.#source, ref, this.#plan, this.refuted);
  }

  /** The number of such rows in the whole block at `ref`; `undefined` when it is not known. */
  countOf(ref: BlockRef): number | undefined {
    return this.isAll ? ref.rowCount : this.#kept(ref)?.rowCount;
  }

  /**
   * Such rows among `rows` of a block, found in units. May return `rows` itself, and never writes to it. Throws
   * CORRUPTION.
   */
  *among(block: Block, rows: Bitmap): Units<Bitmap> {
    const kept = this.#kept(block.ref);
    if (kept !== undefined) return common(kept, rows);
    const found = yield* rowsWhere(this.#plan, block, rows);
    const isWhole = countRows(rows) === block.rowCount;
    if (isWhole && !this.isAll) this.#keep(block.ref, found);
    return found;
  }

  #kept(ref: BlockRef): SelectedRows | undefined {
    return this.#source.selected?.get(this.#name, ref);
  }

  #keep(ref: BlockRef, found: Bitmap): void {
    const { selected } = this.#source;
    if (selected === undefined) return;
    const kept = packed(found);
    selected.keep(this.#name, ref, kept, kept.rows.byteLength);
  }
}

function packed(found: Bitmap): SelectedRows {
  const rowCount = countRows(found);
  if (rowCount * 2 >= found.byteLength) return { rowCount, rows: found };
  const rows = new Uint16Array(rowCount);
  let count = 0;
  for (let row = nextRow(found, 0); row >= 0; row = nextRow(found, row + 1)) rows[count++] = row;
  return { rowCount, rows };
}

/** The rows that both have. */
function common({ rows: selected }: SelectedRows, rows: Bitmap): Bitmap {
  let found: Bitmap;
  if (selected instanceof Uint16Array) {
    found = new Uint32Array(rows.length);
    for (const row of selected) addRow(found, row);
  } else found = selected.slice();
  keepRows(found, rows);
  return found;
}
