import type { Socket } from 'node:net';
import t from 'tap';
import { beginBody, testSlowBodies } from '../support/attack.ts';
import { runCommand, send, testService } from '../support/service.ts';

const MIB = 1_048_576;

const service = await testService(t, ['--ingest-workers', '2', '--query-workers', '1']);
t.test('4.4 bodies that are declared and do not come leave room for others', (t) =>
  testSlowBodies(t, service, 12),
);

t.test('4.4 when many bodies stand still, the slowest give way to who comes', async (t) => {
  const slow: Socket[] = [];
  for (let count = 0; count < 22; count++) slow.push(await beginBody(service, 60 * MIB, 14 * MIB));
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
  const { code, stderr } = await runCommand([
    'serve',
    '--data',
    service.folder,
    '--body-mb-max',
    '101',
  ]);
  t.equal(code, 2);
  t.match(
    stderr,
    /body_mb_max \(from --body-mb-max\) is "101"; allowed are whole numbers from 1 to 100/,
  );
});
