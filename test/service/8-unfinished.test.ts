import t from 'tap';
import { testHeldLines, testKeylessLines } from '../support/attack.ts';
import { testService } from '../support/service.ts';

const service = await testService(t, [
  ...['--ingest-workers', '2', '--query-workers', '1', '--metrics-open', 'true'],
]);
t.test('8 lines without an end and a key take no memory, and no sender gives way', (t) =>
  testKeylessLines(t, service, 70),
);

t.test('8 of lines with a key the largest are cut when a peer has too many', (t) =>
  testHeldLines(t, service, 30),
);
