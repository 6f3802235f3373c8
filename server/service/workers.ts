import { availableParallelism, totalmem } from 'node:os';
import { MINUTE_MS } from '../../engine/base/durations.ts';
import { recoverWriter } from '../../engine/store/catalog.ts';
import { Intake } from '../ingest/intake.ts';
import { BodyRoom } from '../listen/body.ts';
import { connectionLimits, descriptorsMax, queryFiles } from '../listen/descriptors.ts';
import { LineCells } from '../listen/line-cells.ts';
import { INGEST_ENTRY } from '../listen/line-listeners.ts';
import { httpListenersOf } from '../listen/listeners.ts';
import type { Log } from '../log.ts';
import { CompactionService } from '../merge/compaction-service.ts';
import { QueryPool } from '../query/query-pool.ts';
import { TailTokens } from '../query/tail/tail-token.ts';
import { Tails } from '../query/tail/tails.ts';
import { workersOf } from '../workers.ts';
import type { OpenedData } from './open.ts';

/** The threads of the service, and the front's ways to them. */
export interface Workers {
  readonly intake: Intake;
  readonly queries: QueryPool;
  readonly compaction: CompactionService;
  readonly tails: Tails;
  /** Room for bodies in the memory of the ingest workers. */
  readonly room: BodyRoom;
  /** Counts of the sockets of all ingest workers. */
  readonly lineCells: LineCells;
  readonly httpConnectionsMax: number;
  readonly descriptorsMax: number;
  /** Lets the query workers begin: a start waits for the ingest workers alone. */
  begin(): void;
}

/** Starts the threads; resolves when the ingest workers take tasks. Rejects when one of them cannot start. */
export async function startWorkers(data: OpenedData): Promise<Workers> {
  const { runtime, log, disk, health, opened } = data;
  const { config } = runtime;
  const nowMs = Date.now;
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const workers = workersOf(config, availableParallelism(), memoryBytes);
  // One Int32: whether ingestion is behind, from the intake to the query workers.
  const behind = new SharedArrayBuffer(4);
  const descriptors = descriptorsMax();
  const connections = connectionLimits(descriptors, httpListenersOf(config));
  const lineCells = LineCells.for(workers.ingest, connections.lines);
  const intake = intakeOf(data, workers.ingest, lineCells, behind);
  const ready = Promise.withResolvers<void>();
  const queries = queryPoolOf(data, workers.query, behind, ready.promise);
  await intake.ready();
  const room = new BodyRoom(intake);
  const compaction: CompactionService = new CompactionService({
    config,
    sealWorkers: workers.seal,
    health,
    disk,
    opened,
    nowMs,
    monotonicMs: () => performance.now(),
    log,
    forget: (segments) => queries.forget(segments),
    full: (full) => {
      intake.diskRefuses = full || health.failing;
    },
  });
  health.watch((failing) => {
    intake.diskRefuses = failing || compaction.full;
  });
  const tails = new Tails({
    blocks: opened.catalog,
    sealedMs: (segment) => opened.manifest.sealed.get(segment)?.sealedMs,
    tokens: new TailTokens(opened.manifest.secret),
    run: (job, signal, key) => queries.tail(job, signal, key).finally(compaction.pin()),
    nowMs,
  });
  return {
    ...{ intake, queries, compaction, tails, room, lineCells },
    httpConnectionsMax: connections.http,
    descriptorsMax: descriptors,
    begin: ready.resolve,
  };
}

function intakeOf(
  data: OpenedData,
  workers: number,
  lineCells: LineCells,
  behind: SharedArrayBuffer,
): Intake {
  const { runtime, log, disk, health, opened, keys, cells, firstKey } = data;
  const { config } = runtime;
  return new Intake({
    workers,
    entry: INGEST_ENTRY,
    lineCells: lineCells.shared,
    root: config.data,
    folderId: opened.manifest.folderId,
    segments: { rowsMax: config.sealRows, idleMs: config.sealIdleMinutes * MINUTE_MS },
    keys: keys.table(),
    cells: cells.shared,
    namesPerKeyDay: config.namesPerKeyDay,
    nowMs: Date.now,
    bodyBytesMax: () => runtime.limits.bodyBytesMax,
    sequence: opened.catalog.end,
    allocate: () => opened.manifest.reserve(),
    begun: (segment, writer) => opened.manifest.begin(segment, writer),
    closed: (segment, bytes, sequence) => opened.manifest.close(segment, bytes, sequence),
    committed: (group) => {
      opened.catalog.apply(group);
      firstKey.used(group.usage);
    },
    fault: (error) => log.error('a bug showed while events were taken in', { error }),
    diskFailed: (failure) => health.fail(failure),
    died: diedOf(log, 'ingest'),
    recover: (writer) => recoverWriter({ disk }, opened, writer),
    behind,
  });
}

/** Makes the pool of query workers, which begin when `after` resolves. */
function queryPoolOf(
  { runtime, log, opened }: OpenedData,
  workers: number,
  behind: SharedArrayBuffer,
  after: Promise<void>,
): QueryPool {
  const { config } = runtime;
  return new QueryPool({
    workers,
    queries: config.queriesMax,
    perKey: config.queriesPerKey,
    seconds: config.querySeconds,
    memoryMb: config.queryMemoryMb,
    totalMemoryMb: config.queriesMemoryMb,
    cacheMb: config.queryCacheMb,
    files: queryFiles(descriptorsMax(), workers),
    behind,
    root: config.data,
    secret: opened.manifest.secret,
    changes: (since) => opened.catalog.changes(since),
    died: diedOf(log, 'query'),
    after,
  });
}

function diedOf(log: Log, what: string) {
  return (error: Error, worker: number, delayMs: number): void =>
    log.error('a worker died, another takes its place', { what, worker, delayMs, error });
}
