import t from 'tap';
import { removeFolder, startService, temporaryFolder } from '../support/service.ts';
import { type Ask, idsIn } from './converse.ts';
import { LIST_PATH } from './meaning.ts';
import { askerOf, bigWorld, sendEvents } from './service.ts';

const asked = Number(process.env['FC_SEED'] ?? '');
const SEED = asked !== 0 ? asked : 5;
const EVENTS = 600;
/** Events that are there before the first page is asked for. */
const BEFORE = 200;
const TIME = { from: -62_135_596_800_000, to: 253_402_300_799_999 };
const FLAGS = ['--query-workers', '2', '--ingest-workers', '2'];
/** Segments are sealed and merged meanwhile. */
const SEALING = ['--seal-rows', '100', '--seal-idle-minutes', '0.001'];

t.test(`while events arrive pages neither skip nor repeat, FC_SEED=${SEED}`, async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const world = bigWorld(SEED, EVENTS, 1);
  const service = await startService(folder, [...FLAGS, ...SEALING]);
  const ask = askerOf(service, service.readKey);
  await sendEvents(service, world, 0, BEFORE);
  const old = { asc: await listed(ask, 'asc', 50), desc: await listed(ask, 'desc', 7) };
  t.equal(old.asc.length, BEFORE);
  t.same(old.asc, [...old.desc].reverse(), 'one order, both ways');

  let arriving = true;
  const sending = sendEvents(service, world, BEFORE, EVENTS, 2).finally(() => {
    arriving = false;
  });
  let rounds = 0;
  const paging = async (order: 'asc' | 'desc', limit: number): Promise<void> => {
    do {
      const ids = await listed(ask, order, limit);
      const distinct = new Set(ids);
      if (distinct.size !== ids.length) throw new Error(`${order} by ${limit} repeats`);
      const known = new Set(old[order]);
      const there = ids.filter((id) => known.has(id));
      if (JSON.stringify(there) !== JSON.stringify(old[order])) {
        throw new Error(`${order} by ${limit} skips or turns round`);
      }
      rounds++;
    } while (arriving);
  };
  await Promise.all([sending, paging('asc', 20), paging('desc', 31), buckets(() => arriving)]);
  t.comment(`${rounds} lists of all pages while events arrived`);
  t.equal((await listed(ask, 'asc', 1000)).length, EVENTS, 'all that came are there at the end');
  await service.stop();

  /** Pages of buckets, which all have the values that were there before, each once and in their order. */
  async function buckets(goesOn: () => boolean): Promise<void> {
    do {
      const found = await bucketKeys(ask);
      if (found.some((key, at) => at > 0 && key <= found[at - 1])) {
        throw new Error(`buckets repeat or turn round: ${found}`);
      }
      const distinct = new Set(found);
      const missing = Array.from({ length: BEFORE }, (_, q) => q).filter((q) => !distinct.has(q));
      if (missing.length > 0) throw new Error(`buckets of ${missing} are left out`);
    } while (goesOn());
  }
});

/** The ids of all events, a page after the other. */
async function listed(ask: Ask, order: 'asc' | 'desc', limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const last = ids.at(-1);
    const after = last === undefined ? {} : { afterEvent: last };
    const { status, text } = await ask(
      LIST_PATH,
      JSON.stringify({ time: TIME, order, limit, ...after }),
    );
    if (status !== 200) throw new Error(text);
    const page = idsIn(text);
    ids.push(...page);
    if (page.length < limit) return ids;
  }
}

/** The buckets of a number that each event has alone, a page after the other. */
async function bucketKeys(ask: Ask): Promise<number[]> {
  const keys: number[] = [];
  let after = {};
  for (;;) {
    const { status, text } = await ask(
      '/beta/events/aggregate',
      JSON.stringify({
        time: TIME,
        compute: [{ metric: { id: 'count' } }],
        groupBy: [{ field: { id: 'custom.q', limit: 40, order: { '@natural': 'asc' } } }],
        ...after,
      }),
    );
    if (status !== 200) throw new Error(text);
    const { aggregates, lastBucket } = (JSON.parse(text) as { result: Buckets }).result;
    keys.push(...aggregates.map(({ bucket }) => bucket['custom.q']));
    if (lastBucket === undefined) return keys;
    after = { afterBucket: lastBucket };
  }
}

interface Buckets {
  aggregates: { bucket: { 'custom.q': number } }[];
  lastBucket?: object;
}
