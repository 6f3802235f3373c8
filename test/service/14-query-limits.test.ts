import t from 'tap';
import { metric } from '../support/metrics.ts';
import { type Answer, ask, request, send, testService } from '../support/service.ts';

const MEMORY_MB = 16;
const LARGE_EVENTS = 60;
const LARGE_BYTES = 100_000;

const service = await testService(t, [
  ...['--query-memory-mb', String(MEMORY_MB), '--metrics-open', 'true'],
]);
const TIME = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T01:00:00Z' };
const large = Array.from({ length: LARGE_EVENTS }, (_, n) => ({
  timestamp: new Date(Date.parse(TIME.from) + n * 1_000).toISOString(),
  n,
  text: `${n}`.padEnd(LARGE_BYTES, 'x'),
}));
await send(service, JSON.stringify(large));

function refusal(answer: Answer): string {
  const { error } = answer.body as { error: { status: number; message: string } };
  return `${error.status} ${error.message}`;
}

t.test(
  '14 a page that takes more than query_memory_mb is refused, a smaller one is not',
  async (t) => {
    const columns = [{ attribute: 'custom.text' }];
    const list = (body: object): Promise<Answer> =>
      ask(service, '/beta/events/list', { time: TIME, ...body });
    const small = await list({ event: true, limit: 10 });
    t.equal(small.status, 200);
    const id = (small.body as { result: { events: { id: string }[] } }).result.events[9].id;
    const wholes = await list({ event: true, limit: LARGE_EVENTS });
    const texts = await list({ columns, limit: LARGE_EVENTS });
    const around = await ask(service, '/beta/events/context', { id, before: 50, event: true });
    for (const answer of [wholes, texts, around]) {
      t.match(
        refusal(answer),
        /^400 the query takes more memory than query_memory_mb allows: 16; /,
      );
      t.match(refusal(answer), /allowed: a smaller limit/);
      t.notOk(answer.headers.get('retry-after'));
    }
    t.equal((await list({ limit: LARGE_EVENTS })).status, 200, 'without the events');
    const exported = await ask(service, '/beta/events/export', { time: TIME });
    t.equal(exported.text.split('\n').length - 1, LARGE_EVENTS, 'an export goes page by page');
    t.equal(await metric(service, 'logseam_queries_refused_total', { reason: 'memory' }), 3);
  },
);

t.test('14 groups that do not fit in query_memory_mb are counted part by part', async (t) => {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: TIME,
    compute: [{ metric: { id: 'cardinality:custom.text' } }],
    groupBy: [{ field: { id: 'custom.text', limit: 3, order: { '@natural': 'asc' } } }],
  });
  t.equal(answer.status, 200, answer.text.slice(0, 200));
  const { aggregates } = (answer.body as { result: { aggregates: { bucket: object }[] } }).result;
  t.same(
    aggregates.map(({ bucket }) => String(Object.values(bucket)[0]).length),
    [LARGE_BYTES, LARGE_BYTES, LARGE_BYTES],
  );
});

t.test('14 a query that is answered is not known by its id any more', async (t) => {
  const headers = { 'x-api-key': service.readKey, 'x-query-id': 'of-mine_1' };
  const answer = await request(`${service.http}/beta/events/list`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ time: TIME }),
  });
  t.equal(answer.status, 200);
  for (const method of ['GET', 'DELETE']) {
    const about = await request(`${service.http}/beta/queries/of-mine_1`, { method, headers });
    t.match(refusal(about), /^404 the query "of-mine_1" is unknown or answered/);
  }
});

t.test('14 a query is stopped when its client leaves', async (t) => {
  const words = Array.from({ length: 40 }, (_, n) => `text:*${n}*x*y*`).join(' OR ');
  const body = { time: TIME, limit: 1, filters: [{ search: words }] };
  const before = await metric(service, 'logseam_queries_cancelled_total');
  let left = 0;
  while (left === 0) {
    const abort = new AbortController();
    const asked = fetch(`${service.http}/beta/events/list`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
      body: JSON.stringify(body),
      signal: abort.signal,
    }).catch(() => undefined);
    while ((await metric(service, 'logseam_queries_running')) === 0) {
      const isOver = await Promise.race([asked.then(() => true), Promise.resolve(false)]);
      if (isOver) break;
    }
    abort.abort();
    await asked;
    while ((await metric(service, 'logseam_queries_running')) > 0);
    left = (await metric(service, 'logseam_queries_cancelled_total')) - before;
  }
  t.equal(left, 1);
});
