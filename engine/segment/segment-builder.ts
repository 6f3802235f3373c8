import { must } from '../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { RegionWriter, type Zone } from '../column/chunk.ts';
import { Kind } from '../column/kind.ts';
import type { Shapes } from '../column/shape.ts';
import { writeSharedDictionary } from '../column/shared-dictionary.ts';
import { BlockEncoder } from './block-encoder.ts';
import { type ColumnValues, columnValues } from './column-values.ts';
import { type ColumnOutline, type FramePlace, minutesOf } from './footer.ts';
import { Placement, SegmentRows, type Selection } from './placement.ts';
import type { BatchKeys } from './row-order.ts';
import type { SealedSegment, WriterSequence } from './sealed.ts';
import type { SegmentWriter } from './segment-writer.ts';
import { SharedIdList } from './shared-ids.ts';
import type { SourceColumn, SourceRows } from './source-rows.ts';
import { type EntryRanks, StringValues } from './string-values.ts';
import { TextSources } from './text-sources.ts';

/** Columns that a footer names at most; beyond them a block has to be opened to know what it has. */
const FOOTER_COLUMNS_MAX = 1_000;

/** What all rows of a batch have, by their number in it. */
export interface BatchRows extends BatchKeys {
  receivedMs: Float64Array;
  shapes: Shapes;
  shapeIds: Uint32Array;
}

/** Called between two steps; rejects when the work is to stop. */
export type Pause = () => Promise<void>;

function picked(values: Float64Array, rows: Uint32Array): Float64Array {
  const taken = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index++) taken[index] = values[rows[index]];
  return taken;
}

/** Builds one sealed segment: column after column over all sources, into all of its blocks at once. */
export class SegmentBuilder {
  readonly #source: SourceRows;
  readonly #batch: BatchRows;
  /** The segment's rows as the batch counts them, and as they are counted here. */
  readonly #batchOrder: Uint32Array;
  readonly #rows: SegmentRows;
  readonly #writer: SegmentWriter;
  readonly #pause: Pause;
  readonly #encoders: BlockEncoder[] = [];
  readonly #dictionaries: FramePlace[] = [];
  readonly #outlines: ColumnOutline[] = [];
  #isComplete = true;

  /** `order` has the rows of the new segment, in their order. */
  constructor(
    source: SourceRows,
    batch: BatchRows,
    order: Uint32Array,
    writer: SegmentWriter,
    pause: Pause,
  ) {
    this.#source = source;
    this.#batch = batch;
    this.#batchOrder = order;
    this.#rows = new SegmentRows(order, source.sources);
    this.#writer = writer;
    this.#pause = pause;
  }

  /** Writes the whole file. Rejects with IO, CORRUPTION when a source is damaged after all, and what `pause` does. */
  async build(): Promise<SealedSegment> {
    for (let block = 0; block < this.#rows.blockCount; block++) {
      this.#encoders.push(this.#encoder(this.#batchRows(block)));
      await this.#pause();
    }
    for (const whole of this.#source.columns) {
      const parts = whole.parts.filter(({ source }) => this.#rows.base(source) >= 0);
      const valueCount = parts.reduce((sum, { presentCount }) => sum + presentCount, 0);
      if (valueCount === 0) continue;
      const column = { ...whole, parts, valueCount };
      if (column.kind === Kind.STRING || column.kind === Kind.ARRAY) await this.#strings(column);
      else await this.#values(column);
      this.#source.forget();
    }
    return this.#finish();
  }

  /** The rows of a block, as the batch counts them. */
  #batchRows(block: number): Uint32Array {
    return this.#batchOrder.subarray(block * BLOCK_ROWS_MAX, (block + 1) * BLOCK_ROWS_MAX);
  }

  #encoder(order: Uint32Array): BlockEncoder {
    const { timeMs, receivedMs, shapes, shapeIds, writers, sequences } = this.#batch;
    const ownShapes = new Uint32Array(order.length);
    const ownWriters = new Uint8Array(order.length);
    for (let row = 0; row < order.length; row++) {
      ownShapes[row] = shapeIds[order[row]];
      ownWriters[row] = writers[order[row]];
    }
    const rows = {
      timeMs: picked(timeMs, order),
      receivedMs: picked(receivedMs, order),
      shapes,
      shapeIds: ownShapes,
      keys: { writers: ownWriters, sequences: picked(sequences, order) },
    };
    return new BlockEncoder(this.#source.paths, rows, 0);
  }

  /** A column of numbers, dates or booleans. */
  async #values(column: SourceColumn): Promise<void> {
    const kind = column.kind as Parameters<typeof columnValues>[0];
    const placement = new Placement(this.#rows, column.valueCount);
    const values: ColumnValues = columnValues(kind, placement.capacity);
    for (const { source, index, presentCount } of column.parts) {
      const { block } = this.#source.sources[source];
      const base = this.#rows.base(source);
      const dense = block.dense(index);
      values.take(dense, placement.targets(dense.rows, base, presentCount), () => block.timeMs());
      block.forget();
      await this.#pause();
    }
    const selections = placement.selections();
    const zones: (Zone | undefined)[] = [];
    for (const [number, selection] of selections.entries()) {
      const count = selection.rows.length;
      zones.push(
        count === 0
          ? undefined
          : this.#encoders[number].writeColumn(values.builder(column.path, selection), 0, count),
      );
      await this.#pause();
    }
    this.#outline(column, selections, -1, kind === Kind.BOOLEAN ? undefined : zones);
  }

  /** A column of strings or arrays. */
  async #strings(column: SourceColumn): Promise<void> {
    const placement = new Placement(this.#rows, column.valueCount);
    const values = new StringValues(placement.capacity);
    for (const { source, index, presentCount } of column.parts) {
      const { block } = this.#source.sources[source];
      const base = this.#rows.base(source);
      if (values.isGivenUp) {
        placement.targets(block.rowsOf(index), base, presentCount);
      } else {
        const dense = block.dense(index);
        const targets = placement.targets(dense.rows, base, presentCount);
        if ('ids' in dense) values.take(dense.entries, dense.ids, targets);
      }
      block.forget();
      await this.#pause();
    }
    const selections = placement.selections();
    const ranks = values.isGivenUp ? undefined : values.ranks(selections);
    if (ranks !== undefined) await this.#shared(column, selections, values, ranks);
    else await this.#unshared(column, selections, values);
  }

  async #shared(
    column: SourceColumn,
    selections: Selection[],
    values: StringValues,
    ranks: EntryRanks,
  ): Promise<void> {
    const out = new RegionWriter();
    writeSharedDictionary(out, values.dictionary, ranks.order, ranks.counts);
    const dictionary = this.#dictionaries.length;
    this.#dictionaries.push(await this.#writer.dictionary(out.meta.bytes(), out.regions.bytes()));
    const list = new SharedIdList(ranks.order.length);
    const { path } = column;
    const kind = column.kind as typeof Kind.STRING | typeof Kind.ARRAY;
    for (const [number, selection] of selections.entries()) {
      const { rows } = selection;
      if (rows.length === 0) continue;
      const ids = values.ids(ranks, selection);
      const entries = list.shorten(ids);
      const rowList = { rows, from: 0, to: rows.length };
      this.#encoders[number].writeShared({ path, kind, dictionary, list: rowList, ids, entries });
      await this.#pause();
    }
    this.#outline(column, selections, dictionary, undefined);
  }

  /** Strings whose entries stay in their blocks. */
  async #unshared(
    column: SourceColumn,
    selections: Selection[],
    values: StringValues,
  ): Promise<void> {
    const { path } = column;
    const kind = column.kind as typeof Kind.STRING | typeof Kind.ARRAY;
    const texts = values.isGivenUp ? new TextSources(this.#source.sources, column) : undefined;
    for (const [number, selection] of selections.entries()) {
      if (selection.rows.length === 0) continue;
      const builder =
        texts === undefined
          ? values.builder(path, kind, selection)
          : texts.builder(path, kind, selection, this.#batchRows(number));
      this.#encoders[number].writeColumn(builder, 0, builder.count);
      await this.#pause();
    }
    this.#outline(column, selections, -1, undefined);
  }

  #outline(
    column: SourceColumn,
    selections: readonly Selection[],
    dictionary: number,
    zones: readonly (Zone | undefined)[] | undefined,
  ): void {
    const presentCounts = Float64Array.from(selections, ({ rows }) => rows.length);
    if (presentCounts.every((count) => count === 0)) return;
    if (this.#outlines.length === FOOTER_COLUMNS_MAX) {
      this.#isComplete = false;
      return;
    }
    const { path, kind } = column;
    const mins = zones && Float64Array.from(zones, (zone) => zone?.min ?? 0);
    const maxs = zones && Float64Array.from(zones, (zone) => zone?.max ?? 0);
    this.#outlines.push({ path, kind, dictionary, presentCounts, mins, maxs });
  }

  async #finish(): Promise<SealedSegment> {
    const blocks = [];
    for (const encoder of this.#encoders.splice(0)) {
      blocks.push(await this.#writer.block(encoder.finish(0)));
      await this.#pause();
    }
    const order = this.#batchOrder;
    const timeMs = picked(this.#batch.timeMs, order);
    const facts = {
      rowCount: order.length,
      minTimeMs: timeMs[0],
      maxTimeMs: must(timeMs.at(-1), 'a row'),
      sequences: this.#sequences(order),
      blocks,
    };
    await this.#writer.finish({
      ...facts,
      paths: this.#source.paths,
      minutes: minutesOf(timeMs),
      dictionaries: this.#dictionaries,
      columns: this.#outlines,
      isComplete: this.#isComplete,
    });
    return { segment: this.#writer.segment, bytes: this.#writer.bytes, ...facts };
  }

  /** The highest sequence of each writer that has rows. */
  #sequences(order: Uint32Array): WriterSequence[] {
    const { writers, sequences } = this.#batch;
    const highest = new Float64Array(256).fill(-1);
    for (let at = 0; at < order.length; at++) {
      const row = order[at];
      if (sequences[row] > highest[writers[row]]) highest[writers[row]] = sequences[row];
    }
    const found: WriterSequence[] = [];
    for (const [writer, sequence] of highest.entries()) {
      if (sequence >= 0) found.push({ writer, sequence });
    }
    return found;
  }
}
