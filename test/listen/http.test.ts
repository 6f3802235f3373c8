import { connect } from 'node:net';
import t from 'tap';
import type { ApiRequest } from '../../server/api/reply.ts';
import { BodyRoom } from '../../server/listen/body.ts';
import { type HttpListener, listenHttp } from '../../server/listen/http.ts';
import { UsageCells } from '../../server/registry/usage.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const KEY = 'a-key';
const OFF = 'a-key-that-is-off';
const SPENT = 'a-key-that-is-spent';
const BODY_BYTES_MAX = 300_000;
/** 12:00 UTC. */
const NOON_MS = 1_800_014_400_000;

interface Service {
  intake: FakeIntake;
  listener: HttpListener;
  requests: ApiRequest[];
  url: (path: string) => string;
}

async function open(pages = 64): Promise<Service> {
  const intake = new FakeIntake(pages);
  const cells = new UsageCells();
  for (const cell of [0, 1, 2]) cells.begin(cell);
  cells.enable(1, false);
  cells.limit(2, 0);
  const requests: ApiRequest[] = [];
  const listener = await listenHttp({
    setting: 'http',
    host: '127.0.0.1',
    port: 0,
    room: new BodyRoom(intake),
    cells,
    lookup: (text) => {
      const cell = [KEY, OFF, SPENT].indexOf(text);
      return cell < 0 ? undefined : { id: `id${cell}`, cell };
    },
    limits: { bodyBytesMax: BODY_BYTES_MAX, trustedProxies: new Set(['127.0.0.1']) },
    nowMs: () => NOON_MS,
    routes: (request) => {
      requests.push(request);
      if (request.path !== '/hang') return Promise.resolve({ status: 200, body: '{"a":1}' });
      return new Promise(() => {});
    },
  });
  return { intake, listener, requests, url: (path) => `http://127.0.0.1:${listener.port}${path}` };
}

/** Sends bytes as they are; gives all that came back until the service closed or `enough` holds. */
function talk(
  port: number,
  texts: readonly string[],
  enough: (reply: string) => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const text of texts) socket.write(text);
    });
    socket.on('data', (chunk) => {
      reply += chunk;
      if (enough(reply)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(reply));
  });
}

t.test('a body is acknowledged when the worker says so', async (t) => {
  const { intake, listener, url } = await open();
  const answer = fetch(url(`/v1/input/${KEY}/?&hostname=h`), {
    method: 'POST',
    body: '{"a":1}',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-add-ip': 'net.ip',
      'x-forwarded-for': '203.0.113.9',
    },
  });
  await intake.until(() => intake.tasks.length === 1);
  const [task] = intake.tasks;
  t.match(task, {
    type: 'body',
    form: 'json',
    bytes: 7,
    receivedMs: NOON_MS,
    key: { id: 'id0', cell: 0 },
  });
  t.same(task?.type === 'body' && task.enrichment?.attributes, [
    { names: ['hostname'], value: 'h', replaces: false },
    { names: ['net', 'ip'], value: '203.0.113.9', replaces: true },
  ]);
  t.same(intake.texts, ['{"a":1}']);
  intake.settle();
  const reply = await answer;
  t.equal(reply.status, 200);
  t.equal(await reply.text(), '{"ok":true}');
  t.equal(reply.headers.get('access-control-allow-origin'), '*');
  await listener.close(0);
});

t.test('refusals have their status, form and words', async (t) => {
  const { intake, listener, url } = await open();
  const large = 'x'.repeat(BODY_BYTES_MAX + 1);
  const cases: [string, RequestInit, number, RegExp, string | null][] = [
    ['/v1/input/nope', {}, 401, /could not be authenticated/, null],
    ['/v1/input', {}, 401, /could not be authenticated/, null],
    [`/v1/input/${OFF}`, {}, 401, /could not be authenticated/, null],
    [`/v1/input/${SPENT}`, {}, 429, /could not be authenticated/, '43200'],
    [
      `/v1/input/${KEY}`,
      { headers: { 'content-encoding': 'gzip, br' } },
      415,
      /"gzip, br".*one of gzip, deflate, br, zstd, identity/,
      null,
    ],
    [`/v1/input/${KEY}`, { body: large }, 413, /300000 bytes/, null],
    [`/v1/input/${KEY}`, { method: 'PUT' }, 405, /PUT.*POST, OPTIONS/, null],
  ];
  for (const [path, init, status, message, retry] of cases) {
    const reply = await fetch(url(path), { method: 'POST', body: 'x', ...init });
    const body = await reply.json();
    const label = `${path} ${JSON.stringify(init).slice(0, 50)}`;
    t.equal(reply.status, status, label);
    t.match(body, { ok: false, error: { status, message } }, label);
    t.equal(reply.headers.get('retry-after'), retry, label);
    t.equal(reply.headers.get('access-control-allow-origin'), '*', label);
  }
  t.equal(intake.tasks.length, 0);
  t.equal(intake.thread.slots.freeBytes, intake.thread.slots.totalBytes);
  await listener.close(0);
});

t.test('what a worker refuses is refused', async (t) => {
  const { intake, listener, url } = await open();
  for (const [status, message, retry] of [
    [400, 'malformed JSON at byte 3', null],
    [503, 'could not be stored, try again', '1'],
  ] as const) {
    const answer = fetch(url(`/v1/input/${KEY}`), { method: 'POST', body: 'x' });
    await intake.until(() => intake.tasks.length === 1);
    intake.settle(status, message);
    const reply = await answer;
    t.equal(reply.status, status);
    t.same(await reply.json(), { error: { status, message }, ok: false });
    t.equal(reply.headers.get('retry-after'), retry);
  }
  await listener.close(0);
});

t.test('a body without room is refused for load', async (t) => {
  const { intake, listener, url } = await open(2);
  const slot = intake.thread.slots.reserve(100_000);
  const reply = await fetch(url(`/v1/input/${KEY}`), { method: 'POST', body: 'x' });
  t.equal(reply.status, 429);
  t.equal(reply.headers.get('retry-after'), '1');
  if (slot !== undefined) intake.thread.slots.release(slot);
  await listener.close(0);
});

t.test('a chunked body grows into a larger slot, up to the limit', async (t) => {
  const { intake, listener } = await open();
  const head = `POST /v1/input/${KEY} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunk = (size: number): string => `${size.toString(16)}\r\n${'y'.repeat(size)}\r\n`;
  const answer = talk(
    listener.port,
    [head, chunk(50_000), chunk(50_000), chunk(100_000), '0\r\n\r\n'],
    (reply) => reply.includes('}'),
  );
  await intake.until(() => intake.tasks.length === 1);
  t.equal(intake.texts[0], 'y'.repeat(200_000));
  intake.settle();
  t.match(await answer, /^HTTP\/1.1 200 OK/);
  const refused = await talk(listener.port, [head, chunk(200_000), chunk(200_000)], () => false);
  t.match(refused, /^HTTP\/1.1 413 .*connection: close/is);
  t.equal(intake.thread.slots.freeBytes, intake.thread.slots.totalBytes);
  await listener.close(0);
});

t.test('a client that goes away leaves no slot behind', async (t) => {
  const { intake, listener } = await open();
  const { slots } = intake.thread;
  const socket = connect(listener.port, '127.0.0.1');
  socket.write(`POST /v1/input/${KEY} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf`);
  while (slots.freeBytes === slots.totalBytes)
    await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  while (slots.freeBytes < slots.totalBytes) await new Promise((resolve) => setImmediate(resolve));
  const second = connect(listener.port, '127.0.0.1');
  second.write(`POST /v1/input/${KEY} HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nfull`);
  await intake.until(() => intake.tasks.length === 1);
  second.destroy();
  await new Promise((resolve) => second.once('close', resolve));
  intake.settle();
  t.equal(slots.freeBytes, slots.totalBytes, 'what was handed over is stored all the same');
  await listener.close(1_000);
});

t.test('two lengths are refused and the connection is closed', async (t) => {
  const { listener } = await open();
  const reply = await talk(
    listener.port,
    [
      `POST /v1/input/${KEY} HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabc`,
    ],
    () => false,
  );
  t.match(reply, /^HTTP\/1.1 400 .*connection: close/is);
  await listener.close(0);
});

t.test('everything else goes to the routes', async (t) => {
  const { listener, requests, url } = await open();
  const reply = await fetch(url('/b%20c/?x=1&x=2&y=%C3%A9'), {
    method: 'POST',
    body: 'text',
    headers: { 'X-Api-Key': 'k' },
  });
  t.same(await reply.json(), { a: 1 });
  const [request] = requests;
  t.match(request, { method: 'POST', path: '/b c' });
  t.same(Object.fromEntries(request?.query ?? []), { x: '1', y: 'é' });
  t.equal(request?.headers.get('x-api-key'), 'k');
  t.equal(Buffer.from(request?.body ?? []).toString(), 'text');
  const head = await fetch(url('/'), { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), '7');
  t.equal((await fetch(url('/%ff'))).status, 400);
  const large = await talk(
    listener.port,
    ['POST /large HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000\r\n\r\n', 'z'.repeat(2_000_000)],
    (text) => text.includes('}}'),
  );
  t.match(large, /^HTTP\/1.1 413 /);
  t.equal((await fetch(url('/v1/input/x'), { method: 'OPTIONS' })).status, 204);
  await listener.close(0);
});

t.test('the signal of a request is aborted when its client goes away', async (t) => {
  const { listener, requests, url } = await open();
  const abort = new AbortController();
  const answer = fetch(url('/hang'), { signal: abort.signal }).catch(() => 'gone');
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [request] = requests;
  t.notOk(request?.signal.aborted);
  abort.abort();
  t.equal(await answer, 'gone');
  while (request?.signal.aborted === false) await new Promise((resolve) => setImmediate(resolve));
  t.ok(request?.signal.aborted);
  await listener.close(0);
});
