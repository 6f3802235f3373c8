import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import {
  listAll,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { fill, freeBytes, smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const RESERVE_MB = 6;

async function messages(service: Service): Promise<unknown[]> {
  return (await listAll(service)).map(({ event }) => event.message).sort();
}

/** A connection that has sent a line, which may not have been read. */
async function lineOver(service: Service, text: string): Promise<Socket> {
  const socket = connect(service.tcpPort, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.on('connect', resolve));
  socket.write(`${service.writeKey} ${text}\n`);
  return socket;
}

t.test('below the reserve nothing is taken in over HTTP and TCP, and queries go on', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const first = await startService(folder);
  t.equal((await send(first, 'before', 'text/plain')).status, 200);
  await first.stop();
  const service = await startService(folder, ['--disk-reserve-mb', '1000000000']);
  Object.assign(service, { writeKey: first.writeKey, readKey: first.readKey });
  const refused = await send(service, 'refused', 'text/plain');
  t.equal(refused.status, 507);
  t.equal(refused.headers.get('retry-after'), '15');
  t.match(refused.body, { ok: false, error: { status: 507, message: /disk_reserve_mb/ } });
  const unknown = { ...service, writeKey: 'x'.repeat(22) };
  t.equal((await send(unknown, 'x', 'text/plain')).status, 401, 'strangers are told nothing');
  const socket = await lineOver(service, 'not read');
  t.same(await messages(service), ['before']);
  t.notOk(socket.destroyed, 'the connection stays');
  socket.destroy();
  t.equal(await service.stop(), 0);
});

t.test('a disk that fills up is survived, and input goes on by itself', async (t) => {
  const folder = smallDisk(t);
  if (folder === undefined) return;
  const reserve = ['--disk-reserve-mb', String(RESERVE_MB)];
  let service = await startService(folder, reserve);
  const { writeKey, readKey } = service;
  t.equal((await send(service, 'one', 'text/plain')).status, 200);
  fill(folder, RESERVE_MB / 2);
  await until('507', async () => (await send(service, 'late', 'text/plain')).status === 507);
  const stored = await messages(service);
  t.ok(stored.includes('one'), 'queries are answered');
  const socket = await lineOver(service, 'waits');
  t.same(await messages(service), stored, 'lines wait');
  rmSync(join(folder, 'filler'));
  await until('200', async () => (await send(service, 'two', 'text/plain')).status === 200);
  await until('the line', async () => (await messages(service)).includes('waits'));
  socket.destroy();

  fill(folder, 0);
  const before = await messages(service);
  await service.kill();
  fill(folder, 0);
  t.equal(freeBytes(folder), 0, 'the disk is full');
  service = { ...(await startService(folder, reserve)), writeKey, readKey };
  t.same(await messages(service), before, 'all that was acknowledged is there');
  t.equal((await send(service, 'late', 'text/plain')).status, 507);
  rmSync(join(folder, 'filler'));
  await until('200', async () => (await send(service, 'three', 'text/plain')).status === 200);
  await until('the close', async () => {
    const again = await messages(service);
    return again.length === before.length + 1 && again.includes('three');
  });
  await service.kill();
  service = { ...(await startService(folder, reserve)), writeKey, readKey };
  t.equal((await messages(service)).length, before.length + 1);
  t.equal(await service.stop(), 0);
});
