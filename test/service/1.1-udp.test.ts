import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  COMMAND,
  listAll,
  removeFolder,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

const NOBODY = 65_534;

const folder = temporaryFolder();
const service = await startService(join(folder, 'data'), ['--udp', '127.0.0.1:0']);
const socket = createSocket('udp4');
let replyCount = 0;
socket.on('message', () => replyCount++);
t.teardown(async () => {
  socket.close();
  await service.stop();
  removeFolder(folder);
});
const { writeKey } = service;

function datagram(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(text, service.udpPort, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
  });
}

/** Waits for `count` events that match a search; their messages, oldest first. */
async function messages(query: string, count: number): Promise<(string | undefined)[]> {
  for (;;) {
    const events = await listAll(service, { filters: [{ search: query }] });
    if (events.length >= count) return events.map(({ event }) => event.message).reverse();
  }
}

t.test('the key comes first; later lines come with or without it', async (t) => {
  await datagram(`${writeKey} udp one`);
  await datagram(`${writeKey} udp two\r\nudp three\n${writeKey} udp four\n`);
  await datagram('nokey udp bad\nudp bad');
  await datagram(new Uint8Array([0, 255, 10, 10]));
  await datagram('');
  await datagram(`${writeKey} {"message":"udp five","n":5}\n`);
  t.same(await messages('udp', 5), ['udp one', 'udp two', 'udp three', 'udp four', 'udp five']);
  t.equal(replyCount, 0, 'nothing is ever sent');
});

t.test('a datagram of the largest size is taken', async (t) => {
  const text = `${writeKey} largest ${'x'.repeat(60_000)}`;
  await datagram(text);
  t.equal((await messages('largest', 1))[0]?.length, text.length - 23);
});

const skip = process.getuid?.() === 0 ? false : 'needs root, to become nobody';

t.test(
  'without the right to port 514 another one is taken, and the fixes are named',
  { skip },
  async (t) => {
    const own = join(folder, 'own');
    mkdirSync(own);
    chownSync(folder, NOBODY, NOBODY);
    chownSync(own, NOBODY, NOBODY);
    const args = ['serve', '--data', own, ...TEST_LISTENERS, '--udp', '127.0.0.1:514'];
    const child = spawn(COMMAND, args, { uid: NOBODY, gid: NOBODY });
    let output = '';
    const ready = new Promise<void>((resolve) => {
      const take = (chunk: Buffer): void => {
        output += chunk;
        if (/^ready$/m.test(output)) resolve();
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('close', () => resolve());
    });
    await ready;
    t.match(output, /UDP +127\.0\.0\.1:10514\n/);
    for (const fix of ['CAP_NET_BIND_SERVICE', 'ip_unprivileged_port_start', 'another port']) {
      t.match(output, fix);
    }
    const closed = new Promise((resolve) => child.on('close', resolve));
    child.kill();
    await closed;
  },
);
