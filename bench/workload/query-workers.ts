import { removeFolder, startService, temporaryFolder } from '../../test/support/service.ts';
import type { Workload } from '../harness.ts';
import { HEAVY_QUERIES } from './heavy-queries.ts';
import { ASKED } from './ingestion.ts';
import { type Asked, fill, questionsOf, timed } from './query.ts';

const CORPUS = 'access-rough';
const WORKERS = [1, 2];
/** The quickest of so many counts: threads have compiled by then what they run often. */
const REPEATS = 20;
/** A question that took so long in all is not asked again, when it was asked so often. */
const ASKED_MS = 10_000;
const ASKED_LEAST = 3;
/** Aggregates that go through all rows. */
const HEAVY = [
  'average and p95 of response time per minute',
  'sum of bytes per hour and host',
  'group by status, verb, host (top 1000)',
  'distinct IPs (exact)',
  'three nested groups',
];
/** Aggregates that need each of millions of values, as they are asked in HEAVY_QUERIES. */
const HEAVIEST = [
  'top 100 URLs by p95',
  'top 100 URLs by sum',
  'top 100 URLs, least first',
  'addresses x URLs',
];

/** Milliseconds of each question to a service with so many query workers. */
async function ask(
  folder: string,
  readKey: string,
  workers: number,
  questions: readonly Asked[],
): Promise<number[]> {
  const settings = [...ASKED, '--query-workers', `${workers}`];
  const service = { ...(await startService(folder, settings)), readKey };
  try {
    const quickest: number[] = [];
    for (const [, request] of questions) {
      let leastMs = Infinity;
      let totalMs = 0;
      for (let time = 0; time <= REPEATS; time++) {
        if (time >= ASKED_LEAST && totalMs > ASKED_MS) break;
        const ms = await timed(service, request);
        totalMs += ms;
        leastMs = Math.min(leastMs, ms);
      }
      quickest.push(leastMs);
    }
    return quickest;
  } finally {
    await service.stop();
  }
}

/** The aggregates that are asked of so many events. */
function heavyOf(events: number): Asked[] {
  const questions = questionsOf(events);
  const [, { body }] = questions[0];
  const time = 'time' in body ? body.time : undefined;
  const heaviest = HEAVY_QUERIES.flatMap(([name, path, asked]): Asked[] =>
    HEAVIEST.includes(name) ? [[name, { path, body: { ...asked, time } }]] : [],
  );
  return [...questions.filter(([name]) => HEAVY.includes(name)), ...heaviest];
}

/** Heavy aggregates on one query worker and on two: a query is spread over all of them. */
const queryWorkers = (name: string, eventsMax: number): Workload => ({
  name,
  what: `heavy aggregates over ${eventsMax / 1e6}M events of a rough access log on one query worker and on two`,
  seconds: ({ scale }) => 20 + (18 * scale * eventsMax) / 1e6,
  run: async (bench) => {
    const folder = temporaryFolder();
    const events = Math.round(eventsMax * bench.scale);
    try {
      const filling = await startService(folder, ASKED);
      await fill(bench, filling, events);
      await filling.stop();
      const questions = heavyOf(events);
      const times: number[][] = [];
      for (const workers of WORKERS) {
        bench.progress(`query workers: ${workers}`, 0.8);
        times.push(await ask(folder, filling.readKey, workers, questions));
      }
      for (const [place, [name]] of questions.entries()) {
        const [one, two] = times.map((of) => of[place]);
        const about = { corpus: CORPUS, events };
        bench.record({ name: `${name}, one worker`, unit: 'ms', samples: [one], ...about });
        bench.record({ name: `${name}, two workers`, unit: 'ms', samples: [two], ...about });
        const faster = { unit: 'times', samples: [one / two], lowerIsBetter: false, ...about };
        bench.record({ name: `${name}, faster on two`, ...faster });
      }
    } finally {
      removeFolder(folder);
    }
  },
});

/** So many events as other benches ask. */
export const queryWorkersWorkload = queryWorkers('query-workers', 10_000_000);
/** As many events as a query may look at. */
export const largeQueryWorkersWorkload = queryWorkers('query-workers-50m', 50_000_000);
