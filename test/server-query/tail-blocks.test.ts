import t from 'tap';
import type { BlockChanges } from '../../engine/engine.ts';
import type { TailAnswer, TailJob } from '../../server/query/job.ts';
import { Tail } from '../../server/query/tail/tail.ts';
import { type TailPlace, TailTokens } from '../../server/query/tail/tail-token.ts';

type Block = BlockChanges['added'][number];

const NOW_MS = 1e12;
const HOUR_MS = 3_600_000;
const block = (facts: Partial<Block>): Block => ({
  ...{ sealed: false, segment: 1, writer: 0, ordinal: 1, offset: 0, bytes: 64, rowCount: 5 },
  ...{ firstSequence: 0, endSequence: 0, minTimeMs: 0, maxTimeMs: 0 },
  ...facts,
});

/**
 * The blocks of the first job of a tail for which rows up to sequence 10 became visible; `isWhole`: these are all there
 * are.
 */
async function firstJob(added: Block[], sealedMs: number, isWhole: boolean): Promise<Block[]> {
  const state = { version: 1, end: isWhole ? 10 : 5 };
  const ran = Promise.withResolvers<TailJob | undefined>();
  const client = new AbortController();
  const place: TailPlace = { position: 5, timeMs: NOW_MS };
  const tail = new Tail(
    {
      blocks: {
        get version() {
          return state.version;
        },
        get end() {
          return state.end;
        },
        changes: () => ({ version: state.version, isWhole, removed: [], added }),
        watch: () => {},
      },
      sealedMs: () => sealedMs,
      tokens: new TailTokens(new Uint8Array(32)),
      run: (job) => {
        ran.resolve(job);
        return new Promise<TailAnswer>(() => {});
      },
      nowMs: () => NOW_MS,
    },
    {
      ...{ key: 'k', predicate: { type: 'all' }, event: true, columns: [], zone: 'UTC' },
      ...{ perSecondMax: 100, refusal: () => undefined, signal: client.signal },
      ...(isWhole ? { place } : {}),
    },
  );
  Object.assign(state, { version: 2, end: 10 });
  const streamed = tail.stream({
    // A heartbeat: the tail has found nothing to run for.
    write: async (part) => {
      if (part.startsWith(':')) ran.resolve(undefined);
      return false;
    },
  });
  const job = await ran.promise;
  client.abort();
  await streamed;
  return [...(job?.blocks ?? [])];
}

t.test(
  'a sealed block that came since the place is read, also when the clock was set back',
  async (t) => {
    const log = block({ endSequence: 5 });
    const sealed = block({ sealed: true, segment: 2 });
    t.same(await firstJob([log, sealed], NOW_MS - 9 * HOUR_MS, false), [sealed]);
  },
);

t.test('of all blocks a tail that goes on reads those that may be behind its token', async (t) => {
  const [old, fresh] = [block({ endSequence: 5 }), block({ segment: 3, endSequence: 10 })];
  const sealed = block({ sealed: true, segment: 2 });
  t.same(await firstJob([old, sealed, fresh], NOW_MS - HOUR_MS, true), [fresh]);
  t.same(await firstJob([old, sealed, fresh], NOW_MS, true), [sealed, fresh]);
});
