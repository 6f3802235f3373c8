import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { makeKernels } from '../kernel/kernel.ts';
import {
  type CellRows,
  type CellSums,
  type GroupedRows,
  LEVELS_MAX,
  type PackedPatches,
  type PackedSpan,
  type PackedSteps,
  type PackedValues,
  type Patches,
  type Spread,
  storedEnd,
  type Tallies,
  type Tally,
} from './cells.ts';

/** Functions of packed.as.ts, unpack.as.ts and tally.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  packedBegin(): number;
  packedPlace(number: number): number;
  packedPatch(count: number): void;
  packedPatchPlaces(count: number, width: number, first: number, step: number): number;
  packedPatchHighs(count: number, width: number, base: number, shift: number): void;
  packedUnpack(count: number, width: number, base: number): number;
  packedOpen(greatest: number): void;
  packedTally(from: number, to: number): number;
  packedTallied(number: number): number;
  packedSpread(from: number, to: number): number;
  packedSpreadRanks(): number;
  packedRanks(number: number): number;
  packedFind(count: number, width: number, first: number, last: number): void;
  packedCountRuns(runCount: number): void;
  packedChoose(count: number, width: number, last: number): number;
  packedRuns(runCount: number): void;
  packedAdd(count: number, width: number, last: number): void;
  packedMultiply(count: number, width: number, last: number, step: number): void;
  packedCount(rowCount: number, cellCount: number): void;
  packedPairs(rowCount: number): number;
  packedSum(rowCount: number, width: number, cellCount: number, withBounds: boolean): void;
}

/** Numbers of `packedPlace`. */
const Place = {
  PACKED: 0,
  BITS: 1,
  TABLE: 2,
  COUNT: 3,
  SUM: 4,
  RUN_END: 5,
  RUN_CELL: 6,
  GROUP: 7,
  PAIR_ROW: 8,
  PAIR_GROUP: 9,
  CODES: 10,
  CELLS: 11,
  SUMS: 12,
  CELL: 13,
  LEAST: 14,
  GREATEST: 15,
  PATCH_PLACE: 16,
  PATCH_HIGH: 17,
} as const;

const WORD_BITS = 32;
/** Words of the bits of a group of rows. */
const GROUP_WORDS = 4;
const WORD_BYTES = 4;
/**
 * The kernel of packed.as.ts with its memory. Does what plain-cells.ts does, and gives views of its memory, which are
 * good until it is used again. Owned by one thread.
 */
export class PackedKernel {
  readonly #exports: Exports;
  readonly #packed: Uint32Array;
  readonly #cell: Uint32Array;
  readonly #bits: Uint32Array;
  readonly #table: Uint32Array;
  readonly #chosen: Uint8Array;
  readonly #count: Uint32Array;
  readonly #sums: Float64Array;
  readonly #least: Uint32Array;
  readonly #greatest: Uint32Array;
  readonly #runEnd: Uint32Array;
  readonly #runCell: Uint32Array;
  readonly #group: Uint32Array;
  readonly #pairRow: Uint32Array;
  readonly #pairGroup: Uint32Array;
  readonly #patchPlace: Uint32Array;
  readonly #patchHigh: Uint32Array;
  readonly #codesMax: number;
  readonly #cellsMax: number;
  readonly #sumsMax: number;
  readonly #rank: Uint16Array;
  readonly #tally: Tally;
  readonly #spread: Spread;
  /** The ranks that are in its memory. */
  #ranks: Uint16Array | undefined;
  /** The rows whose cells and bits are in its memory. */
  #placed: CellRows | undefined;

  private constructor(exports: Exports) {
    this.#exports = exports;
    const words = (place: number): Uint32Array =>
      new Uint32Array(exports.memory.buffer, exports.packedPlace(place));
    this.#packed = words(Place.PACKED);
    this.#cell = words(Place.CELL);
    this.#bits = words(Place.BITS);
    this.#table = words(Place.TABLE);
    this.#chosen = new Uint8Array(exports.memory.buffer, exports.packedPlace(Place.TABLE));
    this.#count = words(Place.COUNT);
    this.#sums = new Float64Array(exports.memory.buffer, exports.packedPlace(Place.SUM));
    this.#least = words(Place.LEAST);
    this.#greatest = words(Place.GREATEST);
    this.#runEnd = words(Place.RUN_END);
    this.#runCell = words(Place.RUN_CELL);
    this.#group = words(Place.GROUP);
    this.#pairRow = words(Place.PAIR_ROW);
    this.#pairGroup = words(Place.PAIR_GROUP);
    this.#patchPlace = words(Place.PATCH_PLACE);
    this.#patchHigh = words(Place.PATCH_HIGH);
    this.#rank = new Uint16Array(exports.memory.buffer, exports.packedRanks(0));
    const spread = new Uint32Array(exports.memory.buffer, exports.packedRanks(1));
    const facts = { rowCount: 0, total: 0, least: 0, greatest: 0 };
    this.#tally = { codes: this.#runCell, codeCount: 0, times: this.#count, ...facts };
    this.#spread = { counts: spread, rankCount: () => exports.packedSpreadRanks(), ...facts };
    this.#codesMax = exports.packedPlace(Place.CODES);
    this.#cellsMax = exports.packedPlace(Place.CELLS);
    this.#sumsMax = exports.packedPlace(Place.SUMS);
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): PackedKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.packedBegin() === 0) return undefined;
    return new PackedKernel(exports);
  }

  /** The stored numbers from `first` to `last`, without their base: a bit for each, in a new array. */
  find(values: PackedValues, first: number, last: number): Uint32Array {
    const { count, width } = values;
    this.#placed = undefined;
    this.#take(values);
    this.#exports.packedFind(count, width, first, last);
    return this.#found(count);
  }

  /** As `countSpan`. */
  countRuns({ values, first, last }: PackedSpan, ends: Uint32Array, runCount: number): Uint32Array {
    const { count, width } = values;
    this.#placed = undefined;
    this.#take(values);
    this.#exports.packedFind(count, width, first, last);
    for (let run = 0; run < runCount; run++) this.#runEnd[run] = ends[run];
    this.#exports.packedCountRuns(runCount);
    return this.#count.subarray(0, runCount);
  }

  /** As `chooseValues`; `undefined` too when there is no room for what is chosen. */
  choose(values: PackedValues, chosen: Uint8Array): Uint32Array | undefined {
    const { count, width, base } = values;
    const last = Math.min(chosen.length - base, storedEnd(values)) - 1;
    if (last < 0 || last >= this.#codesMax * WORD_BYTES) return undefined;
    this.#placed = undefined;
    this.#take(values);
    this.#chosen.set(chosen.subarray(base, base + last + 1));
    const greatest = this.#exports.packedChoose(count, width, last) >>> 0;
    return greatest <= last ? this.#found(count) : undefined;
  }

  /** The numbers, each with its base, until the next question; `undefined` when one is above `last`. */
  unpack(values: PackedValues, last: number): Uint32Array | undefined {
    const { count, width, base } = values;
    this.#placed = undefined;
    this.#take(values);
    const greatest = this.#exports.packedUnpack(count, width, base) >>> 0;
    return greatest <= last ? this.#cell.subarray(0, count) : undefined;
  }

  /** The last of ascending numbers, or one that no row has: they are taken for the places of patches. */
  lastOf({ words, count, width, base, step }: PackedSteps): number {
    this.#packed.set(words);
    return this.#exports.packedPatchPlaces(count, width, base, step);
  }

  /** True when it has room for the cells and codes. */
  takes({ rowCount, levels, cellCount }: CellRows): boolean {
    return (
      cellCount <= this.#cellsMax &&
      rowCount <= BLOCK_ROWS_MAX &&
      levels.length <= LEVELS_MAX &&
      levels.every(({ digits }) => digits === undefined || digits.length <= this.#codesMax)
    );
  }

  /** As `takes`, for sums. */
  takesSums(cells: CellRows): boolean {
    return cells.cellCount <= this.#sumsMax && this.takes(cells);
  }

  /** As `countCells`. */
  count(cells: CellRows): Uint32Array {
    this.#place(cells);
    const { rowCount, cellCount } = cells;
    this.#exports.packedCount(rowCount, cellCount);
    return this.#count.subarray(0, cellCount);
  }

  /** As `groupCells`. */
  group(cells: CellRows, groups: Uint32Array): GroupedRows {
    this.#place(cells);
    this.#group.set(groups);
    const count = this.#exports.packedPairs(cells.rowCount);
    return { count, rows: this.#pairRow, groups: this.#pairGroup };
  }

  /** As `sumCells`. */
  sum(cells: CellRows, numbers: PackedValues, withBounds: boolean): CellSums {
    this.#place(cells);
    const { rowCount, cellCount } = cells;
    this.#take(numbers);
    this.#exports.packedSum(rowCount, numbers.width, cellCount, withBounds);
    return {
      counts: this.#count.subarray(0, cellCount),
      sums: this.#sums.subarray(0, cellCount),
      least: this.#least.subarray(0, cellCount),
      greatest: this.#greatest.subarray(0, cellCount),
    };
  }

  /** Tallies of the rows of the bits; `undefined` when codes are above `last`. */
  tallies(values: PackedValues, rows: Uint32Array, last: number): Tallies | undefined {
    const { count, width, base } = values;
    this.#placed = undefined;
    this.#take(values);
    const greatest = this.#exports.packedUnpack(count, width, base) >>> 0;
    if (greatest > last) return undefined;
    this.#bits.set(rows);
    this.#exports.packedOpen(greatest);
    return this.#tallies;
  }

  readonly #tallies: Tallies = {
    tally: (from, to) => {
      const tally = this.#tally;
      tally.codeCount = this.#exports.packedTally(from, to);
      this.#sumUp(tally);
      return tally;
    },
    spread: (from, to, ranks) => {
      if (this.#ranks !== ranks) this.#rank.set(ranks);
      this.#ranks = ranks;
      this.#exports.packedSpread(from, to);
      this.#sumUp(this.#spread);
      return this.#spread;
    },
  };

  #sumUp(of: Tally | Spread): void {
    const { packedTallied } = this.#exports;
    of.total = packedTallied(0);
    of.rowCount = packedTallied(1);
    of.least = packedTallied(2);
    of.greatest = packedTallied(3);
  }

  /** Puts packed values into the memory, with their patches. */
  #take({ words, patches }: PackedValues): void {
    const packed = patches?.packed;
    let patchCount = 0;
    if (packed !== undefined) patchCount = this.#takePacked(packed);
    else if (patches !== undefined) patchCount = this.#takePlain(patches);
    this.#packed.set(words);
    this.#exports.packedPatch(patchCount);
  }

  #takePlain({ places, highs }: Patches): number {
    this.#patchPlace.set(places);
    this.#patchHigh.set(highs);
    return places.length;
  }

  #takePacked({ places, highs, shift }: PackedPatches): number {
    this.lastOf(places);
    this.#packed.set(highs.words);
    this.#exports.packedPatchHighs(highs.count, highs.width, highs.base, shift);
    return places.count;
  }

  /** The bits of the first `count` rows, in a new array. */
  #found(count: number): Uint32Array {
    const found = this.#bits.slice(0, Math.ceil(count / WORD_BITS));
    const excess = count % WORD_BITS;
    if (excess !== 0) found[found.length - 1] &= (1 << excess) - 1;
    return found;
  }

  /** Puts the cells of the rows that count into the memory, and the bits of these, unless they are there. */
  #place(cells: CellRows): void {
    if (this.#placed === cells) return;
    const { rowCount, rows, runs, levels } = cells;
    this.#bits.set(rows);
    // A group of rows is looked at whole.
    this.#bits.fill(0, rows.length, Math.ceil(rows.length / GROUP_WORDS) * GROUP_WORDS);
    if (runs === undefined) {
      this.#runEnd[0] = rowCount;
      this.#runCell[0] = 0;
    } else {
      this.#runEnd.set(runs.ends.subarray(0, runs.count));
      this.#runCell.set(runs.cells.subarray(0, runs.count));
    }
    this.#exports.packedRuns(runs?.count ?? 1);
    let step = 1;
    for (const { codes, digits, size } of levels) {
      const { count, width } = codes;
      this.#take(codes);
      if (digits === undefined) this.#exports.packedMultiply(count, width, size - 1, step);
      else {
        for (let code = 0; code < digits.length; code++) this.#table[code] = digits[code] * step;
        this.#exports.packedAdd(count, width, digits.length - 1);
      }
      step *= size;
    }
    this.#placed = cells;
  }
}
