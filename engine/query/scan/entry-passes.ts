import { Pace, type Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import {
  type Entries,
  type EntrySource,
  PIECE_ENTRIES,
  type PossibleParts,
  Scratch,
  type Terms,
} from '../../column/entries.ts';
import type { TextSearch } from '../filter/automaton.ts';
import type { LiteralFinder } from '../filter/literal.ts';
import { FOUND, findInEach } from '../filter/search-kernel.ts';
import { type Bitmap, countRows, nextRow } from '../model/bitmap.ts';
import { isDamage } from '../model/source.ts';
import { piecesWith } from './entry-words.ts';
import { inStretches, type StretchWords } from './stretches.ts';

/** Pieces of a dictionary are tested at once when 1 in this many or those of a part may have what is looked for. */
const NARROW_RATIO = 8;
/** PIECE_ENTRIES is a power of two: the number of an entry's piece is this many bits shorter. */
const PIECE_SHIFT = Math.log2(PIECE_ENTRIES);
/** Only the entries of the wanted rows are looked at when these are fewer than 1 in this many. */
const SPARSE_RATIO = 4;
/** A piece of a dictionary is tested whole when more of its entries are wanted than 1 in this many. */
const WHOLE_RATIO = 8;
/** Bytes of text that are tested in about the time of an entry. */
const STEP_BYTES = 128;
/** Entries, and bytes of them, that are tested in a unit at most. */
const SLICE_ENTRIES = 1_024;
const SLICE_BYTES = 256 * 1024;
/** Memory of what is remembered for a test; beyond it all is forgotten. */
const PASSES_BYTES_MAX = 8 * 1024 * 1024;

/** Tests strings one after the other: leaves 1 in `passes[first + e]` where it is 1 and entry e passes, 0 elsewhere. */
export type EntryTest = (
  bytes: Uint8Array,
  offsets: Uint32Array,
  passes: Uint8Array,
  first: number,
) => void;

/** A test of strings, how many times as long one takes as a comparison, and the only text that passes. */
export interface WholeTest {
  test: EntryTest;
  weight: number;
  text: Uint8Array | undefined;
}

/** Maker of a test, always the same one. */
export interface TestOwner {
  /** Terms of all strings that pass. */
  readonly terms?: Terms;
  /** Finder of a literal in all strings that pass: it tests a piece in less time than it takes to read it. */
  readonly finder?: LiteralFinder | undefined;
  /** The same for an automaton. */
  readonly search?: TextSearch | undefined;
}

/**
 * Tests the entries where `passes` has a 1. With `search`, of what all entries that pass contain, the text is searched
 * as a whole where most are wanted, and only entries are tested in which something was found.
 */
export function testEach(
  { bytes, offsets }: Entries,
  passes: Uint8Array,
  first: number,
  search: TextSearch | undefined,
  test: (start: number, end: number) => boolean,
): void {
  const count = offsets.length - 1;
  if (search !== undefined && isDense(passes, first, count)) {
    const entries = { bytes, offsets };
    const found = findInEach(entries, search);
    if (found !== undefined) testFound(entries, passes, first, found, search.isExact, test);
    else if (search.finder !== undefined) searchEach(entries, passes, first, search.finder, test);
    else testAll(entries, passes, first, test);
    return;
  }
  testAll({ bytes, offsets }, passes, first, test);
}

function testAll(
  { offsets }: Entries,
  passes: Uint8Array,
  first: number,
  test: (start: number, end: number) => boolean,
): void {
  for (let entry = 0; entry < offsets.length - 1; entry++) {
    if (passes[first + entry] === 0) continue;
    passes[first + entry] = test(offsets[entry], offsets[entry + 1]) ? 1 : 0;
  }
}

/** Tests the entries of which `found` does not say all: with `isExact` those that are found pass. */
function testFound(
  { offsets }: Entries,
  passes: Uint8Array,
  first: number,
  found: Uint8Array,
  isExact: boolean,
  test: (start: number, end: number) => boolean,
): void {
  const count = offsets.length - 1;
  for (let entry = 0; entry < count; entry++) {
    const known = found[entry];
    if (known === 0) passes[first + entry] = 0;
    else if (passes[first + entry] !== 0 && (known !== FOUND || !isExact)) {
      passes[first + entry] = test(offsets[entry], offsets[entry + 1]) ? 1 : 0;
    }
  }
}

/**
 * Tests the entries in which something was found; a literal that was found at an entry's end may reach into the next
 * one.
 */
function searchEach(
  { bytes, offsets }: Entries,
  passes: Uint8Array,
  first: number,
  finder: LiteralFinder,
  test: (start: number, end: number) => boolean,
): void {
  const count = offsets.length - 1;
  const text = bytes.subarray(0, offsets[count]);
  for (let entry = 0; entry < count; entry++) {
    const found = finder.findIn(text, offsets[entry]);
    const foundEnd = found < 0 ? text.length : found;
    for (; entry < count && offsets[entry + 1] <= foundEnd; entry++) passes[first + entry] = 0;
    if (entry === count || passes[first + entry] === 0) continue;
    const end = offsets[entry + 1];
    const isFound = finder.decides ? found + finder.length <= end : test(offsets[entry], end);
    passes[first + entry] = isFound ? 1 : 0;
  }
}

/** True when more than half of `passes[first, first + count)` are 1. */
function isDense(passes: Uint8Array, first: number, count: number): boolean {
  let wanted = 0;
  for (let entry = first; entry < first + count; entry++) wanted += passes[entry];
  return wanted * 2 > count;
}

/** How much of a piece of a dictionary is tested, when anything is. */
const IN_PART = 1;
const WHOLE = 2;

/** Verdicts of a test on a dictionary of a segment. */
interface Known {
  /** 1 for each entry + 1 that passed. */
  passes: Uint8Array;
  /** 0, IN_PART or WHOLE, by piece. */
  pieces: Uint8Array;
  /** Pieces that are not WHOLE. */
  openCount: number;
  /** True when words leave so few pieces that these are tested at once. */
  isNarrow: boolean;
  /** True when a block was tested before. */
  isUsed: boolean;
  /** Entries that passed, when all pieces are WHOLE and that was asked. */
  found: Passes | undefined;
  scratch: Scratch;
}

/** The entries of a column that pass. */
export interface Passes {
  /**
   * 1 for each entry + 1 that passes and that a wanted row has; others mean nothing, but the first one is 0. Not to be
   * written.
   */
  passes: Uint8Array;
  /** The only entry + 1 of the dictionary that passes, 0 when none does; `undefined` when that is not known. */
  only?: number;
}

/** Verdicts of a test on dictionaries of segments, for the other blocks of them. */
interface Memory {
  dictionaries: WeakMap<EntrySource, Known>;
  bytes: number;
  /** For the piece that is tested. */
  scratch: Scratch;
}

const memories = new WeakMap<object, Memory>();

/**
 * The entries of a column that pass and that a row of `rows` has. From its second block on, most of whose rows are
 * wanted, a segment is looked through by its dictionary alone, so that one without the value costs no ids. A piece of a
 * segment's dictionary is tested whole when many of its entries are wanted, or again some: so no entry is tested more
 * often than twice, and few rows cost little. Pieces that have not what `owner` looks for are not read. `weight`: how
 * many times as long a test takes as a comparison. `text`: the only one that passes, which is looked up where most rows
 * are wanted, also in the entries of a block. Throws CORRUPTION.
 */
export function* entriesThatPass(
  column: StringColumn,
  rows: Bitmap,
  owner: TestOwner,
  test: EntryTest,
  weight = 1,
  text?: Uint8Array,
): Units<Passes> {
  const { shared } = column;
  const decided = shared && memories.get(owner)?.dictionaries.get(shared)?.found;
  if (decided !== undefined) return decided;
  const pace = new Pace();
  const { terms } = owner;
  let possible = terms && column.partsWith?.(terms);
  if (shared === undefined) {
    if (isMost(rows) && column.own !== undefined) {
      const equal = text && (yield* column.own.equalUnits(text));
      if (equal !== undefined) return passesOf(equal, column.entryCount);
      if (text === undefined && terms !== undefined) possible = yield* piecesWith(column, terms);
    }
    if (possible?.parts.includes(1) === false) return { passes: new Uint8Array(1), only: 0 };
    const passes = entriesWanted(column, rows);
    if (column.piece === undefined) yield* testEntries(column, passes, 1, test, pace, weight);
    else {
      const { scratch } = memoryOf(owner);
      for (let first = 0; first < column.entryCount; first += PIECE_ENTRIES) {
        const wanted = passes.subarray(first + 1, first + 1 + PIECE_ENTRIES);
        if (!mayHave(possible, first / PIECE_ENTRIES)) wanted.fill(0);
        if (!wanted.includes(1)) continue;
        yield* testEntries(column.piece(first, scratch), passes, first + 1, test, pace, weight);
      }
    }
    return { passes };
  }
  const known = knownOf(owner, shared, possible);
  if (known.isNarrow && known.openCount > 0) yield* decideAll(known, shared, test, pace, weight);
  if (known.openCount > 0 && isMost(rows)) {
    if (text !== undefined && !known.isUsed) yield* lookUp(known, shared, text);
    if (known.isUsed && known.openCount > 0) yield* decideAll(known, shared, test, pace, weight);
  }
  if (known.openCount > 0) {
    const isQuick = owner.finder !== undefined || owner.search?.automaton !== undefined;
    yield* decide(known, shared, column, rows, test, pace, weight, isQuick);
  }
  known.isUsed = true;
  if (known.openCount > 0) return { passes: known.passes };
  known.found ??= foundOf(known.passes);
  return known.found;
}

/**
 * Finds the entries of a dictionary that pass; `undefined` when a piece that is needed is damaged. The rest is as for
 * `entriesThatPass`.
 */
export function* entriesOfDictionary(
  shared: EntrySource,
  possible: PossibleParts | undefined,
  owner: TestOwner,
  { test, weight, text }: WholeTest,
): Units<Passes | undefined> {
  const known = knownOf(owner, shared, possible);
  if (known.openCount > 0 && !known.isNarrow && text !== undefined) {
    yield* lookUp(known, shared, text);
  }
  if (known.openCount > 0) yield* decideAll(known, shared, test, new Pace(), weight);
  known.isUsed = true;
  if (known.openCount > 0) return undefined;
  known.found ??= foundOf(known.passes);
  return known.found;
}

/** True when it is known by now that no entry of a dictionary passes the test of `owner`. */
export function passesNone(owner: object, dictionary: () => EntrySource | undefined): boolean {
  const memory = memories.get(owner);
  if (memory === undefined) return false;
  const shared = dictionary();
  const known = shared && memory.dictionaries.get(shared);
  return known?.found?.only === 0;
}

/** True when entries are looked for by as many rows that it does not matter which. */
export function isMost(rows: Bitmap): boolean {
  return countRows(rows) * SPARSE_RATIO >= rows.length << 5;
}

/** Passes of `entries`, which alone of `entryCount` ones do. */
function passesOf(entries: readonly number[], entryCount: number): Passes {
  if (entries.length === 0) return { passes: new Uint8Array(1), only: 0 };
  const passes = new Uint8Array(entryCount + 1);
  for (const entry of entries) passes[entry + 1] = 1;
  return { passes };
}

function foundOf(passes: Uint8Array): Passes {
  // Its search looks at many bytes at a time.
  const view = Buffer.from(passes.buffer, passes.byteOffset, passes.length);
  const only = view.indexOf(1);
  if (only < 0) return { passes, only: 0 };
  return view.indexOf(1, only + 1) < 0 ? { passes, only } : { passes };
}

/** Looks a text up that alone passes; nothing is known of a damaged dictionary then. */
function* lookUp(known: Known, shared: EntrySource, text: Uint8Array): Units<void> {
  try {
    const entry = yield* shared.findUnits(text);
    known.passes.fill(0);
    if (entry >= 0) known.passes[entry + 1] = 1;
    known.pieces.fill(WHOLE);
    known.openCount = 0;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
}

/**
 * Tests all of a dictionary that is not known yet, but pieces that are damaged: only blocks that need these are told.
 */
function* decideAll(
  known: Known,
  shared: EntrySource,
  test: EntryTest,
  pace: Pace,
  weight: number,
): Units<void> {
  const { passes, pieces } = known;
  for (let piece = 0; piece < pieces.length; piece++) {
    if (pieces[piece] === WHOLE) continue;
    const first = piece * PIECE_ENTRIES;
    const entries = pieceOf(shared, first, known.scratch);
    if (entries === undefined) continue;
    passes.fill(1, first + 1, first + entries.offsets.length);
    yield* testEntries(entries, passes, first + 1, test, pace, weight);
    pieces[piece] = WHOLE;
    known.openCount--;
  }
}

/** A piece of a dictionary; `undefined` when it is damaged. */
function pieceOf(shared: EntrySource, first: number, scratch: Scratch): Entries | undefined {
  try {
    return shared.piece(first, scratch);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Tests what `rows` need of a dictionary and is not known yet; pieces whole when that is quick. */
function* decide(
  known: Known,
  shared: EntrySource,
  column: StringColumn,
  rows: Bitmap,
  test: EntryTest,
  pace: Pace,
  weight: number,
  isQuick: boolean,
): Units<void> {
  const { passes, pieces } = known;
  const wanted = new Uint8Array(passes.length);
  const wantedCounts = countWanted(column, rows, pieces, wanted);
  for (let piece = 0; piece < pieces.length; piece++) {
    if (wantedCounts[piece] === 0) continue;
    const first = piece * PIECE_ENTRIES;
    const entries = shared.piece(first, known.scratch);
    const count = entries.offsets.length - 1;
    const isMost = wantedCounts[piece] * WHOLE_RATIO >= count;
    const isWhole = isQuick || isMost || pieces[piece] === IN_PART;
    for (let id = first + 1; id <= first + count; id++) passes[id] = isWhole ? 1 : wanted[id];
    yield* testEntries(entries, passes, first + 1, test, pace, weight);
    pieces[piece] = isWhole ? WHOLE : IN_PART;
    if (isWhole) known.openCount--;
  }
}

/** Puts 1 at each entry + 1 that a row has and is not known; how many there are, by piece. */
function countWanted(
  column: StringColumn,
  rows: Bitmap,
  pieces: Uint8Array,
  wanted: Uint8Array,
): Uint32Array {
  const counts = new Uint32Array(pieces.length);
  const count = (ids: Uint32Array, { first, end }: StretchWords): void => {
    for (let word = first; word < end; word++) {
      const base = (word - first) << 5;
      for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
        const id = ids[base + 31 - Math.clz32(bits & -bits)];
        if (id === 0 || wanted[id] === 1) continue;
        const piece = (id - 1) >>> PIECE_SHIFT;
        if (pieces[piece] === WHOLE) continue;
        wanted[id] = 1;
        counts[piece]++;
      }
    }
  };
  const isDone =
    column.idsFrom !== undefined && inStretches(rows, (from) => column.idsFrom?.(from), count);
  if (!isDone) count(column.ids, { first: 0, end: rows.length });
  return counts;
}

/** Tests entries where `passes` has a 1, a slice a unit; entry e is `passes[first + e]`. */
function* testEntries(
  { bytes, offsets }: Entries,
  passes: Uint8Array,
  first: number,
  test: EntryTest,
  pace: Pace,
  weight: number,
): Units<void> {
  const entriesMax = Math.ceil(SLICE_ENTRIES / weight);
  const bytesMax = SLICE_BYTES / weight;
  const count = offsets.length - 1;
  for (let from = 0; from < count; ) {
    const textEnd = offsets[from] + bytesMax;
    let to = from + 1;
    while (to < count && to - from < entriesMax && offsets[to] < textEnd) to++;
    test(bytes, offsets.subarray(from, to + 1), passes, first + from);
    const steps = to - from + Math.floor((offsets[to] - offsets[from]) / STEP_BYTES);
    if (pace.isFull(steps * weight)) yield;
    from = to;
  }
}

function memoryOf(owner: TestOwner): Memory {
  const known = memories.get(owner);
  if (known !== undefined) return known;
  const memory = { dictionaries: new WeakMap(), bytes: 0, scratch: new Scratch() };
  memories.set(owner, memory);
  return memory;
}

/** `possible`: the parts that may have what is looked for; all, when it is left out. */
function knownOf(owner: TestOwner, dictionary: EntrySource, possible?: PossibleParts): Known {
  const memory = memoryOf(owner);
  const found = memory.dictionaries.get(dictionary);
  if (found !== undefined) return found;
  const pieceCount = Math.ceil(dictionary.entryCount / PIECE_ENTRIES);
  const passesBytes = dictionary.entryCount + 1;
  if (memory.bytes + passesBytes > PASSES_BYTES_MAX) {
    memory.dictionaries = new WeakMap();
    memory.bytes = 0;
  }
  const known: Known = {
    passes: new Uint8Array(passesBytes),
    pieces: new Uint8Array(pieceCount),
    openCount: pieceCount,
    isNarrow: false,
    isUsed: false,
    found: undefined,
    scratch: memory.scratch,
  };
  if (possible !== undefined) narrow(known, possible);
  memory.dictionaries.set(dictionary, known);
  memory.bytes += passesBytes;
  return known;
}

/** True when a piece may have what is looked for; one that is in no part may. */
export function mayHave(possible: PossibleParts | undefined, piece: number): boolean {
  return possible?.parts[Math.floor(piece / possible.pieces)] !== 0;
}

/** Takes out the pieces that are not possible. */
function narrow(known: Known, possible: PossibleParts): void {
  const { pieces } = known;
  for (let piece = 0; piece < pieces.length; piece++) {
    if (mayHave(possible, piece)) continue;
    pieces[piece] = WHOLE;
    known.openCount--;
  }
  known.isNarrow = known.openCount <= Math.max(pieces.length / NARROW_RATIO, possible.pieces);
}

/** 1 for each entry + 1 that a row of `rows` may have, and 0 first. All entries when most rows are wanted. */
function entriesWanted(column: StringColumn, rows: Bitmap): Uint8Array {
  const { ids, entryCount } = column;
  const wanted = new Uint8Array(entryCount + 1);
  if (countRows(rows) * SPARSE_RATIO >= ids.length) {
    wanted.fill(1, 1);
    return wanted;
  }
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    wanted[ids[row]] = 1;
  }
  wanted[0] = 0;
  return wanted;
}
