import { unfilled } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { damaged, EngineError } from '../base/errors.ts';
import type { DiskFile } from '../base/file.ts';
import { TEXT_PIECE_ROWS } from '../base/limits.ts';
import type { Region } from '../column/chunk.ts';
import type { PossibleParts, Terms } from '../column/entries.ts';
import { Kind } from '../column/kind.ts';
import {
  type DictionaryKeep,
  type ReadRegion,
  SharedDictionary,
} from '../column/shared-dictionary.ts';
import type { Room } from '../packed/compress.ts';
import { ColumnWords } from '../word/column-words.ts';
import { WordFrame } from '../word/word-frame.ts';
import { Block } from './block/block.ts';
import { type BlockHead, readHead } from './block/block-head.ts';
import type { ChunkSource, DictionarySource, KeptSource } from './block/block-sources.ts';
import type { OutlineTable } from './column-outline.ts';
import { type Footer, type FramePlace, readTrailer, TRAILER_BYTES } from './footer.ts';
import {
  type FooterBytes,
  type PlainFooter,
  plainFooter,
  readFooter,
  type ShareNames,
} from './footer-reader.ts';
import {
  type BlockRef,
  corruption,
  FRAME_HEADER_BYTES,
  FrameKind,
  placed,
  readFrameHeader,
} from './frame.ts';
import { checkedMeta, regionsStartOf } from './frame-source.ts';
import { readHead as readSegmentHead } from './head.ts';

/** Bytes read from the end at first: the trailer, and most footers whole. */
const FIRST_READ_BYTES = 65_536;

/** Source of a sealed file's bytes, which are all there when it has its name. */
export type SealedSource = Pick<DiskFile, 'read' | 'bytes'>;

/** Gives some bytes, in `room` when it is given; or throws CORRUPTION. */
type ReadBytes = (position: number, count: number, room?: Room) => Uint8Array;

/** A frame other than a block's: header and meta checked, its regions read when they are asked for. */
class OpenFrame {
  readonly meta: Uint8Array;
  readonly #read: ReadBytes;
  readonly #regionsStart: number;
  readonly #frameBytes: number;

  /** `read` gives bytes of the frame, or throws CORRUPTION. */
  constructor(read: ReadBytes, kind: FrameKind, segment: number, place: FramePlace) {
    const header = readFrameHeader(read(0, Math.min(FRAME_HEADER_BYTES, place.bytes)));
    if (
      header?.kind !== kind ||
      header.segment !== segment ||
      header.ordinal !== place.ordinal ||
      header.frameBytes !== place.bytes ||
      FRAME_HEADER_BYTES + header.metaBytes > place.bytes
    ) {
      damaged(`no header of frame ${place.ordinal}`);
    }
    this.meta = checkedMeta(read(FRAME_HEADER_BYTES, header.metaBytes), header);
    this.#read = read;
    this.#regionsStart = regionsStartOf(header);
    this.#frameBytes = place.bytes;
  }

  region(region: Region, room?: Room): Uint8Array {
    if (region.inline !== undefined) return region.inline;
    const from = this.#regionsStart + region.offset;
    if (from + region.bytes > this.#frameBytes) damaged(`region beyond the frame, to ${from}`);
    const bytes = this.#read(from, region.bytes, room);
    if (bytes.length !== region.bytes || checksum(bytes) !== region.checksum) {
      damaged(`region at ${region.offset} is not as written`);
    }
    return bytes;
  }
}

function readOf(source: SealedSource, position: number, count: number, room?: Room): Uint8Array {
  const isMuch = count > FIRST_READ_BYTES;
  if (isMuch && position + count > source.bytes()) damaged(`${count} bytes beyond the file's end`);
  const bytes = room?.(count).subarray(0, count) ?? unfilled(count);
  const done = source.read(bytes, position);
  if (done !== count) damaged(`the file ends after ${done} of ${count} bytes`);
  return bytes;
}

/** Opens a frame, of which `open` makes something that reads its regions. Throws CORRUPTION naming the place. */
function openFrame<T>(
  source: SealedSource,
  segment: number,
  kind: FrameKind,
  place: FramePlace,
  open: (meta: Uint8Array, region: ReadRegion) => T,
): T {
  const { offset } = place;
  const guard = <R>(read: () => R): R => placed({ segment, offset }, read);
  return guard(() => {
    const read: ReadBytes = (position, count, room) =>
      readOf(source, offset + position, count, room);
    const frame = new OpenFrame(read, kind, segment, place);
    return open(frame.meta, (region, room) => guard(() => frame.region(region, room)));
  });
}

/**
 * Opens the dictionary at a place of a sealed file, of one that is being written too; `keep` keeps what is
 * made of it. Throws CORRUPTION.
 */
export function openDictionary(
  source: SealedSource,
  segment: number,
  place: FramePlace,
  keep?: DictionaryKeep,
): SharedDictionary {
  return openFrame(source, segment, FrameKind.DICTIONARY, place, (meta, region) => {
    return new SharedDictionary(meta, region, keep);
  });
}

/**
 * A sealed segment that is open for reading. Reads footer, dictionaries and words when they are asked for, once, and
 * keeps them, but the pages of words. Methods throw CORRUPTION naming the place, and what the source throws.
 */
export class SealedFile implements DictionarySource {
  readonly segment: number;
  readonly #source: SealedSource;
  readonly #kept: KeptSource | undefined;
  readonly #footerElsewhere: (() => Footer) | undefined;
  #footer: Footer | undefined;
  readonly #dictionaries: (SharedDictionary | undefined)[] = [];
  readonly #words = new Map<number, ColumnWords>();
  readonly #checked = new Set<number>();

  /**
   * `footer` gives the segment's footer when it is kept elsewhere, and throws as `footer()`; `kept`: where what is made
   * of dictionaries is kept.
   */
  constructor(source: SealedSource, segment: number, footer?: () => Footer, kept?: KeptSource) {
    this.#source = source;
    this.#kept = kept;
    this.segment = segment;
    this.#footerElsewhere = footer;
  }

  /** Bytes of memory that decoded dictionaries and words take now. */
  get memoryBytes(): number {
    let bytes = 0;
    for (const known of this.#dictionaries) bytes += known?.memoryBytes ?? 0;
    for (const known of this.#words.values()) bytes += known.memoryBytes;
    return bytes;
  }

  footer(): Footer {
    if (this.#footerElsewhere !== undefined) return this.#footerElsewhere();
    this.#footer ??= readFooter(this.plainFooter(), this.segment);
    return this.#footer;
  }

  /** The plain form of the footer, for those who keep it elsewhere; with `share` names that others have too. */
  plainFooter(share?: ShareNames): PlainFooter {
    const { segment } = this;
    return placed({ segment, offset: 0 }, () => plainFooter(this.#footerBytes(), segment, share));
  }

  /** The dictionary number `number`. */
  dictionary(number: number): SharedDictionary {
    const known = this.#dictionaries[number];
    if (known !== undefined) return known;
    const place = this.footer().dictionaries[number];
    if (place === undefined) corruption({ segment: this.segment, offset: 0 }, 'no such dictionary');
    const { segment } = this;
    const kept = this.#kept;
    const keep: DictionaryKeep | undefined = kept && {
      piece: (piece, read) => kept.pieces.piece(segment, number, piece, read),
      sum: kept.sums.keeper(segment, `dictionary ${number}`).keptUnits,
    };
    const dictionary = openDictionary(this.#source, segment, place, keep);
    this.#dictionaries[number] = dictionary;
    return dictionary;
  }

  /**
   * Finds the parts of the column of strings at `path` in the block at `ref` that may have what is looked for: of
   * its dictionary, or of the block's text. `undefined` when words do not tell, or are damaged.
   */
  partsWith(ref: BlockRef, path: string, terms: Terms): PossibleParts | undefined {
    const found = this.#wordsAt(path);
    if (found === undefined) return undefined;
    const { blocks, columns, column, words } = found;
    const isShared = columns.dictionaryOf(column) >= 0;
    const possible = words.partsWith(terms, isShared);
    if (possible === undefined || isShared) return possible;
    const { parts, pieces } = possible;
    const block = blocks.findIndex(({ ordinal }) => ordinal === ref.ordinal);
    const { from, to } = columns.partsOf(column, block, pieces * TEXT_PIECE_ROWS);
    return to <= parts.length ? { parts: parts.subarray(from, to), pieces } : undefined;
  }

  /**
   * Counts the rows of the segment whose string at `path` has a word, which is lower-cased. `undefined` when words do
   * not tell, or are damaged.
   */
  rowsWith(path: string, word: Uint8Array): number | undefined {
    return this.#wordsAt(path)?.words.rowsWith(word);
  }

  /** The words of the column of strings at `path`; `undefined` when it has none. */
  #wordsAt(
    path: string,
  ): { blocks: BlockRef[]; columns: OutlineTable; column: number; words: ColumnWords } | undefined {
    const footer = this.#rightFooter();
    if (footer === undefined) return undefined;
    const { blocks, columns, words } = footer;
    const column = columns?.numberOf(path, Kind.STRING) ?? -1;
    if (columns === undefined || column < 0) return undefined;
    let known = this.#words.get(column);
    if (known === undefined) {
      const places = words.filter((place) => place.column === column);
      if (places.length === 0) return undefined;
      known = new ColumnWords(() => places.map((place) => this.words(place)));
      this.#words.set(column, known);
    }
    return { blocks, columns, column, words: known };
  }

  /** Opens a frame with words of a column. */
  words(place: FramePlace): WordFrame {
    return openFrame(this.#source, this.segment, FrameKind.WORDS, place, (meta, region) => {
      return new WordFrame(meta, region);
    });
  }

  /** Lets go of all dictionaries and words. */
  forget(): void {
    this.#dictionaries.length = 0;
    this.#words.clear();
  }

  /** The footer; `undefined` when it is damaged: blocks are right without it. */
  #rightFooter(): Footer | undefined {
    try {
      return this.footer();
    } catch (error) {
      if (error instanceof EngineError && error.code === 'CORRUPTION') return undefined;
      throw error;
    }
  }

  /**
   * Opens a block of the segment; with `head`, when that was read. `chunks`: where those of its columns are kept;
   * `dictionaries`: those of the segment, for a block that outlives this.
   */
  open(
    ref: BlockRef,
    head = this.#head(ref),
    chunks?: ChunkSource,
    dictionaries: DictionarySource = this,
  ): Block {
    return new Block(head, dictionaries, chunks);
  }

  #head(ref: BlockRef): BlockHead {
    return readHead(this.#source, ref, this.#checked);
  }

  #footerBytes(): FooterBytes {
    this.#checkHead();
    const fileBytes = this.#source.bytes();
    if (fileBytes < TRAILER_BYTES) damaged(`a file of ${fileBytes} bytes`);
    const lastBytes = Math.min(fileBytes, FIRST_READ_BYTES);
    const last = this.#read(fileBytes - lastBytes, lastBytes);
    const trailer = last.subarray(lastBytes - TRAILER_BYTES);
    const place = readTrailer(trailer, this.segment, fileBytes);
    const from = place.offset - (fileBytes - lastBytes);
    const bytes =
      from >= 0 ? last.subarray(from, from + place.bytes) : this.#read(place.offset, place.bytes);
    const readFrom = (position: number, count: number) =>
      bytes.subarray(position, position + count);
    const frame = new OpenFrame(readFrom, FrameKind.FOOTER, this.segment, place);
    return { meta: frame.meta, region: (region) => frame.region(region) };
  }

  /** Throws CORRUPTION unless the file begins with a head of this segment, of a draft and features that are known. */
  #checkHead(): void {
    const header = readFrameHeader(this.#read(0, FRAME_HEADER_BYTES));
    if (header?.kind !== FrameKind.HEAD || header.segment !== this.segment) damaged('no head');
    const stored = this.#read(FRAME_HEADER_BYTES, header.metaBytes);
    try {
      readSegmentHead(checkedMeta(stored, header));
    } catch (error) {
      if (error instanceof EngineError && error.code === 'USAGE') damaged(error.message);
      throw error;
    }
  }

  #read(position: number, count: number): Uint8Array {
    return readOf(this.#source, position, count);
  }
}
