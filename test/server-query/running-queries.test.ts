import t from 'tap';
import type { QueryJob } from '../../server/query/job.ts';
import { RunningQueries } from '../../server/query/running-queries.ts';

const JOB: QueryJob = { type: 'store', query: { about: 'disk' } };
const { signal } = new AbortController();

t.test('the last slow queries are told with their requests, the newest first', async (t) => {
  let ms = 0;
  let tookMs = 0;
  let fails = false;
  const pool = {
    run: async () => {
      ms += tookMs;
      if (fails) throw new Error('stopped');
      return [];
    },
  };
  const queries = new RunningQueries(pool, { nowMs: () => 5_000 + ms, monotonicMs: () => ms });
  const ask = (took: number, text: string): Promise<unknown> => {
    tookMs = took;
    return queries.run(JOB, signal, { key: 'r1', textOf: () => text });
  };
  await ask(999, 'quick');
  t.same(queries.slow(), []);
  await ask(1_000, 'slow');
  fails = true;
  await t.rejects(ask(2_000, 'x'.repeat(5_000)), /stopped/);
  t.match(queries.slow(), [
    {
      key: 'r1',
      kind: 'store',
      ms: 2_000,
      endedMs: 8_999,
      state: 'stopped',
      text: 'x'.repeat(2_048),
    },
    { key: 'r1', kind: 'store', ms: 1_000, endedMs: 6_999, state: 'answered', text: 'slow' },
  ]);
  t.same(queries.list(), []);
  fails = false;
  for (let at = 0; at < 60; at++) await ask(1_000, `${at}`);
  t.equal(queries.slow().length, 50);
  t.equal(queries.slow()[0].text, '59');
});
