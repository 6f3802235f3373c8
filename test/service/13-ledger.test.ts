import { createSocket } from 'node:dgram';
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administer } from '../support/browser.ts';
import {
  removeFolder,
  request,
  send,
  sendTcp,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { until } from '../support/until.ts';

interface Ledger {
  answered: number;
  durable: number;
  minutes: {
    minute: string;
    events: number;
    stored: number;
    keys: { key: string | null; events: number }[];
  }[];
  retention_dropped: number;
  refused: { channel: string; reason: string; count: number }[];
  damaged?: { blocks: number };
}

const DAY_MS = 86_400_000;

/** Events as JSON, over four days that end so many days ago. */
function batch(count: number, day = 0): string {
  const endMs = Date.now() - day * DAY_MS;
  return JSON.stringify(
    Array.from({ length: count }, (_, n) => ({ n, date: endMs - (n % 4) * DAY_MS })),
  );
}

/** The files of sealed segments. */
function sealed(folder: string): string[] {
  return readdirSync(join(folder, 'sealed')).filter((name) => name.endsWith('.seg'));
}

/** Sums over all minutes, and by key. */
function sumsOf({ minutes }: Ledger) {
  const keys: Record<string, number> = {};
  let [events, stored] = [0, 0];
  for (const minute of minutes) {
    events += minute.events;
    stored += minute.stored;
    for (const { key, events: own } of minute.keys) keys[`${key}`] = (keys[`${key}`] ?? 0) + own;
  }
  return { events, stored, keys };
}

t.test(
  '13 the ledger has each event that became durable, by key, and counts what is stored',
  async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    const args = ['--seal-rows', '300', '--seal-idle-minutes', '0', '--ingest-workers', '2'];
    const service = await startService(folder, [...args, '--udp', '127.0.0.1:0']);
    t.teardown(() => service.kill());
    const ledger = () => administer<Ledger>(service, 'GET', 'ledger');
    t.match(await ledger(), { answered: 0, durable: 0, minutes: [] });
    const other = await administer<{ key: string }>(service, 'POST', 'write_keys', {
      name: 'shop',
    });
    for (let at = 0; at < 10; at++) t.equal((await send(service, batch(100))).status, 200);
    t.equal((await send({ ...service, writeKey: other.key }, batch(250))).status, 200);
    await sendTcp(
      service.tcpPort,
      `${service.writeKey} one\n${other.key} two\nno-such-key three\n`,
    );
    const first = await ledger();
    t.match(sumsOf(first), { events: 1_252, stored: 1_252, keys: { default: 1_001, shop: 251 } });
    t.match(first, { answered: 1_252, durable: 1_252, retention_dropped: 0 });
    t.match(first.refused, [{ channel: 'tcp', reason: 'line_dropped', count: 1 }]);

    await until('sealing', () => sealed(folder).length >= 3);
    t.match(
      sumsOf(await ledger()),
      { events: 1_252, stored: 1_252 },
      'sealed ones are counted too',
    );

    const socket = createSocket('udp4');
    await new Promise((resolve) =>
      socket.send(`${service.writeKey} by udp`, service.udpPort, '127.0.0.1', resolve),
    );
    socket.close();
    await until('the datagram', async () => (await ledger()).durable === 1_253);
    t.equal(
      (await request(`${service.http}/v1/input/nobody`, { method: 'POST', body: 'x' })).status,
      401,
    );
    const last = await ledger();
    t.match(sumsOf(last), { events: 1_253, stored: 1_253, keys: { default: 1_002 } });

    await service.stop();
    const again = await startService(folder, args);
    t.teardown(() => again.kill());
    t.match(
      await administer<Ledger>(again, 'GET', 'ledger'),
      { durable: 0, minutes: [] },
      'it is of this process',
    );
  },
);

t.test('13 the ledger tells that events are lost', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const args = ['--seal-rows', '300', '--seal-idle-minutes', '0'];
  const service = await startService(folder, args);
  t.teardown(() => service.kill());
  for (let at = 0; at < 10; at++) t.equal((await send(service, batch(100))).status, 200);
  await until('sealing', async () => {
    const { sealing } = await administer<{ sealing: { backlog_events: number } }>(
      service,
      'GET',
      'health',
    );
    // Before that the log has the events too.
    return sealed(folder).length > 0 && sealing.backlog_events === 0;
  });
  for (const name of sealed(folder)) unlinkSync(join(folder, 'sealed', name));
  const ledger = await administer<Ledger>(service, 'GET', 'ledger');
  t.match(ledger, { answered: 1_000, durable: 1_000, damaged: { blocks: Number } });
  const { events, stored } = sumsOf(ledger);
  t.equal(events, 1_000);
  t.ok(stored < 1_000, `${stored} are stored`);
});

t.test('13 events that retention drops are told beside those that the ledger misses', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const args = ['--seal-rows', '100', '--seal-idle-minutes', '0', '--retention-days', '30'];
  const service = await startService(folder, args);
  t.teardown(() => service.kill());
  for (let day = 0; day < 45; day++)
    t.equal((await send(service, batch(100, day % 9))).status, 200);
  t.equal((await send(service, batch(100, 40))).status, 200);
  await until('the drop', async () => {
    const { retention_dropped } = await administer<Ledger>(service, 'GET', 'ledger');
    return retention_dropped === 100;
  });
  const sums = sumsOf(await administer<Ledger>(service, 'GET', 'ledger'));
  t.match(sums, { events: 4_600, stored: 4_500 });
});
