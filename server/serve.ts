import { type Disk, openDisk } from '../engine/base/file.ts';
import type { Predicate } from '../engine/query/predicate.ts';
import { type OpenedCatalog, openCatalog } from '../engine/store/catalog.ts';
import { type FolderLock, lockFolder } from '../engine/store/lock.ts';
import { createAdmin } from './api/admin.ts';
import { createRoutes } from './api/routes.ts';
import { addressText, type Config, version } from './config.ts';
import { Intake } from './ingest/intake.ts';
import { type HttpListener, listenHttp } from './listen/http.ts';
import { listenTcp, type TcpListener } from './listen/tcp.ts';
import { type Log, openLog } from './log.ts';
import { QueryPool } from './query/query-pool.ts';
import { parseSearch } from './query/search.ts';
import { readyText } from './ready.ts';
import { type Key, type Keys, openKeys } from './registry/keys.ts';
import { openAdminToken } from './registry/secret.ts';
import { dayOf, UsageCells } from './registry/usage.ts';

/** How long open requests and connections may take to end after SIGTERM. */
const CLOSE_GRACE_MS = 5_000;
/** The process ends by then whatever hangs: what was acknowledged is durable at any moment. */
const STOP_MAX_MS = 19_000;

/** All that runs, in the order in which it was started. */
interface Running {
  opened: OpenedCatalog;
  keys: Keys;
  intake: Intake;
  queries: QueryPool;
  http: HttpListener;
  tcp: TcpListener | undefined;
}

/**
 * Runs the service until SIGTERM or SIGINT; resolves with the exit code: 0 when all that was begun is durable, 1 when a
 * worker died. Rejects with EngineError when it cannot start: the folder is taken, an address is, the manifest is damaged.
 */
export async function serve(config: Config): Promise<number> {
  const log = openLog(config.logLevel);
  const disk = openDisk(config.data);
  let greeting = JSON.stringify({ pid: process.pid });
  const lock = await lockFolder(config.data, () => greeting);
  try {
    const stopped = Promise.withResolvers<number>();
    const running = await start(config, disk, log, stopped.resolve);
    const { http } = running;
    const address = addressText({ host: config.http.host, port: http.port });
    greeting = JSON.stringify({ pid: process.pid, http: address });
    const code = await stopped.promise;
    await stop(running, log);
    return code;
  } finally {
    await unlock(lock);
  }
}

async function unlock(lock: FolderLock): Promise<void> {
  await lock.release();
}

/** Starts everything and prints where it is. `stop` ends the service with an exit code. */
async function start(
  config: Config,
  disk: Disk,
  log: Log,
  stop: (code: number) => void,
): Promise<Running> {
  const nowMs = Date.now;
  const usageDay = dayOf(nowMs());
  const opened = await openCatalog({ disk, nowMs: nowMs(), usageDay });
  reportRecovery(opened, log);
  const cells = new UsageCells();
  const keys = await openKeys({ disk, cells, planLimitMb: config.planLimitMb, nowMs });
  for (const { key, bytes, day } of opened.usage) keys.restoreUsage(key, bytes, day);
  const provisioned = await keys.provision();
  const token = await openAdminToken(disk);

  const died = (what: string) => (error: Error) => {
    log.error('a worker died, the service ends', { what, error });
    stop(1);
  };
  const intake = new Intake({
    workers: config.ingestWorkers,
    root: config.data,
    folderId: opened.manifest.folderId,
    keys: keys.table(),
    cells: cells.shared,
    nowMs,
    allocate: (writer, floor) => opened.manifest.allocate(writer, floor),
    closed: (segment, bytes, sequence) => opened.manifest.close(segment, bytes, sequence),
    committed: (group) => opened.catalog.apply(group),
    fault: (error) => log.error('a bug showed while events were taken in', { error }),
    died: died('ingest'),
  });
  const queries = new QueryPool({
    workers: config.queryWorkers,
    root: config.data,
    secret: opened.manifest.secret,
    snapshot: () => opened.catalog.snapshot(),
    died: died('query'),
  });
  await Promise.all([intake.ready(), queries.ready()]);

  const filterOf = filterCache();
  const admin = createAdmin({
    keys,
    cells,
    token,
    nowMs,
    parseFilter: parseSearch,
    changed: () => intake.changeKeys(keys.table()),
  });
  const routes = createRoutes({
    readKey: (text) => {
      const key = keys.lookup(text);
      return key?.kind === 'read' ? { id: key.id, filter: filterOf(key) } : undefined;
    },
    isWriteKey: (text) => keys.lookup(text)?.kind === 'write',
    run: (job, signal) => queries.run(job, signal),
    nowMs,
    admin,
    health: () => ({ status: 200, body: '{"ok":true}' }),
    log: (error) => log.error('a request failed', { error }),
  });
  const http = await listenHttp({
    ...config.http,
    intake,
    lookup: (text) => {
      const key = keys.lookup(text);
      return key?.kind === 'write' ? key : undefined;
    },
    cells,
    bodyBytesMax: config.bodyMbMax * 2 ** 20,
    trustedProxies: config.trustedProxies,
    nowMs,
    routes,
  });
  const tcp =
    config.tcp === undefined
      ? undefined
      : await listenTcp({
          ...config.tcp,
          intake,
          failed: (error) => log.error('a connection could not be accepted', { error }),
        });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(0));
  process.stdout.write(
    readyText({
      version: version(),
      data: config.data,
      http: { host: config.http.host, port: http.port },
      tcp:
        config.tcp === undefined || tcp === undefined
          ? undefined
          : { ...config.tcp, port: tcp.port },
      provisioned,
      events: opened.catalog.totals().rows,
    }),
  );
  log.info('started', { pid: process.pid, ...opened.catalog.totals() });
  return { opened, keys, intake, queries, http, tcp };
}

/** Finishes what was begun, makes it durable and closes everything. */
async function stop(running: Running, log: Log): Promise<void> {
  const { opened, keys, intake, queries, http, tcp } = running;
  const overdue = setTimeout(() => {
    log.error('stopping took too long, the service ends as it is');
    process.exit(1);
  }, STOP_MAX_MS);
  log.info('stopping');
  await Promise.all([http.close(CLOSE_GRACE_MS), tcp?.close(CLOSE_GRACE_MS)]);
  await intake.close();
  await queries.close();
  await keys.close();
  await opened.manifest.release();
  clearTimeout(overdue);
  log.info('stopped');
}

function reportRecovery({ report }: OpenedCatalog, log: Log): void {
  const { segments, recovered, remarks } = report;
  if (recovered.length > 0) log.info('recovered after a stop', { segments, recovered });
  for (const remark of remarks) {
    if (remark.damaged.length > 0)
      log.error('a segment is damaged, the rest is served', { ...remark });
    else log.info('an unfinished commit group was cut', { ...remark });
  }
}

/** Security filters as trees, parsed once for each text. */
function filterCache(): (key: Key) => Predicate {
  const parsed = new Map<string, { text: string; predicate: Predicate }>();
  return ({ id, filter }) => {
    const text = filter ?? '';
    const known = parsed.get(id);
    if (known?.text === text) return known.predicate;
    const predicate = parseSearch(text);
    parsed.set(id, { text, predicate });
    return predicate;
  };
}
