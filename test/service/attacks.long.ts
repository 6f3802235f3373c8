import t, { type Test } from 'tap';
import {
  LARGE_KINDS,
  startNarrow,
  testCostlyRules,
  testHeldLines,
  testIdleConnections,
  testKeylessLines,
  testLargeBodies,
  testSlowBodies,
  testTinyEvents,
} from '../support/attack.ts';
import { peakMegabytes, removeFolder, type Service, temporaryFolder } from '../support/service.ts';

/** Attacks of which the tests of services have a tenth; each on a service of its own, whose memory is bounded. */

const MIB = 1_048_576;
/** Of two workers of each kind, and one thread that seals meanwhile. */
const MEMORY_MAX_MB = 900;
const THREADS = ['--ingest-workers', '2', '--query-workers', '2', '--seal-workers', '1'];

type Attack = (t: Test, service: Service) => Promise<void>;

const attacks: [what: string, attack: Attack, descriptors?: number][] = [
  ['bodies of 33 million tiny events', (t, service) => testTinyEvents(t, service, 3, 33_500_000)],
  ...LARGE_KINDS.map((kind): (typeof attacks)[number] => [
    `40 bodies of 60 MiB of ${kind} events at once`,
    (t, service) => testLargeBodies(t, service, kind, 40, 60 * MIB),
  ]),
  ['500 lines that cost rules too much', (t, service) => testCostlyRules(t, service, 500)],
  ['700 lines without an end and a key', (t, service) => testKeylessLines(t, service, 700)],
  ['300 lines with a key and no end', (t, service) => testHeldLines(t, service, 300)],
  ['120 bodies that do not come', (t, service) => testSlowBodies(t, service, 120)],
  ['2,700 idle connections', (t, service) => testIdleConnections(t, service, 900), 600],
];

async function attacked(t: Test, attack: Attack, descriptors: number): Promise<void> {
  const folder = temporaryFolder();
  const service = await startNarrow(folder, descriptors, [...THREADS, '--metrics-open', 'true']);
  t.teardown(async () => {
    await service.stop();
    removeFolder(folder);
  });
  await attack(t, service);
  const peak = peakMegabytes(service.pid);
  t.comment(`${peak} MB at most`);
  t.ok(peak < MEMORY_MAX_MB, `${peak} MB`);
}

for (const [what, attack, descriptors = 4_000] of attacks) {
  t.test(`${what}: neighbours go on, and memory is bounded`, (t) =>
    attacked(t, attack, descriptors),
  );
}
