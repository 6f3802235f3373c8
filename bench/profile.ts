import { parseArgs } from 'node:util';
import {
  ask,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../test/support/service.ts';
import { bodies } from './corpus/bodies.ts';
import { clearProgress, writeProgress } from './harness.ts';
import { profiled, profileEnvironment } from './profile/profiled.ts';
import { INGEST_STAGES, QUERY_STAGES } from './profile/stage.ts';
import { profileLines } from './profile/table.ts';
import { ingestions } from './workload/ingest.ts';
import { awaitSealed, type Ingestion, SEALING } from './workload/ingestion.ts';
import { type Asked, fill, questionsOf } from './workload/query.ts';

/**
 * `make bench-profile NAME=<workload>`, or `node bench/profile.ts [--scale 1] [--each] [workload]`: where the time of a
 * workload goes, by stage and function: `ingest-tcp` and the like, or `query`, with `--each` every query on its own.
 */

const QUERY = 'query';
const QUERY_EVENTS = 1_000_000;
/** How often each query is asked at least, and for how long. */
interface Times {
  count: number;
  ms: number;
}
/** Before the profile, in which they compile and open. */
const WARM: Times = { count: 3, ms: 300 };
/** As often each, so that the mean is over queries. */
const TOGETHER: Times = { count: 20, ms: 0 };
const ALONE: Times = { count: 5, ms: 1_000 };

function show(title: string, lines: readonly string[]): void {
  clearProgress();
  console.log([title, ...lines.map((line) => `  ${line}`), ''].join('\n'));
}

async function withService(
  settings: readonly string[],
  work: (service: Service, folder: string) => Promise<void>,
): Promise<void> {
  const data = temporaryFolder();
  const folder = temporaryFolder();
  const service = await startService(data, [...SEALING, ...settings], {
    environment: profileEnvironment(folder),
  });
  try {
    await work(service, folder);
  } finally {
    await service.stop();
    removeFolder(data);
    removeFolder(folder);
  }
}

async function profileIngestion(ingestion: Ingestion, scale: number): Promise<void> {
  const { channel } = ingestion;
  const eventCount = Math.round(ingestion.events * scale);
  await withService(channel.settings, async (service, folder) => {
    await ingestion.prepare?.(service);
    writeProgress(`making ${eventCount} events`);
    const prefix = channel.hasKeys ? `${service.writeKey} ` : '';
    const made = bodies(ingestion.make(1), eventCount, channel.bodyBytes, prefix);
    const found = await profiled(service, folder, 'ingest', async () => {
      await channel.send(service, made);
      writeProgress('sealing');
      await awaitSealed(service, eventCount);
    });
    const measure = { unit: 's/M events', factor: 1e6 / eventCount };
    const title = `${ingestion.name}, ${eventCount} events: ${ingestion.what}, sealed too`;
    show(title, profileLines(found, INGEST_STAGES, measure));
  });
}

/** Asks one query again and again, and gives how often. */
async function askTimes(
  service: Service,
  [name, { path, body }]: Asked,
  least: Times,
): Promise<number> {
  const started = performance.now();
  let count = 0;
  do {
    const answer = await ask(service, path, body);
    if (answer.status !== 200) throw new Error(`${name}: ${answer.text}`);
    count++;
  } while (count < least.count || performance.now() - started < least.ms);
  return count;
}

async function profileQueries(scale: number, each: boolean): Promise<void> {
  const eventCount = Math.round(QUERY_EVENTS * scale);
  await withService([], async (service, folder) => {
    await fill({ progress: writeProgress }, service, eventCount);
    const questions = questionsOf(eventCount);
    const groups = each ? questions.map((question) => [question]) : [questions];
    for (const group of groups) {
      for (const query of group) await askTimes(service, query, WARM);
      let count = 0;
      const found = await profiled(service, folder, 'query', async () => {
        for (const query of group) {
          writeProgress(query[0]);
          count += await askTimes(service, query, each ? ALONE : TOGETHER);
        }
      });
      const measure = { unit: 'ms a query', factor: 1000 / count };
      const what = each ? group[0][0] : `${group.length} queries in equal numbers`;
      show(
        `query, ${eventCount} events: ${what}, ${count} asked`,
        profileLines(found, QUERY_STAGES, measure),
      );
    }
  });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    each: { type: 'boolean', default: false },
  },
});
const known = [...ingestions.map(({ name }) => name), QUERY];
const names = positionals.length === 0 ? ['ingest-tcp', QUERY] : positionals;
if (names.some((name) => !known.includes(name))) {
  console.error(`usage: profile.ts [--scale S] [--each] [name ...]; names are ${known.join(', ')}`);
  process.exit(2);
}
const scale = Number(values.scale);
for (const name of names) {
  const ingestion = ingestions.find((entry) => entry.name === name);
  if (ingestion === undefined) await profileQueries(scale, values.each);
  else await profileIngestion(ingestion, scale);
}
