import { must } from '../../base/assert.ts';
import { ByteParts } from '../../base/byte-parts.ts';
import { ByteWriter } from '../../base/bytes.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import { RegionWriter, type Zone } from '../../column/chunk.ts';
import type { StringColumn } from '../../column/column.ts';
import { PIECE_ENTRIES } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { PATH_MESSAGE } from '../../column/path.ts';
import {
  hashEntries,
  writeSharedCounts,
  writeSharedEntries,
  writeSharedHashes,
} from '../../column/shared-dictionary.ts';
import { free } from '../../packed/growth.ts';
import { BlockEncoder } from '../block/block-encoder.ts';
import type { RowKeys } from '../block/keys/present-writers.ts';
import type { EntryRanks } from '../entry/entry-merger.ts';
import { releaseInterner } from '../entry/interner.ts';
import { type FramePlace, MinuteCounter } from '../footer.ts';
import type { BlockRef } from '../frame.ts';
import type { SealedSegment, WriterSequence } from '../sealed.ts';
import { readBlockRows } from './block-rows.ts';
import { ColumnRoom } from './column-room.ts';
import { type ColumnValues, columnValues } from './column-values.ts';
import { MessageDeriver } from './message-deriver.ts';
import { OutlineList } from './outline-list.ts';
import { OverflowSources, shareColumns } from './overflow-sources.ts';
import { Placement } from './placement.ts';
import { freeSelections, type SegmentRows, type Selection, selected } from './segment-rows.ts';
import { PART_PIECES_MAX, SegmentWords } from './segment-words.ts';
import type { SegmentWriter } from './segment-writer.ts';
import { ShapeList } from './shape-list.ts';
import type { SourceColumn, SourceRows } from './source-rows.ts';
import { StringValues } from './string-values.ts';
import { TextSources } from './text-sources.ts';

/** Called between two steps; rejects when the work is to stop. */
export type Pause = () => Promise<void>;

/** Parts that a segment is built of. */
export interface BuilderParts {
  source: SourceRows;
  /** The rows of the segment. */
  rows: SegmentRows;
  /** Columns that are stored one by one at most. */
  columnsMax: number;
  /** As that of `SealOptions`. */
  seed: number;
  pause: Pause;
}

/** Bytes of entries of all columns that the blocks of a segment together may hold until their texts are written. */
const OWN_ENTRY_BYTES_MAX = 8 * 1024 * 1024;

/** Entries of a dictionary that are written, and whose words are found, together: whole parts of words. */
const ENTRIES_TOGETHER = PART_PIECES_MAX * PIECE_ENTRIES;

/** A column of strings or arrays. */
type Strings = SourceColumn & { kind: StringColumn['kind'] };

function isStrings(column: SourceColumn): column is Strings {
  return column.kind === Kind.STRING || column.kind === Kind.ARRAY;
}

/** The part of a column that is in some of its sources. */
function within<T extends SourceColumn>(column: T, has: (source: number) => boolean): T {
  const parts = column.parts.filter(({ source }) => has(source));
  const valueCount = parts.reduce((sum, { presentCount }) => sum + presentCount, 0);
  return { ...column, parts, valueCount };
}

/** Names the dictionary that the ids of a source's column count: that of its segment, or its own. */
function dictionaryName(source: number, segment: number, dictionary: number): string {
  return dictionary < 0 ? `block ${source}` : `segment ${segment} ${dictionary}`;
}

/**
 * Builds one sealed segment, column after column, each into all of its blocks: chunks go to the file as they are
 * encoded, and only the directories of the blocks are held until the end. Strings are behind other values, texts, which
 * are most of the bytes, behind all other strings, and messages last, as they are derived of them.
 */
export class SegmentBuilder {
  readonly #source: SourceRows;
  readonly #rows: SegmentRows;
  readonly #writer: SegmentWriter;
  readonly #pause: Pause;
  readonly #columnsMax: number;
  readonly #seed: number;
  readonly #encoders: BlockEncoder[] = [];
  /** Columns whose values are too many and too distinct for a dictionary. */
  readonly #texts: Strings[] = [];
  readonly #dictionaries: FramePlace[] = [];
  readonly #words: SegmentWords;
  readonly #outlines: OutlineList;
  readonly #minutes = new MinuteCounter();
  /** By writer; -1 when it has no rows. */
  readonly #highest = new Float64Array(256).fill(-1);
  readonly #room = new ColumnRoom();
  /** Of each block, as its encoder has them until all dates are written. */
  readonly #timesOfBlocks: Float64Array[] = [];
  #ownEntryBytes = 0;

  constructor({ source, rows, columnsMax, seed, pause }: BuilderParts, writer: SegmentWriter) {
    this.#source = source;
    this.#rows = rows;
    this.#columnsMax = columnsMax;
    this.#seed = seed;
    this.#writer = writer;
    this.#pause = pause;
    this.#outlines = new OutlineList(rows.blockCount);
    this.#words = new SegmentWords(writer, pause);
  }

  /** Writes the whole file. Rejects with IO, CORRUPTION when a source is damaged after all, and what `pause` does. */
  async build(): Promise<SealedSegment> {
    await this.#begin();
    const all = this.#source.columns.map((whole) =>
      within(whole, (source) => this.#rows.has(source)),
    );
    const { columns, overflow } = shareColumns(
      all.filter(({ valueCount }) => valueCount > 0),
      this.#columnsMax,
      this.#rows.sourceRows,
    );
    for (const column of columns) {
      if (isStrings(column)) continue;
      await this.#values(column);
      this.#source.forget();
    }
    // Numbers take more room than strings, and behind dates nobody asks for times.
    this.#room.free();
    free(...this.#timesOfBlocks);
    for (const column of columns.filter(isStrings)) {
      await this.#strings(column);
      this.#source.forget();
    }
    this.#room.free();
    await releaseInterner();
    await this.#writeTexts();
    await this.#writeOverflow(overflow);
    return this.#finish();
  }

  async #begin(): Promise<void> {
    const region = new ByteWriter(2 ** 16);
    const shapes = new ShapeList();
    for (let number = 0; number < this.#rows.blockCount; number++) {
      const rows = readBlockRows(this.#source, this.#rows, number, shapes);
      const out = new RegionWriter(undefined, region, true, this.#writer);
      this.#encoders.push(new BlockEncoder(this.#source.paths, rows, 0, out));
      this.#minutes.add(rows.timeMs);
      this.#timesOfBlocks.push(rows.timeMs);
      this.#note(rows.keys);
      const { receivedMs, shapeIds, keys } = rows;
      free(receivedMs, shapeIds, keys.writers, keys.sequences);
      await this.#step();
    }
  }

  #note({ writers, sequences }: RowKeys): void {
    const highest = this.#highest;
    for (let row = 0; row < writers.length; row++) {
      if (sequences[row] > highest[writers[row]]) highest[writers[row]] = sequences[row];
    }
  }

  async #writeTexts(): Promise<void> {
    const texts = new TextSources(this.#source, this.#rows);
    const deriver = new MessageDeriver(this.#writer, this.#dictionaries);
    this.#texts.sort((a, b) => Number(a.path === PATH_MESSAGE) - Number(b.path === PATH_MESSAGE));
    for (const column of this.#texts) {
      await this.#writer.flush(0);
      for (const [number, encoder] of this.#encoders.entries()) {
        const text = texts.read(column, number);
        const count = text.rows.length;
        if (count === 0) continue;
        const derived = deriver.derive(encoder, column, text);
        if (derived === undefined) encoder.writeText(column, text.rows, text);
        else encoder.writeDerived(column, text, derived);
        const ofCount = column.valueCount;
        await this.#words.add(column, { entries: text, count, isDictionary: false, ofCount });
        this.#outline(column, number, count, -1, undefined);
        await this.#step();
      }
    }
    texts.free();
    deriver.free();
  }

  async #writeOverflow(columns: readonly SourceColumn[]): Promise<void> {
    if (columns.length === 0) return;
    this.#outlines.leaveOut();
    const sources = new OverflowSources(this.#source, this.#rows, this.#pause);
    for (const [number, encoder] of this.#encoders.entries()) {
      await sources.write(encoder, columns, number);
      await this.#step();
    }
  }

  /** Ends a step: chunks go to the file, and the thread may do something else. */
  async #step(): Promise<void> {
    await this.#writer.flush();
    await this.#pause();
  }

  /** A column of numbers, dates or booleans. */
  async #values(column: SourceColumn): Promise<void> {
    const kind = column.kind as Parameters<typeof columnValues>[0];
    const placement = new Placement(this.#rows, column.valueCount);
    const values: ColumnValues = columnValues(kind, this.#room, placement.capacity);
    for (const { source, index } of column.parts) {
      const { block, sum } = this.#source.sources[source];
      const dense = sum.dense(index);
      values.take(dense, placement.targets(source, dense.rows), () => block.timeMs());
      block.forget();
      await this.#pause();
    }
    const selections = placement.selections();
    for (const [number, selection] of selections.entries()) {
      const count = selection.rows.length;
      if (count === 0) continue;
      const builder = values.builder(column.path, selection);
      const zone = this.#encoders[number].writeColumn(builder, 0, count);
      this.#outline(column, number, count, -1, kind === Kind.BOOLEAN ? undefined : zone);
      await this.#step();
    }
    freeSelections(selections);
  }

  /** A column of strings or arrays: by a dictionary of the segment, by those of its blocks, or as text, later. */
  async #strings(column: Strings): Promise<void> {
    if (this.#isDerived(column)) {
      this.#texts.push(column);
      return;
    }
    const placement = new Placement(this.#rows, column.valueCount);
    const values = new StringValues(this.#room, placement.capacity);
    for (const { source, index } of column.parts) {
      const { block, sum } = this.#source.sources[source];
      const dense = sum.dense(index);
      if ('ids' in dense) {
        const name = dictionaryName(source, block.ref.segment, dense.dictionary);
        values.take(name, dense, placement.targets(source, dense.rows));
      }
      block.forget();
      this.#source.forget(true);
      await this.#pause();
      if (values.isGivenUp) break;
    }
    await this.#writeStrings(column, placement, values);
  }

  /** True for messages that all sources derive: they are derived again, and no dictionary is smaller. */
  #isDerived({ path, parts }: Strings): boolean {
    const { sources } = this.#source;
    return (
      path === PATH_MESSAGE &&
      parts.every(({ source, index }) => sources[source].block.derived(index) !== undefined)
    );
  }

  async #writeStrings(column: Strings, placement: Placement, values: StringValues): Promise<void> {
    const selections = values.isGivenUp ? [] : placement.selections();
    const ranks = values.isGivenUp ? undefined : values.ranks(selections);
    if (ranks !== undefined) {
      const dictionary = await this.#dictionary(column, values, ranks);
      await this.#writeIds(column, selections, values.intoIds(ranks), dictionary);
      free(ranks.ids);
      freeSelections(selections);
      return;
    }
    const ownBytes = this.#ownEntryBytes + values.ownBytes(this.#rows.blockCount);
    const mayDerive = column.path === PATH_MESSAGE && values.isMostlyDistinct;
    if (values.isGivenUp || ownBytes > OWN_ENTRY_BYTES_MAX || mayDerive) {
      this.#texts.push(column);
      return;
    }
    this.#ownEntryBytes = ownBytes;
    for (const [number, selection] of selections.entries()) {
      if (selection.rows.length === 0) continue;
      const builder = values.builder(column.path, column.kind, selection);
      this.#encoders[number].writeColumn(builder, 0, builder.count);
      const { dictionary: entries, entries: entryOf, count } = builder;
      const ofCount = column.valueCount;
      await this.#words.add(column, { entries, entryOf, count, isDictionary: false, ofCount });
      this.#outline(column, number, builder.count, -1, undefined);
      await this.#step();
    }
  }

  /**
   * Writes a dictionary of the segment, and finds its words; resolves with its number. The ids of `ranks` remain, all
   * else of them is freed.
   */
  async #dictionary(
    column: Strings,
    values: StringValues,
    { order, counts }: EntryRanks,
  ): Promise<number> {
    const out = new RegionWriter(new ByteParts(), undefined, true);
    const rowsOf = new Float64Array(order.length);
    for (let place = 0; place < order.length; place++) rowsOf[place] = counts[order[place]];
    free(counts);
    writeSharedCounts(out, rowsOf);
    const compress = out.textCompressor();
    for (let first = 0; first < order.length; first += ENTRIES_TOGETHER) {
      const numbers = order.subarray(first, first + ENTRIES_TOGETHER);
      const entries = values.gather(numbers);
      writeSharedEntries(out, compress, entries);
      // The hash of an entry stands where its number did, which is not read again.
      hashEntries(entries, this.#seed, order, first);
      await this.#words.add(column, {
        entries,
        rowsOf: rowsOf.subarray(first),
        count: numbers.length,
        isDictionary: true,
        ofCount: order.length,
      });
    }
    free(rowsOf);
    writeSharedHashes(out, this.#seed, order);
    free(order);
    const place = await this.#writer.dictionary(out.meta.bytes(), out.regions.parts());
    out.reset();
    await this.#words.end(column);
    return this.#dictionaries.push(place) - 1;
  }

  async #writeIds(
    column: Strings,
    selections: readonly Selection[],
    idAt: Uint32Array<ArrayBuffer>,
    dictionary: number,
  ): Promise<void> {
    const { path, kind } = column;
    const idsOfBlock = new Uint32Array(BLOCK_ROWS_MAX);
    for (const [number, selection] of selections.entries()) {
      const { rows } = selection;
      if (rows.length === 0) continue;
      const ids = selected(idAt, idsOfBlock, selection);
      const list = { rows, from: 0, to: rows.length };
      this.#encoders[number].writeShared({ path, kind, dictionary, list, ids });
      this.#outline(column, number, rows.length, dictionary, undefined);
      await this.#step();
    }
    free(idsOfBlock);
  }

  #outline(
    { path, kind }: SourceColumn,
    number: number,
    presentCount: number,
    dictionary: number,
    zone: Zone | undefined,
  ): void {
    this.#outlines.add({ path, kind, dictionary }, number, presentCount, zone);
  }

  async #finish(): Promise<SealedSegment> {
    const columns = this.#outlines.list();
    const words = await this.#words.finish(columns);
    const blocks: BlockRef[] = [];
    for (const encoder of this.#encoders) blocks.push(await this.#writer.block(encoder.parts()));
    this.#rows.free();
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
      columns,
      words,
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
