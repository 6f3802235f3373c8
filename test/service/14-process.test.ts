import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import t from 'tap';
import { Neighbour } from '../support/neighbour.ts';
import {
  COMMAND,
  removeFolder,
  request,
  runCommand,
  send,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

/** Where a service is that has told so; its output is closed then. */
async function addressOf(output: Readable | null): Promise<string | undefined> {
  let told = '';
  for await (const chunk of output ?? []) {
    told += chunk;
    if (told.endsWith('ready\n')) break;
  }
  return /http:\/\/127\.0\.0\.1:\d+/.exec(told)?.[0];
}

t.test('a service whose output nobody reads any more goes on', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const full = openSync('/dev/full', 'w');
  for (const errors of ['pipe', full] as const) {
    const args = ['serve', '--data', folder, ...TEST_LISTENERS, '--log-level', 'debug'];
    const child = spawn(COMMAND, args, { stdio: ['ignore', 'pipe', errors] });
    child.stderr?.destroy();
    const http = await addressOf(child.stdout);
    for (let times = 0; times < 20; times++) {
      child.kill('SIGHUP');
      t.equal((await request(`${http}/healthz`)).status, 200);
    }
    child.kill('SIGTERM');
    t.same(await once(child, 'close'), [0, null]);
  }
  closeSync(full);
});

t.test('a service whose messages nobody takes goes on, and ends', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const settings = join(folder, 'settings');
  writeFileSync(settings, '');
  const args = ['serve', '--data', join(folder, 'data'), ...TEST_LISTENERS, '--config', settings];
  const child = spawn(COMMAND, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const http = await addressOf(child.stdout);
  // Each message about this name is larger than what a pipe holds.
  writeFileSync(settings, `${'x'.repeat(100_000)} = 1`);
  for (let times = 0; times < 20; times++) {
    child.kill('SIGHUP');
    t.equal((await request(`${http}/healthz`)).status, 200);
  }
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('the variables of a Kubernetes service named logseam change nothing', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const service = await startService(folder, [], {
    environment: {
      LOGSEAM_SERVICE_HOST: '10.0.0.1',
      LOGSEAM_PORT: 'tcp://10.0.0.1:8080',
      LOGSEAM_PORT_8080_TCP_ADDR: '10.0.0.1',
    },
  });
  t.equal((await send(service, '{}')).status, 200);
  t.equal(await service.stop(), 0);
});

t.test('an address that is taken or not there is refused, with its setting and why', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const certificate = ['--https', '127.0.0.1:0', '--tls', '127.0.0.1:0', '--udp', '127.0.0.1:0'];
  const input = ['--http-input', '127.0.0.1:0', '--https-input', '127.0.0.1:0'];
  const service = await startService(folder, [...certificate, ...input, '--ingest-workers', '2']);
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  const port = (url: string): number => Number(new URL(url).port);
  const settings = new Map([
    ['http', port(service.http)],
    ['https', port(service.https)],
    ['http_input', port(service.httpInput)],
    ['https_input', port(service.httpsInput)],
    ['tcp', service.tcpPort],
    ['tls', service.tlsPort],
    ['udp', service.udpPort],
  ]);
  const second = temporaryFolder();
  t.teardown(() => removeFolder(second));
  const refused = async (setting: string, address: string, why: string): Promise<void> => {
    const flags = ['--data', second, ...TEST_LISTENERS];
    const flag = `--${setting.replace('_', '-')}`;
    const { code, stderr } = await runCommand(['serve', ...flags, flag, address]);
    t.equal(code, 1);
    t.match(stderr, `${setting} is ${address}, which cannot be listened on: ${why}`);
  };
  for (const [setting, taken] of settings) {
    const holder = `node (process ${service.pid}) listens there (EADDRINUSE)`;
    const flag = `--${setting.replace('_', '-')}`;
    const remedy = `${flag} or LOGSEAM_${setting.toUpperCase()} sets another address`;
    await refused(setting, `127.0.0.1:${taken}`, `${holder}; ${remedy}`);
  }
  const absent = 'this machine does not have the address (EADDRNOTAVAIL)';
  for (const setting of ['http', 'udp']) await refused(setting, '192.0.2.1:0', absent);
  const path = join(second, 'settings');
  const tables = [0, service.tcpPort].map(
    (each) => `[[listener]]\nprotocol = "tcp"\naddress = "127.0.0.1:${each}"\nkey = "default"\n`,
  );
  writeFileSync(path, tables.join(''));
  const flags = ['--data', join(second, 'data'), ...TEST_LISTENERS, '--config', path];
  const { stderr } = await runCommand(['serve', ...flags]);
  t.match(stderr, `listener 2 is 127.0.0.1:${service.tcpPort}, which cannot be listened on:`);
  t.match(stderr, '(EADDRINUSE); the configuration file sets its address');
  await neighbour.check(t);
  t.equal(await service.stop(), 0);
});
