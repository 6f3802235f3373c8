import type { Row } from './peer.ts';

/** Questions to every peer, and how its answers are compared. */

/** How far a value may be from the reference's: relative, 0 for texts and counts. */
export type Tolerance = number;

/** Counts, texts and dates. */
export const EQUAL: Tolerance = 0;
/** Sums and averages of doubles: the order of addition differs. */
export const ROUNDED: Tolerance = 1e-9;
/**
 * Percentiles and distinct counts: Logseam promises 1 %, ClickHouse is asked for sketches that are closer than that.
 * The definitions differ too: some take the value of a rank, others lie between two.
 */
export const ESTIMATED: Tolerance = 0.01;

/** How the rows of two answers are set beside each other. */
export interface Comparison {
  /** Names of the columns, for people; the first `keys` of them identify a row. */
  columns: readonly string[];
  keys: number;
  /** One for each column behind the keys. */
  tolerances: readonly Tolerance[];
  /**
   * Of an answer that is cut after `limit` rows: rows are in the order of column `rank`, the greatest first, within
   * equal cells of the first `group` columns. Those that share the rank of the last row are any of those that do.
   */
  cut?: { limit: number; rank: number; group: number };
  /** Only rows whose keys both answers have are compared, and there must be some. */
  sharedOnly?: boolean;
}

/** A question. */
export interface Question {
  name: string;
  /** Why it is asked, in a sentence. */
  what: string;
  comparison: Comparison;
}

/** The columns of an event in lists; the first is the date in epoch milliseconds. */
export const EVENT_COLUMNS: readonly string[] = [
  'time',
  'network.client_ip',
  'network.bytes_write',
  'http.ident',
  'http.response_time',
  'http.status_code',
  'http.request',
  'http.verb',
  'http.referer',
  'http.useragent',
  'message',
];
/** The attributes of the discovery question. */
export const DISCOVERED: readonly string[] = EVENT_COLUMNS.slice(1, -1);
/** How many events a list has. */
export const NEWEST = 100;

const count: Comparison = { columns: ['count'], keys: 0, tolerances: [EQUAL] };
const newest: Comparison = {
  columns: EVENT_COLUMNS,
  keys: EVENT_COLUMNS.length,
  tolerances: [],
  cut: { limit: NEWEST, rank: 0, group: 0 },
};

function top(column: string): Comparison {
  return {
    columns: [column, 'count'],
    keys: 1,
    tolerances: [EQUAL],
    cut: { limit: 10, rank: 1, group: 0 },
  };
}

/** The fourteen, by the names under which they are known. */
export const FOURTEEN: readonly Question[] = [
  { name: 'count of all', what: 'what a first page shows', comparison: count },
  {
    name: 'count per minute, status 500',
    what: 'a chart of errors',
    comparison: { columns: ['minute', 'count'], keys: 1, tolerances: [EQUAL] },
  },
  { name: 'top 10 URLs', what: 'a top list of very many values', comparison: top('request') },
  { name: 'top 10 client IPs', what: 'a top list of many values', comparison: top('client IP') },
  {
    name: 'average and p95 of response time per minute',
    what: 'a chart of latency',
    comparison: {
      columns: ['minute', 'average', 'p95'],
      keys: 1,
      tolerances: [ROUNDED, ESTIMATED],
    },
  },
  {
    name: 'rare word in message, newest 100, all columns',
    what: 'an identifier is looked for',
    comparison: newest,
  },
  { name: 'common word, newest 100', what: 'somebody reads along', comparison: newest },
  { name: 'common word, count', what: 'how often it is said', comparison: count },
  {
    name: 'status 500 and one host, newest 100',
    what: 'errors of one machine',
    comparison: newest,
  },
  { name: 'newest 100', what: 'what a log view opens with', comparison: newest },
  { name: 'one rare IP, newest 100', what: 'what one visitor did', comparison: newest },
  {
    name: 'distinct IPs (exact)',
    what: 'visitors; Logseam counts exactly up to 10,000 and within 1 % above, the others exactly',
    comparison: { columns: ['distinct'], keys: 0, tolerances: [ESTIMATED] },
  },
  {
    name: 'group by status, verb, host (top 1000)',
    what: 'a table of three short columns; of more than 1,000 groups Logseam gives the top ones of each level, as its groups nest, and the others those of all: the groups that both have are compared',
    comparison: {
      columns: ['status', 'verb', 'host', 'count'],
      keys: 3,
      tolerances: [EQUAL],
      sharedOnly: true,
    },
  },
  {
    name: 'sum of bytes per hour and host',
    what: 'traffic of each machine',
    comparison: { columns: ['hour', 'host', 'sum'], keys: 2, tolerances: [ROUNDED] },
  },
];

const FURTHER: readonly Question[] = [
  {
    name: 'substring, count',
    what: 'letters inside words, which no index of words finds',
    comparison: count,
  },
  {
    name: 'three nested groups',
    what: 'the top 5 hosts, the top 2 verbs of each, the top 10 URLs of those',
    comparison: {
      columns: ['host', 'verb', 'request', 'count'],
      keys: 3,
      tolerances: [EQUAL],
      cut: { limit: 10, rank: 3, group: 2 },
    },
  },
  {
    name: 'one rare value, newest 100',
    what: 'an attribute that is nearly unique, as trace ids are',
    comparison: newest,
  },
  {
    name: 'discovery',
    what: 'which attributes there are, in how many events, with how many values',
    comparison: {
      columns: ['attribute', 'events', 'distinct'],
      keys: 1,
      tolerances: [EQUAL, ESTIMATED],
    },
  },
  {
    name: 'discovery without distinct counts',
    what: 'which attributes there are, in how many events',
    comparison: { columns: ['attribute', 'events'], keys: 1, tolerances: [EQUAL] },
  },
  { name: 'a:/re/, count', what: 'a regular expression for an attribute', comparison: count },
  {
    name: 'list by attribute',
    what: 'the 100 events of the largest answers',
    comparison: { ...newest, cut: { limit: NEWEST, rank: 2, group: 0 } },
  },
  {
    name: 'facets',
    what: 'the counts of each status, verb and host, in one question',
    comparison: { columns: ['attribute', 'value', 'count'], keys: 2, tolerances: [EQUAL] },
  },
];

/** All of them, the fourteen first. */
export const QUESTIONS: readonly Question[] = [...FOURTEEN, ...FURTHER];

/** A row as text, for tables of differences. */
export function printRow(row: Row | undefined): string {
  return row === undefined ? 'nothing' : JSON.stringify(row);
}
