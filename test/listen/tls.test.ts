import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { LineCells } from '../../server/listen/line-cells.ts';
import { listenTls, type TlsListener, type TlsOptions } from '../../server/listen/tls.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const GRACE_MS = 2_000;
const cells = LineCells.for(1);
const HANDSHAKE_MS = 250;

function fixture(name: string): string {
  return readFileSync(new URL(`../fixture/${name}`, import.meta.url), 'utf8');
}

function open(intake: FakeIntake, changes: Partial<TlsOptions> = {}): Promise<TlsListener> {
  const failed = (error: Error): void => {
    throw error;
  };
  const certificate = { cert: fixture('tls-cert.pem'), key: fixture('tls-key.pem') };
  const address = { host: '127.0.0.1', port: 0 };
  const meter = cells.meter(0, 'tls');
  const secure = { certificate, versionMax: '1.2', ticketKeys: randomBytes(48) } as const;
  return listenTls({
    setting: 'tls',
    ...address,
    sink: intake.sink,
    meter,
    failed,
    ...secure,
    ...changes,
  });
}

function dial(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', () => {});
    socket.resume();
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.on('close', () => resolve()));
}

/** Resolves when a handshake has ended: what was dialled before it has been accepted. */
function handshake({ port }: TlsListener): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, rejectUnauthorized: false }, () => {
      socket.on('close', () => resolve());
      socket.destroy();
    });
  });
}

t.test('a handshake that never ends is closed after its time', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake, { handshakeMs: HANDSHAKE_MS });
  const silent = await dial(listener.port);
  const begun = await dial(listener.port);
  // The head of a record of 512 bytes, and nothing behind it.
  begun.write(Uint8Array.from([22, 3, 1, 2, 0, 1]));
  const whole = connectTls({ port: listener.port, rejectUnauthorized: false });
  await new Promise<void>((resolve) => whole.on('secureConnect', resolve));
  await Promise.all([closed(silent), closed(begun)]);
  t.equal(
    cells.counts('tls').connectionsOpen,
    1,
    'only connections behind their handshake are open',
  );
  whole.write('key late\n');
  await intake.until(() => intake.texts.includes('key late\n'));
  intake.settle();
  whole.end();
  whole.resume();
  await closed(whole);
  t.match(cells.counts('tls'), { connections: 1 });
  await listener.close(GRACE_MS);
});

t.test('handshakes that are under way do not keep the listener open', async (t) => {
  const listener = await open(new FakeIntake(32));
  const silent = await dial(listener.port);
  const ended = closed(silent);
  await handshake(listener);
  await listener.close(GRACE_MS);
  await ended;
  t.pass('it was cut off');
});
