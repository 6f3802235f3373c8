import { spawn } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import {
  ask,
  COMMAND,
  listAll,
  removeFolder,
  request,
  runCommand,
  type Service,
  send,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
t.teardown(() => removeFolder(folder));

/** Kills the service without warning and starts it again in the same folder, with the same keys. */
async function killAndRestart(service: Service): Promise<Service> {
  await service.kill();
  const next = await startService(service.folder);
  return { ...next, writeKey: service.writeKey, readKey: service.readKey };
}

/** Starts the service and kills it as soon as it has taken the folder: in the middle of its recovery. */
async function killDuringStart(own: string): Promise<void> {
  const lock = join(own, 'lock');
  rmSync(lock, { force: true });
  const child = spawn(COMMAND, ['serve', '--data', own, ...TEST_LISTENERS], { stdio: 'ignore' });
  const closed = new Promise((resolve) => child.on('close', resolve));
  while (!existsSync(lock)) await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGKILL');
  await closed;
}

t.test('the first start prints keys and a curl line that works as it is', async (t) => {
  const service = await startService(folder);
  t.match(service.writeKey, /^[\w-]{22}$/);
  t.match(service.readKey, /^[\w-]{22}$/);
  t.equal(statSync(join(folder, 'admin-token')).mode & 0o777, 0o600);
  const curl = /^ *(curl (?:.*\\\n)*.*)$/m.exec(service.output())?.[1] ?? '';
  t.match(curl, service.writeKey);
  t.match(curl, service.http);
  const answer = await send(service, 'This is my first line of log', 'text/plain');
  t.equal(answer.status, 200);

  const second = await runCommand(['serve', '--data', folder, ...TEST_LISTENERS]);
  t.not(second.code, 0, 'a second process on the folder is refused');
  t.match(
    second.stderr + second.stdout,
    new RegExp(String(service.pid)),
    'and told which one has it',
  );

  t.equal(await service.stop(), 0, 'SIGTERM ends with 0');
  const list = await runCommand(['key', 'list', '--data', folder]);
  t.match(list.stderr, 'no service is running', 'the lock is free');

  const again = await startService(folder);
  t.equal(again.writeKey, '', 'later starts print no key');
  const events = await listAll({ ...again, readKey: service.readKey });
  t.same(
    events.map(({ event }) => event.message),
    ['This is my first line of log'],
  );
  await again.stop();
});

t.test('SIGTERM makes durable what an open connection has sent', async (t) => {
  const own = temporaryFolder();
  t.teardown(() => removeFolder(own));
  const service = await startService(own);
  const socket = connect(service.tcpPort, '127.0.0.1');
  await new Promise((resolve) => socket.on('connect', resolve));
  await new Promise((resolve) => socket.write(`${service.writeKey} before the end\n`, resolve));
  let seen = 0;
  while (seen === 0) seen = (await listAll(service)).length;
  await new Promise((resolve) => socket.write(`${service.writeKey} and no line end`, resolve));
  socket.on('error', () => {});
  t.equal(await service.stop(), 0);
  const again = await startService(own);
  const messages = (await listAll({ ...again, readKey: service.readKey })).map(
    (e) => e.event.message,
  );
  t.ok(messages.includes('before the end'));
  await again.stop();
});

t.test('kill -9 at any time loses nothing that was acknowledged and repeats nothing', async (t) => {
  const own = temporaryFolder();
  t.teardown(() => removeFolder(own));
  let service = await startService(own);
  const acknowledged = new Set<number>();
  const sent = new Set<number>();
  let number = 0;
  for (let round = 0; round < 6; round++) {
    let dead = false;
    const { writeKey, http } = service;
    const sender = async (): Promise<void> => {
      while (!dead) {
        const numbers = Array.from({ length: 1 + (number % 40) }, () => number++);
        for (const n of numbers) sent.add(n);
        const answer = await request(`${http}/v1/input/${writeKey}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(
            numbers.map((n) => ({ n, group: numbers[0], size: numbers.length })),
          ),
        }).catch(() => undefined);
        if (answer === undefined) return;
        t.equal(answer.status, 200);
        for (const n of numbers) acknowledged.add(n);
      }
    };
    const senders = [sender(), sender(), sender()];
    const goal = acknowledged.size + 300 + round * 100;
    while (acknowledged.size < goal) await new Promise((resolve) => setImmediate(resolve));
    await service.kill();
    dead = true;
    await Promise.all(senders);
    if (round % 2 === 1) await killDuringStart(own);
    const { writeKey: write, readKey } = service;
    service = { ...(await startService(own)), writeKey: write, readKey };
  }
  const events = (await listAll(service)).map(
    ({ event }) => event.custom as Record<string, number>,
  );
  const stored = events.map(({ n }) => n);
  t.equal(new Set(stored).size, stored.length, 'nothing is there twice');
  const there = new Set(stored);
  t.same(
    [...acknowledged].filter((n) => !there.has(n)),
    [],
    'all that was acknowledged is there',
  );
  t.same(
    stored.filter((n) => !sent.has(n)),
    [],
    'nothing else is there',
  );
  const sizes = new Map<number, number>();
  for (const { group } of events) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const torn = events.filter(({ group, size }) => sizes.get(group) !== size);
  t.same(torn, [], 'every request is there whole or not at all');
  await service.stop();
});

t.test('ids stay the same over kill -9, and usage too', async (t) => {
  const own = temporaryFolder();
  t.teardown(() => removeFolder(own));
  let service = await startService(own);
  for (let n = 0; n < 20; n++) await send(service, `{"n":${n}}`);
  const before = (await listAll(service)).map(({ id }) => id);
  const usage = await runCommand(['key', 'list', '--data', own]);
  service = await killAndRestart(service);
  t.same(
    (await listAll(service)).map(({ id }) => id),
    before,
  );
  t.equal((await runCommand(['key', 'list', '--data', own])).stdout, usage.stdout);
  const fetched = await ask(service, '/beta/events/fetch', { id: before[0], event: true });
  t.equal((fetched.body as { result: { id: string } }).result.id, before[0]);
  await service.stop();
});
