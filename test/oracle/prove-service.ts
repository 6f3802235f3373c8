import { equal } from 'node:assert/strict';
import { NOW } from '../api/service.ts';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';
import { type Ask, converse, type Known } from './converse.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { sameTexts } from './prove.ts';
import { askerOf, bigWorld, define, gaugeIs, learned, sendEvents } from './service.ts';

const EVENTS = 400;
/** Requests that are under way at once. */
const AT_ONCE = 6;
const WORKERS = ['--query-workers', '2', '--ingest-workers', '2'];
/** What is sent in two halves becomes many small segments. */
const SEALING = ['--seal-rows', '100', '--seal-idle-minutes', '0.001'];
const MERGING = ['--seal-rows', '300', '--seal-idle-minutes', '0.001'];

/**
 * Asks a real service so many requests, several at once, before its events are sealed, meanwhile, behind it and when the
 * segments are merged. Throws when it and the model disagree, or when an answer changes.
 */
export async function proveService(seed: number, requests: number): Promise<void> {
  const folder = temporaryFolder();
  try {
    await proveIn(folder, seed, requests);
  } finally {
    removeFolder(folder);
  }
}

async function proveIn(folder: string, seed: number, requests: number): Promise<void> {
  const world = bigWorld(seed, EVENTS, requests);
  const meanings = world.requests.map((each) => meaningOf(world, each, NOW, false));

  let service = await startService(folder, WORKERS);
  const { readKey } = service;
  await define(service, world);
  await sendEvents(service, world, 0, EVENTS / 2);
  await sendEvents(service, world, EVENTS / 2, EVENTS);
  let ask = askerOf(service, readKey);
  const known = await learned(ask, world);
  equal(known.model.events.length, EVENTS, 'all events came back');
  const texts = await allAtOnce(meanings, (meaning) => converse(ask, meaning, known));
  await service.stop();

  service = await startService(folder, [...WORKERS, ...SEALING]);
  ask = askerOf(service, readKey);
  await same(ask, known, meanings, texts, 'while it is sealed');
  await gaugeIs(service, 'logseam_sealing_backlog_rows', (rows) => rows === 0);
  await same(ask, known, meanings, texts, 'sealed');
  await service.stop();

  service = await startService(folder, [...WORKERS, ...MERGING]);
  await gaugeIs(service, 'logseam_sealed_rows_total', (rows) => rows > 0);
  await same(askerOf(service, readKey), known, meanings, texts, 'merged');
  equal(await service.stop(), 0, 'the service ends well');
}

async function same(
  ask: Ask,
  known: Known,
  meanings: Meaning[],
  texts: string[][],
  state: string,
): Promise<void> {
  await allAtOnce(meanings, (meaning, at) => sameTexts({ ask, known }, meaning, texts[at], state));
}

/** What `act` makes of all items, some at once. */
async function allAtOnce<Item, Result>(
  items: Item[],
  act: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await act(item, at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
