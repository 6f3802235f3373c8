import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import t from 'tap';
import { type Answer, listAll, request, testService } from '../support/service.ts';

const service = await testService(t);
const MEBIBYTE = 2 ** 20;

function post(body: Uint8Array, encoding: string, key = service.writeKey): Promise<Answer> {
  return request(`${service.http}/v1/input/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    body: body as BodyInit,
  });
}

t.test('4.4 compressed bodies are inflated', async (t) => {
  const encoders: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', (bytes) => bytes],
  ];
  for (const [n, [encoding, encode]] of encoders.entries()) {
    const events = Array.from({ length: 100 }, (_, at) => ({ n, at, message: `event ${at}` }));
    const answer = await post(encode(Buffer.from(JSON.stringify(events))), encoding);
    t.equal(answer.status, 200, encoding);
    t.same(answer.body, { ok: true });
    const found = await listAll(service, { filters: [{ search: { query: `n:${n}` } }] });
    t.equal(found.length, 100, encoding);
    t.same(found[0]?.event, { custom: { n, at: 99 }, message: 'event 99' });
  }
});

t.test(
  '4.4 what is broken, too large or not understood is refused and stores nothing',
  async (t) => {
    const events = Buffer.from('[{"refused":1}]');
    const bomb = gzipSync(new Uint8Array(65 * MEBIBYTE), { level: 1 });
    const table: [string, Uint8Array, string, number, RegExp][] = [
      ['cut off', gzipSync(events).subarray(0, -9), 'gzip', 400, /not valid gzip/],
      ['a tail', Buffer.concat([brotliCompressSync(events), events]), 'br', 400, /behind its end/],
      ['not compressed', events, 'zstd', 400, /not valid zstd/],
      ['a bomb', bomb, 'gzip', 413, /inflated body is too large; allowed: 67108864 bytes/],
      ['unknown', events, 'compress', 415, /compress.*gzip, deflate, br, zstd/],
      ['several', gzipSync(gzipSync(events)), 'gzip, gzip', 415, /gzip, gzip.* is not allowed/],
      [
        'malformed JSON in it',
        gzipSync(events.subarray(0, -1)),
        'gzip',
        400,
        /malformed|no , or \]/,
      ],
    ];
    for (const [title, body, encoding, status, message] of table) {
      const answer = await post(body, encoding);
      t.equal(answer.status, status, title);
      t.match(answer.text, message, title);
    }
    const stranger = await post(bomb, 'gzip', 'nobody');
    t.equal(stranger.status, 401, 'nothing is inflated for strangers');
    t.same(await listAll(service, { filters: [{ search: { query: 'refused:1' } }] }), []);
  },
);

/** Bytes that the write key has used today. */
async function usedBytes(): Promise<number> {
  const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
  const answer = await request(`${service.http}/admin/api/write_keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return Number(/"daily_usage":(\d+)/.exec(answer.text)?.[1]);
}

t.test('4.4 the quota counts what comes out', async (t) => {
  const body = Buffer.from(JSON.stringify([{ padding: 'x'.repeat(300_000) }]));
  const before = await usedBytes();
  t.equal((await post(zstdCompressSync(body), 'zstd')).status, 200);
  t.equal((await usedBytes()) - before, body.length);
  t.equal((await post(zstdCompressSync(body.subarray(1)), 'zstd')).status, 400);
  t.equal((await usedBytes()) - before, body.length, 'nothing for what was refused');
});

t.test('4.4 texts are decoded from their charset', async (t) => {
  const send = (body: Uint8Array, type: string, encoding = 'identity'): Promise<Answer> =>
    request(`${service.http}/v1/input/${service.writeKey}`, {
      method: 'POST',
      headers: { 'content-type': type, 'content-encoding': encoding },
      body: body as BodyInit,
    });
  const latin = Buffer.from('caf\xe9 \x80 {"a":1}\n', 'latin1');
  const little = Buffer.from('caf\u00e9 \u20ac {"a":1}\r\n', 'utf16le');
  const big = Buffer.from(little).swap16();
  const bodies: [Uint8Array, string, string?][] = [
    [latin, 'text/plain; charset=ISO-8859-1'],
    [latin, 'text/plain;charset="windows-1252"'],
    [gzipSync(latin), 'text/plain; charset=latin1', 'gzip'],
    [little, 'text/plain; charset=utf-16le'],
    [little, 'text/plain; charset=UTF-16'],
    [big, 'text/plain; charset=utf-16be'],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), little]), 'text/plain; charset=utf-16'],
    [Buffer.concat([Buffer.from([0xfe, 0xff]), big]), 'text/plain; charset=utf-16'],
    [Buffer.from('caf\u00e9 \u20ac {"a":1}'), 'text/plain; charset=utf8'],
  ];
  const filters = [{ search: { query: '"caf\u00e9 a 1"' } }];
  for (const [count, [body, type, encoding]] of bodies.entries()) {
    t.equal((await send(body, type, encoding)).status, 200, type);
    const found = await listAll(service, { filters });
    t.equal(found.length, count + 1, type);
    t.equal(found[0]?.event.message, 'caf\u00e9 \u20ac {"a":1}', type);
  }
  const large = Buffer.alloc(MEBIBYTE, 'caf\xe9 1234567890\n', 'latin1');
  t.equal((await send(large, 'text/plain; charset=latin1')).status, 200, 'one of many pieces');
  const doubled = await send(Buffer.alloc(40 * MEBIBYTE, 0xe9), 'text/plain; charset=latin1');
  t.equal(doubled.status, 413);
  t.match(doubled.text, /decoded body is too large; allowed: 67108864 bytes/);
  const unknown = await send(latin, 'text/plain; charset=koi8-r');
  t.equal(unknown.status, 415);
  t.match(
    unknown.text,
    /koi8-r.* is not allowed; allowed: one of utf-8, .*iso-8859-1, windows-1252, utf-16/,
  );
});
