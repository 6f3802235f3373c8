import t, { type Test } from 'tap';
import { untilMetric } from '../support/metrics.ts';
import {
  listAll,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const REQUESTS = 300;
const WORKERS = ['--ingest-workers', '4', '--query-workers', '1', '--metrics-open', 'true'];

/** Sends events of one date, one request after the other; the workers take turns. */
async function sendAll(t: Test, service: Service, from: number): Promise<void> {
  for (let n = from; n < from + REQUESTS; n++) {
    const { status } = await send(service, JSON.stringify({ n, date: '2026-01-05T10:00:00Z' }));
    if (status !== 200) t.fail(`request ${n} was answered ${status}`);
  }
}

async function numbers(service: Service, order: 'asc' | 'desc'): Promise<unknown[]> {
  return (await listAll(service, { order })).map(({ event }) => event.custom['n']);
}

async function checkOrder(t: Test, service: Service, count: number, when: string): Promise<void> {
  const ascending = Array.from({ length: count }, (_, n) => n);
  t.same(await numbers(service, 'asc'), ascending, `oldest first, ${when}`);
  t.same(await numbers(service, 'desc'), ascending.toReversed(), `newest first, ${when}`);
}

t.test(
  'events of one date are in the order of their acknowledgement, for four workers',
  async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    const first = await startService(folder, WORKERS);
    await sendAll(t, first, 0);
    await checkOrder(t, first, REQUESTS, 'as they came');
    await first.kill();

    const keys = { writeKey: first.writeKey, readKey: first.readKey };
    const again = { ...(await startService(folder, [...WORKERS, '--seal-rows', '1000'])), ...keys };
    await checkOrder(t, again, REQUESTS, 'after a kill');
    await sendAll(t, again, REQUESTS);
    await checkOrder(t, again, 2 * REQUESTS, 'with those of another life');
    t.equal(await again.stop(), 0);

    const sealing = [...WORKERS, '--seal-idle-minutes', '0'];
    const last = { ...(await startService(folder, sealing)), ...keys };
    await untilMetric(last, 'logseam_sealing_backlog_rows', (rows) => rows === 0);
    await checkOrder(t, last, 2 * REQUESTS, 'when they are sealed');
    t.equal(await last.stop(), 0);
  },
);
