import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { adminToken } from '../support/admin.ts';
import { Neighbour } from '../support/neighbour.ts';
import { listAll, request, testService } from '../support/service.ts';

const MEGABYTE = 2 ** 20;
const QUIET_MS = 300;

const service = await testService(t, ['--body-mb-max', '1']);
const { writeKey, readKey } = service;
const token = adminToken(service);
const neighbour = new Neighbour(service);
await neighbour.alone();
/** The answer on a connection, and how it ended. */
interface Talk {
  reply: string;
  end: 'end' | 'open' | string;
}

/** Dials, has `talk` write, and gives what comes back until the service ends it, or `isEnough`. */
function talk(
  write: (socket: Socket) => Promise<void>,
  isEnough: (reply: string) => boolean = () => false,
): Promise<Talk> {
  return new Promise((resolve) => {
    let reply = '';
    const over = (end: string): void => {
      resolve({ reply, end });
      socket.destroy();
    };
    const socket = connect(Number(new URL(service.http).port), '127.0.0.1', () => {
      write(socket).catch((error) => over(String(error)));
    });
    socket.on('data', (chunk) => {
      reply += chunk;
      if (isEnough(reply)) over('open');
    });
    socket.on('end', () => over('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => over(error.code ?? error.message));
    socket.on('close', () => over('close'));
  });
}

/** Writes so many megabytes, as quickly as they are taken. */
async function pour(socket: Socket, megabytes: number, isChunked: boolean): Promise<void> {
  const piece = 'x'.repeat(MEGABYTE);
  const text = isChunked ? `${MEGABYTE.toString(16)}\r\n${piece}\r\n` : piece;
  for (let at = 0; at < megabytes; at++) {
    if (!socket.write(text)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  if (isChunked) socket.write('0\r\n\r\n');
}

const CHUNKED = 'transfer-encoding: chunked';
const cases: [what: string, path: string, length: string, megabytes: number, status: number][] = [
  ['a chunked body with an unknown key', '/v1/input/nobody', CHUNKED, 8, 401],
  ['a chunked body that is too large', `/v1/input/${writeKey}`, CHUNKED, 8, 413],
  ['a body with an unknown key', '/v1/input/nobody', `content-length: ${8 * MEGABYTE}`, 8, 401],
  [
    'a body too large by its head',
    `/v1/input/${writeKey}`,
    `content-length: ${99 * MEGABYTE}`,
    8,
    413,
  ],
  ['a long question', '/beta/events/list', `content-length: ${8 * MEGABYTE}`, 8, 413],
  ['a long chunked question', '/beta/events/list', CHUNKED, 8, 413],
  ['a path that takes no body', '/nowhere', CHUNKED, 1, 404],
];
for (const [what, path, length, megabytes, status] of cases) {
  t.test(`4.4 ${what} is refused by an answer that arrives`, async (t) => {
    const { reply, end } = await talk(
      async (socket) => {
        socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\n${length}\r\n\r\n`);
        await pour(socket, megabytes, length === CHUNKED);
      },
      (text) => length !== CHUNKED && text.endsWith('}'),
    );
    t.match(reply, new RegExp(`^HTTP/1\\.1 ${status} .*\\{"error":\\{.*\\}$`, 's'));
    t.equal(end, length === CHUNKED ? 'end' : 'open');
  });
}

t.test('4.4 a sender that pauses behind a refused head gets its answer', async (t) => {
  const head = 'POST /v1/input/nobody HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
  const { reply, end } = await talk(async (socket) => void socket.write(`${head}5\r\nhello\r\n`));
  t.match(reply, /^HTTP\/1\.1 401 /);
  t.equal(end, 'end');
});

/** The numbers of stored events with an attribute. */
async function stored(name: string): Promise<unknown[]> {
  const events = await listAll(service, { filters: [{ search: `${name}:*` }] });
  return events.map(({ event }) => event.custom[name]).toSorted();
}

t.test('4.4 a chunked body with trailers is stored when it is answered by 200 alone', async (t) => {
  const head = `POST /v1/input/${writeKey} HTTP/1.1\r\nhost: a\r\n${CHUNKED}\r\n`;
  const answered: number[] = [];
  for (const [at, trailer] of ['', 'x-sum: 1\r\n', 'a: b\r\nc: d\r\n'].entries()) {
    const body = `{"trailing":${at}}`;
    const text = `${head}\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n`;
    const { reply } = await talk(async (socket) => void socket.write(text));
    if (reply.startsWith('HTTP/1.1 200')) answered.push(at);
  }
  await pause(QUIET_MS);
  t.same(await stored('trailing'), answered);
  t.ok(answered.includes(0));
});

t.test(
  '4.4 of requests that do not wait for answers none is stored that is not answered',
  async (t) => {
    const post = (n: number): string => {
      const body = `{"hasty":${n}}`;
      return `POST /v1/input/${writeKey} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    let answered = 0;
    for (let at = 0; at < 50; at++) {
      const { reply } = await talk(async (socket) => {
        socket.write(post(2 * at) + post(2 * at + 1));
        socket.end();
      });
      answered += reply.split('HTTP/1.1 200').length - 1;
    }
    await pause(QUIET_MS);
    t.equal((await stored('hasty')).length, answered);
  },
);

t.test('5 no key is told back or logged, wherever it was sent', async (t) => {
  const sent = { method: 'POST', headers: { 'x-api-key': readKey }, body: '{}' };
  const json = { ...sent, headers: { ...sent.headers, 'content-type': 'application/json' } };
  const time = { from: 'now-1h', to: 'now' };
  for (const key of [writeKey, readKey, token]) {
    const answers = [
      request(`${service.http}/v1/inputs/${key}`, sent),
      request(`${service.http}/v1/input${key}`, sent),
      request(`${service.http}/${'a'.repeat(50)}/${key}`, sent),
      request(`${service.http}/beta/events/list?${key}=1`, json),
      request(`${service.http}/beta/events/list`, {
        ...json,
        headers: { ...json.headers, 'content-type': key },
      }),
      request(`${service.http}/beta/queries/${key}`, { headers: sent.headers }),
      request(`${service.http}/beta/saved_analyses/${key}/execute`, sent),
      ...[
        { time: key },
        { [key]: 1 },
        { time: { ...time, timezone: key } },
        { time, filters: [{ search: `${key}(` }] },
      ].map((body) =>
        request(`${service.http}/beta/events/list`, { ...json, body: JSON.stringify(body) }),
      ),
      request(`${service.http}/admin/api/${key}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
      request(`${service.http}/admin/api/fields/${key}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
      request(`${service.http}/v1/input/${writeKey}`, {
        method: 'POST',
        body: 'x',
        headers: { 'content-encoding': key },
      }),
    ];
    for (const { status, text } of await Promise.all(answers)) {
      t.ok(status >= 400, text);
      t.notOk(text.includes(key.slice(1, -1)), text);
    }
  }
  const log = service.output().slice(service.output().indexOf('\nready\n'));
  for (const key of [writeKey, readKey, token]) t.notOk(log.includes(key));
});

t.test('4.4 whoever sends beside all of these is answered, and each event is stored', (t) =>
  neighbour.check(t),
);
