import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Die, startMortal } from '../support/mortal-service.ts';
import {
  listAll,
  removeFolder,
  request,
  type Service,
  temporaryFolder,
} from '../support/service.ts';

const POLL_MS = 20;
const WORKERS = ['--ingest-workers', '1', '--query-workers', '1'];

/** A service that systemd seems to have started: what it is told, and the service. */
async function startSupervised(
  t: Test,
): Promise<{ service: Service; die: Die; told: () => string[] }> {
  const tools = temporaryFolder();
  t.teardown(() => removeFolder(tools));
  const heard = join(tools, 'heard');
  writeFileSync(heard, '');
  writeFileSync(join(tools, 'systemd-notify'), `#!/bin/sh\necho "$1" >>${heard}\n`);
  chmodSync(join(tools, 'systemd-notify'), 0o755);
  const mortal = await startMortal(t, WORKERS, {
    PATH: `${tools}:${process.env['PATH']}`,
    NOTIFY_SOCKET: '/run/none',
    WATCHDOG_USEC: '600000',
  });
  return { ...mortal, told: () => readFileSync(heard, 'utf8').split('\n').slice(0, -1) };
}

async function readiness(service: Service): Promise<[number, unknown]> {
  const { status, body } = await request(`${service.http}/readyz`);
  return [status, body];
}

t.test('systemd is told that the service is ready and works', async (t) => {
  const { service, told } = await startSupervised(t);
  while (told().length < 4) await pause(POLL_MS);
  t.same(told().slice(0, 3), ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1']);
  t.equal(await service.stop(), 0);
});

for (const [kind, thread] of [
  ['ingest', 1],
  ['query', 2],
] as const) {
  t.test(`with ${kind} workers that stand still the service is not ready`, async (t) => {
    const { service, die, told } = await startSupervised(t);
    t.same(await readiness(service), [200, { ok: true }]);
    // A thread that has not begun does not stand still.
    await listAll(service);
    while (!told().includes('WATCHDOG=1')) await pause(POLL_MS);
    die(thread, 'stall');
    while (!service.output().includes('threads are stuck')) await pause(POLL_MS);
    const words = told().length;
    while ((await readiness(service))[0] === 200) await pause(POLL_MS);
    const reasons = [`no ${kind} worker goes on`];
    t.same(await readiness(service), [503, { ok: false, reasons }]);
    t.ok(told().length <= words + 1, 'systemd hears no more');
  });
}
