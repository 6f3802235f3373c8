import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import {
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessRough } from '../corpus/access-rough.ts';
import { eachBody } from '../corpus/bodies.ts';
import type { Bench, Workload } from '../harness.ts';
import { isRefusal } from '../peer/peer.ts';
import { QUESTIONS } from '../peer/questions.ts';
import { sampleOf } from '../peer/run.ts';
import { type ApiRequest, QUERIES } from '../peer/store/logseam.queries.ts';
import { askApi } from '../peer/store/post.ts';
import { CHANNELS } from './channel.ts';
import { ASKED, awaitSealed } from './ingestion.ts';

const SEED = 1;
const REPEATS = 3;
/** A question that took so long in all is not asked again. */
const ASKED_MS = 3_000;
/** Users who ask the same at the same time. */
const AT_ONCE = 8;
const CORPUS = 'access-rough';
/** The part of the time that filling takes, roughly. */
const FILL_SHARE = 0.6;
const BODIES_AT_ONCE = 100;
const SECONDS_A_MILLION = 35;

/** Sends events of the rough access log, few of them in memory at a time; resolves when all are acknowledged. */
export async function sendRough(
  bench: Pick<Bench, 'progress'>,
  service: Service,
  events: number,
): Promise<void> {
  const { send, bodyBytes } = CHANNELS.http;
  let batch: { body: Buffer; events: number }[] = [];
  let sent = 0;
  for (const body of eachBody(accessRough(SEED), events, bodyBytes)) {
    batch.push(body);
    sent += body.events;
    if (batch.length < BODIES_AT_ONCE && sent < events) continue;
    await send(service, batch);
    batch = [];
    bench.progress(`${sent} of ${events} events sent`, (FILL_SHARE * sent) / events);
  }
}

/** The same; resolves when all are sealed. */
export async function fill(
  bench: Pick<Bench, 'progress'>,
  service: Service,
  events: number,
): Promise<void> {
  await sendRough(bench, service, events);
  bench.progress('sealing', FILL_SHARE);
  await awaitSealed(service, events);
}

/** Puts the files of a stopped service out of the page cache. Source: dd(1), nocache. */
function makeCold(folder: string): void {
  for (const file of globSync('{log,sealed}/**', { cwd: folder, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
  }
}

/** Milliseconds that a request takes; rejects unless its answer is 200. */
export async function timed(service: Service, { path, body }: ApiRequest): Promise<number> {
  const started = performance.now();
  await askApi(service, path, body);
  return performance.now() - started;
}

/** A question with the request that asks it. */
export type Asked = [name: string, request: ApiRequest];

/** The questions that can be asked of the events that `fill` sends. */
export function questionsOf(events: number): Asked[] {
  const [parameters] = sampleOf({ make: () => accessRough(SEED), stages: [events] });
  return QUESTIONS.flatMap(({ name }): Asked[] => {
    const request = QUERIES[name]?.(parameters);
    return request === undefined || isRefusal(request) ? [] : [[name, request]];
  });
}

/** All questions to one store that is filled once: warm, by eight at once, and cold. */
class Asking {
  readonly #bench: Bench;
  readonly #folder: string;
  readonly #events: number;
  #service: Service;

  constructor(bench: Bench, folder: string, events: number, service: Service) {
    this.#bench = bench;
    this.#folder = folder;
    this.#events = events;
    this.#service = service;
  }

  get service(): Service {
    return this.#service;
  }

  async all(): Promise<void> {
    const requests = questionsOf(this.#events);
    for (const [place, [name, request]] of requests.entries()) {
      this.#bench.progress(name, FILL_SHARE + ((1 - FILL_SHARE) * place) / requests.length);
      await this.#warm(name, request);
    }
    this.#figure('peak memory', 'MB', [peakMegabytes(this.#service.pid)]);
    for (const [name, request] of requests) {
      this.#bench.progress(`${name}, cold`, 1);
      await this.#startCold();
      this.#figure(`${name}, cold`, 'ms', [await timed(this.#service, request)]);
    }
  }

  async #warm(name: string, request: ApiRequest): Promise<void> {
    await timed(this.#service, request);
    const startedCpu = cpuSeconds(this.#service.pid);
    const wall: number[] = [];
    for (let totalMs = 0; wall.length < REPEATS && totalMs <= ASKED_MS; ) {
      const ms = await timed(this.#service, request);
      wall.push(ms);
      totalMs += ms;
    }
    const cpuMs = ((cpuSeconds(this.#service.pid) - startedCpu) * 1000) / wall.length;
    this.#figure(name, 'ms', wall);
    this.#figure(name, 'ms CPU', [cpuMs]);
    const users = Array.from({ length: AT_ONCE }, () => timed(this.#service, request));
    this.#figure(`${name}, eight at once`, 'ms', await Promise.all(users));
  }

  async #startCold(): Promise<void> {
    const { readKey } = this.#service;
    await this.#service.stop();
    makeCold(this.#folder);
    this.#service = { ...(await startService(this.#folder, ASKED)), readKey };
  }

  #figure(name: string, unit: string, samples: number[]): void {
    this.#bench.record({ name, unit, samples, corpus: CORPUS, events: this.#events });
  }
}

/** Questions over `events` events of the rough access log, through HTTP. */
function queries(name: string, events: number): Workload {
  return {
    name,
    what: `questions over ${events / 1e6}M events of a rough access log: warm, by eight at once, and cold`,
    seconds: ({ scale }) => 30 + (SECONDS_A_MILLION * scale * events) / 1e6,
    run: async (bench) => {
      const folder = temporaryFolder();
      const eventCount = Math.round(events * bench.scale);
      const service = await startService(folder, ASKED);
      const asking = new Asking(bench, folder, eventCount, service);
      try {
        await fill(bench, service, eventCount);
        await asking.all();
      } finally {
        await asking.service.stop();
        removeFolder(folder);
      }
    },
  };
}

/** Questions over a million events, over a day of ten million, and over fifty million. */
export const queryWorkload = queries('query', 1_000_000);
export const queryLargeWorkload = queries('query-10m', 10_000_000);
export const queryHugeWorkload = queries('query-50m', 50_000_000);
