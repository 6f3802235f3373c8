import { createSocket } from 'node:dgram';
import t from 'tap';
import { adminToken } from '../support/admin.ts';
import {
  removeFolder,
  request,
  type Service,
  send,
  sendTcp,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const LISTENERS = ['--udp', '127.0.0.1:0', '--seal-idle-minutes', '0'];

const folder = temporaryFolder();
t.teardown(() => removeFolder(folder));

interface ShownKey {
  daily_usage: number;
  days: { day: string; bytes: number; events: number }[];
  last_seen: string | null;
  senders: { peer: string; channel: string; last_seen: string }[];
}

async function firstKey(service: Service): Promise<ShownKey> {
  const { body } = await request(`${service.http}/admin/api/write_keys`, {
    headers: { authorization: `Bearer ${adminToken(service)}` },
  });
  const { write_keys: keys } = (body as { result: { write_keys: ShownKey[] } }).result;
  return keys[0];
}

/** Sends lines on a channel again and again until it is among the senders of the first key. */
async function untilSender(
  service: Service,
  channel: string,
  sendOne: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    await sendOne();
    if ((await firstKey(service)).senders.some((sender) => sender.channel === channel)) return;
  }
}

t.test('2.1 a write key tells of its days, its last event and its senders', async (t) => {
  let service = await startService(folder, LISTENERS);
  t.teardown(() => service.kill());
  t.match(await firstKey(service), { days: [], last_seen: null, senders: [] });
  const { writeKey, udpPort } = service;
  const beganMs = Date.now();
  t.equal((await send(service, '{"n":1}')).status, 200);
  t.match((await firstKey(service)).senders, [{ peer: '127.0.0.1', channel: 'http' }]);
  await untilSender(service, 'tcp', () => sendTcp(service.tcpPort, `${writeKey} a line\n`));
  const socket = createSocket('udp4');
  await untilSender(
    service,
    'udp',
    () => new Promise((resolve) => socket.send(`${writeKey} x`, udpPort, '127.0.0.1', resolve)),
  );
  socket.close();
  const before = await firstKey(service);
  const seenMs = Date.parse(before.last_seen ?? '');
  t.ok(seenMs >= beganMs && seenMs <= Date.now(), `${before.last_seen}`);
  const sum = before.days.reduce((all, { bytes }) => all + bytes, 0);
  const events = before.days.reduce((all, day) => all + day.events, 0);
  t.ok(events >= 2 && sum === events * 64, `${events} events, ${sum} bytes`);
  await service.kill();
  service = await startService(folder, LISTENERS);
  const { days, last_seen: lastSeen, senders } = await firstKey(service);
  const kept = days.reduce((all, day) => all + day.events, 0);
  t.ok(kept >= events, 'what was acknowledged is there');
  t.equal(lastSeen, days.at(-1)?.day);
  t.same(senders, []);
});
