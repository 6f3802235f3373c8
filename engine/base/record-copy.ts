import { must } from './assert.ts';
import { claimFile, type Disk, type DiskFile, refuseForeign } from './file.ts';
import type { CopyState } from './record-copies.ts';

/** Suffix of a file that is to replace another. */
const TEMPORARY_SUFFIX = '.new';

/**
 * One copy of a record file: the file, and how much of it may be relied on. Owned by its record file.
 * A file whose sync failed is never synced again: it is stale from then on, and a fresh one takes its place.
 */
export class RecordCopy {
  readonly path: string;
  readonly #disk: Disk;
  #file: DiskFile | undefined;
  /** Set when the content is known to be on stable storage: a killed process may not have synced it. */
  #synced = false;
  state: CopyState = 'stale';

  /** Opens the file when it is there; makes none. One to be written is locked. Throws USAGE when another has it; IO. */
  constructor(disk: Disk, path: string, mode: 'write' | 'read') {
    this.#disk = disk;
    this.path = path;
    if (!disk.list(folderOf(path)).includes(nameOf(path))) return;
    const file = disk.open(path, mode);
    this.#file = file;
    if (mode === 'write') this.#claim(file, path);
  }

  /** All bytes, or the first `bytes`; `undefined` when there is no file. Throws IO. */
  read(bytes = Number.POSITIVE_INFINITY): Uint8Array | undefined {
    if (this.#file === undefined) return undefined;
    const content = new Uint8Array(Math.min(this.#file.bytes(), bytes));
    return content.subarray(0, this.#file.read(content, 0));
  }

  /**
   * Makes the first `bytes` durable and cuts the rest. Not for a stale copy. Rejects with IO, also when the path names
   * another file by now or this one was changed from outside.
   */
  async settle(bytes: number): Promise<void> {
    const file = must(this.#file, this.path);
    refuseForeign(file, this.path, this.state === 'tail' ? file.bytes() : bytes);
    if (this.state === 'tail') {
      await file.truncate(bytes);
      this.#synced = false;
    }
    if (!this.#synced) await this.#sync(file);
    this.state = 'whole';
  }

  /**
   * Writes behind the first `at` bytes, to which it was settled, and syncs; those are all that counts until the caller
   * says so. Rejects with IO.
   */
  async append(bytes: Uint8Array, at: number): Promise<void> {
    const file = must(this.#file, this.path);
    this.state = 'tail';
    await file.write([bytes], at);
    await this.#sync(file);
  }

  /**
   * Makes a file with `content` that takes this one's place; resolves when it is on stable storage. Rejects with IO;
   * then the unfinished file is removed if the disk allows it.
   */
  async prepare(content: Uint8Array): Promise<DiskFile> {
    const temporary = this.path + TEMPORARY_SUFFIX;
    if (this.#disk.list(folderOf(this.path)).includes(nameOf(temporary))) {
      await this.#disk.unlink(temporary);
    }
    const file = this.#disk.open(temporary, 'create');
    try {
      this.#claim(file, temporary);
      if (content.length === 0) return file;
      await file.write([content], 0);
      await file.sync();
      return file;
    } catch (error) {
      await this.discard(file);
      throw error;
    }
  }

  /** Lets go of a file that was prepared and is not wanted. */
  async discard(file: DiskFile): Promise<void> {
    file.close();
    await this.#disk.unlink(this.path + TEMPORARY_SUFFIX).catch(() => undefined);
  }

  /** Puts a file that was prepared in the place of this one. The caller syncs the folder. Rejects with IO. */
  async install(file: DiskFile): Promise<void> {
    if (this.#file !== undefined) refuseForeign(this.#file, this.path, this.#file.bytes());
    await this.#disk.rename(this.path + TEMPORARY_SUFFIX, this.path);
    this.#file?.close();
    this.#file = file;
    this.#synced = true;
    this.state = 'whole';
  }

  close(): void {
    this.#file?.close();
  }

  #claim(file: DiskFile, path: string): void {
    try {
      claimFile(file, path);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  async #sync(file: DiskFile): Promise<void> {
    try {
      await file.sync();
      this.#synced = true;
    } catch (error) {
      this.state = 'stale';
      throw error;
    }
  }
}

/** The folder that a path names something in. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
