import { equal } from 'node:assert/strict';
import { NOW } from '../api/service.ts';
import { removeFolder, type Service, startService, temporaryFolder } from '../support/service.ts';
import { type Ask, converse, type Exchange, type Known } from './converse.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { proven, sameAnswers } from './prove.ts';
import { askerOf, bigWorld, define, gaugeIs, learned, makeReadKey, sendEvents } from './service.ts';

/**
 * Equal shares come to two ingest workers, at least a third to each. So there are sealed segments of 67 to 149 events,
 * and all of them together are as many as are merged.
 */
const EVENTS = 300;
/** Pages of a request that are asked for; `embedded.test.ts` asks for all. */
const PAGES_MAX = 8;
/** Requests that are under way at once: more than the two keys may have, so that some wait for their turn. */
const AT_ONCE = 8;
const SERVICE = ['--ingest-workers', '2', '--queries-per-key', '3'];
/** Settings by which events that are sent in two halves become many small segments. */
const SEALING = ['--seal-rows', '100', '--seal-idle-minutes', '0.001'];
const MERGING = ['--seal-rows', '300', '--seal-idle-minutes', '0.001'];

/**
 * Asks a real service so many requests, several at once and with two keys, before its events are sealed and when the
 * segments are merged; some of them also while they are sealed, and behind it. Throws when it and the model disagree,
 * or when an answer changes.
 */
export async function proveService(
  seed: number,
  requests: number,
  queryWorkers: number,
): Promise<void> {
  const folder = temporaryFolder();
  let last: Service | undefined;
  const start = async (more: string[]): Promise<Service> => {
    last = await startService(folder, [...SERVICE, '--query-workers', `${queryWorkers}`, ...more]);
    return last;
  };
  try {
    await proveWith(start, seed, requests);
  } finally {
    await last?.kill();
    removeFolder(folder);
  }
}

async function proveWith(
  start: (flags: string[]) => Promise<Service>,
  seed: number,
  requests: number,
): Promise<void> {
  const world = bigWorld(seed, EVENTS, requests);
  const meanings = world.requests.map((each) => meaningOf(world, each, NOW, false));

  let service = await start([]);
  const keys = [service.readKey, await makeReadKey(service)];
  const asking = (): Ask[] => keys.map((key) => askerOf(service, key));
  await define(service, world);
  await sendEvents(service, world, 0, EVENTS / 2);
  await sendEvents(service, world, EVENTS / 2, EVENTS);
  let asks = asking();
  const known = await learned(asks[0], world);
  equal(known.model.events.length, EVENTS, 'all events came back');
  const proofs: Proof[] = [];
  await allAtOnce(meanings, async (meaning, at) => {
    proofs[at] = { meaning, before: await converse(asks[at % 2], meaning, known, PAGES_MAX) };
    proven.requests++;
  });
  await service.stop();

  service = await start(SEALING);
  asks = asking();
  const some = (remainder: number) => proofs.filter((_, at) => at % 3 === remainder);
  await same(asks, known, some(0), 'while it is sealed');
  await gaugeIs(service, 'logseam_sealing_backlog_rows', (rows) => rows === 0);
  await same(asks, known, some(1), 'sealed');
  await service.stop();

  service = await start(MERGING);
  asks = asking();
  await gaugeIs(service, 'logseam_sealed_rows_total', (rows) => rows > 0);
  await same(asks, known, proofs, 'merged');
  equal(await service.stop(), 0, 'the service ends well');
}

/** A request that the model agreed on. */
interface Proof {
  meaning: Meaning;
  before: Exchange[];
}

async function same(asks: Ask[], known: Known, proofs: Proof[], state: string): Promise<void> {
  await allAtOnce(proofs, ({ meaning, before }, at) =>
    sameAnswers({ ask: asks[at % 2], known }, meaning, before, state),
  );
}

/** Does `act` to all items, some at once. */
async function allAtOnce<Item>(
  items: Item[],
  act: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) await act(item, at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
