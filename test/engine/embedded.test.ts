import t from 'tap';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { openStore } from '../../engine/embedded.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { expectedEvent } from '../support/event-model.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const DAY = 20_000;
const WHOLE = { fromMs: -(2 ** 46), toMs: 2 ** 46, predicate: { type: 'all' as const } };

t.test(
  'the engine runs in one thread: what is decoded, stored and listed comes back exactly',
  async (t) => {
    const disk = new MemoryDisk();
    const texts = Array.from(
      { length: 500 },
      (_, n) =>
        `{"n":${n},"timestamp":${1_700_000_000_000 + n},"http.verb":"GET","x":[${n},null],"s":"${'é'.repeat(n % 7)}"}`,
    );
    const paths = new PathTable();
    let store = await openStore(disk, paths);
    const rows = new Rows();
    const decoder = new Decoder(paths, rows);
    const source = new TextEncoder().encode(texts.join('\n'));
    decoder.begin(source, 1_700_000_000_500, undefined);
    decoder.textBody(0, source.length);
    await store.append(rows, [{ key: 'k', day: DAY, bytes: source.length, events: texts.length }]);

    const query = { ...WHOLE, order: 'asc' as const, limit: 1000, event: true, columns: [] };
    const before = await store.list(query);
    t.same(
      before.events.map(({ event }) => event),
      texts.map(expectedEvent),
    );
    await store.close();

    store = await openStore(disk, new PathTable());
    const after = await store.list(query);
    t.same(after.events, before.events, 'the same after it was opened again, ids included');
    const id = before.events[7].id;
    const fetched = await store.fetch({ id, predicate: { type: 'all' }, event: true, columns: [] });
    t.equal(fetched?.event, expectedEvent(texts[7]));
    const { buckets } = await store.aggregate({
      ...WHOLE,
      computes: [
        { type: 'metric', metric: { type: 'core' } },
        { type: 'metric', metric: { type: 'attribute', path: 'custom.n', aggregation: 'sum' } },
      ],
      groupBys: [],
    });
    t.same(buckets[0].values, [500, (499 * 500) / 2]);
    await store.close();
  },
);
