import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { openPool, type Pool } from '../../engine/base/pool.ts';
import type { ToWorker } from '../support/pool-worker.ts';

const ENTRY = new URL('../support/pool-worker.ts', import.meta.url);
const GRACE_MS = 10_000;

function open(count: number, died: (thread: number, error: Error) => void): Pool<ToWorker, string> {
  return openPool<string, ToWorker, string>(ENTRY, count, (thread) => `data${thread}`, died);
}

function answers(pool: Pool<ToWorker, string>, thread: number, count: number): Promise<string[]> {
  const got: string[] = [];
  return new Promise((resolve) => {
    must(pool.ports[thread], 'port').listen((message) => {
      got.push(message);
      if (got.length === count) resolve(got);
    });
  });
}

t.test('each thread runs one task, whose event loop keeps working', async (t) => {
  const pool = open(2, (_, error) => t.fail(error.message));
  const got = pool.ports.map((_, thread) => answers(pool, thread, 3));
  for (const port of pool.ports) {
    port.post({ say: 'one' });
    port.post({ sleepMs: 5 });
    port.post({ say: 'two' });
  }
  t.same(await Promise.all(got), [
    ['0 data0 one', '0 data0 two', '0 data0 slept'],
    ['1 data1 one', '1 data1 two', '1 data1 slept'],
  ]);
  for (const port of pool.ports) port.post('end');
  await pool.close(GRACE_MS);
});

t.test('a thread that waits for messages takes them before its event loop turns', async (t) => {
  const pool = open(1, (_, error) => t.fail(error.message));
  const port = must(pool.ports[0], 'port');
  const waits = answers(pool, 0, 1);
  port.post({ sleepMs: 0 });
  port.post({ waitMs: 500 });
  await waits;
  const got = answers(pool, 0, 4);
  for (const say of ['one', 'two']) {
    port.post({ say });
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(await got, ['0 data0 one', '0 data0 two', '0 data0 nothing', '0 data0 slept']);
  port.post('end');
  await pool.close(GRACE_MS);
});

t.test('threads begin after what they wait for, and take what was posted before', async (t) => {
  const after = Promise.withResolvers<void>();
  const died = (_: number, error: Error): unknown => t.fail(error.message);
  const data = (thread: number): string => `data${thread}`;
  const pool = openPool<string, ToWorker, string>(ENTRY, 1, data, died, { after: after.promise });
  const got = answers(pool, 0, 1);
  must(pool.ports[0], 'port').post({ say: 'early' });
  after.resolve();
  t.same(await got, ['0 data0 early']);
  must(pool.ports[0], 'port').post('end');
  await pool.close(GRACE_MS);
});

t.test('a pool that is closed before its threads begin never begins them', async (t) => {
  const after = Promise.withResolvers<void>();
  const died = (_: number, error: Error): unknown => t.fail(error.message);
  const pool = openPool<string, ToWorker, string>(ENTRY, 2, () => '', died, {
    after: after.promise,
  });
  await pool.close(0);
  after.resolve();
  t.throws(() => pool.restart(0), /died/);
});

for (const [end, message] of [
  ['throw', /thrown in the worker/],
  ['exit', /exited with code: 3/],
  ['return', /returned/],
] as const) {
  t.test(`a thread that ends by ${end} is told once, the others go on`, async (t) => {
    const deaths: [number, string][] = [];
    const dead = Promise.withResolvers<void>();
    const pool = open(2, (thread, error) => {
      deaths.push([thread, error.message]);
      dead.resolve();
    });
    const echo = answers(pool, 1, 1);
    must(pool.ports[0], 'port').post(end);
    await dead.promise;
    must(pool.ports[1], 'port').post({ say: 'still here' });
    t.same(await echo, ['1 data1 still here']);
    must(pool.ports[1], 'port').post('end');
    await pool.close(GRACE_MS);
    t.equal(deaths.length, 1);
    t.equal(deaths[0]?.[0], 0);
    t.match(deaths[0]?.[1], message);
  });
}

t.test('a thread that died is started anew, with new data and a new channel', async (t) => {
  let starts = 0;
  const dead = Promise.withResolvers<void>();
  const pool = openPool<string, ToWorker, string>(
    ENTRY,
    2,
    (thread) => `start${thread}${starts++}`,
    () => dead.resolve(),
  );
  const before = must(pool.ports[0], 'port');
  before.post('exit');
  await dead.promise;
  before.post({ say: 'nobody hears it' });
  const port = pool.restart(0);
  t.equal(pool.ports[0], port);
  const echoes = [answers(pool, 0, 1), answers(pool, 1, 1)];
  for (const each of pool.ports) each.post({ say: 'hello' });
  t.same(await Promise.all(echoes), [['0 start02 hello'], ['1 start11 hello']]);
  for (const each of pool.ports) each.post('end');
  await pool.close(GRACE_MS);
});

t.test('all that a thread has posted is taken before its death is told', async (t) => {
  const got: string[] = [];
  const atDeath = Promise.withResolvers<number>();
  const pool = open(1, () => atDeath.resolve(got.length));
  const port = must(pool.ports[0], 'port');
  port.listen((message) => got.push(message));
  for (let number = 0; number < 1_000; number++) port.post({ say: String(number) });
  port.post('exit');
  t.equal(await atDeath.promise, 1_000);
  t.equal(got.at(-1), '0 data0 999');
  await pool.close(GRACE_MS);
});

t.test('a thread that runs out of memory dies alone', async (t) => {
  const dead = Promise.withResolvers<Error>();
  const pool = openPool<string, ToWorker, string>(
    ENTRY,
    2,
    (thread) => `data${thread}`,
    (_, error) => dead.resolve(error),
    { heap: { oldMb: 16 } },
  );
  must(pool.ports[0], 'port').post('hoard');
  t.match((await dead.promise).message, /memory/);
  const echo = answers(pool, 1, 1);
  must(pool.ports[1], 'port').post({ say: 'still here' });
  t.same(await echo, ['1 data1 still here']);
  must(pool.ports[1], 'port').post('end');
  await pool.close(GRACE_MS);
});

t.test('a task that does not end is ended when the grace is over', async (t) => {
  const pool = open(1, (_, error) => t.fail(error.message));
  const echo = answers(pool, 0, 1);
  must(pool.ports[0], 'port').post({ say: 'up' });
  await echo;
  await pool.close(1);
});
