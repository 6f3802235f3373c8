import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import {
  listAll,
  removeFolder,
  runCommand,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
const config = join(folder, 'settings.toml');
writeFileSync(config, 'body_mb_max = 64\n');
const data = join(folder, 'data');
const service = await startService(data, ['--tls', '127.0.0.1:0', '--config', config]);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const { writeKey, tlsPort } = service;
const certPath = join(data, 'tls/cert.pem');
const fixture = (name: string): string => new URL(`../fixture/${name}`, import.meta.url).pathname;

/** Connects as a client that trusts the service's certificate. */
function dial(options: object = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const own = { port: tlsPort, host: '127.0.0.1', allowHalfOpen: true };
    const all: ConnectionOptions = { ca: readFileSync(certPath), ...own, ...options };
    const socket = connect(all, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Sends, half-closes, and resolves when the service has closed its side. */
async function sendTls(content: string | Uint8Array, options: object = {}): Promise<void> {
  const socket = await dial(options);
  await new Promise<void>((resolve) => {
    socket.resume();
    socket.on('end', resolve);
    socket.end(content);
  });
}

/** Messages of the events that match a search, oldest first. */
async function messages(query: string): Promise<(string | undefined)[]> {
  const events = await listAll(service, { filters: [{ search: query }] });
  return events.map(({ event }) => event.message).reverse();
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}

t.test(
  'the first start makes a certificate for this machine and tells its fingerprint',
  async (t) => {
    t.equal(statSync(join(data, 'tls/key.pem')).mode & 0o777, 0o600);
    t.match(service.output(), certPath);
    const socket = await dial({ host: 'localhost' });
    const certificate = socket.getPeerCertificate();
    const rows = certificate.fingerprint256.match(/.{47}:?/g) ?? [];
    t.match(service.output(), `SHA-256      ${rows.join('\n               ')}\n`);
    t.match(certificate.subjectaltname, /DNS:localhost/);
    t.match(certificate.subjectaltname, /IP Address:127\.0\.0\.1/);
    socket.destroy();
  },
);

t.test('lines over TLS are durable when the service has closed its side', async (t) => {
  await sendTls(`${writeKey} tlsline one\n${writeKey} tlsline two\r\n${writeKey} tlsline last`);
  t.same(await messages('tlsline'), ['tlsline one', 'tlsline two', 'tlsline last']);
});

t.test('a large stream arrives whole and in order', async (t) => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `${writeKey} big${n} ${'x'.repeat(400)}\n`);
  await sendTls(lines.join(''));
  const found = (await listAll(service)).map(({ event }) => event.message ?? '');
  const numbers = found.flatMap((text) => /^big(\d+) /.exec(text)?.[1] ?? []).map(Number);
  t.same(
    numbers.reverse(),
    Array.from({ length: 5_000 }, (_, n) => n),
  );
});

t.test('octet-counted frames may hold line feeds, and lines may follow', async (t) => {
  const frame = (content: string): string => `${content.length + 23} ${writeKey} ${content}`;
  await sendTls(
    `${frame('framed a\nb')}${frame('framed c\n')}${writeKey} framed d\n${frame('framed e')}`,
  );
  t.same(await messages('framed'), ['framed a\nb', 'framed c', 'framed d', 'framed e']);
});

t.test('TLS 1.2 is the newest version, older ones than 1.2 are not there', async (t) => {
  const socket = await dial();
  t.equal(socket.getProtocol(), 'TLSv1.2');
  socket.destroy();
  await t.rejects(dial({ minVersion: 'TLSv1.3' }));
  await t.rejects(dial({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }));
});

t.test('clients that never read and close at once lose no line', async (t) => {
  for (let n = 0; n < 16; n++) {
    const socket = await dial({ allowHalfOpen: false });
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.end(`${writeKey} unread${n} unreads\n`, resolve));
    socket.destroySoon();
  }
  await until(async () => (await messages('unreads')).length === 16);
  t.pass('all are there');
});

t.test('plain text on the TLS port is cut off, the service goes on', async (t) => {
  const closed = new Promise<void>((resolve) => {
    const socket = connectPlain(tlsPort, '127.0.0.1', () => socket.write(`${writeKey} plain\n`));
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  await closed;
  await sendTls(`${writeKey} afterplain\n`);
  t.equal((await messages('afterplain')).length, 1);
});

t.test('SIGHUP reads settings and certificate again, and open connections stay', async (t) => {
  const open = await dial();
  open.resume();
  writeFileSync(certPath, readFileSync(fixture('tls-cert.pem')));
  writeFileSync(join(data, 'tls/key.pem'), readFileSync(fixture('tls-key.pem')));
  writeFileSync(config, 'body_mb_max = 1\nlog_level = "debug"\nseal_rows = 5000\n');
  process.kill(service.pid, 'SIGHUP');
  await until(() => service.output().includes('the certificate was read'));
  t.match(service.output(), /a setting has changed","setting":"body_mb_max"/);
  t.match(service.output(), /needs a restart","setting":"seal_rows"/);
  const next = await dial({ rejectUnauthorized: false });
  t.not(next.getPeerCertificate().fingerprint256, open.getPeerCertificate().fingerprint256);
  next.destroy();
  const ended = new Promise((resolve) => open.on('end', resolve));
  open.end(`${writeKey} stayed open\n`);
  await ended;
  t.equal((await messages('stayed')).length, 1);
  const large = await fetch(`${service.http}/v1/input/${writeKey}`, {
    method: 'POST',
    body: 'x '.repeat(600_000),
  });
  t.equal(large.status, 413, 'the new limit is in force');

  writeFileSync(certPath, 'no certificate');
  writeFileSync(config, 'body_mb_max = "many"\n');
  process.kill(service.pid, 'SIGHUP');
  await until(() => service.output().includes('the one in force stays'));
  t.match(service.output(), /those in force stay/);
  (await dial({ rejectUnauthorized: false })).destroy();
});

t.test('a certificate that cannot be used is an error at the start', async (t) => {
  const cert = fixture('tls-cert.pem');
  const other = join(folder, 'other');
  const table: [string[], RegExp][] = [
    [['--tls-cert', cert], /tls_cert is set and tls_key is not/],
    [['--tls-cert', '/absent.pem', '--tls-key', cert], /tls_cert: \/absent\.pem does not exist/],
    [['--tls-cert', config, '--tls-key', cert], /holds no PEM certificate/],
    [['--tls-cert', cert, '--tls-key', cert], /holds no PEM private key/],
  ];
  for (const [flags, message] of table) {
    const args = ['serve', '--data', other, ...TEST_LISTENERS, '--tls', '127.0.0.1:0', ...flags];
    const { code, stderr } = await runCommand(args);
    t.not(code, 0);
    t.match(stderr, message);
  }
});
