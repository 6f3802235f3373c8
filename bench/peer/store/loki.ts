import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Cell, Parameters, Part, Peer, Row } from '../peer.ts';
import { timed, wordsFor } from '../peer.ts';
import { EVENT_COLUMNS } from '../questions.ts';
import { startBinary } from './binary.ts';
import { configuration, LABELS, LIST_LIMIT, type LogQl, QUERIES } from './loki.logql.ts';
import { pushBody } from './loki-push.ts';
import { bodiesOf } from './part.ts';
import { askForm, postAll } from './post.ts';

/** Loki: the binary that LOKI_BIN names, one process with all its parts, over HTTP. */

const BODY_BYTES = 1_000_000;
const POLL_MS = 200;
/** Digits of a date in nanoseconds behind its milliseconds. */
const NANOSECOND_DIGITS = 6;
/** Labels that hold texts; all others are numbers. */
const TEXTS = new Set(['client_ip', 'host', 'request', 'verb', 'referer', 'useragent']);

/** Starts a server with its data in `folder`. */
export async function openPeer(folder: string): Promise<Peer> {
  const file = join(folder, 'loki.yaml');
  const settings = configuration(join(folder, 'data'), availableParallelism());
  // YAML has JSON in it.
  writeFileSync(file, JSON.stringify(settings));
  const server = await startBinary(
    process.env['LOKI_BIN'] ?? '',
    [`-config.file=${file}`],
    /server listening on addresses" http=127\.0\.0\.1:(\d+)/,
    folder,
  );
  await awaitReady(server.url);
  const info = await (await fetch(`${server.url}/loki/api/v1/status/buildinfo`)).json();
  return {
    version: String((info as { version: string }).version || 'of unknown version'),
    settings: [JSON.stringify(settings)],
    pid: server.pid,
    load: async (part: Part) => {
      const bodies = bodiesOf(part, BODY_BYTES).map(({ body, events }) => ({
        body: pushBody(body.toString()),
        events,
      }));
      const url = `${server.url}/loki/api/v1/push`;
      return timed(() => postAll(url, bodies, 'application/json'));
    },
    settle: async () => {
      await fetch(`${server.url}/flush`, { method: 'POST' });
      for (;;) {
        const metrics = await (await fetch(`${server.url}/metrics`)).text();
        if (/^loki_ingester_memory_chunks 0$/m.test(metrics)) return;
        await pause(POLL_MS);
      }
    },
    ask: (question, parameters) =>
      ask(server.url, wordsFor<LogQl>(QUERIES, question, parameters), parameters),
    close: () => server.stop(),
  };
}

async function awaitReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/ready`)).ok) await pause(POLL_MS);
}

/** The `data` of a reply: streams of lines, or series of values. */
interface Found {
  resultType: 'streams' | 'matrix' | 'vector';
  result: {
    stream?: Record<string, string>;
    metric?: Record<string, string>;
    values?: [number | string, string][];
    value?: [number | string, string];
  }[];
}

/** Milliseconds as the API takes them: nanoseconds. */
function nanoseconds(ms: number): string {
  return `${ms}000000`;
}

async function ask(url: string, words: LogQl, parameters: Parameters): Promise<Answer> {
  const { fromMs, toMs } = parameters;
  const { labels, stepMs } = words;
  const found: Found[] = [];
  const started = performance.now();
  for (const query of words.queries) {
    if (labels === undefined) {
      const form = { start: nanoseconds(fromMs), end: nanoseconds(toMs), direction: 'backward' };
      found.push(await get(url, 'query_range', { query, limit: LIST_LIMIT, ...form }));
    } else if (stepMs === undefined) {
      found.push(await get(url, 'query', { query, time: nanoseconds(toMs) }));
    } else {
      const last = fromMs + Math.ceil((toMs - fromMs) / stepMs) * stepMs;
      const [start, end] = [fromMs + stepMs, last].map(nanoseconds);
      found.push(await get(url, 'query_range', { query, start, end, step: `${stepMs / 1000}` }));
    }
  }
  const ms = performance.now() - started;
  if (labels === undefined) return { rows: found.flatMap(eventRows), ms };
  return { rows: joined(found.map((one) => seriesRows(one, labels, stepMs))), ms };
}

async function get(url: string, path: string, form: Record<string, string>): Promise<Found> {
  const reply = JSON.parse(await askForm(`${url}/loki/api/v1/${path}`, form));
  return (reply as { data: Found }).data;
}

function eventRows({ result }: Found): Row[] {
  const rows = result.flatMap(({ stream, values }) =>
    (values ?? []).map(([time, line]) =>
      EVENT_COLUMNS.map((column) => {
        if (column === 'time') return Number(String(time).slice(0, -NANOSECOND_DIGITS));
        return column === 'message' ? line : cellOf(stream ?? {}, LABELS[column] ?? '');
      }),
    ),
  );
  return rows.sort((one, other) => Number(other[0]) - Number(one[0]));
}

function cellOf(labels: Readonly<Record<string, string>>, label: string): Cell {
  const value = labels[label];
  if (value === undefined) return null;
  return TEXTS.has(label) ? value : Number(value);
}

/** Rows of a date where there is a step, the labels, and the value. */
function seriesRows(
  { result }: Found,
  labels: readonly string[],
  stepMs: number | undefined,
): Row[] {
  return result.flatMap(({ metric, values, value }) => {
    const names = labels.map((label) => cellOf(metric ?? {}, label));
    const points = values ?? (value === undefined ? [] : [value]);
    return points.map(([seconds, text]) => {
      if (stepMs === undefined) return [...names, Number(text)];
      return [Number(seconds) * 1000 - stepMs, ...names, Number(text)];
    });
  });
}

/** The rows of the first query, with the values of the others behind them. */
function joined(answers: readonly Row[][]): Row[] {
  const [first, ...others] = answers;
  const keyOf = (row: Row): string => JSON.stringify(row.slice(0, -1));
  const found = others.map((rows) => new Map(rows.map((row) => [keyOf(row), row.at(-1) ?? null])));
  return first.map((row) => [...row, ...found.map((values) => values.get(keyOf(row)) ?? null)]);
}
