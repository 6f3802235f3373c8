import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import t from 'tap';
import {
  listAll,
  removeFolder,
  runCommand,
  sendTcp,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
const config = join(folder, 'settings.toml');
const data = join(folder, 'data');
const listener = (protocol: string, key: string): string =>
  `[[listener]]\nprotocol = "${protocol}"\naddress = "127.0.0.1:0"\nkey = "${key}"\n`;
writeFileSync(
  config,
  `tls_version_max = "1.3"\n${listener('tcp', 'default')}${listener('udp', 'default')}` +
    listener('tcp', 'later') +
    listener('tls', 'default'),
);
const service = await startService(data, ['--config', config]);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const ports = [...service.output().matchAll(/127\.0\.0\.1:(\d+), bound to the write key/g)];
const [tcpPort, udpPort, laterPort, tlsPort] = ports.map((match) => Number(match[1]));

async function found(query: string): Promise<(string | undefined)[]> {
  const events = await listAll(service, { filters: [{ search: query }] });
  return events.map(({ event }) => event.message).reverse();
}

function key(...args: string[]): Promise<unknown> {
  return runCommand(['key', ...args, '--data', data]);
}

t.test('lines of a bound listener need no key', async (t) => {
  await sendTcp(tcpPort, '404 bound text\n{"message":"bound json"}\nbound last');
  t.same(await found('bound'), ['404 bound text', 'bound json', 'bound last']);
  const frame = '<34>1 - - - - - - framed\nwith more';
  await sendTcp(tcpPort, `${frame.length} ${frame}17 {"message":"two"}`);
  t.equal((await found('framed')).length, 1);
  t.same(await found('two'), ['two']);
});

t.test('datagrams too', async (t) => {
  const socket = createSocket('udp4');
  await new Promise((resolve) =>
    socket.send('router one\nrouter two', udpPort, '127.0.0.1', resolve),
  );
  socket.close();
  let messages: (string | undefined)[] = [];
  while (messages.length < 2) messages = await found('router');
  t.same(messages, ['router one', 'router two']);
});

/** Sends lines over TLS, half-closes, and resolves with the version when the service has closed its side. */
async function sendTls(
  port: number,
  content: string,
  options: ConnectionOptions = {},
): Promise<unknown> {
  const ca = readFileSync(join(data, 'tls/cert.pem'));
  // The types of node:tls do not know that it passes this on.
  const halfOpen: object = { allowHalfOpen: true };
  const socket = connect({ port, host: '127.0.0.1', ca, ...halfOpen, ...options });
  socket.resume();
  const ended = new Promise((resolve) => socket.on('end', resolve));
  await new Promise((resolve, reject) => {
    socket.on('secureConnect', resolve);
    socket.on('error', reject);
  });
  const version = socket.getProtocol();
  socket.end(content);
  await ended;
  return version;
}

t.test('lines over TLS too, with 1.3 where it is asked for', async (t) => {
  t.equal(await sendTls(tlsPort, 'secure one\n{"message":"secure two"}\nsecure last'), 'TLSv1.3');
  t.same(await found('secure'), ['secure one', 'secure two', 'secure last']);
  const older = { maxVersion: 'TLSv1.2' } as const;
  t.equal(await sendTls(tlsPort, 'aged\n', older), 'TLSv1.2', 'older clients are served');
  t.same(await found('aged'), ['aged']);
});

t.test('switching the key off acts at once, and on again too', async (t) => {
  await key('disable', 'default');
  await sendTcp(tcpPort, 'switched off\n');
  await key('enable', 'default');
  await sendTcp(tcpPort, 'switched on\n');
  t.same(await found('switched'), ['switched on']);
});

t.test('a key that is made later is bound from then on, and not when it is deleted', async (t) => {
  t.match(service.output(), /drops its lines until its write key exists","key":"later"/);
  await sendTcp(laterPort, 'latent before\n');
  await key('create', '--write', '--name', 'later');
  await sendTcp(laterPort, 'latent after\n');
  await key('delete', '--write', 'later');
  await sendTcp(laterPort, 'latent deleted\n');
  t.same(await found('latent'), ['latent after']);
});
