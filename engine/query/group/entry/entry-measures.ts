import { assert } from '../../../base/assert.ts';
import { inParts, type Units } from '../../../base/pause.ts';
import { type EntrySource, PIECE_ENTRIES, Scratch } from '../../../column/entries.ts';
import { Kind } from '../../../column/kind.ts';
import { free } from '../../../packed/growth.ts';
import type { Block } from '../../../segment/block/block.ts';
import type { BlockRef } from '../../../segment/frame.ts';
import { GreatestKeys } from '../../metric/greatest-keys.ts';
import { keysOf, NO_KEY } from '../../metric/group-keys.ts';
import { MetricTable, type MetricTableData } from '../../metric/metric-table.ts';
import type { Bitmap } from '../../model/bitmap.ts';
import { type BlockSource, isDamage } from '../../model/source.ts';
import { columnsAt } from '../../scan/scan.ts';
import { idsOf, stringsOf } from '../../value/block-strings.ts';
import { numbersIn } from '../../value/counted-values.ts';
import { Pairs } from '../../value/pairs.ts';
import { TupleTable } from '../../value/tuple-table.ts';
import { HashHeads } from '../../value/value-part.ts';
import { ValueTable } from '../../value/value-table.ts';
import type { BlockVisitor } from '../block-scan.ts';
import { FieldLevel } from '../level.ts';
import { Pass } from '../pass.ts';
import type { HeadData, MeasuresSpec, VisitorData } from '../shared-scan.ts';

/** All entries are told of a dictionary that has so many times those of a head, or fewer. */
const HEADS_FEW = 4;
/** Entries that are gone through in a unit. */
const UNIT_ENTRIES = 65_536;

/** Values of a part of the events, those with the greatest keys, or all that lie in no dictionary of a segment. */
export interface MeasuredHead extends Omit<HeadData, 'ref' | 'entries'> {
  /** The numbers of values, by their places, in a table that takes them; in units. Throws CORRUPTION. */
  numbersIn(table: ValueTable, places: Uint32Array): Units<Int32Array>;
}

/** A dictionary whose events are being measured: group e + 1 of `table` is of entry e. */
interface Measured {
  ref: BlockRef;
  shared: EntrySource;
  hashes: Int32Array;
  table: MetricTable;
  isKeyed: boolean;
}

/**
 * Computes metrics of events by the values of an attribute, and keeps those that come first: by entries of dictionaries
 * of segments as far as values lie in these, one after the other, of whose strings nothing is read. Owned by one
 * thread.
 */
export class EntryMeasures implements BlockVisitor {
  readonly needsRows = true;
  readonly #source: BlockSource;
  readonly #spec: MeasuresSpec;
  #measured: Measured | undefined;
  /** Table for the next dictionary: pages that are new take longer than zeros in old ones. */
  #spare: MetricTable | undefined;
  readonly #heads: [EntrySource, HeadData][] = [];
  readonly #level: FieldLevel;
  readonly #tuples = new TupleTable();
  readonly #table: MetricTable;
  /** Takes what lies in no dictionary. */
  readonly #rest: Pass;
  readonly #pairs = new Pairs();
  /** True when it cannot tell which values come first. */
  #isStrange = false;

  constructor(source: BlockSource, spec: MeasuresSpec) {
    this.#source = source;
    this.#spec = spec;
    const part = spec.part && new HashHeads(spec.part);
    this.#level = new FieldLevel(spec.path, new ValueTable(spec.seed, part));
    this.#table = new MetricTable(spec.metrics, source.secret);
    const stage = { level: this.#level, tuples: this.#tuples, grows: true, total: false };
    const tables = [{ metrics: this.#table, steps: undefined }];
    this.#rest = new Pass([stage], tables, { index: 0, count: 1 }, false, spec.memoryBytesMax);
  }

  get isFull(): boolean {
    return this.#isStrange || this.memoryBytes > this.#spec.memoryBytesMax;
  }

  get memoryBytes(): number {
    const table = this.#measured?.table ?? this.#spare;
    let bytes = this.#rest.memoryBytes + (table?.memoryBytes ?? 0);
    for (const [, { keys }] of this.#heads) bytes += keys.byteLength * 4;
    return bytes;
  }

  spec(): MeasuresSpec {
    return this.#spec;
  }

  found(): VisitorData | undefined {
    const rest = this.#rest.found();
    if (this.isFull || rest === undefined) return undefined;
    return { type: 'measures', heads: this.#heads.map(([, head]) => head), rest };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'measures', 'what was measured of entries');
    try {
      for (const head of data.heads) {
        const shared = stringsOf(this.#source.open(head.ref), this.#spec.path)?.shared;
        if (shared !== undefined) this.#heads.push([shared, head]);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#isStrange = true;
    }
    yield* this.#rest.merge(data.rest);
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    const column = stringsOf(block, this.#spec.path);
    if (column?.shared === undefined) {
      yield* this.#rest.add(block, rows);
      return;
    }
    const measured = yield* this.#open(block.ref, column.shared);
    const { table } = measured;
    yield* table.prepare(block);
    const pairs = this.#pairs;
    const possible = yield* this.#level.among(block, rows);
    pairs.resetTo(possible, idsOf(column));
    if (pairs.count === 0) return;
    table.ensure(column.entryCount + 1);
    table.add(pairs);
    measured.isKeyed &&= hasNumbers(block, this.#spec.order.path);
  }

  *settle(): Units<void> {
    yield* this.#close();
    free(...arraysOf(this.#spare?.data));
    this.#spare = undefined;
  }

  /** The heads of all parts, to be called after the last block. */
  *finish(): Units<MeasuredHead[] | undefined> {
    const heads = this.#heads.map(
      ([shared, { entries, ...head }]): MeasuredHead => ({
        ...head,
        numbersIn: (table, places) =>
          numbersOf(
            shared,
            Array.from(places, (place) => entries[place]),
            table,
          ),
      }),
    );
    if (this.#tuples.count === 0) return heads;
    const { numbers } = this.#level;
    const table = this.#table.data;
    const valueAt = (tuple: number): number => this.#tuples.value(tuple) - 1;
    const keyAt = yield* keysOf(table, this.#spec.order);
    if (keyAt === undefined) return undefined;
    const all = numbers.hashes();
    const { count } = this.#tuples;
    const [keys, hashes] = [new Float64Array(count), new Int32Array(count)];
    for (let tuple = 0; tuple < count; tuple++) {
      keys[tuple] = keyAt(tuple);
      hashes[tuple] = all[valueAt(tuple)];
    }
    yield;
    heads.push({
      ...{ table, keys, hashes, tail: NO_KEY, isKeyed: true },
      numbersIn: (into, places) => numbersIn(places, (place) => into.take(numbers, valueAt(place))),
    });
    return heads;
  }

  /** The dictionary of a block, which is measured from now on. Throws CORRUPTION before it has changed anything. */
  *#open(ref: BlockRef, shared: EntrySource): Units<Measured> {
    if (this.#measured?.shared === shared) return this.#measured;
    const hashes = yield* shared.hashUnits(this.#level.numbers);
    yield* this.#close();
    const table = this.#spare ?? new MetricTable(this.#spec.metrics, this.#source.secret);
    this.#spare = undefined;
    this.#measured = { ref, shared, hashes, table, isKeyed: true };
    return this.#measured;
  }

  /** Keeps what comes first of the dictionary that was measured. */
  *#close(): Units<void> {
    const measured = this.#measured;
    if (measured === undefined) return;
    this.#measured = undefined;
    const { table } = measured;
    const { data } = table;
    if (this.#level.numbers.part === undefined) yield* this.#keepHead(measured, data);
    else yield* this.#keepPart(measured, data);
    table.clear();
    this.#spare = table;
  }

  /** Keeps the entries of the values that are wanted, with those that lie in no dictionary. */
  *#keepPart({ shared, hashes }: Measured, data: MetricTableData): Units<void> {
    const { numbers } = this.#level;
    const entries: number[] = [];
    yield* inParts(shared.entryCount, UNIT_ENTRIES, (from, to) => {
      for (let entry = from; entry < to; entry++) {
        if (data.eventCounts[entry + 1] > 0 && numbers.part?.has(hashes[entry]) === true)
          entries.push(entry);
      }
    });
    try {
      const values = yield* numbersOf(shared, entries, numbers);
      const groups = Uint32Array.from(values, (value) => this.#tuples.add(0, value + 1));
      this.#table.ensure(this.#tuples.count);
      yield* this.#table.merge(
        data,
        groups,
        Uint32Array.from(entries, (entry) => entry + 1),
      );
    } catch (error) {
      if (!isDamage(error)) throw error;
      // It is not the block that comes next which is damaged.
      this.#isStrange = true;
    }
  }

  /** Keeps the entries with the greatest keys. */
  *#keepHead({ ref, shared, isKeyed, hashes }: Measured, data: MetricTableData): Units<void> {
    const keyOf = yield* keysOf(data, this.#spec.order);
    if (keyOf === undefined) {
      this.#isStrange = true;
      return;
    }
    const { entryCount } = shared;
    const isFew = entryCount <= this.#spec.headsMax * HEADS_FEW;
    const headsMax = isFew ? entryCount : this.#spec.headsMax;
    const greatest = new GreatestKeys(headsMax);
    const places: number[] = [];
    const placeKeys: number[] = [];
    let tail = NO_KEY;
    yield* inParts(entryCount, UNIT_ENTRIES, (from, to) => {
      for (let entry = from; entry < to; entry++) {
        const key = keyOf(entry + 1);
        if (key > greatest.least) {
          greatest.offer(key);
          places.push(entry);
          placeKeys.push(key);
        } else if (key > tail) tail = key;
      }
    });
    const { least } = greatest;
    const isHead = (_: number, at: number): boolean => placeKeys[at] >= least;
    const entries = places.filter(isHead);
    for (const key of placeKeys) if (key < least && key > tail) tail = key;
    const groups = Uint32Array.from(entries, (entry) => entry + 1);
    const table = new MetricTable(this.#spec.metrics, this.#source.secret);
    table.ensure(groups.length);
    yield* table.merge(
      data,
      groups.map((_, place) => place),
      groups,
    );
    this.#heads.push([
      shared,
      {
        ref,
        entries,
        hashes: Int32Array.from(entries, (entry) => hashes[entry]),
        keys: Float64Array.from(groups, keyOf),
        table: table.data,
        tail,
        isKeyed,
      },
    ]);
  }
}

/** The numbers of some entries of a dictionary, which ascend, read piece after piece. Throws CORRUPTION. */
function* numbersOf(
  dictionary: EntrySource,
  entries: readonly number[],
  table: ValueTable,
): Units<Int32Array> {
  const scratch = new Scratch();
  const numbers = new Int32Array(entries.length);
  for (let at = 0; at < entries.length; ) {
    const first = entries[at] - (entries[at] % PIECE_ENTRIES);
    const { bytes, offsets } = dictionary.piece(first, scratch);
    for (; at < entries.length && entries[at] < first + PIECE_ENTRIES; at++) {
      const place = entries[at] - first;
      numbers[at] = table.string(bytes, offsets[place], offsets[place + 1]);
    }
    yield;
  }
  return numbers;
}

/** Arrays of a table of light metrics. */
function* arraysOf(data: MetricTableData | undefined): Generator<ArrayBufferView> {
  if (data === undefined) return;
  yield data.eventCounts;
  for (const { counts, numberCounts, mins, maxs, sums } of data.summaries.values()) {
    yield* [counts, numberCounts, mins, maxs];
    if (sums !== undefined) yield* sums.totals;
  }
}

/** True when all rows of a block have a number at `path`, as far as that is seen at once. */
function hasNumbers(block: Block, path: string): boolean {
  const [index, ...others] = columnsAt(block, path);
  const column = index === undefined || others.length > 0 ? undefined : block.column(index);
  if (column?.kind !== Kind.NUMBER) return false;
  return column.presence === undefined && column.exceptions.length === 0;
}
