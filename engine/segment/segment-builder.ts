import { must } from '../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { RegionWriter, type Zone } from '../column/chunk.ts';
import type { StringColumn } from '../column/column.ts';
import type { Dictionary } from '../column/dictionary.ts';
import { Kind } from '../column/kind.ts';
import { writeSharedDictionary } from '../column/shared-dictionary.ts';
import type { StringBuilder } from '../column/strings.ts';
import type { BlockEncoder } from './block-encoder.ts';
import { type ColumnValues, columnValues } from './column-values.ts';
import type { EntryRanks } from './entry-merger.ts';
import { type FramePlace, MinuteCounter } from './footer.ts';
import type { BlockRef } from './frame.ts';
import { OutlineList } from './outline-list.ts';
import { Placement, RowWindow, type SegmentRows, type Selection } from './placement.ts';
import { evenParts } from './row-order.ts';
import type { SealedSegment, WriterSequence } from './sealed.ts';
import type { SegmentWriter } from './segment-writer.ts';
import { dictionaryName, SharedColumn, SharedColumnBuilder } from './shared-column.ts';
import { SharedIdList } from './shared-ids.ts';
import type { SourceColumn, SourceRows } from './source-rows.ts';
import { StringValues } from './string-values.ts';
import { TextSources } from './text-sources.ts';
import { type SourceShapes, WindowRows } from './window-rows.ts';

/** Called between two steps; rejects when the work is to stop. */
export type Pause = () => Promise<void>;

/** What a segment is built of. */
export interface BuilderParts {
  source: SourceRows;
  shapes: SourceShapes;
  /** The rows of the segment. */
  rows: SegmentRows;
  /** Blocks that are in memory at a time, at most. */
  windowBlocks: number;
  pause: Pause;
  /** Told how many bytes of encoded blocks are held. */
  held: (bytes: number) => void;
}

/** A column of strings or arrays. */
type Strings = SourceColumn & { kind: StringColumn['kind'] };

function isStrings(column: SourceColumn): column is Strings {
  return column.kind === Kind.STRING || column.kind === Kind.ARRAY;
}

/** What is left of a column in some of its sources. */
function within<T extends SourceColumn>(column: T, has: (source: number) => boolean): T {
  const parts = column.parts.filter(({ source }) => has(source));
  const valueCount = parts.reduce((sum, { presentCount }) => sum + presentCount, 0);
  return { ...column, parts, valueCount };
}

/**
 * Builds one sealed segment, a window of blocks after the other, and in each column after column into all of its
 * blocks at once. When there are several windows, the dictionaries of the segment are made before them, one at a time.
 */
export class SegmentBuilder {
  readonly #source: SourceRows;
  readonly #shapes: SourceShapes;
  readonly #rows: SegmentRows;
  readonly #writer: SegmentWriter;
  readonly #pause: Pause;
  readonly #held: (bytes: number) => void;
  readonly #windows: RowWindow[] = [];
  readonly #dictionaries: FramePlace[] = [];
  readonly #shared = new Map<SourceColumn, SharedColumn>();
  /** Columns of several windows whose values are too many and too distinct for a dictionary. */
  readonly #texts = new Set<SourceColumn>();
  readonly #outlines: OutlineList;
  readonly #minutes = new MinuteCounter();
  /** By writer; -1 when it has no rows. */
  readonly #highest = new Float64Array(256).fill(-1);
  readonly #blocks: BlockRef[] = [];

  constructor(parts: BuilderParts, writer: SegmentWriter) {
    const { source, shapes, rows, windowBlocks, pause, held } = parts;
    this.#source = source;
    this.#shapes = shapes;
    this.#rows = rows;
    this.#writer = writer;
    this.#pause = pause;
    this.#held = held;
    this.#outlines = new OutlineList(rows.blockCount);
    let firstBlock = 0;
    for (const blockCount of evenParts(rows.blockCount, windowBlocks)) {
      this.#windows.push(new RowWindow(rows, firstBlock, blockCount));
      firstBlock += blockCount;
    }
  }

  /** Writes the whole file. Rejects with IO, CORRUPTION when a source is damaged after all, and what `pause` does. */
  async build(): Promise<SealedSegment> {
    if (this.#windows.length > 1) {
      for (const column of this.#source.columns) {
        if (isStrings(column)) await this.#share(column);
      }
    }
    for (const window of this.#windows) await this.#buildWindow(window);
    return this.#finish();
  }

  async #buildWindow(window: RowWindow): Promise<void> {
    const rows = new WindowRows(window, this.#source.sources, this.#shapes);
    await this.#pause();
    const encoders = rows.encoders(this.#source.paths);
    this.#note(rows);
    await this.#pause();
    for (const whole of this.#source.columns) {
      const column = within(whole, (source) => window.has(source));
      if (column.valueCount === 0) continue;
      const shared = this.#shared.get(whole);
      if (!isStrings(column)) await this.#values(column, window, encoders);
      else if (shared !== undefined) await this.#sharedStrings(column, window, encoders, shared);
      else await this.#strings(column, window, encoders, this.#texts.has(whole));
      this.#source.forget();
      this.#held(encoders.reduce((sum, { bytes }) => sum + bytes, 0));
    }
    // Each goes as soon as it is written.
    for (let next = encoders.shift(); next !== undefined; next = encoders.shift()) {
      this.#blocks.push(await this.#writer.block(next.finish()));
      await this.#pause();
    }
  }

  #note({ timeMs, writers, sequences }: WindowRows): void {
    this.#minutes.add(timeMs);
    const highest = this.#highest;
    for (let row = 0; row < writers.length; row++) {
      if (sequences[row] > highest[writers[row]]) highest[writers[row]] = sequences[row];
    }
  }

  /** A column of numbers, dates or booleans. */
  async #values(column: SourceColumn, window: RowWindow, encoders: BlockEncoder[]): Promise<void> {
    const kind = column.kind as Parameters<typeof columnValues>[0];
    const placement = new Placement(window, column.valueCount);
    const values: ColumnValues = columnValues(kind, placement.capacity);
    for (const { source, index } of column.parts) {
      const { block } = this.#source.sources[source];
      const dense = block.dense(index);
      values.take(dense, placement.targets(source, dense.rows), () => block.timeMs());
      block.forget();
      await this.#pause();
    }
    for (const [number, selection] of placement.selections().entries()) {
      const count = selection.rows.length;
      if (count === 0) continue;
      const zone = encoders[number].writeColumn(values.builder(column.path, selection), 0, count);
      this.#outline(column, window, number, count, -1, kind === Kind.BOOLEAN ? undefined : zone);
      await this.#pause();
    }
  }

  /** A column of strings or arrays that has no dictionary of the segment, or not yet, when there is one window. */
  async #strings(
    column: Strings,
    window: RowWindow,
    encoders: BlockEncoder[],
    isText: boolean,
  ): Promise<void> {
    const placement = new Placement(window, column.valueCount);
    const values = new StringValues(isText ? 0 : placement.capacity);
    for (const { source, index } of column.parts) {
      const { block } = this.#source.sources[source];
      if (isText || values.isGivenUp) {
        placement.targets(source, block.rowsOf(index));
      } else {
        const dense = block.dense(index);
        const targets = placement.targets(source, dense.rows);
        if ('ids' in dense) {
          values.take(dictionaryName(source, block.ref.segment, dense.dictionary), dense, targets);
        }
      }
      block.forget();
      await this.#pause();
    }
    const selections = placement.selections();
    if (isText || values.isGivenUp) {
      await this.#plain(column, window, encoders, selections);
      return;
    }
    const ranks = this.#windows.length === 1 ? values.ranks(selections) : undefined;
    if (ranks === undefined) {
      for (const [number, selection] of selections.entries()) {
        if (selection.rows.length === 0) continue;
        const builder = values.builder(column.path, column.kind, selection);
        await this.#writeOwn(column, window, encoders, number, builder);
      }
    } else {
      const shared = await this.#dictionary(values.dictionary, ranks, new Map());
      await this.#writeIds(column, window, encoders, selections, values.intoIds(ranks), shared);
    }
  }

  /** Makes the dictionary of a column for all windows, when that pays. */
  async #share(whole: Strings): Promise<void> {
    const column = within(whole, (source) => this.#rows.positions(source) !== undefined);
    const { rowCount } = this.#rows;
    const builder = new SharedColumnBuilder();
    let isSharing = column.valueCount > 0;
    for (const { source, index } of column.parts) {
      if (!isSharing) break;
      const { block } = this.#source.sources[source];
      const positions = must(this.#rows.positions(source), 'positions of a source in use');
      const dense = block.dense(index);
      if ('ids' in dense) {
        const { rows } = dense;
        const name = dictionaryName(source, block.ref.segment, dense.dictionary);
        const isIn = (value: number): boolean =>
          positions[rows === undefined ? value : rows[value]] < rowCount;
        isSharing = builder.take(name, dense, isIn);
      }
      block.forget();
      await this.#pause();
    }
    if (builder.merger.isGivenUp) this.#texts.add(whole);
    const ranks = isSharing ? builder.ranks() : undefined;
    if (ranks !== undefined) {
      const { dictionary, maps } = builder.merger;
      this.#shared.set(whole, await this.#dictionary(dictionary, ranks, maps));
    }
    this.#source.forget();
  }

  /** Writes a dictionary of the segment. `maps` have entries + 1, and have ids after it. */
  async #dictionary(
    dictionary: Dictionary,
    ranks: EntryRanks,
    maps: Map<string, Uint32Array>,
  ): Promise<SharedColumn> {
    const out = new RegionWriter(dictionary.byteCount);
    writeSharedDictionary(out, dictionary, ranks.order, ranks.counts);
    const place = await this.#writer.dictionary(out.meta.bytes(), out.regions.bytes());
    for (const map of maps.values()) {
      for (let id = 0; id < map.length; id++) if (map[id] !== 0) map[id] = ranks.ids[map[id] - 1];
    }
    return new SharedColumn(this.#dictionaries.push(place) - 1, ranks.order.length, maps);
  }

  /** A column whose dictionary of the segment is written. */
  async #sharedStrings(
    column: Strings,
    window: RowWindow,
    encoders: BlockEncoder[],
    shared: SharedColumn,
  ): Promise<void> {
    const placement = new Placement(window, column.valueCount);
    const ids = new Uint32Array(placement.capacity);
    for (const { source, index } of column.parts) {
      const { block } = this.#source.sources[source];
      const dense = block.dense(index);
      const targets = placement.targets(source, dense.rows);
      if ('ids' in dense) {
        const name = dictionaryName(source, block.ref.segment, dense.dictionary);
        shared.put(name, dense.ids, targets, ids);
      }
      block.forget();
      await this.#pause();
    }
    await this.#writeIds(column, window, encoders, placement.selections(), ids, shared);
  }

  async #writeIds(
    column: Strings,
    window: RowWindow,
    encoders: BlockEncoder[],
    selections: readonly Selection[],
    idAt: Uint32Array,
    { dictionary, entryCount }: SharedColumn,
  ): Promise<void> {
    const { path, kind } = column;
    const own = new SharedIdList(entryCount);
    const idsOfBlock = new Float64Array(BLOCK_ROWS_MAX);
    for (const [number, { rows, at }] of selections.entries()) {
      if (rows.length === 0) continue;
      const ids = idsOfBlock.subarray(0, at.length);
      for (let index = 0; index < at.length; index++) ids[index] = idAt[at[index]];
      const entries = own.shorten(ids);
      const list = { rows, from: 0, to: rows.length };
      encoders[number].writeShared({ path, kind, dictionary, list, ids, entries });
      this.#outline(column, window, number, rows.length, dictionary, undefined);
      await this.#pause();
    }
  }

  /** Strings that are read again, block by block. */
  async #plain(
    column: Strings,
    window: RowWindow,
    encoders: BlockEncoder[],
    selections: readonly Selection[],
  ): Promise<void> {
    const texts = new TextSources(this.#source.sources, column);
    for (const [number, selection] of selections.entries()) {
      if (selection.rows.length === 0) continue;
      const { from, to } = window.bounds(number);
      const order = window.order().subarray(from, to);
      const builder = texts.builder(column.path, column.kind, selection, order);
      await this.#writeOwn(column, window, encoders, number, builder);
    }
  }

  /** Writes strings whose entries stay in their block. */
  async #writeOwn(
    column: Strings,
    window: RowWindow,
    encoders: BlockEncoder[],
    number: number,
    builder: StringBuilder,
  ): Promise<void> {
    encoders[number].writeColumn(builder, 0, builder.count);
    this.#outline(column, window, number, builder.count, -1, undefined);
    await this.#pause();
  }

  #outline(
    { path, kind }: SourceColumn,
    { firstBlock }: RowWindow,
    number: number,
    presentCount: number,
    dictionary: number,
    zone: Zone | undefined,
  ): void {
    this.#outlines.add({ path, kind, dictionary }, firstBlock + number, presentCount, zone);
  }

  async #finish(): Promise<SealedSegment> {
    const blocks = this.#blocks;
    const facts = {
      rowCount: this.#rows.rowCount,
      minTimeMs: must(blocks[0], 'a block').minTimeMs,
      maxTimeMs: must(blocks.at(-1), 'a block').maxTimeMs,
      sequences: this.#sequences(),
      blocks,
    };
    await this.#writer.finish({
      ...facts,
      paths: this.#source.paths,
      minutes: this.#minutes.minuteRows(),
      dictionaries: this.#dictionaries,
      columns: this.#outlines.list(),
      isComplete: this.#outlines.isComplete,
    });
    return { segment: this.#writer.segment, bytes: this.#writer.bytes, ...facts };
  }

  /** The highest sequence of each writer that has rows. */
  #sequences(): WriterSequence[] {
    const found: WriterSequence[] = [];
    for (const [writer, sequence] of this.#highest.entries()) {
      if (sequence >= 0) found.push({ writer, sequence });
    }
    return found;
  }
}
