import {
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  sendTcp,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessLog } from '../corpus/access.ts';
import { bodies } from '../corpus/bodies.ts';
import { newNames } from '../corpus/hostile.ts';
import { applicationShapes, wide } from '../corpus/shapes.ts';
import { syslogPairs } from '../corpus/syslog.ts';
import type { Bench, Workload } from '../harness.ts';
import {
  BODY_BYTES,
  type Ingestion,
  type IngestSample,
  metric,
  postAll,
  runIngestion,
} from './ingestion.ts';

const EVENTS = 1_000_000;
const SEED = 1;
/** Events that a sustained run makes and sends at a time, so that the sender's memory stays small. */
const PART_EVENTS = 250_000;

type Source = Pick<Ingestion, 'name' | 'what' | 'events' | 'make'>;

/** Events over HTTP in bodies of 1 MB; every 200 means fsynced. */
function overHttp(source: Source): Ingestion {
  return {
    ...source,
    prefixOf: () => '',
    send: (service, made, progress) =>
      postAll(service, made, (count) => progress(`${count} events sent`)),
  };
}

/** Events over one TCP connection, until the service has closed it: all is fsynced then. */
function overTcp(source: Source): Ingestion {
  return {
    ...source,
    prefixOf: (service) => `${service.writeKey} `,
    send: async (service, made, progress) => {
      progress('sending over TCP');
      await sendTcp(service.tcpPort, Buffer.concat(made.map(({ body }) => body)));
    },
  };
}

/** Ingestion of several kinds of events. */
export const ingestions: Ingestion[] = [
  overHttp({
    name: 'ingest-http',
    what: 'access-log JSON over HTTP, 1 MB bodies, 4 connections, acknowledged when fsynced',
    events: EVENTS,
    make: accessLog,
  }),
  overTcp({
    name: 'ingest-tcp',
    what: 'access-log JSON over one TCP connection, until its half-close is answered: all is fsynced',
    events: EVENTS,
    make: accessLog,
  }),
  overTcp({
    name: 'ingest-syslog',
    what: 'RFC 5424 lines with 7 key=value pairs over one TCP connection',
    events: EVENTS,
    make: syslogPairs,
  }),
  overHttp({
    name: 'ingest-shapes',
    what: 'application JSON in 1,000 shapes of 400 attributes over HTTP',
    events: EVENTS / 2,
    make: applicationShapes,
  }),
  overHttp({
    name: 'ingest-wide',
    what: 'application JSON with 200 optional attributes, half of them there, over HTTP',
    events: EVENTS / 5,
    make: wide,
  }),
  overHttp({
    name: 'ingest-hostile',
    what: 'events with ten new attribute names each over HTTP',
    events: EVENTS / 20,
    make: newNames,
  }),
];

/** Figures of the samples of an ingestion: name, unit and value. */
export const INGEST_FIGURES: [string, string, (sample: IngestSample) => number][] = [
  ['CPU, acknowledged', 's/M events', ({ cpu }) => cpu],
  ['CPU, sealed too', 's/M events', ({ sealedCpu }) => sealedCpu],
  ['rate, acknowledged', 'events/s', ({ rate }) => rate],
  ['disk, when acknowledged', 'bytes/event', ({ disk }) => disk],
  ['disk, sealed', 'bytes/event', ({ sealedDisk }) => sealedDisk],
  ['peak memory', 'MB', ({ peak }) => peak],
  ['peak memory, sealed', 'MB', ({ sealedPeak }) => sealedPeak],
  ['rows by reference decoder', '%', ({ reference }) => reference],
];

/** Runs an ingestion `bench.runs` times. */
async function measure(bench: Bench, ingestion: Ingestion): Promise<void> {
  const samples: IngestSample[] = [];
  for (let run = 0; run < bench.runs; run++) {
    const progress = (text: string): void => bench.progress(`run ${run + 1}: ${text}`);
    samples.push(await runIngestion(ingestion, { scale: bench.scale, seed: SEED + run, progress }));
  }
  for (const [name, unit, pick] of INGEST_FIGURES) bench.figure(name, unit, ...samples.map(pick));
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

/** The workloads of ingestion. */
export const ingestWorkloads: Workload[] = [
  ...ingestions.map((ingestion) => ({
    name: ingestion.name,
    what: ingestion.what,
    run: (bench: Bench) => measure(bench, ingestion),
  })),
  sustainedWorkload,
];
