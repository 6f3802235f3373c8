import { must } from '../base/assert.ts';
import { ByteReader } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { claimFile, type Disk } from '../base/file.ts';
import { addRun, holdsRuns, type Run, readRuns, rowsOfRuns } from '../segment/block/runs.ts';
import { type BlockRef, FRAME_ALIGNMENT, type FrameHeader, FrameKind } from '../segment/frame.ts';
import { checkedMeta } from '../segment/frame-source.ts';
import { type Head, readHead } from '../segment/head.ts';
import { type Commit, HEAD_BYTES, readCommit } from './commit.ts';
import { segmentPath } from './filename.ts';
import { FrameReader } from './frame-reader.ts';
import type { SegmentEntry } from './manifest-state.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** Verifies the checksums of all regions of a whole block frame, whose header is known to be right. */
export type VerifyBlock = (frame: Uint8Array) => boolean;

/** A stretch of a segment's file that does not hold what was written. */
export interface Damage {
  offset: number;
  bytes: number;
}

/** Content of a segment's file. */
export interface RecoveredSegment {
  /** Blocks that exist, by ordinal. */
  blocks: BlockRef[];
  /** Sums by key and day over all commit frames. */
  usage: KeyUsage[];
  /** Bytes up to the end of the last committed group; 0 when there is none. */
  bytes: number;
  /** Above the sequence of every row that stands in the file. */
  sequence: number;
  /** Corruption, in order of place. What a stop leaves at the end of a file is none. */
  damaged: Damage[];
  /** Ordinals of blocks whose header is right and whose regions are not: for the manifest. */
  damagedBlocks: number[];
  /** Bytes behind the last committed group, up to the last one that is not zero: what a stop left. */
  cutBytes: number;
  /**
   * Set when even the head of a segment that was not closed is missing. It is whole again when its file is put back.
   */
  isLost: boolean;
}

/** Facts about a segment that recovery needs before it reads. */
export interface RecoveryOptions {
  disk: Disk;
  segment: number;
  entry: SegmentEntry;
  folderId: Uint8Array;
  verifyBlock: VerifyBlock;
  /** Set when an earlier process wrote the segment; a living one holds its lock. */
  claim: boolean;
}

/**
 * Reads a segment's file, which must be there. One that is not closed is verified wholly and synced; of a closed
 * one only headers and commit frames are read. Changes no file.
 * Throws USAGE when the file is of another format version, or another process writes it; IO. Source: FORMAT.md 5.
 */
export async function recoverSegment(options: RecoveryOptions): Promise<RecoveredSegment> {
  const { disk, segment, entry } = options;
  const claim = options.claim && entry.closed === undefined;
  const path = segmentPath(segment);
  const file = disk.open(path, claim ? 'write' : 'read');
  try {
    if (claim) claimFile(file, path);
    const fileBytes = file.bytes();
    const limitBytes = Math.min(fileBytes, entry.closed?.bytes ?? fileBytes);
    const reader = new FrameReader(file, segment, limitBytes);
    const recovered = new Recovery(options, reader).run();
    if (entry.closed === undefined && recovered.bytes > 0) await file.sync();
    return recovered;
  } finally {
    file.close();
  }
}

/** A segment without blocks. */
export function emptySegment(sequence: number, bytes: number): RecoveredSegment {
  const nothing = {
    blocks: [],
    usage: [],
    damaged: [],
    damagedBlocks: [],
    cutBytes: 0,
    isLost: false,
  };
  return { ...nothing, sequence, bytes };
}

interface PendingBlock {
  ref: BlockRef;
  checksum: number;
}

/** The frames of one group, until a frame of a later group or the file's end decides about it. */
class PendingGroup {
  readonly group: number;
  readonly blocks = new Map<number, PendingBlock>();
  commit: Commit | undefined;
  endBytes = 0;

  constructor(group: number) {
    this.group = group;
  }
}

class Recovery {
  readonly #options: RecoveryOptions;
  readonly #reader: FrameReader;
  readonly #closed: boolean;
  readonly #live = new Map<number, BlockRef>();
  /** The sequences of each block that was read; none when they are not known. */
  readonly #runs = new Map<BlockRef, readonly Run[]>();
  readonly #usage = new UsageSum();
  readonly #damaged: Damage[] = [];
  readonly #damagedBlocks = new Set<number>();
  #validBytes = 0;
  #sequence: number;
  #pending = new PendingGroup(0);
  #hasHead = false;
  #foreign = false;

  constructor(options: RecoveryOptions, reader: FrameReader) {
    this.#options = options;
    this.#reader = reader;
    const { closed } = options.entry;
    this.#closed = closed !== undefined;
    this.#sequence = closed?.sequence ?? 0;
    for (const ordinal of closed?.damaged ?? []) this.#damagedBlocks.add(ordinal);
  }

  run(): RecoveredSegment {
    this.#walk();
    this.#settle(this.#closed);
    const { limitBytes } = this.#reader;
    const closedBytes = this.#options.entry.closed?.bytes;
    if (this.#foreign) return this.#foreignSegment();
    // The head was durable before the manifest had the segment: without it acknowledged groups may be lost.
    const wantedBytes = closedBytes ?? (this.#hasHead ? undefined : HEAD_BYTES);
    if (wantedBytes !== undefined) {
      if (limitBytes < wantedBytes) this.#damage(limitBytes, wantedBytes);
      this.#validBytes = Math.max(this.#validBytes, wantedBytes);
    }
    return {
      blocks: [...this.#live.values()],
      usage: this.#usage.list(),
      bytes: this.#validBytes,
      sequence: this.#sequence,
      damaged: this.#damaged.filter((damage) => damage.offset < this.#validBytes),
      damagedBlocks: [...this.#damagedBlocks],
      cutBytes: this.#reader.endBehind(this.#validBytes) - this.#validBytes,
      isLost: !this.#hasHead && !this.#closed,
    };
  }

  /**
   * A file that belongs elsewhere: it is not served, and every start names it. A segment that was open is lost, not
   * closed, because its own file may be put back.
   */
  #foreignSegment(): RecoveredSegment {
    const bytes = this.#reader.limitBytes;
    const isLost = !this.#closed;
    return { ...emptySegment(this.#sequence, bytes), damaged: [{ offset: 0, bytes }], isLost };
  }

  /** Goes from frame to frame, and over damage to the next right header. */
  #walk(): void {
    let offset = 0;
    let ordinal = 0;
    let previous: number | undefined = 0;
    while (offset < this.#reader.limitBytes && !this.#foreign) {
      const header = this.#reader.header(offset);
      if (header !== undefined && this.#fits(header, offset, ordinal, previous)) {
        this.#take(header, offset);
        offset += header.frameBytes;
        ordinal = header.ordinal + 1;
        previous = header.checksum;
      } else {
        const next = this.#reader.find(offset + FRAME_ALIGNMENT, ordinal, this.#pending.group);
        const end = next ?? this.#reader.limitBytes;
        this.#damage(offset, end);
        offset = end;
        previous = undefined;
      }
    }
  }

  /** Checks that a valid header belongs where it stands. Behind damage the chain is unknown. */
  #fits(
    header: FrameHeader,
    offset: number,
    ordinal: number,
    previous: number | undefined,
  ): boolean {
    if ((header.kind === FrameKind.HEAD) !== (offset === 0)) return false;
    if (header.kind > FrameKind.COMMIT) return false;
    if (header.group < this.#pending.group) return false;
    if (previous === undefined) return header.ordinal >= ordinal;
    return header.ordinal === ordinal && header.previous === previous;
  }

  #take(header: FrameHeader, offset: number): void {
    if (header.group > this.#pending.group) {
      // This frame was written after the sync of the group before had returned: that group was durable.
      this.#settle(true);
      if (!this.#endsKnown(header.group)) this.#validBytes = offset;
      this.#pending = new PendingGroup(header.group);
    }
    let intact = false;
    if (header.kind === FrameKind.HEAD) intact = this.#takeHead(header, offset);
    else if (header.kind === FrameKind.COMMIT) intact = this.#takeCommit(header, offset);
    else intact = this.#takeBlock(header, offset);
    if (!intact) {
      const end = Math.min(offset + header.frameBytes, this.#reader.limitBytes);
      this.#damage(offset, end);
    }
  }

  /**
   * Reports whether the pending group ends where `group` begins. It does not when a commit frame between them is
   * lost.
   */
  #endsKnown(group: number): boolean {
    const { group: before, commit } = this.#pending;
    return group === before + 1 && (before === 0 || commit !== undefined);
  }

  #takeHead(header: FrameHeader, offset: number): boolean {
    const head = this.#parse(header, offset, readHead);
    if (head === undefined) return false;
    this.#hasHead = true;
    this.#foreign = !this.#belongs(head);
    return true;
  }

  #belongs(head: Head): boolean {
    const { entry, folderId } = this.#options;
    return head.writer === entry.writer && Buffer.compare(head.folderId, folderId) === 0;
  }

  #takeCommit(header: FrameHeader, offset: number): boolean {
    const commit = this.#parse(header, offset, readCommit);
    if (commit === undefined) return false;
    this.#pending.commit = commit;
    this.#pending.endBytes = offset + header.frameBytes;
    return true;
  }

  #takeBlock(header: FrameHeader, offset: number): boolean {
    this.#sequence = Math.max(this.#sequence, header.firstSequence + header.rowCount);
    if (!this.#isWhole(header, offset)) {
      this.#damagedBlocks.add(header.ordinal);
      return false;
    }
    const runs = this.#runsOf(header, offset);
    const repeatedRows = rowsOfRuns(runs ?? []);
    const ref: BlockRef = {
      sealed: false,
      segment: header.segment,
      writer: this.#options.entry.writer,
      offset,
      bytes: header.frameBytes,
      ordinal: header.ordinal,
      rowCount: header.rowCount,
      firstSequence: runs === undefined ? 0 : (runs[0]?.first ?? header.firstSequence),
      endSequence: header.firstSequence + header.rowCount - repeatedRows,
      minTimeMs: header.minTimeMs,
      maxTimeMs: header.maxTimeMs,
    };
    const fresh = { first: header.firstSequence, rows: header.rowCount - repeatedRows };
    if (runs !== undefined && fresh.rows > 0) addRun(runs, fresh);
    this.#runs.set(ref, runs ?? []);
    this.#pending.blocks.set(header.ordinal, { ref, checksum: header.checksum });
    return true;
  }

  /** The rows of earlier blocks in a block; `undefined` when its meta is damaged, which its reader will find. */
  #runsOf(header: FrameHeader, offset: number): Run[] | undefined {
    if (!header.repeats) return [];
    return this.#parse(header, offset, (meta) =>
      readRuns(new ByteReader(checkedMeta(meta, header)), header.rowCount, header.firstSequence),
    );
  }

  /** Verifies a block's regions while the segment is open; afterwards the result is known. */
  #isWhole(header: FrameHeader, offset: number): boolean {
    if (this.#damagedBlocks.has(header.ordinal) || !this.#reader.holds(header, offset))
      return false;
    return this.#closed || this.#options.verifyBlock(this.#reader.frame(header, offset));
  }

  /** Reads a frame's meta; `undefined` when it is damaged. */
  #parse<T>(header: FrameHeader, offset: number, read: (meta: Uint8Array) => T): T | undefined {
    const meta = this.#reader.meta(header, offset);
    if (meta === undefined) return undefined;
    try {
      return read(meta);
    } catch (error) {
      if (error instanceof EngineError && error.code === 'CORRUPTION') return undefined;
      throw error;
    }
  }

  /** Decides about the pending group. `durable`: it was synced whole once, so what is missing is corruption. */
  #settle(durable: boolean): void {
    const { commit, blocks } = this.#pending;
    if (commit === undefined) {
      if (durable) this.#adopt([...blocks.values()].map((block) => block.ref));
      return;
    }
    const intact: BlockRef[] = [];
    for (const { ordinal, checksum } of commit.blocks) {
      const block = blocks.get(ordinal);
      if (block?.checksum === checksum) intact.push(block.ref);
    }
    const whole = intact.length === commit.blocks.length;
    if (!whole && !durable) return;
    if (whole) {
      for (const ordinal of commit.superseded) this.#live.delete(ordinal);
      for (const ref of intact) this.#live.set(ref.ordinal, ref);
    } else {
      this.#adopt(intact);
    }
    this.#usage.addAll(commit.usage);
    this.#validBytes = this.#pending.endBytes;
  }

  /**
   * Adds the valid blocks of a damaged group. Runs tell which blocks it superseded: a block goes when all of its rows
   * lie in one of these, and stays when its successor is lost.
   */
  #adopt(refs: readonly BlockRef[]): void {
    for (const ref of refs) {
      const runs = this.#runsIn(ref);
      for (const older of this.#live.values()) {
        const olderRuns = this.#runsIn(older);
        if (olderRuns.length > 0 && holdsRuns(runs, olderRuns)) this.#live.delete(older.ordinal);
      }
    }
    for (const ref of refs) this.#live.set(ref.ordinal, ref);
  }

  /** The runs of a block that was read; none when they are not known. */
  #runsIn(ref: BlockRef): readonly Run[] {
    return must(this.#runs.get(ref), `runs of block ${ref.ordinal}`);
  }

  #damage(offset: number, end: number): void {
    if (end > offset) this.#damaged.push({ offset, bytes: end - offset });
  }
}
