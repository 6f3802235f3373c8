import t from 'tap';
import { define, defineReadKey } from '../support/admin.ts';
import { ask, type Service, send, testService } from '../support/service.ts';

const service = await testService(t);
const TIME = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };

interface Hint {
  type: string;
  message: string;
  [name: string]: unknown;
}

const events = [
  { level: 'error', http: { status_code: 500 }, user: { name: 'Ann Lee' }, team: 'red' },
  { level: 'info', http: { status_code: 200 }, team: 'red', message: 'payment done' },
  { level: 'fatal', hidden_name: 'secret', team: 'blue', message: 'treasure' },
].map((event, minute) => ({ date: `2026-03-01T12:0${minute}:00Z`, ...event }));
const others = ['2026-02-27', '2026-02-28', '2026-03-03', '2026-03-04'].map((date, n) => ({
  ...{ date, message: 'nightly backup', team: n % 3 === 0 ? 'red' : 'blue' },
}));
const sent = await send(service, JSON.stringify([...events, ...others]));
if (sent.status !== 200) throw new Error(sent.text);

await define(service, 'tagsets', {
  ...{ id: 'danger', name: 'Danger' },
  tags: [{ id: 'high', name: 'High', color: '#ff0000', query: 'private_name:9 level:ERROR' }],
});
const redKey = await defineReadKey(service, { name: 'red', security_filter: 'team:red' });
const red: Service = { ...service, readKey: redKey };

async function resultOf(path: string, query: object, key = service): Promise<{ hints?: Hint[] }> {
  const answer = await ask(key, `/beta/events/${path}`, { time: TIME, ...query });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { hints?: Hint[] } }).result;
}

/** The hints of a list, without their messages. */
async function hints(search: string, key = service): Promise<object[]> {
  const found = await resultOf('list', { filters: [{ search }] }, key);
  return (found.hints ?? []).map(({ message, ...hint }) => hint);
}

t.test('4.6 hints: each of several terms tells what it finds alone', async (t) => {
  t.same(await hints('level:error payment'), [
    { type: 'term', term: 'level:error', count: 1 },
    { type: 'term', term: 'payment', count: 1 },
  ]);
  t.same(await hints('-level:info NOT payment http.status_code:<300'), [
    { type: 'term', term: '-level:info', count: 2 },
    { type: 'term', term: 'NOT payment', count: 2 },
    { type: 'term', term: 'http.status_code:<300', count: 1 },
  ]);
});

t.test('4.6 hints: an attribute that no event has gets the nearest name', async (t) => {
  for (const [search, attribute, nearest] of [
    ['http.status_cod:500', 'custom.http.status_cod', 'custom.http.status_code'],
    ['Level:error', 'custom.Level', 'custom.level'],
    ['status_code:500', 'custom.status_code', 'custom.http.status_code'],
    ['syslog.level:error', 'syslog.level', 'custom.level'],
    ['custom.custom.level:*', 'custom.custom.level', 'custom.level'],
  ]) {
    const written = `${nearest}${search.slice(search.indexOf(':'))}`;
    t.same(await hints(search), [
      { type: 'attribute', term: search, attribute, nearest, try: written },
    ]);
    t.notOk('hints' in (await resultOf('list', { filters: [{ search: written }] })), written);
  }
  t.same(await hints('nothing_like_it:1'), [
    { type: 'attribute', term: 'nothing_like_it:1', attribute: 'custom.nothing_like_it' },
  ]);
});

t.test('4.6 hints: a value that no event has gets the nearest one', async (t) => {
  const attribute = 'custom.level';
  for (const [value, nearest] of [
    ['ERROR', 'error'],
    ['eror', 'error'],
    ['infos', 'info'],
  ]) {
    const search = `level:${value}`;
    const written = `level:${nearest}`;
    t.same(await hints(search), [
      { type: 'value', term: search, attribute, value, nearest, try: written },
    ]);
  }
  const field = { id: 'custom.level', values: ['Fatal'] };
  const { hints: ofField } = await resultOf('list', { filters: [{ field }] });
  t.match(ofField, [{ type: 'value', term: 'custom.level:("Fatal")', nearest: 'fatal' }]);
});

t.test('4.6 hints: words that only an attribute has are looked for in all', async (t) => {
  t.same(await hints('ann'), [
    { type: 'word', term: 'ann', attribute: 'custom.user.name', try: '*:ann' },
  ]);
  t.same(await hints('nobody'), []);
});

t.test('4.6 hints: message: with a word of a message is told of bare words', async (t) => {
  for (const [search, written] of [
    ['message:payment', 'payment'],
    ['message:Pay*', 'Pay*'],
    ['message:"done"', '"done"'],
    ['message:(nothing OR done)', '(nothing OR done)'],
  ]) {
    t.match(await hints(search), [
      { type: 'word', term: search, attribute: 'message', try: written },
    ]);
  }
  t.same(await hints('message:nobody'), []);
  t.same(await hints('message:treasure', red), [], 'what is hidden is told of nowhere');
});

t.test('4.6 hints: events outside of the time are told of by their dates', async (t) => {
  t.same(await hints('backup'), [
    { type: 'range', newest: '2026-02-28T00:00:00.000Z' },
    { type: 'range', oldest: '2026-03-03T00:00:00.000Z' },
  ]);
  const paris = { time: { from: '2026-05-01', to: '2026-05-02', timezone: 'Europe/Paris' } };
  const { hints: found } = await resultOf('list', paris);
  t.match(found, [{ type: 'range', newest: '2026-03-04T01:00:00.000+01:00' }]);
});

t.test('4.6 hints: what other languages write is told in this one, and is found so', async (t) => {
  for (const [search, written, term = search] of [
    ['!treasury', 'NOT treasury'],
    ['!level:error !team:blue', 'NOT level:error', '!level:error'],
    ['!(payment OR treasure)', 'NOT (payment OR treasure)', '! (payment OR treasure)'],
    ['http.status_code>=500', 'http.status_code:>=500'],
    ['http.status_code >= 500', 'http.status_code:>=500'],
    ['level=error', 'level:error'],
    ['level == "error"', 'level:error'],
    ["user.name='Ann Lee'", 'user.name:"Ann Lee"'],
    ["user.name = 'Ann Lee'", 'user.name:"Ann Lee"'],
    ['level!=error', 'NOT level:error'],
    ['level != "error"', 'NOT level:error'],
    ['level <> error', 'NOT level:error'],
    ["user.name like 'Ann L_e'", 'user.name:Ann\\ L?e'],
    ["message LIKE '%ment%'", 'message:*ment*'],
    ["message not like '%ment%'", 'NOT message:*ment*'],
    ["level in ('error', fatal)", 'level:(error OR fatal)'],
    ['user.name:"Ann*"', 'user.name:Ann*'],
    ['"pay*ment done"', 'pay*ment\\ done'],
    ['payments|treasure', '(payments OR treasure)'],
    ['level:error|fatal', 'level:(error OR fatal)'],
    ['payment | stats count by level', 'payment'],
    ['level:error and payment', 'AND', 'and'],
    ['level:error or payment', 'OR', 'or'],
    ['payment not level:error', 'NOT', 'not'],
    ['payment && treasure', 'AND', '&&'],
    ['payment || treasure', 'OR', '||'],
  ]) {
    const [first] = await hints(search);
    t.match(first, { type: 'syntax', term, try: written }, search);
    if (/^(?:AND|OR|NOT)$/.test(written)) continue;
    t.notOk('hints' in (await resultOf('list', { filters: [{ search: written }] })), written);
  }
});

t.test('4.6 hints: an aggregation of no events has them, one of no values has not', async (t) => {
  const compute = [{ metric: { id: 'avg:custom.nowhere' } }];
  const groupBy = [{ field: { id: 'custom.nowhere' } }];
  const filters = [{ search: 'level:ERROR' }];
  for (const query of [{ compute }, { compute, groupBy }]) {
    t.match((await resultOf('aggregate', { ...query, filters })).hints, [{ nearest: 'error' }]);
    t.notOk('hints' in (await resultOf('aggregate', query)));
  }
});

t.test('4.6 hints: none with events, on later pages, and when they are not wanted', async (t) => {
  const [first] = ((await resultOf('list', {})) as { events?: { id: string }[] }).events ?? [];
  const filters = [{ search: 'level:ERROR' }];
  for (const query of [{}, { filters, skip: 1 }, { filters, afterEvent: first.id }]) {
    t.notOk('hints' in (await resultOf('list', query)), JSON.stringify(query));
  }
  const compute = [{ metric: { id: 'count' } }];
  t.notOk('hints' in (await resultOf('list', { filters, hints: false })));
  t.notOk('hints' in (await resultOf('aggregate', { filters, compute, hints: false })));
});

t.test('4.6 hints: a key with a security filter is told of its own events alone', async (t) => {
  t.same(await hints('hidden_nam:secret', red), [
    { type: 'attribute', term: 'hidden_nam:secret', attribute: 'custom.hidden_nam' },
  ]);
  t.same(await hints('level:FATAL', red), []);
  t.same(await hints('treasure payment', red), [
    { type: 'term', term: 'treasure', count: 0 },
    { type: 'term', term: 'payment', count: 1 },
  ]);
  t.same(await hints('secret', red), []);
  t.same(await hints('backup', red), [
    { type: 'range', newest: '2026-02-27T00:00:00.000Z' },
    { type: 'range', oldest: '2026-03-04T00:00:00.000Z' },
  ]);
});

t.test('4.6 hints: the queries of tags are not told', async (t) => {
  const field = { id: 'danger', values: ['high'] };
  for (const filters of [[{ search: 'danger:high' }], [{ field }]]) {
    t.notOk('hints' in (await resultOf('list', { filters })));
  }
  t.same(await hints('(danger:high) payment'), [
    { type: 'term', term: '(danger:high)', count: 0 },
    { type: 'term', term: 'payment', count: 1 },
  ]);
});
