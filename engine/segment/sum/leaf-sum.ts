import { type EntrySource, Scratch, type TextPiece } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { free } from '../../packed/growth.ts';
import type { DenseColumn, DenseStrings } from '../block/dense-column.ts';
import { HashLanes, mixHigh, mixLow, spread, wordsOf } from './row-hash.ts';
import type { LeafEntries, LeafWords, RowLanes } from './row-lanes.ts';
import { hashStrings } from './string-hash.ts';

type DenseOf<K extends Kind> = Extract<DenseColumn, { kind: K }>;

/** Hashes of the entries of a dictionary as values of one column, whose own hash is `columnLow` and `columnHigh`. */
interface SharedHashes {
  columnLow: number;
  columnHigh: number;
  hashes: HashLanes;
}

/** Hashes of a block, to which those of its leaves are added. */
export interface BlockHashes {
  segment: number;
  /** By row: the hash of its shape, and those of the leaves that were added. */
  rows: RowLanes;
  /** By column: its path and kind, hashed; the hash of each value begins with it. */
  columns: HashLanes;
  /** Event date of each row, epoch milliseconds. */
  timeMs: () => Float64Array;
}

/**
 * Adds the hash of each (path, kind, value) to that of its row. Values are hashed by what they say, however they are
 * encoded: strings and arrays by their bytes, once an entry of a dictionary; numbers by the digits that are printed,
 * dates by value and form.
 */
export class LeafSum {
  /** Of entries of a column. */
  readonly #entries = new HashLanes();
  /** Of the entries of the dictionaries of the sealed segment that was added last, by number. */
  readonly #shared = new Map<number, SharedHashes>();
  #segment = -1;
  readonly #scratch = new Scratch();

  /** Adds the column number `index`; of a text nothing, which is added by its pieces. Throws CORRUPTION. */
  addColumn(hashes: BlockHashes, index: number, dense: DenseColumn): void {
    if (dense.kind === Kind.NUMBER) this.#addNumbers(hashes, index, dense);
    else if (dense.kind === Kind.DATE) addDates(hashes, index, dense);
    else if (dense.kind === Kind.BOOLEAN) addBooleans(hashes, index, dense);
    else if (dense.pieceCount === 0) this.#addStrings(hashes, index, dense);
  }

  /** Adds a piece of the column number `index`, a text; `rows` has the row of each value of the text. */
  addPiece(
    { rows: sums, columns }: BlockHashes,
    index: number,
    rows: Uint32Array | undefined,
    piece: TextPiece,
  ): void {
    sums.addTexts({ piece, key: columns, index, rows });
  }

  #addNumbers(
    hashes: BlockHashes,
    index: number,
    { chunk, rows }: DenseOf<typeof Kind.NUMBER>,
  ): void {
    const { values, details, texts } = chunk.parts();
    let words = wordsOf(values);
    if (texts.size > 0) {
      words = words.slice();
      for (const rank of texts.keys()) words.fill(0, 2 * rank, 2 * rank + 2);
    }
    addWords(hashes, index, { words, details, rows });
    const { low: lows, high: highs } = hashes.rows.lanes;
    for (const [rank, text] of texts) {
      const bytes = Buffer.from(text, 'latin1');
      this.#entries.ensure(1);
      const string = { offsets: Uint32Array.of(0, bytes.length), bytes };
      hashStrings(string, hashes.columns, index, this.#entries, 0);
      const row = rows === undefined ? rank : rows[rank];
      lows[row] += this.#entries.low[0];
      highs[row] += this.#entries.high[0];
    }
  }

  #addStrings(hashes: BlockHashes, index: number, dense: DenseStrings): void {
    const { ids, rows } = dense;
    hashes.rows.addEntries({ ids, rows, ...this.#entryHashes(hashes, index, dense) });
  }

  #entryHashes(
    hashes: BlockHashes,
    index: number,
    dense: DenseStrings,
  ): Pick<LeafEntries, 'hashes' | 'entryCount'> {
    const { shared, dictionary } = dense;
    if (shared !== undefined) {
      const { entryCount } = shared;
      return { hashes: this.#sharedHashes(hashes, index, dictionary, shared), entryCount };
    }
    const strings = dense.entries();
    const entryCount = strings.offsets.length - 1;
    this.#entries.ensure(entryCount);
    hashStrings(strings, hashes.columns, index, this.#entries, 0);
    return { hashes: this.#entries, entryCount };
  }

  #sharedHashes(
    { segment, columns }: BlockHashes,
    index: number,
    dictionary: number,
    source: EntrySource,
  ): HashLanes {
    if (segment !== this.#segment) this.#shared.clear();
    this.#segment = segment;
    const columnLow = columns.low[index];
    const columnHigh = columns.high[index];
    const known = this.#shared.get(dictionary);
    if (known?.columnLow === columnLow && known.columnHigh === columnHigh) return known.hashes;
    const hashes = new HashLanes(source.entryCount);
    for (let first = 0; first < source.entryCount; ) {
      const piece = source.piece(first, this.#scratch);
      hashStrings(piece, columns, index, hashes, first);
      source.verifyHashes(first, piece);
      first += piece.offsets.length - 1;
    }
    this.#shared.set(dictionary, { columnLow, columnHigh, hashes });
    return hashes;
  }
}

function addDates(
  hashes: BlockHashes,
  index: number,
  { chunk, rows }: DenseOf<typeof Kind.DATE>,
): void {
  const timeMs = hashes.timeMs();
  let eventMs = timeMs;
  if (rows !== undefined) {
    eventMs = new Float64Array(rows.length);
    for (let at = 0; at < rows.length; at++) eventMs[at] = timeMs[rows[at]];
  }
  const { values, forms: details } = chunk.parts(eventMs);
  addWords(hashes, index, { words: wordsOf(values), details, rows });
  free(values, details, rows === undefined ? undefined : eventMs);
}

function addWords({ rows, columns }: BlockHashes, index: number, leaves: LeafWords): void {
  rows.addWords(columns.low[index], columns.high[index], leaves);
}

function addBooleans(
  { rows: sums, columns }: BlockHashes,
  index: number,
  { values, rows }: DenseOf<typeof Kind.BOOLEAN>,
): void {
  const { low: lows, high: highs } = sums.lanes;
  const columnLow = columns.low[index];
  const columnHigh = columns.high[index];
  for (let at = 0; at < values.length; at++) {
    const row = rows === undefined ? at : rows[at];
    lows[row] += spread(mixLow(columnLow, values[at]));
    highs[row] += spread(mixHigh(columnHigh, values[at]));
  }
}
