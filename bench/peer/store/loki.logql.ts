import type { Parameters, Texts } from '../peer.ts';
import { NEWEST } from '../questions.ts';

/**
 * Requests to Loki. A stream a host, the line is `message`, and all other attributes are structured
 * metadata, which filters read without parsing lines. Its limits on series and age are raised, as its defaults refuse
 * the data and half of the questions. Results are not cached.
 */

/** Attributes and the names of their labels or metadata. */
export const LABELS: Readonly<Record<string, string>> = {
  'network.client_ip': 'client_ip',
  'network.bytes_write': 'bytes_write',
  'http.ident': 'host',
  'http.response_time': 'response_time',
  'http.status_code': 'status_code',
  'http.request': 'request',
  'http.verb': 'verb',
  'http.referer': 'referer',
  'http.useragent': 'useragent',
};
/** The attribute by which events come into streams, and the label that all streams have. */
export const STREAM = { attribute: 'http.ident', common: { job: 'access' } };

/** The configuration of a single process on the loopback address with its data in `folder`. */
export function configuration(folder: string, threads: number): object {
  return {
    auth_enabled: false,
    analytics: { reporting_enabled: false },
    server: {
      http_listen_address: '127.0.0.1',
      http_listen_port: 0,
      grpc_listen_address: '127.0.0.1',
      grpc_listen_port: 0,
      grpc_server_max_recv_msg_size: 1e8,
      grpc_server_max_send_msg_size: 1e8,
      http_server_read_timeout: '10m',
      http_server_write_timeout: '10m',
    },
    common: {
      instance_addr: '127.0.0.1',
      path_prefix: folder,
      replication_factor: 1,
      ring: { kvstore: { store: 'inmemory' } },
    },
    schema_config: {
      configs: [
        {
          from: '2020-01-01',
          store: 'tsdb',
          object_store: 'filesystem',
          schema: 'v13',
          index: { prefix: 'index_', period: '24h' },
        },
      ],
    },
    storage_config: {
      filesystem: { directory: `${folder}/chunks` },
      tsdb_shipper: {
        active_index_directory: `${folder}/index`,
        cache_location: `${folder}/index-cache`,
      },
    },
    ingester: { chunk_encoding: 'snappy', chunk_retain_period: '0s' },
    querier: { query_ingesters_within: '0s', max_concurrent: threads },
    query_range: { cache_results: false },
    limits_config: {
      reject_old_samples: false,
      ingestion_rate_mb: 10_000,
      ingestion_burst_size_mb: 10_000,
      per_stream_rate_limit: '10GB',
      per_stream_rate_limit_burst: '10GB',
      max_query_series: 1_000_000,
      max_query_parallelism: threads,
      query_timeout: '10m',
      discover_service_name: [],
      discover_log_levels: false,
    },
  };
}

/** A query. Lists have no `labels`. */
export interface LogQl {
  /** Values of one row: those of the queries that share labels and a date. */
  queries: readonly string[];
  /** The labels of a row, in its order. */
  labels?: readonly string[];
  /** The milliseconds from one row to the next; without it there is one date, which is not part of the rows. */
  stepMs?: number;
}

const ALL = '{job="access"}';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
// A range looks back and has its instant in it: a millisecond earlier it is the minute from its first instant on.
const MINUTE = '[1m] offset 1ms';
const HOUR = '[1h] offset 1ms';
const BY_TIME_ONLY = { cannot: 'lists are in the order of time only' };
const OF_A_SAMPLE = { cannot: 'its detected fields are those of a sample' };

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** All of the time, which a range vector looks back upon; its first instant is not in it. */
function whole({ fromMs, toMs }: Parameters): string {
  return `[${(toMs - fromMs + MINUTE_MS) / 1000}s]`;
}

function counted(p: Parameters, filter = ''): string {
  return `count_over_time(${ALL}${filter} ${whole(p)})`;
}

function list(filter = '', selector = ALL): LogQl {
  return { queries: [`${selector}${filter}`] };
}

/** The text scan comes first, as it is the cheaper one. */
function hasWord(word: string, standsAlone: boolean): string {
  const text = ` |= ${quoted(word)}`;
  return standsAlone ? text : `${text} |~ ${quoted(`\\b${word}\\b`)}`;
}

function top(label: string): Texts<LogQl>[string] {
  return (p) => ({ queries: [`topk(10, sum by (${label}) (${counted(p)}))`], labels: [label] });
}

/** The questions of `questions.ts` in LogQL. */
export const QUERIES: Texts<LogQl> = {
  'count of all': (p) => ({ queries: [`sum(${counted(p)})`], labels: [] }),
  'count per minute, status 500': () => ({
    queries: [`sum(count_over_time(${ALL} | status_code="500" ${MINUTE}))`],
    labels: [],
    stepMs: MINUTE_MS,
  }),
  'top 10 URLs': top('request'),
  'top 10 client IPs': top('client_ip'),
  'average and p95 of response time per minute': () => ({
    queries: ['avg_over_time(', 'quantile_over_time(0.95, '].map(
      (start) => `${start}${ALL} | unwrap response_time ${MINUTE}) by (job)`,
    ),
    labels: [],
    stepMs: MINUTE_MS,
  }),
  'rare word in message, newest 100, all columns': (p) => list(hasWord(p.rareWord, false)),
  'common word, newest 100': (p) => list(hasWord(p.commonWord, p.commonWordStandsAlone)),
  'common word, count': (p) => ({
    queries: [`sum(${counted(p, hasWord(p.commonWord, p.commonWordStandsAlone))})`],
    labels: [],
  }),
  'status 500 and one host, newest 100': ({ host }) =>
    list(' | status_code="500"', `{job="access", host=${quoted(host)}}`),
  'newest 100': () => list(),
  'one rare IP, newest 100': ({ rareAddress }) => list(` | client_ip=${quoted(rareAddress)}`),
  'distinct IPs (exact)': (p) => ({
    queries: [`count(sum by (client_ip) (${counted(p)}))`],
    labels: [],
  }),
  'group by status, verb, host (top 1000)': (p) => ({
    queries: [`topk(1000, sum by (status_code, verb, host) (${counted(p)}))`],
    labels: ['status_code', 'verb', 'host'],
  }),
  'sum of bytes per hour and host': () => ({
    queries: [`sum by (host) (sum_over_time(${ALL} | unwrap bytes_write ${HOUR}))`],
    labels: ['host'],
    stepMs: HOUR_MS,
  }),
  'substring, count': (p) => ({
    queries: [`sum(${counted(p, ` |= ${quoted(p.substring)}`)})`],
    labels: [],
  }),
  'three nested groups': (p) => ({
    queries: [
      `topk by (host, verb) (10, sum by (host, verb, request) (${counted(p)})
and on (host, verb) topk by (host) (2, sum by (host, verb) (${counted(p)})
and on (host) topk(5, sum by (host) (${counted(p)}))))`,
    ],
    labels: ['host', 'verb', 'request'],
  }),
  'one rare value, newest 100': ({ rareRequest }) => list(` | request=${quoted(rareRequest)}`),
  discovery: () => OF_A_SAMPLE,
  'discovery without distinct counts': () => OF_A_SAMPLE,
  'a:/re/, count': (p) => ({
    queries: [`sum(${counted(p, ` | request=~${quoted(p.requestPattern)}`)})`],
    labels: [],
  }),
  'list by attribute': () => BY_TIME_ONLY,
  facets: () => ({ cannot: 'a query counts one group of labels' }),
};

/** The `limit` of a list. */
export const LIST_LIMIT = String(NEWEST);
