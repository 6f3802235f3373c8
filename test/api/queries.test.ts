import t from 'tap';
import type { RouteDependencies } from '../../server/api/dispatch.ts';
import type { Reply, ReplySink } from '../../server/api/reply.ts';
import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import type { JobAnswer } from '../../server/query/job.ts';
import type { QueryProgress } from '../../server/query/live-queries.ts';
import { QueryRefused } from '../../server/query/refusal.ts';
import { piecesOf } from '../support/answer.ts';
import { AGGREGATE, FETCH, LIST, messageOf, request, type Sent, service, TIME } from './service.ts';

/** A query that waits until it is told what to answer. */
interface Held {
  signal: AbortSignal;
  key: string;
  progress: QueryProgress | undefined;
  answer: (...texts: string[]) => void;
  textOf: (() => string) | undefined;
}

/** A service whose queries do not answer by themselves, unless it is said how. */
function holding(run?: RouteDependencies['run']) {
  const held: Held[] = [];
  const { answer, logged } = service({
    run:
      run ??
      ((_job, signal, { key, textOf }, progress) =>
        new Promise<JobAnswer>((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          const answer = (...texts: string[]): void => resolve(piecesOf(...texts));
          held.push({ signal, key, progress, answer, textOf });
        })),
    definitions: {
      list: () => [],
      get: (_kind: string, id: string) =>
        id === 'saved'
          ? { id, name: id, kind: 'list', time: { from: 'now-1h', to: 'now' }, filters: [] }
          : undefined,
    } as never,
    resolver: NOTHING_DECLARED,
  });
  const list = (id: string, key = 'reader', path = LIST, body: object = { time: TIME }) =>
    answer(request(path, { headers: { 'x-query-id': id, 'x-api-key': key }, body }));
  const about = (id: string, sent: Sent = {}) =>
    answer(request(`/beta/queries/${id}`, { method: 'GET', ...sent }));
  return { held, answer, logged, list, about };
}

/** All that run queries. */
const ENDPOINTS: [string, object][] = [
  [LIST, { time: TIME }],
  [FETCH, { id: 'abc' }],
  [AGGREGATE, { time: TIME, compute: [{ metric: { id: 'count' } }] }],
  ['/beta/events/export', { time: TIME }],
  ['/beta/events/context', { id: 'abc' }],
  ['/beta/discover/attributes', { time: TIME }],
  ['/beta/discover/complete', { time: TIME, query: 'a' }],
  ['/beta/saved_analyses/saved/execute', {}],
];

function resultOf(reply: Reply): Record<string, unknown> {
  return JSON.parse(String(reply.body)).result;
}

t.test('a query is known by its id until it is answered', async (t) => {
  const { held, list, about } = holding();
  t.equal((await about('a-1')).status, 404, 'before');
  const reply = list('a-1');
  t.match(resultOf(await about('a-1')), { state: 'waiting', unitsDone: 0, unitsTotal: 0 });
  Object.assign(held[0].progress ?? {}, { state: 'running', unitsDone: 3, unitsTotal: 40 });
  const told = resultOf(await about('a-1'));
  t.same(Object.keys(told), ['state', 'unitsDone', 'unitsTotal', 'ms']);
  t.match(told, { state: 'running', unitsDone: 3, unitsTotal: 40 });
  t.ok(Number.isInteger(told['ms']) && Number(told['ms']) >= 0);
  held[0].answer('{}');
  t.equal((await reply).status, 200);
  t.equal((await about('a-1')).status, 404, 'afterwards');
  const again = list('a-1');
  held[1].answer('{}');
  t.equal((await again).status, 200, 'an id may be used again');
});

t.test('the text of a query has no keys', async (t) => {
  const { held, answer } = holding();
  const token = 'x8Zt3-QmP0aVb7Lk_Rw2Yc5Nd9Hf1Js4Ug6Te0Xi3Ko';
  const body = { time: TIME, filters: [{ search: `shop ${token}` }] };
  const reply = answer(request(LIST, { headers: { 'x-api-key': 'reader' }, body }));
  t.match(held[0].textOf?.(), /^\/beta\/events\/list \{.*"shop <key>"/);
  held[0].answer('{}');
  await reply;
});

t.test('a cancelled query is answered by 503, and its signal is aborted', async (t) => {
  const { held, list, about } = holding();
  const reply = list('x');
  const cancel = await about('x', { method: 'DELETE' });
  t.equal(cancel.status, 200);
  t.match(resultOf(cancel), { state: 'cancelled' });
  t.ok(held[0].signal.aborted);
  const refused = await reply;
  t.equal(refused.status, 503);
  t.match(messageOf(refused), /"x" was cancelled/);
  t.notOk(refused.headers?.['retry-after']);
  t.equal((await about('x', { method: 'DELETE' })).status, 404);
});

t.test(
  'ids are of one key: others neither see nor cancel its queries, and may use the same',
  async (t) => {
    const { held, list, about } = holding();
    const mine = list('same');
    const narrow = { headers: { 'x-api-key': 'narrow' } };
    t.equal((await about('same', narrow)).status, 404);
    t.equal((await about('same', { ...narrow, method: 'DELETE' })).status, 404);
    const others = list('same', 'narrow');
    t.equal((await about('same', narrow)).status, 200);
    const second = await list('same');
    t.equal(second.status, 409);
    t.match(messageOf(second), /X-Query-Id "same"/);
    t.equal(held.length, 2, 'the second one was not run');
    for (const query of held) query.answer('{}');
    t.equal((await mine).status, 200);
    t.equal((await others).status, 200);
  },
);

t.test('a key with a security filter is not told how many blocks there are', async (t) => {
  const { held, list, about } = holding();
  const narrow = { headers: { 'x-api-key': 'narrow' } };
  const reply = list('n', 'narrow');
  t.match(resultOf(await about('n', narrow)), { unitsDone: 0, unitsTotal: 100 });
  for (const unitsTotal of [8, 800]) {
    Object.assign(held[0].progress ?? {}, { unitsDone: unitsTotal / 8, unitsTotal });
    t.match(resultOf(await about('n', narrow)), { unitsDone: 12, unitsTotal: 100 });
  }
  held[0].answer('{}');
  await reply;
});

t.test('ids, keys and methods are checked', async (t) => {
  const { held, list, about } = holding();
  for (const id of ['a b', 'a/b', 'é', 'x'.repeat(65)]) {
    const reply = await list(id);
    t.equal(reply.status, 400, id);
    t.match(messageOf(reply), /X-Query-Id/);
  }
  t.equal(held.length, 0);
  t.equal((await about('a', { headers: { 'x-api-key': '' } })).status, 401);
  t.equal((await about('a', { headers: { 'x-api-key': 'writer' } })).status, 403);
  t.equal((await about('a', { query: [['api_ky', 'x']] })).status, 400);
  const posted = await about('a', { method: 'POST' });
  t.equal(posted.status, 405);
  t.equal(posted.headers?.['allow'], 'GET, DELETE, OPTIONS');
  t.equal((await list('refused', 'nobody')).status, 401);
  t.equal((await about('__proto__')).status, 404);
});

t.test('a refused request leaves no id behind', async (t) => {
  const { list, about } = holding();
  t.equal((await list('bad', 'reader', LIST, { time: 1 })).status, 400);
  t.equal((await about('bad')).status, 404);
});

t.test('every endpoint that runs a query takes an id', async (t) => {
  for (const [path, body] of ENDPOINTS) {
    const { list, about, held } = holding();
    const reply = list('one', 'reader', path, body);
    t.equal((await about('one')).status, 200, path);
    await about('one', { method: 'DELETE' });
    t.ok(held[0].signal.aborted, path);
    t.equal((await reply).status, 503, path);
  }
});

t.test('every endpoint tells why a query was not run to its end', async (t) => {
  const refusals: [QueryRefused, string | undefined][] = [
    [new QueryRefused(429, 'queue_full', 'too many queries'), '1'],
    [new QueryRefused(503, 'deadline', 'longer than query_seconds allows'), '1'],
    [new QueryRefused(503, 'worker_died', 'try again'), '1'],
    [new QueryRefused(400, 'memory', 'more than query_memory_mb allows'), undefined],
  ];
  for (const [refusal, retryAfter] of refusals) {
    for (const [path, body] of ENDPOINTS) {
      const { answer, logged } = holding(async () => Promise.reject(refusal));
      const reply = await answer(request(path, { body }));
      t.equal(reply.status, refusal.status, `${path} ${refusal.reason}`);
      t.equal(messageOf(reply), refusal.message);
      t.equal(reply.headers?.['retry-after'], retryAfter);
      t.same(logged, []);
    }
  }
});

t.test('the id of a reply in parts is known until the last one was written', async (t) => {
  const { held, list, about, logged } = holding();
  const body = { time: TIME, columns: [{ attribute: 'message' }] };
  const reply = list('parts', 'reader', '/beta/events/export', body);
  const parts: string[] = [];
  const sink: ReplySink = { write: async (part) => parts.push(Buffer.from(part).toString()) > 0 };
  const head = { count: 1, resume: 'next' };
  held[0].answer(JSON.stringify(head), '{"n":1}\n');
  const { stream } = await reply;
  const written = t.rejects(async () => stream?.(sink), { message: /cancelled/ });
  t.equal((await about('parts')).status, 200, 'the head of the reply is there, and more comes');
  while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await about('parts', { method: 'DELETE' });
  await written;
  t.same(parts, ['{"n":1}\n']);
  t.match(logged, [{ message: /cancelled/ }], 'the log tells why the reply ends early');
  t.equal((await about('parts')).status, 404);
});
