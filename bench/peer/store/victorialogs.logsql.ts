import type { Texts } from '../peer.ts';
import { DISCOVERED, NEWEST } from '../questions.ts';

/**
 * Requests to VictoriaLogs. It takes any JSON and has no schema; the sender chooses the streams, here one a host.
 * Dates come from `date_access`. Words match in the given case only.
 */

/** The parameters of `/insert/jsonline`. */
export const INSERT: Readonly<Record<string, string>> = {
  _stream_fields: 'http.ident',
  _time_field: 'date_access',
  _msg_field: 'message',
};

/** A query and its `limit`, which makes it give the newest events first. */
export interface LogsQl {
  query: string;
  limit?: number;
  /** The fields of an answer in the order of a row. */
  fields: readonly string[];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function stats(query: string, ...fields: string[]): LogsQl {
  return { query, fields };
}

function newest(query: string): LogsQl {
  return { query, limit: NEWEST, fields: [] };
}

/** One line with the facts of all attributes, those of one beside each other. */
function discovered(...functions: string[]): LogsQl {
  const facts = DISCOVERED.flatMap((name) => functions.map((fact) => `${fact}(${quoted(name)})`));
  const fields = facts.map((_, place) => `f${place}`);
  return stats(
    `* | stats ${facts.map((fact, place) => `${fact} ${fields[place]}`).join(', ')}`,
    ...fields,
  );
}

/** The questions of `questions.ts` in LogsQL. */
export const QUERIES: Texts<LogsQl> = {
  'count of all': () => stats('* | stats count() n', 'n'),
  'count per minute, status 500': () =>
    stats('"http.status_code":=500 | stats by (_time:1m) count() n', '_time', 'n'),
  'top 10 URLs': () =>
    stats(
      '* | stats by ("http.request") count() n | sort by (n desc) limit 10',
      'http.request',
      'n',
    ),
  'top 10 client IPs': () =>
    stats(
      '* | stats by ("network.client_ip") count() n | sort by (n desc) limit 10',
      'network.client_ip',
      'n',
    ),
  'average and p95 of response time per minute': () =>
    stats(
      '* | stats by (_time:1m) avg("http.response_time") a, quantile(0.95, "http.response_time") p',
      '_time',
      'a',
      'p',
    ),
  'rare word in message, newest 100, all columns': ({ rareWord }) => newest(quoted(rareWord)),
  'common word, newest 100': ({ commonWord }) => newest(quoted(commonWord)),
  'common word, count': ({ commonWord }) => stats(`${quoted(commonWord)} | stats count() n`, 'n'),
  'status 500 and one host, newest 100': ({ host }) =>
    newest(`{http.ident=${quoted(host)}} "http.status_code":=500`),
  'newest 100': () => newest('*'),
  'one rare IP, newest 100': ({ rareAddress }) =>
    newest(`"network.client_ip":=${quoted(rareAddress)}`),
  'distinct IPs (exact)': () => stats('* | stats count_uniq("network.client_ip") n', 'n'),
  'group by status, verb, host (top 1000)': () =>
    stats(
      '* | stats by ("http.status_code", "http.verb", "http.ident") count() n | sort by (n desc) limit 1000',
      'http.status_code',
      'http.verb',
      'http.ident',
      'n',
    ),
  'sum of bytes per hour and host': () =>
    stats(
      '* | stats by (_time:1h, "http.ident") sum("network.bytes_write") s',
      '_time',
      'http.ident',
      's',
    ),
  'substring, count': ({ substring }) => stats(`~${quoted(substring)} | stats count() n`, 'n'),
  'three nested groups': () =>
    stats(
      `"http.ident":in(* | stats by ("http.ident") count() h | sort by (h desc, "http.ident") limit 5 | fields "http.ident")
| stats by ("http.ident", "http.verb", "http.request") count() n
| join by ("http.ident", "http.verb") (
  * | stats by ("http.ident", "http.verb") count() v | sort by (v desc, "http.verb") partition by ("http.ident") limit 2
) inner
| sort by (n desc, "http.request") partition by ("http.ident", "http.verb") limit 10`,
      'http.ident',
      'http.verb',
      'http.request',
      'n',
    ),
  'one rare value, newest 100': ({ rareRequest }) =>
    newest(`"http.request":=${quoted(rareRequest)}`),
  discovery: () => discovered('count', 'count_uniq'),
  'discovery without distinct counts': () => discovered('count'),
  'a:/re/, count': ({ requestPattern }) =>
    stats(`"http.request":~${quoted(`^(?:${requestPattern})$`)} | stats count() n`, 'n'),
  'list by attribute': () => ({
    query: `* | sort by ("network.bytes_write" desc) limit ${NEWEST}`,
    fields: [],
  }),
  facets: () =>
    stats(
      '* | fields "http.status_code", "http.verb", "http.ident" | facets 100',
      'field_name',
      'field_value',
      'hits',
    ),
};
