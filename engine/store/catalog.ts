import { assert, must } from '../base/assert.ts';
import type { Disk } from '../base/file.ts';
import { verifyBlock as verifyRegions } from '../segment/block.ts';
import type { BlockRef } from '../segment/frame.ts';
import { LOG_FOLDER, parseSegmentName } from './filename.ts';
import type { CommittedGroup } from './log-file.ts';
import { Manifest, type SegmentEntry } from './manifest.ts';
import {
  type Damage,
  emptySegment,
  type RecoveredSegment,
  recoverSegment,
  type VerifyBlock,
} from './recovery.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** What the live blocks come to. */
export interface CatalogTotals {
  blocks: number;
  rows: number;
  bytes: number;
}

/** What stands in a segment that was looked at, when it is not all well. */
export interface SegmentReport {
  segment: number;
  damaged: Damage[];
  /** Bytes that a stop left behind the last committed group. */
  cutBytes: number;
}

/** What `openCatalog` found and did. */
export interface RecoveryReport {
  segments: number;
  /** Segments that the last stop left open, now closed. */
  recovered: number[];
  /** Segments with damage or bytes cut. */
  remarks: SegmentReport[];
}

/** The live blocks of all segments. Owned by the front thread. */
export class Catalog {
  readonly #segments = new Map<number, Map<number, BlockRef>>();
  #snapshot: { readonly blocks: readonly BlockRef[] } | undefined;
  #totals: CatalogTotals = { blocks: 0, rows: 0, bytes: 0 };

  /** Makes a group visible: its blocks exist from now on, those that it supersedes do not. */
  apply(group: CommittedGroup): void {
    let blocks = this.#segments.get(group.segment);
    if (blocks === undefined) {
      blocks = new Map();
      this.#segments.set(group.segment, blocks);
    }
    for (const ordinal of group.superseded) {
      const block = blocks.get(ordinal);
      assert(block !== undefined, `block ${ordinal} of segment ${group.segment} exists`);
      blocks.delete(ordinal);
      this.#count(block, -1);
    }
    for (const block of group.blocks) {
      assert(!blocks.has(block.ordinal), `block ${block.ordinal} of ${group.segment} is new`);
      blocks.set(block.ordinal, block);
      this.#count(block, 1);
    }
    this.#snapshot = undefined;
  }

  /** Sets what a segment holds, whatever was known of it: the result of its recovery. */
  replace(segment: number, blocks: readonly BlockRef[]): void {
    for (const block of this.#segments.get(segment)?.values() ?? []) this.#count(block, -1);
    this.#segments.set(segment, new Map(blocks.map((block) => [block.ordinal, block])));
    for (const block of blocks) this.#count(block, 1);
    this.#snapshot = undefined;
  }

  /** The live blocks, oldest segment first: the same object until something changes. Not to be written. */
  snapshot(): { readonly blocks: readonly BlockRef[] } {
    if (this.#snapshot === undefined) {
      const blocks: BlockRef[] = [];
      for (const segment of this.#segments.values()) {
        for (const block of segment.values()) blocks.push(block);
      }
      this.#snapshot = Object.freeze({ blocks: Object.freeze(blocks) });
    }
    return this.#snapshot;
  }

  totals(): CatalogTotals {
    return { ...this.#totals };
  }

  #count(block: BlockRef, sign: 1 | -1): void {
    this.#totals.blocks += sign;
    this.#totals.rows += sign * block.rowCount;
    this.#totals.bytes += sign * block.bytes;
  }
}

/** What the store needs at its start. */
export interface OpenCatalogOptions {
  disk: Disk;
  nowMs: number;
  /** The UTC day, since 1970-01-01, whose usage is wanted. */
  usageDay: number;
  /** That of block.ts, unless a test has blocks of its own. */
  verifyBlock?: VerifyBlock;
}

/** A store's state on the front thread. */
export interface OpenedCatalog {
  manifest: Manifest;
  catalog: Catalog;
  report: RecoveryReport;
  /** Usage by key of the day that was asked for. */
  usage: KeyUsage[];
}

/**
 * Opens the manifest and reads every segment; those that the last stop left open are closed.
 * The caller has the folder's lock. Throws CORRUPTION when the manifest is damaged, USAGE when a file is of another
 * format version, IO. Damage in segments is not thrown: it is in the report, and the rest is served.
 */
export async function openCatalog(options: OpenCatalogOptions): Promise<OpenedCatalog> {
  const { disk, nowMs, usageDay } = options;
  const manifest = await Manifest.open(disk, nowMs);
  try {
    const catalog = new Catalog();
    const sum = new UsageSum();
    const report: RecoveryReport = { segments: 0, recovered: [], remarks: [] };
    const files = new Set(disk.list(LOG_FOLDER).map(parseSegmentName));
    for (const [segment, entry] of manifest.segments) {
      const open = entry.closed === undefined;
      const found = await readSegment(options, manifest, segment, files);
      catalog.replace(segment, found.blocks);
      sum.addAll(found.usage);
      report.segments++;
      if (open) report.recovered.push(segment);
      const cutBytes = open ? found.cutBytes : 0;
      const { damaged } = found;
      if (damaged.length > 0 || cutBytes > 0) report.remarks.push({ segment, damaged, cutBytes });
    }
    return { manifest, catalog, report, usage: sum.ofDay(usageDay) };
  } catch (error) {
    await manifest.release();
    throw error;
  }
}

/**
 * Recovers and closes the open segments of a writer whose thread died, so that another can go on in its place.
 * Groups that were durable and not yet told become visible. Throws as `openCatalog`.
 */
export async function recoverWriter(
  options: Pick<OpenCatalogOptions, 'disk' | 'verifyBlock'>,
  opened: Pick<OpenedCatalog, 'manifest' | 'catalog'>,
  writer: number,
): Promise<void> {
  const { manifest, catalog } = opened;
  const files = new Set(options.disk.list(LOG_FOLDER).map(parseSegmentName));
  for (const [segment, entry] of manifest.segments) {
    if (entry.writer !== writer || entry.closed !== undefined) continue;
    const found = await readSegment(options, manifest, segment, files);
    catalog.replace(segment, found.blocks);
  }
}

/** Reads a segment, and closes it in the manifest when it is open. */
async function readSegment(
  options: Pick<OpenCatalogOptions, 'disk' | 'verifyBlock'>,
  manifest: Manifest,
  segment: number,
  files: ReadonlySet<number | undefined>,
): Promise<RecoveredSegment> {
  const { disk, verifyBlock = verifyRegions } = options;
  const { folderId } = manifest;
  const entry = must(manifest.segments.get(segment), `segment ${segment}`);
  const open = entry.closed === undefined;
  const found = files.has(segment)
    ? await recoverSegment({ disk, segment, entry, folderId, verifyBlock })
    : missingSegment(entry);
  const { bytes, sequence, damagedBlocks } = found;
  if (open) await manifest.close(segment, bytes, sequence, damagedBlocks);
  return found;
}

/** A segment without a file: as a stop leaves it, or, when bytes of it were recorded, all of it is damaged. */
function missingSegment(entry: SegmentEntry): RecoveredSegment {
  const bytes = entry.closed?.bytes ?? 0;
  const damaged = bytes > 0 ? [{ offset: 0, bytes }] : [];
  return { ...emptySegment(entry.closed?.sequence ?? entry.sequence, bytes), damaged };
}
