import { randomBytes } from 'node:crypto';
import { Kind } from '../column/kind.ts';
import { leafKind, leafPath } from '../column/shape.ts';
import { Scratch } from '../column/string-chunk.ts';
import type { Block } from './block.ts';
import type { DenseColumn, DenseStrings } from './dense-column.ts';
import { HashLanes, hashStrings, highWord, mixHigh, mixLow, spread, wordsOf } from './row-hash.ts';

/** What is read of a block whose rows are summed. */
export type SummedBlock = Pick<
  Block,
  | 'ref'
  | 'rowCount'
  | 'timeMs'
  | 'receivedMs'
  | 'keys'
  | 'shapes'
  | 'paths'
  | 'outlines'
  | 'dense'
  | 'forgetValues'
>;

type DenseOf<K extends Kind> = Extract<DenseColumn, { kind: K }>;

/** Hashes of the entries of a dictionary as values of one column, whose own hash is `columnLow` and `columnHigh`. */
interface SharedHashes {
  columnLow: number;
  columnHigh: number;
  hashes: HashLanes;
}

/**
 * Sums rows, in any order, so that two sets of blocks can be compared: of each row a keyed hash of its sequence, its time,
 * its reception date, its writer, the order of its leaves (paths by their names, kinds; a null or an empty object is a leaf
 * and nothing else), and each (path, kind, value). Rows store nothing of the write key that they came with. Values are hashed
 * by what they say, however they are encoded: strings and arrays by their bytes, once an entry of a dictionary; numbers by
 * the digits that are printed, dates by value and form. Sums of one key are equal for equal rows, and for others with a
 * chance of 2^-64.
 */
export class RowSum {
  /** Rows that were added. */
  rowCount = 0;
  readonly #key: HashLanes;
  #low = 0;
  #high = 0;
  /** By row of the block that is added: the hash of its shape, then the sum of it and of the hashes of its leaves. */
  readonly #rows = new HashLanes();
  readonly #paths = new HashLanes();
  readonly #shapes = new HashLanes();
  /** Of entries of a column, or of a piece of a text. */
  readonly #entries = new HashLanes();
  readonly #scratch = new Scratch();
  /** Of the entries of the dictionaries of the sealed segment that is being added, by number. */
  readonly #shared = new Map<number, SharedHashes>();
  #segment = -1;
  /** Path and kind of the column that is added, hashed: the hash of each value begins with it. */
  readonly #column = new HashLanes(1);

  /** `key` has one pair; the sums that are to be compared have the same. */
  constructor(key: HashLanes) {
    this.#key = key;
  }

  /** Whether both have the same rows. */
  equals(other: RowSum): boolean {
    return (
      this.rowCount === other.rowCount && this.#low === other.#low && this.#high === other.#high
    );
  }

  /**
   * Adds all rows of a block, of which no values stay decoded; those of one sealed segment are best added one after the
   * other. Throws CORRUPTION.
   */
  add(block: SummedBlock): void {
    if (block.ref.segment !== this.#segment) this.#shared.clear();
    this.#segment = block.ref.segment;
    this.#rows.ensure(block.rowCount);
    this.#hashPaths(block);
    this.#beginRows(block);
    for (let index = 0; index < block.outlines.length; index++) {
      this.#addColumn(block, index);
      block.forgetValues();
    }
    this.#endRows(block);
    this.rowCount += block.rowCount;
  }

  /** Hashes each path by its names from the root. */
  #hashPaths({ paths: { parents, names } }: SummedBlock): void {
    const paths = this.#paths;
    paths.ensure(names.length);
    for (let path = 0; path < names.length; path++) {
      const bytes = names[path];
      const offsets = Uint32Array.of(0, bytes.length);
      const parent = parents[path];
      if (parent === 0) hashStrings({ offsets, bytes }, this.#key, 0, paths, path);
      else hashStrings({ offsets, bytes }, paths, parent - 1, paths, path);
    }
  }

  /** Gives each row the hash of its shape. */
  #beginRows(block: SummedBlock): void {
    const { shapes, ids } = block.shapes();
    const hashes = this.#shapes;
    hashes.ensure(shapes.count);
    for (let shape = 0; shape < shapes.count; shape++) {
      let low = this.#key.low[0];
      let high = this.#key.high[0];
      for (let at = shapes.starts[shape]; at < shapes.starts[shape + 1]; at++) {
        const path = leafPath(shapes.keys[at]);
        const kind = leafKind(shapes.keys[at]);
        low = mixLow(low, this.#paths.low[path] + kind);
        high = mixHigh(high, this.#paths.high[path] + kind);
      }
      hashes.low[shape] = spread(low);
      hashes.high[shape] = spread(high);
    }
    const { low: lows, high: highs } = this.#rows;
    for (let row = 0; row < ids.length; row++) {
      lows[row] = hashes.low[ids[row]];
      highs[row] = hashes.high[ids[row]];
    }
  }

  #addColumn(block: SummedBlock, index: number): void {
    const dense = block.dense(index);
    const { path } = block.outlines[index];
    this.#column.low[0] = spread(mixLow(this.#paths.low[path], dense.kind));
    this.#column.high[0] = spread(mixHigh(this.#paths.high[path], dense.kind));
    if (dense.kind === Kind.NUMBER) this.#addNumbers(dense);
    else if (dense.kind === Kind.DATE) this.#addDates(dense, block.timeMs());
    else if (dense.kind === Kind.BOOLEAN) this.#addBooleans(dense);
    else this.#addStrings(dense);
  }

  #addNumbers({ chunk, rows }: DenseOf<typeof Kind.NUMBER>): void {
    const { values, details, texts } = chunk.parts();
    for (const rank of texts.keys()) values[rank] = 0;
    this.#addWords(wordsOf(values), details, rows);
    for (const [rank, text] of texts) {
      const bytes = Buffer.from(text, 'latin1');
      this.#entries.ensure(1);
      const string = { offsets: Uint32Array.of(0, bytes.length), bytes };
      hashStrings(string, this.#column, 0, this.#entries, 0);
      this.#addEntry(0, rows === undefined ? rank : rows[rank]);
    }
  }

  #addDates({ chunk, rows }: DenseOf<typeof Kind.DATE>, timeMs: Float64Array): void {
    let eventMs = timeMs;
    if (rows !== undefined) {
      eventMs = new Float64Array(rows.length);
      for (let at = 0; at < rows.length; at++) eventMs[at] = timeMs[rows[at]];
    }
    this.#addWords(wordsOf(chunk.values(eventMs)), chunk.forms(), rows);
  }

  /** Adds values of 64 bits with what is said of each beside it. */
  #addWords(
    words: Int32Array,
    details: Uint16Array | Uint32Array,
    rows: Uint32Array | undefined,
  ): void {
    const { low: lows, high: highs } = this.#rows;
    const [columnLow] = this.#column.low;
    const [columnHigh] = this.#column.high;
    for (let at = 0; at < details.length; at++) {
      const row = rows === undefined ? at : rows[at];
      const first = words[2 * at];
      const second = highWord(words, at);
      const detail = details[at];
      lows[row] += spread(mixLow(mixLow(mixLow(columnLow, first), second), detail));
      highs[row] += spread(mixHigh(mixHigh(mixHigh(columnHigh, first), second), detail));
    }
  }

  #addBooleans({ values, rows }: DenseOf<typeof Kind.BOOLEAN>): void {
    const { low: lows, high: highs } = this.#rows;
    const [columnLow] = this.#column.low;
    const [columnHigh] = this.#column.high;
    for (let at = 0; at < values.length; at++) {
      const row = rows === undefined ? at : rows[at];
      lows[row] += spread(mixLow(columnLow, values[at]));
      highs[row] += spread(mixHigh(columnHigh, values[at]));
    }
  }

  #addStrings(dense: DenseStrings): void {
    const { ids, rows, shared } = dense;
    if (dense.pieceCount > 0) {
      this.#addText(dense);
      return;
    }
    const { low, high } =
      shared === undefined
        ? this.#entryHashes(dense)
        : this.#sharedHashes(dense.dictionary, shared);
    const { low: lows, high: highs } = this.#rows;
    for (let at = 0; at < ids.length; at++) {
      const row = rows === undefined ? at : rows[at];
      lows[row] += low[ids[at] - 1];
      highs[row] += high[ids[at] - 1];
    }
  }

  #addText({ pieceCount, piece, rows }: DenseStrings): void {
    for (let number = 0; number < pieceCount; number++) {
      const text = piece(number, this.#scratch);
      this.#entries.ensure(text.offsets.length);
      hashStrings(text, this.#column, 0, this.#entries, 0);
      for (let at = 0; at < text.offsets.length - 1; at++) {
        const value = text.first + at;
        this.#addEntry(at, rows === undefined ? value : rows[value]);
      }
    }
  }

  #addEntry(entry: number, row: number): void {
    this.#rows.low[row] += this.#entries.low[entry];
    this.#rows.high[row] += this.#entries.high[entry];
  }

  #entryHashes({ entries }: DenseStrings): HashLanes {
    const strings = entries();
    this.#entries.ensure(strings.offsets.length);
    hashStrings(strings, this.#column, 0, this.#entries, 0);
    return this.#entries;
  }

  #sharedHashes(dictionary: number, source: NonNullable<DenseStrings['shared']>): HashLanes {
    const [columnLow] = this.#column.low;
    const [columnHigh] = this.#column.high;
    const known = this.#shared.get(dictionary);
    if (known?.columnLow === columnLow && known.columnHigh === columnHigh) return known.hashes;
    const hashes = new HashLanes(source.entryCount);
    for (let first = 0; first < source.entryCount; ) {
      const piece = source.piece(first);
      hashStrings(piece, this.#column, 0, hashes, first);
      first += piece.offsets.length - 1;
    }
    this.#shared.set(dictionary, { columnLow, columnHigh, hashes });
    return hashes;
  }

  /** Adds to each row what it has beside its leaves, and each row to the sum. */
  #endRows(block: SummedBlock): void {
    const times = wordsOf(block.timeMs());
    const received = wordsOf(block.receivedMs());
    const { writers, sequences } = block.keys();
    const numbers = wordsOf(sequences);
    for (let row = 0; row < block.rowCount; row++) {
      const low = mixLow(mixLow(this.#rows.low[row], times[2 * row]), highWord(times, row));
      const high = mixHigh(mixHigh(this.#rows.high[row], times[2 * row]), highWord(times, row));
      this.#addRow(
        mixLow(mixLow(mixLow(low, received[2 * row]), highWord(received, row)), writers[row]),
        mixHigh(mixHigh(mixHigh(high, received[2 * row]), highWord(received, row)), writers[row]),
        numbers[2 * row],
        highWord(numbers, row),
      );
    }
  }

  #addRow(low: number, high: number, first: number, second: number): void {
    this.#low = (this.#low + spread(mixLow(mixLow(low, first), second))) | 0;
    this.#high = (this.#high + spread(mixHigh(mixHigh(high, first), second))) | 0;
  }
}

/** Two sums that may be compared with each other, of a random key of their own. */
export function rowSums(): { wanted: RowSum; found: RowSum } {
  const key = new HashLanes(1);
  const bytes = randomBytes(8);
  key.low[0] = bytes.readInt32LE(0);
  key.high[0] = bytes.readInt32LE(4);
  return { wanted: new RowSum(key), found: new RowSum(key) };
}
