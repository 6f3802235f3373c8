import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import {
  LOG_FOLDER,
  parseSealedName,
  parseSegmentName,
  SEALED_FOLDER,
  sealedPath,
  segmentPath,
} from './filename.ts';
import type { Manifest } from './manifest.ts';
import type { SealedEntry } from './manifest-record.ts';
import type { Damage } from './recovery.ts';

/** What the name of a sealed segment ends in while it is being written. */
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
 * Removes the files of segments that no record names: of sets that were replaced or dropped, and of ones that never
 * came to be. Returns their paths. Throws CORRUPTION, before it removes any, when a segment's file is missing while a
 * sealed one is there that no record names: then the manifest lost the record that put the one in the place of the
 * other. Rejects with IO. Source: FORMAT.md 5.
 */
export async function removeLeftovers(
  disk: Disk,
  manifest: Manifest,
  files: SegmentFiles,
): Promise<string[]> {
  const unknown = [...files.sealed].filter((segment) => !manifest.sealed.has(segment));
  const missing = missingSegments(manifest, files);
  if (unknown.length > 0 && missing.length > 0) {
    throw new EngineError(
      'CORRUPTION',
      `segment ${missing[0]} has no file, and ${sealedPath(unknown[0])} is not in the manifest`,
    );
  }
  const left = [...files.log].filter((segment) => !manifest.segments.has(segment));
  const paths = [...files.unfinished, ...unknown.map(sealedPath), ...left.map(segmentPath)];
  for (const path of paths) await disk.unlink(path);
  return paths;
}

function missingSegments({ segments, sealed }: Manifest, files: SegmentFiles): number[] {
  const missing: number[] = [];
  for (const [segment, { closed }] of segments) {
    if (!files.log.has(segment) && (closed?.bytes ?? 0) > 0) missing.push(segment);
  }
  for (const segment of sealed.keys()) if (!files.sealed.has(segment)) missing.push(segment);
  return missing;
}

/** What is not there of a sealed segment's file, by its size alone: its blocks are verified when they are read. */
export function sealedDamage(disk: Disk, segment: number, entry: SealedEntry): Damage[] {
  const bytes = disk.sizeOf(sealedPath(segment)) ?? 0;
  return bytes < entry.bytes ? [{ offset: bytes, bytes: entry.bytes - bytes }] : [];
}
