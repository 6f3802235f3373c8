import t from 'tap';
import { type ReadinessFacts, unreadiness } from '../../server/api/metrics/operation.ts';

const WELL: ReadinessFacts = {
  ...{ stopping: false, linesRefused: false, diskFull: false, diskFailing: false },
  ...{ ingestWorkersUp: 1, queryWorkersUp: 1, damagedSegments: 3 },
  ...{ ingestStalledMs: 10_000, queryStalledMs: 10_000, bodiesRefusedMs: 10_000 },
};

t.test('a service is ready when all of it works, damaged segments or not', async (t) => {
  t.same(unreadiness(WELL), []);
});

const table: [facts: Partial<ReadinessFacts>, reason: string][] = [
  [{ stopping: true }, 'the service is stopping'],
  [{ ingestWorkersUp: 0 }, 'no ingest worker is up'],
  [{ queryWorkersUp: 0 }, 'no query worker is up'],
  [{ ingestStalledMs: 10_001 }, 'no ingest worker goes on'],
  [{ queryStalledMs: 10_001 }, 'no query worker goes on'],
  [{ linesRefused: true }, 'no worker can listen on the ports of TCP and TLS'],
  [{ bodiesRefusedMs: 10_001 }, 'no worker has room for bodies'],
  [{ diskFull: true }, 'the free disk is below the reserve, nothing is taken in'],
  [{ diskFailing: true }, 'the disk fails, nothing is taken in'],
];

for (const [facts, reason] of table) {
  t.test(`a service is not ready: ${reason}`, async (t) => {
    t.same(unreadiness({ ...WELL, ...facts }), [reason]);
  });
}
