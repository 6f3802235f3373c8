import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { claimFile, type Disk, type DiskFile, refuseForeign } from '../base/file.ts';
import {
  type BlockRef,
  type EncodedBlock,
  FORMAT_VERSION,
  FRAME_ALIGNMENT,
  FrameKind,
  freshRowsOf,
  writeFrameHeader,
} from '../segment/frame.ts';
import { type BuiltFrame, buildCommit, buildHead, type Commit } from './commit.ts';
import { LOG_FOLDER, segmentPath } from './filename.ts';
import type { Claim } from './sequences.ts';
import type { KeyUsage } from './usage.ts';

/** A group that is durable: plain data that crosses threads. */
export interface CommittedGroup {
  segment: number;
  group: number;
  /** Bytes of the file up to the end of the group. */
  bytes: number;
  /** Claim of the rows that are in no earlier block; empty when there are none. */
  claim: Claim;
  blocks: BlockRef[];
  /** Ordinals of blocks of the same segment that do not exist any more. */
  superseded: number[];
  usage: KeyUsage[];
}

/** Parts that become durable as one group. */
export interface GroupParts {
  /** The file's until `append` settles. */
  blocks: readonly EncodedBlock[];
  /** As many sequences as the blocks have fresh rows, in the order of the blocks. */
  claim: Claim;
  /** Ordinals of blocks committed in this file that do not exist any more. */
  superseded: readonly number[];
  usage: readonly KeyUsage[];
  /** The thread has nothing else to do until it is durable. */
  blocking?: boolean;
}

/** Identity of a new segment's file. */
export interface LogFileOptions {
  disk: Disk;
  segment: number;
  writer: number;
  folderId: Uint8Array;
  createdMs: number;
  /** Milliseconds of a clock that is never set; that of the process unless given. */
  monotonicMs?: () => number;
  /** Zeros that are written behind a small group when it lies at the end of the file; none unless given. */
  roomBytes?: number;
}

/**
 * Size of a group up to which room is made behind it. Small groups come by the hundred a second, and a sync takes half
 * as long where bytes lie in a file already: there is nothing to note about the file. Larger ones would write all bytes
 * twice.
 */
const SMALL_GROUP_BYTES = 65_536;

/** After a write that kept its thread from all else for longer, none does for a while. */
const BLOCKING_MS = 50;
const SLOW_MS = 1_000;

/** Zeros for all files of a thread, in pages of the system that nobody writes to. */
let zeros = new Uint8Array(0);

/**
 * A log segment's file while its writer appends to it. Owned by one thread.
 * After any failure it is dead: nobody knows what it holds, so it is neither written nor synced again.
 * Source: FORMAT.md 3 and 5.
 */
export class LogFile {
  readonly segment: number;
  readonly writer: number;
  readonly #path: string;
  readonly #file: DiskFile;
  readonly #roomBytes: number;
  readonly #monotonicMs: () => number;
  /** Until when writes may be slow. */
  #slowUntilMs = Number.NEGATIVE_INFINITY;
  #bytes: number;
  /** Bytes of the file with the room at its end. */
  #fileBytes: number;
  #ordinal = 1;
  #previous: number;
  #group = 0;
  #sequence = 0;
  #busy = false;
  #failure: EngineError | undefined;

  constructor(options: LogFileOptions, file: DiskFile, head: BuiltFrame) {
    this.segment = options.segment;
    this.writer = options.writer;
    this.#path = segmentPath(options.segment);
    this.#file = file;
    this.#roomBytes = options.roomBytes ?? 0;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.#bytes = head.bytes.length;
    this.#fileBytes = this.#bytes;
    this.#previous = head.checksum;
  }

  /** Makes the file with its head; resolves when file and name are durable. Rejects with IO. */
  static async create(options: LogFileOptions): Promise<LogFile> {
    const { disk, segment, writer, folderId, createdMs } = options;
    const head = buildHead(segment, { format: FORMAT_VERSION, writer, folderId, createdMs });
    const path = segmentPath(segment);
    const file = disk.open(path, 'create-synced');
    try {
      claimFile(file, path);
      await file.write([head.bytes], 0);
      await disk.syncFolder(LOG_FOLDER);
    } catch (error) {
      file.close();
      throw error;
    }
    return new LogFile(options, file, head);
  }

  /** Bytes of the file up to the end of the last group. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that are durable: up to the end of the last committed group; 0 when there is none. */
  get durableBytes(): number {
    return this.#group === 0 ? 0 : this.#bytes;
  }

  /** Above the sequences of all durable rows; 0 when there are none. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Appends a commit group: fills in the headers of its blocks, writes them and the commit frame in one synced write.
   * Rejects with IO, and so does every call after one that did.
   */
  async append(parts: GroupParts): Promise<CommittedGroup> {
    const { blocks, claim, superseded, usage } = parts;
    if (this.#failure !== undefined) throw this.#failure;
    assert(!this.#busy, 'groups are appended one after the other');
    this.#busy = true;
    const commit: Commit = { blocks: [], superseded: [...superseded], usage: [...usage] };
    const group = this.#group + 1;
    const refs = this.#placeBlocks(parts, group, commit);
    const frame = buildCommit(
      { segment: this.segment, ordinal: this.#ordinal, previous: this.#previous, group },
      commit,
    );
    const chunks = [...blocks.map((block) => block.bytes), frame.bytes];
    const groupBytes = chunks.reduce((sum, { length }) => sum + length, 0);
    const end = this.#bytes + groupBytes;
    const makesRoom = end > this.#fileBytes && groupBytes <= SMALL_GROUP_BYTES;
    const room = zerosOf(makesRoom ? this.#roomBytes : 0);
    try {
      refuseForeign(this.#file, this.#path, this.#fileBytes);
      await this.#write(
        [...chunks, room],
        parts.blocking === true && groupBytes <= SMALL_GROUP_BYTES,
      );
    } catch (cause) {
      this.#failure = new EngineError('IO', `segment ${this.segment} failed earlier`, { cause });
      throw cause;
    }
    this.#bytes = end;
    this.#fileBytes = Math.max(this.#fileBytes, end + room.length);
    this.#sequence = Math.max(this.#sequence, claim.end);
    this.#ordinal++;
    this.#previous = frame.checksum;
    this.#group = group;
    this.#busy = false;
    const { segment, bytes } = this;
    const { superseded: gone, usage: sums } = commit;
    return { segment, group, bytes, claim, blocks: refs, superseded: gone, usage: sums };
  }

  /** Writes behind the last group; `blocking`: the thread waits for it, unless the disk has been slow. */
  async #write(chunks: readonly Uint8Array[], blocking: boolean): Promise<void> {
    const startedMs = this.#monotonicMs();
    const blocks = blocking && startedMs >= this.#slowUntilMs;
    await this.#file.write(chunks, this.#bytes, blocks);
    const endMs = this.#monotonicMs();
    if (blocks && endMs - startedMs > BLOCKING_MS) this.#slowUntilMs = endMs + SLOW_MS;
  }

  /** Gives back the room behind the last group. Rejects with IO. */
  async trim(): Promise<void> {
    if (this.#failure !== undefined || this.#fileBytes === this.#bytes) return;
    await this.#file.truncate(this.#bytes);
  }

  /** Lets go of the file; later appends reject with CLOSED. */
  close(): void {
    this.#failure ??= new EngineError('CLOSED', `segment ${this.segment} is closed`);
    this.#file.close();
  }

  /** Writes the headers of a group's blocks and lists them in `commit`. */
  #placeBlocks({ blocks, claim }: GroupParts, group: number, commit: Commit): BlockRef[] {
    const refs: BlockRef[] = [];
    let offset = this.#bytes;
    let sequence = claim.first;
    for (const block of blocks) {
      const { rowCount, runs, minTimeMs, maxTimeMs } = block;
      const freshRows = freshRowsOf(block);
      const last = runs.at(-1);
      const repeatedEnd = last === undefined ? 0 : last.first + last.rows;
      const headSequence = freshRows > 0 ? sequence : repeatedEnd;
      assert(repeatedEnd <= headSequence, 'rows of earlier blocks have lower sequences');
      assert(block.bytes.length % FRAME_ALIGNMENT === 0, 'frames are aligned');
      assert(rowCount > 0, 'a block has rows');
      const sum = writeFrameHeader(block.bytes, {
        kind: FrameKind.BLOCK,
        repeats: last !== undefined,
        segment: this.segment,
        ordinal: this.#ordinal,
        previous: this.#previous,
        frameBytes: block.bytes.length,
        metaBytes: block.metaBytes,
        metaRawBytes: block.metaRawBytes,
        metaChecksum: block.metaChecksum,
        group,
        rowCount,
        firstSequence: headSequence,
        minTimeMs,
        maxTimeMs,
      });
      refs.push({
        sealed: false,
        segment: this.segment,
        writer: this.writer,
        offset,
        bytes: block.bytes.length,
        ordinal: this.#ordinal,
        rowCount,
        firstSequence: runs[0]?.first ?? headSequence,
        endSequence: headSequence + freshRows,
        minTimeMs,
        maxTimeMs,
      });
      commit.blocks.push({ ordinal: this.#ordinal, checksum: sum });
      this.#ordinal++;
      this.#previous = sum;
      offset += block.bytes.length;
      sequence += freshRows;
    }
    assert(sequence === claim.end, 'all sequences are given');
    return refs;
  }
}

function zerosOf(bytes: number): Uint8Array {
  if (zeros.length < bytes) zeros = new Uint8Array(bytes);
  return zeros.subarray(0, bytes);
}
