import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { totalUnits } from '../../engine/query/events/total.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { ofAll, run } from './blocks.ts';
import { sourceOf, stored } from './stored.ts';

/** From so many values on a column has a dictionary. */
const ROWS = 5_000;
const EVER = { fromMs: 0, toMs: ROWS * 3 };

function rowOf(row: number): TestRow {
  const text = (name: string, value: string): TestLeaf => ({
    ...{ names: ['custom', name], kind: 'string', text: value },
  });
  const leaves: TestLeaf[] = [
    text('host', `host ${row % 7}`),
    row % 2 === 0
      ? { names: ['custom', 'mixed'], kind: 'number', text: `${row % 5}` }
      : text('mixed', `${row % 5}`),
    { names: ['message'], kind: 'string', text: `message ${row % 90} of host ${row % 7}` },
  ];
  if (row % 3 > 0) leaves.push(text('some', `some ${row % 11}`));
  return { timeMs: row, leaves };
}

const { shelf } = await stored(
  [0, 1, 2].map((part) => Array.from({ length: ROWS }, (_, row) => rowOf(part * ROWS + row))),
  0,
);
// Two sealed segments and a log.
const [first, second] = shelf.refs;
await shelf.seal([first], ROWS);
await shelf.seal([second], ROWS);
const { reader } = shelf;
const snapshot = { blocks: shelf.refs };

const byRows = sourceOf(reader);
const byDictionary = sourceOf(reader, (ref, number) => reader.dictionary(ref, number));
const words = (...texts: string[]) => ({
  type: 'words' as const,
  words: texts.map((literal) => [{ literal }]),
});
const value = (path: string, text: string): Predicate => ({
  ...{ type: 'value', paths: [path], match: { type: 'text', text } },
});

t.test('counts by dictionaries are those by rows', async (t) => {
  const asked: Predicate[] = [
    value('custom.host', 'host 3'),
    value('custom.host', 'host 9'),
    value('custom.some', 'some 4'),
    value('custom.mixed', '3'),
    value('custom.absent', 'a'),
    words('host', '3'),
    words('nothing'),
    { type: 'value', paths: ['custom.some'], match: words('some') },
    { type: 'value', paths: ['custom.host', 'custom.some'], match: words('3') },
    { type: 'not', child: words('message', '7') },
    { type: 'value', paths: ['custom.host'], match: { type: 'regex', source: 'host [12]' } },
  ];
  for (const predicate of asked) {
    for (const range of [EVER, { fromMs: 100, toMs: ROWS * 2 - 7 }]) {
      const counted = (source: BlockSource) =>
        run(totalUnits(source, snapshot, { ...range, predicate }));
      t.equal(counted(byDictionary).total, counted(byRows).total, JSON.stringify(predicate));
      const query = { ...range, predicate, ...ofAll({ type: 'core' }) };
      const aggregated = (source: BlockSource) => run(aggregateUnits(source, snapshot, query));
      t.same(aggregated(byDictionary).buckets, aggregated(byRows).buckets);
    }
  }
});

t.test('a count of whole segments opens none of their blocks', async (t) => {
  const predicate = value('custom.host', 'host 3');
  const { stats } = run(totalUnits(byDictionary, snapshot, { ...EVER, predicate }));
  t.equal(stats.blocksOpened, 1);
  const again = () => run(totalUnits(reader, snapshot, { ...EVER, predicate }));
  t.equal(again().total, again().total);
  t.equal(again().stats.blocksOpened, 0);
});

t.test('where a dictionary is damaged rows are counted', async (t) => {
  const predicate = words('host', '3');
  const damaged = sourceOf(reader, () => {
    throw new EngineError('CORRUPTION', 'no dictionary');
  });
  const counted = (source: BlockSource) =>
    run(totalUnits(source, snapshot, { ...EVER, predicate })).total;
  t.equal(counted(damaged), counted(byRows));
});
