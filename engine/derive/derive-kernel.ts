import { EngineError } from '../base/errors.ts';
import type { Entries, StringPlace } from '../column/entries.ts';
import type { NumberChunk } from '../column/number-chunk.ts';
import { Arena } from '../kernel/arena.ts';
import { makeKernels } from '../kernel/kernel.ts';
import { free } from '../packed/growth.ts';
import { DECIMALS_MAX, TEXT_BYTES_MAX } from './number-texts.ts';
import {
  type PlaceableEntries,
  PlacedDictionaries,
  type PlacedTexts,
} from './placed-dictionaries.ts';
import type { ColumnTexts } from './row-texts.ts';
import { PartKind, type TextTemplate } from './template.ts';

/** Functions of derive.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  deriveTemplates(
    address: number,
    count: number,
    spans: number,
    farParts: number,
    farCount: number,
  ): void;
  deriveMatch(
    count: number,
    offsets: number,
    text: number,
    rows: number,
    numbers: number,
    own: number,
  ): number;
  deriveMake(
    count: number,
    offsets: number,
    text: number,
    rows: number,
    numbers: number,
    own: number,
    ownBytes: number,
  ): number;
  derivePrint(count: number, values: number, decimals: number, offsets: number, text: number): void;
}

/** Memory that the columns of a block, its texts and the dictionaries that they need take at most. */
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
/** Words of a template and of a part. */
const TEMPLATE_WORDS = 4;
const PART_WORDS = 6;
/** Bytes of the longest length before a part of its own. */
const LENGTH_BYTES_MAX = 5;

/** The place of a column in the memory. */
interface PlacedColumn extends PlacedTexts {
  ids: number;
  /** True of texts that lie far apart: those of rows that follow each other may be anywhere. */
  isFar: boolean;
}

/** The words of a part behind its kind. */
function wordsOf({ ids, offsets, text, entryCount }: PlacedColumn): number[] {
  return [ids, offsets, text, entryCount];
}

/** Texts of which templates are found: one for each of `rows`. */
interface Texts extends Entries {
  rows: Uint16Array;
}

/** The kernel of derived texts: what it has no room for, or fails at, it declines. Owned by one thread. */
export class DeriveKernel {
  readonly #exports: Exports;
  readonly #arena: Arena;
  /** The owner of the templates that are in the memory; `undefined` when there are none. */
  #owner: object | undefined;
  /** They lie before all else. */
  readonly #dictionaries: PlacedDictionaries;
  /** Where what is behind the templates and their columns begins. */
  #free = 0;
  #partsMax = 0;
  /** Set when the kernel failed. */
  #isOver = false;

  private constructor(exports: Exports) {
    this.#exports = exports;
    this.#arena = new Arena(exports.memory, MEMORY_BYTES_MAX);
    this.#dictionaries = new PlacedDictionaries(this.#arena);
  }

  /** Makes a kernel; `undefined` where there are none. */
  static make(): DeriveKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    return exports === undefined ? undefined : new DeriveKernel(exports);
  }

  /**
   * Puts templates with all texts of the columns that they name into the memory, unless they are there as those of the
   * same `owner`; false when there is no room. Throws CORRUPTION.
   */
  load(owner: object, templates: readonly TextTemplate[], columns: ColumnTexts): boolean {
    if (this.#isOver) return false;
    if (this.#owner === owner) return true;
    this.#owner = undefined;
    const isLoaded = this.#try(() => {
      this.#keep(templates, columns);
      this.#load(templates, columns);
      return true;
    });
    if (isLoaded !== true) return false;
    this.#owner = owner;
    this.#free = this.#arena.end;
    return true;
  }

  /** Reports that a dictionary is in the memory. */
  holds(dictionary: PlaceableEntries): boolean {
    return !this.#isOver && this.#dictionaries.texts(dictionary) !== undefined;
  }

  /** An entry of a dictionary that is in the memory; `undefined` when it has none. Good until the next load. */
  place(dictionary: PlaceableEntries, entry: number): StringPlace | undefined {
    return this.#dictionaries.place(dictionary, entry);
  }

  /** Lets go of templates and dictionaries. */
  forget(): void {
    this.#owner = undefined;
    this.#dictionaries.free();
  }

  /**
   * Finds the templates of texts, which become `numbers`; returns what they have of their own. A text of none has the
   * number behind the last one. `undefined`: declined.
   */
  match(
    { rows, offsets, bytes }: Texts,
    from: number,
    to: number,
    numbers: Uint8Array,
  ): Uint8Array | undefined {
    return this.#try(() => {
      const arena = this.#arena;
      const count = to - from;
      const first = offsets[from];
      arena.reset(this.#free);
      const text = arena.putBytes(bytes.subarray(first, offsets[to]));
      const places = arena.putWords(offsets.subarray(from, to + 1));
      const rowPlace = arena.putWords(rows.subarray(from, to));
      const numberPlace = arena.reserve(count);
      const ownMax = offsets[to] - first + count * this.#partsMax * LENGTH_BYTES_MAX;
      const own = arena.reserve(ownMax);
      const { deriveMatch } = this.#exports;
      const bytesOwn = deriveMatch(count, places, text - first, rowPlace, numberPlace, own);
      numbers.set(arena.bytes(numberPlace, count), from);
      return arena.bytes(own, bytesOwn).slice();
    });
  }

  /**
   * Makes texts again, each of the template that `numbers` says, which lie at `offsets`, into `bytes`, which is as
   * long; false when it declines, as when they are not as long as that.
   */
  make(
    rows: Uint32Array,
    numbers: Float64Array,
    own: Uint8Array,
    { offsets, bytes }: Entries,
  ): boolean {
    const isMade = this.#try(() => {
      const chosen = new Uint32Array(numbers);
      for (let at = 0; at < chosen.length; at++) if (chosen[at] !== numbers[at]) return false;
      const arena = this.#arena;
      arena.reset(this.#free);
      const rowPlace = arena.putWords(rows);
      const numberPlace = arena.putWords(chosen);
      const ownPlace = arena.putBytes(own);
      const places = arena.putWords(offsets);
      const text = arena.reserve(bytes.length);
      const { deriveMake } = this.#exports;
      const { length } = rows;
      const isMade = deriveMake(length, places, text, rowPlace, numberPlace, ownPlace, own.length);
      if (isMade === 0) return false;
      bytes.set(arena.bytes(text, bytes.length));
      return true;
    });
    return isMade === true;
  }

  /** The result of `work`; `undefined` when there is no room, or the kernel fails, which is its end. */
  #try<T>(work: () => T): T | undefined {
    if (this.#isOver) return undefined;
    try {
      return work();
    } catch (error) {
      if (error instanceof EngineError && error.code === 'CORRUPTION') throw error;
      if (!(error instanceof EngineError)) this.#isOver = true;
      return undefined;
    }
  }

  /** Puts the dictionaries that templates need before all else. */
  #keep(templates: readonly TextTemplate[], columns: ColumnTexts): void {
    const values = templates.flat().filter(({ kind }) => kind === PartKind.VALUE);
    const named = values.flatMap(({ column }) => columns.dictionary(column) ?? []);
    this.#dictionaries.keep(new Set(named));
  }

  #put({ offsets, bytes }: Entries): PlacedTexts {
    const arena = this.#arena;
    return {
      offsets: arena.putWords(offsets),
      text: arena.putBytes(bytes),
      entryCount: offsets.length - 1,
    };
  }

  #load(templates: readonly TextTemplate[], columns: ColumnTexts): void {
    const arena = this.#arena;
    const placed = new Map<number, PlacedColumn>();
    const partCount = templates.reduce((sum, { length }) => sum + length, 0);
    const words = new Uint32Array(partCount * PART_WORDS);
    const heads = new Uint32Array(templates.length * TEMPLATE_WORDS);
    const parts = arena.reserve(words.length * 4);
    this.#partsMax = Math.max(1, ...templates.map(({ length }) => length));
    let part = 0;
    for (const [number, template] of templates.entries()) {
      const first = parts + part * PART_WORDS * 4;
      let literalBytes = 0;
      let isOpen = 0;
      for (const { kind, column, bytes } of template) {
        const at = part++ * PART_WORDS;
        words[at] = kind;
        if (kind === PartKind.OWN) isOpen = 1;
        else if (kind === PartKind.LITERAL) {
          words.set([0, 0, arena.putBytes(bytes), bytes.length], at + 1);
          literalBytes += bytes.length;
        } else {
          const known = placed.get(column) ?? this.#place(columns, column);
          placed.set(column, known);
          words.set(wordsOf(known), at + 1);
        }
      }
      heads.set([first, parts + part * PART_WORDS * 4, isOpen, literalBytes], number * 4);
    }
    arena.words(parts, words.length).set(words);
    const spans = arena.reserve(this.#partsMax * 8);
    const far = [...placed.values()].filter(({ isFar }) => isFar);
    const farParts = far.flatMap((each) => [PartKind.VALUE, ...wordsOf(each), 0]);
    this.#exports.deriveTemplates(
      arena.putWords(heads),
      templates.length,
      spans,
      arena.putWords(farParts),
      far.length,
    );
  }

  #place(columns: ColumnTexts, column: number): PlacedColumn {
    const arena = this.#arena;
    const numbers = columns.numbers(column);
    const printed = numbers === undefined ? undefined : this.#print(numbers.chunk);
    if (numbers !== undefined && printed !== undefined) {
      const ids = arena.putWords(numbers.ids);
      free(numbers.ids);
      return { ids, ...printed, isFar: false };
    }
    const dictionary = columns.dictionary(column);
    const placed = dictionary && this.#dictionaries.texts(dictionary);
    if (placed !== undefined)
      return { ids: arena.putWords(columns.ids(column)), ...placed, isFar: true };
    const texts = columns.texts(column);
    return { ids: arena.putWords(texts.ids), ...this.#put(texts), isFar: false };
  }

  /** Prints the numbers of a chunk; `undefined` when some are texts. Throws CORRUPTION. */
  #print(chunk: NumberChunk): PlacedTexts | undefined {
    const { values, details, texts } = chunk.parts();
    if (texts.size > 0) return undefined;
    const arena = this.#arena;
    const count = values.length;
    let textBytes = 0;
    for (let rank = 0; rank < count; rank++) {
      if (details[rank] > DECIMALS_MAX) return undefined;
      textBytes += TEXT_BYTES_MAX + details[rank];
    }
    const offsets = arena.reserve((count + 1) * 4);
    const text = arena.reserve(textBytes);
    const place = arena.end;
    const valuePlace = arena.putDoubles(values);
    this.#exports.derivePrint(count, valuePlace, arena.putWords(details), offsets, text);
    arena.reset(place);
    return { offsets, text, entryCount: count };
  }
}

let ofThread: { kernel: DeriveKernel | undefined } | undefined;

/** The kernel of the calling thread; `undefined` where there is none. */
export function deriveKernel(): DeriveKernel | undefined {
  ofThread ??= { kernel: DeriveKernel.make() };
  return ofThread.kernel;
}
