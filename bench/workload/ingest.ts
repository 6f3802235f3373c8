import { manage } from '../../test/support/admin.ts';
import type { Service } from '../../test/support/service.ts';
import { fileCorpus } from '../corpus/file.ts';
import { newNames } from '../corpus/hostile.ts';
import { corpusOf } from '../corpus/index.ts';
import type { Bench, Workload } from '../harness.ts';
import { CHANNELS, type Channel } from './channel.ts';
import { type Ingestion, type IngestSample, LOADS, runIngestion } from './ingestion.ts';

const EVENTS = 1_000_000;
const SEED = 1;
/** Seconds until a service has started, sealed what is left and stopped. */
const SECONDS_ALONE = 4;
/** Seconds that a million events take, made, sent, sealed and counted. */
const SECONDS_A_MILLION = 18;

/** Runs of a corpus through one more channel: most of what it costs is known from the first one. */
const RUNS_AGAIN = 2;

/** Events of a corpus through a channel. */
function ingestion(name: string, corpus: string, channel: Channel, events = EVENTS): Ingestion {
  const { what, make } = corpusOf(corpus);
  return { name, what: `${what}; ${channel.what}`, corpus, events, make, channel };
}

/** The same of a corpus that came through another channel already. */
function again(...of: Parameters<typeof ingestion>): Ingestion {
  return { ...ingestion(...of), runsMax: RUNS_AGAIN };
}

const { http, http4k, httpFleet, tcp, tls, udp } = CHANNELS;

/** Turns on the parsing extensions that come with the service. */
async function extend(service: Service): Promise<void> {
  const { body } = await manage(service, 'GET', 'extensions');
  const { extensions } = (body as { result: { extensions: { id: string }[] } }).result;
  for (const { id } of extensions)
    await manage(service, 'PATCH', `extensions/${id}`, { enabled: true });
}

/** Ingestion of each corpus, and through each channel. */
export const ingestions: Ingestion[] = [
  ingestion('ingest-tcp', 'access-plain', tcp),
  again('ingest-http', 'access-plain', http),
  ingestion('ingest-tcp-rough', 'access-rough', tcp),
  again('ingest-http-rough', 'access-rough', http),
  again('ingest-http-4k-rough', 'access-rough', http4k, EVENTS / 5),
  again('ingest-http-fleet-rough', 'access-rough', httpFleet, EVENTS / 5),
  again('ingest-tls-rough', 'access-rough', tls),
  again('ingest-udp-rough', 'access-rough', udp),
  ingestion('ingest-syslog', 'syslog-pairs', tcp),
  ingestion('ingest-syslog-3164', 'syslog-3164', tcp),
  ingestion('ingest-application', 'application', http),
  ingestion('ingest-kubernetes', 'kubernetes', tcp),
  {
    ...ingestion('ingest-extended', 'kubernetes', tcp, EVENTS / 5),
    what: 'the same cluster with all ready-made parsing extensions on',
    prepare: extend,
  },
  ingestion('ingest-shapes', 'application-shapes', http, EVENTS / 2),
  ingestion('ingest-wide', 'wide', http, EVENTS / 5),
  ingestion('ingest-hostile', 'hostile', http, EVENTS / 20),
  {
    name: 'ingest-names',
    what: `events with ten new attribute names each; ${http.what}`,
    corpus: 'new-names',
    events: EVENTS / 20,
    make: newNames,
    channel: http,
  },
];

/** Figures of the samples of an ingestion: name, unit and value; NaN where there is none. */
export const INGEST_FIGURES: [string, string, (sample: IngestSample) => number][] = [
  ['CPU, acknowledged', 's/M events', ({ cpu }) => cpu],
  ['CPU, sealed too', 's/M events', ({ sealedCpu }) => sealedCpu],
  ['CPU, acknowledged, warm', 's/M events', ({ warm }) => warm.cpu],
  ['CPU, sealed too, warm', 's/M events', ({ warm }) => warm.sealedCpu],
  ['rate, acknowledged', 'events/s', ({ rate }) => rate],
  ['rate, acknowledged, warm', 'events/s', ({ warm }) => warm.rate],
  ['p50 to a 200', 'ms', ({ p50 }) => p50],
  ['p99 to a 200', 'ms', ({ p99 }) => p99],
  ['disk, when acknowledged', 'bytes/event', ({ disk }) => disk],
  ['disk, sealed', 'bytes/event', ({ sealedDisk }) => sealedDisk],
  ['peak memory', 'MB', ({ peak }) => peak],
  ['peak memory, sealed', 'MB', ({ sealedPeak }) => sealedPeak],
  ['peak memory, added by sealing', 'MB', ({ peak, sealedPeak }) => sealedPeak - peak],
  ['rows by reference decoder', '%', ({ reference }) => reference],
  ['lost', '%', ({ lost }) => lost],
];

function runsOf({ runsMax = Infinity }: Ingestion, runs: number): number {
  return Math.min(runs, runsMax);
}

/** Runs an ingestion `bench.runs` times, or as often as it is to be. */
async function measure(bench: Bench, wanted: Ingestion): Promise<void> {
  const samples: IngestSample[] = [];
  const runs = runsOf(wanted, bench.runs);
  for (let run = 0; run < runs; run++) {
    const progress = (text: string): void => bench.progress(`run ${run + 1}: ${text}`, run / runs);
    samples.push(await runIngestion(wanted, { scale: bench.scale, seed: SEED + run, progress }));
  }
  const events = Math.round(wanted.events * bench.scale);
  for (const [name, unit, pick] of INGEST_FIGURES) {
    const found = samples.map(pick);
    if (found.some(Number.isNaN)) continue;
    bench.record({ name, unit, samples: found, corpus: wanted.corpus, events });
  }
}

function workload(wanted: Ingestion): Workload {
  return {
    name: wanted.name,
    what: wanted.what,
    seconds: ({ scale, runs }) => {
      const events = wanted.events * scale * LOADS;
      return runsOf(wanted, runs) * (SECONDS_ALONE + (SECONDS_A_MILLION * events) / EVENTS);
    },
    run: (bench: Bench) => measure(bench, wanted),
  };
}

/** The workloads of ingestion. */
export const ingestWorkloads: Workload[] = ingestions.map(workload);

/** Ingestion of a user's own file, as lines and as bodies. Throws when it can't be read. */
export function fileWorkloads(path: string): Workload[] {
  const { name: corpus, what, make } = fileCorpus(path);
  const events = EVENTS;
  return [tcp, http].map((channel) =>
    workload({
      name: `file-${channel.name}`,
      what: `${what}; ${channel.what}`,
      ...{ corpus, events, make, channel },
    }),
  );
}
