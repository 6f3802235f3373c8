import { once } from 'node:events';
import { connect } from 'node:net';
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
import { awaitSealed, SEALING } from './ingestion.ts';

const BODY_BYTES = 1_000_000;
const SEED = 1;
/** Events that are made together and sent over one connection. */
const PART_EVENTS = 50_000;
/** Events that are sent before anything is measured, until threads have compiled what they run often. */
const WARM_EVENTS = 2_000_000;
/** Events of each load that is measured. */
const EVENTS = 4_500_000;
/** Segments of so many rows, so that sealing is at work from the first seconds on. */
const SETTINGS = [...SEALING, '--seal-rows', '200000'];
/** Connections that are busy at once. */
const CONNECTIONS = [1, 8];
/** Parts of the rate of one busy connection, and how often all events are sent at each: what waits may still grow. */
const PACES = [0.9, 0.75];
const PACED_TIMES = 3;
/** Runs are long; their figures differ little. */
const RUNS_MAX = 2;
const WITH_QUERIES_MS = 300_000;
const QUERY_EVERY_MS = 1_000;

/** Events that were sent, and the time that sending took. */
interface Sent {
  events: number;
  sendMs: number;
}

/** Figures of busy connections. */
interface Sustained extends Sent {
  sealed: number;
  /** Rows that were written to sealed segments, as often as they were. */
  written: number;
  /** Rows that are not sealed: when half was sent, at the end, and the most after any part. */
  backlogHalf: number;
  backlog: number;
  backlogMax: number;
  cpu: number;
  peak: number;
}

type Send = (
  service: Service,
  progress: (text: string, isHalf: boolean) => Promise<void>,
) => Promise<Sent>;

/** Cost of `send` to the service. */
async function measured(
  service: Service,
  send: Send,
  progress: (text: string) => void,
): Promise<Sustained> {
  const startedCpu = cpuSeconds(service.pid);
  const startedSealed = await metric(service, 'logseam_store_sealed_rows');
  const startedWritten = await metric(service, 'logseam_sealed_rows_total');
  let backlogHalf = 0;
  let backlogMax = 0;
  const sent = await send(service, async (text, isHalf) => {
    const backlog = await unsealedRows(service);
    if (isHalf) backlogHalf = backlog;
    backlogMax = Math.max(backlogMax, backlog);
    progress(`${text}, ${backlog} not sealed`);
  });
  return {
    ...sent,
    sealed: (await metric(service, 'logseam_store_sealed_rows')) - startedSealed,
    written: (await metric(service, 'logseam_sealed_rows_total')) - startedWritten,
    backlogHalf,
    backlog: await unsealedRows(service),
    backlogMax,
    cpu: ((cpuSeconds(service.pid) - startedCpu) / sent.events) * 1e6,
    peak: peakMegabytes(service.pid),
  };
}

/** A connection that stays open. */
interface Sender {
  /** Resolves when the system has taken all bytes. */
  send(part: Uint8Array): Promise<void>;
  /** Half-closes; resolves when that is answered, as all that was sent is acknowledged. */
  end(): Promise<void>;
}

async function openSender(port: number): Promise<Sender> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {}); // the write that waits, or the end, fails with it
  return {
    send: (part) =>
      new Promise((resolve, reject) => {
        socket.write(part, (error) => (error ? reject(error) : resolve()));
      }),
    end: () =>
      new Promise((resolve, reject) => {
        socket.on('error', reject).on('close', resolve).end();
      }),
  };
}

/**
 * Sends `parts` over so many connections at once, each of which stays open until all is sent, at `rate` events a second
 * together; Infinity is as fast as the service lets them.
 */
function sendParts(parts: readonly Buffer[], connections: number, rate: number): Send {
  return async (service, progress) => {
    const started = performance.now();
    let next = 0;
    const sendSome = async (): Promise<void> => {
      const sender = await openSender(service.tcpPort);
      for (let at = next++; at < parts.length; at = next++) {
        await pause(started + (at * PART_EVENTS * 1000) / rate - performance.now());
        await sender.send(parts[at]);
        const isHalf = at + 1 === Math.ceil(parts.length / 2);
        await progress(`part ${at + 1} of ${parts.length} sent`, isHalf);
      }
      await sender.end();
    };
    await Promise.all(Array.from({ length: connections }, sendSome));
    return { events: parts.length * PART_EVENTS, sendMs: performance.now() - started };
  };
}

/**
 * Keeps one connection busy until the time is over, with events that are made meanwhile; making is not counted as
 * sending.
 */
function sendUntil(isOver: () => boolean): Send {
  return async (service, progress) => {
    const event = accessRough(SEED);
    let events = 0;
    let sendMs = 0;
    for (; !isOver(); events += PART_EVENTS) {
      const part = made(event, service.writeKey);
      const started = performance.now();
      await sendTcp(service.tcpPort, part);
      sendMs += performance.now() - started;
      await progress(`${events + PART_EVENTS} events sent`, false);
    }
    return { events, sendMs };
  };
}

function made(event: () => string, writeKey: string): Buffer {
  return Buffer.concat(
    bodies(event, PART_EVENTS, BODY_BYTES, `${writeKey} `).map(({ body }) => body),
  );
}

/** Rows that are stored and not sealed: those of the open log segment and of closed ones that wait. */
async function unsealedRows(service: Service): Promise<number> {
  const stored = await metric(service, 'logseam_store_rows');
  return stored - (await metric(service, 'logseam_store_sealed_rows'));
}

/** Runs by the number of busy connections, and of one at a part of its rate; threads are warm. */
type Runs = Record<string, Sustained>;

const named = (connections: number): string => `connections: ${connections}`;
const paced = (pace: number): string => `at ${pace * 100} %`;

/** All events are made before the first is sent. Each load begins when all before it are sealed. */
async function runNew(scale: number, progress: (text: string) => void): Promise<Runs> {
  const folder = temporaryFolder();
  const service = await startService(folder, SETTINGS);
  const runs: Runs = {};
  let sent = 0;
  try {
    const event = accessRough(SEED);
    const make = (events: number): Buffer[] => {
      const count = Math.max(CONNECTIONS.length, Math.round((events * scale) / PART_EVENTS));
      return Array.from({ length: count }, (_, at) => {
        progress(`making part ${at + 1} of ${count}`);
        return made(event, service.writeKey);
      });
    };
    const load = async (
      parts: readonly Buffer[],
      what: string,
      connections = 1,
      rate = Infinity,
    ): Promise<Sustained> => {
      const send = sendParts(parts, connections, rate);
      const run = await measured(service, send, (text) => progress(`${what}: ${text}`));
      sent += run.events;
      progress(`${what}: sealing the rest`);
      await awaitSealed(service, sent);
      return run;
    };
    await load(make(WARM_EVENTS), 'warm');
    const parts = make(EVENTS);
    for (const connections of CONNECTIONS)
      runs[named(connections)] = await load(parts, named(connections), connections);
    const { events, sendMs } = runs[named(1)];
    const often = Array.from({ length: PACED_TIMES }, () => parts).flat();
    for (const pace of PACES)
      runs[paced(pace)] = await load(often, paced(pace), 1, (pace * events * 1000) / sendMs);
    return runs;
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}

function tell(bench: Bench, what: string, runs: readonly Sustained[]): void {
  const figure = (name: string, unit: string, pick: (run: Sustained) => number): void =>
    bench.record({
      name: `${what}: ${name}`,
      unit,
      samples: runs.map(pick),
      corpus: 'access-rough',
    });
  figure('rate, acknowledged', 'events/s', ({ events, sendMs }) => (events * 1000) / sendMs);
  figure('sealed meanwhile', 'events/s', ({ sealed, sendMs }) => (sealed * 1000) / sendMs);
  figure('not sealed when half was sent', 'events', ({ backlogHalf }) => backlogHalf);
  figure('not sealed at the end', 'events', ({ backlog }) => backlog);
  figure('not sealed, at most', 'events', ({ backlogMax }) => backlogMax);
  if (runs.every(({ sealed }) => sealed > 0))
    figure('written to sealed segments', 'times a row', ({ written, sealed }) => written / sealed);
  figure('CPU, with what was sealed', 's/M events', ({ cpu }) => cpu);
  figure('peak memory', 'MB', ({ peak }) => peak);
}

/** The most that busy connections can send, and what sealing leaves over at nine tenths of that. */
export const sustainedWorkload: Workload = {
  name: 'ingest-sustained',
  what: `rough access log over ${CONNECTIONS.join(' and ')} busy TCP connections, and over one at ${PACES.map((pace) => pace * 100).join(' and ')} % of that, sealing as it goes`,
  seconds: ({ scale, runs }) => Math.min(runs, RUNS_MAX) * (5 + 190 * scale),
  run: async (bench) => {
    const count = Math.min(bench.runs, RUNS_MAX);
    const runs: Runs[] = [];
    while (runs.length < count) {
      const done = runs.length / count;
      runs.push(await runNew(bench.scale, (text) => bench.progress(text, done)));
    }
    for (const what of Object.keys(runs[0]))
      tell(
        bench,
        what,
        runs.map((run) => run[what]),
      );
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
        measured(service, sendUntil(isOver), (text) => bench.progress(text)),
        keepAsking(service, isOver),
      ]);
      tell(bench, 'one connection', [run]);
      bench.figure('a query beside it', 'ms', ...times);
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  },
};
