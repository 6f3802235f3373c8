import { mkdtemp, open, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeFolder, startService, temporaryFolder } from '../../test/support/service.ts';
import { accessRough } from '../corpus/access-rough.ts';
import { bodies } from '../corpus/bodies.ts';
import type { Workload } from '../harness.ts';
import { post } from '../peer/store/post.ts';
import { quantile } from './quantile.ts';

/** Senders at once: as many as Node has threads for file system calls, so that bare writes do not queue for one. */
const CONNECTIONS = 4;
const EVENTS = 10;
/** Rounds, in each of which the service and bare writes are measured in turn, and the seconds of each part. */
const ROUNDS = 5;
const FULL_SECONDS = 1;
const SECONDS = 3;
/** Seconds of full load before what is measured. */
const WARM_SECONDS = 4;
/** Part of the full rate at which latency is measured. */
const LOAD = 0.5;

/** Does one request of the sender `sender`. */
type Act = (sender: number) => Promise<void>;

/**
 * Milliseconds of each act of `CONNECTIONS` senders, which begin together `rate` acts a second, or each its next as
 * soon as its last one ended.
 */
async function act(seconds: number, rate: number, one: Act): Promise<number[]> {
  const latencies: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const stepMs = (CONNECTIONS * 1000) / rate;
  const send = async (sender: number): Promise<void> => {
    for (let dueMs = startMs + (stepMs * sender) / CONNECTIONS || startMs; ; dueMs += stepMs) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await pause(waitMs);
      const began = performance.now();
      if (began > endMs) return;
      await one(sender);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, sender) => send(sender)));
  return latencies;
}

/** Latencies of a bare write of `body` and its fdatasync, each sender to the end of a file of its own. */
async function bareLatencies(seconds: number, rate: number, body: Uint8Array): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'logseam-bare-'));
  try {
    const names = Array.from({ length: CONNECTIONS }, (_, sender) => join(folder, `${sender}`));
    const files = await Promise.all(names.map((name) => open(name, 'a')));
    const latencies = await act(seconds, rate, async (sender) => {
      await files[sender].write(body);
      await files[sender].datasync();
    });
    await Promise.all(files.map((file) => file.close()));
    return latencies;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Time from a request to its 200 at half of the rate that the service takes, beside that of a bare durable write. */
export const latencyWorkload: Workload = {
  name: 'ingest-latency',
  what: `HTTP bodies of ${EVENTS} events over ${CONNECTIONS} connections at half load, beside bare writes and fdatasyncs of them`,
  seconds: ({ scale, runs }) =>
    runs * ROUNDS * (FULL_SECONDS + 2 * SECONDS) * scale + WARM_SECONDS + 3,
  run: async (bench) => {
    const folder = temporaryFolder();
    const service = await startService(folder, ['--metrics-open', 'true']);
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const [{ body }] = bodies(accessRough(1), EVENTS, Infinity);
    const url = `${service.http}/v1/input/${service.writeKey}`;
    const sendOne = (): Promise<void> => post(url, body, 'application/x-ndjson', agent);
    const samples: number[][] = [];
    try {
      await act(WARM_SECONDS, Infinity, sendOne);
      const rounds = bench.runs * ROUNDS;
      for (let round = 0; round < rounds; round++) {
        bench.progress('full and half load beside bare writes', round / rounds);
        const fullSeconds = FULL_SECONDS * bench.scale;
        const full = (await act(fullSeconds, Infinity, sendOne)).length / fullSeconds;
        const seconds = SECONDS * bench.scale;
        const measureHalf = (): Promise<number[]> => act(seconds, full * LOAD, sendOne);
        const isFirst = round % 2 === 0;
        const before = isFirst ? await measureHalf() : undefined;
        const bare = await bareLatencies(seconds, full * LOAD, body);
        const half = before ?? (await measureHalf());
        const [p50, p99] = [0.5, 0.99].map((share) => quantile(half, share));
        const [bare50, bare99] = [0.5, 0.99].map((share) => quantile(bare, share));
        samples.push([full, p50, p99, bare50, bare99, p50 / bare50, p99 / bare99]);
      }
    } finally {
      agent.destroy();
      await service.stop();
      removeFolder(folder);
    }
    const figure = (name: string, unit: string, at: number): void =>
      bench.figure(name, unit, ...samples.map((sample) => sample[at]));
    figure('full load', 'requests/s', 0);
    figure('half load, p50 to a 200', 'ms', 1);
    figure('half load, p99 to a 200', 'ms', 2);
    figure('bare write and fdatasync, p50', 'ms', 3);
    figure('bare write and fdatasync, p99', 'ms', 4);
    figure('p50 to a 200, of that of a bare write', 'times', 5);
    figure('p99 to a 200, of that of a bare write', 'times', 6);
  },
};
