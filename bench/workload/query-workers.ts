import { removeFolder, startService, temporaryFolder } from '../../test/support/service.ts';
import type { Workload } from '../harness.ts';
import { ASKED } from './ingestion.ts';
import { type Asked, fill, questionsOf, timed } from './query.ts';

const EVENTS = 10_000_000;
const CORPUS = 'access-rough';
const WORKERS = [1, 2];
/** The quickest of so many counts: threads have compiled by then what they run often. */
const REPEATS = 20;
/** Aggregates that go through all rows. */
const HEAVY = [
  'average and p95 of response time per minute',
  'sum of bytes per hour and host',
  'group by status, verb, host (top 1000)',
  'distinct IPs (exact)',
  'three nested groups',
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
      for (let time = 0; time <= REPEATS; time++) {
        leastMs = Math.min(leastMs, await timed(service, request));
      }
      quickest.push(leastMs);
    }
    return quickest;
  } finally {
    await service.stop();
  }
}

/** Heavy aggregates on one query worker and on two: a query is spread over all of them. */
export const queryWorkersWorkload: Workload = {
  name: 'query-workers',
  what: `heavy aggregates over ${EVENTS / 1e6}M events of a rough access log on one query worker and on two`,
  seconds: ({ scale }) => 20 + 100 * scale,
  run: async (bench) => {
    const folder = temporaryFolder();
    const events = Math.round(EVENTS * bench.scale);
    try {
      const filling = await startService(folder, ASKED);
      await fill(bench, filling, events);
      await filling.stop();
      const questions = questionsOf(events).filter(([name]) => HEAVY.includes(name));
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
};
