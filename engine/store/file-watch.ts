import type { Disk } from '../base/file.ts';
import type { BlockRef } from '../segment/frame.ts';
import type { OpenedCatalog } from './catalog.ts';
import { pathOfSegment } from './filename.ts';

/** Files examined in one tick; each costs a few microseconds. */
const FILES_A_TICK = 256;

/** A segment's file that has fewer bytes than were written to it, or that has them again. */
export interface FileChange {
  segment: number;
  path: string;
  lost: boolean;
  /** Bytes that it has; 0 when it is not there. */
  bytes: number;
  bytesWritten: number;
}

/** The expected state of a segment's file. */
interface Written {
  sealed: boolean;
  bytes: number;
  times: Pick<BlockRef, 'minTimeMs' | 'maxTimeMs'> | undefined;
}

/**
 * Checks, some files at a time, that the files of all segments are there with all their bytes, and marks the others in
 * the catalog. A file that is open in a reader, or counted without being read, would not show it otherwise. Owned by
 * the front thread. Source: FORMAT.md 5.
 */
export class FileWatch {
  readonly #disk: Disk;
  readonly #opened: OpenedCatalog;
  readonly #tell: (change: FileChange) => void;
  /** Segments that were marked because of their files' sizes alone: they are whole when the bytes are back. */
  readonly #short = new Set<number>();
  /** Segments whose files were short at the last check. */
  readonly #missing = new Set<number>();
  #rest: number[] = [];

  constructor(disk: Disk, opened: OpenedCatalog, tell: (change: FileChange) => void) {
    this.#disk = disk;
    this.#opened = opened;
    this.#tell = tell;
    const { catalog, manifest } = opened;
    for (const segment of manifest.sealed.keys()) {
      if (catalog.isDamaged(segment)) this.#short.add(segment);
    }
  }

  /** Segments whose files were found missing or cut so far. */
  get missingCount(): number {
    return this.#missing.size;
  }

  /**
   * Looks at the next files. To be called about once a second. Throws IO when the system does not tell their sizes.
   */
  tick(): void {
    if (this.#rest.length === 0) {
      const { segments, sealed } = this.#opened.manifest;
      this.#rest = [...segments.keys(), ...sealed.keys()];
    }
    for (const segment of this.#rest.splice(0, FILES_A_TICK)) this.#look(segment);
  }

  #look(segment: number): void {
    const written = this.#written(segment);
    if (written === undefined) {
      this.#short.delete(segment);
      this.#missing.delete(segment);
      return;
    }
    const { catalog } = this.#opened;
    const path = pathOfSegment(written.sealed, segment);
    const bytes = this.#disk.sizeOf(path) ?? 0;
    const lost = bytes < written.bytes;
    if (lost) this.#missing.add(segment);
    else this.#missing.delete(segment);
    if (lost === this.#short.has(segment)) return;
    // What was lost already when the segment was read is not back with the bytes.
    if (lost && catalog.isDamaged(segment)) return;
    if (lost) {
      this.#short.add(segment);
      catalog.markDamaged(segment, written.times);
    } else {
      this.#short.delete(segment);
      catalog.unmarkDamaged(segment);
    }
    this.#tell({ segment, path, lost, bytes, bytesWritten: written.bytes });
  }

  #written(segment: number): Written | undefined {
    const { manifest, catalog } = this.#opened;
    const sealed = manifest.sealed.get(segment);
    if (sealed !== undefined) return { sealed: true, bytes: sealed.bytes, times: sealed };
    const entry = manifest.segments.get(segment);
    if (entry === undefined) return undefined;
    const blocks = [...catalog.blocksOf(segment)];
    const end = blocks.reduce((most, { offset, bytes }) => Math.max(most, offset + bytes), 0);
    const times = blocks.length === 0 ? undefined : timesOf(blocks);
    return { sealed: false, bytes: entry.closed?.bytes ?? end, times };
  }
}

function timesOf(blocks: readonly BlockRef[]): Written['times'] {
  return {
    minTimeMs: blocks.reduce((least, block) => Math.min(least, block.minTimeMs), Infinity),
    maxTimeMs: blocks.reduce((most, block) => Math.max(most, block.maxTimeMs), -Infinity),
  };
}
