import { Packr } from 'msgpackr';
import { assert, must } from './assert.ts';
import { checksum } from './checksum.ts';
import { EngineError } from './errors.ts';
import { claimFile, type Disk, type DiskFile, refuseForeign } from './file.ts';

const PREFIX_BYTES = 8;
const NUMBER_BYTES = 4;
/** What the name of a file ends in that is to take the place of another. */
const TEMPORARY_SUFFIX = '.new';

/** Bytes of a record's payload; more is refused, so that a damaged length is recognised as one. */
export const RECORD_BYTES_MAX = 1_048_576;

const packr = new Packr({ useRecords: false });

/** What `RecordFile.open` found: the records in their order, and bytes at the end that were not one. */
export interface OpenedRecords {
  file: RecordFile;
  records: unknown[];
  /** Bytes of a torn last record; they are cut by the next append. */
  cutBytes: number;
}

/**
 * An append-only file of checksummed records, plain data each. Owned by one thread.
 * Appends run one after the other, each synced before the next is written: so only the last record can be torn.
 * Source: FORMAT.md 6.
 */
export class RecordFile {
  readonly #path: string;
  readonly #file: DiskFile;
  #count: number;
  #bytes: number;
  /** Whether bytes lie behind the last good record. */
  #tail: boolean;
  /** Whether what was read is known to be on stable storage: a process that was killed may not have synced it. */
  #settled: boolean;
  #failure: EngineError | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(path: string, file: DiskFile, count: number, bytes: number, tail: boolean) {
    this.#path = path;
    this.#file = file;
    this.#count = count;
    this.#bytes = bytes;
    this.#tail = tail;
    this.#settled = count === 0;
  }

  /**
   * Opens the file, making it when it is not there. The caller syncs its folder.
   * Throws CORRUPTION when a bad record is followed by a good one; USAGE when another process has it; IO.
   */
  static open(disk: Disk, path: string): OpenedRecords {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const exists = disk.list(folderOf(path)).includes(name);
    const file = disk.open(path, exists ? 'write' : 'create');
    try {
      claimFile(file, path);
      const bytes = new Uint8Array(file.bytes());
      const whole = bytes.subarray(0, file.read(bytes, 0));
      const { records, goodBytes } = readRecords(whole, path);
      const cutBytes = whole.length - goodBytes;
      const opened = new RecordFile(path, file, records.length, goodBytes, cutBytes > 0);
      return { file: opened, records, cutBytes };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /**
   * Puts a file of `records` in the place of the one at `path`, in one step: whenever it stops, the old one is there
   * or the new one, whole. What is open at that path is the old one. Resolves with false when the new one could not be
   * written, as for want of room: then the old one stays. Rejects with IO when it is unknown which one a stop leaves.
   */
  static async replace(disk: Disk, path: string, records: readonly unknown[]): Promise<boolean> {
    const temporary = path + TEMPORARY_SUFFIX;
    const chunks = records.flatMap((record, number) => {
      const payload = packr.pack(record);
      assert(payload.length <= RECORD_BYTES_MAX, `record of ${payload.length} bytes`);
      return framed(number, Uint8Array.from(payload));
    });
    try {
      await writeWhole(disk, temporary, Buffer.concat(chunks));
      await disk.rename(temporary, path);
    } catch (error) {
      if (error instanceof EngineError && error.code === 'IO') return false;
      throw error;
    }
    await disk.syncFolder(folderOf(path));
    return true;
  }

  /** Bytes of all records that were read or appended. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Makes what was read durable, unless it is known to be: before it is acted on, and before anything is written
   * behind it. Rejects with IO.
   */
  async settle(): Promise<void> {
    if (this.#settled) return;
    await this.#file.sync();
    this.#settled = true;
  }

  /**
   * Appends a record; resolves when it is on stable storage. Reads `record` before it returns.
   * Rejects with IO; after a failed sync every later append rejects too, because nobody knows what the file holds.
   */
  append(record: unknown): Promise<void> {
    const payload = packr.pack(record);
    assert(payload.length <= RECORD_BYTES_MAX, `record of ${payload.length} bytes`);
    const done = this.#last.then(() => this.#write(Uint8Array.from(payload)));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Waits for the appends that run and lets go of the file. */
  async close(): Promise<void> {
    await this.#last;
    this.#file.close();
    this.#failure ??= new EngineError('CLOSED', `${this.#path} is closed`);
  }

  async #write(payload: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    // After a failed write nobody knows how long the file is.
    const bytes = this.#tail ? this.#file.bytes() : this.#bytes;
    refuseForeign(this.#file, this.#path, bytes);
    await this.settle();
    if (this.#tail) await this.#file.truncate(this.#bytes);
    this.#tail = true;
    await this.#file.write(framed(this.#count, payload), this.#bytes);
    try {
      await this.#file.sync();
    } catch (cause) {
      this.#failure = new EngineError('IO', `${this.#path} could not be synced earlier`, { cause });
      throw cause;
    }
    this.#tail = false;
    this.#count++;
    this.#bytes += PREFIX_BYTES + payload.length;
  }
}

/** What stands in the file for record `number`: its prefix and its payload. */
function framed(number: number, payload: Uint8Array): Uint8Array[] {
  const prefix = new Uint8Array(PREFIX_BYTES);
  const view = new DataView(prefix.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint32(4, recordChecksum(number, payload), true);
  return [prefix, payload];
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Makes a file of these bytes, in the place of what a stop left of an earlier one; resolves when they are synced. */
async function writeWhole(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (disk.list(folderOf(path)).includes(name)) await disk.unlink(path);
  const file = disk.open(path, 'create');
  try {
    await file.write([bytes], 0);
    await file.sync();
  } finally {
    file.close();
  }
}

/** Checksum of a record: its number makes a record worthless at another place. */
function recordChecksum(number: number, payload: Uint8Array): number {
  const bytes = new Uint8Array(NUMBER_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(0, number, true);
  bytes.set(payload, NUMBER_BYTES);
  return checksum(bytes);
}

/** The payload of record `number` when a good one stands at `at`. */
function payloadAt(bytes: Uint8Array, at: number, number: number): Uint8Array | undefined {
  if (bytes.length - at < PREFIX_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, PREFIX_BYTES);
  const length = view.getUint32(0, true);
  const start = at + PREFIX_BYTES;
  if (length === 0 || length > RECORD_BYTES_MAX || start + length > bytes.length) return undefined;
  const payload = bytes.subarray(start, start + length);
  return recordChecksum(number, payload) === view.getUint32(4, true) ? payload : undefined;
}

function readRecords(bytes: Uint8Array, path: string): { records: unknown[]; goodBytes: number } {
  const records: unknown[] = [];
  let at = 0;
  for (;;) {
    const payload = payloadAt(bytes, at, records.length);
    if (payload === undefined) break;
    records.push(packr.unpack(payload));
    at += PREFIX_BYTES + payload.length;
  }
  const good = findRecordAfter(bytes, at, records.length);
  if (good !== undefined) {
    throw new EngineError(
      'CORRUPTION',
      `${path}: record ${records.length} at ${at} is damaged, and good ones follow at ${good}`,
    );
  }
  return { records, goodBytes: at };
}

/** Offset of a good record behind a bad one with `number` at `from`, wherever it stands. */
function findRecordAfter(bytes: Uint8Array, from: number, number: number): number | undefined {
  for (let at = from + PREFIX_BYTES; at + PREFIX_BYTES < bytes.length; at++) {
    // A length of 1 MiB or less ends in two bytes that are nearly always 0 and seldom elsewhere.
    if (must(bytes[at + 3], 'byte') !== 0 || must(bytes[at + 2], 'byte') > 0x10) continue;
    const between = Math.floor((at - from) / PREFIX_BYTES);
    for (let next = number + 1; next <= number + between; next++) {
      if (payloadAt(bytes, at, next) !== undefined) return at;
    }
  }
  return undefined;
}
