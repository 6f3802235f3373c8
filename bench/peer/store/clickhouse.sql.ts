import type { Texts } from '../peer.ts';
import { DISCOVERED, NEWEST } from '../questions.ts';

/**
 * Statements of ClickHouse: MergeTree in the order of time, codecs as its own OpenTelemetry schema has them (Delta and
 * ZSTD(1)), LowCardinality where values repeat, a text index for words of `message`, bloom filters where one value is
 * looked for. Direct reads from the text index are on, as by default; its caches of queries and of their conditions are
 * off. Of its quantiles BFloat16 is the fastest one within 1 %. A missing referer is the empty text, as a
 * Nullable column costs a file more.
 */

/** The table. */
export const SCHEMA = `
CREATE TABLE logs (
  time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  marker Array(LowCardinality(String)) CODEC(ZSTD(1)),
  client_ip String CODEC(ZSTD(1)),
  bytes_write UInt64 CODEC(T64, ZSTD(1)),
  ident LowCardinality(String) CODEC(ZSTD(1)),
  response_time Float64 CODEC(ZSTD(1)),
  status_code UInt16 CODEC(ZSTD(1)),
  request String CODEC(ZSTD(1)),
  verb LowCardinality(String) CODEC(ZSTD(1)),
  referer String CODEC(ZSTD(1)),
  useragent LowCardinality(String) CODEC(ZSTD(1)),
  message String CODEC(ZSTD(1)),
  INDEX message_words message TYPE text(tokenizer = splitByNonAlpha, preprocessor = lower(message)),
  INDEX client_ip_bloom client_ip TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX request_bloom request TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree ORDER BY time`;

/** Loads a file of events; dates of any form that ClickHouse can guess. */
export function insertFrom(file: string): string {
  return `
INSERT INTO logs
SELECT
  if(match(date_access, '^[0-9]{13}$'),
     fromUnixTimestamp64Milli(toInt64OrZero(date_access), 'UTC'),
     parseDateTime64BestEffort(date_access, 3, 'UTC')),
  \`@marker\`, \`network.client_ip\`, \`network.bytes_write\`, \`http.ident\`, \`http.response_time\`,
  \`http.status_code\`, \`http.request\`, \`http.verb\`, \`http.referer\`, \`http.useragent\`, message
FROM file(${quoted(file)}, JSONEachRow, '
  date_access String, \`@marker\` Array(String), \`network.client_ip\` String, \`network.bytes_write\` UInt64,
  \`http.ident\` String, \`http.response_time\` Float64, \`http.status_code\` UInt16, \`http.request\` String,
  \`http.verb\` String, \`http.referer\` String, \`http.useragent\` String, message String')`;
}

/** How many merges are at work, until none is. */
export const MERGES = "SELECT count() FROM system.merges WHERE table = 'logs'";

/** A text in quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const EVENT =
  "toUnixTimestamp64Milli(time), client_ip, bytes_write, ident, response_time, status_code, request, verb, nullIf(referer, ''), useragent, message";
const MINUTE = 'toStartOfMinute(time)';
const HOUR = 'toStartOfHour(time)';
const milliseconds = (start: string): string => `toUnixTimestamp(${start}) * 1000`;

function newest(where = 'true'): string {
  return `SELECT ${EVENT} FROM logs WHERE ${where} ORDER BY time DESC LIMIT ${NEWEST}`;
}

function hasWord(word: string): string {
  return `hasAllTokens(message, [${quoted(word)}])`;
}

/** One scan for all attributes, whose facts become a row each. */
function discovered(factsOf: (value: string) => string[]): string {
  const facts = DISCOVERED.map((attribute) => {
    const column = attribute.replace(/^.*\./, '');
    const value = column === 'referer' ? "nullIf(referer, '')" : column;
    return `tuple(${[quoted(attribute), ...factsOf(value)].join(', ')})`;
  });
  return `SELECT fact.* FROM (SELECT [${facts.join(', ')}] AS facts FROM logs) ARRAY JOIN facts AS fact`;
}

/** The questions of `questions.ts` in ClickHouse's SQL. */
export const QUERIES: Texts<string> = {
  'count of all': () => 'SELECT count() FROM logs',
  'count per minute, status 500': () =>
    `SELECT ${milliseconds(MINUTE)}, count() FROM logs WHERE status_code = 500 GROUP BY ${MINUTE}`,
  'top 10 URLs': () =>
    'SELECT request, count() AS n FROM logs GROUP BY request ORDER BY n DESC LIMIT 10',
  'top 10 client IPs': () =>
    'SELECT client_ip, count() AS n FROM logs GROUP BY client_ip ORDER BY n DESC LIMIT 10',
  'average and p95 of response time per minute': () =>
    `SELECT ${milliseconds(MINUTE)}, avg(response_time), quantileBFloat16(0.95)(response_time) FROM logs GROUP BY ${MINUTE}`,
  'rare word in message, newest 100, all columns': ({ rareWord }) => newest(hasWord(rareWord)),
  'common word, newest 100': ({ commonWord }) => newest(hasWord(commonWord)),
  'common word, count': ({ commonWord }) => `SELECT count() FROM logs WHERE ${hasWord(commonWord)}`,
  'status 500 and one host, newest 100': ({ host }) =>
    newest(`status_code = 500 AND ident = ${quoted(host)}`),
  'newest 100': () => newest(),
  'one rare IP, newest 100': ({ rareAddress }) => newest(`client_ip = ${quoted(rareAddress)}`),
  'distinct IPs (exact)': () => 'SELECT uniqExact(client_ip) FROM logs',
  'group by status, verb, host (top 1000)': () =>
    'SELECT status_code, verb, ident, count() AS n FROM logs GROUP BY status_code, verb, ident ORDER BY n DESC LIMIT 1000',
  'sum of bytes per hour and host': () =>
    `SELECT ${milliseconds(HOUR)}, ident, sum(bytes_write) FROM logs GROUP BY ${HOUR}, ident`,
  'substring, count': ({ substring }) =>
    `SELECT count() FROM logs WHERE message LIKE ${quoted(`%${substring}%`)}`,
  'three nested groups': () => `
WITH hosts AS (SELECT ident FROM logs GROUP BY ident ORDER BY count() DESC, ident LIMIT 5),
verbs AS (
  SELECT ident, verb FROM logs WHERE ident IN hosts GROUP BY ident, verb
  ORDER BY ident, count() DESC, verb LIMIT 2 BY ident)
SELECT ident, verb, request, count() AS n FROM logs WHERE (ident, verb) IN verbs
GROUP BY ident, verb, request ORDER BY ident, verb, n DESC, request LIMIT 10 BY ident, verb`,
  'one rare value, newest 100': ({ rareRequest }) => newest(`request = ${quoted(rareRequest)}`),
  discovery: () => discovered((value) => [`count(${value})`, `uniqCombined64(20)(${value})`]),
  'discovery without distinct counts': () => discovered((value) => [`count(${value})`]),
  'a:/re/, count': ({ requestPattern }) =>
    `SELECT count() FROM logs WHERE match(request, ${quoted(`^(?:${requestPattern})$`)})`,
  'list by attribute': () => `SELECT ${EVENT} FROM logs ORDER BY bytes_write DESC LIMIT ${NEWEST}`,
  facets: () => `
SELECT multiIf(grouping(status_code) = 0, 'http.status_code', grouping(verb) = 0, 'http.verb', 'http.ident'),
  multiIf(grouping(status_code) = 0, toString(status_code), grouping(verb) = 0, verb, ident), count()
FROM logs GROUP BY GROUPING SETS ((status_code), (verb), (ident))`,
};
