import { connect, type Socket } from 'node:net';
import t from 'tap';
import { Neighbour } from '../support/neighbour.ts';
import {
  peakMegabytes,
  removeFolder,
  runCommand,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const MIB = 1_048_576;

const folder = temporaryFolder();
const service = await startService(folder, ['--ingest-workers', '2', '--query-workers', '1']);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

/** Begins a request whose body does not come, but for its beginning. */
function begin(declared: number, sent: number): Promise<Socket> {
  const { hostname, port } = new URL(service.http);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const head = [
        `POST /v1/input/${service.writeKey} HTTP/1.1`,
        ...[`host: ${hostname}`, 'content-type: text/plain', `content-length: ${declared}`],
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(Buffer.alloc(sent, 'x'), () => resolve(socket));
    });
    socket.on('error', reject);
    socket.resume();
  });
}

t.test('4.4 bodies that are declared and do not come leave room for others', async (t) => {
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  const slow: Socket[] = [];
  for (let count = 0; count < 12; count++) slow.push(await begin(64 * MIB, 100_000));
  await neighbour.more(50);
  const line = `large ${'z'.repeat(990)}\n`;
  const large = line.repeat(Math.floor((60 * MIB) / line.length));
  t.equal((await send(service, large, 'text/plain')).status, 200);
  await neighbour.check(t);
  for (const socket of slow) socket.destroy();
  t.comment(`${peakMegabytes(service.pid)} MB at most`);
});

t.test('4.4 when many bodies stand still, the slowest give way to who comes', async (t) => {
  const slow: Socket[] = [];
  for (let count = 0; count < 22; count++) slow.push(await begin(60 * MIB, 14 * MIB));
  t.equal((await send(service, 'a line', 'text/plain')).status, 200);
  const line = `large ${'z'.repeat(990)}\n`;
  let status = 0;
  // A body that has come for a second counts as slow.
  while (status !== 200) {
    ({ status } = await send(service, line.repeat(20_000), 'text/plain'));
    t.ok(status === 200 || status === 429, `${status}`);
  }
  for (const socket of slow) socket.destroy();
});

t.test('4.4 a limit of bodies that no memory has room for is refused at the start', async (t) => {
  const { code, stderr } = await runCommand(['serve', '--data', folder, '--body-mb-max', '101']);
  t.equal(code, 2);
  t.match(
    stderr,
    /body_mb_max \(from --body-mb-max\) is "101"; allowed are whole numbers from 1 to 100/,
  );
});
