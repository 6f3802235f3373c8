import { connect } from 'node:net';
import t from 'tap';
import { listAll, testService } from '../support/service.ts';

/** Requests whose end two readers may see at different places: written by hand, byte for byte. */

const service = await testService(t);
const { writeKey } = service;
const port = Number(new URL(service.http).port);

/** Sends bytes; all that comes back until the service closes or, when it keeps the connection, has answered. */
function talk(text: string, answers = 1): Promise<{ reply: string; closed: boolean }> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.on('data', (chunk) => {
      reply += chunk.toString('latin1');
      const count = reply.split('HTTP/1.1 ').length - 1;
      if (count < answers || /connection: close/i.test(reply)) return;
      resolve({ reply, closed: false });
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ reply, closed: true }));
  });
}

/** Event that would be stored, if the bytes behind a request were taken for another one. */
const SMUGGLED = `POST /v1/input/${writeKey} HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nsmuggled`;
const HEAD = `POST /v1/input/${writeKey} HTTP/1.1\r\nHost: a\r\n`;
const CHUNKS = '5\r\nfirst\r\n0\r\n\r\n';

t.test('requests whose length is not clear are 400, and nothing behind them is read', async (t) => {
  const table: [string, string][] = [
    ['the same length twice', 'Content-Length: 5\r\nContent-Length: 5\r\n\r\nfirst'],
    ['two lengths', `Content-Length: 5\r\nContent-Length: ${SMUGGLED.length + 5}\r\n\r\nfirst`],
    ['a list of lengths', 'Content-Length: 5, 5\r\n\r\nfirst'],
    ['an empty length', 'Content-Length: \r\n\r\n'],
    ['a signed length', 'Content-Length: +5\r\n\r\nfirst'],
    ['a negative length', 'Content-Length: -5\r\n\r\nfirst'],
    ['a hexadecimal length', 'Content-Length: 0x5\r\n\r\nfirst'],
    ['a length beyond 64 bits', 'Content-Length: 18446744073709551621\r\n\r\nfirst'],
    ['length and chunks', `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
    ['chunks and length', `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
    ['two encodings', `Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`],
    ['identity', `Transfer-Encoding: identity\r\n\r\n${CHUNKS}`],
    ['an unknown encoding', `Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`],
    ['a blank before the colon', `Transfer-Encoding : chunked\r\n\r\n${CHUNKS}`],
    ['a vertical tab', `Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`],
    ['a folded line', `Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`],
    ['a line feed alone', 'X: a\nContent-Length: 5\r\n\r\nfirst'],
    ['a zero byte', 'X: a\0b\r\nContent-Length: 5\r\n\r\nfirst'],
    ['a second host', 'Host: b\r\nContent-Length: 5\r\n\r\nfirst'],
    ['a size that is no number', 'Transfer-Encoding: chunked\r\n\r\nzz\r\nfirst\r\n0\r\n\r\n'],
    ['a negative size', 'Transfer-Encoding: chunked\r\n\r\n-5\r\nfirst\r\n0\r\n\r\n'],
    ['a size with 0x', 'Transfer-Encoding: chunked\r\n\r\n0x5\r\nfirst\r\n0\r\n\r\n'],
    [
      'a size beyond 64 bits',
      'Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff5\r\nfirst\r\n0\r\n\r\n',
    ],
  ];
  for (const [name, rest] of table) {
    const { reply, closed } = await talk(HEAD + rest + SMUGGLED, 2);
    t.match(reply, /^HTTP\/1\.1 400 /, name);
    t.ok(closed, `${name}: closed`);
    t.notMatch(reply, /200 OK/, name);
  }
  t.same(await listAll(service), [], 'nothing of all that was stored');
});

t.test('a chunked body ends its connection, so that nothing can hide behind it', async (t) => {
  const chunked = `${HEAD}Transfer-Encoding: Chunked\r\n\r\n${CHUNKS}`;
  const { reply, closed } = await talk(chunked, 2);
  t.match(reply, /^HTTP\/1\.1 200 [\s\S]*connection: close/i);
  t.ok(closed);
  t.ok((await talk(chunked + SMUGGLED, 3)).closed);
  const stored = (await listAll(service)).map(({ event }) => event.message);
  t.same(new Set(stored), new Set(['first']));
});

t.test(
  'a second request that comes before the answer to the first ends the connection',
  async (t) => {
    const one = `${HEAD}Content-Length: 4\r\n\r\npipe`;
    t.ok((await talk(one + one, 3)).closed);
  },
);

t.test('what is no HTTP is answered in a line and closed', async (t) => {
  for (const text of ['\x16\x03\x01\x02\x00\x01\x00', 'GET / HTTP/1.0\r\n\r\n', 'x\r\n\r\n']) {
    const { closed } = await talk(text);
    t.ok(closed, JSON.stringify(text));
  }
  const large = await talk(`${HEAD}X: ${'y'.repeat(20_000)}\r\n\r\n`);
  t.match(large.reply, /^HTTP\/1\.1 431 /);
});
