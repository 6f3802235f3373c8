import { connect, type Socket } from 'node:net';
import t from 'tap';
import { startNarrow, testIdleConnections } from '../support/attack.ts';
import { metric } from '../support/metrics.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ask, removeFolder, temporaryFolder } from '../support/service.ts';

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
  await testIdleConnections(t, service, 90);
  const open = await metric(service, 'logseam_connections_open', { channel: 'tcp' });
  t.ok(open < 60, `${open} connections are open`);
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
