import { connect, type Socket } from 'node:net';
import t from 'tap';
import type { ReplySink } from '../../server/api/reply.ts';
import { BodyRoom } from '../../server/listen/body.ts';
import { type HttpListener, listenHttp } from '../../server/listen/http.ts';
import { UsageCells } from '../../server/registry/usage.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const PART = 'x'.repeat(65_536);
const PARTS = 400;

/** A listener whose every route answers by `stream`. */
function open(stream: (sink: ReplySink) => Promise<void>): Promise<HttpListener> {
  return listenHttp({
    setting: 'http',
    host: '127.0.0.1',
    port: 0,
    room: new BodyRoom(new FakeIntake(1)),
    cells: new UsageCells(),
    lookup: () => undefined,
    limits: { bodyBytesMax: 1_000, trustedProxies: new Set() },
    nowMs: () => 0,
    routes: () => Promise.resolve({ status: 200, body: '', contentType: 'text/plain', stream }),
  });
}

/** A connection that has asked and reads nothing. */
function ask(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('GET /all HTTP/1.1\r\nHost: here\r\n\r\n');
      resolve(socket.pause());
    });
  });
}

t.test('a reply in parts comes whole and in order', async (t) => {
  const listener = await open(async (sink) => {
    for (let part = 0; part < PARTS; part++) await sink.write(`${part},`);
  });
  const response = await fetch(`http://127.0.0.1:${listener.port}/all`);
  t.equal(response.headers.get('content-type'), 'text/plain');
  t.equal(await response.text(), Array.from({ length: PARTS }, (_, part) => `${part},`).join(''));
  await listener.close(0);
});

t.test('a client that does not read holds the writer back, and then gets all', async (t) => {
  let written = 0;
  const over = Promise.withResolvers<void>();
  const listener = await open(async (sink) => {
    for (; written < PARTS; written++) await sink.write(PART);
    over.resolve();
  });
  const socket = await ask(listener.port);
  let seen = -1;
  while (seen !== written || written === 0) {
    seen = written;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.ok(written < PARTS, `${written} of ${PARTS} parts were written before anything was read`);
  let bytes = 0;
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (chunk.toString('latin1').endsWith('\r\n0\r\n\r\n')) resolve();
    });
  });
  socket.resume();
  await Promise.all([over.promise, whole]);
  t.ok(bytes > PARTS * PART.length, `${bytes} bytes came`);
  socket.destroy();
  await listener.close(0);
});

t.test('a writer hears that its client is gone', async (t) => {
  const failed = Promise.withResolvers<unknown>();
  const listener = await open(async (sink) => {
    try {
      for (;;) await sink.write(PART);
    } catch (error) {
      failed.resolve(error);
      throw error;
    }
  });
  (await ask(listener.port)).destroy();
  t.match(await failed.promise, { code: 'CANCELLED' });
  await listener.close(0);
});

t.test('a reply that fails midway is cut and not ended', async (t) => {
  const listener = await open(async (sink) => {
    await sink.write('begun');
    throw new Error('no more');
  });
  await t.rejects(
    fetch(`http://127.0.0.1:${listener.port}/all`).then((response) => response.text()),
  );
  await listener.close(0);
});

t.test('a chunked request is not answered in parts', async (t) => {
  const listener = await open(async (sink) => {
    await sink.write('x');
  });
  const reply = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(listener.port, '127.0.0.1', () => {
      socket.write(
        'POST /all HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      );
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
  });
  t.match(reply, /^HTTP\/1.1 411 /);
  await listener.close(0);
});
