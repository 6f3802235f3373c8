import fc from 'fast-check';
import { NOW } from '../api/service.ts';
import { printSearch } from '../support/search-printer.ts';
import { answered, converse, Disagreement, type Exchange } from './converse.ts';
import { type Stored, storeWorld } from './embedded.ts';
import { jsonOf } from './events.ts';
import { type Meaning, meaningOf, printFormula } from './meaning.ts';
import { type Asked, type World, worldOf } from './requests.ts';

/** Proves one world: the model agrees, and sealing and merging change no byte of any answer. */

/** How many requests were held against the model, and how many answers were compared. */
export const proven = { requests: 0, answers: 0 };

const EVENTS_MAX = 60;
const REQUESTS_MAX = 40;
const BLOCK_ROWS = 12;
/** How long it is tried to find fewer events that fail too. */
const SHRINK_MAX_MS = 15_000;

/** Proves so many random worlds. Throws the error of the first that fails, which tells more than fast-check would. */
export async function proveWorlds(seed: number, count: number): Promise<void> {
  const property = fc.asyncProperty(worldOf(EVENTS_MAX, REQUESTS_MAX), proveWorld);
  const { failed, errorInstance } = await fc.check(property, {
    ...{ seed, numRuns: count, endOnFailure: true },
  });
  if (failed) throw errorInstance;
}

/** Throws an error that names the request and the events that lead to it, as few as were found. */
async function proveWorld(world: World): Promise<void> {
  const fault = await faultOf(world);
  if (fault === undefined) return;
  const { asked } = fault;
  const small = asked === undefined ? world : await shrunk({ ...world, requests: [asked] });
  const { error } = (await faultOf(small)) ?? fault;
  const events = small.events.map(
    (event, place) => `${event.writer} ${jsonOf(small, event, place)}`,
  );
  const tagsets = small.tagsets.map((tags) => tags.map((tag) => printSearch(tag)).join(' | '));
  const formulas = small.formulas.map(printFormula);
  error.message = [
    error.message,
    ...['tags:', ...tagsets, 'formulas:', ...formulas],
    ...['events, behind their connection:', ...events],
  ].join('\n');
  throw error;
}

/** The first request that fails, if one does; without one it is the storing. */
async function faultOf(world: World): Promise<{ asked?: Asked; error: Error } | undefined> {
  let asked: Asked | undefined;
  try {
    const stored = await storeWorld(world, BLOCK_ROWS);
    const meanings: [Asked, Meaning][] = world.requests.map((each) => {
      asked = each;
      return [each, meaningOf(world, each, NOW, true)];
    });
    const before: Exchange[][] = [];
    for (const [each, meaning] of meanings) {
      asked = each;
      before.push(await converse(stored.ask, meaning, stored.known));
      proven.requests++;
    }
    for (const [state, next] of STATES) {
      await next(stored);
      for (const [place, [each, meaning]] of meanings.entries()) {
        asked = each;
        await sameAnswers(stored, meaning, before[place], state);
      }
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return asked === undefined ? { error } : { asked, error };
  }
  return undefined;
}

/** A world of fewer events and filters that fails too. */
async function shrunk(world: World): Promise<World> {
  const untilMs = performance.now() + SHRINK_MAX_MS;
  let small = world;
  for (let size = Math.ceil(small.events.length / 2); size > 0; size = Math.floor(size / 2)) {
    for (let at = 0; at < small.events.length; ) {
      if (performance.now() > untilMs) return small;
      const fewer = { ...small, events: small.events.toSpliced(at, size) };
      if ((await faultOf(fewer)) === undefined) at += size;
      else small = fewer;
    }
  }
  return small;
}

const STATES: [string, (stored: Stored) => Promise<void>][] = [
  ['half sealed', async ({ shelf }) => seal(shelf, Math.ceil(shelf.refs.length / 2), 20)],
  ['sealed', async ({ shelf }) => seal(shelf, shelf.refs.length, 30)],
  ['merged', async ({ shelf }) => seal(shelf, shelf.refs.length, 1_000)],
];

async function seal(shelf: Stored['shelf'], blocks: number, rowsMax: number): Promise<void> {
  if (blocks > 0) await shelf.seal(shelf.refs.slice(0, blocks), rowsMax);
}

/**
 * Asks again what was asked before. Throws Disagreement when an answer is not, byte for byte, what it was; sums of any
 * doubles may be rounded anew.
 */
export async function sameAnswers(
  { ask, known }: Pick<Stored, 'ask' | 'known'>,
  meaning: Meaning,
  before: Exchange[],
  state: string,
): Promise<void> {
  for (const [at, { path, body, text }] of before.entries()) {
    const now = await answered(ask, path, body);
    proven.answers++;
    if (now === text) continue;
    if (!isRounded(meaning)) {
      throw new Disagreement(path, body, `${state}, answer ${at} ${difference(now, text)}`);
    }
    await converse(ask, meaning, known);
    return;
  }
}

/** True when it has sums of numbers that are not all decimals of few digits. */
function isRounded(meaning: Meaning): boolean {
  if (meaning.type === 'list') return false;
  return meaning.query.computes.some(
    ({ metric }) =>
      metric.type === 'attribute' &&
      metric.path !== 'custom.n' &&
      (metric.aggregation === 'sum' || metric.aggregation === 'avg'),
  );
}

const SHOWN = 300;

/** Where two texts part. */
function difference(now: string, before: string): string {
  let at = 0;
  while (at < now.length && now[at] === before[at]) at++;
  const from = Math.max(at - SHOWN, 0);
  return `is\n${now.slice(from, at + SHOWN)}\nand was\n${before.slice(from, at + SHOWN)}`;
}
