import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { adminToken } from '../support/admin.ts';
import {
  LARGE_KINDS,
  sendZipped,
  testCostlyRules,
  testLargeBodies,
  testTinyEvents,
} from '../support/attack.ts';
import { readExposition, sumOf } from '../support/exposition.ts';
import { ask, request, send, testService } from '../support/service.ts';

const service = await testService(t, [
  ...['--ingest-workers', '1', '--query-workers', '1', '--metrics-open', 'true'],
]);
/** How many events a search finds. */
async function countOf(search: string): Promise<number> {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 'now-1h', to: 'now+1h' },
    filters: [{ search }],
    compute: [{ metric: { id: 'count', output: 'hits' } }],
  });
  const { aggregates } = (answer.body as { result: { aggregates: { values: { hits: number } }[] } })
    .result;
  return aggregates[0]?.values.hits ?? 0;
}

t.test('8 bodies of a million tiny events are refused, and neighbours go on', (t) =>
  testTinyEvents(t, service, 2, 1_650_000),
);

for (const kind of LARGE_KINDS) {
  t.test(`1.3 large bodies of ${kind} events that come at once leave room for others`, (t) =>
    testLargeBodies(t, service, kind, 4, 6_000_000),
  );
}

t.test('8 a body of several pieces is stored whole, with what it adds to each event', async (t) => {
  const events = Array.from({ length: 40_000 }, (_, at) => `{"large":${at}}`);
  const answer = await sendZipped(service, gzipSync(`[${events.join(',')}]`), '?appname=pieces');
  t.equal(answer.status, 200);
  t.equal(await countOf('large:* appname:pieces agent:* ip:*'), events.length);
  const lines = events.map((event) => event.replace('large', 'lines')).join('\n');
  t.equal((await send(service, lines, 'text/plain')).status, 200);
  t.equal(await countOf('lines:*'), events.length);
  const frames = events.map((event) => `${event.length} ${event}`).join('\n');
  t.equal((await send(service, frames, 'application/logplex-1')).status, 200);
  t.equal(await countOf('large:*'), 2 * events.length);
});

t.test('8 a fault in a later piece refuses the body whole', async (t) => {
  const events = Array.from({ length: 10_000 }, () => '{"refused":1}').join(',');
  const answer = await send(service, `[${events},{"refused":]`);
  t.equal(answer.status, 400);
  t.equal(await countOf('refused:*'), 0);
});

t.test('8 a body that only begins like JSON is stored as lines, once', async (t) => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `{"undeclared":${at}}`);
  const answer = await send(service, `${lines.join('\n')}\nundeclared text`, 'x/unknown');
  t.equal(answer.status, 200);
  t.equal(await countOf('undeclared:*'), lines.length);
  t.equal(await countOf('"undeclared text"'), 1);
});

t.test('8 an event counts as 64 bytes at least', async (t) => {
  const usedBytes = async (): Promise<number> => {
    const { text } = await request(`${service.http}/metrics`);
    return sumOf(readExposition(text), 'logseam_event_bytes_total', {});
  };
  const before = await usedBytes();
  t.equal((await send(service, `[${'1,'.repeat(9_999)}1]`)).status, 200);
  t.equal((await usedBytes()) - before, 640_000);
});

t.test('8 rules that cost too much for a text leave the event as it was', async (t) => {
  await testCostlyRules(t, service, 50);
  const { text } = await request(`${service.http}/metrics`);
  t.match(text, /^logseam_decode_repairs_total\{repair="pattern_over_budget"\} [1-9]/m);
  const troubles = await request(`${service.http}/admin/api/troubles`, {
    headers: { authorization: `Bearer ${adminToken(service)}` },
  });
  t.match(troubles.text, /"kind":"pattern_over_budget","count":[1-9]/);
});

t.test('8 lines of a socket that are decoded in pieces are all stored', async (t) => {
  const lines = Array.from({ length: 12_000 }, (_, at) => `${service.writeKey} s ${at}\n`);
  await new Promise((resolve, reject) => {
    const socket = connect({ port: service.tcpPort, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', reject).on('end', resolve).resume();
    socket.end(lines.join(''));
  });
  t.equal(await countOf('s'), lines.length);
});
