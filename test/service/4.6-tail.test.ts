import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, request, send, testService } from '../support/service.ts';
import { openTail, type TailClient } from '../support/tail-client.ts';

const service = await testService(t);
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Sends events with the attributes `test` and `n`, from `from` to below `to`. */
async function sendRange(test: string, from: number, below: number): Promise<void> {
  const answer = await send(service, JSON.stringify(range(from, below).map((n) => ({ test, n }))));
  if (answer.status !== 200) throw new Error(answer.text);
}

function admin(method: string, path: string, body?: object): Promise<Answer> {
  const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Makes a read key. */
async function readKey(name: string, filter?: string): Promise<string> {
  const answer = await admin('POST', 'read_keys', {
    name,
    ...(filter === undefined ? {} : { security_filter: filter }),
  });
  return (answer.body as { result: { key: string } }).result.key;
}

function hasAll(tail: TailClient, count: number): Promise<void> {
  return tail.until(() => tail.data().length >= count, `event ${count}`);
}

t.test('events come in the order in which they were taken, each with an id', async (t) => {
  await sendRange('order', -5, 0);
  const tail = await openTail(service, { query: 'test:order' });
  t.equal(tail.headers['content-type'], 'text/event-stream');
  await sendRange('order', 0, 100);
  await sendRange('other', 0, 100);
  await sendRange('order', 100, 101);
  await hasAll(tail, 101);
  t.same(tail.numbers(), range(0, 101));
  t.equal(new Set(tail.messages.map(({ id }) => id)).size, 101);
  t.match(tail.messages[0].id, /^[\w-]+$/);
  t.match(tail.data()[0], { id: /^[\w-]{22}$/, date: /Z$/, event: { custom: { test: 'order' } } });
  tail.close();
});

t.test('filters, columns, event and timezone are as in a list', async (t) => {
  const tail = await openTail(service, {
    filters: '[{"field":{"id":"custom.n","values":["3","5"]}},{"search":"test:shape"}]',
    columns: '[{"attribute":"custom.n"},{"metric":"count"}]',
    event: 'false',
    timezone: 'UTC+01:00',
  });
  await sendRange('shape', 0, 10);
  await hasAll(tail, 2);
  t.match(tail.data(), [
    { date: /\+01:00$/, columns: [3, 1], event: undefined },
    { date: /\+01:00$/, columns: [5, 1], event: undefined },
  ]);
  tail.close();
});

t.test('POST takes the same as JSON', async (t) => {
  const gone = new AbortController();
  const response = await fetch(`${service.http}/beta/events/tail`, {
    method: 'POST',
    headers: { 'x-api-key': service.readKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'test:post',
      event: false,
      columns: [{ attribute: 'custom.n' }],
    }),
    signal: gone.signal,
  });
  t.equal(response.status, 200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  t.match(text, /^retry: \d+\nid: [\w-]+\n\n$/);
  await sendRange('post', 7, 8);
  while (!text.includes('data:')) text += (await reader?.read())?.value ?? '';
  t.match(text, /\nid: [\w-]+\ndata: \{"id":"[\w-]{22}","date":"[^"]+","columns":\[7\]\}\n\n$/);
  gone.abort();
});

t.test('a security filter hides from a tail what it hides from a query', async (t) => {
  const key = await readKey('narrow', 'custom.n:[0 TO 4]');
  const tail = await openTail(service, { api_key: key, query: 'test:secret OR custom.n:*' });
  await sendRange('secret', 3, 9);
  await sendRange('secret', 0, 1);
  await hasAll(tail, 3);
  t.same(tail.numbers(), [3, 4, 0]);
  tail.close();
});

t.test('a tail ends when its key is deleted or its filter changes, and tells why', async (t) => {
  const ends: unknown[] = [];
  for (const change of [
    () => admin('PATCH', 'read_keys/brief', { security_filter: 'custom.n:1' }),
    () => admin('DELETE', 'read_keys/brief'),
  ]) {
    const key = ends.length === 0 ? await readKey('brief') : await rekey('brief');
    const tail = await openTail(service, { api_key: key });
    t.equal((await change()).status, 200);
    await tail.until(() => tail.isOver || tail.data('end').length > 0, 'the end');
    ends.push(...tail.data('end'));
    tail.close();
  }
  t.same(ends, [{ reason: 'filter_changed' }, { reason: 'key_deleted' }]);
});

/** A new key in the place of the one with that name. */
async function rekey(name: string): Promise<string> {
  await admin('DELETE', `read_keys/${name}`);
  return readKey(name);
}

t.test('what is too much for a second is dropped and counted, the newest is shown', async (t) => {
  const tail = await openTail(service, { query: 'test:burst', limit_per_second: '50' });
  await sendRange('burst', 0, 2_000);
  await sendRange('burst', 2_000, 4_000);
  const total = (): number => tail.data().length + tail.dropped();
  await tail.until(() => total() >= 4_000, 'all');
  t.equal(total(), 4_000);
  const numbers = tail.numbers();
  t.equal(numbers.at(-1), 3_999);
  t.same(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  t.equal(new Set(numbers).size, numbers.length);
  tail.close();
});

t.test('a tail goes on behind any of its events', async (t) => {
  const first = await openTail(service, { query: 'test:resume' });
  await sendRange('resume', 0, 20);
  await hasAll(first, 20);
  first.close();
  await sendRange('resume', 20, 1_500);
  for (const [at, by] of [
    [19, 'header'],
    [7, 'parameter'],
  ] as const) {
    const { id } = first.messages[at];
    const tail = await openTail(
      service,
      { query: 'test:resume', ...(by === 'parameter' ? { last_event_id: id } : {}) },
      by === 'header' ? { 'last-event-id': id } : {},
    );
    await hasAll(tail, 1_499 - at);
    await sendRange('resumed', 0, 1);
    t.same(tail.numbers(), range(at + 1, 1_500), by);
    tail.close();
  }
});

t.test('of more than 10,000 missed events the oldest are dropped', async (t) => {
  const first = await openTail(service);
  first.close();
  for (let page = 0; page < 5; page++) {
    await sendRange('missed', page * 2_500, page * 2_500 + 2_500);
  }
  const tail = await openTail(service, { query: 'test:missed', last_event_id: first.lastId });
  await hasAll(tail, 10_000);
  t.equal(tail.messages[0].event, 'dropped');
  t.equal(tail.dropped(), 2_500);
  t.same(tail.numbers(), range(2_500, 12_500));
  const [{ id }] = tail.messages;
  tail.close();
  const again = await openTail(service, { query: 'test:missed', last_event_id: id });
  await hasAll(again, 10_000);
  t.equal(again.dropped(), 0, 'what was told as dropped is not told again');
  again.close();
});

t.test('a client that does not read loses events, and is told how many', async (t) => {
  const tail = await openTail(service, { query: 'test:slow', limit_per_second: '2000' });
  tail.pause();
  const filler = 'x'.repeat(20_000);
  const sent = 3_000;
  for (let from = 0; from < sent; from += 500) {
    const events = range(from, from + 500).map((n) => ({ test: 'slow', n, filler }));
    t.equal((await send(service, JSON.stringify(events))).status, 200);
  }
  tail.resume();
  const total = (): number => tail.data().length + tail.dropped();
  await tail.until(() => total() >= sent, 'all');
  t.equal(total(), sent);
  t.ok(tail.dropped() > 0, `${tail.dropped()} were dropped`);
  t.equal(tail.numbers().at(-1), sent - 1);
  tail.close();
});

t.test('what is asked wrongly is refused by its name', async (t) => {
  for (const [parameters, headers, message] of [
    [{ query: 'a:(' }, {}, /^query "a:\(" is malformed/],
    [{ filters: '[{]' }, {}, /^filters "\[\{\]" is not JSON: at position 2/],
    [{ filters: '[{"serch":"x"}]' }, {}, /^filters\[0\]\.serch is unknown; did you mean "search"/],
    [{ columns: '{}' }, {}, /^columns .* allowed: an array/],
    [{ event: 'yes' }, {}, /^event "yes" is not allowed; allowed: true or false/],
    [{ timezone: 'Mars' }, {}, /^timezone "Mars" is unknown/],
    [{ limit_per_second: '0' }, {}, /^limit_per_second 0 is not allowed; .* 1 to 2000/],
    [{ limit_per_second: 'all' }, {}, /^limit_per_second "all" is not allowed/],
    [{ qery: 'x' }, {}, /^the query parameter "qery" is unknown; did you mean "query"/],
    [{ last_event_id: 'AAAA' }, {}, /^last_event_id "AAAA" is malformed/],
    [{}, { 'last-event-id': 'A'.repeat(40) }, /^the header Last-Event-ID "A+" is malformed/],
  ] as [Record<string, string>, Record<string, string>, RegExp][]) {
    const query = new URLSearchParams({ api_key: service.readKey, ...parameters });
    const answer = await request(`${service.http}/beta/events/tail?${query}`, { headers });
    t.equal(answer.status, 400, answer.text);
    t.match((answer.body as { error: { message: string } }).error.message, message);
  }
  t.equal((await request(`${service.http}/beta/events/tail`)).status, 401);
});

t.test('a key has at most 20 tails', async (t) => {
  const key = await readKey('many');
  const tails = await Promise.all(range(0, 20).map(() => openTail(service, { api_key: key })));
  t.same(
    tails.map(({ status }) => status),
    range(0, 20).map(() => 200),
  );
  const more = await openTail(service, { api_key: key });
  t.equal(more.status, 429);
  t.equal(more.headers['retry-after'], '1');
  t.equal((await openTail(service)).status, 200, 'other keys have theirs');
  tails[0].close();
  let status = 429;
  while (status === 429) {
    const next = await openTail(service, { api_key: key });
    status = next.status;
    if (status === 200) tails.push(next);
  }
  for (const tail of tails) tail.close();
});
