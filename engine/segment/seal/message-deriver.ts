import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { EntrySource, PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { PATH_MESSAGE } from '../../column/path.ts';
import { deriveKernel } from '../../derive/derive-kernel.ts';
import type { RowsText } from '../../derive/row-texts.ts';
import { type DerivedParts, deriveText } from '../../derive/text-deriver.ts';
import { Block, type DictionarySource, readHead } from '../block/block.ts';
import type { BlockEncoder } from '../block/block-encoder.ts';
import type { FramePlace } from '../footer.ts';
import { FrameKind, writeFrameHeader } from '../frame.ts';
import { openDictionary } from '../sealed-file.ts';
import type { SegmentWriter } from './segment-writer.ts';
import type { SourceColumn } from './source-rows.ts';

/** Columns that messages are derived of at most, and the share of a block's rows that have a value of each. */
const COLUMNS_MAX = 64;
const ROWS_SHARE_MIN = 1 / 16;

/** The dictionaries of a segment that is being written. */
class WrittenDictionaries implements DictionarySource {
  readonly #writer: SegmentWriter;
  readonly #places: readonly FramePlace[];
  readonly #open: (EntrySource | undefined)[] = [];

  constructor(writer: SegmentWriter, places: readonly FramePlace[]) {
    this.#writer = writer;
    this.#places = places;
  }

  dictionary(number: number): EntrySource {
    const { segment, written } = this.#writer;
    this.#open[number] ??= openDictionary(written, segment, this.#places[number]);
    return this.#open[number];
  }

  partsWith(): PossibleParts | undefined {
    return undefined;
  }
}

/** Derives the messages of a segment's blocks, until those of one are not derivable. */
export class MessageDeriver {
  readonly #writer: SegmentWriter;
  readonly #dictionaries: WrittenDictionaries;
  #isOver = false;

  /** `places`: of the segment's dictionaries, which are written. */
  constructor(writer: SegmentWriter, places: readonly FramePlace[]) {
    this.#writer = writer;
    this.#dictionaries = new WrittenDictionaries(writer, places);
  }

  /**
   * Derives a column of a block of the columns that `encoder` has; `undefined` when it is not the messages, or these
   * are stored as they are.
   */
  derive(
    encoder: BlockEncoder,
    { path, kind }: Pick<SourceColumn, 'path' | 'kind'>,
    text: RowsText,
  ): DerivedParts | undefined {
    if (path !== PATH_MESSAGE || kind !== Kind.STRING || this.#isOver) return undefined;
    if (text.rows.length < TEXT_PIECE_ROWS) return undefined;
    const block = this.#open(encoder);
    const columns = block.outlines.flatMap((outline, column) => {
      const isWanted = outline.kind === Kind.STRING || outline.kind === Kind.NUMBER;
      return isWanted && outline.presentCount >= block.rowCount * ROWS_SHARE_MIN ? [column] : [];
    });
    const derived = deriveText(text, block.texts, columns.slice(0, COLUMNS_MAX), deriveKernel());
    this.#isOver = derived === undefined;
    return derived;
  }

  /** Opens a block as it is encoded so far. */
  #open(encoder: BlockEncoder): Block {
    const encoded = encoder.parts();
    const { segment } = this.#writer;
    const { frameBytes, rowCount, minTimeMs, maxTimeMs } = encoded;
    const header = { segment, ordinal: 0, previous: 0, group: 0, repeats: false, firstSequence: 0 };
    const kind = FrameKind.SEALED_BLOCK;
    writeFrameHeader(encoded.parts[0], { ...header, kind, ...encoded });
    const frame = Buffer.concat(encoded.parts);
    const source = {
      read: (target: Uint8Array, position: number): number =>
        frame.copy(target, 0, position, position + target.length),
    };
    const place = { sealed: true, segment, ordinal: 0, offset: 0, bytes: frameBytes };
    const keys = { writer: 0, firstSequence: 0, endSequence: 0 };
    const ref = { ...place, ...keys, rowCount, minTimeMs, maxTimeMs };
    return new Block(readHead(source, ref), this.#dictionaries);
  }
}
