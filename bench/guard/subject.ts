import { execFileSync } from 'node:child_process';
import {
  ask,
  COMMAND,
  cpuSeconds,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { isRate } from '../report/row.ts';
import { INGEST_FIGURES, ingestions } from '../workload/ingest.ts';
import {
  ASKED,
  type Ingestion,
  type IngestSample,
  runIngestion,
  SEALING,
} from '../workload/ingestion.ts';
import { type Asked, fill, questionsOf } from '../workload/query.ts';
import { SMALL_REQUESTS, type SmallFigure, sendSmall } from '../workload/small.ts';
import type { Pairs } from './comparison.ts';

/** How a comparison is taken. */
export interface GuardOptions {
  /** The executable of the base. */
  command: string;
  pairs: number;
  scale: number;
  progress(text: string): void;
}

/** Workloads that are measured on both sides, in turn. */
export interface Subject {
  name: string;
  what: string;
  measure(options: GuardOptions): Promise<Pairs[]>;
}

type Side = 'base' | 'now';

/** Both sides, the other one first each time, as the machine may be warmer or slower for the second. */
function inTurn(pair: number): Side[] {
  return pair % 2 === 0 ? ['base', 'now'] : ['now', 'base'];
}

/** Feeds a fresh service of each side, each pair with a seed of its own. */
function ingestionSubject(ingestion: Ingestion): Subject {
  return {
    name: ingestion.name,
    what: ingestion.what,
    measure: async ({ command, pairs, scale, progress }) => {
      const samples: Record<Side, IngestSample[]> = { base: [], now: [] };
      for (let pair = 0; pair < pairs; pair++) {
        for (const side of inTurn(pair)) {
          const sample = await runIngestion(ingestion, {
            scale,
            seed: pair + 1,
            command: side === 'base' ? command : COMMAND,
            progress: (text) => progress(`pair ${pair + 1} of ${pairs}, ${side}: ${text}`),
          });
          samples[side].push(sample);
        }
      }
      const figures = INGEST_FIGURES.filter(([, , pick]) => !Number.isNaN(pick(samples.now[0])));
      return figures.map(([name, unit, pick]) => ({
        name,
        unit,
        lowerIsBetter: !isRate(unit),
        before: samples.base.map(pick),
        after: samples.now.map(pick),
      }));
    },
  };
}

/** Seconds of small requests over each number of connections. */
const SMALL_SECONDS = 5;

const smallSubject: Subject = {
  ...SMALL_REQUESTS,
  measure: async ({ command, pairs, scale, progress }) => {
    const samples: Record<Side, SmallFigure[][]> = { base: [], now: [] };
    for (let pair = 0; pair < pairs; pair++) {
      for (const side of inTurn(pair)) {
        const of = side === 'base' ? command : COMMAND;
        const seconds = Math.max(1, Math.round(SMALL_SECONDS * scale));
        const tell = (text: string): void =>
          progress(`pair ${pair + 1} of ${pairs}, ${side}: ${text}`);
        samples[side].push(await sendSmall(of, seconds, tell));
      }
    }
    const valuesOf = (side: Side, at: number): number[] =>
      samples[side].map((figures) => figures[at][2]);
    return samples.now[0].map(([name, unit], at) => ({
      name,
      unit,
      lowerIsBetter: !isRate(unit),
      before: valuesOf('base', at),
      after: valuesOf('now', at),
    }));
  },
};

const QUERY_EVENTS = 1_000_000;
/** A query is repeated for so long before it is measured, and then in a sample, as CPU is counted in steps of 10 ms. */
const WARM_MS = 250;
const SAMPLE_MS = 500;

/** CPU milliseconds that a service takes for a query, over as many as it answers in a time. */
async function queryCpuMs(
  service: Service,
  [name, { path, body }]: Asked,
  sampleMs: number,
): Promise<number> {
  const startedCpu = cpuSeconds(service.pid);
  const started = performance.now();
  let count = 0;
  do {
    const answer = await ask(service, path, body);
    if (answer.status !== 200) throw new Error(`${name}: ${answer.text}`);
    count++;
  } while (performance.now() - started < sampleMs);
  return ((cpuSeconds(service.pid) - startedCpu) * 1000) / count;
}

/**
 * Settings of a service that is asked, of a commit that knows them or of one that keeps nothing of a question anyway.
 */
function settingsOf(command: string): string[] {
  const help = execFileSync(command, ['--help'], { encoding: 'utf8' });
  return help.includes('--query-cache-mb') ? ASKED : SEALING;
}

/** A data folder with sealed events, and how it is opened again. */
interface Filled {
  folder: string;
  readKey: string;
  command: string;
  settings: string[];
}

async function fillFolder(command: string, options: GuardOptions): Promise<Filled> {
  const folder = temporaryFolder();
  const settings = settingsOf(command);
  const service = await startService(folder, settings, { command });
  try {
    const eventCount = Math.round(QUERY_EVENTS * options.scale);
    await fill(options, service, eventCount);
    return { folder, readKey: service.readKey, command, settings };
  } finally {
    await service.stop();
  }
}

/** Asks the same of both sides in turn, with processes of their own: two processes of one commit differ too. */
async function askPair(
  sides: Record<Side, Filled>,
  pair: number,
  questions: readonly Asked[],
  onSample: (query: number, side: Side, cpuMs: number) => void,
): Promise<void> {
  const services: [Side, Service][] = [];
  try {
    for (const side of inTurn(pair)) {
      const { folder, readKey, command, settings } = sides[side];
      services.push([side, { ...(await startService(folder, settings, { command })), readKey }]);
    }
    for (const [at, query] of questions.entries()) {
      for (const [side, service] of services) {
        await queryCpuMs(service, query, WARM_MS);
        onSample(at, side, await queryCpuMs(service, query, SAMPLE_MS));
      }
    }
  } finally {
    for (const [, service] of services) await service.stop();
  }
}

const querySubject: Subject = {
  name: 'query',
  what: 'queries over 1M sealed access-log events, through HTTP',
  measure: async (options) => {
    const questions = questionsOf(Math.round(QUERY_EVENTS * options.scale));
    const measured = questions.map(([name]) => ({
      name,
      ...{ unit: 'ms CPU', lowerIsBetter: true },
      samples: { base: [] as number[], now: [] as number[] },
    }));
    const filled: Filled[] = [];
    try {
      for (const command of [options.command, COMMAND])
        filled.push(await fillFolder(command, options));
      const [base, now] = filled;
      for (let pair = 0; pair < options.pairs; pair++) {
        await askPair({ base, now }, pair, questions, (query, side, cpuMs) => {
          measured[query].samples[side].push(cpuMs);
          options.progress(`pair ${pair + 1} of ${options.pairs}: ${questions[query][0]}`);
        });
      }
    } finally {
      for (const { folder } of filled) removeFolder(folder);
    }
    return measured.map(({ samples: { base: before, now: after }, ...figure }) => ({
      ...figure,
      before,
      after,
    }));
  },
};

/** All that can be compared. */
export const SUBJECTS: readonly Subject[] = [
  ...ingestions.map(ingestionSubject),
  smallSubject,
  querySubject,
];
