import { connect, type Socket } from 'node:net';
import t from 'tap';
import { cpuSeconds, listAll, peakMegabytes, sendTcp, testService } from '../support/service.ts';

const CONNECTIONS = 10_000;
/** Source addresses of the loopback range, so that ports suffice. */
const SOURCES = 4;
const OPENED_AT_ONCE = 200;

const service = await testService(t);
function open(index: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const localAddress = `127.0.0.${2 + (index % SOURCES)}`;
    const socket = connect({ port: service.tcpPort, host: '127.0.0.1', localAddress }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
  });
}

t.test('10,000 idle connections cost a busy one nothing that it notices', async (t) => {
  const sockets: Socket[] = [];
  while (sockets.length < CONNECTIONS) {
    const wave = Array.from({ length: OPENED_AT_ONCE }, (_, n) => open(sockets.length + n));
    sockets.push(...(await Promise.all(wave)));
  }
  t.equal(sockets.length, CONNECTIONS);
  const before = cpuSeconds(service.pid);
  const lines = Array.from({ length: 50_000 }, (_, n) => `${service.writeKey} {"busy":${n}}\n`);
  await sendTcp(service.tcpPort, lines.join(''));
  t.comment(`${cpuSeconds(service.pid) - before} CPU s, ${peakMegabytes(service.pid)} MB at most`);
  const last = await listAll(service, { filters: [{ search: 'busy:49999' }] });
  t.equal(last.length, 1);
  for (const [index, socket] of sockets.entries()) {
    if (index % 100 === 0) socket.write(`${service.writeKey} {"idle":${index}}\n`);
  }
  const closed = sockets.map(
    (socket) => new Promise((resolve) => socket.on('close', resolve).resume().end()),
  );
  await Promise.all(closed);
  const idle = await listAll(service, { filters: [{ search: 'idle:*' }] });
  t.equal(idle.length, CONNECTIONS / 100, 'what idle connections send in the end arrives');
});
