import t from 'tap';
import type { Snapshot } from '../../engine/engine.ts';
import type { JobAnswer, QueryJob } from '../../server/query/job.ts';
import { QueryPool } from '../../server/query/query-pool.ts';

const ENTRY = new URL('../support/query-echo.ts', import.meta.url);
const BLOCK = {
  segment: 1,
  writer: 0,
  offset: 0,
  bytes: 64,
  ordinal: 1,
  rowCount: 1,
  firstSequence: 0,
  minTimeMs: 0,
  maxTimeMs: 0,
};

function job(id: string): QueryJob {
  return { type: 'fetch', query: { id, predicate: { type: 'all' }, event: true, columns: [] } };
}

function parsed(answer: JobAnswer): unknown {
  return JSON.parse(answer ?? 'null');
}

interface Opened {
  pool: QueryPool;
  run: (id: string, signal?: AbortSignal) => Promise<JobAnswer>;
  set: (snapshot: Snapshot) => void;
  deaths: Error[];
}

async function open(workers: number): Promise<Opened> {
  let snapshot: Snapshot = { blocks: [] };
  const deaths: Error[] = [];
  const pool = new QueryPool({
    workers,
    root: 'folder',
    secret: new Uint8Array(32),
    snapshot: () => snapshot,
    died: (error) => deaths.push(error),
    entry: ENTRY,
  });
  await pool.ready();
  return {
    pool,
    run: (id, signal = new AbortController().signal) => pool.run(job(id), signal),
    set: (next) => {
      snapshot = next;
    },
    deaths,
  };
}

t.test('a query sees what is committed when it begins; a snapshot is sent once', async (t) => {
  const { pool, run, set } = await open(1);
  const expect = { root: 'folder', cancelCount: 0 };
  t.same(parsed(await run('x')), { ...expect, blockCount: 0, sent: true });
  t.same(parsed(await run('x')), { ...expect, blockCount: 0, sent: false });
  set({ blocks: [BLOCK, BLOCK] });
  t.same(parsed(await run('x')), { ...expect, blockCount: 2, sent: true });
  await pool.close();
});

t.test('errors keep their code, and bugs have none', async (t) => {
  const { pool, run } = await open(1);
  await t.rejects(run('refuse'), { name: 'EngineError', code: 'USAGE', message: 'no' });
  await t.rejects(run('break'), { name: 'Error', message: 'bug' });
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

t.test('a query goes to the worker with the fewest', async (t) => {
  const { pool, run } = await open(2);
  const hanging = run('hang');
  for (let count = 0; count < 3; count++) t.match(parsed(await run('x')), { blockCount: 0 });
  const closed = pool.close();
  await t.rejects(hanging, { code: 'CLOSED' });
  await closed;
  await t.rejects(run('x'), { code: 'CLOSED' });
});

t.test('what a dead worker had to do fails, the other goes on', async (t) => {
  const { pool, run, deaths } = await open(2);
  await t.rejects(run('exit'), { code: 'CLOSED' });
  t.equal(deaths.length, 1);
  t.match(parsed(await run('x')), { blockCount: 0 });
  await pool.close();
});
