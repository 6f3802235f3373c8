import { randomBytes } from 'node:crypto';
import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import { copyPaths, RecordFile, readRecords } from '../base/record-file.ts';
import { entrySeed } from '../column/entries.ts';
import { FORMAT_VERSION } from '../segment/frame.ts';
import { HEAD_BYTES } from './commit.ts';
import {
  LOG_FOLDER,
  MANIFEST_PATH,
  parseSealedName,
  parseSegmentName,
  SEALED_FOLDER,
  SEGMENT_MAX,
} from './filename.ts';
import {
  FOLDER_ID_BYTES,
  type ManifestRecord,
  type NumberedSealed,
  parseRecord,
  SECRET_BYTES,
  type SealedEntry,
  storedRecord,
  WRITERS_MAX,
} from './manifest-record.ts';
import { ManifestState, type SegmentEntry } from './manifest-state.ts';
import type { KeptRetention, RetentionPolicy } from './retention.ts';
import type { KeyUsage } from './usage.ts';

/** A manifest is rewritten at the start when it is at least as large as this, and this many times what is needed. */
const REWRITE_BYTES_MIN = 262_144;
const REWRITE_RATIO = 2;

type StoreRecord = Extract<ManifestRecord, { type: 'store' }>;

/**
 * The record of what exists in a folder: its identity, and its segments. Only the front thread has one.
 * Source: FORMAT.md 6.
 */
export class Manifest {
  /** 16 random bytes that stand in every segment's head too. Not to be written. */
  readonly folderId: Uint8Array;
  /** 32 random bytes that key the checks of event ids. Not to be written. */
  readonly secret: Uint8Array;
  /** Of the hashes of entries in sealed segments. */
  readonly entrySeed: number;
  /** Damage in one copy of it that was healed from the other, a sentence each. */
  readonly healed: readonly string[];
  readonly #store: StoreRecord;
  readonly #state: ManifestState;
  readonly #readCount: number;
  readonly #file: RecordFile | undefined;

  /** `readCount` records were read; without `file` it is for reading alone. */
  constructor(
    { store, state, readCount }: Replayed & { store: StoreRecord },
    healed: readonly string[],
    file: RecordFile | undefined,
  ) {
    this.healed = healed;
    this.#store = store;
    this.#readCount = readCount;
    this.#file = file;
    this.folderId = store.folder;
    this.secret = store.secret;
    this.entrySeed = entrySeed(store.secret);
    this.#state = state;
  }

  /**
   * Opens the manifest of `disk`, or begins one, and makes the folders of segments. `registries` are paths of record
   * files that are only there beside a manifest. Throws CORRUPTION when it is damaged, when it is not there and
   * segments or registries are, or when a log segment's file is there that it does not know; USAGE when the folder is
   * of another format; IO.
   */
  static async open(
    disk: Disk,
    nowMs: number,
    registries: readonly string[] = [],
  ): Promise<Manifest> {
    const { file, records, remarks } = RecordFile.open(disk, MANIFEST_PATH);
    try {
      const replayed = replay(records);
      if (replayed.store === undefined) refuseOrphans(disk, registries);
      refuseUnknownFiles(disk, replayed.state);
      disk.makeFolder(LOG_FOLDER);
      disk.makeFolder(SEALED_FOLDER);
      await file.settle();
      const store = replayed.store ?? newStore(nowMs);
      if (replayed.store === undefined) await file.append(store);
      return new Manifest({ ...replayed, store }, remarks, file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Rewrites the manifest when it has grown. Without room for that it stays as it is. */
  async compact(rewriteBytes = REWRITE_BYTES_MIN): Promise<void> {
    const file = this.#writable();
    if (file.bytes < rewriteBytes) return;
    const needed = this.records();
    if (needed.length * REWRITE_RATIO > this.#readCount) return;
    await file.rewrite(needed.map(storedRecord));
  }

  /**
   * The present manifest of `disk`, or what its first `recordCount` records say, for reading: nothing is written.
   * Throws as `open` does, and USAGE when there is none.
   */
  static async read(disk: Disk, recordCount = Number.POSITIVE_INFINITY): Promise<Manifest> {
    if (!copyPaths(MANIFEST_PATH).some((path) => disk.list('').includes(path))) {
      throw new EngineError('USAGE', `there is no ${MANIFEST_PATH} in the folder`);
    }
    const { records, remarks } = readRecords(disk, MANIFEST_PATH);
    const replayed = replay(records.slice(0, recordCount));
    const { store } = replayed;
    if (store === undefined) throw new EngineError('CORRUPTION', `${MANIFEST_PATH} is empty`);
    return new Manifest({ ...replayed, store }, remarks, undefined);
  }

  /** Records of the file by now. */
  get recordCount(): number {
    return this.#file?.count ?? this.#readCount;
  }

  /** The fewest records that come to the same. */
  records(): ManifestRecord[] {
    return [this.#store, ...this.#state.records()];
  }

  /** All log segments by number, in their order. Changes with the manifest; not to be written. */
  get segments(): ReadonlyMap<number, SegmentEntry> {
    return this.#state.segments;
  }

  /** All sealed segments by number. Changes with the manifest; not to be written. */
  get sealed(): ReadonlyMap<number, SealedEntry> {
    return this.#state.sealed;
  }

  /** The sequence above all rows of segments that were closed, those that are gone included. */
  get sequence(): number {
    return this.#state.sequence;
  }

  /** The highest number that was ever given to a segment. */
  get lastSegment(): number {
    return this.#state.lastSegment;
  }

  /** Is set once the registries beside the manifest were made; from then on they have to exist. */
  get hasRegistries(): boolean {
    return this.#state.hasRegistries;
  }

  /** Reports whether a record says that a segment is gone. Records older than the last rewrite are not known. */
  isGone(segment: number): boolean {
    return this.#state.gone.has(segment);
  }

  /** The last state that retention asked to be kept. */
  get retention(): KeptRetention {
    return this.#state.retention;
  }

  /** The policy of retention that was set in place of the configured one. */
  get policy(): RetentionPolicy | undefined {
    return this.#state.policy;
  }

  /** Usage by segments that are gone, by key and day, as copies. */
  usage(): KeyUsage[] {
    return this.#state.usage.list();
  }

  /**
   * Records that `writer` begins a log segment, whose file with its head is durable; resolves when the record is.
   * `segment` is of `reserve`. Rejects with IO.
   */
  async begin(segment: number, writer: number): Promise<void> {
    assert(writer >= 0 && writer < WRITERS_MAX, `writer ${writer}`);
    await this.#append({ type: 'segment', segment, writer });
  }

  /**
   * Takes the next segment number. It is durable with the record that names it: until then the next start clears a file
   * of that number away, and takes the number again. Throws LIMIT.
   */
  reserve(): number {
    if (this.#state.lastSegment >= SEGMENT_MAX) {
      throw new EngineError('LIMIT', `no number left: segment ${this.#state.lastSegment}`);
    }
    return ++this.#state.lastSegment;
  }

  /**
   * Records that a segment is whole with its first `bytes`, that its rows are below `sequence`, and which of its
   * blocks, by ordinal, are known to be damaged; resolves when that is durable. Rejects with IO.
   */
  async close(
    segment: number,
    bytes: number,
    sequence: number,
    damagedBlocks: readonly number[] = [],
  ): Promise<void> {
    const entry = must(this.segments.get(segment), `segment ${segment}`);
    assert(entry.closed === undefined, `segment ${segment} is closed already`);
    const damaged = [...damagedBlocks];
    await this.#append({ type: 'closed', segment, bytes, sequence, damaged });
  }

  /**
   * Records that `sources`, closed or sealed, are gone and `segments` hold their rows, in one step; `usage` is what
   * the log segments among the sources brought in. Resolves when that is durable. Rejects with IO: then it is for the
   * next start to tell which ones live, and the files of both stay.
   */
  async seal(
    sources: readonly number[],
    segments: readonly NumberedSealed[],
    usage: readonly KeyUsage[],
  ): Promise<void> {
    for (const source of sources) this.#assertClosed(source);
    const record = { sources: [...sources], segments: [...segments], usage: [...usage] };
    await this.#append({ type: 'sealed', ...record });
  }

  /**
   * Records that segments are gone with their rows; `usage` as for `seal`. Resolves when it is durable. Rejects with
   * IO.
   */
  async drop(segments: readonly number[], usage: readonly KeyUsage[]): Promise<void> {
    for (const segment of segments) this.#assertClosed(segment);
    await this.#append({ type: 'dropped', segments: [...segments], usage: [...usage] });
  }

  /** Records that the registries are there. Resolves when it is durable. Rejects with IO. */
  async keepRegistries(): Promise<void> {
    await this.#append({ type: 'registries' });
  }

  /** Records what retention has to know after a restart. Resolves when it is durable. Rejects with IO. */
  async keepRetention(kept: KeptRetention): Promise<void> {
    await this.#append({ type: 'retention', ...kept });
  }

  /**
   * Records the policy of retention in place of the configured one; none: that one is in force again. Resolves when it
   * is durable. Rejects with IO.
   */
  async keepPolicy(policy: RetentionPolicy | undefined): Promise<void> {
    await this.#append({ type: 'policy', policy });
  }

  /** Waits for what is being appended and lets go of the file. */
  async release(): Promise<void> {
    await this.#file?.close();
  }

  #assertClosed(segment: number): void {
    const closed = this.segments.get(segment)?.closed !== undefined;
    assert(closed || this.sealed.has(segment), `segment ${segment} is there and closed`);
  }

  #writable(): RecordFile {
    return must(this.#file, 'manifest open for writing');
  }

  async #append(record: ManifestRecord): Promise<void> {
    await this.#writable().append(storedRecord(record));
    this.#state.apply(record, Number.POSITIVE_INFINITY);
  }
}

function newStore(nowMs: number): StoreRecord {
  return {
    type: 'store',
    format: FORMAT_VERSION,
    folder: Uint8Array.from(randomBytes(FOLDER_ID_BYTES)),
    secret: Uint8Array.from(randomBytes(SECRET_BYTES)),
    createdMs: nowMs,
  };
}

/** Result of replaying a manifest's records. */
interface Replayed {
  store: StoreRecord | undefined;
  state: ManifestState;
  readCount: number;
}

function replay(records: readonly unknown[]): Replayed {
  const state = new ManifestState();
  let store: StoreRecord | undefined;
  for (const [number, value] of records.entries()) {
    const record = parseRecord(value, number);
    state.apply(record, number);
    if (record.type === 'store') store = record;
  }
  return { store, state, readCount: records.length };
}

/** A folder without a manifest is a new one only when nothing is in it that a manifest goes with. */
function refuseOrphans(disk: Disk, registries: readonly string[]): void {
  const segments = [
    ...disk
      .list(LOG_FOLDER)
      .filter((name) => parseSegmentName(name) !== undefined)
      .map((name) => `${LOG_FOLDER}/${name}`),
    ...disk
      .list(SEALED_FOLDER)
      .filter((name) => parseSealedName(name) !== undefined)
      .map((name) => `${SEALED_FOLDER}/${name}`),
  ];
  const names = disk.list('');
  const beside = registries.flatMap(copyPaths).filter((path) => names.includes(path));
  const [orphan] = [...segments, ...beside];
  if (orphan === undefined) return;
  throw new EngineError(
    'CORRUPTION',
    `${copyPaths(MANIFEST_PATH).join(' and ')} are missing or empty, but ${orphan} is there: put one of them back from ` +
      'a backup, or run logseam repair, or, for a new store, move everything else out of the folder',
  );
}

/**
 * A group is written only after the record of its segment is durable. A file of groups with a number never given means
 * that the manifest lost a record after all; one of no more than a head was never begun. Throws CORRUPTION.
 */
export function refuseUnknownFiles(disk: Disk, state: Pick<ManifestState, 'lastSegment'>): void {
  for (const name of disk.list(LOG_FOLDER)) {
    const segment = parseSegmentName(name);
    if (segment === undefined || segment <= state.lastSegment) continue;
    if ((disk.sizeOf(`${LOG_FOLDER}/${name}`) ?? 0) > HEAD_BYTES) {
      throw new EngineError(
        'CORRUPTION',
        `${LOG_FOLDER}/${name} is not in the manifest, which has lost records: put a newer one back, or run logseam ` +
          'repair, or, to do without that file, move it out of the folder',
      );
    }
  }
}
