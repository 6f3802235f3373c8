import { chmodSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readExposition, sumOf } from '../support/exposition.ts';
import { Neighbour } from '../support/neighbour.ts';
import {
  ask,
  COMMAND,
  removeFolder,
  request,
  type Service,
  startService,
  temporaryFolder,
} from '../support/service.ts';

/** Starts a service that may have so many descriptors. */
async function startNarrow(folder: string, descriptors: number, args: string[]): Promise<Service> {
  const command = join(folder, 'narrow.sh');
  writeFileSync(command, `#!/bin/sh\nulimit -n ${descriptors}\nexec ${COMMAND} "$@"\n`);
  chmodSync(command, 0o700);
  return startService(join(folder, 'data'), args, { command });
}

/** Opens idle connections from an address; resolves when each is open or was refused. */
async function dial(port: number, count: number, localAddress: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    await new Promise((resolve) => socket.on('connect', resolve).on('error', resolve));
    socket.resume();
  }
  return sockets;
}

t.test('8 idle connections beyond the descriptors leave senders and queries alone', async (t) => {
  const folder = temporaryFolder();
  const service = await startNarrow(folder, 180, [
    ...['--ingest-workers', '2', '--query-workers', '2', '--metrics-open', 'true'],
    ...['--seal-rows', '100', '--seal-idle-minutes', '0'],
  ]);
  t.teardown(async () => {
    await service.stop();
    removeFolder(folder);
  });
  const neighbour = new Neighbour(service, { from: '127.0.0.2' });
  await neighbour.alone();
  const sockets: Socket[] = [];
  for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5']) {
    sockets.push(...(await dial(service.tcpPort, 90, address)));
    await neighbour.more(50);
  }
  for (let round = 0; round < 3; round++) {
    const answer = await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });
    t.equal(answer.status, 200);
    await neighbour.more(50);
  }
  const metrics = readExposition((await request(`${service.http}/metrics`)).text);
  const open = sumOf(metrics, 'logseam_connections_open', { channel: 'tcp' });
  t.ok(open < 60, `${open} connections are open`);
  t.ok(sumOf(metrics, 'logseam_connections_refused_total', { channel: 'tcp' }) >= 200);
  await neighbour.check(t);
  for (const socket of sockets) socket.destroy();
  t.notMatch(service.output(), /EMFILE/);
});

t.test(
  '8 connections over HTTP beyond what a peer may have are closed, those of others are answered',
  async (t) => {
    const folder = temporaryFolder();
    const service = await startNarrow(folder, 180, []);
    t.teardown(async () => {
      await service.stop();
      removeFolder(folder);
    });
    const neighbour = new Neighbour(service, { from: '127.0.0.2' });
    await neighbour.alone();
    const sockets = await dial(Number(new URL(service.http).port), 200, '127.0.0.6');
    const answer = await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });
    t.equal(answer.status, 200);
    const late = new Neighbour(service, { from: '127.0.0.3' });
    await late.more(20);
    t.same([...(await late.end()).refused], [], 'one who comes later is refused nothing');
    await neighbour.check(t);
    for (const socket of sockets) socket.destroy();
  },
);
