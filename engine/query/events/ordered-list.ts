import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { Pace, type Units } from '../../base/pause.ts';
import type { NumberColumn } from '../../column/column.ts';
import { entrySeed } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../../column/number-text.ts';
import type { Block } from '../../segment/block/block.ts';
import type { RowKeyReader } from '../../segment/block/keys/block-keys.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { BlockScan, type BlockVisitor } from '../group/block-scan.ts';
import { FieldLevel } from '../group/level.ts';
import type {
  OrderedEvent,
  OrderedSpec,
  OrderKey,
  Sharing,
  VisitorData,
  VisitorSpec,
} from '../group/shared-scan.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  countRows,
  hasRow,
  isEmpty,
  keepRows,
  nextRow,
  noRows,
} from '../model/bitmap.ts';
import { bytesOfCharacters, checkCharacters, type MemoryBound } from '../model/budget.ts';
import type { Predicate } from '../model/predicate.ts';
import type { ListQuery, ListResult, Snapshot } from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';
import { partsOfRows, telling } from '../model/units.ts';
import { rowsPresent } from '../scan/column-rows.ts';
import { columnsAt } from '../scan/scan.ts';
import type { RowValues } from '../value/coded-values.ts';
import { ValueTable } from '../value/value-table.ts';
import { placeUnits } from './fetch.ts';
import { FirstEvents, isNumber, orderKey } from './first-events.ts';
import { PageEvents } from './page-events.ts';

/** Memory of the values that are known, beyond which all are forgotten. */
const VALUES_BYTES_MAX = 8 * 1024 * 1024;
/** Words of a bitmap whose rows are looked at before others are narrowed down by them: 2,048 rows. */
const PART_WORDS = 64;
/** More than what a product and a quotient of doubles are rounded by, as a part of them. */
const ROUNDING = 2 ** -50;
/** Rows whose numbers are printed one by one. */
const FEW_ROWS = 64;

/** A list query that is ordered by an attribute. */
export type OrderedQuery = ListQuery & Reach & { orderBy: string };

/** The name of a block, which is the same in all threads. */
function nameOf({ segment, ordinal }: BlockRef): string {
  return `${segment}/${ordinal}`;
}

/** Facts about a value of the level. */
interface Known {
  key: OrderKey;
  /** True when no event of it can be among the first any more. */
  isBeaten: boolean;
}

/** A pass over the blocks that finds the first events. Owned by one thread. */
export class FirstFinder implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  /** Selected events so far. */
  total = 0;
  readonly first: FirstEvents;
  /** Those of its events, by their number. */
  readonly refs: BlockRef[] = [];
  readonly #source: BlockSource;
  readonly #spec: OrderedSpec;
  readonly #bound: MemoryBound;
  readonly #damaged: ReadonlySet<string>;
  #level: FieldLevel;
  #known: (Known | undefined)[] = [];
  #after: OrderedSpec['after'];

  /** Blocks whose names are `damaged` are passed over. `bound`: of the memory that it may take. */
  constructor(
    source: BlockSource,
    spec: OrderedSpec,
    damaged: ReadonlySet<string>,
    bound: MemoryBound = source,
  ) {
    this.#source = source;
    this.#spec = spec;
    this.#damaged = damaged;
    this.#bound = bound;
    this.#after = spec.after;
    this.first = new FirstEvents(spec.rowsMax, spec.order);
    this.#level = this.#newLevel();
  }

  /** Takes only events that come after that of `id`. Throws USAGE when the query does not select it. */
  *startAfter(snapshot: Snapshot, id: string, predicate: Predicate): Generator<Progress, void> {
    const key = this.#source.ids.decode(id);
    const place = key && (yield* placeUnits(this.#source, snapshot, key, predicate));
    if (key === undefined || place === undefined) {
      throw new EngineError('USAGE', `"${id}" is not the id of an event of the list`);
    }
    const rows = noRows(place.block.rowCount);
    addRow(rows, place.row);
    const progress = { unitsDone: 0, unitsTotal: 1 };
    yield* telling(() => progress, this.#level.prepare(place.block, rows));
    const value = this.#knownOf(this.#valueOf(this.#level.values(), place.row));
    this.#after = { ...key, value: value?.key };
  }

  get memoryBytes(): number {
    return this.#level.memoryBytes + bytesOfCharacters(this.first.characters);
  }

  skips(ref: BlockRef): boolean {
    return this.#damaged.has(nameOf(ref));
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    if (this.#level.memoryBytes > VALUES_BYTES_MAX) {
      this.#level = this.#newLevel();
      this.#known = [];
    }
    const parts = this.#partsOf(block, rows);
    let number = -1;
    for (const part of parts) {
      const wanted = this.#narrowed(block, part);
      if (parts.length === 1 && isEmpty(wanted)) {
        this.total += countRows(rows);
        return;
      }
      const keys = block.keysOf(countRows(parts.length > 1 ? rows : wanted));
      const numbers = this.#fewNumbers(block, wanted);
      if (numbers === undefined) yield* this.#level.prepare(block, wanted);
      if (number < 0) {
        this.total += countRows(rows);
        number = this.refs.push(block.ref) - 1;
      }
      if (numbers === undefined) yield* this.#offer(keys, number, wanted);
      else this.#offerNumbers(numbers, keys, number, wanted);
    }
  }

  spec(): VisitorSpec {
    return { ...this.#spec, after: this.#after };
  }

  found(): VisitorData {
    return { type: 'ordered', refs: this.refs, events: this.first.events, total: this.total };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'ordered', 'events in the same order');
    const firstNumber = this.refs.length;
    for (const ref of data.refs) this.refs.push(ref);
    this.total += data.total;
    const pace = new Pace();
    for (const event of data.events) {
      this.first.offer({ ...event, block: firstNumber + event.block });
      checkCharacters(this.#bound, this.first.characters);
      if (pace.isFull(1)) yield;
    }
  }

  /** While there is room for any event numbers are looked at in parts, so that most of them need not be known. */
  #partsOf(block: Block, rows: Bitmap): Bitmap[] {
    const columns = columnsAt(block, this.#spec.orderBy);
    // Columns of numbers are read whole: the parts behind the first one cannot fail.
    const areNumbers = columns.every((index) => block.info(index).kind === Kind.NUMBER);
    return areNumbers && this.first.last === undefined ? partsOfRows(rows, PART_WORDS) : [rows];
  }

  /** Offers the events of the rows that the level is prepared for. */
  *#offer(keys: RowKeyReader, number: number, rows: Bitmap): Units<void> {
    const values = this.#level.values();
    const pace = new Pace();
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (pace.isFull(1)) yield;
      const known = this.#knownOf(this.#valueOf(values, row));
      if (known?.isBeaten === true) continue;
      const { last } = this.first;
      if (last !== undefined) {
        const order = this.first.compareValues(known?.key, last.value);
        if (known !== undefined && order > 0) known.isBeaten = true;
        if (order > 0) continue;
      }
      this.#offerRow(keys, number, row, known?.key);
    }
  }

  /** The column of the only values that the block has there, when these are numbers of which few are wanted. */
  #fewNumbers(block: Block, wanted: Bitmap): NumberColumn | undefined {
    const [index, ...others] = columnsAt(block, this.#spec.orderBy);
    if (index === undefined || others.length > 0 || countRows(wanted) > FEW_ROWS) return undefined;
    const column = block.column(index);
    return column.kind === Kind.NUMBER ? column : undefined;
  }

  /** Offers the events of few rows that have numbers: these need not all be decoded for that. */
  #offerNumbers(column: NumberColumn, keys: RowKeyReader, number: number, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const text = hasRow(present, row) ? column.text(row) : undefined;
      this.#offerRow(
        keys,
        number,
        row,
        text === undefined ? undefined : orderKey({ type: 'number', text }),
      );
    }
  }

  #offerRow(keys: RowKeyReader, number: number, row: number, value: OrderKey | undefined): void {
    const key = { writer: keys.writerAt(row), sequence: keys.sequenceAt(row) };
    const event = { timeMs: keys.timeAt(row), ...key, value, block: number, row };
    if (this.#after !== undefined && this.first.compare(event, this.#after) <= 0) return;
    this.first.offer(event);
    checkCharacters(this.#bound, this.first.characters);
  }

  #newLevel(): FieldLevel {
    const { secret } = this.#source;
    const seed = entrySeed(secret);
    return new FieldLevel(this.#spec.orderBy, new ValueTable(seed));
  }

  /** The rows without those that cannot be among the first, as far as that is seen without their values' texts. */
  #narrowed(block: Block, rows: Bitmap): Bitmap {
    const worst = this.first.last?.value;
    if (worst === undefined) return rows;
    const left = noRows(block.rowCount);
    for (const index of columnsAt(block, this.#spec.orderBy)) {
      const { kind, min, max } = block.info(index);
      // Numbers beyond all doubles are infinite here, and the last double in a column's bounds.
      const isNarrowed = kind === Kind.NUMBER && isNumber(worst) && Number.isFinite(worst.number);
      if (isNarrowed && this.#isBeyond(worst, min, max)) continue;
      const column = block.column(index);
      addRows(
        left,
        isNarrowed && column.kind === Kind.NUMBER
          ? this.#numbersUpTo(worst, column, rows)
          : rowsPresent(column, rows),
      );
    }
    return left;
  }

  /** True when all numbers from `min` to `max` come after `worst`. */
  #isBeyond({ number }: OrderKey, min: number | undefined, max: number | undefined): boolean {
    if (min === undefined || max === undefined) return false;
    return this.#spec.order === 'asc' ? min > number : max < number;
  }

  /** The rows among `rows` whose number does not come after `worst`, and perhaps some whose number is next to it. */
  #numbersUpTo({ number }: OrderKey, column: NumberColumn, rows: Bitmap): Bitmap {
    const { scale, exceptions, presence } = column;
    const limit = number * (scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[scale]);
    const room = Math.abs(limit) * ROUNDING;
    const found =
      this.#spec.order === 'asc'
        ? column.rowsWithin(Number.NEGATIVE_INFINITY, limit + room)
        : column.rowsWithin(limit - room, Number.POSITIVE_INFINITY);
    for (const { row } of exceptions) addRow(found, row);
    keepRows(found, rows);
    keepRows(found, presence);
    return found;
  }

  /** The value of a row that comes first in the order; -1 when it has none. */
  #valueOf({ starts, values }: RowValues, row: number): number {
    if (starts === undefined) return values[row] - 1;
    let first = -1;
    const sign = this.#spec.order === 'asc' ? 1 : -1;
    for (let at = starts[row]; at < starts[row + 1]; at++) {
      const isFirst = first < 0 || sign * this.#level.compare(values[at], first) < 0;
      if (isFirst) first = values[at];
    }
    return first;
  }

  #knownOf(value: number): Known | undefined {
    if (value < 0) return undefined;
    this.#known[value] ??= { key: orderKey(this.#level.key(value)), isBeaten: false };
    return this.#known[value];
  }
}

/**
 * Lists a page of events in the order of an attribute: one pass over all that are selected finds those of the page,
 * which are rebuilt then. Damaged blocks are left out and counted. Throws USAGE when `after` is not the id of an event
 * that is selected, MEMORY, and what the source throws but CORRUPTION.
 */
export function* orderedListUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: OrderedQuery,
  sharing?: Sharing,
): Generator<Progress, ListResult> {
  const scan = new BlockScan(source, snapshot, query, sharing);
  const { order, orderBy, skip = 0, limit } = query;
  const spec = {
    type: 'ordered' as const,
    order,
    orderBy,
    rowsMax: skip + limit,
    after: undefined,
  };
  const damaged = new Set<string>();
  for (;;) {
    const finder = new FirstFinder(source, spec, damaged);
    if (query.after !== undefined) {
      yield* finder.startAfter(snapshot, query.after, query.predicate);
    }
    scan.restart();
    yield* scan.run(finder);
    const page = yield* telling(() => scan.progress, pageOf(finder.first, query));
    const broken = new Set<BlockRef>();
    const told = (_: number, characters: number): Progress => ({
      ...scan.progress,
      heldBytes: bytesOfCharacters(characters),
    });
    const rebuilding = new PageEvents(source, query, finder.refs, page, broken);
    const events = yield* rebuilding.run(Infinity, told, sharing);
    for (const ref of broken) damaged.add(nameOf(ref));
    // A block that turns out damaged when its rows are rebuilt leaves room for rows of others.
    if (broken.size > 0) continue;
    const stats = { ...scan.stats, blocksDamaged: scan.stats.blocksDamaged + damaged.size };
    return { events, stats, ...(query.total === true ? { total: finder.total } : {}) };
  }
}

/** The events of the page, in their order. */
function* pageOf(first: FirstEvents, { skip = 0 }: ListQuery): Units<OrderedEvent[]> {
  const events: OrderedEvent[] = [];
  const pace = new Pace();
  for (let event = first.takeLast(); event !== undefined; event = first.takeLast()) {
    events.push(event);
    if (pace.isFull(4)) yield;
  }
  return events.reverse().slice(skip);
}
