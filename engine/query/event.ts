import type { Block } from '../segment/block.ts';
import { encodeEventId } from './event-id.ts';
import { attributeText } from './json.ts';
import type { ListColumn, ListedEvent } from './query.ts';
import { columnsAt } from './scan.ts';

/** What a reply shows of its events. */
export interface EventView {
  /** Whether the whole event is wanted. */
  event: boolean;
  columns: readonly ListColumn[];
}

/** Rebuilds events of one block. */
export class EventBuilder {
  readonly #block: Block;
  readonly #secret: Uint8Array;
  readonly #view: EventView;
  /** Of each list column the numbers of the block's columns at its path. */
  readonly #indexes: number[][];

  constructor(block: Block, secret: Uint8Array, view: EventView) {
    this.#block = block;
    this.#secret = secret;
    this.#view = view;
    this.#indexes = view.columns.map((column) =>
      column.type === 'attribute' ? columnsAt(block, column.path) : [],
    );
  }

  /** The event of `row`. Throws CORRUPTION. */
  build(row: number): ListedEvent {
    const block = this.#block;
    const { writer, firstSequence } = block.ref;
    const timeMs = block.timeMs()[row];
    const id = encodeEventId(this.#secret, { timeMs, writer, sequence: firstSequence + row });
    const columns = this.#view.columns.map((column, at) => this.#columnText(column, at, row));
    const listed: ListedEvent = { id, timeMs, receivedMs: block.receivedMs()[row], columns };
    if (this.#view.event) listed.event = block.eventText(row);
    return listed;
  }

  /** JSON text of a list column; what is in no column of the block may be an object, or null. */
  #columnText(column: ListColumn, at: number, row: number): string {
    if (column.type === 'count') return '1';
    for (const index of this.#indexes[at]) {
      const text = this.#block.valueText(index, row);
      if (text !== undefined) return text;
    }
    return attributeText(this.#block.eventText(row), column.path) ?? 'null';
  }
}
