import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, ask, request, send, testService } from '../support/service.ts';

const LIST = '/beta/events/list';
const AGGREGATE = '/beta/events/aggregate';
const EVENT_COUNT = 25;

const service = await testService(t, ['--bound-events', '10']);
const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
/** One an hour from midnight on, those of an even number by `even`. */
const events = Array.from({ length: EVENT_COUNT }, (_, n) => ({
  timestamp: new Date(Date.UTC(2026, 2, 1, n)).toISOString(),
  n,
  by: n % 2 === 0 ? 'even' : 'odd',
}));
await send(service, JSON.stringify(events));

const TWO_DAYS = { from: '2026-03-01T00:00:00Z', to: '2026-03-03T00:00:00Z' };
const ONE_DAY = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
/** The oldest of the 10 newest is of hour 15. */
const BOUND = { limit: 10, reached: true, from: '2026-03-01T15:00:00.000Z' };

function numbersOf({ status, text, body }: Answer): number[] {
  if (status !== 200) throw new Error(text);
  const { result } = body as { result: { events: { columns: number[] }[] } };
  return result.events.map(({ columns }) => columns[0]);
}

const list = (query: object): Promise<Answer> =>
  ask(service, LIST, { columns: [{ attribute: 'custom.n' }], ...query });

t.test('a list of more than 24 hours reaches the newest events, and says so', async (t) => {
  const down = await list({ time: TWO_DAYS });
  t.same(numbersOf(down), [24, 23, 22, 21, 20, 19, 18, 17, 16, 15]);
  t.match(down.body, { result: { bound: BOUND } });
  t.match(numbersOf(await list({ time: TWO_DAYS, order: 'asc', limit: 2 })), [15, 16]);
  const local = await list({ time: { ...TWO_DAYS, timezone: 'Asia/Tokyo' } });
  t.match(local.body, { result: { bound: { from: '2026-03-02T00:00:00.000+09:00' } } });
});

t.test('its pages together are exactly these', async (t) => {
  const found: number[] = [];
  let after: string | undefined;
  for (;;) {
    const place = after === undefined ? {} : { afterEvent: after };
    const answer = await list({ time: TWO_DAYS, limit: 3, ...place });
    t.match(answer.body, { result: { bound: BOUND } });
    found.push(...numbersOf(answer));
    after = (answer.body as { result: { events: { id: string }[] } }).result.events.at(-1)?.id;
    if (after === undefined) break;
  }
  t.same(found, [24, 23, 22, 21, 20, 19, 18, 17, 16, 15]);
});

t.test('events are counted before the filters', async (t) => {
  const filters = [{ search: 'by:even' }];
  const answer = await list({ time: TWO_DAYS, filters });
  t.same(numbersOf(answer), [24, 22, 20, 18, 16]);
  t.match(answer.body, { result: { bound: BOUND } });
});

t.test('up to 24 hours, and with fewer events, nothing is bounded', async (t) => {
  const day = await list({ time: ONE_DAY });
  t.equal(numbersOf(day).length, 24);
  t.notMatch(day.body, { result: { bound: {} } });
  const few = await list({ time: { ...TWO_DAYS, from: '2026-03-01T15:00:00Z', to: '2026-03-05' } });
  t.equal(numbersOf(few).length, 10);
  t.notMatch(few.body, { result: { bound: {} } });
});

t.test('aggregations reach as far', async (t) => {
  const compute = [{ metric: { id: 'count' } }];
  const all = await ask(service, AGGREGATE, { time: TWO_DAYS, compute });
  t.match(all.body, { result: { aggregates: [{ values: { count: 10 } }], bound: BOUND } });
  const groupBy = [{ field: { id: 'custom.by', output: 'by' } }];
  const grouped = await ask(service, AGGREGATE, { time: TWO_DAYS, compute, groupBy });
  t.match(grouped.body, {
    result: {
      aggregates: [
        { bucket: { by: 'even' }, values: { count: 5 } },
        { bucket: { by: 'odd' }, values: { count: 5 } },
      ],
      bound: BOUND,
    },
  });
  const hours = [{ time: { interval: '1h' } }];
  const steps = await ask(service, AGGREGATE, { time: TWO_DAYS, compute, groupBy: hours });
  const { aggregates } = (steps.body as { result: { aggregates: { bucket: object }[] } }).result;
  t.equal(aggregates.length, 10);
  t.same(aggregates[0].bucket, { time: BOUND.from });
  const day = await ask(service, AGGREGATE, { time: ONE_DAY, compute });
  t.same(day.body, { result: { aggregates: [{ bucket: {}, values: { count: 24 } }] } });
});

t.test('saved analyses of both kinds do', async (t) => {
  const compute = [{ metric: { id: 'count' } }];
  const analyses = [
    { id: 'lines', name: 'Lines', kind: 'list', time: TWO_DAYS, filters: [] },
    { id: 'counts', name: 'Counts', kind: 'table', time: TWO_DAYS, filters: [], compute },
  ];
  for (const analysis of analyses) {
    const made = await request(`${service.http}/admin/api/saved_analyses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(analysis),
    });
    t.equal(made.status, 200, made.text);
  }
  const lines = await ask(service, '/beta/saved_analyses/lines/execute', {});
  const shown = (lines.body as { result: { events: { custom: { n: number } }[] } }).result.events;
  t.same(
    shown.map(({ custom }) => custom.n),
    [24, 23, 22, 21, 20, 19, 18, 17, 16, 15],
  );
  t.match(lines.body, { result: { bound: BOUND } });
  const from = await ask(service, '/beta/saved_analyses/lines/execute', { 'field.from': 8 });
  t.match(from.body, { result: { events: { length: 2 }, bound: BOUND } });
  const counts = await ask(service, '/beta/saved_analyses/counts/execute', {});
  t.match(counts.body, { result: { values: [{ metrics: { m0: 10 } }], bound: BOUND } });
  const day = await ask(service, '/beta/saved_analyses/counts/execute', { time: ONE_DAY });
  t.match(day.body, { result: { values: [{ metrics: { m0: 24 } }] } });
  t.notMatch(day.body, { result: { bound: {} } });
});
