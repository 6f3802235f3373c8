import { randomBytes } from 'node:crypto';
import { Scratch } from '../../column/entries.ts';
import { leafKind, leafPath } from '../../column/shape.ts';
import type { Block } from '../block/block.ts';
import { BlockSum } from './block-sum.ts';
import { LeafSum } from './leaf-sum.ts';
import { HashLanes, mixHigh, mixLow, spread, wordsOf } from './row-hash.ts';
import { RowLanes } from './row-lanes.ts';
import { hashStrings } from './string-hash.ts';

/** Parts of a block that are read when its rows are summed. */
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

/**
 * Sums rows, in any order, so that two sets of blocks can be compared: of each row a keyed hash of its sequence, its
 * time, its reception date, its writer, the order of its leaves (paths by their names, kinds; a null or an empty object
 * is a leaf and nothing else), and each (path, kind, value); see `LeafSum`. Rows store nothing of the write key that
 * they came with. Sums of one key are equal for equal rows, and for others with a chance of 2^-64.
 */
export class RowSum {
  /** Rows that were added. */
  rowCount = 0;
  readonly #key: HashLanes;
  #low = 0;
  #high = 0;
  readonly #leaves = new LeafSum();
  readonly #paths = new HashLanes();
  readonly #shapes = new HashLanes();
  readonly #scratch = new Scratch();

  /** `key` has one pair; the sums that are to be compared have the same. */
  constructor(key: HashLanes) {
    this.#key = key;
  }

  /** True when both have the same rows. */
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
    this.begin(block).end();
  }

  /** Begins to add a block, which its `end` does. Throws CORRUPTION. */
  begin(block: SummedBlock): BlockSum {
    this.#hashPaths(block);
    const rows = this.#hashShapes(block);
    const columns = new HashLanes(block.outlines.length);
    for (const [index, { path, kind }] of block.outlines.entries()) {
      columns.low[index] = spread(mixLow(this.#paths.low[path], kind));
      columns.high[index] = spread(mixHigh(this.#paths.high[path], kind));
    }
    return new BlockSum(block, {
      hashes: { segment: block.ref.segment, rows, columns, timeMs: () => block.timeMs() },
      leaves: this.#leaves,
      scratch: this.#scratch,
      end: () => {
        this.#addRows(block, rows);
        rows.free();
        this.rowCount += block.rowCount;
      },
    });
  }

  /** Hashes each path by its names from the root. */
  #hashPaths({ paths: { parents, names } }: SummedBlock): void {
    const paths = this.#paths;
    paths.ensure(names.length);
    const offsets = new Uint32Array(2);
    for (let path = 0; path < names.length; path++) {
      const bytes = names.at(path);
      offsets[1] = bytes.length;
      const parent = parents[path];
      if (parent === 0) hashStrings({ offsets, bytes }, this.#key, 0, paths, path);
      else hashStrings({ offsets, bytes }, paths, parent - 1, paths, path);
    }
  }

  /** The hash of each row's shape. */
  #hashShapes(block: SummedBlock): RowLanes {
    const { shapes, ids } = block.shapes();
    const { count, starts, keys } = shapes;
    const { low: lows, high: highs } = this.#paths;
    const hashes = this.#shapes;
    hashes.ensure(count);
    for (let shape = 0; shape < count; shape++) {
      let low = this.#key.low[0];
      let high = this.#key.high[0];
      for (let at = starts[shape], end = starts[shape + 1]; at < end; at++) {
        const key = keys[at];
        const path = leafPath(key);
        const kind = leafKind(key);
        low = mixLow(low, lows[path] + kind);
        high = mixHigh(high, highs[path] + kind);
      }
      hashes.low[shape] = spread(low);
      hashes.high[shape] = spread(high);
    }
    const rows = new RowLanes(ids.length);
    const { low, high } = rows.lanes;
    for (let row = 0; row < ids.length; row++) {
      low[row] = hashes.low[ids[row]];
      high[row] = hashes.high[ids[row]];
    }
    return rows;
  }

  /** Adds to each row what it has beside its leaves, and each row to the sum. */
  #addRows(block: SummedBlock, rows: RowLanes): void {
    const times = wordsOf(block.timeMs());
    const received = wordsOf(block.receivedMs());
    const { writers, sequences } = block.keys();
    const numbers = wordsOf(sequences);
    rows.mixWords(times);
    rows.mixWords(received);
    rows.mixDetails(writers);
    rows.mixWords(numbers);
    const { low, high } = rows.sum();
    this.#low = (this.#low + low) | 0;
    this.#high = (this.#high + high) | 0;
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
