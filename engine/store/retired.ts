import { assert } from '../base/assert.ts';
import type { Disk } from '../base/file.ts';
import { pathOfSegment } from './filename.ts';

/** A segment whose file is not needed any more. */
export interface GoneSegment {
  sealed: boolean;
  segment: number;
}

/** Files that the snapshots of one generation and of earlier ones may name. */
interface Retired {
  generation: number;
  files: readonly GoneSegment[];
}

/**
 * Files of segments that the manifest does not name any more, until no query reads a snapshot that names them.
 * Owned by the front thread. A file that cannot be unlinked is removed by the next start.
 */
export class RetiredFiles {
  readonly #disk: Disk;
  readonly #unlinked: (files: readonly GoneSegment[]) => void;
  readonly #failed: (error: unknown) => void;
  #generation = 0;
  /** Number of snapshots of each generation that are being read. */
  readonly #pins = new Map<number, number>();
  /** Retired segments in the order of their generations. */
  #waiting: Retired[] = [];
  #last: Promise<void> = Promise.resolve();

  /** `unlinked` is told of segments whose files are gone, `failed` why a file is still there. */
  constructor(
    disk: Disk,
    unlinked: (files: readonly GoneSegment[]) => void,
    failed: (error: unknown) => void,
  ) {
    this.#disk = disk;
    this.#unlinked = unlinked;
    this.#failed = failed;
  }

  /** Keeps all files that snapshots of this moment name; the function that is returned ends that, once. */
  pin(): () => void {
    const generation = this.#generation;
    this.#pins.set(generation, (this.#pins.get(generation) ?? 0) + 1);
    let pinned = true;
    return () => {
      if (!pinned) return;
      pinned = false;
      const count = this.#pins.get(generation) ?? 0;
      assert(count > 0, `generation ${generation} is pinned`);
      if (count > 1) this.#pins.set(generation, count - 1);
      else this.#pins.delete(generation);
      this.#unlinkFree();
    };
  }

  /** Unlinks files as soon as they may be. From this turn on no new snapshot names their segments. */
  retire(files: readonly GoneSegment[]): void {
    this.#waiting.push({ generation: this.#generation, files });
    this.#generation++;
    this.#unlinkFree();
  }

  /** Resolves when no file is being unlinked. */
  settled(): Promise<void> {
    return this.#last;
  }

  #unlinkFree(): void {
    const oldest = Math.min(...this.#pins.keys());
    const free = this.#waiting.filter(({ generation }) => generation < oldest);
    if (free.length === 0) return;
    this.#waiting = this.#waiting.filter(({ generation }) => generation >= oldest);
    const files = free.flatMap((retired) => retired.files);
    this.#last = this.#last.then(() => this.#unlink(files));
  }

  async #unlink(files: readonly GoneSegment[]): Promise<void> {
    const unlinked: GoneSegment[] = [];
    for (const file of files) {
      try {
        await this.#disk.unlink(pathOfSegment(file.sealed, file.segment));
        unlinked.push(file);
      } catch (error) {
        this.#failed(error);
      }
    }
    if (unlinked.length > 0) this.#unlinked(unlinked);
  }
}
