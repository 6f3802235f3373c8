import { join } from 'node:path';
import { must } from '../base/assert.ts';
import { unfilled } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import { copyPaths, RecordFile, readRecords } from '../base/record-file.ts';
import { readText, writeText } from '../base/text-file.ts';
import { HEAD_BYTES } from '../store/commit.ts';
import {
  LOCK_NAME,
  LOG_FOLDER,
  MANIFEST_PATH,
  parseSealedName,
  parseSegmentName,
  pathOfSegment,
  SEALED_FOLDER,
} from '../store/filename.ts';
import { Manifest } from '../store/manifest.ts';
import { type ManifestRecord, storedRecord } from '../store/manifest-record.ts';
import type { StoreMoment } from './moment.ts';

/** A data folder. */
export interface Folder {
  /** Its absolute path. */
  root: string;
  disk: Disk;
}

/** Files of a data folder beside its segments and its manifest, by path. */
export interface SideFiles {
  /** Record files, in two copies each. */
  records: readonly string[];
  texts: readonly string[];
}

/** An order to copy a store. */
export interface StoreCopyOptions {
  /** Nobody may unlink its segments meanwhile. */
  from: Folder;
  /** The caller has its lock. */
  to: Folder;
  /** The moment to be copied; without it no process writes to the store, whose segments are all closed. */
  moment?: StoreMoment | undefined;
  side: SideFiles;
  /** Set when an earlier copy of the same store may be there: what is still right of it stays. */
  renews: boolean;
}

/** Progress of a copy, in bytes of segments. */
export interface CopyProgress {
  doneBytes: number;
  totalBytes: number;
}

/** Parts of a finished copy. */
export interface CopyReport {
  segments: number;
  bytes: number;
  /** Files that were there from an earlier copy. */
  kept: number;
  /** Files that are further names of the store's own. */
  linked: number;
  copied: number;
  /** Files of an earlier copy that do not belong to this one; removed. */
  removed: number;
}

/** A segment's file on its way. */
interface PlannedFile {
  path: string;
  /** Bytes that count. */
  bytes: number;
  /** Bytes of the file, which a further name of it has too. */
  fileBytes: number;
  /** Set when nothing will ever be written to it. */
  isFinal: boolean;
}

/** Stands in a folder with a copy that is not whole; its text is the id of the store's folder. */
const UNFINISHED_PATH = 'unfinished-copy';
/** Suffix of a file that is not whole. */
const TEMPORARY_SUFFIX = '.new';
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Copies a store as of a moment into another folder, from which a service can be started: sealed and closed segments
 * as further names of their files where the file system allows that, open ones up to their last visible group. The
 * manifest comes last, so that a stop leaves an earlier copy whole, or a folder in which none is. Yields after each
 * file. Throws CORRUPTION when the manifest is damaged, USAGE when the folder holds something else, IO.
 * Source: FORMAT.md 11.
 */
export async function* copyStore(
  options: StoreCopyOptions,
): AsyncGenerator<CopyProgress, CopyReport> {
  const { from, to, moment, side } = options;
  const manifest = await Manifest.read(from.disk, moment?.recordCount);
  await claim(options, manifest);
  const { records, files } = planOf(manifest, from.disk, moment);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const report: CopyReport = {
    ...{ segments: files.length, bytes, kept: 0, linked: 0, copied: 0, removed: 0 },
  };
  for (const folder of [LOG_FOLDER, SEALED_FOLDER]) to.disk.makeFolder(folder);
  let doneBytes = 0;
  for (const file of files) {
    report[await place(file, from, to)]++;
    doneBytes += file.bytes;
    yield { doneBytes, totalBytes: bytes };
  }
  for (const folder of [LOG_FOLDER, SEALED_FOLDER, '']) await to.disk.syncFolder(folder);
  await copySide(side, from.disk, to.disk);
  await writeRecords(to.disk, MANIFEST_PATH, records.map(storedRecord));
  report.removed = await removeOthers(to.disk, new Set(files.map(({ path }) => path)));
  return report;
}

/** Throws USAGE unless the target is empty or has a copy of the same store that may be renewed. */
async function claim({ from, to, renews }: StoreCopyOptions, manifest: Manifest): Promise<void> {
  const id = Buffer.from(manifest.folderId).toString('hex');
  const names = to.disk.list('').filter((name) => name !== LOCK_NAME);
  if (names.length === 0) {
    await writeText(to.disk, UNFINISHED_PATH, `${id}\n`);
    return;
  }
  if (readText(to.disk, UNFINISHED_PATH)?.trim() === id) return;
  const isStore = copyPaths(MANIFEST_PATH).some((path) => names.includes(path));
  if (renews && isStore) {
    const there = await Manifest.read(to.disk);
    if (Buffer.compare(there.folderId, manifest.folderId) === 0) return;
    throw new EngineError('USAGE', `${to.root} holds another store than ${from.root}`);
  }
  const what = isStore ? 'holds a store' : 'is not empty';
  const allowed = renews ? 'a new folder, or an earlier backup of the same store' : 'a new folder';
  throw new EngineError('USAGE', `${to.root} ${what}; allowed: ${allowed}`);
}

/** The files of the segments of a moment, and the records of a manifest in which none of them is open. */
function planOf(
  manifest: Manifest,
  disk: Disk,
  moment: StoreMoment | undefined,
): { records: ManifestRecord[]; files: PlannedFile[] } {
  const open = new Map(moment?.open.map((segment) => [segment.segment, segment]));
  const files: PlannedFile[] = [];
  const add = (sealed: boolean, segment: number, bytes: number | undefined): void => {
    const path = pathOfSegment(sealed, segment);
    const fileBytes = disk.sizeOf(path);
    // A missing file is damage, which its copy shares.
    if (fileBytes === undefined) return;
    const isFinal = !open.has(segment);
    files.push({ path, bytes: Math.min(bytes ?? fileBytes, fileBytes), fileBytes, isFinal });
  };
  const records: ManifestRecord[] = [];
  for (const record of manifest.records()) {
    if (record.type !== 'segment') {
      records.push(record);
      continue;
    }
    const { segment } = record;
    const { closed } = must(manifest.segments.get(segment), 'segment');
    const visible = open.get(segment);
    // Without a visible group nothing of it was acknowledged.
    if (closed === undefined && visible === undefined && moment !== undefined) continue;
    records.push(record);
    if (closed === undefined && visible !== undefined) {
      const { bytes, sequence } = visible;
      records.push({ type: 'closed', segment, bytes, sequence, damaged: [] });
    }
    add(false, segment, closed?.bytes ?? visible?.bytes);
  }
  for (const [segment, { bytes }] of manifest.sealed) add(true, segment, bytes);
  return { records, files };
}

/** Brings a segment's file to where it is to be. */
async function place(
  file: PlannedFile,
  from: Folder,
  to: Folder,
): Promise<'kept' | 'linked' | 'copied'> {
  const { path, bytes, fileBytes, isFinal } = file;
  const there = to.disk.sizeOf(path);
  const isThere = there !== undefined && (there === bytes || (isFinal && there === fileBytes));
  if (isThere && sameHead(path, from.disk, to.disk)) return 'kept';
  const unfinished = path + TEMPORARY_SUFFIX;
  if (to.disk.sizeOf(unfinished) !== undefined) await to.disk.unlink(unfinished);
  const isLinked = isFinal && (await to.disk.link(join(from.root, path), unfinished));
  if (!isLinked) await copyBytes(path, bytes, from.disk, to.disk);
  await to.disk.rename(unfinished, path);
  return isLinked ? 'linked' : 'copied';
}

/** Heads tell when and for which folder a file was made. */
function sameHead(path: string, one: Disk, other: Disk): boolean {
  const [first, second] = [one, other].map((disk) => {
    const file = disk.open(path, 'read');
    try {
      const head = new Uint8Array(HEAD_BYTES);
      return head.subarray(0, file.read(head, 0));
    } finally {
      file.close();
    }
  });
  return Buffer.compare(must(first, 'head'), must(second, 'head')) === 0;
}

/** Copies the first `bytes` of a file, durably, to its name with the suffix. */
async function copyBytes(path: string, bytes: number, from: Disk, to: Disk): Promise<void> {
  const source = from.open(path, 'read');
  const target = to.open(path + TEMPORARY_SUFFIX, 'create');
  try {
    for (let at = 0; at < bytes; ) {
      const chunk = unfilled(Math.min(CHUNK_BYTES, bytes - at));
      const count = source.read(chunk, at);
      if (count === 0) throw new EngineError('IO', `${path} ends after ${at} of ${bytes} bytes`);
      await target.write([chunk.subarray(0, count)], at);
      at += count;
    }
    await target.sync();
  } finally {
    source.close();
    target.close();
  }
}

async function copySide({ records, texts }: SideFiles, from: Disk, to: Disk): Promise<void> {
  const names = from.list('');
  for (const path of records) {
    if (!copyPaths(path).some((each) => names.includes(each))) continue;
    await writeRecords(to, path, readRecords(from, path).records);
  }
  for (const path of texts) {
    const content = readText(from, path);
    if (content !== undefined) await writeText(to, path, content);
  }
}

/** Makes the record file at `path` hold these records alone. */
async function writeRecords(disk: Disk, path: string, records: readonly unknown[]): Promise<void> {
  const { file } = RecordFile.open(disk, path);
  try {
    if (await file.rewrite(records)) return;
    throw new EngineError('IO', `${path} could not be written`);
  } finally {
    await file.close();
  }
}

/** Removes what an earlier copy has besides, and the mark of an unfinished one. */
async function removeOthers(disk: Disk, wanted: ReadonlySet<string>): Promise<number> {
  const segments = [
    ...disk.list(LOG_FOLDER).map((name) => ({ name, path: `${LOG_FOLDER}/${name}` })),
    ...disk.list(SEALED_FOLDER).map((name) => ({ name, path: `${SEALED_FOLDER}/${name}` })),
  ];
  const others = segments.filter(({ name, path }) => {
    const isSegment = parseSegmentName(name) ?? parseSealedName(name);
    return !wanted.has(path) && (isSegment !== undefined || name.endsWith(TEMPORARY_SUFFIX));
  });
  for (const { path } of others) await disk.unlink(path);
  for (const folder of [LOG_FOLDER, SEALED_FOLDER]) await disk.syncFolder(folder);
  if (disk.sizeOf(UNFINISHED_PATH) !== undefined) {
    await disk.unlink(UNFINISHED_PATH);
    await disk.syncFolder('');
  }
  return others.length;
}
