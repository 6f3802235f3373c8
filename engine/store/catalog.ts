import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type Disk, isDiskFull } from '../base/file.ts';
import { verifyBlock as verifyRegions } from '../segment/block/verify-block.ts';
import { type BlockRef, holeOf } from '../segment/frame.ts';
import { type BlockChanges, ChangeLog } from './block-changes.ts';
import { HEAD_BYTES } from './commit.ts';
import {
  clearLeftovers,
  type LostFile,
  lostFiles,
  sealedDamage,
  segmentFiles,
} from './leftover.ts';
import type { CommittedGroup } from './log-file.ts';
import { Manifest } from './manifest.ts';
import type { SegmentEntry } from './manifest-state.ts';
import {
  type Damage,
  emptySegment,
  type RecoveredSegment,
  recoverSegment,
  type VerifyBlock,
} from './recovery.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** Totals of the live blocks. */
export interface CatalogTotals {
  blocks: number;
  rows: number;
}

/** Findings about a faulty segment. */
export interface SegmentReport {
  segment: number;
  damaged: Damage[];
  /** Bytes that a stop left behind the last committed group. */
  cutBytes: number;
}

/** Findings and actions of `openCatalog`. */
export interface RecoveryReport {
  segments: number;
  /** Damage in one copy of the manifest that was healed from the other, a sentence each. */
  healed: readonly string[];
  /** Segments that the last stop left open, now closed. */
  recovered: number[];
  /** Segments that were recovered and could not be closed in the manifest, as the disk is full. */
  unclosed: UnclosedSegment[];
  /** Segments with damage or bytes cut. */
  remarks: SegmentReport[];
  /** Files of sets that were replaced, or unfinished; removed. */
  removed: string[];
  /** Files that nobody knows, which this start moved to `lost/`: their paths before. */
  moved: string[];
  /** All files of `lost/`. */
  lost: LostFile[];
}

/** Facts of a recovered segment, for the manifest. */
export interface UnclosedSegment {
  segment: number;
  bytes: number;
  sequence: number;
  damagedBlocks: readonly number[];
}

/** The catalog's entry of a segment. */
interface CatalogSegment {
  /** Blocks by ordinal. */
  readonly blocks: Map<number, BlockRef>;
  /** Usage by the commit groups of a log segment. */
  readonly usage: UsageSum;
  /** Bytes of a log segment's file up to its last visible group; 0 when that was not seen to become visible. */
  bytes: number;
}

/** The live blocks of all segments. Owned by the front thread. */
export class Catalog {
  readonly #segments = new Map<number, CatalogSegment>();
  /** The ref that stands for a segment's lost rows, by segment. */
  readonly #damaged = new Map<number, BlockRef>();
  readonly #log = new ChangeLog();
  #end = 0;
  #changedNow: () => void = () => {};
  #snapshot: { readonly blocks: readonly BlockRef[] } | undefined;
  #totals: CatalogTotals = { blocks: 0, rows: 0 };

  /** Makes a group visible: its blocks exist from now on, those that it supersedes do not. */
  apply(group: CommittedGroup): void {
    let known = this.#segments.get(group.segment);
    if (known === undefined) {
      known = { blocks: new Map(), usage: new UsageSum(), bytes: 0 };
      this.#segments.set(group.segment, known);
    }
    const { blocks, usage } = known;
    known.bytes = group.bytes;
    const removed: BlockRef[] = [];
    for (const ordinal of group.superseded) {
      const block = blocks.get(ordinal);
      assert(block !== undefined, 'a superseded block exists');
      blocks.delete(ordinal);
      removed.push(block);
      this.#count(block, -1);
    }
    for (const block of group.blocks) {
      assert(!blocks.has(block.ordinal), 'the block of a group is new');
      blocks.set(block.ordinal, block);
      this.#count(block, 1);
    }
    usage.addAll(group.usage);
    this.#changed(removed, group.blocks);
  }

  /** Replaces the facts of a segment by the result of its recovery. */
  replace(segment: number, blocks: readonly BlockRef[], usage: readonly KeyUsage[] = []): void {
    const removed = this.#forget(segment);
    this.#add(segment, blocks, usage);
    this.#changed(removed, blocks);
  }

  /** Replaces segments by others that hold the same rows, or by nothing. */
  replaceSet(
    sources: readonly number[],
    segments: readonly { segment: number; blocks: readonly BlockRef[] }[],
  ): void {
    const removed = sources.flatMap((source) => this.#forget(source));
    for (const { segment, blocks } of segments) this.#add(segment, blocks, []);
    this.#changed(
      removed,
      segments.flatMap(({ blocks }) => blocks),
    );
  }

  /**
   * Marks a segment that lost rows, between these times as far as they are known. Answers that may need those rows
   * are partial until it is `unmarkDamaged` or gone.
   */
  markDamaged(segment: number, times?: Pick<BlockRef, 'minTimeMs' | 'maxTimeMs'>): void {
    if (this.#damaged.has(segment)) return;
    const hole = holeOf(segment, times);
    this.#damaged.set(segment, hole);
    this.#changed([], [hole]);
  }

  /** Takes the mark from a segment that lost no rows after all. */
  unmarkDamaged(segment: number): void {
    const hole = this.#damaged.get(segment);
    if (hole === undefined) return;
    this.#damaged.delete(segment);
    this.#changed([hole], []);
  }

  /** Reports whether rows of a segment are lost. */
  isDamaged(segment: number): boolean {
    return this.#damaged.has(segment);
  }

  /** Number of segments that lost rows. */
  get damagedCount(): number {
    return this.#damaged.size;
  }

  /** The live blocks of a segment; none when it is not known. */
  blocksOf(segment: number): IterableIterator<BlockRef> | readonly BlockRef[] {
    return this.#segments.get(segment)?.blocks.values() ?? [];
  }

  /** Bytes of an open log segment's file up to its last visible group; 0 when there is none. */
  visibleBytes(segment: number): number {
    return this.#segments.get(segment)?.bytes ?? 0;
  }

  /** Usage by the commit groups of these segments, by key and day, as copies. */
  usageOf(segments: readonly number[]): KeyUsage[] {
    const sum = new UsageSum();
    for (const segment of segments) sum.addAll(this.#segments.get(segment)?.usage.list() ?? []);
    return sum.list();
  }

  /**
   * The live blocks, oldest segment first, then holes that stand for lost rows. The object is the same until something
   * changes; it must not be written.
   */
  snapshot(): { readonly blocks: readonly BlockRef[] } {
    if (this.#snapshot === undefined) {
      const refs: BlockRef[] = [];
      for (const { blocks } of this.#segments.values()) {
        for (const block of blocks.values()) refs.push(block);
      }
      refs.push(...this.#damaged.values());
      this.#snapshot = Object.freeze({ blocks: Object.freeze(refs) });
    }
    return this.#snapshot;
  }

  /**
   * Changes from state number `since` to now. They are all blocks when `since` is missing or too long ago, and
   * `undefined` when nothing changed.
   */
  changes(since: number | undefined): BlockChanges | undefined {
    const { version } = this.#log;
    if (since === version) return undefined;
    const known = since === undefined ? undefined : this.#log.since(since);
    return known ?? { version, isWhole: true, removed: [], added: this.snapshot().blocks };
  }

  /** Number of the state of this moment. */
  get version(): number {
    return this.#log.version;
  }

  /**
   * The sequence above all rows that are or were visible. Groups are applied in the order of their sequences, so rows
   * that become visible from now on have it or higher ones.
   */
  get end(): number {
    return this.#end;
  }

  /** Notes that rows that are or were there have sequences below `sequence`. */
  raiseEnd(sequence: number): void {
    this.#end = Math.max(sequence, this.#end);
  }

  /** Calls `changed` after each change from now on, and no longer the function set before. */
  watch(changed: () => void): void {
    this.#changedNow = changed;
  }

  totals(): CatalogTotals {
    return { ...this.#totals };
  }

  /** Drops a segment; its blocks. */
  #forget(segment: number): BlockRef[] {
    const blocks = [...this.blocksOf(segment)];
    for (const block of blocks) this.#count(block, -1);
    this.#segments.delete(segment);
    const hole = this.#damaged.get(segment);
    if (hole !== undefined) blocks.push(hole);
    this.#damaged.delete(segment);
    return blocks;
  }

  #add(segment: number, refs: readonly BlockRef[], used: readonly KeyUsage[]): void {
    const blocks = new Map(refs.map((block) => [block.ordinal, block]));
    const usage = new UsageSum();
    usage.addAll(used);
    this.#segments.set(segment, { blocks, usage, bytes: 0 });
    for (const block of refs) this.#count(block, 1);
  }

  #changed(removed: readonly BlockRef[], added: readonly BlockRef[]): void {
    this.#snapshot = undefined;
    this.#log.add(removed, added, this.#totals.blocks);
    for (const { endSequence } of added) this.raiseEnd(endSequence);
    this.#changedNow();
  }

  #count(block: BlockRef, sign: 1 | -1): void {
    this.#totals.blocks += sign;
    this.#totals.rows += sign * block.rowCount;
  }
}

/** Dependencies of the store at its start. */
export interface OpenCatalogOptions {
  disk: Disk;
  nowMs: number;
  /** Verification of block.ts, unless a test has blocks of its own. */
  verifyBlock?: VerifyBlock;
  /** Paths of record files that are only there beside a manifest; see `Manifest.open`. */
  registries?: readonly string[];
  /** Size from which the manifest is rewritten when most of it is not needed; see `Manifest.compact`. */
  rewriteBytes?: number;
}

/** A store's state on the front thread. */
export interface OpenedCatalog {
  manifest: Manifest;
  catalog: Catalog;
  report: RecoveryReport;
  /** Usage by key and day, the oldest day first: today's, and days around it in case the clock was or is wrong. */
  usage: KeyUsage[];
}

/** Usage by key and day of all commit groups, those of segments that are gone included; the oldest day first. */
export function usageByDay({
  manifest,
  catalog,
}: Pick<OpenedCatalog, 'manifest' | 'catalog'>): KeyUsage[] {
  const sum = new UsageSum();
  sum.addAll(manifest.usage());
  sum.addAll(catalog.usageOf([...manifest.segments.keys()]));
  return sum.list();
}

/**
 * Opens the manifest and reads every segment; those that the last stop left open are closed.
 * The caller has the folder's lock. Throws CORRUPTION when the manifest is damaged, USAGE when a file is of another
 * format version, IO. Damage in segments is not thrown: it is in the report, and the rest is served.
 */
export async function openCatalog(options: OpenCatalogOptions): Promise<OpenedCatalog> {
  const { disk, nowMs } = options;
  const manifest = await Manifest.open(disk, nowMs, options.registries);
  try {
    const catalog = new Catalog();
    const sum = new UsageSum();
    sum.addAll(manifest.usage());
    const report = emptyReport(manifest);
    const files = segmentFiles(disk);
    Object.assign(report, await clearLeftovers(disk, manifest, files));
    report.lost = lostFiles(disk);
    // Not before: a rewritten manifest does not tell which segments are gone.
    await manifest.compact(options.rewriteBytes);
    for (const [segment, entry] of manifest.segments) {
      const open = entry.closed === undefined;
      const { found, closed } = await readSegment(
        { ...options, claim: true },
        manifest,
        segment,
        files.log,
      );
      if (!closed) report.unclosed.push({ segment, ...found });
      catalog.replace(segment, found.blocks, found.usage);
      catalog.raiseEnd(found.sequence);
      if (found.damaged.length > 0) catalog.markDamaged(segment);
      sum.addAll(found.usage);
      if (open) report.recovered.push(segment);
      const cutBytes = open ? found.cutBytes : 0;
      const { damaged } = found;
      if (damaged.length > 0 || cutBytes > 0) report.remarks.push({ segment, damaged, cutBytes });
    }
    for (const [segment, entry] of manifest.sealed) {
      const damaged = sealedDamage(disk, segment, entry);
      catalog.replace(segment, entry.blocks);
      if (damaged.length === 0) continue;
      catalog.markDamaged(segment, entry);
      report.remarks.push({ segment, damaged, cutBytes: 0 });
    }
    catalog.raiseEnd(manifest.sequence);
    return { manifest, catalog, report, usage: sum.list() };
  } catch (error) {
    await manifest.release();
    throw error;
  }
}

function emptyReport({ segments, sealed, healed }: Manifest): RecoveryReport {
  const count = segments.size + sealed.size;
  const files = { removed: [], moved: [], lost: [] };
  return { segments: count, healed, recovered: [], unclosed: [], remarks: [], ...files };
}

/**
 * Recovers and closes the open segments of a writer whose thread died, so that another can take its place. Groups that
 * were durable and not yet visible become visible. Throws as `openCatalog`, and IO when the disk is full.
 */
export async function recoverWriter(
  options: Pick<OpenCatalogOptions, 'disk' | 'verifyBlock'>,
  opened: Pick<OpenedCatalog, 'manifest' | 'catalog'>,
  writer: number,
): Promise<void> {
  const { manifest, catalog } = opened;
  const { log } = segmentFiles(options.disk);
  for (const [segment, entry] of manifest.segments) {
    if (entry.writer !== writer || entry.closed !== undefined) continue;
    // The dead thread's file was closed with it, and is nobody's.
    const { found, closed } = await readSegment(
      { ...options, claim: false },
      manifest,
      segment,
      log,
    );
    // What is cut of it must not show at a later start, when others were acknowledged after it.
    if (!closed) throw new EngineError('IO', `no room to record that segment ${segment} is closed`);
    catalog.replace(segment, found.blocks, found.usage);
    if (found.damaged.length > 0) catalog.markDamaged(segment);
  }
}

/**
 * Reads a segment, and closes it in the manifest when it is open, unless its file is lost; `closed` is false when the
 * disk is too full for that.
 */
async function readSegment(
  options: Pick<OpenCatalogOptions, 'disk' | 'verifyBlock'> & { claim: boolean },
  manifest: Manifest,
  segment: number,
  files: ReadonlySet<number>,
): Promise<{ found: RecoveredSegment; closed: boolean }> {
  const { disk, verifyBlock = verifyRegions, claim } = options;
  const { folderId } = manifest;
  const entry = must(manifest.segments.get(segment), `segment ${segment}`);
  const found = files.has(segment)
    ? await recoverSegment({ disk, segment, entry, folderId, verifyBlock, claim })
    : missingSegment(entry);
  if (entry.closed !== undefined || found.isLost) return { found, closed: true };
  try {
    await manifest.close(segment, found.bytes, found.sequence, found.damagedBlocks);
    return { found, closed: true };
  } catch (error) {
    // Without the record the next start recovers the segment again, and finds the same.
    if (isDiskFull(error)) return { found, closed: false };
    throw error;
  }
}

/** A segment without a file: damaged, unless it was closed without a group. */
function missingSegment(entry: SegmentEntry): RecoveredSegment {
  const bytes = entry.closed?.bytes ?? HEAD_BYTES;
  const damaged = bytes > 0 ? [{ offset: 0, bytes }] : [];
  const isLost = entry.closed === undefined;
  return { ...emptySegment(entry.closed?.sequence ?? 0, bytes), damaged, isLost };
}

/** Rows of blocks, and their oldest and newest date, which are 0 without rows. */
export function boundsOf(
  blocks: Iterable<BlockRef>,
): Pick<BlockRef, 'rowCount' | 'minTimeMs' | 'maxTimeMs'> {
  let rowCount = 0;
  let minTimeMs = Number.POSITIVE_INFINITY;
  let maxTimeMs = Number.NEGATIVE_INFINITY;
  for (const block of blocks) {
    rowCount += block.rowCount;
    minTimeMs = Math.min(minTimeMs, block.minTimeMs);
    maxTimeMs = Math.max(maxTimeMs, block.maxTimeMs);
  }
  return rowCount === 0
    ? { rowCount, minTimeMs: 0, maxTimeMs: 0 }
    : { rowCount, minTimeMs, maxTimeMs };
}
