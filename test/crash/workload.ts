import { addRun, type Run } from '../../engine/segment/block/runs.ts';
import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import type { CommittedGroup, LogFile } from '../../engine/store/log-file.ts';
import { type Claim, makeSequences, Sequences } from '../../engine/store/sequences.ts';
import type { KeyUsage } from '../../engine/store/usage.ts';
import { beginLog } from '../store/begin.ts';
import { opaqueBlock, readOpaque, verifyOpaque } from '../store/opaque.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

/** The UTC day of all usage here. */
export const DAY = 20_000;

/** Room behind some groups: others lie in it, others again beyond it. */
const ROOM_BYTES = 1_024;

/** Knowledge of the outside world: rows by their id, and what it was told. */
export class Journal {
  /** Value by id of all rows that were acknowledged. */
  readonly acked = new Map<string, number>();
  ackedEvents = 0;
  /** Rows of the group whose fate nobody was told. */
  doubt = new Map<string, number>();

  begin(rows: Map<string, number>): void {
    this.doubt = rows;
  }

  acknowledge(): void {
    for (const [id, value] of this.doubt) this.acked.set(id, value);
    this.ackedEvents += this.doubt.size;
    this.doubt = new Map();
  }
}

/** The start of another process: the one before has ended. */
export function open(disk: MemoryDisk): Promise<OpenedCatalog> {
  disk.end();
  return openCatalog({ disk, nowMs: 1_000, verifyBlock: verifyOpaque });
}

/** Ids and values of all rows that a query would see; throws when one is there twice. */
export function visibleRows(disk: MemoryDisk, opened: OpenedCatalog): Map<string, number> {
  const rows = new Map<string, number>();
  for (const ref of opened.catalog.snapshot().blocks) {
    for (const [sequence, value] of readOpaque(disk, ref)) {
      const id = `${ref.writer}.${sequence}`;
      if (rows.has(id)) throw new Error(`row ${id} is there twice`);
      rows.set(id, value);
    }
  }
  return rows;
}

const NOTHING: Claim = { first: 0, end: 0 };

function sequencesOf({ catalog }: OpenedCatalog): Sequences {
  return new Sequences(makeSequences(2, catalog.end));
}

/** A writer's life: groups of new rows, small blocks that a whole one supersedes, segments closed one by one. */
class Script {
  readonly #disk: MemoryDisk;
  readonly #opened: OpenedCatalog;
  readonly #journal: Journal;
  readonly #writer: number;
  readonly #sequences: Sequences;
  #log: LogFile | undefined;
  #value: number;

  constructor(
    disk: MemoryDisk,
    opened: OpenedCatalog,
    journal: Journal,
    sequences: Sequences,
    writer: number,
    value: number,
  ) {
    this.#disk = disk;
    this.#opened = opened;
    this.#journal = journal;
    this.#sequences = sequences;
    this.#writer = writer;
    this.#value = value;
  }

  async begin(): Promise<void> {
    const { manifest } = this.#opened;
    this.#log = await beginLog(this.#disk, manifest, this.#writer, ROOM_BYTES);
  }

  /** One group: for each count a block of new rows; `again` are earlier rows, whose blocks are superseded. */
  async group(counts: number[], again: CommittedGroup[] = []): Promise<CommittedGroup> {
    const log = this.#log as LogFile;
    const rows = new Map<string, number>();
    const id = (sequence: number): string => `${this.#writer}.${sequence}`;
    const fresh = counts.reduce((sum, count) => sum + count, 0);
    const claim = fresh === 0 ? NOTHING : this.#sequences.claim(this.#writer, fresh);
    let next = claim.first;
    const repeated: Run[] = [];
    for (const { claim } of again)
      addRun(repeated, { first: claim.first, rows: claim.end - claim.first });
    const blocks = counts.map((count, index) => {
      const runs = index === 0 ? repeated : [];
      const values: number[] = [];
      for (const { first, rows: length } of runs) {
        for (let row = 0; row < length; row++)
          values.push(Number(this.#journal.acked.get(id(first + row))));
      }
      for (let row = 0; row < count; row++) {
        rows.set(id(next++), ++this.#value);
        values.push(this.#value);
      }
      return opaqueBlock(values, next, runs);
    });
    this.#journal.begin(rows);
    const superseded = again.flatMap((group) => group.blocks.map((b) => b.ordinal));
    const sums: KeyUsage[] = [{ key: 'key', day: DAY, bytes: rows.size * 7, events: rows.size }];
    const usage = rows.size === 0 ? [] : sums;
    const group = await log.append({ blocks, claim, superseded, usage });
    this.#opened.catalog.apply(group);
    this.#journal.acknowledge();
    return group;
  }

  async end(): Promise<void> {
    const log = this.#log as LogFile;
    await this.#opened.manifest.close(log.segment, log.durableBytes, log.sequence);
    log.close();
  }
}

/** Runs the workload to its end or until the disk refuses a call; the journal tells how far it came. */
export async function runWorkload(disk: MemoryDisk, journal: Journal): Promise<void> {
  const opened = await open(disk);
  const sequences = sequencesOf(opened);
  const first = new Script(disk, opened, journal, sequences, 0, 1_000);
  await first.begin();
  const one = await first.group([3]);
  // A group of another writer, which failed.
  sequences.claim(1, 2);
  const two = await first.group([2]);
  await first.group([4, 1], [one, two]);
  await first.end();
  await first.begin();
  const three = await first.group([2]);
  const other = new Script(disk, opened, journal, sequences, 1, 5_000);
  await other.begin();
  await other.group([20]);
  await first.group([0], [three]);
  await first.group([6, 6]);
}

/** Appends one more group after a recovery, as the next process would. */
export async function continueWork(
  disk: MemoryDisk,
  opened: OpenedCatalog,
  journal: Journal,
): Promise<void> {
  const script = new Script(disk, opened, journal, sequencesOf(opened), 0, 9_000);
  await script.begin();
  await script.group([2]);
}

/** The fault of what a store shows, given what the world was told; `undefined` when there is none. */
export async function violation(disk: MemoryDisk, journal: Journal): Promise<string | undefined> {
  try {
    const opened = await open(disk);
    const rows = visibleRows(disk, opened);
    const shown = [...journal.doubt.keys()].filter((id) => rows.has(id)).length;
    if (shown !== 0 && shown !== journal.doubt.size) return 'a group is there in part';
    const expected = new Map([...journal.acked, ...(shown > 0 ? journal.doubt : [])]);
    for (const [id, value] of expected) {
      if (rows.get(id) !== value) return `row ${id} is ${rows.get(id)} instead of ${value}`;
    }
    if (rows.size !== expected.size) return `${rows.size} rows instead of ${expected.size}`;
    const events = opened.usage[0]?.events ?? 0;
    if (events !== expected.size) return `usage of ${events} events instead of ${expected.size}`;
    if (opened.report.remarks.some((remark) => remark.damaged.length > 0)) {
      return `a stop was taken for corruption: ${JSON.stringify(opened.report.remarks)}`;
    }
    if (shown > 0) journal.acknowledge();
    journal.doubt = new Map();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
