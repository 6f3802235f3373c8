import { availableParallelism, totalmem } from 'node:os';
import { watchDisk } from '../engine/base/disk-watch.ts';
import { type Disk, openDisk } from '../engine/base/file.ts';
import { LoopWatch } from '../engine/base/thread/loop-watch.ts';
import { type OpenedCatalog, openCatalog, recoverWriter } from '../engine/store/catalog.ts';
import { lockFolder } from '../engine/store/lock.ts';
import { addressText } from './address.ts';
import { AuthFailures } from './api/access/failures.ts';
import { createAdmin, isAdministrator } from './api/admin/admin.ts';
import { definitionRules } from './api/admin/definition-rules.ts';
import { definitionResources } from './api/admin/definitions.ts';
import { followExtensions } from './api/admin/extension-steps.ts';
import { extensionResource } from './api/admin/extensions.ts';
import { keyResources } from './api/admin/keys.ts';
import { troubleResource } from './api/admin/troubles.ts';
import { declaredResolver } from './api/declared.ts';
import { createRoutes } from './api/dispatch.ts';
import { AnswerCounts } from './api/metrics/answer-counts.ts';
import { createOperation } from './api/metrics/operation.ts';
import { quotasOf } from './api/metrics/quotas.ts';
import { filterIdsOf, securityFilters } from './api/security-filter.ts';
import { type Config, supervision, version } from './config.ts';
import { DiskHealth } from './disk-health.ts';
import { Intake } from './ingest/intake.ts';
import { DISK_FAILING, DISK_FULL, reasonOf } from './ingest/refusal.ts';
import { BodyRoom } from './listen/body.ts';
import { connectionLimits, descriptorsMax, queryFiles } from './listen/descriptors.ts';
import { LineCells } from './listen/line-cells.ts';
import { INGEST_ENTRY } from './listen/line-listeners.ts';
import { httpListenersOf, type Listeners, openListeners } from './listen/listeners.ts';
import { type Log, openLog } from './log.ts';
import { Keeper } from './merge/keeper.ts';
import { QueryPool } from './query/query-pool.ts';
import { TailTokens } from './query/tail/tail-token.ts';
import { Tails } from './query/tail/tails.ts';
import { readyText } from './ready.ts';
import { DEFINITIONS_PATH, type Definitions, openDefinitions } from './registry/definitions.ts';
import { FirstKeyFile } from './registry/first-key.ts';
import { KEYS_PATH, type Keys, openKeys } from './registry/keys.ts';
import { openAdminToken } from './registry/secret.ts';
import { UsageCells } from './registry/usage.ts';
import { BoundCells, certificateOf, Runtime, reload } from './runtime.ts';
import { Supervisor } from './supervisor.ts';
import { workersOf } from './workers.ts';

const MINUTE_MS = 60_000;
/** Time that open requests and connections may take to end after SIGTERM. */
const CLOSE_GRACE_MS = 5_000;
/** The process ends by then whatever hangs: what was acknowledged is durable at any moment. */
const STOP_MAX_MS = 19_000;

/** State of the running service. */
interface ServiceState {
  stopping: boolean;
  listeners: Listeners | undefined;
}

/** The keys of a first start. */
type Provisioned = Awaited<ReturnType<Keys['provision']>>;

/** All that runs, in the order in which it was started. */
interface Running {
  state: ServiceState;
  opened: OpenedCatalog;
  keys: Keys;
  definitions: Definitions;
  intake: Intake;
  queries: QueryPool;
  tails: Tails;
  keeper: Keeper;
  listeners: Listeners;
}

/**
 * Runs the service until SIGTERM or SIGINT; `read` reads the settings again at SIGHUP. Resolves with the exit code, 0,
 * when all that was begun is durable. Rejects with EngineError when it cannot start: the folder is taken, an address is,
 * the manifest is damaged.
 */
export async function serve(config: Config, read: () => Config): Promise<number> {
  const runtime = new Runtime(config);
  const log = openLog(() => runtime.logLevel);
  const disk = openDisk(config.data);
  // A signal that comes before the start is over waits for it; without a handler it would end the process.
  const opened = Promise.withResolvers<Listeners>();
  let reloaded: Promise<unknown> = opened.promise;
  process.on('SIGHUP', () => {
    reloaded = Promise.all([opened.promise, reloaded]).then(([listeners]) =>
      reload({ runtime, read, disk, listeners, log }),
    );
  });
  const lock = await lockFolder(config.data);
  const supervised = supervision();
  const supervisor = supervised && new Supervisor(supervised.watchdogMs, log);
  try {
    const stopped = Promise.withResolvers<number>();
    const running = await start(runtime, disk, log, stopped.resolve);
    const { listeners } = running;
    await lock.tell({ http: addressText(listeners.http) });
    opened.resolve(listeners);
    supervisor?.ready(() => ({ ingest: running.intake.loops, query: running.queries.loops }));
    const code = await stopped.promise;
    await stop(running, log);
    return code;
  } finally {
    lock.release();
  }
}

/** Starts everything and prints where it is. `stop` ends the service with an exit code. */
async function start(
  runtime: Runtime,
  unwatched: Disk,
  log: Log,
  stop: (code: number) => void,
): Promise<Running> {
  const nowMs = Date.now;
  const { config } = runtime;
  const loop = new LoopWatch();
  loop.begin();
  const answers = new AnswerCounts();
  const health = new DiskHealth(unwatched, log);
  const disk = watchDisk(unwatched, (failure) => health.fail(failure));
  const certificate = await certificateOf(config, disk, log);
  const state: ServiceState = { stopping: false, listeners: undefined };
  const registries = [KEYS_PATH, DEFINITIONS_PATH];
  const opened = await openCatalog({ disk, nowMs: nowMs(), registries });
  reportRecovery(opened, log);
  const cells = new UsageCells();
  const { keys, definitions, provisioned } = await openRegistries(config, disk, opened, cells);
  for (const name of keys.withoutLimit()) {
    log.error('a write key takes nothing: its quota is in percent, and plan_limit_mb is not set', {
      name,
    });
  }
  keys.restoreUsage(opened.usage);
  const healed = [...opened.report.healed, ...keys.healed, ...definitions.healed];
  if (healed.length > 0) log.error('damage in one copy was healed from the other', { healed });
  const token = await openAdminToken(disk);
  const failures = new AuthFailures(log);
  const firstKey = new FirstKeyFile(disk, keys, (error) =>
    log.error('the file with the first write key could not be removed', { error }),
  );
  firstKey.used(opened.usage);

  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const workers = workersOf(config, availableParallelism(), memoryBytes);
  // One Int32: whether ingestion is behind, from the intake to the query workers.
  const behind = new SharedArrayBuffer(4);
  const died =
    (what: string) =>
    (error: Error, worker: number, delayMs: number): void =>
      log.error('a worker died, another takes its place', { what, worker, delayMs, error });
  const descriptors = descriptorsMax();
  const connections = connectionLimits(descriptors, httpListenersOf(config));
  const lineCells = LineCells.for(workers.ingest, connections.lines);
  const intake = new Intake({
    workers: workers.ingest,
    entry: INGEST_ENTRY,
    lineCells: lineCells.shared,
    root: config.data,
    folderId: opened.manifest.folderId,
    segments: { rowsMax: config.sealRows, idleMs: config.sealIdleMinutes * MINUTE_MS },
    keys: keys.table(),
    cells: cells.shared,
    namesPerKeyDay: config.namesPerKeyDay,
    nowMs,
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
    died: died('ingest'),
    recover: (writer) => recoverWriter({ disk }, opened, writer),
    behind,
  });
  const ready = Promise.withResolvers<void>();
  const queries = new QueryPool({
    workers: workers.query,
    queries: config.queriesMax,
    perKey: config.queriesPerKey,
    seconds: config.querySeconds,
    memoryMb: config.queryMemoryMb,
    totalMemoryMb: config.queriesMemoryMb,
    cacheMb: config.queryCacheMb,
    files: queryFiles(descriptors, workers.query),
    behind,
    root: config.data,
    secret: opened.manifest.secret,
    changes: (since) => opened.catalog.changes(since),
    died: died('query'),
    // Who starts the service waits for what takes events in alone: the first query waits for the rest.
    after: ready.promise,
  });
  await intake.ready();
  const room = new BodyRoom(intake);
  const keeper: Keeper = new Keeper({
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
    intake.diskRefuses = failing || keeper.full;
  });
  const tails = new Tails({
    blocks: opened.catalog,
    sealedMs: (segment) => opened.manifest.sealed.get(segment)?.sealedMs,
    tokens: new TailTokens(opened.manifest.secret),
    run: (job, signal, key) => queries.tail(job, signal, key).finally(keeper.pin()),
    nowMs,
  });

  const resolver = declaredResolver(definitions);
  const filterOf = securityFilters(definitions, resolver, ({ name }, id) =>
    log.error('a security filter names what is not declared, its read key sees nothing', {
      name,
      id,
    }),
  );
  followExtensions(
    definitions,
    resolver,
    (steps) => intake.setExtensions(steps),
    (extension, error) => log.error('an extension is left out', { extension, error }),
  );
  const keyName = (id: string): string | undefined => keys.named('write', id)?.name;
  const bound = new BoundCells(keys, config, log);
  const admin = createAdmin({
    token,
    failures,
    resources: new Map([
      ...keyResources({
        keys,
        cells,
        nowMs,
        filterIds: (text) => filterIdsOf(text, resolver),
        changed: () => {
          intake.changeKeys(keys.table());
          bound.refresh();
        },
      }),
      ...definitionResources(definitions),
      extensionResource({ definitions, readKeys: () => keys.list('read'), resolver, intake }),
      troubleResource(intake, keyName),
    ]),
  });
  const routes = createRoutes({
    readKey: (text) => {
      const key = keys.lookup(text);
      return key?.kind === 'read' ? { id: key.id, filter: filterOf(key) } : undefined;
    },
    isWriteKey: (text) => keys.lookup(text)?.kind === 'write',
    definitions,
    resolver,
    run: (job, signal, key, progress, held) =>
      queries.run(job, signal, key, progress, held).finally(keeper.pin()),
    tails,
    nowMs,
    boundEvents: config.boundEvents,
    admin,
    operation: createOperation({
      metricsOpen: config.metricsOpen,
      token,
      failures,
      facts: () => ({
        stopping: state.stopping,
        ingestWorkersUp: intake.gauges().workersUp,
        queryWorkersUp: queries.gauges().workersUp,
        ingestStalledMs: stalledMs(intake.loops),
        queryStalledMs: stalledMs(queries.loops),
        linesRefused: state.listeners?.areLinesRefused ?? false,
        bodiesRefusedMs: room.fullMs,
        diskFull: keeper.full,
        diskFailing: health.failing,
        damagedSegments: keeper.damagedCount,
      }),
      sources: {
        version: version(),
        keyName,
        intake,
        queries,
        tails,
        loops: () => ({
          front: [loop],
          ingest: intake.loops,
          query: queries.loops,
          merge: keeper.loops,
        }),
        restarts: () => ({ ingest: intake.restartCount, query: queries.restartCount }),
        certificateEndMs: () => state.listeners?.certificate?.validToMs,
        descriptorsMax: descriptors,
        quotas: () => quotasOf(keys, cells, nowMs()),
        answers,
        heldBytes: () => lineCells.heldBytes,
        listeners: () => state.listeners?.counts() ?? [],
        store: () => ({
          ...keeper.gauges(),
          damagedSegments: keeper.damagedCount,
          missingSegments: keeper.missingCount,
          lostFiles: opened.report.lost.length,
        }),
        diskErrors: () => health.counts(),
      },
    }),
    log: (error) => log.error('a request failed', { error }),
  });
  const listeners = await openListeners({
    config,
    certificate,
    intake,
    cells: lineCells,
    httpConnectionsMax: connections.http,
    cellOf: (name) => bound.of(name),
    input: {
      room,
      lookup: (text) => {
        const key = keys.lookup(text);
        return key?.kind === 'write' ? key : undefined;
      },
      cells,
      limits: runtime.limits,
      diskRefusal: () => {
        if (keeper.full) return DISK_FULL;
        return health.failing ? DISK_FAILING : undefined;
      },
      nowMs,
      refused: (channel, refusal) => {
        intake.counts.refuse(channel, reasonOf(refusal));
        intake.troubles.refused(refusal, nowMs());
      },
      unauthenticated: (peer) => failures.note('input', peer),
      isAdministrator: (authorization) => isAdministrator(authorization, token),
    },
    routes,
    answered: (channel, status) => answers.add(channel, status),
    log,
  }).catch(async (error) => {
    ready.resolve();
    // Without its threads the process ends.
    await Promise.all([intake.close(), queries.close(), keeper.close()]);
    throw error;
  });
  state.listeners = listeners;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(0));
  process.stdout.write(
    readyText({
      version: version(),
      data: config.data,
      http: listeners.http,
      listeners: listeners.addresses,
      certificate,
      provisioned,
      events: opened.catalog.totals().rows,
    }),
  );
  ready.resolve();
  log.info('started', { pid: process.pid, ...opened.catalog.totals() });
  return { state, opened, keys, definitions, intake, queries, tails, keeper, listeners };
}

/** Finishes what was begun, makes it durable and closes everything. */
async function stop(running: Running, log: Log): Promise<void> {
  const { opened, keys, definitions, intake, queries, tails, keeper, listeners } = running;
  const overdue = setTimeout(() => {
    log.error('stopping took too long, the service ends as it is');
    process.exit(1);
  }, STOP_MAX_MS);
  running.state.stopping = true;
  log.info('stopping');
  tails.close();
  await listeners.close(CLOSE_GRACE_MS);
  await intake.close();
  await queries.close();
  await keeper.close();
  await keys.close();
  await definitions.close();
  await opened.manifest.release();
  clearTimeout(overdue);
  log.info('stopped');
}

/** Time by which all present threads of a kind have been late. */
function stalledMs(loops: readonly (LoopWatch | undefined)[]): number {
  const late = loops.flatMap((loop) => loop?.stalledMs ?? []);
  return late.length === 0 ? 0 : Math.min(...late);
}

/** Opens the keys and the definitions: made at the first start, and from then on they must be there. */
async function openRegistries(
  { planLimitMb }: Config,
  disk: Disk,
  { manifest }: OpenedCatalog,
  cells: UsageCells,
): Promise<{ keys: Keys; definitions: Definitions; provisioned: Provisioned }> {
  const nowMs = Date.now;
  const mustExist = manifest.hasRegistries;
  const keys = await openKeys({ disk, cells, planLimitMb, nowMs, mustExist });
  const rules = definitionRules(() => keys.list('read'), nowMs);
  const definitions = await openDefinitions({ disk, rules, nowMs, mustExist });
  const provisioned = await keys.provision();
  await definitions.provision();
  if (!mustExist) await manifest.keepRegistries();
  return { keys, definitions, provisioned };
}

function reportRecovery({ report }: OpenedCatalog, log: Log): void {
  const { segments, recovered, unclosed, remarks, removed, moved, lost } = report;
  if (recovered.length > 0) log.info('recovered after a stop', { segments, recovered });
  if (removed.length > 0)
    log.info('files that are in no set of segments were removed', { removed });
  if (moved.length > 0) log.error('files that nobody knows were moved to lost', { moved });
  if (lost.length > 0) log.error('lost holds files that are not served', { lost });
  if (unclosed.length > 0) log.error('the disk is full, the manifest could not be written');
  for (const remark of remarks) {
    if (remark.damaged.length > 0)
      log.error('a segment is damaged, the rest is served', { ...remark });
    else log.info('an unfinished commit group was cut', { ...remark });
  }
}
