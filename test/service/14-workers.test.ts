import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { metric, untilMetric } from '../support/metrics.ts';
import { startMortal, untilReplaced } from '../support/mortal-service.ts';
import { checkStored, Neighbour } from '../support/neighbour.ts';
import { type Answer, ask, type Service, send } from '../support/service.ts';

/** The deaths of workers, one after the other and all at once, under load. */

const TWO_OF_EACH = ['--ingest-workers', '2', '--query-workers', '2', '--metrics-open', 'true'];
/** Numbers of threads as they begin; those behind are of merge threads and of those that replace others. */
const [INGEST, QUERY, NEXT] = [[1, 2], [3, 4], 5];
const EVENTS = 20_000;
const ASKERS = 8;

/** Answers to a request or a connection whose worker died, or for which there was none. */
const OF_DEATHS = ['HTTP 503', 'HTTP 429', 'TCP ECONNRESET', 'TCP ECONNREFUSED'];

t.test('all ingest workers die, and one more: what was acknowledged is there', async (t) => {
  const { service, die } = await startMortal(t, TWO_OF_EACH);
  const neighbours = Array.from({ length: 4 }, () => new Neighbour(service));
  const working = async (): Promise<void> => {
    await Promise.all(neighbours.map((each) => each.more(100)));
  };
  await working();
  for (const thread of INGEST) die(thread);
  await untilReplaced(service, 'ingest', 2, 2);
  await working();
  die(NEXT);
  await untilReplaced(service, 'ingest', 3, 2);
  await working();
  const told = await Promise.all(neighbours.map((each) => each.end()));
  const refusals = new Set(told.flatMap(({ refused }) => [...refused.keys()]));
  t.comment([...refusals]);
  t.same(
    [...refusals].filter((each) => !OF_DEATHS.includes(each)),
    [],
  );
  t.ok((await metric(service, 'logseam_connections_lost_total', { channel: 'tcp' })) > 0);
  await checkStored(
    t,
    service,
    told.flatMap(({ acknowledged }) => acknowledged),
  );
  await untilMetric(service, 'logseam_ingest_tasks_pending', (tasks) => tasks === 0);
  t.equal(await service.stop(), 0);
});

/** The answer of a group-by over all, or the status of its refusal. */
async function group(service: Service): Promise<number | string> {
  const { status, body, text }: Answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 'now-1d', to: 'now+1d' },
    filters: [{ search: 'of:*' }],
    compute: [{ metric: { id: 'count' } }, { metric: { id: 'sum:custom.n' } }],
    groupBy: [{ field: { id: 'custom.of', limit: 100 } }],
  });
  if (status !== 200) return `${status} ${text}`;
  const { aggregates } = (body as { result: { aggregates: unknown[] } }).result;
  return JSON.stringify(aggregates);
}

t.test('all query workers die: waiting queries get 503, others are right', async (t) => {
  const { service, die } = await startMortal(t, TWO_OF_EACH);
  const events = Array.from({ length: EVENTS }, (_, n) => ({ n, of: n % 100 }));
  t.equal((await send(service, JSON.stringify(events))).status, 200);
  const right = await group(service);
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  const answers = new Map<number | string, number>();
  let isOver = false;
  const asker = async (): Promise<void> => {
    while (!isOver) {
      const answer = await group(service);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const askers = Array.from({ length: ASKERS }, asker);
  const more = async (): Promise<void> => {
    const goal = (answers.get(right) ?? 0) + 20;
    while ((answers.get(right) ?? 0) < goal) await pause(5);
  };
  await more();
  die(QUERY[0] ?? 0);
  await more();
  await untilReplaced(service, 'query', 1, 2);
  for (const thread of [QUERY[1] ?? 0, NEXT]) die(thread);
  await untilReplaced(service, 'query', 3, 2);
  await more();
  isOver = true;
  await Promise.all(askers);
  answers.delete(right);
  t.ok(answers.size > 0, 'some waited for a worker that died');
  for (const answer of answers.keys()) t.match(answer, /^503 .*try again/);
  await neighbour.check(t);
  await untilMetric(service, 'logseam_queries_running', (running) => running === 0);
  t.equal(await service.stop(), 0);
});

t.test('merge workers die again and again: what they seal stays, and is sealed', async (t) => {
  const sealing = ['--seal-idle-minutes', '0', '--seal-workers', '2'];
  const { service, die } = await startMortal(t, [...TWO_OF_EACH, ...sealing]);
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  for (let times = 0; times < 4; times++) die(NEXT + times);
  await untilMetric(service, 'logseam_seal_failures_total', (failures) => failures >= 2);
  await untilMetric(service, 'logseam_sealed_rows_total', (rows) => rows > 0);
  await neighbour.more(100);
  await neighbour.check(t);
  t.match(service.output(), /segments could not be sealed and are tried again/);
  t.equal(await service.stop(), 0);
});
