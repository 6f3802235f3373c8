import type { Parameters, Texts } from '../peer.ts';
import { DISCOVERED, NEWEST } from '../questions.ts';

/** Questions to Logseam: requests of its output API. */

/** A POST. */
export interface ApiRequest {
  path: string;
  body: object;
}

const LIST = '/beta/events/list';
const AGGREGATE = '/beta/events/aggregate';
const COUNT = compute('count');

function compute(...ids: string[]): object[] {
  return ids.map((id) => ({ metric: { id, output: id } }));
}

function field(name: string, limit: number): object {
  return { field: { id: `custom.${name}`, limit, output: name } };
}

function time(interval: string): object {
  return { time: { interval } };
}

function filter(search: string): object {
  return search === '' ? {} : { filters: [{ search: { query: search } }] };
}

function range({ fromMs, toMs }: Parameters): object {
  return { time: { from: fromMs, to: toMs } };
}

function newest(parameters: Parameters, search = ''): ApiRequest {
  return {
    path: LIST,
    body: { ...range(parameters), event: true, limit: NEWEST, ...filter(search) },
  };
}

function aggregate(
  parameters: Parameters,
  computes: object[],
  groupBy: object[],
  search = '',
): ApiRequest {
  return {
    path: AGGREGATE,
    body: { ...range(parameters), compute: computes, groupBy, ...filter(search) },
  };
}

/** A value of a search, quoted. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function discovered(parameters: Parameters, more: object = {}): ApiRequest {
  const attributes = DISCOVERED.map((name) => `custom.${name}`);
  return {
    path: '/beta/discover/attributes',
    body: { ...range(parameters), attributes, values: 0, ...more },
  };
}

const FACETS = ['http.status_code', 'http.verb', 'http.ident'];

/** The questions of `questions.ts` as requests. */
export const QUERIES: Texts<ApiRequest> = {
  'count of all': (p) => aggregate(p, COUNT, []),
  'count per minute, status 500': (p) => aggregate(p, COUNT, [time('1m')], 'http.status_code:500'),
  'top 10 URLs': (p) => aggregate(p, COUNT, [field('http.request', 10)]),
  'top 10 client IPs': (p) => aggregate(p, COUNT, [field('network.client_ip', 10)]),
  'average and p95 of response time per minute': (p) =>
    aggregate(p, compute('avg:custom.http.response_time', 'pc95:custom.http.response_time'), [
      time('1m'),
    ]),
  'rare word in message, newest 100, all columns': (p) => newest(p, p.rareWord),
  'common word, newest 100': (p) => newest(p, p.commonWord),
  'common word, count': (p) => aggregate(p, COUNT, [], p.commonWord),
  'status 500 and one host, newest 100': (p) =>
    newest(p, `http.status_code:500 http.ident:${quoted(p.host)}`),
  'newest 100': (p) => newest(p),
  'one rare IP, newest 100': (p) => newest(p, `network.client_ip:${quoted(p.rareAddress)}`),
  'distinct IPs (exact)': (p) => aggregate(p, compute('cardinality:custom.network.client_ip'), []),
  // Limits multiply to 1,000 at most: as the most frequent statuses, verbs and hosts of the corpora need.
  'group by status, verb, host (top 1000)': (p) =>
    aggregate(p, COUNT, [
      field('http.status_code', 10),
      field('http.verb', 4),
      field('http.ident', 25),
    ]),
  'sum of bytes per hour and host': (p) =>
    aggregate(p, compute('sum:custom.network.bytes_write'), [time('1h'), field('http.ident', 100)]),
  'substring, count': (p) => aggregate(p, COUNT, [], `*${p.substring}*`),
  'three nested groups': (p) =>
    aggregate(p, COUNT, [field('http.ident', 5), field('http.verb', 2), field('http.request', 10)]),
  'one rare value, newest 100': (p) => newest(p, `http.request:${quoted(p.rareRequest)}`),
  discovery: (p) => discovered(p),
  'discovery without distinct counts': (p) => discovered(p, { distinct: false }),
  'a:/re/, count': (p) =>
    aggregate(p, COUNT, [], `http.request:/${p.requestPattern.replaceAll('/', '\\/')}/`),
  'list by attribute': (p) => ({
    path: LIST,
    body: { ...range(p), event: true, limit: NEWEST, orderBy: 'custom.network.bytes_write' },
  }),
  facets: (p) => ({
    path: '/beta/discover/facets',
    body: { ...range(p), fields: FACETS.map((name) => `custom.${name}`), limit: 100 },
  }),
};
