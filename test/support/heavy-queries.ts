import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { defineReadKey } from './admin.ts';
import { Neighbour } from './neighbour.ts';
import { ask, type Service, send } from './service.ts';

/** Heavy queries of one key that pile up, beside light ones of another. */

const BATCH = 20_000;
const HEAVY = 32;
const PAUSE_MS = 50;
const ROW_MS = 20;
/**
 * Light queries that are asked alone first; beside heavy ones half of them take twice as long at most, and what other
 * suites cost.
 */
const LIGHT_ALONE = 20;
const LIGHT_TIMES = 2;
const LIGHT_BUSY_MS = 100;

/** Where the rows lie. */
export const FROM_MS = Date.parse('2026-03-01T00:00:00Z');
/** The time of all rows, up to two millions. */
export const TIME = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T12:00:00Z' };

/** A query that needs little. */
export const LIGHT = {
  time: TIME,
  compute: [{ metric: { id: 'count' } }],
  groupBy: [{ field: { id: 'custom.verb' } }],
};

function median(timesMs: readonly number[]): number {
  return Math.round(timesMs.toSorted((a, b) => a - b)[timesMs.length >> 1] ?? 0);
}

/** Sends rows of which many attributes have values of their own. */
async function sendRows(service: Service, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) {
    const events = Array.from({ length: BATCH }, (_, at) => {
      const n = from + at;
      const date = new Date(FROM_MS + n * ROW_MS).toISOString();
      const address = `10.${n % 251}.${n % 241}.${n % 7}`;
      return { date, verb: ['GET', 'PUT', 'PATCH'][n % 3], address, path: `/${n}/page`, n };
    });
    await send(service, JSON.stringify(events));
  }
}

/** One of many queries that have the same answer and share nothing. */
function heavyOf(rows: number, place: number): object {
  const field = (id: string, metricId: string): object => ({
    field: { id: `custom.${id}`, limit: 10, order: { [metricId]: 'desc' } },
  });
  return {
    time: TIME,
    filters: [{ search: `-n:${rows + place}` }],
    compute: [{ metric: { id: 'count' } }],
    groupBy: [
      field('address', 'cardinality:custom.path'),
      field('path', 'cardinality:custom.n'),
      field('verb', 'count'),
    ],
  };
}

/** Status and text of an aggregation, however long it takes. */
function aggregated({ http, readKey }: Service, query: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': readKey };
    const url = `${http}/beta/events/aggregate`;
    const asked = request(url, { method: 'POST', headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(`${response.statusCode} ${text}`);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(query));
  });
}

/**
 * Tests that heavy queries over so many rows all end, and that neither light ones nor a sender are refused meanwhile.
 */
export async function pileUp(t: Test, service: Service, rows: number): Promise<void> {
  await sendRows(service, rows);
  const other = { ...service, readKey: await defineReadKey(service, { name: 'light' }) };
  const light = async (): Promise<number> => {
    const startedMs = performance.now();
    const { status, text } = await ask(other, '/beta/events/aggregate', LIGHT);
    if (status !== 200) t.fail(text);
    return performance.now() - startedMs;
  };
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  const aloneMs: number[] = [];
  for (let count = 0; count < LIGHT_ALONE; count++) aloneMs.push(await light());
  let left = HEAVY;
  const answers = Promise.all(
    Array.from({ length: HEAVY }, (_, place) =>
      aggregated(service, heavyOf(rows, place)).finally(() => left--),
    ),
  );
  const besideMs: number[] = [];
  while (left > 0) {
    besideMs.push(await light());
    await pause(PAUSE_MS);
  }
  const [alone, beside] = [median(aloneMs), median(besideMs)];
  const times = `of ${besideMs.length} light ones half within ${beside} ms, alone within ${alone} ms`;
  t.comment(times);
  t.ok(besideMs.length > 1 && beside <= LIGHT_TIMES * alone + LIGHT_BUSY_MS, times);
  const texts = new Set(await answers);
  t.equal(texts.size, 1, 'all have the same answer');
  t.match([...texts][0], /^200 \{"result":\{"aggregates":\[\{"bucket"/);
  await neighbour.check(t);
}
