import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import {
  BLOCK_AGE_MAX_MS,
  BLOCK_ROWS_FINAL,
  LOG_SEGMENT_ROWS_MAX,
  SEGMENT_AGE_MAX_MS,
} from '../base/limits.ts';
import type { PathTable } from '../column/path.ts';
import type { Rows } from '../column/rows.ts';
import type { EncodedBlock } from '../segment/frame.ts';
import { type CommittedGroup, LogFile } from './log-file.ts';
import { OpenBlock } from './open-block.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** Time that rows which nobody waits for may wait for others. Source: design of the write path. */
const PATIENCE_MS = 50;

/** Time after a failure in which rows are refused at once, so that each attempt does not cost a segment. */
const RETRY_AFTER_MS = 1_000;

/** What a writer needs from the threads around it. */
export interface WriterOptions {
  disk: Disk;
  /** 0 to 255. */
  writer: number;
  folderId: Uint8Array;
  /** The table that the rows' paths are numbers of. */
  paths: PathTable;
  /**
   * Takes a segment number, durably. The writer goes on from `sequence`, or from `floor`, which is above all that it
   * made durable, when that is higher.
   */
  allocate(floor: number): Promise<{ segment: number; sequence: number }>;
  /** Records that a segment is closed with its first `bytes` and sequences below `sequence`. */
  closed(segment: number, bytes: number, sequence: number): Promise<void>;
  /** Makes a durable group visible. When it rejects, the writer gives the segment up, as after a failed write. */
  committed(group: CommittedGroup): Promise<void>;
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Rows from which a segment is closed; LOG_SEGMENT_ROWS_MAX unless given. */
  segmentRowsMax?: number;
  /** A segment is closed that got no rows for so long; never unless given. */
  segmentIdleMs?: number;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Rows and usage that become durable together. */
class Group {
  /** Blocks whose `firstSequence` is still a number of the open block's. */
  readonly blocks: EncodedBlock[] = [];
  /** Lists of the small blocks that its blocks replace. */
  readonly replaced: number[][] = [];
  readonly usage = new UsageSum();
  readonly waiters: Waiter[] = [];
  blockBytes = 0;

  add(block: EncodedBlock | undefined): void {
    if (block === undefined) return;
    this.blocks.push(block);
    this.blockBytes += block.bytes.length;
  }
}

/**
 * Takes the rows of one ingest thread, makes them durable in commit groups, and begins and closes log segments.
 * Owned by that thread. Source: FORMAT.md 5.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #open: OpenBlock;
  #next = new Group();
  #log: LogFile | undefined;
  #logRows = 0;
  /** When the segment got its first group, and its last one. */
  #logBegunMs = 0;
  #logGrownMs = 0;
  /** Whether the segment is to be closed as soon as no small block is open in it. */
  #rotateDue = false;
  /** Sequence of the open block's row 0: the distance between its numbers and sequences. */
  #sequenceBase = 0;
  /** Whether the next group is to be written as soon as the one before is done. */
  #due = false;
  #sealDue = false;
  #run: Promise<void> | undefined;
  #writingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #failedMs: number | undefined;
  /** Why the open block is not to be trusted: a bug showed while rows were taken. */
  #broken: { error: unknown } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#open = new OpenBlock(options.paths);
  }

  /** Bytes of blocks that are encoded and not yet durable. Rows of the open block do not count. */
  get pendingBytes(): number {
    return this.#next.blockBytes + this.#writingBytes;
  }

  /**
   * Takes all rows, in one group; resolves when it is durable and visible. Reads `rows` before it returns and keeps
   * no reference. `urgent: false` lets them wait for more, up to 50 ms.
   * Rejects with IO, and then no query will see them unless it was `committed` that failed; with CLOSED.
   */
  append(
    rows: Rows,
    usage: readonly KeyUsage[],
    options: { urgent: boolean } = { urgent: true },
  ): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    if (rows.rowCount === 0 && usage.length === 0) return Promise.resolve();
    this.#next.usage.addAll(usage);
    try {
      this.#take(rows);
    } catch (error) {
      // A part of the rows is in the open block, and must not get out of it.
      this.#broken ??= { error };
    }
    return new Promise((resolve, reject) => {
      const { waiters, blocks } = this.#next;
      waiters.push({ resolve, reject });
      if (options.urgent || blocks.length > 0 || this.#broken !== undefined) this.#demand();
      else this.#timer ??= setTimeout(() => this.#demand(), PATIENCE_MS);
    });
  }

  #take(rows: Rows): void {
    const nowMs = this.#options.nowMs();
    for (let row = 0; row < rows.rowCount; ) {
      row += this.#open.take(rows, row, nowMs);
      if (this.#open.isFull) this.#seal(this.#next);
    }
  }

  /** Writes an open block whole that has become old, closes a segment that has. To be called about once a second. */
  tick(): void {
    const nowMs = this.#options.nowMs();
    if (this.#isSegmentOld(nowMs)) this.#rotateDue = true;
    if (!this.#rotateDue && this.#open.ageMs(nowMs) < BLOCK_AGE_MAX_MS) return;
    this.#sealDue = true;
    this.#demand();
  }

  /** Whether the segment is one whose rows should not wait longer to be sealed. */
  #isSegmentOld(nowMs: number): boolean {
    if (this.#log === undefined || this.#logRows === 0) return false;
    // A clock that was set back begins anew.
    this.#logBegunMs = Math.min(this.#logBegunMs, nowMs);
    this.#logGrownMs = Math.min(this.#logGrownMs, nowMs);
    const { segmentIdleMs = Number.POSITIVE_INFINITY } = this.#options;
    if (nowMs - this.#logGrownMs >= segmentIdleMs) return true;
    return segmentIdleMs < SEGMENT_AGE_MAX_MS && nowMs - this.#logBegunMs >= SEGMENT_AGE_MAX_MS;
  }

  /** Takes another path table for the rows of the next `append`; the open block ends here. */
  replacePaths(paths: PathTable): void {
    if (this.#open.rowCount > 0) {
      this.#seal(this.#next);
      this.#demand();
    }
    this.#open.replacePaths(paths);
  }

  /** Makes durable what waits, writes the open block whole and closes the segment. Later appends reject. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#sealDue = true;
    this.#demand();
    while (this.#run !== undefined) await this.#run;
    await this.#closeSegment();
  }

  #refusal(): EngineError | undefined {
    if (this.#closing !== undefined) return new EngineError('CLOSED', 'the writer is closed');
    if (this.#failedMs === undefined) return undefined;
    const elapsedMs = this.#options.nowMs() - this.#failedMs;
    if (elapsedMs >= 0 && elapsedMs < RETRY_AFTER_MS) {
      return new EngineError('IO', `a write failed ${elapsedMs} ms ago`);
    }
    this.#failedMs = undefined;
    return undefined;
  }

  /** Asks for the next group to be written as soon as the one before is done. */
  #demand(): void {
    this.#stopTimer();
    this.#due = true;
    this.#run ??= this.#writeGroups();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #writeGroups(): Promise<void> {
    // Lets the rest of this turn join the first group.
    await Promise.resolve();
    while (this.#due) {
      const group = this.#next;
      this.#next = new Group();
      this.#due = false;
      this.#stopTimer();
      try {
        if (this.#broken !== undefined) throw this.#broken.error;
        await this.#write(group);
        for (const waiter of group.waiters) waiter.resolve();
        await this.#closeFullSegment();
      } catch (error) {
        await this.#fail(group, error);
      }
    }
    this.#run = undefined;
  }

  async #write(group: Group): Promise<void> {
    const small = this.#encodeOpen(group);
    const usage = group.usage.list();
    if (group.blocks.length === 0 && usage.length === 0) return;
    this.#writingBytes = group.blockBytes;
    const log = this.#log ?? (await this.#beginSegment(group));
    const base = this.#sequenceBase;
    const blocks = group.blocks.map((block) => ({
      ...block,
      firstSequence: base + block.firstSequence,
    }));
    const committed = await log.append(blocks, group.replaced.flat(), usage);
    this.#writingBytes = 0;
    const last = committed.blocks.at(-1);
    if (small !== undefined && last !== undefined) small.push(last.ordinal);
    if (this.#logRows === 0) this.#logBegunMs = this.#options.nowMs();
    if (committed.blocks.length > 0) this.#logGrownMs = this.#options.nowMs();
    for (const block of committed.blocks) this.#logRows += block.rowCount;
    await this.#options.committed(committed);
  }

  /** Adds the open block's fresh rows to a group; returns where a small block's ordinal belongs. */
  #encodeOpen(group: Group): number[] | undefined {
    const { freshRows } = this.#open;
    const old = this.#open.ageMs(this.#options.nowMs()) >= BLOCK_AGE_MAX_MS;
    if (this.#sealDue || old || freshRows >= BLOCK_ROWS_FINAL) {
      this.#sealDue = false;
      this.#seal(group);
      return undefined;
    }
    if (freshRows === 0) return undefined;
    const { block, ordinals } = this.#open.encodeSmall();
    group.add(block);
    return ordinals;
  }

  #seal(group: Group): void {
    const { block, ordinals } = this.#open.seal();
    group.add(block);
    group.replaced.push(ordinals);
  }

  async #beginSegment(group: Group): Promise<LogFile> {
    assert(group.replaced.flat().length === 0, 'small blocks are in the segment that is open');
    const { disk, writer, folderId, nowMs, allocate, closed } = this.#options;
    const floor = this.#sequenceBase + (group.blocks[0]?.firstSequence ?? this.#open.nextRow);
    const { segment, sequence } = await allocate(floor);
    this.#sequenceBase += Math.max(sequence - floor, 0);
    try {
      const createdMs = nowMs();
      this.#log = await LogFile.create({ disk, segment, writer, folderId, createdMs });
    } catch (error) {
      await quietly(closed(segment, 0, sequence));
      throw error;
    }
    this.#logRows = 0;
    return this.#log;
  }

  async #closeFullSegment(): Promise<void> {
    const awaited = this.#next.replaced.some((ordinals) => ordinals.length > 0);
    const { segmentRowsMax = LOG_SEGMENT_ROWS_MAX } = this.#options;
    const full = this.#logRows >= segmentRowsMax || this.#rotateDue;
    if (!full || awaited) return;
    if (this.#open.hasSmallBlocks) {
      this.#sealDue = true;
      this.#due = true;
    } else {
      await this.#closeSegment();
    }
  }

  async #closeSegment(): Promise<void> {
    const log = this.#log;
    if (log === undefined) return;
    this.#log = undefined;
    this.#rotateDue = false;
    log.close();
    // All of it is durable. Without the record the next start recovers the segment, and finds the same.
    await quietly(this.#options.closed(log.segment, log.durableBytes, log.sequence));
  }

  /** Gives the segment up, and with it all rows that are not durable. */
  async #fail(group: Group, error: unknown): Promise<void> {
    const waiters = [...group.waiters, ...this.#next.waiters];
    this.#next = new Group();
    this.#due = false;
    this.#sealDue = false;
    this.#writingBytes = 0;
    this.#open.clear();
    this.#broken = undefined;
    this.#stopTimer();
    this.#failedMs = this.#options.nowMs();
    // Closed at its last durable group, the segment never shows the failed one, whatever the file holds.
    await this.#closeSegment();
    for (const waiter of waiters) waiter.reject(error);
  }
}

/** Waits for what may fail without consequence. */
async function quietly(done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch {
    // The caller says why nothing depends on it.
  }
}
