import type { Texts } from '../peer.ts';
import { DISCOVERED, NEWEST } from '../questions.ts';

/**
 * Statements for DuckDB. Typed columns, rows in the order of time so that zone maps bound each row group, no index: its
 * only one, ART, does not serve ranges, groups or words. Twelve columns need no JSON at query time.
 */

/** The table. Texts are compressed by what DuckDB picks at a checkpoint: dictionary, FSST, constant. */
const SCHEMA = `
CREATE TABLE logs (
  time TIMESTAMP NOT NULL,
  marker VARCHAR[],
  client_ip VARCHAR,
  bytes_write BIGINT,
  ident VARCHAR,
  response_time DOUBLE,
  status_code USMALLINT,
  request VARCHAR,
  verb VARCHAR,
  referer VARCHAR,
  useragent VARCHAR,
  message VARCHAR
)`;

/** Loads a file of events; a date is ISO 8601 with or without an offset, or epoch milliseconds. */
export function insertFrom(file: string): string {
  return `
INSERT INTO logs
SELECT
  coalesce(
    timezone('UTC', try_cast(date_access AS TIMESTAMPTZ)),
    epoch_ms(try_cast(date_access AS BIGINT))
  ) AS time,
  "@marker", "network.client_ip", "network.bytes_write", "http.ident", "http.response_time",
  "http.status_code", "http.request", "http.verb", "http.referer", "http.useragent", message
FROM read_json(${quoted(file)}, format = 'newline_delimited', columns = {
  'date_access': 'VARCHAR', '@marker': 'VARCHAR[]', 'network.client_ip': 'VARCHAR',
  'network.bytes_write': 'BIGINT', 'http.ident': 'VARCHAR', 'http.response_time': 'DOUBLE',
  'http.status_code': 'USMALLINT', 'http.request': 'VARCHAR', 'http.verb': 'VARCHAR',
  'http.referer': 'VARCHAR', 'http.useragent': 'VARCHAR', 'message': 'VARCHAR'})
ORDER BY time`;
}

/** Zone of dates without an offset, and of dates in answers. */
export const PREPARE: readonly string[] = ["SET TimeZone = 'UTC'", SCHEMA];

/** Statement that makes the file final: compressed columns with statistics, and an empty write-ahead log. */
export const SETTLE: readonly string[] = ['CHECKPOINT', 'ANALYZE'];

/** Statements that make DuckDB write a profile of each statement to `file`, as EXPLAIN ANALYZE shows it. */
export function profileTo(file: string): readonly string[] {
  return ["PRAGMA enable_profiling = 'json'", `SET profiling_output = ${quoted(file)}`];
}

/** The end of that. */
export const PROFILE_END = 'PRAGMA disable_profiling';

/** A text in quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const EVENT =
  'epoch_ms(time), client_ip, bytes_write, ident, response_time, status_code, request, verb, referer, useragent, message';
const MINUTE = "date_trunc('minute', time)";
const HOUR = "date_trunc('hour', time)";

function columnOf(attribute: string): string {
  return attribute.replace(/^.*\./, '');
}

function newest(where = 'true'): string {
  return `SELECT ${EVENT} FROM logs WHERE ${where} ORDER BY time DESC LIMIT ${NEWEST}`;
}

/**
 * Whole words: the text scan keeps the regular expression from most rows; where no longer word has it, it is enough.
 */
function hasWord(word: string, standsAlone: boolean): string {
  const text = `contains(message, ${quoted(word)})`;
  return standsAlone ? text : `${text} AND regexp_matches(message, ${quoted(`\\b${word}\\b`)})`;
}

/** The questions of `questions.ts` in DuckDB's SQL. */
export const QUERIES: Texts<string> = {
  'count of all': () => 'SELECT count(*) FROM logs',
  'count per minute, status 500': () =>
    `SELECT epoch_ms(${MINUTE}), count(*) FROM logs WHERE status_code = 500 GROUP BY ${MINUTE}`,
  'top 10 URLs': () =>
    'SELECT request, count(*) AS n FROM logs GROUP BY request ORDER BY n DESC LIMIT 10',
  'top 10 client IPs': () =>
    'SELECT client_ip, count(*) AS n FROM logs GROUP BY client_ip ORDER BY n DESC LIMIT 10',
  'average and p95 of response time per minute': () =>
    `SELECT epoch_ms(${MINUTE}), avg(response_time), quantile_disc(response_time, 0.95) FROM logs GROUP BY ${MINUTE}`,
  'rare word in message, newest 100, all columns': ({ rareWord }) =>
    newest(hasWord(rareWord, false)),
  'common word, newest 100': ({ commonWord, commonWordStandsAlone }) =>
    newest(hasWord(commonWord, commonWordStandsAlone)),
  'common word, count': ({ commonWord, commonWordStandsAlone }) =>
    `SELECT count(*) FROM logs WHERE ${hasWord(commonWord, commonWordStandsAlone)}`,
  'status 500 and one host, newest 100': ({ host }) =>
    newest(`status_code = 500 AND ident = ${quoted(host)}`),
  'newest 100': () => newest(),
  'one rare IP, newest 100': ({ rareAddress }) => newest(`client_ip = ${quoted(rareAddress)}`),
  'distinct IPs (exact)': () => 'SELECT count(DISTINCT client_ip) FROM logs',
  'group by status, verb, host (top 1000)': () =>
    'SELECT status_code, verb, ident, count(*) AS n FROM logs GROUP BY ALL ORDER BY n DESC LIMIT 1000',
  'sum of bytes per hour and host': () =>
    `SELECT epoch_ms(${HOUR}), ident, sum(bytes_write) FROM logs GROUP BY ${HOUR}, ident`,
  'substring, count': ({ substring }) =>
    `SELECT count(*) FROM logs WHERE contains(message, ${quoted(substring)})`,
  'three nested groups': () => `
WITH hosts AS (SELECT ident FROM logs GROUP BY ident ORDER BY count(*) DESC, ident LIMIT 5),
verbs AS (
  SELECT ident, verb FROM logs WHERE ident IN (FROM hosts) GROUP BY ident, verb
  QUALIFY row_number() OVER (PARTITION BY ident ORDER BY count(*) DESC, verb) <= 2)
SELECT ident, verb, request, count(*) AS n FROM logs SEMI JOIN verbs USING (ident, verb)
GROUP BY ident, verb, request
QUALIFY row_number() OVER (PARTITION BY ident, verb ORDER BY n DESC, request) <= 10`,
  'one rare value, newest 100': ({ rareRequest }) => newest(`request = ${quoted(rareRequest)}`),
  discovery: () =>
    DISCOVERED.map((attribute) => {
      const column = columnOf(attribute);
      return `SELECT ${quoted(attribute)}, count(${column}), count(DISTINCT ${column}) FROM logs`;
    }).join(' UNION ALL '),
  'discovery without distinct counts': () =>
    `UNPIVOT (SELECT ${DISCOVERED.map((attribute) => `count(${columnOf(attribute)}) AS "${attribute}"`).join(', ')} FROM logs) ON COLUMNS(*) INTO NAME attribute VALUE events`,
  'a:/re/, count': ({ requestPattern }) =>
    `SELECT count(*) FROM logs WHERE regexp_full_match(request, ${quoted(requestPattern)})`,
  'list by attribute': () => `SELECT ${EVENT} FROM logs ORDER BY bytes_write DESC LIMIT ${NEWEST}`,
  facets: () => `
SELECT CASE grouping(status_code, verb, ident) WHEN 3 THEN 'http.status_code' WHEN 5 THEN 'http.verb' ELSE 'http.ident' END,
  coalesce(status_code::VARCHAR, verb, ident), count(*)
FROM logs GROUP BY GROUPING SETS ((status_code), (verb), (ident))`,
};
