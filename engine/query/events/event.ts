import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import { attributeText } from '../filter/json.ts';
import { TagLevel } from '../group/level.ts';
import type { EventView } from '../group/shared-scan.ts';
import { addRow, noRows } from '../model/bitmap.ts';
import type { EventIds } from '../model/event-id.ts';
import type { ListColumn, ListedEvent, TagRule } from '../model/query.ts';
import { columnsAt } from '../scan/scan.ts';
import { evaluateOnEvent } from './event-formula.ts';

/** Characters after which a unit ends before all rows are rebuilt. */
const UNIT_TEXT = 64 * 1024;

/** Characters of an event, about. */
export function textOf({ event = '', columns }: ListedEvent): number {
  return columns.reduce((sum, column) => sum + column.length, event.length);
}

/** Rebuilds rows of a block in units, until `took` wants no more. Throws CORRUPTION. */
export function* rebuildRows(
  block: Block,
  ids: EventIds,
  view: EventView,
  rows: readonly number[],
  took: (event: ListedEvent, index: number, characters: number) => boolean,
): Units<void> {
  const builder = yield* EventBuilder.open(block, ids, view, rows);
  let unitText = 0;
  for (const [index, row] of rows.entries()) {
    const event = builder.build(row);
    const characters = textOf(event);
    if (!took(event, index, characters)) return;
    unitText += characters;
    if (unitText < UNIT_TEXT) continue;
    yield;
    unitText = 0;
  }
}

/** Rebuilds events of one block. */
export class EventBuilder {
  readonly #block: Block;
  readonly #ids: EventIds;
  readonly #view: EventView;
  /** Of each list column the numbers of the block's columns at its path. */
  readonly #indexes: number[][];
  /** Of each list column of tags the number of each row's tag, from 1, or 0. */
  readonly #tags: (Int32Array | undefined)[];
  /** The event that was made last: many columns may ask for it. */
  #made = { row: -1, text: '' };

  private constructor(
    block: Block,
    ids: EventIds,
    view: EventView,
    tags: (Int32Array | undefined)[],
  ) {
    this.#block = block;
    this.#ids = ids;
    this.#view = view;
    this.#indexes = view.columns.map((column) =>
      column.type === 'attribute' ? columnsAt(block, column.path) : [],
    );
    this.#tags = tags;
  }

  /** Makes one in units; `rows` are those that are going to be built. Throws CORRUPTION. */
  static *open(
    block: Block,
    ids: EventIds,
    view: EventView,
    rows: readonly number[],
  ): Units<EventBuilder> {
    const tags: (Int32Array | undefined)[] = [];
    for (const column of view.columns) {
      tags.push(column.type === 'tag' ? yield* tagsOf(column.tags, block, rows) : undefined);
    }
    return new EventBuilder(block, ids, view, tags);
  }

  /** The event of `row`. Throws CORRUPTION. */
  build(row: number): ListedEvent {
    const block = this.#block;
    const keys = block.keysOf(1);
    const timeMs = keys.timeAt(row);
    const key = { timeMs, sequence: keys.sequenceAt(row), writer: keys.writerAt(row) };
    const columns = this.#view.columns.map((column, at) => this.#columnText(column, at, row));
    const receivedMs = keys.receivedAt(row);
    const listed: ListedEvent = { id: this.#ids.encode(key), timeMs, receivedMs, columns };
    if (this.#view.event) listed.event = this.#eventText(row);
    return listed;
  }

  /** JSON text of a list column; what is in no column of the block may be an object, or null. */
  #columnText(column: ListColumn, at: number, row: number): string {
    if (column.type === 'count') return '1';
    if (column.type === 'tag') {
      const number = this.#tags[at]?.[row] ?? 0;
      return number === 0 ? 'null' : JSON.stringify(column.tags[number - 1].id);
    }
    if (column.type === 'formula') {
      const valueText = (path: string): string =>
        this.#attributeText(columnsAt(this.#block, path), path, row);
      return String(evaluateOnEvent(column.expression, valueText));
    }
    return this.#attributeText(this.#indexes[at], column.path, row);
  }

  #attributeText(indexes: readonly number[], path: string, row: number): string {
    for (const index of indexes) {
      const text = this.#block.valueText(index, row);
      if (text !== undefined) return text;
    }
    return attributeText(this.#eventText(row), path) ?? 'null';
  }

  #eventText(row: number): string {
    if (this.#made.row !== row) this.#made = { row, text: this.#block.eventText(row) };
    return this.#made.text;
  }
}

/** The number of the tag of each of `rows`, from 1; 0 of those without one. */
function* tagsOf(
  tags: readonly TagRule[],
  block: Block,
  rows: readonly number[],
): Units<Int32Array> {
  const wanted = noRows(block.rowCount);
  for (const row of rows) addRow(wanted, row);
  const level = new TagLevel(tags);
  yield* level.prepare(block, wanted);
  return level.values().values;
}
