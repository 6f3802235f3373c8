import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { finished, type Units } from '../../engine/base/pause.ts';
import {
  type Entries,
  type EntrySource,
  PIECE_ENTRIES,
  type SumKey,
  type Summed,
} from '../../engine/column/entries.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { attributesUnits } from '../../engine/query/group/attributes.ts';
import { facetsUnits } from '../../engine/query/group/facets.ts';
import { Cardinalities } from '../../engine/query/metric/cardinality.ts';
import { MetricTable } from '../../engine/query/metric/metric-table.ts';
import type { AggregateQuery, AggregateResult } from '../../engine/query/model/query.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import { ValueHash } from '../../engine/query/value/value-hash.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { run } from './blocks.ts';
import { sourceOf, stored } from './stored.ts';

/** From so many values on a column has a dictionary. */
const ROWS = 5_000;
const PATHS = ['custom.host', 'custom.user', 'custom.mixed', 'custom.size', 'custom.rare'];

function rowOf(n: number): TestRow {
  const text = (name: string, value: string): TestLeaf => ({
    ...{ names: ['custom', name], kind: 'string', text: value },
  });
  const number = (name: string, value: string): TestLeaf => ({
    ...{ names: ['custom', name], kind: 'number', text: value },
  });
  const leaves = [
    text('host', `host ${n % 7}`),
    text('user', n % 3 === 0 ? String(n % 400) : `user number ${n % 900}`),
    n < ROWS && n % 2 === 0 ? number('mixed', String(n % 50)) : text('mixed', `kind ${n % 50}`),
    number('size', String(n % 300)),
  ];
  if (n === ROWS + 1) leaves.push(text('rare', 'once'));
  return { timeMs: n, leaves };
}

const { shelf } = await stored(
  [0, 1, 2].map((part) => Array.from({ length: ROWS }, (_, n) => rowOf(part * ROWS + n))),
  0,
);
// Two sealed segments and a log.
const [first, second, log] = shelf.refs;
await shelf.seal([first], ROWS);
await shelf.seal([second], ROWS);
const { reader } = shelf;
const snapshot = { blocks: shelf.refs };

const byRows = sourceOf(reader);
const byDictionary = sourceOf(reader, (ref, number) => reader.dictionary(ref, number));
/** Asks for the distinct values of a path. */
function distinct(
  source: BlockSource,
  path: string,
  range: { fromMs: number; toMs: number },
  of = snapshot,
): AggregateResult {
  const metric = { type: 'attribute', path, aggregation: 'cardinality' } as const;
  const computes: AggregateQuery['computes'] = [{ type: 'metric', metric }];
  const asked = { ...range, predicate: { type: 'all' as const }, computes, groupBys: [] };
  return run(aggregateUnits(source, of, asked));
}

function entriesOf(texts: readonly string[]): Entries {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, text] of texts.entries()) offsets[at + 1] = offsets[at] + text.length;
  return { offsets, bytes: new TextEncoder().encode(texts.join('')) };
}

const query = { predicate: { type: 'all' as const }, paths: PATHS };

t.test('values of whole segments are those of their rows, cut or not', async (t) => {
  t.ok(log.sealed === false && shelf.refs.filter(({ sealed }) => sealed).length >= 2);
  for (const [fromMs, toMs] of [
    [0, 1e6],
    [ROWS, 1e6],
    [0, 2 * ROWS - 1],
    [10, 20],
  ]) {
    const range = { ...query, fromMs, toMs };
    for (const distinctMax of [10, 600, 50_000]) {
      const [rows, entries] = [byRows, byDictionary].map((source) => {
        return run(facetsUnits(source, snapshot, { ...range, limit: 20 }, distinctMax));
      });
      t.same(entries.facets, rows.facets);
      const limits = { distinctMax, memoryBytesMax: 1e9 };
      const [attributes, same] = [byRows, byDictionary].map((source) =>
        run(attributesUnits(source, snapshot, { ...range, limit: 9, values: 5 }, limits)),
      );
      t.same(same.attributes, attributes.attributes);
    }
  }
});

t.test(
  'nothing is opened of whole segments whose values are strings of dictionaries',
  async (t) => {
    const sealed = { blocks: shelf.refs.filter((ref) => ref.sealed) };
    const asked = { ...query, paths: ['custom.host', 'custom.user'], fromMs: 0, toMs: 1e6 };
    const { stats, facets } = run(facetsUnits(byDictionary, sealed, { ...asked, limit: 3 }));
    t.match(stats, { blocksOpened: 0, rowsScanned: 0 });
    t.equal(facets[0].values[0].eventCount, Math.ceil((2 * ROWS) / 7));
    const cut = run(facetsUnits(byDictionary, sealed, { ...asked, fromMs: 1, limit: 3 }));
    t.ok(cut.stats.blocksOpened > 0);
  },
);

t.test('a dictionary that turns out damaged leaves its segment to the rows', async (t) => {
  const broken = sourceOf(reader, (ref, number) => {
    const dictionary = reader.dictionary(ref, number);
    const counts = (): never => {
      throw new EngineError('CORRUPTION', 'a dictionary is damaged');
    };
    const { segment } = shelf.refs.filter(({ sealed }) => sealed)[0];
    if (ref.segment !== segment) return dictionary;
    return {
      ...{ entryCount: dictionary.entryCount, counts, countRuns: counts },
      entries: () => dictionary.entries(),
      lengths: () => dictionary.lengths(),
      place: (entry) => dictionary.place(entry),
      verify: () => dictionary.verify(),
      verifyHashes: (first, piece) => dictionary.verifyHashes(first, piece),
      piece: counts,
      entryUnits: () => dictionary.entryUnits(),
      findUnits: (text) => dictionary.findUnits(text),
      hashUnits: (hash) => dictionary.hashUnits(hash),
      keptUnits: (_key, make) => make(),
    };
  });
  const range = { ...query, fromMs: 0, toMs: 1e6 };
  for (const distinctMax of [10, 50_000]) {
    const limits = { distinctMax, memoryBytesMax: 1e9 };
    const [found, wanted] = [broken, byRows].map(
      (source) =>
        run(attributesUnits(source, snapshot, { ...range, limit: 9, values: 5 }, limits))
          .attributes,
    );
    t.same(found, wanted);
  }
  for (const path of PATHS) {
    const [found, wanted] = [broken, byRows].map((source) => distinct(source, path, range));
    t.same(found.buckets, wanted.buckets, path);
  }
});

t.test('values of whole segments are counted by their dictionaries alone', async (t) => {
  const sealed = { blocks: shelf.refs.filter((ref) => ref.sealed) };
  for (const path of PATHS) {
    for (const range of [
      { fromMs: 0, toMs: 1e6 },
      { fromMs: ROWS, toMs: 1e6 },
      { fromMs: 10, toMs: 20 },
    ]) {
      const [found, wanted] = [byDictionary, byRows].map((source) => distinct(source, path, range));
      t.same(found.buckets, wanted.buckets, path);
    }
  }
  const { stats } = distinct(byDictionary, 'custom.user', { fromMs: 0, toMs: 1e6 }, sealed);
  t.match(stats, { blocksOpened: 0, rowsScanned: 0 });
});

t.test('a dictionary gives distinct values and bounds of its texts, many and few', async (t) => {
  const path = 'custom.a';
  const secret = new Uint8Array(32);
  const hash = new ValueHash(secret);
  const metrics = (['cardinality', 'min', 'max'] as const).map((aggregation) => {
    return { type: 'attribute', path, aggregation } as const;
  });
  for (const count of [3, 9_000, 25_000]) {
    const texts = Array.from({ length: count }, (_, n) =>
      n % 3 === 1 ? String(7 - (n % 20_011)) : `value ${n % 20_011}`,
    );
    const piece = (first: number): Entries => entriesOf(texts.slice(first, first + PIECE_ENTRIES));
    const kept = new Map<string, Summed>();
    const keptUnits = function* <T extends Summed>(key: SumKey<T>, make: () => Units<T>): Units<T> {
      const made = key.of(kept.get(key.name)) ?? (yield* make());
      kept.set(key.name, made);
      return made;
    };
    const dictionary = { entryCount: count, piece, keptUnits } as unknown as EntrySource;
    const table = new MetricTable(metrics, secret);
    const distinct = new Cardinalities();
    distinct.ensure(1);
    for (const text of texts) {
      const bytes = encodeText(text);
      hash.string(bytes, 0, bytes.length);
      distinct.add(0, hash.low, hash.high);
    }
    const numbers = texts.map(Number).filter((number) => !Number.isNaN(number));
    for (let round = 0; round < 2; round++) {
      finished(table.addEntries(path, dictionary));
      t.same(
        metrics.map((metric) => table.value(metric, 0)),
        [distinct.result(0), Math.min(...numbers), Math.max(...numbers)],
      );
    }
  }
});
