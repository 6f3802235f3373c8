import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { readExposition, sumOf } from '../support/exposition.ts';
import { request, testService } from '../support/service.ts';

const service = await testService(t, [
  ...['--https', '127.0.0.1:0', '--tls', '127.0.0.1:0', '--http-input', '127.0.0.1:0'],
  ...['--metrics-open', 'true'],
]);
function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** Dials and, over TLS, shakes hands. */
function dial(port: number, isSecure: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const address = { port, host: '127.0.0.1' };
    const socket: Socket = isSecure
      ? connectTls({ ...address, rejectUnauthorized: false }, () => resolve(socket))
      : connect(address, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** The numbers of a channel: of all connections, and of those that are open. */
async function connections(channel: string): Promise<{ all: number; open: number }> {
  const families = readExposition((await request(`${service.http}/metrics`)).text);
  const all = sumOf(families, 'logseam_connections_total', { channel });
  return { all, open: sumOf(families, 'logseam_connections_open', { channel }) };
}

/** Resolves when so many connections of a channel are open; the file's time is the limit. */
async function untilOpen(channel: string, count: number): Promise<void> {
  while ((await connections(channel)).open !== count) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const table: [channel: string, port: number, isSecure: boolean][] = [
  ['http', portOf(service.http), false],
  ['http', portOf(service.httpInput), false],
  ['https', portOf(service.https), true],
  ['tcp', service.tcpPort, false],
  ['tls', service.tlsPort, true],
];

for (const [channel, port, isSecure] of table) {
  t.test(`connections of ${channel} at ${port} are counted while they are open`, async (t) => {
    await connections(channel);
    const before = await connections(channel);
    const sockets: Socket[] = [];
    for (const _ of [1, 2, 3]) sockets.push(await dial(port, isSecure));
    await untilOpen(channel, before.open + 3);
    sockets[0]?.destroy();
    await untilOpen(channel, before.open + 2);
    for (const socket of sockets) socket.destroy();
    await untilOpen(channel, before.open);
    t.equal((await connections(channel)).all - before.all, 3);
  });
}
