import { connect, type Socket } from 'node:net';
import t from 'tap';
import { readExposition, sumOf } from '../support/exposition.ts';
import { Neighbour } from '../support/neighbour.ts';
import {
  listAll,
  removeFolder,
  request,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
const service = await startService(folder, [
  ...['--ingest-workers', '2', '--query-workers', '1', '--metrics-open', 'true'],
]);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

const neighbour = new Neighbour(service, { from: '127.0.0.2' });
await neighbour.alone();

async function metric(name: string): Promise<number> {
  const { text } = await request(`${service.http}/metrics`);
  return sumOf(readExposition(text), name, {});
}

/** Resolves when the service has taken all that was written to a socket, or has ended it. */
function write(socket: Socket, content: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
    socket.write(content, () => resolve());
  });
}

function dial(from: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const address = { port: service.tcpPort, host: '127.0.0.1', localAddress: from };
    const socket = connect({ ...address, allowHalfOpen: true }, () => {
      socket.off('error', reject).on('error', () => {});
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

/** Resolves with how the service ends a connection whose lines are all sent. */
function endOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('end', () => resolve('end')).on('close', () => resolve('close'));
    socket.resume();
    socket.end();
  });
}

t.test('1.3 lines without an end and a key take no memory, and no sender gives way', async (t) => {
  const starts = ['x', 'nokeynokeynokeynokey22 ', '<13>1 - - ', '{"a":"', '5000000 nokey '];
  const sockets = await Promise.all(Array.from({ length: 70 }, () => dial('127.0.0.3')));
  const dropped = await metric('logseam_lines_dropped_total');
  await Promise.all(
    sockets.map((socket, at) => write(socket, starts[at % 5] + 'x'.repeat(1_000_000))),
  );
  while ((await metric('logseam_lines_dropped_total')) < dropped + sockets.length) {
    await neighbour.more(1);
  }
  t.equal((await listAll(service, { filters: [{ search: 'xxx*' }] })).length, 0);
  await Promise.all(sockets.map((socket) => write(socket, `\n${service.writeKey} behind\n`)));
  // What was declared to come of a frame has not.
  const framed = sockets.length / 5;
  t.same(
    new Set(await Promise.all(sockets.map(endOf))),
    new Set(['end']),
    'no connection was ended for its lines',
  );
  const behind = await listAll(service, { filters: [{ search: 'behind' }] });
  t.equal(behind.length, sockets.length - framed);
  await neighbour.more(20);
});

t.test('1.3 of lines with a key the largest are cut when a peer has too many', async (t) => {
  const sockets = await Promise.all(Array.from({ length: 30 }, () => dial('127.0.0.3')));
  const texts = sockets.map((_, at) => `cut${at} ${'y'.repeat(900_000)}`);
  await Promise.all(sockets.map((socket, at) => write(socket, `${service.writeKey} ${texts[at]}`)));
  await neighbour.more(20);
  t.same(new Set(await Promise.all(sockets.map(endOf))), new Set(['end']));
  const events = await listAll(service, { filters: [{ search: 'cut*' }] });
  t.equal(events.length, sockets.length, 'each line is stored once');
  const cut = events.filter(({ event }) => event.custom['_truncated'] === true);
  t.ok(cut.length >= 10 && cut.length < 30, `${cut.length} are cut`);
  for (const { event } of events) {
    const { message = '' } = event;
    const whole = texts[Number(/^cut(\d+)/.exec(message)?.[1])] ?? '';
    t.ok(cut.some((each) => each.event === event) ? whole.startsWith(message) : whole === message);
  }
  t.ok((await metric('logseam_held_bytes')) < 64 * 1024 * 1024);
  await neighbour.check(t);
});
