import {
  ask,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  startService,
  temporaryFolder,
} from '../test/support/service.ts';
import { accessLog, bodies } from './corpus.ts';
import type { Workload } from './harness.ts';
import { postAll } from './ingest.bench.ts';

const EVENTS = 1_000_000;
const REPEATS = 5;
const TIME = { from: 0, to: 4e12 };
const search = (query: string): object => ({ search: { query } });
const compute = (id: string): object[] => [{ metric: { id, output: 'm' } }];

const QUERIES: [name: string, path: string, body: object][] = [
  ['count all', '/beta/events/aggregate', { compute: compute('count') }],
  [
    'count, status 500',
    '/beta/events/aggregate',
    { compute: compute('count'), filters: [search('http.status_code:500')] },
  ],
  ['newest 50', '/beta/events/list', { event: true }],
  [
    'newest 50, status 500',
    '/beta/events/list',
    { event: true, filters: [search('http.status_code:500')] },
  ],
  ['newest 50, a word', '/beta/events/list', { event: true, filters: [search('cart')] }],
  [
    'count of a word',
    '/beta/events/aggregate',
    { compute: compute('count'), filters: [search('cart')] },
  ],
  ['absent word', '/beta/events/list', { event: true, filters: [search('zanzibar')] }],
  [
    'avg response time',
    '/beta/events/aggregate',
    { compute: compute('avg:custom.http.response_time') },
  ],
  [
    'p95 response time',
    '/beta/events/aggregate',
    { compute: compute('pc95:custom.http.response_time') },
  ],
  [
    'distinct addresses',
    '/beta/events/aggregate',
    { compute: compute('cardinality:custom.network.client_ip') },
  ],
];

/** Queries over the access log, one at a time, through HTTP. */
export const queryWorkload: Workload = {
  name: 'query',
  what: 'queries over 1M access-log events in log segments, one at a time, through HTTP',
  run: async (bench) => {
    const folder = temporaryFolder();
    const service = await startService(folder);
    try {
      const eventCount = Math.round(EVENTS * bench.scale);
      bench.progress(`making and sending ${eventCount} events`);
      await postAll(service, bodies(accessLog(1), eventCount, 1_000_000));
      for (const [name, path, body] of QUERIES) {
        const wall: number[] = [];
        const startedCpu = cpuSeconds(service.pid);
        for (let repeat = 0; repeat < REPEATS; repeat++) {
          bench.progress(`${name}, ${repeat + 1} of ${REPEATS}`);
          const started = performance.now();
          const answer = await ask(service, path, { time: TIME, ...body });
          if (answer.status !== 200) throw new Error(`${name}: ${answer.text}`);
          wall.push(performance.now() - started);
        }
        bench.figure(name, 'ms', ...wall);
        bench.figure(
          `${name}, CPU`,
          'ms',
          ((cpuSeconds(service.pid) - startedCpu) * 1000) / REPEATS,
        );
      }
      bench.figure('peak memory', 'MB', peakMegabytes(service.pid));
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  },
};
