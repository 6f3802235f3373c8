import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { EventView, RowsData } from '../group/shared-scan.ts';
import { type Bitmap, nextRow } from '../model/bitmap.ts';
import type { ListedEvent } from '../model/query.ts';
import { type BlockSource, isDamage } from '../model/source.ts';
import { rebuildRows } from './event.ts';

/** Events of a page up to which they are rebuilt as their rows are found; idle threads join to rebuild more. */
export const FOUND_EVENTS_MAX = 256;
/** Characters of events of which no more are rebuilt: not all that was found is on the page. */
const TEXT_MAX = 1024 * 1024;
/** More than the rows of a block. */
const ROWS_END = 2 ** 16;

/**
 * Events of rows that were found, rebuilt while what was read of their block is there. Those that lack are rebuilt
 * later. Owned by one search.
 */
export class FoundEvents {
  readonly #source: BlockSource;
  readonly #view: EventView;
  /** By the number of their block and their row. */
  readonly #events = new Map<number, ListedEvent>();
  #text = 0;

  constructor(source: BlockSource, view: EventView) {
    this.#source = source;
    this.#view = view;
  }

  /** The event of a row of the caller's block number `block`, when it was rebuilt. */
  at(block: number, row: number): ListedEvent | undefined {
    return this.#events.get(block * ROWS_END + row);
  }

  /**
   * Rebuilds the events of `rows`, in units, unless there are many characters by now. Of a damaged block some lack:
   * that is told to whoever rebuilds those.
   */
  *rebuild(block: Block, number: number, rows: Bitmap): Units<void> {
    if (this.#text > TEXT_MAX) return;
    const wanted: number[] = [];
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) wanted.push(row);
    const took = (event: ListedEvent, index: number, characters: number): boolean => {
      this.#events.set(number * ROWS_END + wanted[index], event);
      this.#text += characters;
      return this.#text <= TEXT_MAX;
    };
    try {
      yield* rebuildRows(block, this.#source.ids, this.#view, wanted, took);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  /** The events of these rows, as far as they were rebuilt. */
  of({ blocks, rows }: RowsData): (ListedEvent | undefined)[] {
    return Array.from(rows, (row, at) => this.at(blocks[at], row));
  }

  /** Takes events of these rows that another one rebuilt. */
  take({ blocks, rows }: RowsData, events: readonly (ListedEvent | undefined)[]): void {
    for (const [at, event] of events.entries()) {
      if (event !== undefined) this.#events.set(blocks[at] * ROWS_END + rows[at], event);
    }
  }
}
