import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import { parseSearch } from '../../server/language/search.ts';
import type { QueryJob } from '../../server/query/job.ts';
import { request, service as routes } from '../../test/api/service.ts';
import { CORPUS_START_MS } from '../corpus/clock.ts';

const TIME = { from: CORPUS_START_MS, to: CORPUS_START_MS + 100_000_000 };
const URL_PATH = 'custom.http.request';
const P95 = 'pc95:custom.http.response_time';
const TOTAL = 'sum:custom.http.response_time';
const ADDRESSES = 'cardinality:custom.network.client_ip';
const LIST = '/beta/events/list';
const AGGREGATE = '/beta/events/aggregate';

const search = (query: string): object => ({ filters: [{ search: { query } }] });
const compute = (id: string): object => ({ compute: [{ metric: { id } }] });
const topBy = (id: string, path: string): object => ({
  ...compute(id),
  groupBy: [{ field: { id: path, limit: 100, order: { [id]: 'desc' } } }],
});
const series = (metricId: string): object => ({
  compute: [{ timeseries: { metricId, interval: '10s' } }],
  groupBy: [{ field: { id: URL_PATH, limit: 99 } }],
});

/** Queries that keep a worker busy. `skip`: what only saved analyses say. */
export const HEAVY_QUERIES: [name: string, path: string, body: object, skip?: number][] = [
  ['pattern on message', AGGREGATE, { ...compute('count'), ...search('*a*b*c*9') }],
  ['absent pattern, list', LIST, search('*zq*zq*')],
  ['distinct URLs', AGGREGATE, compute(`cardinality:${URL_PATH}`)],
  ['top 100 URLs by distinct addresses', AGGREGATE, topBy(ADDRESSES, URL_PATH)],
  ['top 100 URLs by p95', AGGREGATE, topBy(P95, URL_PATH)],
  ['top 100 URLs by sum', AGGREGATE, topBy(TOTAL, URL_PATH)],
  [
    'top 100 URLs, least first',
    AGGREGATE,
    {
      ...compute('count'),
      groupBy: [{ field: { id: URL_PATH, limit: 100, order: { count: 'asc' } } }],
    },
  ],
  [
    'addresses x URLs',
    AGGREGATE,
    {
      ...compute('count'),
      groupBy: ['custom.network.client_ip', URL_PATH].map((id) => ({ field: { id, limit: 31 } })),
    },
  ],
  [
    'p95 per 10 s',
    AGGREGATE,
    {
      ...compute(P95),
      groupBy: [{ time: { interval: '10s' } }],
    },
  ],
  ['10,000 steps x 99 URLs', AGGREGATE, series('count')],
  ['10,000 steps x 99 URLs, p95', AGGREGATE, series(P95)],
  [
    'tagset of 20 patterns',
    AGGREGATE,
    { ...compute('count'), groupBy: [{ field: { id: 'tags' } }] },
  ],
  ['list, skip 100,000', LIST, { limit: 1000, event: true }, 100_000],
  ['attributes', '/beta/discover/attributes', search('cart')],
  ['export', '/beta/events/export', {}],
];
/** Matches nothing and opens no block. */
export const TINY_QUERY: [path: string, body: object] = [
  LIST,
  { time: { from: 0, to: 1 }, limit: 1 },
];

const TAGS = Array.from({ length: 20 }, (_, n) => ({
  ...{ id: `t${n}`, name: `t${n}`, color: '#102030' },
  predicate: parseSearch(`*a${n}* OR http.request:*${n}x*`),
}));

/** Answer of the front to a request. */
export async function jobOf(
  path: string,
  body: object,
  skip: number | undefined,
): Promise<QueryJob> {
  const tagset = { id: 'tags', name: 'tags', type: 'tagset' as const, tags: TAGS };
  const { answer, jobs } = routes({
    resolver: { ...NOTHING_DECLARED, field: (id) => (id === tagset.id ? tagset : undefined) },
  });
  const reply = await answer(request(path, { body: { time: TIME, ...body } }));
  const [job] = jobs;
  if (job === undefined) throw new Error(`${path} makes no job: ${reply.body}`);
  return job.type === 'list' && skip !== undefined
    ? { ...job, query: { ...job.query, skip } }
    : job;
}
