import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import {
  Compaction,
  type CompactionEvent,
  type CompactionOptions,
} from '../../engine/store/compaction.ts';
import { parseSealedName, parseSegmentName, segmentName } from '../../engine/store/filename.ts';
import type { RetentionPolicy } from '../../engine/store/retention.ts';
import { beginLog } from '../store/begin.ts';
import { fakeSeal, rowsOfBlock } from '../store/fake-seal.ts';
import { groupOf, opaqueBlock, verifyOpaque } from '../store/opaque.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

/** The UTC day of all usage here. */
export const DAY = 20_000;
export const NOW_MS = DAY * 86_400_000 + 1_000;

/** Retention that drops nothing. */
export const KEEP_ALL: RetentionPolicy = {
  ageMaxMs: undefined,
  bytesMax: undefined,
  freeBytesMin: undefined,
};

/** Knowledge of the outside world. */
export class World {
  /** Value by id of all rows that were acknowledged. */
  readonly acked = new Map<string, number>();
  /** Rows of the group whose fate nobody was told. */
  doubt = new Map<string, number>();
  /** Rows that may be gone: all of them or none. */
  dropping = new Set<string>();
  ackedEvents = 0;
  /** Where each phase of the workload began, by the disk's calls. */
  readonly phases: { name: string; call: number }[] = [];
}

/** The start of another process: the one before has ended. */
export function open(disk: MemoryDisk, rewriteBytes = 1e9): Promise<OpenedCatalog> {
  disk.end();
  const options = { disk, nowMs: NOW_MS, verifyBlock: verifyOpaque };
  return openCatalog({ ...options, rewriteBytes });
}

/** Values by id of all rows that a query would see; throws when one is there twice. */
export function visibleRows(disk: MemoryDisk, opened: OpenedCatalog): Map<string, number> {
  const rows = new Map<string, number>();
  for (const ref of opened.catalog.snapshot().blocks) {
    for (const [id, value] of rowsOfBlock(disk, ref)) {
      if (rows.has(id)) throw new Error(`row ${id} is there twice`);
      rows.set(id, value);
    }
  }
  return rows;
}

/** Compaction with made-up merging, whose clock and policies the caller gives. */
export function compactionOf(
  disk: MemoryDisk,
  opened: OpenedCatalog,
  options: Partial<CompactionOptions> = {},
  events: CompactionEvent[] = [],
): Compaction {
  return new Compaction({
    disk,
    opened,
    merge: (job, allocate) => fakeSeal(disk, job, allocate),
    mergesMax: 1,
    space: () => ({ freeBytes: 1e12, totalBytes: 1e12 }),
    nowMs: () => NOW_MS,
    monotonicMs: () => 0,
    policy: { sealRows: 4, idleMs: 1e9, mergeRows: 32 },
    retention: KEEP_ALL,
    reserveBytes: 0,
    unlinked: () => {},
    tell: (event) => events.push(event),
    ...options,
  });
}

/** Lets compaction do what is due, `turns` times. */
export async function keep(compaction: Compaction, turns = 1): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    compaction.tick();
    await compaction.settled();
  }
}

/**
 * A log segment of a writer, closed at its end or not: a group for each count of rows, durable and told to the world.
 */
export async function writeSegment(
  disk: MemoryDisk,
  opened: OpenedCatalog,
  world: World,
  writer: number,
  counts: number[],
  isClosed = true,
): Promise<void> {
  const { manifest, catalog } = opened;
  const log = await beginLog(disk, manifest, writer);
  const { segment } = log;
  let next = catalog.end;
  for (const count of counts) {
    const values = Array.from({ length: count }, (_, row) => 100 * segment + next + row);
    world.doubt = new Map(values.map((value, row) => [`${writer}.${next + row}`, value]));
    const usage = [{ key: 'key', day: DAY, bytes: count * 7, events: count }];
    const group = await log.append(groupOf(next, [opaqueBlock(values, next)], [], usage));
    catalog.apply(group);
    for (const [id, value] of world.doubt) world.acked.set(id, value);
    world.ackedEvents += count;
    world.doubt = new Map();
    next += count;
  }
  if (isClosed) await manifest.close(segment, log.durableBytes, log.sequence);
  log.close();
}

/** Runs the workload to its end or until the disk refuses a call; the world tells how far it came. */
export async function runWorkload(disk: MemoryDisk, world: World): Promise<void> {
  const phase = (name: string): number => world.phases.push({ name, call: disk.calls });
  let ended = false;
  const tell = (event: CompactionEvent): void => {
    // The process ends with the first call that is refused.
    if (event.type === 'failed' || event.type === 'mergeFailed') ended = true;
  };
  const go = async (opened: OpenedCatalog, options: Partial<CompactionOptions>): Promise<void> => {
    await keep(compactionOf(disk, opened, { ...options, tell }));
    if (ended) throw new Error('the process has ended');
  };
  phase('write');
  const opened = await open(disk);
  const policy = { sealRows: 4, idleMs: 1e9, mergeRows: 32 };
  await writeSegment(disk, opened, world, 0, [3]);
  await writeSegment(disk, opened, world, 1, [2, 1]);
  phase('seal');
  await go(opened, { policy: { ...policy, sealRows: 6 } });
  phase('write');
  await writeSegment(disk, opened, world, 0, [4]);
  await writeSegment(disk, opened, world, 1, []);
  phase('seal');
  await go(opened, { policy });
  // The one without rows goes too.
  await go(opened, { policy: { ...policy, idleMs: 0 } });
  phase('merge');
  await go(opened, {
    policy: { ...policy, mergeRows: 20, idleMs: 0 },
    monotonicMs: () => 9e7,
    nowMs: () => NOW_MS + 9e7,
  });
  phase('write');
  await writeSegment(disk, opened, world, 0, [2, 2]);
  phase('drop');
  const [oldest] = opened.manifest.sealed.values();
  world.dropping = new Set(
    oldest?.blocks.flatMap((ref) => rowsOfBlock(disk, ref)).map(([id]) => id),
  );
  const bytes = [...opened.manifest.segments.values()].reduce(
    (sum, e) => sum + (e.closed?.bytes ?? 0),
    0,
  );
  await go(opened, {
    retention: { ...KEEP_ALL, bytesMax: bytes },
    policy: { ...policy, sealRows: 100 },
  });
  await opened.manifest.release();
  phase('rewrite');
  const again = await open(disk, 1);
  phase('write');
  await writeSegment(disk, again, world, 1, [2]);
  phase('end');
}

/** The fault of what a store shows, given what the world was told; `undefined` when there is none. */
export async function violation(disk: MemoryDisk, world: World): Promise<string | undefined> {
  try {
    const opened = await open(disk);
    const rows = visibleRows(disk, opened);
    for (const set of [new Set(world.doubt.keys()), world.dropping]) {
      const shown = [...set].filter((id) => rows.has(id)).length;
      if (shown !== 0 && shown !== set.size)
        return `${shown} of ${set.size} rows of a set are there`;
    }
    for (const [id, value] of [...world.acked, ...world.doubt]) {
      const free = world.doubt.has(id) || world.dropping.has(id);
      if (rows.get(id) !== value && !(free && !rows.has(id))) {
        return `row ${id} is ${rows.get(id)} instead of ${value}`;
      }
    }
    for (const id of rows.keys()) {
      if (!world.acked.has(id) && !world.doubt.has(id)) return `row ${id} was never sent`;
    }
    const inDoubt = [...world.doubt.keys()].some((id) => rows.has(id)) ? world.doubt.size : 0;
    const events = opened.usage[0]?.events ?? 0;
    if (events !== world.ackedEvents + inDoubt) {
      return `usage of ${events} events instead of ${world.ackedEvents + inDoubt}`;
    }
    const damaged = opened.report.remarks.filter((remark) => remark.damaged.length > 0);
    if (damaged.length > 0) return `a stop was taken for corruption: ${JSON.stringify(damaged)}`;
    return leftFiles(disk, opened) ?? (await settle(disk, opened, world, rows));
  } catch (error) {
    return String(error);
  }
}

/** Settles doubts: rows stay as they were seen. */
async function settle(
  disk: MemoryDisk,
  opened: OpenedCatalog,
  world: World,
  rows: Map<string, number>,
): Promise<string | undefined> {
  for (const [id, value] of world.doubt) if (rows.has(id)) world.acked.set(id, value);
  world.ackedEvents += [...world.doubt.keys()].filter((id) => rows.has(id)).length;
  world.doubt = new Map();
  for (const id of world.dropping) if (!rows.has(id)) world.acked.delete(id);
  world.dropping = new Set();
  // The next rows of each writer are new ones.
  const before = world.acked.size;
  for (const writer of [0, 1]) await writeSegment(disk, opened, world, writer, [1]);
  await opened.manifest.release();
  return world.acked.size === before + 2 ? undefined : 'a sequence came twice';
}

/** Files of segments that the manifest does not name. */
function leftFiles(disk: MemoryDisk, { manifest }: OpenedCatalog): string | undefined {
  for (const name of disk.list('log')) {
    const segment = parseSegmentName(name);
    if (segment === undefined || !manifest.segments.has(segment)) return `log/${name} is left`;
  }
  for (const name of disk.list('sealed')) {
    const segment = parseSealedName(name);
    if (segment === undefined || !manifest.sealed.has(segment)) return `sealed/${name} is left`;
  }
  for (const segment of manifest.segments.keys()) {
    const { closed } = manifest.segments.get(segment) ?? {};
    if ((closed?.bytes ?? 0) > 0 && !disk.list('log').includes(segmentName(segment))) return 'gone';
  }
  return undefined;
}
