import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import {
  LOG_FOLDER,
  LOST_FOLDER,
  parseSealedName,
  parseSegmentName,
  SEALED_FOLDER,
  sealedPath,
  segmentPath,
} from './filename.ts';
import type { Manifest } from './manifest.ts';
import type { SealedEntry } from './manifest-record.ts';
import type { Damage } from './recovery.ts';

/** Suffix of a sealed segment while it is being written. */
const TEMPORARY_SUFFIX = '.new';

/** The segments that have a file, by number. */
export interface SegmentFiles {
  log: ReadonlySet<number>;
  sealed: ReadonlySet<number>;
  /** Sealed segments that were being written at a stop: paths. */
  unfinished: readonly string[];
}

/** Numbers of sealed segments that no record names yet. */
export type SealedNumbers = Set<number>;

/** The names of files, whole or unfinished, of these sealed segments. Throws IO. */
export function sealedNames(disk: Disk, segments: ReadonlySet<number>): string[] {
  return disk.list(SEALED_FOLDER).filter((name) => {
    const whole = name.endsWith(TEMPORARY_SUFFIX) ? name.slice(0, -TEMPORARY_SUFFIX.length) : name;
    const segment = parseSealedName(whole);
    return segment !== undefined && segments.has(segment);
  });
}

/** Looks which segments have a file. Throws IO. */
export function segmentFiles(disk: Disk): SegmentFiles {
  const log = new Set<number>();
  for (const name of disk.list(LOG_FOLDER)) {
    const segment = parseSegmentName(name);
    if (segment !== undefined) log.add(segment);
  }
  const sealed = new Set<number>();
  const unfinished: string[] = [];
  for (const name of disk.list(SEALED_FOLDER)) {
    const segment = parseSealedName(name);
    if (segment !== undefined) sealed.add(segment);
    else if (name.endsWith(TEMPORARY_SUFFIX)) unfinished.push(`${SEALED_FOLDER}/${name}`);
  }
  return { log, sealed, unfinished };
}

/**
 * Clears away the files of segments that no record names. Files that a record says are gone, and unfinished ones, are
 * unlinked. Whole files that no record mentions are moved to `lost/`, because they may hold events that are nowhere
 * else. Returns the paths of both. Throws CORRUPTION, before it touches any file, when a segment's file is missing
 * while an unnamed sealed file exists: the manifest then lost the record of their replacement. Rejects with IO.
 * Source: FORMAT.md 5.
 */
export async function clearLeftovers(
  disk: Disk,
  manifest: Manifest,
  files: SegmentFiles,
): Promise<{ removed: string[]; moved: string[] }> {
  refuseLostRecords(manifest, files);
  const unknown = [...files.sealed].filter((segment) => !manifest.sealed.has(segment));
  const unrecorded = unrecordedOf(manifest, files);
  const left = [...files.log].filter((segment) => !manifest.segments.has(segment));
  const isGone = (segment: number): boolean => manifest.isGone(segment);
  // Of a number that was never recorded: `Manifest.open` has seen that they are no more than a head.
  const unbegun = left.filter((segment) => segment > manifest.lastSegment);
  const unfinished = [...files.unfinished, ...unbegun.map(segmentPath)];
  const begun = left.filter((segment) => !unbegun.includes(segment));
  const gone = [
    ...unknown.filter(isGone).map(sealedPath),
    ...begun.filter(isGone).map(segmentPath),
  ];
  const moved = [
    ...unrecorded.map(sealedPath),
    ...begun.filter((segment) => !isGone(segment)).map(segmentPath),
  ];
  const removed = [...unfinished, ...gone];
  for (const path of removed) await disk.unlink(path);
  for (const path of moved) await moveToLost(disk, path);
  if (moved.length > 0) await disk.syncFolder(LOST_FOLDER);
  if (moved.length > 0) await disk.syncFolder('');
  // Unfinished files that come back are removed again.
  if (moved.length + gone.length > 0) {
    for (const folder of [LOG_FOLDER, SEALED_FOLDER]) await disk.syncFolder(folder);
  }
  return { removed, moved };
}

/**
 * Throws CORRUPTION when a segment's file is missing while an unnamed sealed file exists: the manifest then lost the
 * record of their replacement.
 */
export function refuseLostRecords(manifest: Manifest, files: SegmentFiles): void {
  const [unrecorded] = unrecordedOf(manifest, files);
  const [missing] = missingSegments(manifest, files);
  if (unrecorded === undefined || missing === undefined) return;
  throw new EngineError(
    'CORRUPTION',
    `segment ${missing} has no file, and ${sealedPath(unrecorded)} is not in the manifest, which has lost records: put ` +
      'a newer one back, or run logseam repair, or, to do without that file, move it out of the folder',
  );
}

/** Sealed files that no record has ever named. */
function unrecordedOf(manifest: Manifest, files: SegmentFiles): number[] {
  return [...files.sealed].filter(
    (segment) => !manifest.sealed.has(segment) && !manifest.isGone(segment),
  );
}

/** A file of `lost/`. */
export interface LostFile {
  path: string;
  bytes: number;
}

/** The files of `lost/`, in the order of their names. Throws IO. */
export function lostFiles(disk: Disk): LostFile[] {
  return disk.list(LOST_FOLDER).map((name) => {
    const path = `${LOST_FOLDER}/${name}`;
    const file = disk.open(path, 'read');
    try {
      return { path, bytes: file.bytes() };
    } finally {
      file.close();
    }
  });
}

/** Moves a file to `lost/`, under its own name or, when that is taken, with a number behind it. Rejects with IO. */
export async function moveToLost(disk: Disk, path: string): Promise<void> {
  disk.makeFolder(LOST_FOLDER);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const taken = new Set(disk.list(LOST_FOLDER));
  let free = name;
  for (let number = 1; taken.has(free); number++) free = `${name}.${number}`;
  await disk.rename(path, `${LOST_FOLDER}/${free}`);
}

function missingSegments({ segments, sealed }: Manifest, files: SegmentFiles): number[] {
  const missing: number[] = [];
  for (const [segment, { closed }] of segments) {
    if (!files.log.has(segment) && (closed?.bytes ?? 0) > 0) missing.push(segment);
  }
  for (const segment of sealed.keys()) if (!files.sealed.has(segment)) missing.push(segment);
  return missing;
}

/** Damage of a sealed segment's file, judged by its size alone: its blocks are verified when they are read. */
export function sealedDamage(disk: Disk, segment: number, entry: SealedEntry): Damage[] {
  const bytes = disk.sizeOf(sealedPath(segment)) ?? 0;
  return bytes < entry.bytes ? [{ offset: bytes, bytes: entry.bytes - bytes }] : [];
}
