import { connect, type Socket } from 'node:net';
import t from 'tap';
import { LineCells } from '../../server/listen/line-cells.ts';
import { listenTcp, type TcpListener } from '../../server/listen/tcp.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const GRACE_MS = 2_000;

async function open(intake: FakeIntake): Promise<TcpListener> {
  const failed = (error: Error): void => {
    throw error;
  };
  const meter = LineCells.for(1).meter(0, 'tcp');
  return listenTcp({
    setting: 'tcp',
    host: '127.0.0.1',
    port: 0,
    sink: intake.sink,
    meter,
    failed,
  });
}

interface Client {
  socket: Socket;
  /** `end` when the service closed in order, otherwise the error's code. */
  ended: Promise<string>;
  received: () => number;
}

async function dial(port: number): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let receivedBytes = 0;
  socket.on('data', (chunk) => {
    receivedBytes += chunk.length;
  });
  const ended = new Promise<string>((resolve) => {
    socket.on('end', () => resolve('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return { socket, ended, received: () => receivedBytes };
}

t.test('a half-close is answered when the lines are durable, nothing is ever sent', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake);
  const { socket, ended, received } = await dial(listener.port);
  let isEnded = false;
  ended.then(() => {
    isEnded = true;
  });
  socket.write('key one\nkey tw');
  await intake.until(() => intake.texts.length === 1);
  socket.end('o\r\nlast');
  await intake.until(() => intake.texts.join('').endsWith('last\n'));
  t.equal(intake.texts.join(''), 'key one\nkey two\r\nlast\n');
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isEnded, 'open until the lines are durable');
  intake.settle();
  t.equal(await ended, 'end');
  t.equal(received(), 0);
  await listener.close(GRACE_MS);
});

t.test('a connection without lines is closed at once, and holds no slot', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake);
  const { socket, ended } = await dial(listener.port);
  t.equal(intake.thread.slots.freeBytes, intake.thread.slots.totalBytes);
  socket.end();
  t.equal(await ended, 'end');
  await listener.close(GRACE_MS);
});

t.test('lines that were lost reset their connection', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake);
  const { socket, ended } = await dial(listener.port);
  socket.end('key one\n');
  await intake.until(() => intake.texts.length === 1);
  intake.settle(503);
  t.equal(await ended, 'ECONNRESET');
  await listener.close(GRACE_MS);
});

t.test('a connection whose lines are not read by the worker is not read', async (t) => {
  const intake = new FakeIntake(512);
  const listener = await open(intake);
  const { socket, ended } = await dial(listener.port);
  const line = `key ${'x'.repeat(995)}\n`;
  const lineCount = 16_000;
  const text = line.repeat(lineCount);
  socket.end(text);
  const total = (): number => intake.texts.reduce((sum, part) => sum + part.length, 0);
  await intake.until(() => total() > 1_048_576);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(total() < 3_000_000, `${total()} bytes were read while the worker read none`);
  while (total() < text.length) {
    intake.settle();
    intake.makeRoom();
    await intake.until(() => intake.tasks.length > 0);
  }
  t.equal(intake.texts.join(''), text);
  intake.settle();
  t.equal(await ended, 'end');
  await listener.close(GRACE_MS);
});

t.test('without room in the memory the connections wait for it', async (t) => {
  const intake = new FakeIntake(8);
  const listener = await open(intake);
  const clients = await Promise.all([1, 2, 3, 4].map(() => dial(listener.port)));
  const lines = ['a', 'b', 'c', 'd'].map((letter) => `key ${letter.repeat(995)}\n`);
  for (const [at, { socket }] of clients.entries()) socket.end(lines[at].repeat(1_000));
  const total = (): number => intake.texts.reduce((sum, part) => sum + part.length, 0);
  while (total() < 4_000 * lines[0].length) {
    await intake.until(() => intake.tasks.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    intake.settle();
    intake.makeRoom();
  }
  for (const line of lines) t.equal(intake.texts.join('').split(line).length, 1_001);
  t.equal(total(), 4_000 * lines[0].length);
  intake.settle();
  t.same(await Promise.all(clients.map((client) => client.ended)), ['end', 'end', 'end', 'end']);
  t.equal(intake.thread.slots.freeBytes, intake.thread.slots.totalBytes);
  await listener.close(GRACE_MS);
});

t.test('what waits for room stays as it is while other listeners read', async (t) => {
  const [full, other] = [new FakeIntake(32), new FakeIntake(32)];
  const [first, second] = await Promise.all([open(full), open(other)]);
  full.thread.takesLines = false;
  const waiting = await dial(first.port);
  waiting.socket.end('key one\n');
  while (!full.isFull) await new Promise((resolve) => setImmediate(resolve));
  const passing = await dial(second.port);
  passing.socket.end('key two\n');
  await other.until(() => other.texts.join('') === 'key two\n');
  full.thread.takesLines = true;
  full.makeRoom();
  await full.until(() => full.texts.length === 1);
  t.equal(full.texts.join(''), 'key one\n');
  for (const intake of [full, other]) intake.settle();
  t.same(await Promise.all([waiting.ended, passing.ended]), ['end', 'end']);
  await Promise.all([first.close(GRACE_MS), second.close(GRACE_MS)]);
});

t.test('a stop resets who has not ended, when what was received is durable', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake);
  const { socket, ended } = await dial(listener.port);
  let isEnded = false;
  ended.then(() => {
    isEnded = true;
  });
  socket.write('key one\nkey tw');
  await intake.until(() => intake.texts.length === 1);
  const closed = listener.close(GRACE_MS);
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isEnded, 'open until the line is durable');
  intake.settle();
  t.equal(await ended, 'ECONNRESET');
  t.equal(intake.texts.join(''), 'key one\n', 'half a line is no event');
  await closed;
});

t.test('a stop closes in order behind a half-close that was seen', async (t) => {
  const intake = new FakeIntake(32);
  const listener = await open(intake);
  const { socket, ended } = await dial(listener.port);
  socket.end('key one\nlast');
  await intake.until(() => intake.texts.join('') === 'key one\nlast\n');
  const closed = listener.close(GRACE_MS);
  intake.settle();
  t.equal(await ended, 'end');
  await closed;
});
