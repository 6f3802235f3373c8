import t from 'tap';
import type { QueryJob } from '../../server/query/job.ts';
import { QueryPool } from '../../server/query/query-pool.ts';
import { UNITS_A_TURN } from '../support/query-counter.ts';

const QUERIES = 200;
const JOB: QueryJob = {
  type: 'fetch',
  query: { id: '', predicate: { type: 'all' }, event: true, columns: [] },
};

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

t.test('a query whose client leaves does one turn of units more at most', async (t) => {
  const behind = new SharedArrayBuffer(8);
  const counts = new Int32Array(behind);
  const pool = new QueryPool({
    workers: 1,
    queries: 32,
    perKey: 4,
    seconds: 60,
    root: 'folder',
    memoryMb: 256,
    totalMemoryMb: 512,
    cacheMb: 16,
    files: 64,
    secret: new Uint8Array(32),
    behind,
    changes: () => undefined,
    died: (error) => t.error(error),
    entry: new URL('../support/query-counter.ts', import.meta.url),
  });
  await pool.ready();
  let unitsMost = 0;
  for (let query = 0; query < QUERIES; query++) {
    const before = Atomics.load(counts, 0);
    const abort = new AbortController();
    Atomics.store(counts, 1, 0);
    const running = pool.run(JOB, abort.signal, 'key');
    await until(() => Atomics.load(counts, 0) > before + 10);
    abort.abort();
    const unitsAtAbort = Atomics.load(counts, 0);
    await t.rejects(running, { code: 'CANCELLED' });
    await until(() => Atomics.load(counts, 1) === 1);
    unitsMost = Math.max(unitsMost, Atomics.load(counts, 0) - unitsAtAbort);
  }
  t.ok(unitsMost <= UNITS_A_TURN, `${unitsMost} units`);
  t.match(pool.counts, { cancelled: QUERIES });
  await pool.close();
});
