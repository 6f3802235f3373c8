import { type EntrySource, Scratch, type StringPlace } from '../column/entries.ts';
import type { Arena } from '../kernel/arena.ts';

/** Memory of dictionaries with which all are let go before the next one comes. */
const BYTES_MAX = 24 * 1024 * 1024;

/** The place of texts in the memory of a kernel. */
export interface PlacedTexts {
  offsets: number;
  text: number;
  entryCount: number;
}

/** A dictionary of a segment, read piece by piece. */
export type PlaceableEntries = Pick<EntrySource, 'entryCount' | 'piece'>;

/** Dictionaries at the beginning of an arena, which stay for the next block that has the same. */
export class PlacedDictionaries {
  readonly #arena: Arena;
  readonly #start: number;
  #placed = new WeakMap<PlaceableEntries, PlacedTexts>();
  /** Where what is behind them begins. */
  #end: number;
  readonly #scratch = new Scratch();

  /** Behind what the arena has given out. */
  constructor(arena: Arena) {
    this.#arena = arena;
    this.#start = arena.end;
    this.#end = arena.end;
  }

  /**
   * Takes back all of the arena but dictionaries, and puts those that are missing behind the others. Throws CORRUPTION,
   * and MEMORY when there is no room.
   */
  keep(dictionaries: ReadonlySet<PlaceableEntries>): void {
    const isMissing = (each: PlaceableEntries): boolean => !this.#placed.has(each);
    if (this.#end - this.#start > BYTES_MAX && [...dictionaries].some(isMissing)) this.free();
    this.#arena.reset(this.#end);
    for (const dictionary of [...dictionaries].filter(isMissing)) {
      this.#placed.set(dictionary, this.#put(dictionary));
      this.#end = this.#arena.end;
    }
  }

  /** Where a dictionary that is kept lies. */
  texts(dictionary: PlaceableEntries): PlacedTexts | undefined {
    return this.#placed.get(dictionary);
  }

  /** An entry of a dictionary that is kept; good until the arena gives out the next place. */
  place(dictionary: PlaceableEntries, entry: number): StringPlace | undefined {
    const placed = this.#placed.get(dictionary);
    if (placed === undefined || entry < 0 || entry >= placed.entryCount) return undefined;
    const [start, end] = this.#arena.words(placed.offsets + 4 * entry, 2);
    return {
      bytes: this.#arena.bytes(placed.text + start, end - start),
      start: 0,
      end: end - start,
    };
  }

  /** Lets go of all of them. */
  free(): void {
    this.#placed = new WeakMap();
    this.#end = this.#start;
  }

  /** Puts the entries of a dictionary one after the other; no more than a piece of them is elsewhere. */
  #put(dictionary: PlaceableEntries): PlacedTexts {
    const arena = this.#arena;
    const { entryCount } = dictionary;
    const offsets = arena.reserve(4 * (entryCount + 1));
    const text = arena.end;
    let end = 0;
    for (let first = 0; first < entryCount; ) {
      const piece = dictionary.piece(first, this.#scratch);
      const count = piece.offsets.length - 1;
      const start = piece.offsets[0];
      const bytes = piece.bytes.subarray(start, piece.offsets[count]);
      arena.reset(text + end);
      arena.bytes(arena.reserve(bytes.length), bytes.length).set(bytes);
      const places = arena.words(offsets + 4 * first, count + 1);
      for (let at = 0; at <= count; at++) places[at] = end + piece.offsets[at] - start;
      end += bytes.length;
      first += count;
    }
    // As one place, behind which the next one begins where it should.
    arena.reset(text);
    arena.reserve(end);
    return { offsets, text, entryCount };
  }
}
