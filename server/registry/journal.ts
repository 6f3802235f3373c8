import { LINE_FEED } from '../../engine/base/ascii.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Disk } from '../../engine/base/file.ts';
import { copyPaths, type OpenedRecords, RecordFile } from '../../engine/base/record-file.ts';
import { readBytes } from '../../engine/base/text-file.ts';
import { withoutSteering } from '../safe-text.ts';

/** Path of the audit log. */
export const AUDIT_PATH = 'audit.log';

/** Path of the audit log before the present one. */
export const OLDER_AUDIT_PATH = 'audit.log.1';

/** Bytes of an audit log that another one follows: readers can write lines, and the disk is not theirs. */
const AUDIT_BYTES_MAX = 64 * 1_048_576;
/** Bytes at the end of the log in which the newest lines are looked for. */
const RECENT_BYTES = 1_048_576;

/** The caller of a change. */
export interface Asker {
  /** `admin-token`, `first start`. */
  readonly who: string;
  /** The address from which it was asked for. */
  readonly peer?: string;
}

/** One change as `audit.log` tells it. Never holds a key or a digest. */
export interface AuditLine extends Asker {
  /** When, ISO 8601 UTC. */
  at: string;
  /** Action: `create`, `change` or `delete`. */
  what: string;
  /** The resource that was changed, and its new state. */
  [which: string]: unknown;
}

/**
 * An append-only file of JSON lines. A line that a stop cut short is closed by the next open. A full one is renamed and
 * takes the place of the one that was full before. Rejects with IO.
 */
export class AuditLog {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #bytesMax: number;
  /** Set when its name is known to be on stable storage. */
  #named = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk, path: string, bytesMax = AUDIT_BYTES_MAX) {
    this.#disk = disk;
    this.#path = path;
    this.#bytesMax = bytesMax;
  }

  /** Adds a line behind those asked for before; resolves when it is on stable storage. */
  append(line: AuditLine): Promise<void> {
    const done = this.#last.then(() => this.#write(line));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #write(line: AuditLine): Promise<void> {
    const bytes = this.#disk.sizeOf(this.#path);
    const isFull = bytes !== undefined && bytes >= this.#bytesMax;
    if (isFull) await this.#disk.rename(this.#path, `${this.#path}.1`);
    if (isFull) this.#named = false;
    const exists = bytes !== undefined && !isFull;
    const file = this.#disk.open(this.#path, exists ? 'write' : 'create');
    try {
      const place = file.bytes();
      const last = new Uint8Array(1);
      const cut = place > 0 && file.read(last, place - 1) === 1 && last[0] !== LINE_FEED;
      const text = `${cut ? '\n' : ''}${withoutSteering(JSON.stringify(line))}\n`;
      await file.write([new TextEncoder().encode(text)], place);
      await file.sync();
    } finally {
      file.close();
    }
    if (!this.#named) await this.#disk.syncFolder('');
    this.#named = true;
  }
}

/** The newest `limit` lines of the audit log, the newest first; those that a stop cut short are left out. Throws IO. */
export function recentChanges(disk: Disk, limit: number): AuditLine[] {
  const lines = [OLDER_AUDIT_PATH, AUDIT_PATH].flatMap((path) => lastLines(disk, path));
  return lines
    .reverse()
    .flatMap((line) => parsedLine(line) ?? [])
    .slice(0, limit);
}

function lastLines(disk: Disk, path: string): string[] {
  const bytes = disk.sizeOf(path) ?? 0;
  if (bytes === 0) return [];
  const from = Math.max(0, bytes - RECENT_BYTES);
  const lines = new TextDecoder().decode(readBytes(disk, path, from)).split('\n');
  return lines.slice(from > 0 ? 1 : 0);
}

function parsedLine(line: string): AuditLine | undefined {
  try {
    return JSON.parse(line) as AuditLine;
  } catch {
    return undefined;
  }
}

/** The audit logs of a disk by path: journals of several registries write to one file, which has one writer. */
const auditLogs = new WeakMap<Disk, Map<string, AuditLog>>();

function auditLogAt(disk: Disk, path: string): AuditLog {
  const logs = auditLogs.get(disk) ?? new Map<string, AuditLog>();
  auditLogs.set(disk, logs);
  const log = logs.get(path) ?? new AuditLog(disk, path);
  logs.set(path, log);
  return log;
}

/** Adds a line to the audit log; resolves when it is on stable storage. Rejects with IO. */
export function appendAudit(disk: Disk, line: AuditLine): Promise<void> {
  return auditLogAt(disk, AUDIT_PATH).append(line);
}

/** A journal is rewritten when it has more records than this, and this many times those that are needed. */
const COMPACT_RECORDS_MIN = 1_000;
const COMPACT_RATIO = 4;

/**
 * Changes of a registry, each a record in a checksummed file and a line in the audit log.
 * The line goes first, so that no change is without one; a line may tell of a change that a stop prevented.
 */
export class Journal {
  /** Damage in one copy of the file that was healed from the other, a sentence each. */
  readonly healed: readonly string[];
  readonly #audit: AuditLog;
  readonly #file: RecordFile;
  /** Records of the file. */
  #count: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ file, records, remarks }: OpenedRecords, audit: AuditLog) {
    this.#file = file;
    this.#count = records.length;
    this.healed = remarks;
    this.#audit = audit;
  }

  /**
   * Replaces all records of the file by `records`, which mean the same, when they are few in comparison. Only before
   * the first change, or within `inTurn`. Without room for that the file stays as it is. Rejects with CLOSED.
   */
  async compact(records: readonly unknown[]): Promise<void> {
    const most = Math.max(COMPACT_RECORDS_MIN, COMPACT_RATIO * records.length);
    if (this.#count <= most) return;
    if (await this.#file.rewrite(records)) this.#count = records.length;
  }

  /**
   * Runs `work` when all work before it is over, so that what it checks still holds when it writes.
   * Rejects as `work` does; the next work runs nevertheless.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Writes a change; resolves when it is on stable storage. Only within `inTurn`. Rejects with IO. */
  async write(record: unknown, lines: readonly AuditLine[]): Promise<void> {
    for (const line of lines) await this.#audit.append(line);
    await this.#file.append(record);
    this.#count++;
  }

  /** Waits for the work that runs and lets go of the record file. */
  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}

/**
 * Opens the record file at `path` and the audit log: the records of the past, unchecked, and their journal. `mustExist`
 * says that there have been records. Rejects with CORRUPTION when there are none though there must be, or when one is
 * damaged in both copies; IO.
 */
export async function openJournal(
  disk: Disk,
  path: string,
  auditPath: string,
  mustExist: boolean,
): Promise<{ records: readonly unknown[]; journal: Journal }> {
  const opened = RecordFile.open(disk, path);
  if (mustExist && opened.records.length === 0) {
    await opened.file.close();
    throw new EngineError(
      'CORRUPTION',
      `${copyPaths(path).join(' and ')} are missing or empty, but the folder is not new: put one of them back from a backup`,
    );
  }
  await opened.file.settle();
  return { records: opened.records, journal: new Journal(opened, auditLogAt(disk, auditPath)) };
}
