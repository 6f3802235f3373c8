import { Kind } from '../../column/kind.ts';
import type { BlockEncoder } from '../block/block-encoder.ts';
import type { DenseColumn } from '../block/dense-column.ts';
import { FALSE_TEXT, TRUE_TEXT } from '../block/overflow-column.ts';
import type { OverflowWriter } from '../block/overflow-writer.ts';
import type { SegmentRows } from './segment-rows.ts';
import type { ColumnPart, Source, SourceColumn, SourceRows } from './source-rows.ts';

/** Values a row that the columns of overflow maps have at most on average: a block's map is in memory as a whole. */
const ROW_VALUES_MAX = 64;
/** Columns after which what was decoded of the sources is let go of. */
const FORGET_COLUMNS = 256;

const encoder = new TextEncoder();

/** Columns of a segment that are stored one by one, and others, whose values go to the overflow maps of its blocks. */
export interface ColumnShare {
  columns: SourceColumn[];
  overflow: SourceColumn[];
}

/** Shares columns out: `columnsMax` of them, those with the most values, are stored one by one. */
export function shareColumns(
  columns: SourceColumn[],
  columnsMax: number,
  rowCount: number,
): ColumnShare {
  if (columns.length <= columnsMax) return { columns, overflow: [] };
  const byCount = [...columns].sort((left, right) => left.valueCount - right.valueCount);
  const overflow = new Set<SourceColumn>();
  let valueCount = 0;
  for (const column of byCount.slice(0, columns.length - columnsMax)) {
    valueCount += column.valueCount;
    if (valueCount > rowCount * ROW_VALUES_MAX) break;
    overflow.add(column);
  }
  const isOverflow = (column: SourceColumn): boolean => overflow.has(column);
  return {
    columns: columns.filter((column) => !isOverflow(column)),
    overflow: columns.filter(isOverflow),
  };
}

/** A value on its way to a map. */
interface Value {
  row: number;
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Reads the columns that go to overflow maps, block by block of a new segment: rows in order are of few sources. */
export class OverflowSources {
  readonly #source: SourceRows;
  readonly #rows: SegmentRows;
  readonly #pause: () => Promise<void>;

  /** `pause` is awaited between some columns. */
  constructor(source: SourceRows, rows: SegmentRows, pause: () => Promise<void>) {
    this.#source = source;
    this.#rows = rows;
    this.#pause = pause;
  }

  /** Writes the map of the block number `number`, whose other columns `block` has. Rejects as `pause`, CORRUPTION. */
  async write(
    block: BlockEncoder,
    columns: readonly SourceColumn[],
    number: number,
  ): Promise<void> {
    const sources = new Set(this.#rows.sourcesOf(number));
    const keyed = columns.map((column) => ({
      key: block.leafKey(column.path, column.kind),
      column,
    }));
    const ordered = keyed.filter(({ key }) => key >= 0).sort((a, b) => a.key - b.key);
    const map = block.overflow();
    for (const [at, { key, column }] of ordered.entries()) {
      map.begin(key);
      const parts = column.parts.filter(({ source }) => sources.has(source));
      this.#add(map, parts, number);
      for (const { source } of parts) this.#source.sources[source].block.forgetValues();
      if (at % FORGET_COLUMNS > 0) continue;
      this.#forget(sources);
      await this.#pause();
    }
    this.#forget(sources);
    map.finish();
  }

  #forget(sources: Iterable<number>): void {
    for (const source of sources) this.#source.sources[source].block.forget();
    this.#source.forget(true);
  }

  #add(map: OverflowWriter, parts: readonly ColumnPart[], number: number): void {
    const { from, to } = this.#rows.bounds(number);
    const values: Value[] = [];
    for (const { source, index } of parts) {
      const of = this.#source.sources[source];
      const positions = this.#rows.positions(source);
      const dense = of.sum.dense(index);
      const textOf = textsOf(dense, of);
      const { rows } = dense;
      const count = rows?.length ?? positions.length;
      for (let value = 0; value < count; value++) {
        const row = rows === undefined ? value : rows[value];
        const position = positions[row];
        if (position >= from && position < to) values.push(textOf(value, row, position - from));
      }
    }
    values.sort((left, right) => left.row - right.row);
    for (const { row, bytes, start, end } of values) map.add(row, bytes, start, end);
  }
}

/** Gives the texts of the values of a column: of the one number `value`, which row `at` of its source has. */
function textsOf(
  dense: DenseColumn,
  { block }: Source,
): (value: number, at: number, row: number) => Value {
  if ('ids' in dense) {
    const { offsets, bytes } = dense.entries();
    const { ids } = dense;
    return (value, _, row) => {
      const entry = ids[value] - 1;
      return { row, bytes, start: offsets[entry], end: offsets[entry + 1] };
    };
  }
  const whole = (row: number, bytes: Uint8Array): Value => {
    return { row, bytes, start: 0, end: bytes.length };
  };
  if (dense.kind === Kind.BOOLEAN) {
    const { values } = dense;
    return (value, _, row) => whole(row, values[value] === 1 ? TRUE_TEXT : FALSE_TEXT);
  }
  if (dense.kind === Kind.NUMBER) {
    const { chunk } = dense;
    return (value, _, row) => whole(row, encoder.encode(chunk.text(value)));
  }
  const { chunk } = dense;
  const times = block.timeMs();
  return (value, at, row) => whole(row, encoder.encode(chunk.text(value, times[at])));
}
