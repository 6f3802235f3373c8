import type { Scratch, TextPiece } from '../../column/entries.ts';
import type { Block } from '../block/block.ts';
import type { DenseColumn, DenseStrings } from '../block/dense-column.ts';
import type { BlockHashes, LeafSum } from './leaf-sum.ts';

/** The parts of a sum of rows that a block is added with. */
export interface BlockSumParts {
  hashes: BlockHashes;
  leaves: LeafSum;
  scratch: Scratch;
  /** Adds the rows, which have all of their leaves, to the sum. */
  end: () => void;
}

type Columns = Pick<Block, 'outlines' | 'dense' | 'forgetValues'>;

/** Shared by all columns of which nothing is left. */
const NOTHING = new Set<number>();

/** A block whose columns are added to a sum when they are read for the first time, so that they are decoded once. */
export class BlockSum {
  readonly #block: Columns;
  readonly #parts: BlockSumParts;
  /** By column, pieces of a text that are still to be added; undefined before it is read. */
  readonly #left: (Set<number> | undefined)[] = [];

  constructor(block: Columns, parts: BlockSumParts) {
    this.#block = block;
    this.#parts = parts;
  }

  /** The values of a column, as `Block.dense` gives them; a text is added piece by piece, as they are read. */
  dense(index: number): DenseColumn {
    const { hashes, leaves } = this.#parts;
    const dense = this.#block.dense(index);
    const pieceCount = 'ids' in dense ? dense.pieceCount : 0;
    if (this.#left[index] === undefined) {
      if (pieceCount === 0) leaves.addColumn(hashes, index, dense);
      this.#left[index] = pieceCount === 0 ? NOTHING : new Set(Array(pieceCount).keys());
    }
    if (!('ids' in dense) || pieceCount === 0) return dense;
    return { ...dense, piece: (number, scratch) => this.#piece(index, dense, number, scratch) };
  }

  /** Adds what was not read, then the rows. No values stay decoded. Throws CORRUPTION. */
  end(): void {
    for (let index = 0; index < this.#block.outlines.length; index++) {
      if (this.#left[index]?.size === 0) continue;
      const dense = this.dense(index);
      for (const number of this.#left[index] ?? []) {
        if ('ids' in dense) dense.piece(number, this.#parts.scratch);
      }
      this.#block.forgetValues();
    }
    this.#parts.end();
  }

  #piece(index: number, dense: DenseStrings, number: number, scratch?: Scratch): TextPiece {
    const { hashes, leaves } = this.#parts;
    const piece = dense.piece(number, scratch);
    if (this.#left[index]?.delete(number)) leaves.addPiece(hashes, index, dense.rows, piece);
    return piece;
  }
}
