import { setTimeout as pause } from 'node:timers/promises';
import { metric } from '../../test/support/metrics.ts';
import {
  ask,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import type { Bench, Workload } from '../harness.ts';
import { awaitSealed, SEALING } from './ingestion.ts';
import { sendRough } from './query.ts';

const EVENTS = 1_000_000;
/** Nothing is sealed meanwhile. */
const UNSEALED = ['--seal-idle-minutes', '1000', '--metrics-open', 'true'];
/** Sealed segments of so few rows that there are many; these do not go together with others. */
const SEGMENT_ROWS = 100;
const SEGMENTS = [1_000, 10_000];
const POLL_MS = 100;
const ALL_TIME = { from: 0, to: 'now' };
const TOP_ADDRESSES = {
  time: ALL_TIME,
  compute: [{ metric: { id: 'count', output: 'count' } }],
  groupBy: [{ field: { id: 'custom.network.client_ip', limit: 10, output: 'ip' } }],
};
/** More free disk than there is: all sealed segments go. */
const DROPPING = ['--retention-free-gb', '1000000'];
const SMALL_SEGMENTS = ['--seal-rows', String(SEGMENT_ROWS)];

/** Starts the service in a folder that has events, `bench.runs` times; from the call to "ready". */
async function startAgain(
  bench: Bench,
  folder: string,
  name: string,
  end: 'stop' | 'kill',
  settings: readonly string[] = [],
): Promise<void> {
  const wall: number[] = [];
  const cpu: number[] = [];
  const peak: number[] = [];
  for (let run = 0; run < bench.runs; run++) {
    bench.progress(`${name}, ${run + 1} of ${bench.runs}`);
    const started = performance.now();
    const service = await startService(folder, [...UNSEALED, ...settings]);
    wall.push(performance.now() - started);
    cpu.push(cpuSeconds(service.pid));
    peak.push(peakMegabytes(service.pid));
    await service[end]();
  }
  bench.figure(`${name}, ready after`, 'ms', ...wall);
  bench.figure(`${name}, CPU`, 's', ...cpu);
  bench.figure(`${name}, peak memory`, 'MB', ...peak);
}

/** Seals the events that a folder has in its log. */
async function sealAll(
  bench: Bench,
  folder: string,
  events: number,
  settings: readonly string[] = [],
): Promise<void> {
  const sealing = await startService(folder, [...SEALING, ...settings]);
  bench.progress('sealing');
  await awaitSealed(sealing, events);
  await sealing.stop();
}

/** Requests over all of many segments. */
const QUESTIONS: readonly [name: string, path: string, body: object][] = [
  ['newest 100', '/beta/events/list', { time: ALL_TIME, limit: 100 }],
  [
    'absent word',
    '/beta/events/list',
    { time: ALL_TIME, filters: [{ search: { query: 'absentword' } }] },
  ],
  ['top 10 client IPs', '/beta/events/aggregate', TOP_ADDRESSES],
  // Footers alone answer it, so this is what planning takes.
  [
    'number that none has',
    '/beta/events/list',
    { time: ALL_TIME, filters: [{ search: { query: '@network.bytes_write:>1000000000000' } }] },
  ],
];

/** Asks each question twice over many segments: the first time their footers are read. */
async function askOverMany(
  bench: Bench,
  folder: string,
  name: string,
  readKey: string,
): Promise<void> {
  const started = await startService(folder, [...UNSEALED, ...SMALL_SEGMENTS]);
  const service = { ...started, readKey };
  try {
    for (const [question, path, body] of QUESTIONS) {
      for (const when of ['first', 'again']) {
        const before = cpuSeconds(service.pid);
        const { status } = await ask(service, path, body);
        if (status !== 200) throw new Error(`${question}: ${status}`);
        bench.figure(`${name}, ${question}, ${when}, CPU`, 's', cpuSeconds(service.pid) - before);
      }
    }
    bench.figure(`${name}, peak memory with questions`, 'MB', peakMegabytes(service.pid));
  } finally {
    await started.stop();
  }
}

/** Drops all segments for free disk, and shows what that takes. */
async function dropAll(bench: Bench, folder: string, name: string): Promise<void> {
  const service = await startService(folder, [...UNSEALED, ...SMALL_SEGMENTS, ...DROPPING]);
  try {
    const before = cpuSeconds(service.pid);
    bench.progress(`${name}, retention`);
    while ((await metric(service, 'logseam_store_sealed_rows')) > 0) await pause(POLL_MS);
    bench.figure(`${name}, all dropped by retention, CPU`, 's', cpuSeconds(service.pid) - before);
  } finally {
    await service.stop();
  }
}

/** Starts over many sealed segments: the cost of each. */
async function startOverMany(bench: Bench, segments: number): Promise<void> {
  const folder = temporaryFolder();
  const events = segments * SEGMENT_ROWS;
  const name = `${segments.toLocaleString('en-US')} sealed segments`;
  try {
    const filling = await startService(folder, UNSEALED);
    await sendRough(bench, filling, events);
    await filling.stop();
    await sealAll(bench, folder, events, SMALL_SEGMENTS);
    await startAgain(bench, folder, name, 'stop', SMALL_SEGMENTS);
    await askOverMany(bench, folder, name, filling.readKey);
    await dropAll(bench, folder, name);
  } finally {
    removeFolder(folder);
  }
}

/** Cost of a restart until the service is there again. */
export const restartWorkload: Workload = {
  name: 'restart',
  what: 'starts in an empty folder, over 1M sealed events, after a kill with 1M in the log, and over 1,000 and 10,000 segments with questions',
  seconds: ({ scale, runs }) => 160 + 25 * scale + 12 * runs,
  run: async (bench) => {
    const events = Math.round(EVENTS * bench.scale);
    const folder = temporaryFolder();
    const keyed = await startService(folder, UNSEALED);
    await keyed.stop();
    try {
      await startAgain(bench, folder, 'empty', 'stop');
      const { writeKey } = keyed;
      const filling = { ...(await startService(folder, UNSEALED)), writeKey };
      await sendRough(bench, filling, events);
      await filling.kill();
      await startAgain(bench, folder, 'after a kill', 'kill');
      await sealAll(bench, folder, events);
      await startAgain(bench, folder, 'sealed', 'stop');
    } finally {
      removeFolder(folder);
    }
    for (const segments of SEGMENTS) await startOverMany(bench, segments);
  },
};
