import { Pace, type Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import { type Entries, type EntrySource, PIECE_ENTRIES } from '../../column/entries.ts';
import { type Bitmap, countRows, nextRow } from '../model/bitmap.ts';

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

/** How much of a piece of a dictionary is tested, when anything is. */
const IN_PART = 1;
const WHOLE = 2;

/** What a test said of a dictionary of a segment. */
interface Known {
  /** 1 for each entry + 1 that passed. */
  passes: Uint8Array;
  /** 0, IN_PART or WHOLE, by piece. */
  pieces: Uint8Array;
  /** Pieces that are not WHOLE. */
  openCount: number;
}

/** What a test said of dictionaries of segments, for the other blocks of them. */
interface Memory {
  dictionaries: WeakMap<EntrySource, Known>;
  bytes: number;
}

const memories = new WeakMap<object, Memory>();

/**
 * 1 for each entry + 1 of a column that passes and that a row of `rows` has; others mean nothing, but the first one is 0.
 * Not to be written. A piece of a segment's dictionary is tested whole when many of its entries are wanted, or again some:
 * so no entry is tested more often than twice, and few rows cost little. `owner`: what makes the test, always the same one.
 * `weight`: how many times as long a test takes as a comparison. Throws CORRUPTION.
 */
export function* entriesThatPass(
  column: StringColumn,
  rows: Bitmap,
  owner: object,
  test: EntryTest,
  weight = 1,
): Units<Uint8Array> {
  const { shared, ids } = column;
  const pace = new Pace();
  if (shared === undefined) {
    const passes = entriesWanted(column, rows);
    yield* testEntries(column, passes, 1, test, pace, weight);
    return passes;
  }
  const known = knownOf(owner, shared);
  if (known.openCount > 0) yield* decide(known, shared, ids, rows, test, pace, weight);
  return known.passes;
}

/** Tests what `rows` need of a dictionary and is not known yet. */
function* decide(
  known: Known,
  shared: EntrySource,
  ids: Uint32Array,
  rows: Bitmap,
  test: EntryTest,
  pace: Pace,
  weight: number,
): Units<void> {
  const { passes, pieces } = known;
  const wanted = new Uint8Array(passes.length);
  const wantedCounts = countWanted(ids, rows, pieces, wanted);
  for (let piece = 0; piece < pieces.length; piece++) {
    if (wantedCounts[piece] === 0) continue;
    const first = piece * PIECE_ENTRIES;
    const entries = shared.piece(first);
    const count = entries.offsets.length - 1;
    const isWhole = pieces[piece] === IN_PART || wantedCounts[piece] * WHOLE_RATIO >= count;
    for (let id = first + 1; id <= first + count; id++) passes[id] = isWhole ? 1 : wanted[id];
    yield* testEntries(entries, passes, first + 1, test, pace, weight);
    pieces[piece] = isWhole ? WHOLE : IN_PART;
    if (isWhole) known.openCount--;
  }
}

/** Puts 1 at each entry + 1 that a row has and is not known; how many there are, by piece. */
function countWanted(
  ids: Uint32Array,
  rows: Bitmap,
  pieces: Uint8Array,
  wanted: Uint8Array,
): Uint32Array {
  const counts = new Uint32Array(pieces.length);
  for (let word = 0; word < rows.length; word++) {
    const base = word << 5;
    for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
      const id = ids[base + 31 - Math.clz32(bits & -bits)];
      if (id === 0 || wanted[id] === 1) continue;
      const piece = (id - 1) >>> PIECE_SHIFT;
      if (pieces[piece] === WHOLE) continue;
      wanted[id] = 1;
      counts[piece]++;
    }
  }
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

function knownOf(owner: object, dictionary: EntrySource): Known {
  let memory = memories.get(owner);
  const found = memory?.dictionaries.get(dictionary);
  if (found !== undefined) return found;
  const pieceCount = Math.ceil(dictionary.entryCount / PIECE_ENTRIES);
  const known: Known = {
    passes: new Uint8Array(dictionary.entryCount + 1),
    pieces: new Uint8Array(pieceCount),
    openCount: pieceCount,
  };
  if (memory === undefined || memory.bytes + known.passes.length > PASSES_BYTES_MAX) {
    memory = { dictionaries: new WeakMap(), bytes: 0 };
    memories.set(owner, memory);
  }
  memory.dictionaries.set(dictionary, known);
  memory.bytes += known.passes.length;
  return known;
}

/** 1 for each entry + 1 that a row of `rows` may have, and 0 first. All entries when most rows are wanted. */
function entriesWanted(column: StringColumn, rows: Bitmap): Uint8Array {
  const wanted = new Uint8Array(column.entryCount + 1);
  if (countRows(rows) * SPARSE_RATIO >= column.ids.length) {
    wanted.fill(1, 1);
    return wanted;
  }
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    wanted[column.ids[row]] = 1;
  }
  wanted[0] = 0;
  return wanted;
}
