import t from 'tap';
import { Tail, type TailSources } from '../../server/query/tail/tail.ts';
import { TailTokens } from '../../server/query/tail/tail-token.ts';

const NOW_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const tokens = new TailTokens(new Uint8Array(32));

/** Messages of a tail that goes on at a place of so long ago, when so many rows came since, none of which it shows. */
async function saidAfter(agoMs: number, hiddenRows: number): Promise<string[]> {
  const end = 100 + hiddenRows;
  const block = {
    ...{ sealed: false, segment: 1, ordinal: 1, offset: 0, bytes: 64, writer: 0 },
    ...{ rowCount: hiddenRows, firstSequence: 100, endSequence: end, minTimeMs: 0, maxTimeMs: 9 },
  };
  const rest = Promise.withResolvers<void>();
  const sources: TailSources = {
    blocks: {
      version: 1,
      end,
      changes: () => ({
        version: 1,
        isWhole: false,
        removed: [],
        added: hiddenRows > 0 ? [block] : [],
      }),
      watch: () => {},
    },
    sealedMs: () => undefined,
    tokens,
    run: async () => {
      setImmediate(rest.resolve);
      return { text: '', eventCount: 0, position: end, isWhole: true };
    },
    nowMs: () => NOW_MS,
  };
  const gone = new AbortController();
  const tail = new Tail(sources, {
    ...{ key: 'k', predicate: { type: 'all' }, event: true, columns: [], zone: 'UTC' },
    ...{ perSecondMax: 10, place: { position: 100, timeMs: NOW_MS - agoMs } },
    refusal: () => undefined,
    signal: gone.signal,
  });
  const said: string[] = [];
  const stream = tail.stream({
    write: async (part) => {
      said.push(part.replaceAll(/id: [\w-]{48}\n/g, 'id: a place\n'));
      return false;
    },
  });
  if (hiddenRows === 0) setImmediate(rest.resolve);
  await rest.promise;
  gone.abort();
  await stream;
  return said;
}

t.test('a tail that goes on says the same whatever came that it hides', async (t) => {
  for (const agoMs of [1_000, 2 * HOUR_MS]) {
    const said = await saidAfter(agoMs, 0);
    t.same(await saidAfter(agoMs, 7), said);
    t.equal(said.length, agoMs > HOUR_MS ? 2 : 1);
  }
});
