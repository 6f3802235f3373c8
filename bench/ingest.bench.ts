import { existsSync, readdirSync, statSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ask,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  request,
  type Service,
  sendTcp,
  startService,
  temporaryFolder,
} from '../test/support/service.ts';
import { accessLog, applicationEvents, bodies, hostileEvents, syslogPairs } from './corpus.ts';
import type { Bench, Workload } from './harness.ts';

const EVENTS = 1_000_000;
const BODY_BYTES = 1_000_000;
const HTTP_CONNECTIONS = 4;
const SEED = 1;
/** Events that a sustained run makes and sends at a time, so that the sender's memory stays small. */
const PART_EVENTS = 250_000;
/** What is left in the log is sealed three seconds after the last event; nothing is sealed because of that before. */
export const SEALING = ['--seal-idle-minutes', '0.05', '--metrics-open', 'true'];
const SEALED_POLL_MS = 200;

/** Bytes of log and sealed segments in a data folder. */
export function storeBytes(folder: string): number {
  return ['log', 'sealed']
    .map((part) => join(folder, part))
    .filter((path) => existsSync(path))
    .reduce((total, path) => total + folderBytes(path), 0);
}

/** Bytes of the files below `folder`. */
function folderBytes(folder: string): number {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += folderBytes(path);
    else if (entry.isFile()) total += statSync(path).size;
  }
  return total;
}

/** Posts every body over a few keep-alive connections; rejects unless each is answered with 200. */
export async function postAll(
  service: Service,
  made: readonly { body: Buffer; events: number }[],
  onProgress: (events: number) => void = () => {},
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: HTTP_CONNECTIONS });
  const url = `${service.http}/v1/input/${service.writeKey}`;
  const headers = { 'content-type': 'application/x-ndjson' };
  let next = 0;
  let sentCount = 0;
  const post = (body: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const outgoing = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200
            ? resolve()
            : reject(new Error(`HTTP ${response.statusCode}`)),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const work = async (): Promise<void> => {
    while (next < made.length) {
      const { body, events } = made[next++];
      await post(body);
      sentCount += events;
      onProgress(sentCount);
    }
  };
  await Promise.all(Array.from({ length: HTTP_CONNECTIONS }, work));
  agent.destroy();
}

/** Asserts that the service counts as many events as were sent. */
async function expectCount(service: Service, eventCount: number): Promise<void> {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 0, to: 4e12 },
    compute: [{ metric: { id: 'count', output: 'n' } }],
  });
  const text = JSON.stringify({ n: eventCount });
  if (!answer.text.includes(text))
    throw new Error(`${text} was sent, the service says ${answer.text}`);
}

/** How a workload makes its events, and how many at full size. */
interface Source {
  events: number;
  make: (seed: number) => () => string;
}

const ACCESS_LOG: Source = { events: EVENTS, make: accessLog };

/** A figure of the service's own metrics, without labels; the listener is started with `--metrics-open`. */
async function metric(service: Service, name: string): Promise<number> {
  const { text } = await request(`${service.http}/metrics`);
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Resolves when every event lies in a sealed segment. */
export async function awaitSealed(service: Service, eventCount: number): Promise<void> {
  for (;;) {
    if ((await metric(service, 'logseam_sealed_rows_total')) >= eventCount) return;
    await pause(SEALED_POLL_MS);
  }
}

/** Feeds a fresh service with `send` and measures it, `bench.runs` times. */
async function measure(
  bench: Bench,
  source: Source,
  prefixOf: (service: Service) => string,
  send: (service: Service, made: { body: Buffer; events: number }[]) => Promise<void>,
): Promise<void> {
  const eventCount = Math.round(source.events * bench.scale);
  const millions = eventCount / 1e6;
  const samples = {
    cpu: [] as number[],
    rate: [] as number[],
    disk: [] as number[],
    peak: [] as number[],
    sealedCpu: [] as number[],
    sealedDisk: [] as number[],
    sealedPeak: [] as number[],
    reference: [] as number[],
  };
  for (let run = 0; run < bench.runs; run++) {
    const folder = temporaryFolder();
    const service = await startService(folder, SEALING);
    try {
      bench.progress(`run ${run + 1}: making ${eventCount} events`);
      const made = bodies(source.make(SEED + run), eventCount, BODY_BYTES, prefixOf(service));
      const startedCpu = cpuSeconds(service.pid);
      const started = performance.now();
      await send(service, made);
      const seconds = (performance.now() - started) / 1000;
      samples.cpu.push((cpuSeconds(service.pid) - startedCpu) / millions);
      samples.rate.push(eventCount / seconds);
      samples.peak.push(peakMegabytes(service.pid));
      samples.disk.push(storeBytes(folder) / eventCount);
      await expectCount(service, eventCount);
      bench.progress('sealing');
      await awaitSealed(service, eventCount);
      samples.sealedCpu.push((cpuSeconds(service.pid) - startedCpu) / millions);
      samples.sealedDisk.push(storeBytes(folder) / eventCount);
      samples.sealedPeak.push(peakMegabytes(service.pid));
      samples.reference.push(
        (await metric(service, 'logseam_rows_decoded_total\\{path="reference"\\}')) / eventCount,
      );
      await expectCount(service, eventCount);
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  }
  bench.figure('CPU, acknowledged', 's/M events', ...samples.cpu);
  bench.figure('CPU, sealed too', 's/M events', ...samples.sealedCpu);
  bench.figure('rate, acknowledged', 'events/s', ...samples.rate);
  bench.figure('disk, when acknowledged', 'bytes/event', ...samples.disk);
  bench.figure('disk, sealed', 'bytes/event', ...samples.sealedDisk);
  bench.figure('peak memory', 'MB', ...samples.peak);
  bench.figure('peak memory, sealed', 'MB', ...samples.sealedPeak);
  bench.figure('rows by reference decoder', '%', ...samples.reference.map((share) => share * 100));
}

/** A workload over HTTP in bodies of 1 MB; every 200 means fsynced. */
function overHttp(name: string, what: string, source: Source): Workload {
  const run = (bench: Bench): Promise<void> =>
    measure(
      bench,
      source,
      () => '',
      (service, made) => postAll(service, made, (count) => bench.progress(`${count} events sent`)),
    );
  return { name, what, run };
}

/** A workload over one TCP connection, until the service has closed it: all is fsynced then. */
function overTcp(name: string, what: string, source: Source): Workload {
  const run = (bench: Bench): Promise<void> =>
    measure(
      bench,
      source,
      (service) => `${service.writeKey} `,
      async (service, made) => {
        bench.progress('sending over TCP');
        await sendTcp(service.tcpPort, Buffer.concat(made.map(({ body }) => body)));
      },
    );
  return { name, what, run };
}

/** Rows that a sustained run sends: several times what is sealed together. */
const SUSTAINED_EVENTS = 5_000_000;

/**
 * One TCP connection at a time that is as busy as the service lets it, with the default settings of sealing: whether
 * sealing keeps pace. Rates count the time of sending alone, not that of making events, in which sealing goes on.
 */
const sustainedWorkload: Workload = {
  name: 'ingest-sustained',
  what: 'access-log JSON over one busy TCP connection, 5M events, sealing as it goes',
  run: async (bench) => {
    const eventCount = Math.round(SUSTAINED_EVENTS * bench.scale);
    const samples = { rate: [] as number[], sealed: [] as number[], backlog: [] as number[] };
    const peaks: number[] = [];
    const cpu: number[] = [];
    for (let run = 0; run < bench.runs; run++) {
      const folder = temporaryFolder();
      const service = await startService(folder, ['--metrics-open', 'true']);
      try {
        const event = accessLog(SEED + run);
        let sendMs = 0;
        let most = 0;
        const startedCpu = cpuSeconds(service.pid);
        for (let sent = 0; sent < eventCount; ) {
          const part = Math.min(PART_EVENTS, eventCount - sent);
          const made = bodies(event, part, BODY_BYTES, `${service.writeKey} `);
          const content = Buffer.concat(made.map(({ body }) => body));
          const started = performance.now();
          await sendTcp(service.tcpPort, content);
          sendMs += performance.now() - started;
          sent += part;
          most = Math.max(most, await unsealedRows(service));
          bench.progress(`${sent} events sent, ${most} not sealed at most`);
        }
        samples.rate.push((eventCount * 1000) / sendMs);
        const sealedRows = await metric(service, 'logseam_sealed_rows_total');
        samples.sealed.push((sealedRows * 1000) / sendMs);
        samples.backlog.push(await unsealedRows(service));
        cpu.push(((cpuSeconds(service.pid) - startedCpu) / eventCount) * 1e6);
        peaks.push(peakMegabytes(service.pid));
      } finally {
        await service.stop();
        removeFolder(folder);
      }
    }
    bench.figure('rate, acknowledged', 'events/s', ...samples.rate);
    bench.figure('sealed meanwhile', 'events/s', ...samples.sealed);
    bench.figure('not sealed at the end', 'events', ...samples.backlog);
    bench.figure('CPU, with what was sealed', 's/M events', ...cpu);
    bench.figure('peak memory', 'MB', ...peaks);
  },
};

/** Rows that are stored and not sealed: those of the open log segment and of closed ones that wait. */
async function unsealedRows(service: Service): Promise<number> {
  const stored = await metric(service, 'logseam_store_rows');
  return stored - (await metric(service, 'logseam_sealed_rows_total'));
}

/** Ingestion of several kinds of events. */
export const ingestWorkloads: Workload[] = [
  overHttp(
    'ingest-http',
    'access-log JSON over HTTP, 1 MB bodies, 4 connections, acknowledged when fsynced',
    ACCESS_LOG,
  ),
  overTcp(
    'ingest-tcp',
    'access-log JSON over one TCP connection, until its half-close is answered: all is fsynced',
    ACCESS_LOG,
  ),
  sustainedWorkload,
  overTcp('ingest-syslog', 'RFC 5424 lines with 7 key=value pairs over one TCP connection', {
    events: EVENTS,
    make: syslogPairs,
  }),
  overHttp('ingest-shapes', 'application JSON in 1,000 shapes of 400 attributes over HTTP', {
    events: EVENTS / 2,
    make: applicationEvents,
  }),
  overHttp('ingest-hostile', 'events with ten new attribute names each over HTTP', {
    events: EVENTS / 20,
    make: hostileEvents,
  }),
];
