import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { EventBuilder } from '../../engine/query/events/event.ts';
import { fetchUnits } from '../../engine/query/events/fetch.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { ListColumn, ListQuery, MetricExpression } from '../../engine/query/model/query.ts';
import type { TestLeaf } from '../segment/leaves.ts';
import { Blocks, run } from './blocks.ts';

const leaf = (kind: 'string' | 'number', text: string): TestLeaf => ({
  names: ['custom', 'v'],
  kind,
  text,
});
const ROWS: TestLeaf[][] = [
  [leaf('string', 'GET')],
  [leaf('number', '8')],
  [leaf('string', '2.5')],
  [leaf('string', '+.5e1')],
  [leaf('number', '1e400')],
  [],
];

function blocksOf(): Blocks {
  const blocks = new Blocks();
  const rows = ROWS.map((leaves, timeMs) => ({ timeMs, leaves }));
  blocks.add(rows.slice(0, 2), 0, 0);
  blocks.add(rows.slice(2), 1, 0);
  return blocks;
}

function list(columns: ListColumn[], changes: Partial<ListQuery> = {}) {
  const blocks = blocksOf();
  const query: ListQuery = {
    ...{ fromMs: 0, toMs: 100, predicate: { type: 'all' }, order: 'asc' },
    ...{ limit: 50, event: false, columns },
    ...changes,
  };
  return run(listUnits(blocks, { blocks: blocks.refs }, query)).events;
}

const textsOf = (columns: ListColumn[]): string[] =>
  list(columns).map(({ columns }) => columns.join(' '));

const hasValue = (text: string): Predicate => ({
  type: 'value',
  paths: ['custom.v'],
  match: { type: 'text', text },
});

t.test('a column of tags is the id of the first tag whose predicate holds', async (t) => {
  const tags = [
    { id: 'eight', predicate: hasValue('8') },
    { id: 'some', predicate: { type: 'exists' as const, paths: ['custom.v'] } },
    { id: 'get', predicate: hasValue('GET') },
  ];
  t.same(textsOf([{ type: 'tag', tags }]), [
    ...['"some"', '"eight"', '"some"', '"some"', '"some"', 'null'],
  ]);
  t.same(textsOf([{ type: 'tag', tags: tags.slice(2) }]), [
    ...['"get"', 'null', 'null', 'null', 'null', 'null'],
  ]);
});

t.test('a column of a formula is what it comes to on the event', async (t) => {
  const value: MetricExpression = {
    type: 'metric',
    metric: { type: 'attribute', path: 'custom.v', aggregation: 'sum' },
  };
  const one: MetricExpression = { type: 'metric', metric: { type: 'core' } };
  const formula = (operator: '+' | '-' | '*' | '/', right: MetricExpression): ListColumn => ({
    type: 'formula',
    expression: { type: 'operation', operator, left: value, right },
  });
  t.same(
    textsOf([
      formula('+', one),
      formula('-', { type: 'number', value: 0.5 }),
      formula('*', value),
      formula('/', { type: 'number', value: 0 }),
    ]),
    [
      'null null null null',
      '9 7.5 64 null',
      '3.5 2 6.25 null',
      '6 4.5 25 null',
      'null null null null',
      'null null null null',
    ],
  );
});

t.test('an event is made once for all columns that its block has not', async (t) => {
  const blocks = blocksOf();
  const block = blocks.open(blocks.refs[0]);
  let made = 0;
  const { eventText } = block;
  block.eventText = (row) => {
    made++;
    return eventText.call(block, row);
  };
  const columns = ['custom.w', 'custom', 'custom.v', 'custom.x'].map(
    (path): ListColumn => ({ type: 'attribute', path }),
  );
  const view = { event: true, columns };
  const builder = finished(EventBuilder.open(block, blocks.ids, view, [0, 1]));
  t.same(
    [0, 1].map((row) => builder.build(row).columns),
    [
      ['null', '{"v":"GET"}', '"GET"', 'null'],
      ['null', '{"v":8}', '8', 'null'],
    ],
  );
  t.equal(made, 2);
});

t.test('a fetched event has such columns too', async (t) => {
  const blocks = blocksOf();
  const [, { id }] = list([]);
  const columns: ListColumn[] = [
    { type: 'tag', tags: [{ id: 'eight', predicate: hasValue('8') }] },
    { type: 'count' },
  ];
  const query = { id, predicate: { type: 'all' as const }, event: false, columns };
  const event = run(fetchUnits(blocks, { blocks: blocks.refs }, query));
  t.same(event?.columns, ['"eight"', '1']);
});

t.test('what is skipped is left out before the page', async (t) => {
  const times = (changes: Partial<ListQuery>): number[] =>
    list([], changes).map(({ timeMs }) => timeMs);
  t.same(times({ skip: 0, limit: 2 }), [0, 1]);
  t.same(times({ skip: 1, limit: 2 }), [1, 2]);
  t.same(times({ skip: 4 }), [4, 5]);
  t.same(times({ skip: 6 }), []);
  t.same(times({ skip: 1, limit: 2, order: 'desc' }), [4, 3]);
});
