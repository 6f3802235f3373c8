import t from 'tap';
import { pileUp } from '../support/heavy-queries.ts';
import { peakMegabytes, testService } from '../support/service.ts';

const ROWS = 2_000_000;
/** Of two workers of each kind, and one thread that seals meanwhile. */
const MEMORY_MAX_MB = 900;

const service = await testService(t, [
  ...['--ingest-workers', '2', '--query-workers', '2', '--seal-workers', '1'],
]);
t.test('8 heavy queries over 2 million rows that pile up all end', async (t) => {
  await pileUp(t, service, ROWS);
  const peak = peakMegabytes(service.pid);
  t.comment(`${peak} MB at most`);
  t.ok(peak < MEMORY_MAX_MB, `${peak} MB`);
});
