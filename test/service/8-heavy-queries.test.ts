import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { defineReadKey } from '../support/admin.ts';
import { metric, untilMetric } from '../support/metrics.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ask, removeFolder, send, startService, temporaryFolder } from '../support/service.ts';

/** Rows, a tenth of those with which heavy queries once starved each other. */
const ROWS = 200_000;
const BATCH = 20_000;
const HEAVY = 32;
const PAUSE_MS = 50;
/** Connections that take nothing of their answers, which are of so many events. */
const STALLED = 3;
const LARGE_EVENTS = 20;
const LARGE_BYTES = 390_000;
const P99_MAX_MS = 30_000;
const MEMORY_MB = 64;

const folder = temporaryFolder();
const service = await startService(folder, [
  ...['--query-memory-mb', '32', '--queries-memory-mb', String(MEMORY_MB)],
  ...['--metrics-open', 'true', '--seal-idle-minutes', '0.02'],
]);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const other = { ...service, readKey: await defineReadKey(service, { name: 'other' }) };
const FROM_MS = Date.parse('2026-03-01T00:00:00Z');
const TIME = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T12:00:00Z' };
for (let from = 0; from < ROWS; from += BATCH) {
  const events = Array.from({ length: BATCH }, (_, at) => {
    const n = from + at;
    const date = new Date(FROM_MS + n * 100).toISOString();
    const address = `10.${n % 251}.${n % 241}.${n % 7}`;
    return { date, verb: ['GET', 'PUT', 'PATCH'][n % 3], address, path: `/${n}/page`, n };
  });
  await send(service, JSON.stringify(events));
}

function heavy(place: number): object {
  const field = (id: string, metricId: string): object => ({
    field: { id: `custom.${id}`, limit: 10, order: { [metricId]: 'desc' } },
  });
  return {
    time: TIME,
    filters: [{ search: `-n:${ROWS + place}` }],
    compute: [{ metric: { id: 'count' } }],
    groupBy: [
      field('address', 'cardinality:custom.path'),
      field('path', 'cardinality:custom.n'),
      field('verb', 'count'),
    ],
  };
}

const LIGHT = {
  time: TIME,
  compute: [{ metric: { id: 'count' } }],
  groupBy: [{ field: { id: 'custom.verb' } }],
};

t.test(
  '8 heavy queries that pile up all end, and a light one of another key beside them',
  async (t) => {
    const neighbour = new Neighbour(service);
    let left = HEAVY;
    const answers = Promise.all(
      Array.from({ length: HEAVY }, (_, place) =>
        ask(service, '/beta/events/aggregate', heavy(place)).finally(() => left--),
      ),
    );
    let lightCount = 0;
    while (left > 0) {
      const light = await ask(other, '/beta/events/aggregate', LIGHT);
      if (light.status !== 200) t.fail(light.text);
      lightCount++;
      await pause(PAUSE_MS);
    }
    t.ok(lightCount > 1, `${lightCount} light ones`);
    const texts = new Set((await answers).map(({ status, text }) => `${status} ${text}`));
    t.equal(texts.size, 1, 'all have the same answer');
    t.match([...texts][0], /^200 \{"result":\{"aggregates":\[\{"bucket"/);
    await neighbour.check(t, P99_MAX_MS);
  },
);

/** A connection that asks for a list and takes nothing of the answer but its beginning. */
async function askAndStall(key: string): Promise<() => void> {
  const filters = [{ search: 'text:*' }];
  const body = JSON.stringify({ time: TIME, filters, event: true, limit: LARGE_EVENTS });
  const socket = connect(Number(new URL(service.http).port), '127.0.0.1');
  socket.write(
    `POST /beta/events/list HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => socket.once('readable', resolve));
  return () => socket.destroy();
}

t.test('8 answers that nobody takes count as memory of their key, until it leaves', async (t) => {
  const large = Array.from({ length: LARGE_EVENTS }, (_, n) => ({
    date: new Date(FROM_MS + n).toISOString(),
    text: 'x'.repeat(LARGE_BYTES),
  }));
  await send(service, JSON.stringify(large));
  const leave = [];
  for (let at = 0; at < STALLED; at++) leave.push(await askAndStall(service.readKey));
  let isAnswered = false;
  const next = ask(service, '/beta/events/list', { time: TIME, limit: 1 }).finally(() => {
    isAnswered = true;
  });
  await untilMetric(service, 'logseam_queries_waiting', (count) => count === 1);
  const held = await metric(service, 'logseam_query_memory_bytes');
  t.ok(held >= STALLED * LARGE_EVENTS * LARGE_BYTES, `${held} bytes`);
  t.equal((await ask(other, '/beta/events/aggregate', LIGHT)).status, 200);
  t.notOk(isAnswered, 'another key does not wait');
  for (const one of leave) one();
  t.equal((await next).status, 200);
  await untilMetric(service, 'logseam_query_memory_bytes', (bytes) => bytes === 0);
});
