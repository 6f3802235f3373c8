import { setTimeout as pause } from 'node:timers/promises';
import { metric } from '../../test/support/metrics.ts';
import {
  ask,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  sendTcp,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessRough } from '../corpus/access-rough.ts';
import { bodies } from '../corpus/bodies.ts';
import { CORPUS_START_MS } from '../corpus/clock.ts';
import type { Bench, Workload } from '../harness.ts';

const BODY_BYTES = 1_000_000;
const SEED = 1;
/** Events that are made and sent at a time, so that the sender's memory stays small. */
const PART_EVENTS = 250_000;
/** Rows that a run sends: several times what is sealed together. */
const EVENTS = 3_000_000;
/** Runs are long; their figures differ little. */
const RUNS_MAX = 2;
const WITH_QUERIES_MS = 300_000;
const QUERY_EVERY_MS = 1_000;

/** What a busy connection came to. */
interface Sustained {
  events: number;
  sendMs: number;
  sealed: number;
  backlog: number;
  cpu: number;
  peak: number;
}

/**
 * One TCP connection at a time that is as busy as the service lets it, with the default settings of sealing. Times are
 * those of sending alone, not of making events, in which sealing goes on. `isOver` is asked with the events sent so far.
 */
async function keepBusy(
  service: Service,
  seed: number,
  isOver: (events: number) => boolean,
  progress: (text: string) => void,
): Promise<Sustained> {
  const event = accessRough(seed);
  const startedCpu = cpuSeconds(service.pid);
  let sendMs = 0;
  let events = 0;
  for (; !isOver(events); events += PART_EVENTS) {
    const made = bodies(event, PART_EVENTS, BODY_BYTES, `${service.writeKey} `);
    const content = Buffer.concat(made.map(({ body }) => body));
    const started = performance.now();
    await sendTcp(service.tcpPort, content);
    sendMs += performance.now() - started;
    progress(`${events + PART_EVENTS} events sent, ${await unsealedRows(service)} not sealed`);
  }
  return {
    events,
    sendMs,
    sealed: await metric(service, 'logseam_sealed_rows_total'),
    backlog: await unsealedRows(service),
    cpu: ((cpuSeconds(service.pid) - startedCpu) / events) * 1e6,
    peak: peakMegabytes(service.pid),
  };
}

/** Rows that are stored and not sealed: those of the open log segment and of closed ones that wait. */
async function unsealedRows(service: Service): Promise<number> {
  const stored = await metric(service, 'logseam_store_rows');
  return stored - (await metric(service, 'logseam_sealed_rows_total'));
}

function tell(bench: Bench, runs: readonly Sustained[]): void {
  const figure = (name: string, unit: string, pick: (run: Sustained) => number): void =>
    bench.record({ name, unit, samples: runs.map(pick), corpus: 'access-rough' });
  figure('rate, acknowledged', 'events/s', ({ events, sendMs }) => (events * 1000) / sendMs);
  figure('sealed meanwhile', 'events/s', ({ sealed, sendMs }) => (sealed * 1000) / sendMs);
  figure('not sealed at the end', 'events', ({ backlog }) => backlog);
  figure('CPU, with what was sealed', 's/M events', ({ cpu }) => cpu);
  figure('peak memory', 'MB', ({ peak }) => peak);
}

/** Whether sealing keeps pace with a connection that is never idle. */
export const sustainedWorkload: Workload = {
  name: 'ingest-sustained',
  what: 'rough access log over one busy TCP connection, 3M events, sealing as it goes',
  seconds: ({ scale, runs }) => Math.min(runs, RUNS_MAX) * (5 + 60 * scale),
  run: async (bench) => {
    const wanted = Math.round(EVENTS * bench.scale);
    const runs: Sustained[] = [];
    for (let run = 0; run < Math.min(bench.runs, RUNS_MAX); run++) {
      const folder = temporaryFolder();
      const service = await startService(folder, ['--metrics-open', 'true']);
      try {
        const isOver = (events: number): boolean => events >= wanted;
        const progress = (text: string): void => bench.progress(text, run / RUNS_MAX);
        runs.push(await keepBusy(service, SEED + run, isOver, progress));
      } finally {
        await service.stop();
        removeFolder(folder);
      }
    }
    tell(bench, runs);
  },
};

/** Queries that a dashboard asks again and again. */
const DASHBOARD: [path: string, body: object][] = [
  ['/beta/events/aggregate', { compute: [{ timeseries: { metricId: 'count', interval: '1m' } }] }],
  ['/beta/events/list', { event: true, limit: 100 }],
  [
    '/beta/events/aggregate',
    {
      compute: [{ metric: { id: 'count' } }],
      groupBy: [{ field: { id: 'custom.http.status_code', limit: 10 } }],
    },
  ],
];

async function keepAsking(service: Service, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const time = { from: CORPUS_START_MS, to: CORPUS_START_MS + 86_400_000 };
  for (let at = 0; !isOver(); at++) {
    const [path, body] = DASHBOARD[at % DASHBOARD.length];
    const started = performance.now();
    const answer = await ask(service, path, { time, ...body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    times.push(performance.now() - started);
    await pause(QUERY_EVERY_MS);
  }
  return times;
}

/** The same with a dashboard beside it. */
export const besideWorkload: Workload = {
  name: 'sustained-queries',
  what: 'rough access log over one busy TCP connection for five minutes, a query a second beside it',
  seconds: ({ scale }) => (scale * WITH_QUERIES_MS) / 1000,
  run: async (bench) => {
    const folder = temporaryFolder();
    const service = await startService(folder, ['--metrics-open', 'true']);
    try {
      const endMs = performance.now() + WITH_QUERIES_MS * bench.scale;
      const isOver = (): boolean => performance.now() >= endMs;
      const [run, times] = await Promise.all([
        keepBusy(service, SEED, isOver, (text) => bench.progress(text)),
        keepAsking(service, isOver),
      ]);
      tell(bench, [run]);
      bench.figure('a query beside it', 'ms', ...times);
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  },
};
