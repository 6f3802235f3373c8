import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { request, type Service } from '../support/service.ts';
import type { Kind, Source } from './content.ts';
import type { Sent } from './judge.ts';
import type { Outcome } from './ledger.ts';
import type { Stand } from './stand.ts';

/** How a source sends: pauses in milliseconds, at a rate of 1, and events at a time. */
interface Manner {
  name: string;
  kinds: readonly Kind[];
  channel: 'http' | 'tcp' | 'tls' | 'turns';
  pauseMs: number;
  most: number;
}

/**
 * Senders of every service of a soak. `turns` sends each event by HTTP and over a TCP connection of its own by turns.
 */
const MANNERS: readonly Manner[] = [
  { name: 'single', kinds: ['application', 'access'], channel: 'http', pauseMs: 40, most: 1 },
  { name: 'bulk', kinds: ['access'], channel: 'http', pauseMs: 700, most: 700 },
  { name: 'wide', kinds: ['wide'], channel: 'http', pauseMs: 400, most: 20 },
  { name: 'large', kinds: ['large', 'access'], channel: 'http', pauseMs: 2_500, most: 4 },
  { name: 'noise', kinds: ['noise'], channel: 'http', pauseMs: 1_000, most: 20 },
  { name: 'tcp-access', kinds: ['access'], channel: 'tcp', pauseMs: 100, most: 40 },
  { name: 'tcp-mixed', kinds: ['application', 'wide'], channel: 'tcp', pauseMs: 200, most: 10 },
  { name: 'tls', kinds: ['application', 'noise'], channel: 'tls', pauseMs: 250, most: 10 },
  { name: 'turns', kinds: ['application'], channel: 'turns', pauseMs: 60, most: 1 },
];

/** Sources of a soak, one a sender. */
export const SOURCES: readonly Source[] = MANNERS.map(({ name, kinds }, id) => ({
  id,
  name,
  kinds,
}));

/** A raw connection lives up to so long. */
const SESSION_MS = 6_000;
/** When the service does not end a connection this long after our half-close, something is wrong. */
const CLOSE_MAX_MS = 60_000;

/** Runs all senders of a stand until it closes. */
export async function sendAll(stand: Stand, rate: number): Promise<void> {
  await Promise.all(
    MANNERS.map(async (manner) => {
      const sent = stand.sources.get(manner.name);
      if (sent === undefined) throw new Error(`there is no source ${manner.name}`);
      while (!stand.isClosing) await sendOnce(stand, manner, sent, rate);
    }),
  );
}

async function sendOnce(stand: Stand, manner: Manner, sent: Sent, rate: number): Promise<void> {
  const waitMs = (manner.pauseMs * (0.5 + Math.random())) / rate;
  const service = await Promise.race([stand.up(), pause(1_000, undefined)]);
  if (service === undefined) return;
  const isTurn = manner.channel === 'turns' && sent.ledger.sent % 2 === 1;
  if (manner.channel === 'http' || (manner.channel === 'turns' && !isTurn)) {
    await post(service, stand, sent, 1 + Math.floor(Math.random() * manner.most));
    await pause(waitMs);
  } else {
    const endsMs = isTurn ? 0 : performance.now() + Math.random() * SESSION_MS;
    await session(service, stand, sent, { ...manner, pauseMs: waitMs }, endsMs);
    if (isTurn) await pause(waitMs);
  }
}

function linesOf(
  stand: Stand,
  { source, ledger }: Sent,
  count: number,
): { first: number; lines: string[] } {
  const first = ledger.take(count);
  const lines = Array.from({ length: count }, (_, at) => stand.maker.make(source, first + at).line);
  return { first, lines };
}

/** One request: a JSON array, a JSON object or lines, now and then as gzip. */
async function post(service: Service, stand: Stand, sent: Sent, count: number): Promise<void> {
  const { first, lines } = linesOf(stand, sent, count);
  const isArray = first % 3 === 0;
  const body = isArray ? `[${lines.join(',')}]` : lines.join('\n');
  const isPacked = first % 5 === 0;
  let outcome: Outcome = 'unknown';
  try {
    const { status, text } = await request(`${service.http}/v1/input/${service.writeKey}`, {
      method: 'POST',
      headers: {
        'content-type': isArray ? 'application/json' : 'application/x-ndjson',
        ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
      },
      body: isPacked ? gzipSync(body) : body,
    });
    if (status === 200) outcome = 'acknowledged';
    else if (status === 429) outcome = 'refused';
    else if (status !== 503) stand.faults.add('service', `input answered ${status}: ${text}`);
  } catch (error) {
    // Nobody answered: right when the service was killed meanwhile, a fault when it was not.
    if (stand.isUp(service)) stand.faults.add('service', `input failed: ${reasonOf(error)}`);
  }
  sent.ledger.settle({ first, count, whole: true }, outcome);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error);
}

/**
 * Lines over one connection, written bit by bit until `endsMs`, then the half-close. They are acknowledged when the
 * service ends the connection in order; the kernel does that for a killed one too, so that only an end before the kill
 * counts.
 */
async function session(
  service: Service,
  stand: Stand,
  sent: Sent,
  manner: Manner,
  endsMs: number,
): Promise<void> {
  const socket = open(service, manner.channel);
  const first = sent.ledger.sent;
  let isOrderly = false;
  let isEnded = false;
  const ended = new Promise<void>((resolve) => {
    socket.on('end', () => {
      isOrderly = stand.isUp(service);
      isEnded = true;
      resolve();
    });
    socket.on('error', () => {});
    socket.on('close', (hadError) => {
      isOrderly &&= !hadError;
      isEnded = true;
      resolve();
    });
  });
  socket.resume();
  do {
    const { lines } = linesOf(stand, sent, 1 + Math.floor(Math.random() * manner.most));
    const text = lines.map((line) => `${service.writeKey} ${line}\n`).join('');
    if (!socket.write(text)) await Promise.race([ended, drained(socket)]);
    if (performance.now() < endsMs) await Promise.race([ended, pause(manner.pauseMs)]);
    await Promise.race([ended, stand.up()]);
  } while (performance.now() < endsMs && !isEnded && !stand.isClosing);
  const isEarly = isEnded;
  socket.end();
  await Promise.race([ended, pause(CLOSE_MAX_MS)]);
  const isAcknowledged = isOrderly && !isEarly;
  if (!isAcknowledged && stand.isUp(service)) {
    const what = isEarly ? 'was cut' : 'was not ended in order';
    stand.faults.add('service', `${sent.source.name} ${first}: the connection ${what}`);
  }
  socket.destroy();
  const stretch = { first, count: sent.ledger.sent - first, whole: false };
  sent.ledger.settle(stretch, isAcknowledged ? 'acknowledged' : 'unknown');
}

function open(service: Service, channel: Manner['channel']): Socket {
  const host = '127.0.0.1';
  if (channel !== 'tls') return connectTcp({ port: service.tcpPort, host, allowHalfOpen: true });
  // The certificate is the service's own.
  return connectTls({
    port: service.tlsPort,
    host,
    rejectUnauthorized: false,
  });
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', resolve));
}
