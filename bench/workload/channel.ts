import { createSocket } from 'node:dgram';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { type Service, sendTcp } from '../../test/support/service.ts';
import type { Body } from '../corpus/bodies.ts';
import { CONNECTIONS, postAll } from '../peer/store/post.ts';

/** A way for events into the service. */
export interface Channel {
  name: string;
  /** Says in a few words how they come. */
  what: string;
  /** Settings of the service that it needs. */
  settings: readonly string[];
  bodyBytes: number;
  /** True when a write key stands before each event. */
  hasKeys: boolean;
  /** True when nothing is acknowledged. */
  mayLose: boolean;
  /**
   * Sends bodies; resolves when all of them are acknowledged, or sent where nothing is. Resolves with the milliseconds
   * of each request to its 200, where there are requests. `progress` is told how many events were sent.
   */
  send(
    service: Service,
    bodies: readonly Body[],
    progress?: (events: number) => void,
  ): Promise<number[]>;
}

const NONE = (): void => {};
/** Datagrams that are sent every millisecond: below what the service takes, as what is too much is lost. */
const DATAGRAMS_A_MS = 120;

/** Sends bytes over a new TLS connection, half-closes, and resolves when the service has closed its side. */
function sendTls(port: number, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = connect(options, () => socket.end(content));
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** Sends each line as a datagram, so many a millisecond. */
async function sendDatagrams(
  port: number,
  bodies: readonly Body[],
  progress: (events: number) => void,
): Promise<void> {
  const socket = createSocket('udp4');
  const send = (line: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.send(line, port, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
    });
  let sent = 0;
  for (const { body } of bodies) {
    let burst: Promise<void>[] = [];
    for (let from = 0; from < body.length; ) {
      const end = body.indexOf(10, from);
      burst.push(send(body.subarray(from, end)));
      from = end + 1;
      if (burst.length < DATAGRAMS_A_MS && from < body.length) continue;
      sent += burst.length;
      await Promise.all([...burst, pause(1)]);
      burst = [];
    }
    progress(sent);
  }
  socket.close();
}

const joined = (bodies: readonly Body[]): Buffer => Buffer.concat(bodies.map(({ body }) => body));

/** HTTP with bodies of so many bytes, over so many connections. */
const http = (
  name: string,
  size: string,
  bodyBytes: number,
  connections = CONNECTIONS,
): Channel => ({
  name,
  what: `HTTP, bodies of ${size} over ${connections} connections`,
  settings: [],
  bodyBytes,
  hasKeys: false,
  mayLose: false,
  send: (service, bodies, progress) => {
    const url = `${service.http}/v1/input/${service.writeKey}`;
    return postAll(url, bodies, 'application/x-ndjson', progress, connections);
  },
});

/** All channels. */
export const CHANNELS = {
  http: http('http', '1 MB', 1_000_000),
  http4k: http('http-4k', '4 kB', 4_096),
  /** A fleet of shippers. */
  httpFleet: http('http-fleet', '4 kB', 4_096, 64),
  tcp: {
    name: 'tcp',
    what: 'one TCP connection, until its half-close is answered',
    settings: [],
    bodyBytes: 1_000_000,
    hasKeys: true,
    mayLose: false,
    send: async (service, bodies) => {
      await sendTcp(service.tcpPort, joined(bodies));
      return [];
    },
  },
  tls: {
    name: 'tls',
    what: 'one TLS connection, until its half-close is answered',
    settings: ['--tls', '127.0.0.1:0'],
    bodyBytes: 1_000_000,
    hasKeys: true,
    mayLose: false,
    send: async (service, bodies) => {
      await sendTls(service.tlsPort, joined(bodies));
      return [];
    },
  },
  udp: {
    name: 'udp',
    what: `UDP, ${DATAGRAMS_A_MS},000 datagrams a second at most`,
    settings: ['--udp', '127.0.0.1:0'],
    bodyBytes: 1_000_000,
    hasKeys: true,
    mayLose: true,
    send: async (service: Service, bodies: readonly Body[], progress = NONE) => {
      await sendDatagrams(service.udpPort, bodies, progress);
      return [];
    },
  },
} satisfies Record<string, Channel>;
