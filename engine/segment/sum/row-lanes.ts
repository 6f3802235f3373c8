import { must } from '../../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import type { TextPiece } from '../../column/entries.ts';
import { Arena } from '../../kernel/arena.ts';
import { makeKernels } from '../../kernel/kernel.ts';
import { free } from '../../packed/growth.ts';
import { HashLanes, highWord, mixHigh, mixLow, spread } from './row-hash.ts';
import { hashStrings } from './string-hash.ts';

/** Functions of lane.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  laneStart(): number;
  laneRows(count: number, lows: number, highs: number): void;
  laneWords(count: number, columnLow: number, columnHigh: number, hasRows: boolean): void;
  laneIds(count: number, hasRows: boolean): void;
  laneTexts(count: number, keyLow: number, keyHigh: number, first: number, hasRows: boolean): void;
  laneMixWords(count: number): void;
  laneMixDetails(count: number): void;
  laneSum(count: number): void;
  laneLowSum: WebAssembly.Global;
  laneHighSum: WebAssembly.Global;
  LANE_ARENA: WebAssembly.Global;
  LANE_ROW: WebAssembly.Global;
  LANE_WORD: WebAssembly.Global;
  LANE_DETAIL: WebAssembly.Global;
  LANE_ID: WebAssembly.Global;
  LANE_ENTRIES: WebAssembly.Global;
  LANE_ENTRY_LOW: WebAssembly.Global;
  LANE_ENTRY_HIGH: WebAssembly.Global;
}

/** Fewer values are added faster by the reference. */
const VALUES_MIN = 64;
/** Memory of the kernel at most: the lanes of more rows are elsewhere. */
const MEMORY_BYTES_MAX = 96 * 1024 * 1024;

/** Numbers of a column: their 64 bits, with what else is said of each. */
export interface LeafWords {
  words: Int32Array;
  details: Uint16Array | Uint32Array;
  /** Row of each; `undefined` when they are those of the rows one after the other. */
  rows: Uint32Array | undefined;
}

/** Strings of a column, as entries + 1, and the hashes of its first `entryCount` entries, which are all. */
export interface LeafEntries {
  ids: Uint32Array;
  hashes: HashLanes;
  entryCount: number;
  rows: Uint32Array | undefined;
}

/** Values of a piece of a text, whose hashes begin with the pair number `index` of `key`. */
export interface LeafTexts {
  piece: TextPiece;
  key: HashLanes;
  index: number;
  /** Row of each value of the text; `undefined` when they are those of the rows one after the other. */
  rows: Uint32Array | undefined;
}

/** Two lanes of 32 bits for each of some rows. */
export type Lanes = Pick<HashLanes, 'low' | 'high'>;

/** Adds the hash of each number of a column with the hash `columnLow` and `columnHigh`: the reference of `RowLanes`. */
export function addWords(
  { low: lows, high: highs }: Lanes,
  columnLow: number,
  columnHigh: number,
  { words, details, rows }: LeafWords,
): void {
  for (let at = 0; at < details.length; at++) {
    const row = rows === undefined ? at : rows[at];
    const first = words[2 * at];
    const second = highWord(words, at);
    const detail = details[at];
    lows[row] += spread(mixLow(mixLow(mixLow(columnLow, first), second), detail));
    highs[row] += spread(mixHigh(mixHigh(mixHigh(columnHigh, first), second), detail));
  }
}

/** Adds the hash of each string of a column: the reference of `RowLanes`. */
export function addEntries(
  { low: lows, high: highs }: Lanes,
  { ids, hashes: { low, high }, rows }: LeafEntries,
): void {
  for (let at = 0; at < ids.length; at++) {
    const row = rows === undefined ? at : rows[at];
    lows[row] += low[ids[at] - 1];
    highs[row] += high[ids[at] - 1];
  }
}

const textHashes = new HashLanes();

/** Adds the hash of each value of a piece of a text: the reference of `RowLanes`. */
export function addTexts(
  { low: lows, high: highs }: Lanes,
  { piece, key, index, rows }: LeafTexts,
): void {
  const { first, offsets } = piece;
  const count = offsets.length - 1;
  textHashes.ensure(count);
  hashStrings(piece, key, index, textHashes, 0);
  const { low, high } = textHashes;
  for (let at = 0; at < count; at++) {
    const row = rows === undefined ? first + at : rows[first + at];
    lows[row] += low[at];
    highs[row] += high[at];
  }
}

/** Mixes 64 bits, given as words, into the hash of each row: the reference of `RowLanes`. */
export function mixWords({ low: lows, high: highs }: Lanes, words: Int32Array): void {
  for (let row = 0; row < lows.length; row++) {
    const second = highWord(words, row);
    lows[row] = mixLow(mixLow(lows[row], words[2 * row]), second);
    highs[row] = mixHigh(mixHigh(highs[row], words[2 * row]), second);
  }
}

/** Mixes a number into the hash of each row: the reference of `RowLanes`. */
export function mixDetails({ low: lows, high: highs }: Lanes, details: Uint8Array): void {
  for (let row = 0; row < lows.length; row++) {
    lows[row] = mixLow(lows[row], details[row]);
    highs[row] = mixHigh(highs[row], details[row]);
  }
}

/** A sum of hashes, a lane each, whatever their order: the reference of `RowLanes`. */
export function sumLanes({ low: lows, high: highs }: Lanes): { low: number; high: number } {
  let low = 0;
  let high = 0;
  for (let row = 0; row < lows.length; row++) {
    low = (low + spread(lows[row])) | 0;
    high = (high + spread(highs[row])) | 0;
  }
  return { low, high };
}

/** The kernel of lane.as.ts, with the lanes that lie in its memory. */
class LaneKernel {
  readonly exports: Exports;
  readonly arena: Arena;
  readonly #entries: number;

  private constructor(exports: Exports) {
    this.exports = exports;
    this.#entries = exports.LANE_ENTRIES.value;
    this.arena = new Arena(exports.memory, MEMORY_BYTES_MAX);
    this.arena.reset(exports.LANE_ARENA.value);
  }

  static make(): LaneKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.laneStart() === 0) return undefined;
    return new LaneKernel(exports);
  }

  takes({ entryCount, ids }: LeafEntries): boolean {
    return entryCount <= this.#entries && ids.length <= BLOCK_ROWS_MAX;
  }

  putLeaves({ words, details, rows }: LeafWords): void {
    this.putWords(words);
    this.putDetails(details);
    this.#putRows(rows);
  }

  putWords(words: Int32Array): void {
    this.#words(this.exports.LANE_WORD, words.length).set(words);
  }

  putDetails(details: Uint8Array | Uint16Array | Uint32Array): void {
    this.#words(this.exports.LANE_DETAIL, details.length).set(details);
  }

  putEntries({ ids, hashes: { low, high }, entryCount, rows }: LeafEntries): void {
    const { LANE_ID, LANE_ENTRY_LOW, LANE_ENTRY_HIGH } = this.exports;
    this.#words(LANE_ID, ids.length).set(ids);
    this.#words(LANE_ENTRY_LOW, entryCount).set(low.subarray(0, entryCount));
    this.#words(LANE_ENTRY_HIGH, entryCount).set(high.subarray(0, entryCount));
    this.#putRows(rows);
  }

  /** Puts texts where entries lie else; false when there is no room. */
  putTexts({ piece: { offsets, bytes, first }, rows }: LeafTexts): boolean {
    const { LANE_ID, LANE_ENTRY_LOW } = this.exports;
    const count = offsets.length - 1;
    const end = offsets[count];
    if (count >= BLOCK_ROWS_MAX || end > this.#entries * 4) return false;
    this.#words(LANE_ID, count + 1).set(offsets);
    const { buffer } = this.exports.memory;
    new Uint8Array(buffer, LANE_ENTRY_LOW.value, end).set(bytes.subarray(0, end));
    this.#putRows(rows?.subarray(first, first + count));
    return true;
  }

  #putRows(rows: Uint32Array | undefined): void {
    if (rows !== undefined) this.#words(this.exports.LANE_ROW, rows.length).set(rows);
  }

  #words(place: WebAssembly.Global, length: number): Int32Array {
    return new Int32Array(this.exports.memory.buffer, place.value, length);
  }
}

let ofThread: { kernel: LaneKernel | undefined } | undefined;

/** Gives back the memory of the calling thread's kernel, and all lanes in it: the next lanes make another one. */
export function releaseLanes(): void {
  ofThread = undefined;
}

/** The place of lanes in the memory of a kernel. */
interface Place {
  kernel: LaneKernel;
  low: number;
  high: number;
  /** Where free memory began before it, and begins behind it. */
  from: number;
  to: number;
}

/** Makes a place for so many rows; `undefined` when there is no kernel, or no room. */
function placeOf(rowCount: number): Place | undefined {
  ofThread ??= { kernel: LaneKernel.make() };
  const { kernel } = ofThread;
  if (kernel === undefined || rowCount > BLOCK_ROWS_MAX) return undefined;
  const { arena } = kernel;
  const from = arena.end;
  try {
    const low = arena.reserve(rowCount * 4);
    const high = arena.reserve(rowCount * 4);
    return { kernel, low, high, from, to: arena.end };
  } catch {
    arena.reset(from);
    return undefined;
  }
}

/**
 * Hashes of the rows of a block, to which those of their leaves are added: by the kernel, where there is one with room.
 * Memory that lanes give back is used again when those that were made after them gave theirs.
 */
export class RowLanes {
  readonly #rowCount: number;
  readonly #place: Place | undefined;
  readonly #plain: Lanes | undefined;

  /** Rows whose hashes are anything. */
  constructor(rowCount: number) {
    this.#rowCount = rowCount;
    this.#place = placeOf(rowCount);
    if (this.#place !== undefined) return;
    this.#plain = { low: new Int32Array(rowCount), high: new Int32Array(rowCount) };
  }

  /** The lanes by row; good until others are made. */
  get lanes(): Lanes {
    if (this.#plain !== undefined) return this.#plain;
    const { kernel, low, high } = must(this.#place, 'a place');
    const { buffer } = kernel.exports.memory;
    const count = this.#rowCount;
    return { low: new Int32Array(buffer, low, count), high: new Int32Array(buffer, high, count) };
  }

  /** Adds the numbers of a column with the hash `columnLow` and `columnHigh`. */
  addWords(columnLow: number, columnHigh: number, leaves: LeafWords): void {
    const count = leaves.details.length;
    if (this.#place === undefined || count < VALUES_MIN) {
      addWords(this.lanes, columnLow, columnHigh, leaves);
      return;
    }
    this.#ask(this.#place, (kernel) => {
      kernel.putLeaves(leaves);
      kernel.exports.laneWords(count, columnLow, columnHigh, leaves.rows !== undefined);
    });
  }

  /** Adds the strings of a column. */
  addEntries(leaves: LeafEntries): void {
    const count = leaves.ids.length;
    if (this.#place === undefined || count < VALUES_MIN || !this.#place.kernel.takes(leaves)) {
      addEntries(this.lanes, leaves);
      return;
    }
    this.#ask(this.#place, (kernel) => {
      kernel.putEntries(leaves);
      kernel.exports.laneIds(count, leaves.rows !== undefined);
    });
  }

  /** Adds the values of a piece of a text. */
  addTexts(leaves: LeafTexts): void {
    const { piece, key, index, rows } = leaves;
    const count = piece.offsets.length - 1;
    const isAdded =
      this.#place !== undefined &&
      count >= VALUES_MIN &&
      this.#ask(this.#place, (kernel) => {
        if (!kernel.putTexts(leaves)) return false;
        const { laneTexts } = kernel.exports;
        laneTexts(count, key.low[index], key.high[index], piece.first, rows !== undefined);
        return true;
      });
    if (!isAdded) addTexts(this.lanes, leaves);
  }

  /** Mixes 64 bits, given as words, into the hash of each row. */
  mixWords(words: Int32Array): void {
    if (this.#place === undefined) {
      mixWords(this.lanes, words);
      return;
    }
    this.#ask(this.#place, (kernel) => {
      kernel.putWords(words);
      kernel.exports.laneMixWords(this.#rowCount);
    });
  }

  /** Mixes a number into the hash of each row. */
  mixDetails(details: Uint8Array): void {
    if (this.#place === undefined) {
      mixDetails(this.lanes, details);
      return;
    }
    this.#ask(this.#place, (kernel) => {
      kernel.putDetails(details);
      kernel.exports.laneMixDetails(this.#rowCount);
    });
  }

  /** The sum of the hashes of all rows, a lane each. */
  sum(): { low: number; high: number } {
    if (this.#place === undefined) return sumLanes(this.lanes);
    return this.#ask(this.#place, ({ exports }) => {
      exports.laneSum(this.#rowCount);
      return { low: exports.laneLowSum.value, high: exports.laneHighSum.value };
    });
  }

  /** Ends it. */
  free(): void {
    free(this.#plain?.low, this.#plain?.high);
    if (this.#place === undefined) return;
    const { kernel, from, to } = this.#place;
    if (kernel.arena.end === to) kernel.arena.reset(from);
  }

  /** Asks the kernel; a failure has added a part, so it ends the sum and the kernel. */
  #ask<T>({ kernel, low, high }: Place, work: (kernel: LaneKernel) => T): T {
    try {
      kernel.exports.laneRows(this.#rowCount, low, high);
      return work(kernel);
    } catch (error) {
      if (ofThread?.kernel === kernel) ofThread = { kernel: undefined };
      throw error;
    }
  }
}
