import { must } from './assert.ts';
import { EngineError } from './errors.ts';
import { type Disk, type DiskFile, isDiskFull } from './file.ts';
import { frameRecord, packRecord } from './record.ts';
import { type CopyContent, type MergedRecords, mergeCopies } from './record-copies.ts';
import { folderOf, RecordCopy } from './record-copy.ts';

/** Suffix of the second copy. */
const COPY_SUFFIX = '.copy';

/** Result of `RecordFile.open`. */
export interface OpenedRecords {
  file: RecordFile;
  /** Records in their order. */
  records: unknown[];
  /** Damage in one copy that the other heals, a sentence each. */
  remarks: string[];
}

/** The paths of both copies of the record file at `path`, in the order in which they are written. */
export function copyPaths(path: string): [string, string] {
  return [path, path + COPY_SUFFIX];
}

/**
 * An append-only file of chained records, plain data each, kept as two copies. Owned by one thread.
 * Appends run one after the other, each written and synced in one copy before the other: so a stop tears the last
 * record of one copy at most, and damage in one is healed from the other. Source: FORMAT.md 6.
 */
export class RecordFile {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #copies: readonly RecordCopy[];
  #generation = 0;
  #count = 0;
  #bytes = 0;
  /** The checksum of the last record; of none the generation. */
  #last = 0;
  #settled = false;
  #closed = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk, path: string, copies: readonly RecordCopy[], merged: MergedRecords) {
    this.#disk = disk;
    this.#path = path;
    this.#copies = copies;
    this.#adopt(merged.generation, merged.records.length, merged.bytes.length, merged.last);
    for (const [place, copy] of copies.entries()) copy.state = must(merged.states[place], 'state');
  }

  /**
   * Reads both copies and opens those that are there; writes nothing and makes none before `settle` or an append.
   * Throws CORRUPTION when a record is damaged in both; USAGE when another process has a copy; IO.
   */
  static open(disk: Disk, path: string): OpenedRecords {
    const copies: RecordCopy[] = [];
    try {
      for (const each of copyPaths(path)) copies.push(new RecordCopy(disk, each, 'write'));
      const merged = readCopies(copies);
      const file = new RecordFile(disk, path, copies, merged);
      return { file, records: merged.records, remarks: merged.remarks };
    } catch (error) {
      for (const copy of copies) copy.close();
      throw error;
    }
  }

  /** Records that were read or appended. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all records that were read or appended, in one copy. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Makes what was read durable in both copies, before it is acted on: heals damage, cuts what a stop tore, makes a
   * copy that is not there. On a full disk one whole copy is enough until the next append. Rejects with IO.
   */
  settle(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#settled) return;
      await this.#level().catch((error) => {
        const hasWhole = this.#copies.some(({ state }) => state === 'whole');
        if (!hasWhole || !isDiskFull(error)) throw error;
      });
    });
  }

  /**
   * Appends a record; resolves when it is on stable storage in both copies. Reads `record` before it returns.
   * Rejects with IO: then the next append takes its place, and after a stop before that it may be there or not.
   */
  append(record: unknown): Promise<void> {
    const payload = packRecord(record);
    return this.#inTurn(async () => {
      await this.#level();
      const { bytes, checksum } = frameRecord(payload, this.#count, this.#last);
      for (const copy of this.#copies) await copy.append(bytes, this.#bytes);
      for (const copy of this.#copies) copy.state = 'whole';
      this.#adopt(this.#generation, this.#count + 1, this.#bytes + bytes.length, checksum);
    });
  }

  /**
   * Replaces all records by `records`, which mean the same: after a stop at any moment the old ones are there or the
   * new ones, whole. False when that could not be written, for want of room for instance; the file is as good as
   * before.
   */
  rewrite(records: readonly unknown[]): Promise<boolean> {
    const generation = this.#generation + 1;
    let last = generation;
    const chunks = records.map((record, number) => {
      const { bytes, checksum } = frameRecord(packRecord(record), number, last);
      last = checksum;
      return bytes;
    });
    const content = Uint8Array.from(Buffer.concat(chunks));
    return this.#inTurn(async () => {
      try {
        await this.#level();
        await this.#replace(this.#copies, content, () =>
          this.#adopt(generation, records.length, content.length, last),
        );
        return true;
      } catch (error) {
        if (error instanceof EngineError && error.code === 'IO') return false;
        throw error;
      }
    });
  }

  /** Waits for what runs and lets go of the files. */
  async close(): Promise<void> {
    await this.#queue;
    this.#closed = true;
    for (const copy of this.#copies) copy.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(async () => {
      if (this.#closed) throw new EngineError('CLOSED', `${this.#path} is closed`);
      return work();
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Brings both copies to the end that counts, durably: only then one of them may be torn again. */
  async #level(): Promise<void> {
    const isStale = (copy: RecordCopy): boolean => copy.state === 'stale';
    for (const copy of this.#copies) if (!isStale(copy)) await copy.settle(this.#bytes);
    const stale = this.#copies.filter(isStale);
    if (stale.length > 0) await this.#replace(stale, this.#whole());
    // Also when all is well: the process before may have stopped between making a file and syncing its name.
    else if (!this.#settled) await this.#disk.syncFolder(folderOf(this.#path));
    this.#settled = true;
  }

  /** Puts fresh files in the place of copies. `installed` is called when the first one is there. */
  async #replace(
    copies: readonly RecordCopy[],
    content: Uint8Array,
    installed: () => void = () => {},
  ): Promise<void> {
    const prepared: [RecordCopy, DiskFile][] = [];
    let isInstalled = false;
    try {
      for (const copy of copies) prepared.push([copy, await copy.prepare(content)]);
      for (let next = prepared[0]; next !== undefined; next = prepared[0]) {
        const [copy, file] = next;
        await copy.install(file);
        prepared.shift();
        if (!isInstalled) installed();
        isInstalled = true;
      }
      await this.#disk.syncFolder(folderOf(this.#path));
    } catch (error) {
      for (const [copy, file] of prepared) await copy.discard(file);
      // Fresh names may not last: the next attempt makes them again, with those that could not be made.
      if (isInstalled) for (const copy of copies) copy.state = 'stale';
      throw error;
    }
  }

  /** All records as they stand in a whole copy, from the copies. Throws IO when they do not hold them any more. */
  #whole(): Uint8Array {
    const merged = readCopies(this.#copies, this.#bytes);
    if (merged.bytes.length === this.#bytes && merged.last === this.#last) return merged.bytes;
    throw new EngineError('IO', `${this.#path}: no copy holds its ${this.#count} records any more`);
  }

  #adopt(generation: number, count: number, bytes: number, last: number): void {
    this.#generation = generation;
    this.#count = count;
    this.#bytes = bytes;
    this.#last = last;
  }
}

/** Reads both copies of the record file at `path` and changes nothing. Throws as `RecordFile.open`. */
export function readRecords(disk: Disk, path: string): Omit<OpenedRecords, 'file'> {
  const copies = copyPaths(path).map((each) => new RecordCopy(disk, each, 'read'));
  try {
    const { records, remarks } = readCopies(copies);
    return { records, remarks };
  } finally {
    for (const copy of copies) copy.close();
  }
}

/**
 * Puts the copies together as far as they can be read; `bytesMax` of each. Throws CORRUPTION, and IO when none can be
 * read.
 */
function readCopies(copies: readonly RecordCopy[], bytesMax?: number): MergedRecords {
  let failure: unknown;
  const contents = copies.map((copy): CopyContent => {
    try {
      const bytes = copy.read(bytesMax);
      return { path: copy.path, ...(bytes === undefined ? {} : { bytes }) };
    } catch (error) {
      failure = error;
      return { path: copy.path };
    }
  });
  const merged = mergeCopies(contents);
  // Without records nothing tells that the one which cannot be read has none either.
  if (failure !== undefined && merged.records.length === 0) throw failure;
  return merged;
}
