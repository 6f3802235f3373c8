import t from 'tap';
import { define, defineReadKey } from '../support/admin.ts';
import { type Answer, request, type Service, send, testService } from '../support/service.ts';
import { openTail } from '../support/tail-client.ts';

/** Nothing that a key with a security filter is told changes with the events that the filter hides. */

const service = await testService(t, ['--bound-events', '10']);
const TIME = { from: '2026-03-01T00:00:00Z', to: '2026-03-04T00:00:00Z' };
const LATER = { from: '2026-04-01T00:00:00Z', to: '2026-04-02T00:00:00Z' };
const HOUR_MS = 3_600_000;

/** Events an hour apart from `startMs` on. */
function eventsOf(team: string, count: number, startMs: number): string {
  const events = Array.from({ length: count }, (_, n) => ({
    timestamp: new Date(startMs + n * HOUR_MS).toISOString(),
    ...{ n, team, message: `event ${n}` },
    [`only_${team}`]: n % 5,
  }));
  return JSON.stringify(events);
}

const redKey = await defineReadKey(service, { name: 'red', security_filter: 'team:red' });
/** The service to the key that sees one team. */
const red: Service = { ...service, readKey: redKey };

const compute = [{ metric: { id: 'count' } }, { metric: { id: 'avg:custom.n' } }];
const analysis = { time: TIME, filters: [{ search: 'event' }] };
await define(service, 'saved_analyses', { ...analysis, id: 'lines', name: 'Lines', kind: 'list' });
const counted = { ...analysis, compute, groupBy: [{ field: { id: 'custom.n' } }] };
await define(service, 'saved_analyses', {
  ...counted,
  id: 'counts',
  name: 'Counts',
  kind: 'toplist',
});

const start = Date.parse(TIME.from);
await send(service, eventsOf('red', 25, start + 6 * HOUR_MS));
await send(service, eventsOf('blue', 30, start + 8 * HOUR_MS));

/** Path and body of everything that is asked; `place` is the id of an event that the key sees. */
function requestsAt(place: string): [string, object][] {
  const order = { '@natural': 'asc' };
  return [
    ['/beta/events/list', { time: TIME, event: true, limit: 4 }],
    ['/beta/events/list', { time: TIME, limit: 4, afterEvent: place }],
    ['/beta/events/list', { time: TIME, order: 'asc', limit: 1 }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'n:3' }] }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'only_blue:3 n:99 event -event' }] }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'only_blu:3' }] }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'team:blue' }] }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'team:Red' }] }],
    ['/beta/events/list', { time: TIME, filters: [{ search: 'blue' }] }],
    ['/beta/events/list', { time: LATER, filters: [{ search: 'event' }] }],
    ['/beta/events/aggregate', { time: TIME, compute, filters: [{ search: 'blue n:3' }] }],
    ['/beta/events/fetch', { id: place, event: true }],
    ['/beta/events/context', { id: place, before: 3, after: 3 }],
    ['/beta/events/export', { time: TIME }],
    ['/beta/events/export', { time: TIME, format: 'csv', order: 'asc' }],
    ['/beta/events/aggregate', { time: TIME, compute }],
    ['/beta/events/aggregate', { time: TIME, compute, groupBy: [{ time: { interval: '6h' } }] }],
    [
      '/beta/events/aggregate',
      { time: TIME, compute, groupBy: [{ field: { id: 'custom.n', limit: 3, order } }] },
    ],
    ['/beta/saved_analyses/lines/execute', { 'field.from': 2, limit: 3 }],
    ['/beta/saved_analyses/counts/execute', {}],
    ['/beta/discover/attributes', { time: TIME }],
    ['/beta/discover/complete', { time: TIME, query: 'only' }],
    ['/beta/discover/complete', { time: TIME, query: 'team:' }],
    ['/beta/discover/fields_metrics', { fields: true, metrics: true }],
    ['/beta/events/list', { time: TIME, explain: true }],
  ];
}

/** All that a reply tells: its status, the headers that are not of the moment, and its bytes. */
function told({ status, headers, text }: Answer): object {
  const shown: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name !== 'date') shown[name] = value;
  });
  return { status, headers: shown, text };
}

async function askAll(place: string): Promise<object[]> {
  const replies: object[] = [];
  for (const [path, body] of requestsAt(place)) {
    const answer = await request(`${red.http}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': red.readKey },
      body: JSON.stringify(body),
    });
    replies.push(told(answer));
  }
  return replies;
}

t.test('hidden events change no byte of any reply', async (t) => {
  const first = await request(`${red.http}/beta/events/list`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': red.readKey },
    body: JSON.stringify({ time: TIME, limit: 3 }),
  });
  const { events, bound } = (
    first.body as { result: { events: { id: string; date: string }[]; bound: object } }
  ).result;
  // The 10 newest of 25 that are red.
  t.same(bound, { limit: 10, reached: true, from: '2026-03-01T21:00:00.000Z' });
  const place = events[2].id;
  const before = await askAll(place);
  for (const startMs of [start, start + 20 * HOUR_MS, start + 40 * HOUR_MS]) {
    await send(service, eventsOf('blue', 30, startMs));
    const after = await askAll(place);
    for (const [at, [path, body]] of requestsAt(place).entries()) {
      t.same(after[at], before[at], `${path} ${JSON.stringify(body).slice(0, 100)}`);
    }
  }
});

t.test('a tail tells nothing between the events that it shows', async (t) => {
  const tail = await openTail(red);
  await send(service, eventsOf('blue', 50, start));
  await send(service, eventsOf('red', 2, start));
  await tail.until(() => tail.messages.length === 2, 'two events');
  const shown = tail.messages.map(({ event }) => event);
  t.same(shown, ['message', 'message']);
  const lengths = new Set(
    [tail.firstId, ...tail.messages.map(({ id }) => id)].map((id) => id.length),
  );
  t.equal(lengths.size, 1, 'places of one length');
  tail.close();
});
