import {
  ask,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessLog } from '../corpus/access.ts';
import { bodies } from '../corpus/bodies.ts';
import { CORPUS_START_MS } from '../corpus/clock.ts';
import type { Bench, Workload } from '../harness.ts';
import { postAll } from './channel.ts';
import { awaitSealed, SEALING } from './ingestion.ts';

const EVENTS = 1_000_000;
const REPEATS = 5;
const PART_EVENTS = 200_000;
/** A day and a bit around the corpus: 10M events lie in it. Milliseconds since 1970. */
export const TIME = { from: CORPUS_START_MS, to: CORPUS_START_MS + 100_000_000 };
const search = (query: string): object => ({ search: { query } });
const compute = (id: string): object[] => [{ metric: { id, output: 'm' } }];

const top = (...ids: string[]): object => ({
  compute: compute('count'),
  groupBy: ids.map((id) => ({ field: { id, limit: 10 } })),
});

/** What is asked: a name, the route and the body without its time. */
export const QUERIES: readonly [name: string, path: string, body: object][] = [
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
  [
    'count per minute, status 500',
    '/beta/events/aggregate',
    {
      compute: compute('count'),
      groupBy: [{ time: { interval: '1m' } }],
      filters: [search('http.status_code:500')],
    },
  ],
  ['top 10 URLs', '/beta/events/aggregate', top('custom.http.request')],
  ['top 10 addresses', '/beta/events/aggregate', top('custom.network.client_ip')],
  [
    'status x verb x host',
    '/beta/events/aggregate',
    top('custom.http.status_code', 'custom.http.verb', 'custom.http.ident'),
  ],
  [
    'avg and p95 per minute',
    '/beta/events/aggregate',
    {
      compute: [
        ...compute('avg:custom.http.response_time'),
        { metric: { id: 'pc95:custom.http.response_time', output: 'p' } },
      ],
      groupBy: [{ time: { interval: '1m' } }],
    },
  ],
];

/** Queries over `events` access-log events, one at a time, through HTTP. */
function overAccessLog(name: string, what: string, events: number): Workload {
  return {
    name,
    what,
    run: async (bench) => {
      const folder = temporaryFolder();
      const service = await startService(folder, SEALING);
      try {
        const eventCount = Math.round(events * bench.scale);
        await fill(bench, service, eventCount);
        bench.progress('sealing');
        await awaitSealed(service, eventCount);
        for (const [query, path, body] of QUERIES) {
          const wall: number[] = [];
          const startedCpu = cpuSeconds(service.pid);
          for (let repeat = 0; repeat < REPEATS; repeat++) {
            bench.progress(`${query}, ${repeat + 1} of ${REPEATS}`);
            const started = performance.now();
            const answer = await ask(service, path, { time: TIME, ...body });
            if (answer.status !== 200) throw new Error(`${query}: ${answer.text}`);
            wall.push(performance.now() - started);
          }
          const cpuMs = ((cpuSeconds(service.pid) - startedCpu) * 1000) / REPEATS;
          bench.figure(query, 'ms', ...wall);
          bench.figure(`${query}, CPU`, 'ms', cpuMs);
        }
        bench.figure('peak memory', 'MB', peakMegabytes(service.pid));
      } finally {
        await service.stop();
        removeFolder(folder);
      }
    },
  };
}

/** Sends access-log events, a part at a time so that the sender's memory stays small. */
export async function fill(
  bench: Pick<Bench, 'progress'>,
  service: Service,
  eventCount: number,
): Promise<void> {
  const event = accessLog(1);
  for (let sent = 0; sent < eventCount; ) {
    const part = Math.min(PART_EVENTS, eventCount - sent);
    await postAll(service, bodies(event, part, 1_000_000));
    sent += part;
    bench.progress(`${sent} of ${eventCount} events sent`);
  }
}

/** Queries over a million events. */
export const queryWorkload = overAccessLog(
  'query',
  'queries over 1M access-log events, one at a time, through HTTP',
  EVENTS,
);

/** Queries over ten million events. */
export const queryLargeWorkload = overAccessLog(
  'query-10m',
  'the same queries over 10M access-log events',
  10 * EVENTS,
);
