import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { attributesUnits } from '../../engine/query/group/attributes.ts';
import type {
  AggregateQuery,
  Aggregation,
  GroupBy,
  Metric,
} from '../../engine/query/model/query.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';
import { Crew } from './crew.ts';

const EVER = { fromMs: 0, toMs: 1_000, predicate: { type: 'all' as const } };

function metric(aggregation: Aggregation): Metric {
  return { type: 'attribute', path: 'custom.n', aggregation };
}

/** A row of the key `k` with a number, as one or, in quotes, as a string. */
function rowOf(k: string, number: string, timeMs: number): TestRow {
  const isText = number.startsWith('"');
  const text = isText ? number.slice(1, -1) : number;
  const leaves: TestLeaf[] = [
    { kind: 'string', text: k, names: ['custom', 'k'] },
    { kind: isText ? 'string' : 'number', text, names: ['custom', 'n'] },
  ];
  return { timeMs, leaves };
}

const CASES: {
  name: string;
  numbers: string[];
  min: string;
  max: string;
  sum: string | undefined;
}[] = [
  {
    name: 'integers beyond doubles',
    numbers: ['9007199254740992', '9007199254740993', '9007199254740994'],
    ...{ min: '9007199254740992', max: '9007199254740994', sum: '27021597764222979' },
  },
  {
    name: 'integers that one double is the nearest of',
    numbers: ['12345678901234567891', '"12345678901234567890"', '12345678901234567892', '"-1"'],
    ...{ min: '-1', max: '12345678901234567892', sum: '37037036703703703672' },
  },
  {
    name: 'decimals that one double is the nearest of',
    numbers: ['9007199254740.991', '9007199254740.992', '"9007199254740.990"', '0.001'],
    ...{ min: '0.001', max: '9007199254740.992', sum: undefined },
  },
  {
    name: 'ordinary numbers',
    numbers: ['1e2', '0.610', '"7"', '-3'],
    ...{ min: '-3', max: '100', sum: '104.61' },
  },
  {
    name: 'many integers whose sum leaves the safe ones',
    numbers: Array.from({ length: 100 }, (_, at) => String(9_007_199_254_740_000 + at)),
    ...{ min: '9007199254740000', max: '9007199254740099', sum: '900719925474004950' },
  },
];

t.test(
  'minima, maxima and sums are exact in all blocks, sealed or not, whoever joins',
  async (t) => {
    for (const { name, numbers, min, max, sum } of CASES) {
      const shelf = new Shelf();
      for (const [at, number] of numbers.entries()) {
        const ref = await shelf.add([rowOf('a', number, at)], at, 0);
        if (at % 2 === 0) await shelf.seal([ref]);
      }
      const asked: AggregateQuery = {
        ...EVER,
        computes: (['min', 'max', 'sum'] as const).map((one) => ({
          type: 'metric',
          metric: metric(one),
        })),
        groupBys: [],
      };
      const snapshot = { blocks: shelf.refs };
      const crew = new Crew(shelf, 2, () => 0);
      const answers = [
        run(aggregateUnits(shelf.reader, snapshot, asked)),
        crew.run(aggregateUnits(shelf.reader, snapshot, asked, {}, crew)),
      ];
      for (const { buckets } of answers) {
        const [least, greatest, total] = buckets[0].values.map(String);
        t.same([least, greatest, sum && total], [min, max, sum], name);
      }
      const { attributes } = run(
        attributesUnits(shelf.reader, snapshot, {
          ...EVER,
          paths: ['custom.n'],
          limit: 1,
          values: 0,
        }),
      );
      t.match(attributes[0].bounds, { type: 'number' });
      const bounds = attributes[0].bounds;
      if (bounds?.type === 'number') t.same([bounds.min, bounds.max].map(String), [min, max], name);
    }
  },
);

t.test('buckets are in the exact order of minima, maxima and sums', async (t) => {
  const shelf = new Shelf();
  for (const [at, k] of ['c', 'a', 'b'].entries()) {
    await shelf.add([rowOf(k, `900719925474099${2 + at}`, at)], at, 0);
  }
  for (const aggregation of ['min', 'max', 'sum'] as const) {
    const by = metric(aggregation);
    const order = { by, direction: 'desc' as const };
    const groupBy: GroupBy = { type: 'field', path: 'custom.k', limit: 2, order, total: false };
    const { buckets } = run(
      aggregateUnits(
        shelf.reader,
        { blocks: shelf.refs },
        { ...EVER, computes: [{ type: 'metric', metric: by }], groupBys: [groupBy] },
      ),
    );
    t.same(
      buckets.map(({ keys, values }) => [keys[0], ...values.map(String)]),
      [
        [{ type: 'string', text: 'b' }, '9007199254740994'],
        [{ type: 'string', text: 'a' }, '9007199254740993'],
      ],
    );
  }
});
