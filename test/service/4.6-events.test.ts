import t from 'tap';
import { type Answer, ask, request, send, testService } from '../support/service.ts';

const service = await testService(t);
const START = Date.UTC(2024, 4, 1, 12);
const TIME = { from: '2024-05-01T00:00:00Z', to: '2024-05-02T00:00:00Z' };
const VERBS = ['GET', 'POST', 'PUT'];

interface Row {
  id: string;
  date: string;
  event?: { custom: Record<string, unknown> };
  columns?: unknown[];
}

function rows(answer: Answer): Row[] {
  return (answer.body as { result: { events: Row[] } }).result.events;
}

function list(query: object): Promise<Answer> {
  return ask(service, '/beta/events/list', { time: TIME, ...query });
}

// 120 events, a second apart, three verbs, a third of the numbers as strings.
for (let page = 0; page < 4; page++) {
  await send(
    service,
    JSON.stringify(
      Array.from({ length: 30 }, (_, index) => {
        const n = page * 30 + index;
        return {
          timestamp: START + n * 1000,
          n,
          'http.verb': VERBS[n % 3],
          'http.response_time': n % 3 === 0 ? String(n / 10) : n / 10,
          message: n % 10 === 0 ? `Slow Request number ${n}` : 'request',
          syslog: { appname: n % 2 === 0 ? 'even' : 'odd' },
        };
      }),
    ),
  );
}

t.test('4.6 list: id and date by default, newest first, 50 at once', async (t) => {
  const events = rows(await list({}));
  t.equal(events.length, 50);
  t.same(Object.keys(events[0]), ['id', 'date']);
  t.equal(events[0].date, '2024-05-01T12:01:59.000Z');
  t.match(events[0].id, /^[\w-]{22}$/);
});

t.test('4.6 list: event true gives the whole event', async (t) => {
  const [newest] = rows(await list({ event: true, limit: 1 }));
  t.same(newest.event, {
    custom: {
      timestamp: START + 119_000,
      n: 119,
      http: { verb: 'PUT', response_time: 11.9 },
    },
    syslog: { appname: 'odd' },
    message: 'request',
  });
});

t.test('4.6 list: columns come in the order asked for, a missing one is null', async (t) => {
  const columns = [
    { attribute: 'custom.n' },
    { field: 'syslog.appname' },
    { metric: 'count' },
    { attribute: 'custom.nowhere' },
    { attribute: 'custom.http.response_time' },
    { attribute: 'message' },
  ];
  const found = rows(await list({ columns, limit: 1000 }));
  t.same(found[119].columns, [0, 'even', 1, null, '0', 'Slow Request number 0']);
  t.same(found[118].columns, [1, 'odd', 1, null, 0.1, 'request']);
});

t.test('4.6 list: afterEvent continues after the given event, in both orders', async (t) => {
  for (const order of ['desc', 'asc']) {
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = rows(await list({ limit: 7, order, ...(after ? { afterEvent: after } : {}) }));
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id;
      if (page.length < 7) break;
    }
    t.equal(seen.length, 120);
    t.equal(new Set(seen).size, 120);
  }
});

t.test('4.6 list: skip begins at a row, and total is how many there are', async (t) => {
  const search = [{ search: 'http.verb:GET' }];
  const all = rows(await list({ limit: 1000, filters: search }));
  const page = await list({ limit: 5, skip: 7, total: true, filters: search });
  t.same(rows(page), all.slice(7, 12));
  t.match(page.body, { result: { total: 40 } });
  t.same(rows(await list({ skip: 40, filters: search })), []);
  t.same(rows(await list({ skip: 100_001 })), []);
  for (const more of [{ orderBy: 'message' }, { afterEvent: all[0].id }]) {
    const refused = await list({ skip: 100_001, ...more });
    t.equal(refused.status, 400);
    t.match(refused.text, /^.*skip 100001 is not allowed with (?:orderBy|afterEvent)/);
  }
  t.equal((await list({ skip: 1_000_000_001 })).status, 400);
});

t.test('4.6 list: orderBy is the natural order of values, and pages go on in it', async (t) => {
  const asked = { orderBy: 'custom.http.response_time', columns: [{ attribute: 'custom.n' }] };
  const first = rows(await list({ ...asked, limit: 3 }));
  t.same(
    first.map(({ columns }) => columns),
    [[119], [118], [117]],
    'numeric strings are among the numbers',
  );
  const next = rows(await list({ ...asked, limit: 2, afterEvent: first[2].id }));
  t.same(
    next.map(({ columns }) => columns),
    [[116], [115]],
  );
  const numbers = rows(await list({ ...asked, order: 'asc', limit: 2 }));
  t.same(
    numbers.map(({ columns }) => columns),
    [[0], [1]],
  );
  const filters = [{ search: '-n:117' }];
  for (const changes of [{ afterEvent: 'none' }, { afterEvent: first[2].id, filters }]) {
    const refused = await list({ ...asked, ...changes });
    t.equal(refused.status, 400);
    t.match(refused.text, /afterEvent .* is not of the list/);
  }
  t.equal((await list({ orderBy: 'nothing' })).status, 400);
});

t.test('4.6 list: pages neither skip nor repeat while events arrive', async (t) => {
  const first = rows(await list({ limit: 60 }));
  await send(service, JSON.stringify({ timestamp: START + 500_000, late: true }));
  await send(service, JSON.stringify({ timestamp: START + 1, late: true }));
  const second = rows(await list({ limit: 1000, afterEvent: first[59].id }));
  const old = second.filter(({ date }) => date !== new Date(START + 1).toISOString());
  t.equal(old.length, 60);
  t.equal(second.length, 61, 'what arrived below the page is there, what arrived above is not');
});

t.test('4.6 fetch: one event by its id', async (t) => {
  const [newest] = rows(await list({ filters: [{ search: 'n:119' }], event: true }));
  const fetched = await ask(service, '/beta/events/fetch', { id: newest.id, event: true });
  t.same(fetched.body, { result: newest });
  const columns = await ask(service, '/beta/events/fetch', {
    id: newest.id,
    columns: [{ attribute: 'custom.http.verb' }],
  });
  t.same((columns.body as { result: Row }).result.columns, ['PUT']);
});

t.test('4.2 time: date math, zone and offset', async (t) => {
  const paris = rows(
    await list({
      time: { ...TIME, timezone: 'Europe/Paris' },
      limit: 1,
      filters: [{ search: 'n:0' }],
    }),
  );
  t.equal(paris[0].date, '2024-05-01T14:00:00.000+02:00');
  const local = await list({
    time: { from: '2024-05-01T14:00:00', to: '2024-05-01T14:00:10', timezone: 'Europe/Paris' },
    filters: [{ search: 'custom.n:*' }],
  });
  t.equal(rows(local).length, 10);
  const offset = await list({
    time: { ...TIME, offset: 19_800 },
    limit: 1,
    filters: [{ search: 'n:0' }],
  });
  t.equal(rows(offset)[0].date, '2024-05-01T17:30:00.000+05:30');
  t.equal(rows(await list({ time: { from: 'now - 1h', to: 'now' } })).length, 0);
});

t.test('4.3 filters: fields, exclusion and search, all of them hold', async (t) => {
  const count = async (...filters: object[]): Promise<number> =>
    rows(await list({ filters: [...filters, { search: 'custom.n:*' }], limit: 1000 })).length;
  t.equal(await count({ field: { id: 'custom.http.verb', values: ['GET'] } }), 40);
  t.equal(await count({ field: { id: 'custom.http.verb', values: ['GET', 'PUT'] } }), 80);
  t.equal(await count({ field: { id: 'custom.http.verb', values: ['GET'], exclude: true } }), 80);
  t.equal(await count({ field: { id: 'custom.n', values: ['7.0'] } }), 1);
  t.equal(await count({ search: { query: 'slow' } }), 12);
  t.equal(await count({ search: '"slow request"' }), 12);
  t.equal(await count({ search: '"request slow"' }), 0);
  t.equal(await count({ search: 'slow -n:0' }), 11);
  t.equal(await count({ search: 'http.response_time:[1 TO 1.9]' }), 10);
  t.equal(await count({ search: 'syslog.appname:even AND @http.verb:(GET OR POST)' }), 40);
  t.equal(await count({ search: 'slow' }, { field: { id: 'syslog.appname', values: ['odd'] } }), 0);
});

t.test('4.8 aggregate: count and attribute metrics', async (t) => {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: TIME,
    filters: [{ search: 'custom.n:*' }],
    compute: [
      { metric: { id: 'count', output: 'events' } },
      { metric: { id: 'sum:custom.http.response_time', output: 'sum' } },
      { metric: { id: 'avg:custom.n', output: 'avg' } },
      { metric: { id: 'cardinality:custom.http.verb', output: 'verbs' } },
      { metric: { id: 'max:custom.nowhere' } },
    ],
  });
  t.same(answer.body, {
    result: {
      aggregates: [
        {
          bucket: {},
          values: { events: 120, sum: 714, avg: 59.5, verbs: 3, 'max:custom.nowhere': null },
        },
      ],
    },
  });
});

t.test('4.8 aggregate: format gives display texts', async (t) => {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: TIME,
    format: true,
    filters: [{ search: 'custom.n:*' }],
    compute: [{ metric: { id: 'sum:custom.n', output: 'sum' } }],
  });
  t.same(answer.body, {
    result: { aggregates: [{ bucket: {}, values: { sum: { value: 7140, formatted: '7.1k' } } }] },
  });
});

t.test('7 errors name the parameter, its value and what is allowed', async (t) => {
  const table: [path: string, query: object | string, status: number, message: RegExp][] = [
    ['/beta/events/list', {}, 400, /time/],
    ['/beta/events/list', { time: { from: 'now' } }, 400, /time\.to/],
    ['/beta/events/list', { time: { from: 'yesterday', to: 'now' } }, 400, /time\.from.*yesterday/],
    ['/beta/events/list', { time: { from: 'now', to: 'now-1h' } }, 400, /time/],
    ['/beta/events/list', { time: TIME, limit: 1001 }, 400, /limit.*1001.*1000/],
    ['/beta/events/list', { time: TIME, limt: 1 }, 400, /limt.*limit/],
    [
      '/beta/events/list',
      { time: { ...TIME, timezone: 'Mars/Base' } },
      400,
      /timezone.*Mars\/Base/,
    ],
    ['/beta/events/list', { time: TIME, afterEvent: 'nonsense' }, 400, /afterEvent/],
    ['/beta/events/list', { time: TIME, filters: [{ search: '(a' }] }, 400, /position/],
    [
      '/beta/events/list',
      { time: TIME, filters: [{ field: { id: 'x', values: ['1'] } }] },
      400,
      /x/,
    ],
    ['/beta/events/list', { time: TIME, columns: [{ attribute: 5 }] }, 400, /columns/],
    ['/beta/events/list', '{"time":', 400, /JSON/],
    ['/beta/events/fetch', {}, 400, /id/],
    ['/beta/events/fetch', { id: 'AAAAAAAAAAAAAAAAAAAAAA' }, 404, /event/],
    ['/beta/events/aggregate', { time: TIME }, 400, /compute/],
    ['/beta/events/aggregate', { time: TIME, compute: [] }, 400, /compute/],
    [
      '/beta/events/aggregate',
      { time: TIME, compute: [{ metric: { id: 'median' } }] },
      400,
      /median/,
    ],
    ['/beta/events/nothing', {}, 404, /./],
  ];
  for (const [path, query, status, message] of table) {
    const answer = await request(`${service.http}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
      body: typeof query === 'string' ? query : JSON.stringify(query),
    });
    const { error } = answer.body as { error: { status: number; message: string } };
    t.equal(answer.status, status, `${path} ${JSON.stringify(query)}`);
    t.equal(error.status, status);
    t.match(error.message, message);
  }
});

t.test('4.1 the content type is required, the key is checked before it', async (t) => {
  const url = `${service.http}/beta/events/list`;
  const headers = { 'content-type': 'text/plain' };
  t.equal((await request(url, { method: 'POST', headers, body: '{}' })).status, 401);
  const keyed = { ...headers, 'x-api-key': service.readKey };
  t.equal((await request(url, { method: 'POST', headers: keyed, body: '{}' })).status, 415);
  t.equal((await request(`${url}?api_key=${service.readKey}`, { method: 'GET' })).status, 405);
  const slash = await request(`${url}/?api_key=${service.readKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ time: TIME }),
  });
  t.equal(slash.status, 200);
  t.equal((await request(`${service.http}/healthz`)).status, 200);
});
