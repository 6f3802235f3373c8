import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import {
  BLOCK_AGE_MAX_MS,
  LOG_SEGMENT_BYTES_MAX,
  LOG_SEGMENT_ROWS_MAX,
  SEGMENT_AGE_MAX_MS,
} from '../base/limits.ts';
import type { PathTable } from '../column/path.ts';
import type { Rows } from '../column/rows.ts';
import { type EncodedBlock, freshRowsOf } from '../segment/frame.ts';
import { Gathering, type WaitForAppends } from './gathering.ts';
import { type CommittedGroup, LogFile } from './log-file.ts';
import { type GatheredRows, OpenBlock } from './open-block.ts';
import type { Claim, Sequences } from './sequences.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** Time that rows without a waiting request may wait for others. */
const PATIENCE_MS = 50;

/**
 * The same while so many rows come that they make a block of final size, whose rows are not written a second time,
 * until there are five times as many: a row of a larger block costs little less.
 */
const PATIENCE_MAX_MS = 200;
const SHARE_TO_WAIT_FOR = PATIENCE_MS / PATIENCE_MAX_MS;
const SHARE_ENOUGH = 5;

/** Time after a failure in which rows are refused at once, so that each attempt does not cost a segment. */
const RETRY_AFTER_MS = 1_000;

/** Dependencies of a writer on the threads around it. */
export interface WriterOptions {
  disk: Disk;
  /** 0 to 255. */
  writer: number;
  folderId: Uint8Array;
  /** The table that the rows' paths are numbers of. */
  paths: PathTable;
  /** Source from which all writers of the folder take the sequences of their rows. */
  sequences: Pick<Sequences, 'claim'>;
  /** Takes a segment number. */
  allocate(): Promise<number>;
  /** Records that a segment is begun, whose file is durable. */
  begun(segment: number): Promise<void>;
  /**
   * Records that a segment is closed with its first `bytes` and sequences below `sequence`. `failed`: a group of these
   * sequences failed behind them; it is over with the record.
   */
  closed(segment: number, bytes: number, sequence: number, failed?: Claim): Promise<void>;
  /** Makes a durable group visible. When it rejects, the writer gives the segment up, as after a failed write. */
  committed(group: CommittedGroup): Promise<void>;
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds of a clock that is never set. */
  monotonicMs(): number;
  /** Waits for further urgent appends, where the thread can; otherwise its event loop brings them. */
  waitFor?: WaitForAppends;
  /** Rows from which a segment is closed; LOG_SEGMENT_ROWS_MAX unless given. */
  segmentRowsMax?: number;
  /** Bytes from which it is; LOG_SEGMENT_BYTES_MAX unless given. */
  segmentBytesMax?: number;
  /** A segment is closed that got no rows for so long; never unless given. */
  segmentIdleMs?: number;
  /** Room that is made behind small groups, as `LogFileOptions` has it. */
  roomBytes?: number;
}

/** Rows and usage that become durable together. */
class Group {
  readonly blocks: EncodedBlock[] = [];
  /** Lists of the small blocks that its blocks replace. */
  readonly replaced: number[][] = [];
  readonly usage = new UsageSum();
  /** Appends, and those among them that wait for nothing but the disk. */
  appendCount = 0;
  urgentCount = 0;
  blockBytes = 0;
  #durable: PromiseWithResolvers<void> | undefined;

  /** Adds an append; resolves when the group is durable, with one promise for all. */
  join(senders = 1): Promise<void> {
    this.appendCount += senders;
    this.#durable ??= Promise.withResolvers();
    return this.#durable.promise;
  }

  /** The group is durable. */
  succeed(): void {
    this.#durable?.resolve();
  }

  /** The group is lost. */
  fail(error: unknown): void {
    this.#durable?.reject(error);
  }

  add(block: EncodedBlock): void {
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
  readonly #gathering: Gathering;
  #next = new Group();
  #log: LogFile | undefined;
  #logRows = 0;
  /** When the segment got its first group, and its last one. */
  #logBegunMs = 0;
  #logGrownMs = 0;
  /** Set when the segment should close as soon as it has no open small block. */
  #rotateDue = false;
  /** Sequences of the group that is being written. */
  #claim: Claim | undefined;
  /** Set when the next group should be written as soon as the previous one is done. */
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
    this.#gathering = new Gathering(options.monotonicMs, options.waitFor);
  }

  /** Bytes of blocks that are encoded and not yet durable. Rows of the open block do not count. */
  get pendingBytes(): number {
    return this.#next.blockBytes + this.#writingBytes;
  }

  /** Is set while it writes nothing, and no rows are to be written at once. */
  get isIdle(): boolean {
    return this.#run === undefined;
  }

  /**
   * Takes all rows, in one group; resolves when it is durable and visible: all appends of a group have one promise.
   * Reads `rows` before it returns and keeps no reference. `urgent: false` lets them wait for more: 50 ms, up to 200 ms
   * while many come.
   * Rejects with IO, and then no query will see them unless it was `committed` that failed; with CLOSED.
   */
  append(
    rows: Rows,
    usage: readonly KeyUsage[],
    { urgent, senders = 1 }: { urgent: boolean; senders?: number } = { urgent: true },
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
    const { blocks } = this.#next;
    const durable = this.#next.join(senders);
    if (urgent) {
      this.#next.urgentCount += senders;
      this.#gathering.joined(this.#next.urgentCount);
    }
    if (urgent || blocks.length > 0 || this.#broken !== undefined) this.#demand();
    else if (this.#timer === undefined) this.#wait(0);
    return durable;
  }

  /** Takes rows that came in pieces, as `append` takes others. */
  appendGathered(gathered: GatheredRows, usage: readonly KeyUsage[]): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    if (gathered.rowCount === 0 && usage.length === 0) return Promise.resolve();
    for (const block of gathered.end()) this.#next.add(block);
    this.#next.usage.addAll(usage);
    const durable = this.#next.join();
    this.#demand();
    return durable;
  }

  /** Tells how many senders of urgent appends are not answered: a group that has all of them waits for nobody. */
  told(senderCount: number): void {
    this.#gathering.told(senderCount);
  }

  #take(rows: Rows): void {
    const nowMs = this.#options.monotonicMs();
    for (let row = 0; row < rows.rowCount; ) {
      row += this.#open.take(rows, row, nowMs);
      if (this.#open.isFull) this.#seal(this.#next);
    }
  }

  /** Writes an open block whole that has become old, closes a segment that has. To be called about once a second. */
  tick(): void {
    const nowMs = this.#options.monotonicMs();
    if (this.#isSegmentOld(nowMs)) this.#rotateDue = true;
    if (!this.#rotateDue && this.#open.ageMs(nowMs) < BLOCK_AGE_MAX_MS) return;
    this.#sealDue = true;
    this.#demand();
  }

  /** Reports whether the segment is old enough that its rows should be sealed without more delay. */
  #isSegmentOld(nowMs: number): boolean {
    if (this.#log === undefined || this.#logRows === 0) return false;
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

  /** Makes the waiting rows durable, writes the open block whole and closes the segment. Later appends reject. */
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
    const elapsedMs = this.#options.monotonicMs() - this.#failedMs;
    if (elapsedMs < RETRY_AFTER_MS) {
      return new EngineError('IO', `a write failed ${Math.round(elapsedMs)} ms ago`);
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

  /** Asks for the next group after a while; `waitedMs` went by since the first of its rows came. */
  #wait(waitedMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const laterMs = waitedMs + PATIENCE_MS;
      const { flushShare } = this.#open;
      const isWorthWaiting = flushShare >= SHARE_TO_WAIT_FOR && flushShare < SHARE_ENOUGH;
      if (isWorthWaiting && laterMs < PATIENCE_MAX_MS) this.#wait(laterMs);
      else this.#demand();
    }, PATIENCE_MS);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #writeGroups(): Promise<void> {
    // Lets the rest of this turn join the first group.
    await Promise.resolve();
    while (this.#due) {
      let group = new Group();
      try {
        await this.#gather();
        if (this.#log === undefined && !this.#isEmpty) await this.#beginSegment();
        // Taken when it can be written at once: rows that come later are of the next one, whole.
        group = this.#next;
        this.#next = new Group();
        this.#due = false;
        this.#stopTimer();
        if (this.#broken !== undefined) throw this.#broken.error;
        await this.#write(group);
        group.succeed();
        this.#gathering.answered(group.urgentCount, this.#next.urgentCount);
        await this.#closeFullSegment();
      } catch (error) {
        await this.#fail(group, error);
      }
    }
    this.#run = undefined;
  }

  /** Lets senders that were just answered join the next group, unless it is large already. */
  async #gather(): Promise<void> {
    if (this.#next.blocks.length > 0 || this.#open.isFlushFinal) return;
    await this.#gathering.wait(() => this.#next.urgentCount);
  }

  /** Is set when there is nothing to write, or nothing that may be written. */
  get #isEmpty(): boolean {
    if (this.#broken !== undefined) return true;
    const { blocks, usage } = this.#next;
    return blocks.length === 0 && this.#open.freshRows === 0 && usage.empty;
  }

  async #write(group: Group): Promise<void> {
    const small = this.#encodeOpen(group);
    const { blocks } = group;
    const usage = group.usage.list();
    if (blocks.length === 0 && usage.length === 0) return;
    const log = must(this.#log, 'segment');
    this.#writingBytes = group.blockBytes;
    const claim = this.#claimFor(group, small !== undefined);
    const superseded = group.replaced.flat();
    // Little is there to be done meanwhile.
    const isAll = group.appendCount === group.urgentCount;
    const blocking = isAll && this.#gathering.leavesFew(group.urgentCount);
    const committed = await log.append({ blocks, claim, superseded, usage, blocking });
    this.#claim = undefined;
    this.#writingBytes = 0;
    const last = committed.blocks.at(-1);
    if (small !== undefined && last !== undefined) small.push(last.ordinal);
    const nowMs = this.#options.monotonicMs();
    if (this.#logRows === 0) this.#logBegunMs = nowMs;
    if (committed.blocks.length > 0) this.#logGrownMs = nowMs;
    for (const block of committed.blocks) this.#logRows += block.rowCount;
    await this.#options.committed(committed);
  }

  /** Takes the sequences of a group's fresh rows; `small` says that its last block is the open block's small one. */
  #claimFor({ blocks }: Group, small: boolean): Claim {
    let rows = 0;
    for (const block of blocks) rows += freshRowsOf(block);
    if (rows === 0) return { first: 0, end: 0 };
    const { sequences, writer } = this.#options;
    const claim = sequences.claim(writer, rows);
    this.#claim = claim;
    if (small) this.#open.placed(claim.end - freshRowsOf(must(blocks.at(-1), 'small block')));
    return claim;
  }

  /** Adds the open block's fresh rows to a group; returns where a small block's ordinal belongs. */
  #encodeOpen(group: Group): number[] | undefined {
    const old = this.#open.ageMs(this.#options.monotonicMs()) >= BLOCK_AGE_MAX_MS;
    if (this.#sealDue || old || this.#open.isFlushFinal) {
      this.#sealDue = false;
      this.#seal(group);
      return undefined;
    }
    if (this.#open.freshRows === 0) return undefined;
    const { block, ordinals } = this.#open.encodeSmall();
    group.add(block);
    return ordinals;
  }

  #seal(group: Group): void {
    const sealed = this.#open.seal();
    if (sealed === undefined) return;
    group.add(sealed.block);
    group.replaced.push(sealed.ordinals);
  }

  async #beginSegment(): Promise<void> {
    const { replaced } = this.#next;
    assert(replaced.flat().length === 0, 'small blocks are in the segment that is open');
    const { nowMs, allocate, begun } = this.#options;
    const segment = await allocate();
    const log = await LogFile.create({ ...this.#options, segment, createdMs: nowMs() });
    try {
      await begun(segment);
    } catch (error) {
      log.close();
      throw error;
    }
    this.#log = log;
    this.#logRows = 0;
  }

  async #closeFullSegment(): Promise<void> {
    const { segmentRowsMax = LOG_SEGMENT_ROWS_MAX, segmentBytesMax = LOG_SEGMENT_BYTES_MAX } =
      this.#options;
    const bytes = this.#log?.bytes ?? 0;
    if (this.#logRows < segmentRowsMax && bytes < segmentBytesMax && !this.#rotateDue) return;
    const awaited = this.#next.replaced.some((ordinals) => ordinals.length > 0);
    if (awaited || this.#open.hasSmallBlocks) {
      // The next group has no small block, so the segment ends with it.
      this.#sealDue = true;
      this.#due = true;
    } else {
      await this.#closeSegment();
    }
  }

  /** Closes the segment at its last durable group; `failed`: another one failed behind that. */
  async #closeSegment(failed?: Claim): Promise<void> {
    const log = this.#log;
    if (log === undefined) return;
    this.#log = undefined;
    this.#rotateDue = false;
    await quietly(log.trim());
    log.close();
    // All of it is durable. Without the record the next start recovers the segment, and finds the same.
    await quietly(this.#options.closed(log.segment, log.durableBytes, log.sequence, failed));
  }

  /** Gives the segment up, and with it all rows that are not durable. */
  async #fail(group: Group, error: unknown): Promise<void> {
    const next = this.#next;
    this.#next = new Group();
    this.#due = false;
    this.#sealDue = false;
    this.#writingBytes = 0;
    this.#open.clear();
    this.#broken = undefined;
    this.#stopTimer();
    this.#failedMs = this.#options.monotonicMs();
    const claim = this.#claim;
    this.#claim = undefined;
    // Closed at its last durable group, the segment never shows the failed one, whatever the file holds.
    await this.#closeSegment(claim);
    group.fail(error);
    next.fail(error);
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
