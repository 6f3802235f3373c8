import { connect } from 'node:net';
import t from 'tap';
import { defineReadKey } from '../support/admin.ts';
import { FROM_MS, LIGHT, pileUp, TIME } from '../support/heavy-queries.ts';
import { metric, untilMetric } from '../support/metrics.ts';
import { ask, send, testService } from '../support/service.ts';

/** Rows, a tenth of those with which heavy queries once starved each other. */
const ROWS = 200_000;
/** Connections that take nothing of their answers, which are of so many events. */
const STALLED = 3;
const LARGE_EVENTS = 20;
const LARGE_BYTES = 390_000;
const MEMORY_MB = 64;

const service = await testService(t, [
  ...['--query-memory-mb', '32', '--queries-memory-mb', String(MEMORY_MB)],
  ...['--metrics-open', 'true', '--seal-idle-minutes', '0.02'],
]);
const other = { ...service, readKey: await defineReadKey(service, { name: 'other' }) };

t.test('14 heavy queries that pile up all end, and a light one of another key beside them', (t) =>
  pileUp(t, service, ROWS),
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

t.test('14 answers that nobody takes count as memory of their key, until it leaves', async (t) => {
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
