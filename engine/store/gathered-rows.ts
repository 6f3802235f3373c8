import type { PathTable } from '../column/path.ts';
import type { Rows } from '../column/rows.ts';
import type { EncodedBlock } from '../segment/frame.ts';
import { OpenBlock } from './open-block.ts';

/**
 * Rows of one request that come piece by piece. They have blocks of their own: no other rows wait for the last piece,
 * and none is visible before. Owned by the thread of the writer that takes them.
 */
export class GatheredRows {
  readonly #open: OpenBlock;
  readonly #blocks: EncodedBlock[] = [];
  #rowCount = 0;

  /** `paths` is the table that the rows' paths are numbers of. */
  constructor(paths: PathTable) {
    this.#open = new OpenBlock(paths);
  }

  /** Rows so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Copies all rows of a piece. */
  add(rows: Rows): void {
    for (let row = 0; row < rows.rowCount; ) {
      row += this.#open.take(rows, row, 0);
      if (this.#open.isFull) this.#seal();
    }
    this.#rowCount += rows.rowCount;
  }

  /** All rows as blocks; no piece may be added any more. */
  end(): readonly EncodedBlock[] {
    this.#seal();
    this.#open.release();
    return this.#blocks;
  }

  #seal(): void {
    const sealed = this.#open.seal();
    if (sealed !== undefined) this.#blocks.push(sealed.block);
  }
}
