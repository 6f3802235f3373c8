import { type Disk, openDisk } from '../engine/base/file.ts';
import { LoopWatch } from '../engine/base/thread/loop-watch.ts';
import { lockFolder } from '../engine/store/lock.ts';
import { addressText } from './address.ts';
import { AnswerCounts } from './api/metrics/answer-counts.ts';
import { type Config, supervision, version } from './config.ts';
import type { Listeners } from './listen/listeners.ts';
import { type Log, openLog } from './log.ts';
import { readyText } from './ready.ts';
import { BoundCells, Runtime, reload } from './runtime.ts';
import { FreeMemory, trim } from './service/free-memory.ts';
import { listen } from './service/listeners.ts';
import { type OpenedData, openData } from './service/open.ts';
import { routesOf, type ServiceState } from './service/routes.ts';
import { startWorkers, type Workers } from './service/workers.ts';
import { Supervisor } from './supervisor.ts';

/** Time that open requests and connections may take to end after SIGTERM. */
const CLOSE_GRACE_MS = 5_000;
/** The process ends by then, even when something hangs: what was acknowledged is durable at any moment. */
const STOP_MAX_MS = 19_000;

/** All that runs, in the order in which it was started. */
interface Running {
  data: OpenedData;
  workers: Workers;
  state: ServiceState;
  listeners: Listeners;
}

/**
 * Runs the service until SIGTERM or SIGINT; `read` reads the settings again at SIGHUP. Resolves with the exit code, 0,
 * when all that was begun is durable. Rejects with EngineError when it cannot start: the folder is taken, an address
 * is, the manifest is damaged.
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
    const { intake, queries } = running.workers;
    supervisor?.ready(() => ({ ingest: intake.loops, query: queries.loops }));
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
  disk: Disk,
  log: Log,
  stop: (code: number) => void,
): Promise<Running> {
  const { config } = runtime;
  const loop = new LoopWatch();
  loop.begin();
  const state: ServiceState = {
    ...{ stopping: false, listeners: undefined, loop },
    answers: new AnswerCounts(),
  };
  const data = await openData(runtime, disk, log);
  const workers = await startWorkers(data);
  const bound = new BoundCells(data.keys, config, log);
  const routes = routesOf(data, workers, bound, state);
  const listeners = await listen(data, workers, bound, state, routes);
  state.listeners = listeners;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(0));
  const totals = data.opened.catalog.totals();
  log.info('started', { pid: process.pid, ...totals });
  process.stdout.write(
    readyText({
      version: version(),
      data: config.data,
      http: listeners.http,
      listeners: listeners.addresses,
      certificate: data.certificate,
      provisioned: data.provisioned,
      events: totals.rows,
      setupToken: data.setup.token,
    }),
  );
  workers.begin();
  new FreeMemory(trim).begin();
  return { data, workers, state, listeners };
}

/** Finishes the work that was begun, makes it durable and closes everything. */
async function stop(running: Running, log: Log): Promise<void> {
  const { data, workers, listeners } = running;
  const { opened, keys, definitions, users, sessions } = data;
  const { intake, queries, tails, compaction } = workers;
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
  await compaction.close();
  await keys.close();
  await definitions.close();
  await users.close();
  await sessions.close();
  await opened.manifest.release();
  clearTimeout(overdue);
  log.info('stopped');
}
