import { setTimeout as pause } from 'node:timers/promises';
import { openDisk } from '../../engine/base/file.ts';
import { finished } from '../../engine/base/pause.ts';
import { openReader, type UnitReader } from '../../engine/engine.ts';
import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import type { QueryJob } from '../../server/query/job.ts';
import { QueryPool } from '../../server/query/query-pool.ts';
import { answerUnits } from '../../server/query/query-worker.ts';
import { removeFolder, startService, temporaryFolder } from '../../test/support/service.ts';
import { random } from '../corpus/random.ts';
import type { Bench, Workload } from '../harness.ts';
import { HEAVY_QUERIES, jobOf, TINY_QUERY } from './heavy-queries.ts';
import { SEALING } from './ingestion.ts';
import { fill } from './query.ts';

const EVENTS = 1_000_000;
const CANCELS = 10;
/** Runs before those that are stopped, of which the least time says when these are. */
const WARM_RUNS = 4;
/** Runs of which the least time of each unit counts, so that what the machine does beside it does not. */
const UNIT_RUNS = 3;
const MEMORY_MB = 256;
const SECONDS_MAX = 600;

/** A worker as the service has it, alone in its pool. */
async function openWorker(
  folder: string,
  { manifest, catalog }: OpenedCatalog,
): Promise<QueryPool> {
  const pool = new QueryPool({
    workers: 1,
    queries: 8,
    perKey: 8,
    seconds: SECONDS_MAX,
    totalMemoryMb: 384,
    memoryMb: MEMORY_MB,
    cacheMb: 0,
    files: 64,
    behind: new SharedArrayBuffer(4),
    root: folder,
    secret: manifest.secret,
    changes: (since) => catalog.changes(since),
    died: (error) => {
      throw error;
    },
  });
  await pool.ready();
  return pool;
}

/** Milliseconds of a job that nobody stops. */
async function answeredMs(pool: QueryPool, job: QueryJob): Promise<number> {
  const startedMs = performance.now();
  await pool.run(job, new AbortController().signal, 'key');
  return performance.now() - startedMs;
}

/** Cost of stopping a job. */
interface Stopped {
  tookMs: number;
  /** Of all threads of this process. */
  cpuMs: number;
}

/**
 * Stops a job `delayMs` after its start, and waits until a tiny query behind it is answered by the same worker, which
 * takes its messages in their order: by then it has left the job. `undefined` when that was answered before.
 */
async function stopAfter(
  pool: QueryPool,
  job: QueryJob,
  tiny: QueryJob,
  delayMs: number,
): Promise<Stopped | undefined> {
  const stop = new AbortController();
  const running = pool.run(job, stop.signal, 'key').then(
    () => true,
    () => false,
  );
  await pause(delayMs);
  const before = process.cpuUsage();
  const startedMs = performance.now();
  stop.abort();
  await answeredMs(pool, tiny);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return (await running) ? undefined : { tookMs, cpuMs: (user + system) / 1000 };
}

/** CPU milliseconds of the longest unit of a job, those that write the answer included. */
function longestUnitMs(reader: UnitReader, opened: OpenedCatalog, job: QueryJob): number {
  const leastMs: number[] = [];
  // The first run reads what others find in memory, in units of its own.
  finished(answerUnits(reader, opened.catalog.snapshot(), job));
  for (let run = 0; run < UNIT_RUNS; run++) {
    const units = answerUnits(reader, opened.catalog.snapshot(), job);
    for (let unit = 0, done = false; !done; unit++) {
      const before = process.cpuUsage();
      done = units.next().done === true;
      const { user, system } = process.cpuUsage(before);
      leastMs[unit] = Math.min(leastMs[unit] ?? Number.POSITIVE_INFINITY, (user + system) / 1000);
    }
  }
  return leastMs.reduce((most, ms) => Math.max(most, ms), 0);
}

async function measure(bench: Bench, folder: string, opened: OpenedCatalog): Promise<void> {
  const pool = await openWorker(folder, opened);
  const memory = { queryBytesMax: MEMORY_MB * 2 ** 20, selectedBytesMax: 0 };
  const reader = openReader(openDisk(folder), opened.manifest.secret, memory);
  const next = random(1);
  const tiny = await jobOf(...TINY_QUERY, undefined);
  await answeredMs(pool, tiny);
  bench.figure('tiny query alone', 'ms', await answeredMs(pool, tiny));
  for (const [name, path, body, skip] of HEAVY_QUERIES) {
    const job = await jobOf(path, body, skip);
    bench.progress(name);
    let wholeMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < WARM_RUNS; run++) {
      wholeMs = Math.min(wholeMs, await answeredMs(pool, job));
    }
    const stops: Stopped[] = [];
    for (let cancel = 0; cancel < CANCELS; cancel++) {
      bench.progress(`${name}, cancel ${cancel + 1} of ${CANCELS}`);
      const delayMs = ((cancel + next()) / CANCELS) * wholeMs;
      const stopped = await stopAfter(pool, job, tiny, delayMs);
      if (stopped !== undefined) stops.push(stopped);
    }
    const took = stops.map(({ tookMs }) => tookMs).sort((left, right) => left - right);
    bench.figure(`${name}, alone`, 'ms', wholeMs);
    if (stops.length > 0) {
      bench.figure(`${name}, stopped`, 'ms', ...took);
      bench.figure(`${name}, stopped, p95`, 'ms', took[Math.ceil(took.length * 0.95) - 1]);
      bench.figure(`${name}, stopped`, 'ms CPU', ...stops.map(({ cpuMs }) => cpuMs));
    }
    bench.figure(`${name}, longest unit`, 'ms CPU', longestUnitMs(reader, opened, job));
  }
  reader.close();
  await pool.close();
}

/** How soon a query that nobody waits for any more has stopped. */
export const cancelWorkload: Workload = {
  name: 'cancel',
  what: `heavy queries over 1M access-log events, each stopped at ${CANCELS} moments: until its worker has left it`,
  seconds: ({ scale }) => 5 + 95 * scale,
  run: async (bench) => {
    const folder = temporaryFolder();
    try {
      const service = await startService(folder, SEALING);
      const eventCount = Math.round(EVENTS * bench.scale);
      try {
        await fill(bench, service, eventCount);
      } finally {
        await service.stop();
      }
      const disk = openDisk(folder);
      const opened = await openCatalog({ disk, nowMs: Date.now() });
      await measure(bench, folder, opened);
      await opened.manifest.release();
    } finally {
      removeFolder(folder);
    }
  },
};
