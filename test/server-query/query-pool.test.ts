import t from 'tap';
import { Catalog } from '../../engine/store/catalog.ts';
import type { JobAnswer, QueryJob } from '../../server/query/job.ts';
import { noProgress } from '../../server/query/live-queries.ts';
import { QueryPool, type QueryPoolOptions } from '../../server/query/query-pool.ts';
import { QueryRefused } from '../../server/query/refusal.ts';
import { textOf } from '../support/answer.ts';

const ENTRY = new URL('../support/query-echo.ts', import.meta.url);
const BLOCK = {
  sealed: false,
  segment: 1,
  writer: 0,
  offset: 0,
  bytes: 64,
  ordinal: 1,
  rowCount: 1,
  firstSequence: 0,
  endSequence: 1,
  minTimeMs: 0,
  maxTimeMs: 0,
};

function job(id: string): QueryJob {
  return { type: 'fetch', query: { id, predicate: { type: 'all' }, event: true, columns: [] } };
}

function parsed(answer: JobAnswer): unknown {
  return JSON.parse(textOf(answer) ?? 'null');
}

/** Status and reason with which a query is refused. */
async function refusal(answer: Promise<JobAnswer>): Promise<string> {
  try {
    return `answered: ${textOf(await answer)}`;
  } catch (error) {
    return error instanceof QueryRefused ? `${error.status} ${error.reason}` : String(error);
  }
}

interface Opened {
  pool: QueryPool;
  run: (id: string, signal?: AbortSignal, key?: string) => Promise<JobAnswer>;
  /** Commits a group of so many blocks. */
  commit: (blockCount: number) => void;
  deaths: Error[];
}

async function open(workers: number, changes: Partial<QueryPoolOptions> = {}): Promise<Opened> {
  const catalog = new Catalog();
  let ordinal = 0;
  const deaths: Error[] = [];
  const pool = new QueryPool({
    workers,
    queries: 32,
    perKey: 4,
    seconds: 60,
    root: 'folder',
    memoryMb: 256,
    totalMemoryMb: 512,
    cacheMb: 16,
    files: 64,
    secret: new Uint8Array(32),
    behind: new SharedArrayBuffer(4),
    changes: (since) => catalog.changes(since),
    died: (error) => deaths.push(error),
    entry: ENTRY,
    restartTimes: { firstMs: 1, mostMs: 5, longLifeMs: 60_000 },
    ...changes,
  });
  await pool.ready();
  return {
    pool,
    run: (id, signal = new AbortController().signal, key = 'key') => pool.run(job(id), signal, key),
    commit: (blockCount) => {
      const blocks = Array.from({ length: blockCount }, () => ({ ...BLOCK, ordinal: ++ordinal }));
      catalog.apply({
        segment: 1,
        group: 1,
        bytes: 64,
        blocks,
        superseded: [],
        usage: [],
        claim: { first: 0, end: 1 },
      });
    },
    deaths,
  };
}

t.test('a query sees what is committed when it begins; blocks are sent once', async (t) => {
  const { pool, run, commit } = await open(1);
  const expect = { root: 'folder', cancelCount: 0 };
  t.same(parsed(await run('x')), { ...expect, blockCount: 0, sent: 0 });
  t.same(parsed(await run('x')), { ...expect, blockCount: 0, sent: -1 });
  commit(2);
  t.same(parsed(await run('x')), { ...expect, blockCount: 2, sent: 2 });
  commit(1);
  commit(1);
  t.same(parsed(await run('x')), { ...expect, blockCount: 4, sent: 2 });
  await pool.close();
});

t.test('errors keep their code, and bugs have none', async (t) => {
  const { pool, run } = await open(1);
  await t.rejects(run('refuse'), { name: 'EngineError', code: 'USAGE', message: 'no' });
  await t.rejects(run('break'), { name: 'Error', message: 'bug' });
  await pool.close();
});

t.test('an idle worker joins in a scan, and what it found comes to the owner', async (t) => {
  const { pool, run } = await open(2);
  const expect = { share: 7, member: 2 };
  t.same(parsed(await run('share')), { ...expect, opened: [3], cells: 'cube' });
  t.equal(pool.counts.joined, 1);
  t.same(parsed(await run('share', undefined, 'refuse')), { ...expect, opened: [] });
  t.equal(pool.counts.joined, 1, 'of one that failed nothing is taken');
  await pool.close();
});

t.test('a worker that dies while it joins leaves its blocks to the owner', async (t) => {
  const { pool, run, deaths } = await open(2);
  const answer = parsed(await run('share', undefined, 'exit'));
  t.same(answer, { share: 7, member: 2, opened: [] });
  t.equal(deaths.length, 1);
  await pool.close();
});

t.test('those who join in a query that is over are told so', async (t) => {
  const { pool, run } = await open(2);
  const abort = new AbortController();
  const progress = noProgress();
  const sharing = pool.run(job('share'), abort.signal, 'silent', progress);
  while (progress.unitsDone === 0) await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  await t.rejects(sharing, { code: 'CANCELLED' });
  const both = await Promise.all([run('x'), run('x')]);
  t.match(both.map(parsed), [{ cancelCount: 1 }, { cancelCount: 1 }]);
  await pool.close();
});

t.test('an aborted query is cancelled in its worker', async (t) => {
  const { pool, run } = await open(1);
  const abort = new AbortController();
  const hanging = run('hang', abort.signal);
  abort.abort();
  await t.rejects(hanging, { code: 'CANCELLED' });
  t.match(parsed(await run('x')), { cancelCount: 1 });
  await t.rejects(run('x', abort.signal), { code: 'CANCELLED' }, 'before it began');
  await pool.close();
});

t.test('it is told how far a query is, and no more once it was stopped', async (t) => {
  const { pool, run } = await open(1, { perKey: 1 });
  const abort = new AbortController();
  const progress = noProgress();
  const second = noProgress();
  const running = pool.run(job('half'), abort.signal, 'key', progress);
  const waiting = pool.run(job('x'), new AbortController().signal, 'key', second);
  t.same(second, { state: 'waiting', unitsDone: 0, unitsTotal: 0 });
  await run('x', undefined, 'another key');
  t.same(progress, { state: 'running', unitsDone: 5, unitsTotal: 10 });
  abort.abort(new QueryRefused(503, 'cancelled', 'by its key'));
  t.equal(await refusal(running), '503 cancelled');
  await waiting;
  t.equal(second.state, 'running');
  t.match(pool.counts, { refused: { cancelled: 1 }, cancelled: 0 });
  const gone = new AbortController();
  const late = pool.run(job('half'), gone.signal, 'key');
  gone.abort();
  await t.rejects(late, { code: 'CANCELLED' });
  t.match(parsed(await run('x')), { cancelCount: 2 }, 'progress that comes late is left aside');
  await pool.close();
});

t.test('a query goes to the worker with the fewest', async (t) => {
  const { pool, run } = await open(2);
  const hanging = run('hang');
  for (let count = 0; count < 3; count++) t.match(parsed(await run('x')), { blockCount: 0 });
  const closed = pool.close();
  t.equal(await refusal(hanging), '503 stopping');
  await closed;
  t.equal(await refusal(run('x')), '503 stopping');
});

t.test(
  'what a dead worker had to do fails, the other goes on, a new one takes its place',
  async (t) => {
    const { pool, run, commit, deaths } = await open(2);
    const beside = run('hang');
    t.equal(await refusal(run('exit')), '503 worker_died');
    t.equal(deaths.length, 1);
    t.match(parsed(await run('x')), { blockCount: 0 }, 'the other answers');
    commit(1);
    while (pool.gauges().workersUp < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    t.equal(pool.restartCount, 1);
    const answers = await Promise.all(
      [run('x'), run('x')].map(async (answer) => parsed(await answer)),
    );
    for (const answer of answers) t.match(answer, { blockCount: 1 }, 'the new one has all blocks');
    t.match(pool.gauges(), { running: 1 }, 'the query of the other was not touched');
    t.match(pool.counts.refused, { worker_died: 1 });
    const closed = pool.close();
    t.equal(await refusal(beside), '503 stopping');
    await closed;
  },
);

t.test('without a worker queries are refused until there is one again', async (t) => {
  const { pool, run } = await open(1, {
    restartTimes: { firstMs: 50, mostMs: 50, longLifeMs: 60_000 },
  });
  t.equal(await refusal(run('exit')), '503 worker_died');
  t.equal(await refusal(run('x')), '503 worker_died');
  while (pool.gauges().workersUp === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  t.match(parsed(await run('x')), { blockCount: 0 });
  t.match(pool.gauges(), { running: 0, waiting: 0 });
  await pool.close();
});

t.test('of one key a few queries run at once, some wait, more are refused', async (t) => {
  const { pool, run } = await open(1, { perKey: 2 });
  const aborts = [new AbortController(), new AbortController()];
  const running = aborts.map(({ signal }) => run('hang', signal));
  const waiting = Array.from({ length: 64 }, () => run('x'));
  t.match(pool.gauges(), { running: 2, waiting: 64 });
  t.equal(await refusal(run('x')), '429 queue_full');
  t.match(parsed(await run('x', undefined, 'another key')), { blockCount: 0 });
  for (const abort of aborts) abort.abort();
  for (const query of running) await t.rejects(query, { code: 'CANCELLED' });
  await Promise.all(waiting);
  t.match(pool.gauges(), { running: 0, waiting: 0 });
  t.equal(
    pool.counts.seconds.fetch.counts.reduce((sum, count) => sum + count),
    65,
  );
  await pool.close();
});

t.test('of all keys some run at once, and the next is of the key with the fewest', async (t) => {
  const { pool, run } = await open(1, { queries: 2, perKey: 2 });
  const aborts = [new AbortController(), new AbortController()];
  const stopped = aborts.map(({ signal }) =>
    t.rejects(run('hang', signal, 'first'), { code: 'CANCELLED' }),
  );
  const order: string[] = [];
  const wait = (key: string): Promise<void> =>
    run('x', undefined, key).then(() => {
      order.push(key);
    });
  const waiting = ['first', 'first', 'second', 'third', 'second'].map(wait);
  t.match(pool.gauges(), { running: 2, waiting: 5 });
  aborts[0].abort();
  await Promise.all(waiting);
  t.same(order, ['second', 'third', 'second', 'first', 'first']);
  aborts[1].abort();
  await Promise.all(stopped);
  t.match(pool.gauges(), { running: 0, waiting: 0 });
  await pool.close();
});

t.test('a query that waits and whose client leaves is never run', async (t) => {
  const { pool, run } = await open(1, { perKey: 1 });
  const first = new AbortController();
  const second = new AbortController();
  const running = run('hang', first.signal);
  const waiting = run('exit', second.signal);
  const third = run('x');
  second.abort();
  await t.rejects(waiting, { code: 'CANCELLED' });
  first.abort();
  await t.rejects(running, { code: 'CANCELLED' });
  t.match(parsed(await third), { cancelCount: 1 });
  await pool.close();
});

t.test(
  'what waits for memory is left by its worker, and begins anew when there is some',
  async (t) => {
    const { pool, run } = await open(1, { totalMemoryMb: 256 });
    const stop = new AbortController();
    const first = run('heavy');
    const [second, third] = [run('heavy'), run('heavy')];
    const gone = refusal(run('heavy', stop.signal));
    stop.abort();
    t.equal(parsed(await first), 'allowed');
    t.same(parsed(await second), { root: 'folder', cancelCount: 3, blockCount: 0, sent: -1 });
    t.same(parsed(await third), { root: 'folder', cancelCount: 3, blockCount: 0, sent: -1 });
    t.match(await gone, /cancelled/);
    t.same(pool.gauges(), { workersUp: 1, running: 0, waiting: 0, memoryBytes: 0 });
    await pool.close();
  },
);

t.test('a query that takes too long is refused and stopped, running or waiting', async (t) => {
  const { pool, run } = await open(1, { perKey: 1, seconds: 0.5 });
  const queries = [run('hang'), run('hang')];
  for (const query of queries) {
    t.equal(await refusal(query), '503 deadline');
  }
  t.match(parsed(await run('x')), { cancelCount: 2 });
  t.match(pool.gauges(), { running: 0, waiting: 0 });
  await pool.close();
});

t.test('a worker that does not leave a stopped query is ended and replaced', async (t) => {
  const { pool, run, deaths } = await open(1, { seconds: 0.5, leaveMs: 300 });
  t.equal(await refusal(run('hang')), '503 deadline');
  t.equal(await refusal(run('spin')), '503 deadline');
  while (deaths.length === 0 || pool.gauges().workersUp === 0) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.match(parsed(await run('x')), { cancelCount: 0 }, 'a new worker answers');
  t.equal(deaths.length, 1);
  await pool.close();
});
