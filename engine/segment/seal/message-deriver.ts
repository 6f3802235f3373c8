import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { PATH_MESSAGE } from '../../column/path.ts';
import type { SharedDictionary } from '../../column/shared-dictionary.ts';
import { deriveKernel } from '../../derive/derive-kernel.ts';
import type { RowsText } from '../../derive/row-texts.ts';
import { type DerivedParts, deriveText } from '../../derive/text-deriver.ts';
import { Block } from '../block/block.ts';
import type { BlockEncoder } from '../block/block-encoder.ts';
import { readHead } from '../block/block-head.ts';
import type { DictionarySource } from '../block/block-sources.ts';
import { pathNames } from '../directory-paths.ts';
import type { FramePlace } from '../footer.ts';
import { FrameKind, writeFrameHeader } from '../frame.ts';
import { openDictionary } from '../sealed-file.ts';
import type { SegmentWriter } from './segment-writer.ts';
import type { SourceColumn } from './source-rows.ts';

/** Columns that messages are derived of at most, and the share of a block's rows that have a value of each. */
const COLUMNS_MAX = 64;
const ROWS_SHARE_MIN = 1 / 16;

/** Growth of their own part with which messages are derived of the columns of the block before. */
const OWN_SHARE_GROWTH = 1.1;

function nameOf(block: Block, column: number): string {
  const { path, kind } = block.outlines[column];
  return `${kind} ${pathNames(block.paths, path).join('\n')}`;
}

/** Bytes that texts have of their own, as a part of all. */
function ownShare({ own }: DerivedParts, { bytes }: RowsText): number {
  return own.reduce((sum, { length }) => sum + length, 0) / bytes.length;
}

/** The dictionaries of a segment that is being written. */
class WrittenDictionaries implements DictionarySource {
  readonly #writer: SegmentWriter;
  readonly #places: readonly FramePlace[];
  readonly #open: (SharedDictionary | undefined)[] = [];

  constructor(writer: SegmentWriter, places: readonly FramePlace[]) {
    this.#writer = writer;
    this.#places = places;
  }

  dictionary(number: number): SharedDictionary {
    const { segment, written } = this.#writer;
    this.#open[number] ??= openDictionary(written, segment, this.#places[number]);
    return this.#open[number];
  }

  partsWith(): PossibleParts | undefined {
    return undefined;
  }

  /** Ends it. */
  free(): void {
    for (const dictionary of this.#open) dictionary?.free();
  }
}

/** Derives the messages of a segment's blocks, until those of one are not derivable. */
export class MessageDeriver {
  readonly #writer: SegmentWriter;
  readonly #dictionaries: WrittenDictionaries;
  #isOver = false;
  /** Names of the columns that messages were derived of, and the part of them that was their own. */
  #used: ReadonlySet<string> = new Set();
  #ownShare = 0;

  /** `places`: of the segment's dictionaries, which are written. */
  constructor(writer: SegmentWriter, places: readonly FramePlace[]) {
    this.#writer = writer;
    this.#dictionaries = new WrittenDictionaries(writer, places);
  }

  /**
   * Derives a column of a block of the columns that `encoder` has, whose chunks are in the file; `undefined` when it is
   * not the messages, or these are stored as they are.
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
    const derived =
      this.#deriveAsBefore(block, columns, text) ?? this.#deriveOf(block, columns, text);
    block.forget();
    this.#isOver = derived === undefined;
    return derived;
  }

  #deriveOf(block: Block, columns: readonly number[], text: RowsText): DerivedParts | undefined {
    const derived = deriveText(text, block.texts, columns.slice(0, COLUMNS_MAX), deriveKernel());
    if (derived === undefined) return undefined;
    const used = new Set(derived.templates.flatMap((parts) => parts.map(({ column }) => column)));
    this.#used = new Set(
      columns.filter((column) => used.has(column)).map((at) => nameOf(block, at)),
    );
    this.#ownShare = ownShare(derived, text);
    return derived;
  }

  /** Derives of the columns of the block before, so that others are not read; `undefined` when that gains less. */
  #deriveAsBefore(
    block: Block,
    columns: readonly number[],
    text: RowsText,
  ): DerivedParts | undefined {
    const used = columns.filter((column) => this.#used.has(nameOf(block, column)));
    if (used.length === 0) return undefined;
    const derived = deriveText(text, block.texts, used, deriveKernel());
    if (derived === undefined) return undefined;
    return ownShare(derived, text) <= this.#ownShare * OWN_SHARE_GROWTH ? derived : undefined;
  }

  /** Ends it. */
  free(): void {
    deriveKernel()?.forget();
    this.#dictionaries.free();
  }

  /** Opens a block as it is encoded so far; its chunks are in the file. */
  #open(encoder: BlockEncoder): Block {
    const encoded = encoder.parts();
    const { segment, written } = this.#writer;
    // The directory is read as if it stood at the end of the file, behind the chunks.
    const offset = written.bytes();
    const { frameBytes, rowCount, minTimeMs, maxTimeMs } = encoded;
    const header = { segment, ordinal: 0, previous: 0, group: 0, repeats: false, firstSequence: 0 };
    const kind = FrameKind.DIRECTORY;
    writeFrameHeader(encoded.parts[0], { ...header, kind, ...encoded });
    const frame = Buffer.concat(encoded.parts);
    const source = {
      read: (target: Uint8Array, position: number): number =>
        position < offset
          ? written.read(target, position)
          : frame.copy(target, 0, position - offset, position - offset + target.length),
    };
    const place = { sealed: true, segment, ordinal: 0, offset, bytes: frameBytes };
    const keys = { writer: 0, firstSequence: 0, endSequence: 0 };
    const ref = { ...place, ...keys, rowCount, minTimeMs, maxTimeMs };
    const block = new Block(readHead(source, ref), this.#dictionaries);
    block.readWhole(deriveKernel());
    return block;
  }
}
