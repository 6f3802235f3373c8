import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Disk } from '../../engine/base/file.ts';
import { digestName, digestNameOf, digestOf, KEY_CHARACTERS, makeId, makeKey } from './digest.ts';
import { type Asker, AUDIT_PATH, type AuditLine, type Journal, openJournal } from './journal.ts';
import {
  checkName,
  checkQuota,
  FILTER_CHARACTERS_MAX,
  type KeyEntry,
  type KeyKind,
  type KeyRecord,
  MEGABYTE_BYTES,
  type Quota,
  readEntries,
} from './key-record.ts';
import type { KeyTable } from './key-table.ts';
import { WRITE_KEY_PATH, writeSecret } from './secret.ts';
import { CELLS_MAX, dayOf, NO_QUOTA, type UsageCells } from './usage.ts';
import { VerifiedKeys } from './verified-keys.ts';

/** Write keys, and read keys, that may exist at once. */
export const KEYS_MAX = 4_096;

/** Name of the keys that the first start makes. */
export const FIRST_KEY_NAME = 'default';

/** Path of the record file. */
export const KEYS_PATH = 'keys';

const encoder = new TextEncoder();

const FIRST_START: Asker = { who: 'first start' };

/** A key in memory: its record and, of a write key, the cell of its usage (otherwise -1). */
export interface Key extends Readonly<KeyRecord> {
  readonly cell: number;
}

/** Fields of a key to be made. */
export interface NewKey {
  kind: KeyKind;
  name: string;
  enabled?: boolean;
  quota?: Quota;
  filter?: string;
  filterIds?: readonly string[];
}

/** Changes of a key; `null` takes a quota or a filter away. */
export interface KeyChange {
  name?: string;
  enabled?: boolean;
  quota?: Quota | null;
  filter?: string | null;
  /** Ids in the new filter. */
  filterIds?: readonly string[];
}

/** Dependencies of the keys. `planLimitMb` is the daily plan limit, for quotas in percent. */
export interface KeysOptions {
  disk: Disk;
  cells: UsageCells;
  planLimitMb: number | undefined;
  nowMs: () => number;
  /** Set when the file was made before. An empty file is then refused. */
  mustExist?: boolean;
}

/**
 * The write and read keys of the service, in memory and in the file `keys`. Owned by the front thread.
 * A change is durable first, then in force for all threads: on and off and quotas through the cells at once, new keys
 * when the workers have the next `table()`. Methods reject with USAGE when what is asked is not allowed, LIMIT beyond
 * KEYS_MAX, IO when the change cannot be written; then it is not in force, and the next start decides from the file.
 */
export class Keys {
  readonly #options: KeysOptions;
  readonly #journal: Journal;
  readonly #byId = new Map<string, Key>();
  readonly #byDigest = new Map<string, Key>();
  readonly #verified = new VerifiedKeys<Key>();
  /** The text that is looked up. */
  readonly #text = new Uint8Array(KEY_CHARACTERS);
  readonly #freeCells: number[] = [];
  #nextCell = 0;
  #version = 0;
  #everMade = false;

  /** `entries` are those of the journal that count; `everMade` is whether it ever had any. */
  constructor(
    options: KeysOptions,
    journal: Journal,
    entries: readonly KeyEntry[],
    everMade: boolean,
  ) {
    this.#options = options;
    this.#journal = journal;
    for (const entry of entries) this.#apply(entry);
    this.#everMade = everMade;
  }

  /**
   * Makes a write key and a read key when there has never been one, and keeps the text of the write key in the file
   * `write-key` until it is used. The texts are given this once.
   */
  provision(): Promise<{ writeKey: string; readKey: string } | undefined> {
    return this.#journal.inTurn(async () => {
      if (this.#everMade) return undefined;
      const writeKey = makeKey();
      const readKey = makeKey();
      await writeSecret(this.#options.disk, WRITE_KEY_PATH, writeKey);
      const entries = [
        this.#newEntry({ kind: 'write', name: FIRST_KEY_NAME }, writeKey),
        this.#newEntry({ kind: 'read', name: FIRST_KEY_NAME }, readKey),
      ];
      await this.#write(entries, FIRST_START, 'create');
      return { writeKey, readKey };
    });
  }

  /** Makes a key; its text is given this once. `asker` goes to the audit log. */
  create(wanted: NewKey, asker: Asker): Promise<{ text: string; key: Key }> {
    return this.#journal.inTurn(async () => {
      const count = this.list(wanted.kind).length;
      if (count >= KEYS_MAX) {
        throw new EngineError(
          'LIMIT',
          `there are ${count} ${wanted.kind} keys; allowed are ${KEYS_MAX}`,
        );
      }
      const text = makeKey();
      const entry = this.#newEntry(wanted, text);
      await this.#write([entry], asker, 'create');
      return { text, key: must(this.#byId.get(entry.key.id), 'new key') };
    });
  }

  /** Changes a key. */
  change(id: string, change: KeyChange, asker: Asker): Promise<Key> {
    return this.#journal.inTurn(async () => {
      const { cell: _, ...record } = this.#existing(id);
      if (change.name !== undefined) record.name = change.name;
      if (change.enabled !== undefined) record.enabled = change.enabled;
      if (change.quota === null) delete record.quota;
      else if (change.quota !== undefined) record.quota = change.quota;
      if (change.filter !== undefined) {
        delete record.filter;
        delete record.filterIds;
        if (change.filter !== null) record.filter = change.filter;
        if (change.filterIds !== undefined) record.filterIds = change.filterIds;
      }
      this.#check(record);
      await this.#write([{ type: 'key', key: record }], asker, 'change');
      return this.#existing(id);
    });
  }

  /** Deletes a key for ever. */
  delete(id: string, asker: Asker): Promise<void> {
    return this.#journal.inTurn(async () => {
      this.#existing(id);
      await this.#write([{ type: 'deleted', id }], asker, 'delete');
    });
  }

  /** Damage in one copy of the file that was healed from the other, a sentence each. */
  get healed(): readonly string[] {
    return this.#journal.healed;
  }

  /** The keys of a kind, oldest first. */
  list(kind: KeyKind): Key[] {
    return [...this.#byId.values()].filter((key) => key.kind === kind);
  }

  /** The key with that id or, when there is none, with that name. */
  named(kind: KeyKind, idOrName: string): Key | undefined {
    const key = this.#byId.get(idOrName);
    if (key?.kind === kind) return key;
    return this.list(kind).find((other) => other.name === idOrName);
  }

  /** The key with that text, of either kind and switched off ones too, found by its digest. */
  lookup(text: string): Key | undefined {
    const isKey = this.#spell(text);
    const known = isKey ? this.#verified.find(this.#text, 0) : undefined;
    if (known !== undefined) return known;
    const key = this.#byDigest.get(digestNameOf(text));
    if (isKey && key !== undefined) this.#verified.remember(this.#text, 0, key);
    return key;
  }

  /** Writes a text that is looked up to `#text`; false when it has not as many characters of ASCII as a key. */
  #spell(text: string): boolean {
    if (text.length !== KEY_CHARACTERS) return false;
    const { read, written } = encoder.encodeInto(text, this.#text);
    return read === KEY_CHARACTERS && written === KEY_CHARACTERS;
  }

  /** Table of the write keys for ingest workers; a new version after each change. */
  table(): KeyTable {
    const entries = this.list('write').map(({ digest, id, name, cell }) => {
      return { digest, id, name, cell };
    });
    return { version: this.#version, entries };
  }

  /** Adds usage that recovery found, the oldest day first. That of keys which no longer exist is of no use. */
  restoreUsage(usage: readonly { key: string; bytes: number; day: number }[]): void {
    const { cells, nowMs } = this.#options;
    const today = dayOf(nowMs());
    // Cells remember the last days that they are told: today's is one of them, also when others lie ahead.
    const ofToday = usage.filter(({ day }) => day === today);
    for (const { key, bytes, day } of [...usage.filter((each) => each.day !== today), ...ofToday]) {
      const cell = this.#byId.get(key)?.cell ?? -1;
      if (cell >= 0) cells.restore(cell, bytes, day);
    }
  }

  /** Waits for changes that run; later ones reject with CLOSED. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #existing(id: string): Key {
    const key = this.#byId.get(id);
    if (key === undefined) throw new EngineError('USAGE', `there is no key with the id "${id}"`);
    return key;
  }

  #newEntry(wanted: NewKey, text: string): { type: 'key'; key: KeyRecord } {
    const key: KeyRecord = {
      kind: wanted.kind,
      id: makeId(),
      name: wanted.name,
      digest: digestOf(text),
      createdMs: this.#options.nowMs(),
      enabled: wanted.enabled ?? true,
      ...(wanted.quota === undefined ? {} : { quota: wanted.quota }),
      ...(wanted.filter === undefined ? {} : { filter: wanted.filter }),
      ...(wanted.filterIds === undefined ? {} : { filterIds: wanted.filterIds }),
    };
    this.#check(key);
    return { type: 'key', key };
  }

  #check(key: KeyRecord): void {
    checkName(key.name);
    const other = this.named(key.kind, key.name);
    if (other !== undefined && other.id !== key.id) {
      throw new EngineError('USAGE', `name "${key.name}" is taken by another ${key.kind} key`);
    }
    if (key.kind === 'read' && (key.quota !== undefined || !key.enabled)) {
      throw new EngineError('USAGE', 'a read key has neither quota nor switch; delete it instead');
    }
    if (key.kind === 'write' && key.filter !== undefined) {
      throw new EngineError('USAGE', 'a write key has no security filter');
    }
    if (key.filter !== undefined && key.filter.length > FILTER_CHARACTERS_MAX) {
      const count = key.filter.length;
      throw new EngineError(
        'USAGE',
        `security_filter has ${count} characters; allowed are ${FILTER_CHARACTERS_MAX}`,
      );
    }
    if (key.quota === undefined) return;
    checkQuota(key.quota);
    if (key.quota.type === 'percentage' && this.#options.planLimitMb === undefined) {
      throw new EngineError(
        'USAGE',
        'a quota in percent needs the setting plan_limit_mb, which is not set',
      );
    }
  }

  async #write(entries: KeyEntry[], asker: Asker, what: string): Promise<void> {
    const at = new Date(this.#options.nowMs()).toISOString();
    const lines = entries.map((entry): AuditLine => {
      const key = entry.type === 'key' ? entry.key : this.#existing(entry.id);
      const { kind, id, name, enabled, quota, filter } = key;
      return { at, ...asker, what, resource: `${kind}_keys`, id, name, enabled, quota, filter };
    });
    await this.#journal.write(entries, lines);
    for (const entry of entries) this.#apply(entry);
    this.#everMade = true;
    this.#version++;
  }

  #apply(entry: KeyEntry): void {
    this.#verified.forget();
    const id = entry.type === 'key' ? entry.key.id : entry.id;
    const before = this.#byId.get(id);
    if (entry.type === 'deleted') {
      if (before === undefined) return;
      this.#byId.delete(id);
      this.#byDigest.delete(digestName(before.digest));
      if (before.cell >= 0) this.#endCell(before.cell);
      return;
    }
    const record = entry.key;
    const cell = record.kind === 'write' ? (before?.cell ?? this.#beginCell()) : -1;
    const key = { ...record, cell };
    this.#byId.set(id, key);
    this.#byDigest.set(digestName(record.digest), key);
    if (cell < 0) return;
    this.#options.cells.limit(cell, this.#quotaBytes(record));
    this.#options.cells.enable(cell, record.enabled);
  }

  /** Names of the write keys that take nothing, since their quota is a share of a plan limit that is not set. */
  withoutLimit(): string[] {
    if (this.#options.planLimitMb !== undefined) return [];
    return this.list('write')
      .filter(({ quota }) => quota?.type === 'percentage')
      .map(({ name }) => name);
  }

  #quotaBytes({ quota }: KeyRecord): number {
    if (quota === undefined) return NO_QUOTA;
    if (quota.type === 'megabytes') return Math.ceil(quota.value * MEGABYTE_BYTES);
    const planLimitMb = this.#options.planLimitMb;
    if (planLimitMb === undefined) return 0;
    return Math.ceil((quota.value / 100) * planLimitMb * MEGABYTE_BYTES);
  }

  /** A cell that was never used or, when there is none, the one that has been free for longest. */
  #beginCell(): number {
    const cell =
      this.#nextCell < CELLS_MAX ? this.#nextCell++ : must(this.#freeCells.shift(), 'free cell');
    this.#options.cells.begin(cell);
    return cell;
  }

  #endCell(cell: number): void {
    this.#options.cells.enable(cell, false);
    this.#freeCells.push(cell);
  }
}

/** The last entry of each key that is not deleted, in the order of their first ones. */
function lastEntries(entries: readonly KeyEntry[]): KeyEntry[] {
  const last = new Map<string, KeyEntry>();
  for (const entry of entries) {
    if (entry.type === 'key') last.set(entry.key.id, entry);
    else last.delete(entry.id);
  }
  return [...last.values()];
}

/**
 * Opens the keys of a data folder. Rejects with CORRUPTION when the file `keys` is not what was written, USAGE when a
 * key has a quota in percent and there is no plan limit.
 */
export async function openKeys(options: KeysOptions): Promise<Keys> {
  const { records, journal } = await openJournal(
    options.disk,
    KEYS_PATH,
    AUDIT_PATH,
    options.mustExist ?? false,
  );
  try {
    const entries = lastEntries(records.flatMap(readEntries));
    const keys = new Keys(options, journal, entries, records.length > 0);
    // The empty one stays when there are no keys: none are made again then.
    await journal.compact([[], ...entries.map((entry) => [entry])]);
    return keys;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
