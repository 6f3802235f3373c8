import { randomBytes } from 'node:crypto';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import { recordAt, unpackRecord } from '../base/record.ts';
import { copyPaths, RecordFile } from '../base/record-file.ts';
import { readBytes } from '../base/text-file.ts';
import { FORMAT_VERSION } from '../segment/frame.ts';
import {
  LOG_FOLDER,
  LOST_FOLDER,
  MANIFEST_PATH,
  pathOfSegment,
  SEALED_FOLDER,
} from '../store/filename.ts';
import { moveToLost, refuseLostRecords, segmentFiles } from '../store/leftover.ts';
import { Manifest, refuseUnknownFiles } from '../store/manifest.ts';
import {
  type ManifestRecord,
  parseRecord,
  SECRET_BYTES,
  storedRecord,
} from '../store/manifest-record.ts';
import { doubleSegments } from './double-rows.ts';
import { type FoundSegment, findSegment } from './found-segment.ts';

/** Progress of a repair: segments that were read. */
export interface RepairProgress {
  done: number;
  total: number;
}

/** A file that does not belong to the store any more. */
export interface MovedFile {
  path: string;
  reason: string;
}

/** Outcome of a repair. */
export interface RepairReport {
  /** Why it was needed; `undefined` when the manifest is well and nothing was done. */
  fault: string | undefined;
  segments: number;
  rows: number;
  /** Files that were moved to `lost/`. */
  moved: MovedFile[];
  /** Set when the secret of event ids was lost: the ids of all events are others than before. */
  hasNewIds: boolean;
}

type StoreRecord = Extract<ManifestRecord, { type: 'store' }>;

/**
 * Makes a manifest anew from the heads and footers of segments, when the one of `disk` cannot be read or does not fit
 * the files. The damaged one and files that are no part of the store go to `lost/`; nothing is removed. `registries`
 * are paths of record files beside a manifest. Yields after each segment. Throws USAGE when there is nothing that
 * could be repaired, or a file is of another format; IO. Source: FORMAT.md 12.
 */
export async function* repairStore(
  disk: Disk,
  nowMs: number,
  registries: readonly string[] = [],
): AsyncGenerator<RepairProgress, RepairReport> {
  const fault = await faultOf(disk);
  if (fault === undefined) {
    return { fault, segments: 0, rows: 0, moved: [], hasNewIds: false };
  }
  const files = segmentFiles(disk);
  const places = [
    ...[...files.log].map((segment) => ({ sealed: false, segment })),
    ...[...files.sealed].map((segment) => ({ sealed: true, segment })),
  ].sort((one, other) => one.segment - other.segment);
  if (places.length === 0) {
    throw new EngineError('USAGE', `there are no segments to make a ${MANIFEST_PATH} from`);
  }
  const found: FoundSegment[] = [];
  const moved: MovedFile[] = [];
  for (const [done, { sealed, segment }] of places.entries()) {
    const one = await findSegment(disk, sealed, segment);
    if (typeof one === 'object') found.push(one);
    else moved.push({ path: pathOfSegment(sealed, segment), reason: one });
    yield { done: done + 1, total: places.length };
  }
  const known = storeRecord(disk);
  const store = known ?? newStore(found, nowMs);
  const own: FoundSegment[] = [];
  for (const segment of found) {
    if (Buffer.compare(segment.folderId, store.folder) === 0) own.push(segment);
    else moved.push({ path: segment.path, reason: 'it is of another store' });
  }
  const doubled = doubleSegments(own);
  for (const [{ path }, reason] of doubled) moved.push({ path, reason });
  const kept = own.filter((segment) => !doubled.has(segment));
  await moveAway(
    disk,
    moved.map(({ path }) => path),
  );
  const lastSegment = Math.max(0, ...places.map(({ segment }) => segment));
  const hasRegistries = registries.some((path) => disk.sizeOf(path) !== undefined);
  await writeManifest(disk, [store, ...recordsOf(kept, lastSegment, hasRegistries)]);
  const rows = kept.reduce((sum, { rowCount }) => sum + rowCount, 0);
  return { fault, segments: kept.length, rows, moved, hasNewIds: known === undefined };
}

/** Why the manifest is no good, in a sentence; `undefined` when it is well. */
async function faultOf(disk: Disk): Promise<string | undefined> {
  if (!copyPaths(MANIFEST_PATH).some((path) => disk.sizeOf(path) !== undefined)) {
    return `there is no ${MANIFEST_PATH}`;
  }
  try {
    const manifest = await Manifest.read(disk);
    refuseUnknownFiles(disk, manifest);
    refuseLostRecords(manifest, segmentFiles(disk));
    return undefined;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return error.message;
    throw error;
  }
}

/** The first record of a manifest, from a copy in which it is whole. */
function storeRecord(disk: Disk): StoreRecord | undefined {
  for (const path of copyPaths(MANIFEST_PATH)) {
    if (disk.sizeOf(path) === undefined) continue;
    const first = recordAt(readBytes(disk, path), 0);
    const record = first?.number === 0 ? parseRecord(unpackRecord(first.payload), 0) : undefined;
    if (record?.type === 'store') return record;
  }
  return undefined;
}

/** A store with a secret of its own, for the folder of most segments. Throws USAGE when there is none. */
function newStore(found: readonly FoundSegment[], nowMs: number): StoreRecord {
  const counts = new Map<string, number>();
  for (const { folderId } of found) {
    const id = Buffer.from(folderId).toString('hex');
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  if (most === undefined) throw new EngineError('USAGE', 'no segment can be read');
  return {
    type: 'store',
    format: FORMAT_VERSION,
    folder: Uint8Array.from(Buffer.from(most[0], 'hex')),
    secret: Uint8Array.from(randomBytes(SECRET_BYTES)),
    createdMs: nowMs,
  };
}

/** Moves files and what there is of the manifest to `lost/`, durably. Rejects with IO. */
async function moveAway(disk: Disk, paths: readonly string[]): Promise<void> {
  const manifests = copyPaths(MANIFEST_PATH).filter((path) => disk.sizeOf(path) !== undefined);
  for (const path of [...paths, ...manifests]) await moveToLost(disk, path);
  for (const folder of [LOG_FOLDER, SEALED_FOLDER, LOST_FOLDER]) {
    disk.makeFolder(folder);
    await disk.syncFolder(folder);
  }
  await disk.syncFolder('');
}

/** Log segments are open, so that the next start verifies and closes them. */
function recordsOf(
  segments: readonly FoundSegment[],
  lastSegment: number,
  hasRegistries: boolean,
): ManifestRecord[] {
  const sequence = Math.max(0, ...segments.map(({ endSequence }) => endSequence));
  const records: ManifestRecord[] = [{ type: 'summary', lastSegment, sequence, usage: [] }];
  if (hasRegistries) records.push({ type: 'registries' });
  for (const { segment, writer, sealed } of segments) {
    records.push(
      sealed === undefined
        ? { type: 'segment', segment, writer }
        : { type: 'sealed', sources: [], segments: [{ segment, ...sealed }], usage: [] },
    );
  }
  return records;
}

async function writeManifest(disk: Disk, records: readonly ManifestRecord[]): Promise<void> {
  const { file } = RecordFile.open(disk, MANIFEST_PATH);
  try {
    if (await file.rewrite(records.map(storedRecord))) return;
    throw new EngineError('IO', `${MANIFEST_PATH} could not be written`);
  } finally {
    await file.close();
  }
}
