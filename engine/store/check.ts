import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk, DiskFile } from '../base/file.ts';
import { readRecords } from '../base/record-file.ts';
import { Scratch } from '../column/entries.ts';
import { openBlock } from '../segment/block/block.ts';
import { verifyBlock } from '../segment/block/verify-block.ts';
import { TRAILER_BYTES } from '../segment/footer.ts';
import { type BlockRef, FRAME_HEADER_BYTES } from '../segment/frame.ts';
import { readHead } from '../segment/head.ts';
import { SealedFile } from '../segment/sealed-file.ts';
import { HEAD_BYTES } from './commit.ts';
import { pathOfSegment } from './filename.ts';
import { FrameReader } from './frame-reader.ts';
import { type LostFile, lostFiles, segmentFiles } from './leftover.ts';
import { Manifest } from './manifest.ts';
import type { SealedEntry } from './manifest-record.ts';
import { type Damage, recoverSegment } from './recovery.ts';

/** Findings about one segment. */
export interface SegmentCheck {
  segment: number;
  sealed: boolean;
  bytes: number;
  blocks: number;
  rows: number;
  /** Stretches of the file that do not hold what was written. */
  damaged: Damage[];
}

/** Findings about a store. */
export interface CheckReport {
  /** Segments in the order of their numbers. */
  segments: SegmentCheck[];
  /** Files that no record names: the next start removes them or moves them to `lost/`. Paths. */
  leftovers: string[];
  lost: LostFile[];
  /** Faults of the record files (the manifest and the registries), a sentence each. */
  faults: string[];
}

/** Progress of a check, in bytes of segments. */
export interface CheckProgress {
  doneBytes: number;
  totalBytes: number;
}

/**
 * Reads everything that lives in a store and compares all checksums; writes nothing. The caller has the folder's
 * lock. `registries` are the paths of record files beside the manifest, `optional` of those that may be missing. A
 * generator, so that the caller can tell how far it is: it yields after each segment. Throws CORRUPTION when the
 * manifest is damaged, USAGE when there is none or it is of another format; IO.
 */
export async function* checkStore(
  disk: Disk,
  registries: readonly string[] = [],
  optional: readonly string[] = [],
): AsyncGenerator<CheckProgress, CheckReport> {
  const manifest = await Manifest.read(disk);
  const faults = [
    ...manifest.healed,
    ...registries.flatMap((path) => faultsOf(disk, path, manifest.hasRegistries)),
    ...optional.flatMap((path) => faultsOf(disk, path, false)),
  ];
  const files = segmentFiles(disk);
  const numbers = [...manifest.segments.keys(), ...manifest.sealed.keys()].sort((a, b) => a - b);
  const sizes = new Map(numbers.map((segment) => [segment, sizeOf(disk, manifest, segment)]));
  const totalBytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const segments: SegmentCheck[] = [];
  let doneBytes = 0;
  for (const segment of numbers) {
    segments.push(
      manifest.sealed.has(segment)
        ? checkSealed(
            disk,
            manifest.folderId,
            segment,
            must(manifest.sealed.get(segment), 'segment'),
          )
        : await checkLog(disk, manifest, segment),
    );
    doneBytes += must(sizes.get(segment), 'size');
    yield { doneBytes, totalBytes };
  }
  const leftovers = [
    ...files.unfinished,
    ...[...files.sealed]
      .filter((segment) => !manifest.sealed.has(segment))
      .map((segment) => pathOfSegment(true, segment)),
    ...[...files.log]
      .filter((segment) => !manifest.segments.has(segment))
      .map((segment) => pathOfSegment(false, segment)),
  ];
  return { segments, leftovers, lost: lostFiles(disk), faults };
}

/** Faults of both copies of a record file. The file has to exist if `mustExist` is set. */
function faultsOf(disk: Disk, path: string, mustExist: boolean): string[] {
  try {
    const { records, remarks } = readRecords(disk, path);
    return mustExist && records.length === 0 ? [`${path} is missing or empty`] : remarks;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return [error.message];
    throw error;
  }
}

/** Bytes of a segment's file; 0 when it is not there. */
function sizeOf(disk: Disk, manifest: Manifest, segment: number): number {
  const file = openFile(disk, manifest.sealed.has(segment), segment);
  if (file === undefined) return 0;
  try {
    return file.bytes();
  } finally {
    file.close();
  }
}

function openFile(disk: Disk, sealed: boolean, segment: number): DiskFile | undefined {
  const { log, sealed: sealedFiles } = segmentFiles(disk);
  const there = sealed ? sealedFiles : log;
  return there.has(segment) ? disk.open(pathOfSegment(sealed, segment), 'read') : undefined;
}

async function checkLog(disk: Disk, manifest: Manifest, segment: number): Promise<SegmentCheck> {
  const entry = must(manifest.segments.get(segment), 'segment');
  const bytes = entry.closed?.bytes ?? Math.max(sizeOf(disk, manifest, segment), HEAD_BYTES);
  const check: SegmentCheck = { segment, sealed: false, bytes, blocks: 0, rows: 0, damaged: [] };
  const file = openFile(disk, false, segment);
  if (file === undefined) {
    if (bytes > 0) check.damaged.push({ offset: 0, bytes });
    return check;
  }
  try {
    const { folderId } = manifest;
    // Reads as the next start would, but for the sync: the file is as good as this reading of it.
    const found = await recoverSegment({
      disk,
      segment,
      entry,
      folderId,
      verifyBlock,
      claim: true,
    });
    check.damaged.push(...found.damaged);
    countBlocks(file, found.blocks, check);
    return check;
  } finally {
    file.close();
  }
}

/** Checks the file of a sealed segment of the store with this folder's id. Throws IO. */
export function checkSealed(
  disk: Disk,
  folderId: Uint8Array,
  segment: number,
  { bytes, blocks }: Pick<SealedEntry, 'bytes' | 'blocks'>,
): SegmentCheck {
  const check: SegmentCheck = { segment, sealed: true, bytes, blocks: 0, rows: 0, damaged: [] };
  const file = openFile(disk, true, segment);
  if (file === undefined) {
    check.damaged.push({ offset: 0, bytes });
    return check;
  }
  try {
    checkHead(file, folderId, check);
    checkFooter(file, segment, check);
    countBlocks(file, blocks, check);
    checkHeaders(file, check);
    return check;
  } finally {
    file.close();
  }
}

/** Reads the headers of all frames of a sealed segment, up to one that is damaged. */
function checkHeaders(file: DiskFile, { segment, bytes, damaged }: SegmentCheck): void {
  const reader = new FrameReader(file, segment, bytes - TRAILER_BYTES);
  for (let offset = 0; offset < reader.limitBytes; ) {
    const header = reader.header(offset);
    if (header === undefined) {
      // What is read by its header is found damaged already.
      if (damaged.length === 0) damaged.push({ offset, bytes: FRAME_HEADER_BYTES });
      return;
    }
    offset += header.frameBytes;
  }
}

/** Reads the head of a sealed segment: damaged when it is of another folder or another version too. */
function checkHead(file: DiskFile, folderId: Uint8Array, check: SegmentCheck): void {
  const reader = new FrameReader(file, check.segment, check.bytes);
  const header = reader.header(0);
  const meta = header === undefined ? undefined : reader.meta(header, 0);
  const head = meta === undefined ? undefined : undamaged(() => readHead(meta));
  if (head === undefined || Buffer.compare(head.folderId, folderId) !== 0) {
    check.damaged.push({ offset: 0, bytes: header?.frameBytes ?? FRAME_HEADER_BYTES });
  }
}

/** Reads what of a sealed segment lies outside of its blocks: footer, dictionaries and words. */
function checkFooter(file: DiskFile, segment: number, check: SegmentCheck): void {
  const sealed = new SealedFile(file, segment);
  const lastBytes = Math.min(TRAILER_BYTES, check.bytes);
  const end = { offset: check.bytes - lastBytes, bytes: lastBytes };
  const footer = undamaged(() => sealed.footer());
  if (footer === undefined || file.bytes() !== check.bytes) check.damaged.push(end);
  for (const [number, { offset, bytes }] of (footer?.dictionaries ?? []).entries()) {
    const whole = undamaged(() => {
      const dictionary = sealed.dictionary(number);
      dictionary.counts();
      return dictionary.entries();
    });
    sealed.forget();
    if (whole === undefined) check.damaged.push({ offset, bytes });
  }
  for (const place of footer?.words ?? []) {
    const { offset, bytes } = place;
    if (!isRight(() => sealed.words(place).verify())) check.damaged.push({ offset, bytes });
  }
}

/** Tells that `verify` finds no damage. */
function isRight(verify: () => void): boolean {
  return (
    undamaged(() => {
      verify();
      return true;
    }) ?? false
  );
}

/** The result of `read`; `undefined` when it finds damage or another version. */
function undamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const isKnown = error instanceof EngineError && ['CORRUPTION', 'USAGE'].includes(error.code);
    if (isKnown) return undefined;
    throw error;
  }
}

/** Reads all bytes of blocks, and counts those that are what was written; the others are damaged. */
function countBlocks(file: DiskFile, refs: readonly BlockRef[], check: SegmentCheck): void {
  const scratch = new Scratch();
  for (const ref of refs) {
    if (isRight(() => openBlock(file, ref).verify(scratch))) {
      check.blocks++;
      check.rows += ref.rowCount;
    } else {
      check.damaged.push({ offset: ref.offset, bytes: ref.bytes });
    }
  }
}
