import { EngineError } from '../../base/errors.ts';
import type { Disk } from '../../base/file.ts';
import { deriveKernel } from '../../derive/derive-kernel.ts';
import type { BlockRef } from '../frame.ts';
import type { SealedSegment } from '../sealed.ts';
import { SealedFile } from '../sealed-file.ts';
import { type RowSum, rowSums } from './row-sum.ts';

/** Compares the rows of new segments with those of their sources, both as a query would read them. */
export class Verification {
  readonly #sums: { wanted: RowSum; found: RowSum } = rowSums();
  readonly #pause: () => Promise<void>;

  /** `pause` is awaited between two blocks. */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** The sum of the rows of the sources. */
  get wanted(): RowSum {
    return this.#sums.wanted;
  }

  /**
   * Opens a new segment by its name, and adds its rows. Rejects with MISMATCH when it can't be read, with IO, and as
   * `pause`.
   */
  async find(disk: Disk, path: string, { segment, blocks }: SealedSegment): Promise<void> {
    const file = disk.open(path, 'read');
    try {
      const sealed = new SealedFile(file, segment);
      const footer = sealed.footer();
      if (!sameBlocks(footer.blocks, blocks)) mismatch(segment, 'other blocks');
      for (const place of footer.words) sealed.words(place).verify();
      for (const ref of blocks) {
        const block = sealed.open(ref);
        block.readWhole(deriveKernel());
        this.#sums.found.add(block);
        block.forget();
        await this.#pause();
      }
    } catch (cause) {
      if (!(cause instanceof EngineError && cause.code === 'CORRUPTION')) throw cause;
      throw new EngineError('MISMATCH', `a new segment cannot be read: ${cause.message}`, {
        cause,
      });
    } finally {
      deriveKernel()?.forget();
      file.close();
    }
  }

  /** Throws MISMATCH unless all rows that were wanted were found, and no others. */
  end(): void {
    const { wanted, found } = this.#sums;
    if (found.equals(wanted)) return;
    const rows = `${found.rowCount} rows of new segments, ${wanted.rowCount} of their sources`;
    throw new EngineError('MISMATCH', `${rows}: their sums differ`);
  }
}

function mismatch(segment: number, what: string): never {
  throw new EngineError('MISMATCH', `new segment ${segment}: ${what}`);
}

function sameBlocks(left: readonly BlockRef[], right: readonly BlockRef[]): boolean {
  if (left.length !== right.length) return false;
  return left.every((block, number) => {
    const other = right[number];
    return (
      block.offset === other.offset &&
      block.bytes === other.bytes &&
      block.ordinal === other.ordinal &&
      block.rowCount === other.rowCount &&
      block.minTimeMs === other.minTimeMs &&
      block.maxTimeMs === other.maxTimeMs
    );
  });
}
