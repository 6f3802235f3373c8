import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import t from 'tap';
import type { ApiRequest } from '../../server/api/reply.ts';
import { BodyRoom } from '../../server/listen/body.ts';
import { type HttpListener, listenHttp } from '../../server/listen/http.ts';
import { UsageCells } from '../../server/registry/usage.ts';
import { FakeIntake } from '../support/fake-intake.ts';

/** More than a socket takes at once. */
const PIECES = Array.from({ length: 400 }, (_, at) => randomBytes(at === 200 ? 1 : 65_536 - at));
const BODY = Buffer.concat(PIECES);

interface Service {
  listener: HttpListener;
  requests: ApiRequest[];
  /** Paths of the requests whose replies are over. */
  overs: string[];
  url: string;
}

/** A service whose replies come in pieces: of `/small` a few bytes. */
async function open(): Promise<Service> {
  const requests: ApiRequest[] = [];
  const overs: string[] = [];
  const listener = await listenHttp({
    setting: 'http',
    host: '127.0.0.1',
    port: 0,
    room: new BodyRoom(new FakeIntake(4)),
    cells: new UsageCells(),
    lookup: () => undefined,
    limits: { bodyBytesMax: 1_000, trustedProxies: new Set() },
    nowMs: () => 0,
    routes: async (request) => {
      requests.push(request);
      const small = [Buffer.from('{"result":'), Buffer.from('[1]'), Buffer.from('}')];
      const pieces = request.path === '/small' ? small : PIECES;
      return { status: 200, body: '', pieces, over: () => overs.push(request.path) };
    },
  });
  return { listener, requests, overs, url: `http://127.0.0.1:${listener.port}` };
}

t.test('a reply in pieces is one body of known length, however large', async (t) => {
  const { listener, url } = await open();
  const small = await fetch(`${url}/small`);
  t.equal(small.headers.get('content-length'), '14');
  t.equal(small.headers.get('content-type'), 'application/json');
  t.equal(await small.text(), '{"result":[1]}');
  const large = await fetch(`${url}/large`, { method: 'POST', body: '{}' });
  t.equal(large.headers.get('content-length'), String(BODY.length));
  t.ok(BODY.equals(Buffer.from(await large.arrayBuffer())));
  const head = await fetch(`${url}/large`, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), String(BODY.length));
  t.equal(await head.text(), '');
  await listener.close(1_000);
});

t.test(
  'a client that reads slowly gets the whole, and the next reply on its connection',
  async (t) => {
    const { listener } = await open();
    const socket = connect(listener.port, '127.0.0.1');
    socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n');
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isNext = false;
    for await (const chunk of socket) {
      chunks.push(chunk);
      bytes += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
      if (!isNext && bytes > BODY.length) {
        isNext = true;
        socket.write('GET /small HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      }
      if (Buffer.concat(chunks.slice(-2)).toString('latin1').endsWith('{"result":[1]}')) break;
    }
    const all = Buffer.concat(chunks);
    const from = all.indexOf('\r\n\r\n') + 4;
    t.ok(BODY.equals(all.subarray(from, from + BODY.length)));
    t.match(all.subarray(from + BODY.length).toString('latin1'), /^HTTP\/1\.1 200 OK\r\n/);
    await listener.close(1_000);
  },
);

t.test(
  'a chunked request ends its connection, and gets no reply that would wait for it',
  async (t) => {
    const { listener } = await open();
    const told = async (path: string): Promise<string> => {
      const socket = connect(listener.port, '127.0.0.1');
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      );
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk);
      return Buffer.concat(chunks).toString('latin1');
    };
    t.match(await told('/small'), /^HTTP\/1\.1 200 .*\r\n\r\n\{"result":\[1\]\}$/s);
    t.match(await told('/large'), /^HTTP\/1\.1 411 .*a chunked request .*Content-Length/s);
    await listener.close(1_000);
  },
);

t.test('a reply is over when it was taken, refused or left', async (t) => {
  const { listener, overs, url } = await open();
  await (await fetch(`${url}/small`)).text();
  await (await fetch(`${url}/large`)).arrayBuffer();
  t.same(overs, ['/small', '/large']);
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('GET /left HTTP/1.1\r\nhost: a\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  t.equal(overs.length, 2, 'not before');
  socket.destroy();
  while (overs.length < 3) await new Promise((resolve) => setImmediate(resolve));
  t.equal(overs[2], '/left');
  await listener.close(1_000);
});

t.test('a client that leaves in the middle is told of, and keeps nothing open', async (t) => {
  const { listener, requests } = await open();
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('GET /large HTTP/1.1\r\nhost: a\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  const [{ signal }] = requests;
  t.notOk(signal.aborted);
  const gone = new Promise((resolve) => signal.addEventListener('abort', resolve));
  socket.destroy();
  await gone;
  // It would wait for what is not answered.
  await listener.close(600_000);
});
