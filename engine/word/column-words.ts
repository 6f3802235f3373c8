import { damaged, EngineError } from '../base/errors.ts';
import type { PossibleParts, Terms } from '../column/entries.ts';
import type { WordFrame } from './word-frame.ts';

/** Memory of a page's place. */
const PAGE_MEMORY_BYTES = 100;

/** In which parts of a column words are. Reads what it is asked for; damage is no answer. */
export class ColumnWords {
  readonly #open: () => WordFrame[];
  #frames: WordFrame[] | undefined;
  #partCount = 0;
  #isDamaged = false;
  /** Parts that were found before, as long as somebody holds the terms. */
  readonly #known = new WeakMap<Terms, PossibleParts>();

  /** `open` gives the frames of the column in the order of their parts. */
  constructor(open: () => WordFrame[]) {
    this.#open = open;
  }

  /** Bytes of memory that it takes, about. */
  get memoryBytes(): number {
    const pageCount = this.#frames?.reduce((sum, frame) => sum + frame.pageCount, 0) ?? 0;
    return pageCount * PAGE_MEMORY_BYTES;
  }

  /**
   * Finds the parts that may have a value with what is looked for; `undefined`: all may. `hasValues`: parts are of a
   * dictionary, whose values are found as a whole.
   */
  partsWith(terms: Terms, hasValues: boolean): PossibleParts | undefined {
    return this.#read(() => {
      let found = this.#known.get(terms);
      if (found === undefined) {
        const hashes = hasValues && terms.value !== undefined ? [terms.value] : terms.words;
        if (hashes.length === 0) return undefined;
        found = this.#find(hashes);
        this.#known.set(terms, found);
      }
      return found;
    });
  }

  /** Counts the rows whose value has a lower-cased word; `undefined` when words do not tell. */
  rowsWith(word: Uint8Array): number | undefined {
    return this.#read(() => {
      let rowCount = 0;
      for (const frame of this.#opened()) {
        const count = frame.rowsWith(word);
        if (count === undefined) return undefined;
        rowCount += count;
      }
      return rowCount;
    });
  }

  /** The result of `read`; `undefined` when damage is met, or was before. */
  #read<T>(read: () => T): T | undefined {
    if (this.#isDamaged) return undefined;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
      this.#isDamaged = true;
      return undefined;
    }
  }

  #find(hashes: readonly number[]): PossibleParts {
    const frames = this.#opened();
    const parts = new Uint8Array(this.#partCount).fill(1);
    for (const frame of frames) {
      const { firstPart, partCount } = frame;
      const own = parts.subarray(firstPart, firstPart + partCount);
      for (const hash of hashes) if (!frame.narrow(own, hash)) break;
    }
    return { parts, pieces: frames[0].pieces };
  }

  #opened(): WordFrame[] {
    if (this.#frames !== undefined) return this.#frames;
    const frames = this.#open();
    let partCount = 0;
    for (const frame of frames) {
      const { firstPart, pieces } = frame;
      if (firstPart !== partCount) damaged(`words of part ${firstPart}, not ${partCount}`);
      if (pieces !== frames[0].pieces) damaged(`parts of ${pieces} pieces`);
      partCount += frame.partCount;
    }
    this.#partCount = partCount;
    this.#frames = frames;
    return frames;
  }
}
