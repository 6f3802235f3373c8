import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cell, type Part, type Peer, type Row, timed, wordsFor } from '../peer.ts';
import { DISCOVERED, EVENT_COLUMNS } from '../questions.ts';
import { startBinary } from './binary.ts';
import { bodiesOf } from './part.ts';
import { askForm, postAll } from './post.ts';
import { INSERT, type LogsQl, QUERIES } from './victorialogs.logsql.ts';

/** VictoriaLogs: the binary that VICTORIALOGS_BIN names, over HTTP. */

const BODY_BYTES = 1_000_000;
const POLL_MS = 200;
const QUIET_POLLS = 10;
/** Merges at work, and parts that are in memory only. */
const WORK = /^vl_(?:active_merges\{.*\}|storage_parts\{type="storage\/inmemory"\}) (\d+)$/gm;
/** The corpora are older than the week that it keeps by default. */
const SETTINGS = ['-retentionPeriod=100y', '-futureRetention=100y', '-search.maxQueryDuration=10m'];
/** Fields that hold texts; all others are numbers. */
const TEXTS = new Set([
  ...['network.client_ip', 'http.ident', 'http.request', 'http.verb', 'http.referer'],
  ...['http.useragent', 'message', 'field_name', 'field_value'],
]);

/** Starts a server with its data in `folder`. */
export async function openPeer(folder: string): Promise<Peer> {
  const server = await startBinary(
    process.env['VICTORIALOGS_BIN'] ?? '',
    [...SETTINGS, `-storageDataPath=${join(folder, 'data')}`, '-httpListenAddr=127.0.0.1:0'],
    /started server at http:\/\/127\.0\.0\.1:(\d+)\//,
    folder,
  );
  const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  const version = /^vm_app_version\{version="([^"]+)"/m.exec(await metrics())?.[1];
  const insert = `${server.url}/insert/jsonline?${new URLSearchParams({ ...INSERT })}`;
  return {
    version: version ?? 'of unknown version',
    settings: [...SETTINGS, `POST /insert/jsonline?${new URLSearchParams({ ...INSERT })}`],
    pid: server.pid,
    load: async (part: Part) => {
      const bodies = bodiesOf(part, BODY_BYTES);
      return timed(() => postAll(insert, bodies, 'application/stream+json'));
    },
    settle: async (events: number) => {
      await fetch(`${server.url}/internal/force_flush`);
      for (let quiet = 0; quiet < QUIET_POLLS; ) {
        const busy = [...(await metrics()).matchAll(WORK)];
        quiet = busy.every(([, count]) => count === '0') ? quiet + 1 : 0;
        await pause(POLL_MS);
      }
      const query = '* | stats count() n';
      const [{ n }] = linesOf(await askForm(`${server.url}/select/logsql/query`, { query }));
      if (Number(n) !== events) throw new Error(`${n} events are there, not ${events}`);
    },
    ask: async (question, parameters) => {
      const { query, limit, fields } = wordsFor<LogsQl>(QUERIES, question, parameters);
      const form = { query, ...(limit === undefined ? {} : { limit: String(limit) }) };
      const started = performance.now();
      const text = await askForm(`${server.url}/select/logsql/query`, form);
      const ms = performance.now() - started;
      const lines = linesOf(text);
      return {
        rows: question.startsWith('discovery')
          ? discoveryRows(lines, fields)
          : rowsOf(lines, fields),
        ms,
      };
    },
    close: () => server.stop(),
  };
}

type Line = Readonly<Record<string, string>>;

function linesOf(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

function rowsOf(lines: readonly Line[], fields: readonly string[]): Row[] {
  const chosen = fields.length > 0 ? fields : EVENT_COLUMNS.map(nameOf);
  return lines.map((line) => chosen.map((field) => cellOf(line, field)));
}

/** The field that holds a column of an event. */
function nameOf(column: string): string {
  if (column === 'time') return '_time';
  return column === 'message' ? '_msg' : column;
}

function cellOf(line: Line, field: string): Cell {
  const value = line[field];
  if (value === undefined) return null;
  if (field === '_time') return Date.parse(value);
  return TEXTS.has(field) || field === '_msg' ? value : Number(value);
}

/** One line has the facts of all attributes, those of one beside each other. */
function discoveryRows(lines: readonly Line[], fields: readonly string[]): Row[] {
  const numbers = fields.map((field) => cellOf(lines[0] ?? {}, field));
  const each = numbers.length / DISCOVERED.length;
  return DISCOVERED.map((name, place) => [
    name,
    ...numbers.slice(place * each, (place + 1) * each),
  ]);
}
