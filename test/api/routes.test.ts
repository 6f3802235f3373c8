import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { ApiError } from '../../server/api/reply.ts';
import { piecesOf } from '../support/answer.ts';
import { AGGREGATE, LIST, messageOf, request, type Sent, service, TIME } from './service.ts';

t.test('a body that is not JSON is 400 with the position', async (t) => {
  const { answer } = service();
  const texts: [string, RegExp][] = [
    ['', /position 0: expected value/],
    ['{"time":}', /position 8: expected value/],
    ['{"time":1,}', /position 10: expected name/],
    ['{} {}', /position 3: expected end/],
  ];
  for (const [raw, message] of texts) {
    const reply = await answer(request(LIST, { raw }));
    t.equal(reply.status, 400);
    t.match(messageOf(reply), message);
  }
});

t.test('groups are discovered without a body, others are not', async (t) => {
  const { answer } = service();
  const bare = { raw: '', headers: { 'content-type': '' } };
  t.equal((await answer(request('/beta/discover/groups', bare))).status, 200);
  t.equal((await answer(request('/beta/discover/attributes', bare))).status, 415);
});

t.test('null leaves out a page and filters, and no other parameter', async (t) => {
  const { answer, jobs } = service();
  const body = { time: TIME, afterEvent: null, filters: null };
  t.equal((await answer(request(LIST, { body }))).status, 200);
  t.equal((await answer(request(LIST, { body: { time: TIME } }))).status, 200);
  t.same(jobs[0], jobs[1]);
  const compute = [{ metric: { id: 'count' } }];
  const aggregate = { time: TIME, compute, afterBucket: null, filters: null };
  t.equal((await answer(request(AGGREGATE, { body: aggregate }))).status, 200);
  t.equal((await answer(request(LIST, { body: { time: null } }))).status, 400);
  t.equal((await answer(request(LIST, { body: { time: TIME, limit: null } }))).status, 400);
});

t.test('names of a body pollute nothing', async (t) => {
  const { answer } = service();
  const raw = '{"__proto__":{"polluted":1},"time":{"__proto__":{"polluted":1},"from":0,"to":1}}';
  t.equal((await answer(request(LIST, { raw }))).status, 400);
  t.notOk('polluted' in {});
});

const NEVER = { headers: { 'x-api-key': '' } };

t.test('a key is a read key in the header, else in the query', async (t) => {
  const { answer } = service();
  const body = { time: TIME };
  const sent: [Sent, number][] = [
    [{}, 200],
    [{ ...NEVER, query: [['api_key', 'reader']] }, 200],
    [{ headers: { 'x-api-key': 'reader' }, query: [['api_key', 'nobody']] }, 200],
    [NEVER, 401],
    [{ ...NEVER, query: [['api_key', '']] }, 401],
    [{ headers: { 'x-api-key': 'nobody' } }, 401],
    [{ headers: { 'x-api-key': '__proto__' } }, 401],
    [{ headers: { 'x-api-key': 'writer' } }, 403],
  ];
  for (const [how, status] of sent) {
    const reply = await answer(request(LIST, { body, ...how }));
    t.equal(reply.status, status, JSON.stringify(how));
    if (status === 401) t.match(messageOf(reply), /could not be authenticated/);
    t.notMatch(reply.body, /nobody|writer/);
  }
});

t.test('checks come in the order path, method, key, content type, query, body', async (t) => {
  const { answer } = service();
  const type = (value: string): Sent => ({ headers: { 'content-type': value } });
  const sent: [string, Sent, number, RegExp][] = [
    ['/beta/events', { ...NEVER, method: 'GET' }, 404, /"\/beta\/events" does not exist/],
    ['/__proto__', {}, 404, /does not exist/],
    [`${LIST}/x`, {}, 404, /does not exist/],
    [LIST, { ...NEVER, method: 'GET' }, 405, /"GET" is not allowed; allowed: POST/],
    ['/healthz', { method: 'POST' }, 405, /"POST"/],
    [LIST, { headers: { 'x-api-key': '', 'content-type': '' }, raw: '{' }, 401, /authenticated/],
    [LIST, { ...type(''), raw: '{' }, 415, /Content-Type is missing; allowed: application\/json/],
    [LIST, type('text/plain'), 415, /Content-Type "text\/plain"/],
    [LIST, type('application/jsonp'), 415, /Content-Type/],
    [
      LIST,
      { query: [['api_kye', 'a']], raw: '{' },
      400,
      /"api_kye" is unknown; did you mean "api_key"/,
    ],
    [LIST, { raw: '{' }, 400, /not JSON/],
    [LIST, { raw: ' '.repeat(1_048_577) }, 413, /1048577 bytes; allowed: 1048576/],
  ];
  for (const [path, how, status, message] of sent) {
    const reply = await answer(request(path, how));
    t.equal(reply.status, status, `${path} ${status}`);
    t.match(messageOf(reply), message);
  }
  t.equal((await answer(request(LIST, { method: 'GET' }))).headers?.allow, 'POST, OPTIONS');
});

t.test('the content type may have parameters and capitals', async (t) => {
  const { answer } = service();
  for (const type of [
    'application/json; charset=UTF-8',
    'Application/JSON',
    'application/json ;x',
  ]) {
    const headers = { 'content-type': type };
    t.equal((await answer(request(LIST, { headers, body: { time: TIME } }))).status, 200, type);
  }
});

t.test('what goes wrong has its status and tells no more than it should', async (t) => {
  const failures: [unknown, number, RegExp][] = [
    [new EngineError('USAGE', 'check of the id'), 400, /^afterEvent "abc" is malformed/],
    [new EngineError('LIMIT', 'more than 10 levels'), 400, /^more than 10 levels$/],
    [new EngineError('CANCELLED', 'secret'), 503, /cancelled/],
    [new EngineError('CLOSED', 'secret'), 503, /stopping/],
    [new EngineError('IO', '/data/secret'), 500, /^internal error$/],
    [new EngineError('CORRUPTION', '/data/secret'), 500, /^internal error$/],
    [new TypeError('secret'), 500, /^internal error$/],
    ['secret', 500, /^internal error$/],
    [new ApiError(429, 'slower', { 'retry-after': '5' }), 429, /^slower$/],
  ];
  const body = { time: TIME, afterEvent: 'abc' };
  for (const [error, status, message] of failures) {
    const { answer, logged } = service({
      run: async () => {
        throw error;
      },
    });
    const reply = await answer(request(LIST, { body }));
    t.equal(reply.status, status, String(error));
    t.match(messageOf(reply), message);
    t.notMatch(reply.body, /secret/);
    t.same(logged, status === 500 ? [error] : []);
    if (status === 429) t.equal(reply.headers?.['retry-after'], '5');
  }
});

t.test('a USAGE error that no id can have caused is an internal one', async (t) => {
  const { answer, logged } = service({
    run: async () => {
      throw new EngineError('USAGE', 'x');
    },
  });
  t.equal((await answer(request(LIST, { body: { time: TIME } }))).status, 500);
  t.equal(logged.length, 1);
});

t.test('the query is cancelled when the client goes away', async (t) => {
  const controller = new AbortController();
  let seen: AbortSignal | undefined;
  const { answer } = service({
    run: async (_job, signal) => {
      seen = signal;
      return piecesOf('{}');
    },
  });
  const sent = request(LIST, { body: { time: TIME } });
  await answer({ ...sent, signal: controller.signal });
  t.equal(seen, controller.signal);
});

t.test('health needs no key, and administration answers for itself', async (t) => {
  const { answer } = service();
  const health = await answer(request('/healthz', { ...NEVER, method: 'GET' }));
  t.match(health, { status: 200, body: '{"ok":true}' });
  const admin = await answer(request('/admin/api/read_keys', { ...NEVER, method: 'DELETE' }));
  t.match(admin, { status: 200, body: '"admin"' });
  t.notOk(admin.headers?.['access-control-allow-origin'], 'no other origin administers');
  const failing = service({
    admin: async () => {
      throw new Error('secret');
    },
  });
  t.equal((await failing.answer(request('/admin/api/x'))).status, 500);
  t.equal(failing.logged.length, 1);
});

t.test('every reply of the output API may be read by any origin', async (t) => {
  const { answer } = service();
  const sent: [string, Sent][] = [
    [LIST, { body: { time: TIME } }],
    [LIST, NEVER],
    ['/nowhere', {}],
    [LIST, { method: 'DELETE' }],
  ];
  for (const [path, how] of sent) {
    const reply = await answer(request(path, how));
    t.equal(reply.headers?.['access-control-allow-origin'], '*', `${path} ${reply.status}`);
  }
});

t.test('a preflight needs no key and is told that its headers are allowed', async (t) => {
  const { answer } = service();
  const headers = {
    'x-api-key': '',
    origin: 'http://a.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'Content-Type, x-api-key,bad name,\u0000,x-logmatic-add-ip',
  };
  const reply = await answer(request(LIST, { method: 'OPTIONS', headers }));
  t.equal(reply.status, 204);
  t.match(reply.headers, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': 'Content-Type, x-api-key, x-logmatic-add-ip',
  });
  const plain = await answer(request('/nowhere', { method: 'OPTIONS' }));
  t.equal(plain.headers?.['access-control-allow-headers'], 'content-type, x-api-key');
});
