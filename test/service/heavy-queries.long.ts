import t from 'tap';
import { pileUp } from '../support/heavy-queries.ts';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';

const ROWS = 2_000_000;

const folder = temporaryFolder();
const service = await startService(folder, ['--ingest-workers', '2', '--query-workers', '2']);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

t.test('8 heavy queries over 2 million rows that pile up all end', (t) => pileUp(t, service, ROWS));
