import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { metric, untilMetric } from './metrics.ts';
import { Neighbour } from './neighbour.ts';
import { removeFolder, type Service, send, startService, temporaryFolder } from './service.ts';

/** Those who begin what they do not end: requests that are cut, lines, handshakes, bytes that mean nothing. */

const PARALLEL = 16;
const RANDOM_BYTES_MAX = 3_000;
/** A service that does not close a connection by then whose client has ended its side is at fault. */
const CLOSE_MAX_MS = 60_000;
const EVERYWHERE = ['https', 'tls', 'udp', 'http-input', 'https-input'].flatMap((name) => [
  `--${name}`,
  '127.0.0.1:0',
]);

/** Tests that so many rude ones cost a neighbour nothing, and that nothing of them stays in a service. */
export async function testRude(t: Test, count: number): Promise<void> {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const workers = ['--ingest-workers', '2', '--query-workers', '2', '--metrics-open', 'true'];
  const service = await startService(folder, [...EVERYWHERE, ...workers]);
  t.teardown(() => service.kill());
  const seed = Number(process.env['RUDE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.comment(`RUDE_SEED=${seed}`);
  await send(service, JSON.stringify(Array.from({ length: 2_000 }, (_, before) => ({ before }))));
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  await beRude(service, count, randomOf(seed));
  await neighbour.check(t);
  // The one that asks is a connection itself.
  await untilMetric(service, 'logseam_connections_open', (open) => open === 1);
  for (const gauge of ['ingest_tasks_pending', 'queries_running', 'queries_waiting', 'tails_open'])
    await untilMetric(service, `logseam_${gauge}`, (left) => left === 0);
  const slotBytes = await metric(service, 'logseam_ingest_slot_bytes');
  await untilMetric(service, 'logseam_ingest_slot_bytes_free', (free) => free === slotBytes);
  t.equal(await metric(service, 'logseam_worker_restarts_total'), 0);
  t.notMatch(service.output(), /a bug showed|a request failed/);
  t.equal(await service.stop(), 0);
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends what is cut or means nothing on all channels of a service, `count` times; its end is waited for. */
async function beRude(service: Service, count: number, random: () => number): Promise<void> {
  const rude = new Rude(service, random);
  let left = count;
  const work = async (): Promise<void> => {
    while (left-- > 0) await rude.once();
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

class Rude {
  readonly #service: Service;
  readonly #random: () => number;
  readonly #requests: readonly Buffer[];
  readonly #lines: readonly Buffer[];

  constructor(service: Service, random: () => number) {
    this.#service = service;
    this.#random = random;
    this.#requests = requestsTo(service).map(Buffer.from);
    this.#lines = linesTo(service).map(Buffer.from);
  }

  /** One rudeness, on a channel by chance. */
  once(): Promise<void> {
    const { http, httpInput, https, httpsInput, tcpPort, tlsPort, udpPort } = this.#service;
    const urls = [http, httpInput, https, httpsInput];
    const [plain, input, secure, secureInput] = urls.map((url) => Number(new URL(url).port));
    return this.#one([
      () => this.#talk(plain, this.#one(this.#requests)),
      () => this.#talk(input, this.#one(this.#requests)),
      () => this.#talkSecurely(secure, this.#one(this.#requests)),
      () => this.#talkSecurely(secureInput, this.#one(this.#requests)),
      () => this.#talk(secure, this.#one(this.#requests)),
      () => this.#talk(tcpPort, this.#one(this.#lines)),
      () => this.#talkSecurely(tlsPort, this.#one(this.#lines)),
      () => this.#talk(tlsPort, this.#one(this.#lines)),
      () => this.#datagram(udpPort),
    ])();
  }

  #one<Choice>(choices: readonly Choice[]): Choice {
    return choices[Math.floor(this.#random() * choices.length)] as Choice;
  }

  /** Remains of bytes: a part, a part with random bytes behind, all with some changed, or random bytes alone. */
  #spoilt(bytes: Uint8Array): Uint8Array {
    const cut = bytes.subarray(0, Math.floor(this.#random() * (bytes.length + 1)));
    const noise = Uint8Array.from(
      { length: Math.floor(this.#random() * RANDOM_BYTES_MAX) },
      () => this.#random() * 256,
    );
    const changed = Uint8Array.from(bytes, (byte) => (this.#random() < 0.01 ? byte ^ 32 : byte));
    return this.#one([cut, cut, cut, Buffer.concat([cut, noise]), changed, noise]);
  }

  /** Writes what is left of `bytes` in one or two pieces; then resets, ends, or leaves at the first answer. */
  async #rude(socket: Socket, bytes: Uint8Array, reset: () => void): Promise<void> {
    socket.on('error', () => {});
    const spoilt = this.#spoilt(bytes);
    const at = Math.floor(this.#random() * (spoilt.length + 1));
    const ending = this.#one(['reset', 'end', 'leave', 'read']);
    const closed = new Promise<void>((resolve, reject) => {
      socket.on('close', () => resolve());
      socket.setTimeout(CLOSE_MAX_MS, () => {
        reject(new Error(`the service does not close: ${ending}, ${Buffer.from(spoilt)}`));
        reset();
      });
    });
    if (ending === 'leave') socket.once('data', reset);
    else socket.resume();
    socket.write(spoilt.subarray(0, at));
    await new Promise(setImmediate);
    if (ending === 'reset') socket.write(spoilt.subarray(at), reset);
    else socket.end(spoilt.subarray(at));
    await closed;
  }

  #talk(port: number, bytes: Uint8Array): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    return this.#rude(socket, bytes, () => socket.resetAndDestroy());
  }

  #talkSecurely(port: number, bytes: Uint8Array): Promise<void> {
    const below = connect(port, '127.0.0.1');
    below.on('error', () => {});
    const socket = connectTls({ socket: below, rejectUnauthorized: false });
    return this.#rude(socket, bytes, () => {
      below.resetAndDestroy();
      socket.destroy();
    });
  }

  async #datagram(port: number): Promise<void> {
    const socket = createSocket('udp4');
    const bytes = this.#spoilt(this.#one(this.#lines));
    await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve));
    socket.close();
  }
}

function requestsTo({ writeKey, readKey }: Service): (string | Uint8Array)[] {
  const time = { from: 'now-1d', to: 'now' };
  const input = `POST /v1/input/${writeKey} HTTP/1.1\r\nhost: x\r\n`;
  const events = JSON.stringify(Array.from({ length: 200 }, (_, rude) => ({ rude })));
  const packed = gzipSync(events);
  const asked = (path: string, query: object): string => {
    const body = JSON.stringify({ time, ...query });
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${readKey}\r\n`;
    return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  };
  const got = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${readKey}\r\n\r\n`;
  const count = { metric: { id: 'count' } };
  return [
    `${input}content-length: ${events.length}\r\n\r\n${events}`,
    `${input}content-length: ${events.length}\r\n\r\n${events}`.repeat(3),
    Buffer.concat([
      Buffer.from(`${input}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`),
      packed,
    ]),
    `${input}transfer-encoding: chunked\r\n\r\n${events.length.toString(16)}\r\n${events}\r\n0\r\n\r\n`,
    `${input}content-type: application/logplex-1\r\ncontent-length: 22\r\n\r\n4 one\n12 two and more\n`,
    `${input}expect: 100-continue\r\ncontent-length: 1000000\r\n\r\n${events}`,
    asked('/beta/events/list', { event: true, limit: 1000 }),
    asked('/beta/events/aggregate', {
      compute: [count],
      groupBy: [{ field: { id: 'custom.rude' } }],
    }),
    asked('/beta/events/export', { format: 'ndjson' }),
    asked('/beta/discover/attributes', {}),
    got('/beta/events/tail'),
    got('/metrics'),
    got('/openapi.json'),
    `POST /admin/api/write_keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer none\r\ncontent-length: 9\r\n\r\n{"name":1}`,
  ];
}

function linesTo({ writeKey }: Service): string[] {
  const line = `${writeKey} {"rude":1,"text":"a line"}`;
  return [
    `${line}\n`.repeat(100),
    `${line.length} ${line}`.repeat(50),
    `${writeKey} ${'long '.repeat(5_000)}\n`,
    `{"logmaticKey":"${writeKey}","rude":${'['.repeat(300)}${']'.repeat(300)}}\n`,
    `no-such-key-0123456789 ${'x'.repeat(2_000)}\n`.repeat(5),
    `999999 ${writeKey} <13>1 a frame without its end`,
  ];
}
