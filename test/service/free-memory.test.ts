import t from 'tap';
import { FreeMemory, openTrim } from '../../server/service/free-memory.ts';

const MEBIBYTE = 2 ** 20;

t.test('free memory is given back while much is resident, once at a time', async (t) => {
  let rssBytes = 100 * MEBIBYTE;
  const running: (() => void)[] = [];
  const memory = new FreeMemory(
    () => new Promise((resolve) => running.push(resolve)),
    () => rssBytes,
  );
  await memory.look();
  t.equal(running.length, 0);
  rssBytes = 600 * MEBIBYTE;
  const first = memory.look();
  await memory.look();
  t.equal(running.length, 1);
  running[0]();
  await first;
  void memory.look();
  t.equal(running.length, 2);
});

t.test('the C library gives free memory back', async (t) => {
  const trim = await openTrim();
  t.ok(trim);
  await trim?.();
});
