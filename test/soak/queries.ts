import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Service } from '../support/service.ts';
import { Judge, recognise } from './judge.ts';
import type { Stand } from './stand.ts';

const ALL_TIME = { from: 0, to: 4e12 };
const PAUSE_MS = 1_500;
const PAGE = 200;

/** Reads an export line by line; rejects when it is cut. */
export async function readExport(
  service: Service,
  query: object,
  take: (line: string) => void,
): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': service.readKey };
    const outgoing = httpRequest(`${service.http}/beta/events/export`, { method: 'POST', headers });
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ time: ALL_TIME, ...query }));
  });
  response.setEncoding('utf8');
  let rest = '';
  // Throws when the answer is cut.
  for await (const chunk of response) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (response.statusCode === 200) for (const line of lines) take(line);
  }
  if (response.statusCode !== 200)
    throw new Error(`export answered ${response.statusCode}: ${rest}`);
}

/** Has everything of a stand judged. */
export async function judgeAll(stand: Stand, progress: (count: number) => void): Promise<number> {
  const judge = new Judge(stand.maker, stand.sources, stand.faults);
  await readExport(await stand.up(), { order: 'asc' }, (line) => {
    judge.take(line);
    if (judge.count % 10_000 === 0) progress(judge.count);
  });
  judge.finish();
  return judge.count;
}

/** Asks until the stand closes: counts, pages and parts of exports, each compared with what was sent. */
export async function askAll(stand: Stand): Promise<void> {
  const least = new Map<string, number>();
  while (!stand.isClosing) {
    const service = await Promise.race([stand.up(), pause(1_000, undefined)]);
    if (service === undefined) continue;
    try {
      await compareCounts(stand, service, least);
      await comparePart(stand, service);
      await readPages(stand, service);
    } catch (error) {
      if (stand.isUp(service)) stand.faults.add('service', `a query failed: ${error}`);
    }
    await pause(PAUSE_MS);
  }
}

/** Answers of a query; throws unless it is a whole one. */
async function resultOf<T>(
  stand: Stand,
  service: Service,
  path: string,
  query: object,
): Promise<T> {
  const { status, text, body } = await ask(service, path, { time: ALL_TIME, ...query });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  if (text.includes('"damaged":{')) stand.faults.add('partial', `${path} ${text.slice(-300)}`);
  return (body as { result: T }).result;
}

/**
 * Each source has at least what was acknowledged before the question and at most what was sent before the answer, never
 * less than once.
 */
async function compareCounts(
  stand: Stand,
  service: Service,
  least: Map<string, number>,
): Promise<void> {
  for (const { source, ledger } of stand.sources.values()) {
    const before = Math.max(least.get(source.name) ?? 0, ledger.acknowledged);
    least.set(source.name, before);
  }
  const { aggregates } = await resultOf<{
    aggregates: { bucket: Record<string, string>; values: { count: number } }[];
  }>(stand, service, '/beta/events/aggregate', {
    compute: [{ metric: { id: 'count' } }],
    groupBy: [{ field: { id: 'custom.source', limit: 100 } }],
  });
  const counts = new Map(
    aggregates.map((each) => [each.bucket['custom.source'], each.values.count]),
  );
  for (const [name, { ledger }] of stand.sources) {
    const count = counts.get(name) ?? 0;
    const floor = least.get(name) ?? 0;
    if (count < floor) stand.faults.add('lost', `${name}: ${count} counted, ${floor} are there`);
    if (count > ledger.sent) stand.faults.add('twice', `${name}: ${count} of ${ledger.sent}`);
    least.set(name, Math.max(floor, count));
  }
}

/** The newest events of a source are as they were sent. */
async function comparePart(stand: Stand, service: Service): Promise<void> {
  const names = [...stand.sources.keys()];
  const name = names[Math.floor(Math.random() * names.length)];
  const query = { filters: [{ search: `source:"${name}"` }], limit: PAGE, order: 'desc' };
  await readExport(service, query, (line) => {
    recognise(line, stand.maker, stand.sources, stand.faults);
  });
}

/** Pages of a list neither skip nor repeat. */
async function readPages(stand: Stand, service: Service): Promise<void> {
  const ids = new Set<string>();
  let after: string | undefined;
  for (let page = 0; page < 3; page++) {
    const { events } = await resultOf<{ events: { id: string }[] }>(
      stand,
      service,
      '/beta/events/list',
      {
        filters: [{ search: 'source:(bulk OR turns)' }],
        limit: PAGE,
        ...(after === undefined ? {} : { afterEvent: after }),
      },
    );
    for (const { id } of events) {
      if (ids.has(id)) stand.faults.add('twice', `${id} is on two pages`);
      ids.add(id);
    }
    if (events.length < PAGE) return;
    after = events[events.length - 1].id;
  }
}
