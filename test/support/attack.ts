import { chmodSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { define } from './admin.ts';
import { metric } from './metrics.ts';
import { Neighbour } from './neighbour.ts';
import {
  type Answer,
  ask,
  COMMAND,
  listAll,
  request,
  type Service,
  startService,
} from './service.ts';

/** Those who send what costs much, or begin what they do not end, beside one who does all as it should be. */

const MIB = 1_048_576;
/** The attacker's address: limits hold for a peer. */
const ATTACKER = '127.0.0.3';
/** Beginnings of lines without a key, the last one of a frame of which not all comes. */
const KEYLESS = ['x', 'nokeynokeynokeynokey22 ', '<13>1 - - ', '{"a":"', '5000000 nokey '];
/** Kinds of large bodies: usual events, of 1 MB, wide ones, and many small ones. */
const LARGE_BODIES: Readonly<Record<string, (n: number) => string>> = {
  usual: (n) =>
    `{"n":${n},"message":"order ${n} of ${n % 97} came","level":"info","took":${n / 7}}`,
  long: (n) => `{"n":${n},"text":"${`${n} word `.repeat(MIB / 8).slice(0, MIB - 100)}"}`,
  wide: (n) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 990 }, (_, at) => [`a${at}`, n * at]))),
  small: (n) => `{"n":${n % 1_000}${' '.repeat(52)}}`,
};
/** The names of the kinds of large bodies. */
export const LARGE_KINDS = Object.keys(LARGE_BODIES);

/** Starts a service that may have so many descriptors. */
export async function startNarrow(
  folder: string,
  descriptors: number,
  args: string[],
): Promise<Service> {
  const command = join(folder, 'narrow.sh');
  writeFileSync(command, `#!/bin/sh\nulimit -n ${descriptors}\nexec ${COMMAND} "$@"\n`);
  chmodSync(command, 0o700);
  return startService(join(folder, 'data'), args, { command });
}

/** Posts a gzip body, with all that may be added to each event. */
export function sendZipped(
  service: Service,
  content: Uint8Array,
  query = '',
  type = 'application/json',
): Promise<Answer> {
  return request(`${service.http}/v1/input/${service.writeKey}${query}`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': type, 'content-encoding': 'gzip' },
      ...{ 'x-service-add-ip': 'ip', 'x-service-add-useragent': 'agent' },
    },
    body: content as BodyInit,
  });
}

/** Tests that so many bodies of too many tiny events are refused. */
export async function testTinyEvents(
  t: Test,
  service: Service,
  bodies: number,
  events: number,
): Promise<void> {
  const attack = gzipSync(Buffer.from(`[${'1,'.repeat(events)}1]`));
  const neighbour = await settled(service);
  const query = '?hostname=h&appname=attack&username=u';
  const sent = Array.from({ length: bodies }, () => sendZipped(service, attack, query));
  for (const { status, text } of await Promise.all(sent)) {
    t.equal(status, 413);
    t.match(text, /the body has more than 1048576 events/);
  }
  await neighbour.check(t);
  t.same(await listAll(service, { filters: [{ search: 'appname:attack' }] }), []);
}

/** Tests that large bodies in gzip that come at once are stored, or refused for now. */
export async function testLargeBodies(
  t: Test,
  service: Service,
  kind: string,
  bodies: number,
  bytes: number,
): Promise<void> {
  const events: string[] = [];
  for (let sum = 0; sum < bytes; sum += (events.at(-1)?.length ?? 0) + 1) {
    events.push(LARGE_BODIES[kind]?.(events.length) ?? '');
  }
  const attack = gzipSync(`[${events.join(',')}]`, { level: 1 });
  const neighbour = await settled(service);
  const sent = Array.from({ length: bodies }, () => sendZipped(service, attack));
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  const stored = statuses.filter((status) => status === 200).length;
  t.ok(stored > 0 && statuses.every((status) => status === 200 || status === 429), `${statuses}`);
  t.comment(`${kind}: ${stored} of ${bodies} bodies of ${attack.length} bytes are stored`);
  await neighbour.check(t);
}

/** Tests that events that cost rules too much are stored as they are. */
export async function testCostlyRules(t: Test, service: Service, lines: number): Promise<void> {
  const rules = Array.from(
    { length: 10 },
    (_, at) =>
      `r${at} %{data:a} host=%{notSpace:b} %{data:c} \\[%{number:d}\\]: %{data:e} end${at} %{data:f}`,
  );
  const grok = { name: 'costly', kind: 'grok', enabled: true, filter: 'costly' };
  await define(service, 'extensions', { ...grok, rules: rules.join('\n') });
  // It has all literals of each rule in their order, and nowhere the number.
  const ends = rules.map((_, at) => `y end${at}`).join(' ');
  const miss = `host=x c [no]: ${ends} y${' host=x [no]:'.repeat(2_000)}`;
  const neighbour = await settled(service);
  const body = Array.from({ length: lines }, () => `costly ${miss}`).join('\n');
  t.equal((await sendZipped(service, gzipSync(body), '', 'text/plain')).status, 200);
  t.equal((await listAll(service, { filters: [{ search: 'costly' }] })).length, lines);
  await neighbour.check(t);
}

/** Tests that lines without an end and a key take no memory, on connections to a service with open metrics. */
export async function testKeylessLines(t: Test, service: Service, lines: number): Promise<void> {
  const neighbour = await settled(service, '127.0.0.2');
  const dropped = (): Promise<number> => metric(service, 'logseam_lines_dropped_total');
  const before = await dropped();
  const sockets = await dialMany(service.tcpPort, lines, ATTACKER);
  await Promise.all(
    sockets.map((socket, at) =>
      write(socket, KEYLESS[at % KEYLESS.length] + 'x'.repeat(1_000_000)),
    ),
  );
  while ((await dropped()) < before + lines) await neighbour.more(1);
  t.same(await listAll(service, { filters: [{ search: 'xxx*' }] }), []);
  await Promise.all(sockets.map((socket) => write(socket, `\n${service.writeKey} behind\n`)));
  const ends = new Set(await Promise.all(sockets.map(endOf)));
  t.same([...ends], ['end'], 'no connection was ended for its lines');
  // What was declared to come of a frame has not.
  const framed = Math.floor(lines / KEYLESS.length);
  const behind = await listAll(service, { filters: [{ search: 'behind' }] });
  t.equal(behind.length, lines - framed);
  await neighbour.more(20);
  await neighbour.check(t);
}

/**
 * Tests that of lines with a key that a peer does not end the largest are cut, when it has too many, and all stored.
 */
export async function testHeldLines(t: Test, service: Service, lines: number): Promise<void> {
  const neighbour = await settled(service, '127.0.0.2');
  const sockets = await dialMany(service.tcpPort, lines, ATTACKER);
  const texts = sockets.map((_, at) => `cut${at} ${'y'.repeat(900_000)}`);
  await Promise.all(sockets.map((socket, at) => write(socket, `${service.writeKey} ${texts[at]}`)));
  await neighbour.more(20);
  t.same([...new Set(await Promise.all(sockets.map(endOf)))], ['end']);
  const events = await listAll(service, { filters: [{ search: 'cut*' }] }, 50);
  t.equal(events.length, lines, 'each line is stored once');
  let cutCount = 0;
  for (const { event } of events) {
    const { message = '' } = event;
    const whole = texts[Number(/^cut(\d+)/.exec(message)?.[1])] ?? '';
    const isCut = event.custom['_truncated'] === true;
    t.ok(isCut ? whole.startsWith(message) : whole === message);
    cutCount += isCut ? 1 : 0;
  }
  t.ok(cutCount >= lines / 3 && cutCount < lines, `${cutCount} of ${lines} are cut`);
  t.ok((await metric(service, 'logseam_held_bytes')) < 64 * MIB);
  await neighbour.check(t);
}

/** Tests that bodies that are declared and do not come leave room for a large one that does. */
export async function testSlowBodies(t: Test, service: Service, bodies: number): Promise<void> {
  const neighbour = await settled(service);
  const slow = await Promise.all(
    Array.from({ length: bodies }, () => beginBody(service, 64 * MIB, 100_000)),
  );
  await neighbour.more(50);
  const line = `large ${'z'.repeat(990)}\n`;
  const large = await request(`${service.http}/v1/input/${service.writeKey}`, {
    ...{ method: 'POST', headers: { 'content-type': 'text/plain' } },
    body: line.repeat(Math.floor((60 * MIB) / line.length)),
  });
  t.equal(large.status, 200);
  await neighbour.check(t);
  for (const socket of slow) socket.destroy();
}

/** Tests that idle connections, so many of each of three peers, leave senders and queries alone. */
export async function testIdleConnections(
  t: Test,
  service: Service,
  perPeer: number,
): Promise<void> {
  const neighbour = await settled(service, '127.0.0.2');
  const sockets: Socket[] = [];
  for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5']) {
    sockets.push(...(await dialMany(service.tcpPort, perPeer, address)));
    await neighbour.more(50);
  }
  for (let round = 0; round < 3; round++) {
    const answer = await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });
    t.equal(answer.status, 200);
    await neighbour.more(50);
  }
  const refused = await metric(service, 'logseam_connections_refused_total', { channel: 'tcp' });
  t.ok(refused > 2 * perPeer, `${refused} connections were refused`);
  await neighbour.check(t);
  for (const socket of sockets) socket.destroy();
  t.notMatch(service.output(), /EMFILE/);
}

/** Begins a request whose body does not come, but for its beginning. */
export function beginBody(service: Service, declared: number, sent: number): Promise<Socket> {
  const { hostname, port } = new URL(service.http);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const head = [
        `POST /v1/input/${service.writeKey} HTTP/1.1`,
        ...[`host: ${hostname}`, 'content-type: text/plain', `content-length: ${declared}`],
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(Buffer.alloc(sent, 'x'), () => resolve(socket));
    });
    socket.on('error', reject);
    socket.resume();
  });
}

/** A neighbour of whom it is known how long its requests take alone. */
async function settled(service: Service, from?: string): Promise<Neighbour> {
  const neighbour = new Neighbour(service, from === undefined ? {} : { from });
  await neighbour.alone();
  return neighbour;
}

/** Opens connections one after the other; resolves when each is open or was refused. */
async function dialMany(port: number, count: number, localAddress: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    sockets.push(socket);
    await new Promise((resolve) => socket.on('connect', resolve).on('error', resolve));
    socket.resume();
  }
  return sockets;
}

/** Resolves when the service has taken all that was written to a socket, or has ended it. */
function write(socket: Socket, content: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    socket.write(content, () => resolve());
  });
}

/** Resolves with how the service ends a connection whose lines are all sent. */
function endOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('end', () => resolve('end')).on('close', () => resolve('close'));
    socket.end();
  });
}
