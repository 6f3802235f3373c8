import fc from 'fast-check';
import t from 'tap';
import type { AggregateQuery, ListedEvent } from '../../engine/engine.ts';
import { writeAnswer } from '../../server/query/answer/answer.ts';
import { AnswerWriter } from '../../server/query/answer/answer-writer.ts';
import type { QueryJob } from '../../server/query/job.ts';
import { textOf } from '../support/answer.ts';

const stats = {
  blocksTotal: 3,
  blocksOpened: 2,
  blocksRefuted: 0,
  blocksCounted: 0,
  rowsScanned: 9,
  blocksDamaged: 0,
};
const selection = { fromMs: 0, toMs: 20_000, predicate: { type: 'all' as const } };
const reply = { zone: 'Europe/Paris', explain: false };
const PIECE_BYTES = 65_536;
const UNIT_CHARACTERS = 4_096 * 128;

t.test('pieces are all that was added, in UTF-8, and none is empty', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 9 }),
    fc.tuple(fc.constantFrom('a', 'é', '😀'), fc.nat(50_000)).map(([unit, n]) => unit.repeat(n)),
  );
  fc.assert(
    fc.property(fc.array(fc.option(text), { maxLength: 12 }), (texts) => {
      const writer = new AnswerWriter();
      for (const one of texts) {
        if (one === null) writer.endPiece();
        else writer.add(one);
      }
      const pieces = writer.finish();
      if (pieces.some(({ length }) => length === 0)) return false;
      return textOf(pieces) === texts.map((one) => one ?? '').join('');
    }),
    { numRuns: 50 },
  );
});

t.test(
  'a unit is full after some thousand texts, or so many characters as they have',
  async (t) => {
    const writer = new AnswerWriter();
    let count = 0;
    do writer.add('x');
    while (++count < 10_000 && !writer.isFull());
    t.ok(count > 1_500 && count <= 2_048, `${count} texts`);
    count = 0;
    do writer.add('x'.repeat(50_000));
    while (++count < 100 && !writer.isFull());
    t.ok(count > 3 && count <= 6, `${count} texts of 50,000`);
    t.notOk(writer.isFull());
  },
);

/** The most texts, and characters, that a unit of an answer adds, and the answer. */
function mostOf(...written: Parameters<typeof writeAnswer>) {
  const { add } = AnswerWriter.prototype;
  let texts = 0;
  let characters = 0;
  const most = { texts: 0, characters: 0, units: 0 };
  AnswerWriter.prototype.add = function (text, cost) {
    texts++;
    characters += text.length;
    add.call(this, text, cost);
  };
  try {
    const units = writeAnswer(...written);
    for (;;) {
      texts = 0;
      characters = 0;
      const { done, value } = units.next();
      most.texts = Math.max(most.texts, texts);
      most.characters = Math.max(most.characters, characters);
      most.units++;
      if (done === true) return { ...most, answer: value ?? [] };
    }
  } finally {
    AnswerWriter.prototype.add = add;
  }
}

const events: ListedEvent[] = Array.from({ length: 3_000 }, (_, at) => ({
  id: `id${at}`,
  timeMs: at,
  receivedMs: at,
  event: `{"message":"${String(at).repeat(200)}"}`,
  columns: ['null', '{"a":1}'],
}));
const view = { order: 'desc' as const, limit: 3_000, event: true };
const column = { type: 'attribute' as const, path: 'syslog' };
const list = { ...selection, ...view, columns: [column] };
const boundaries = Array.from({ length: 10_001 }, (_, at) => at * 2);
const aggregate: AggregateQuery = {
  ...selection,
  computes: [{ type: 'timeseries', metric: { type: 'core' }, boundaries }],
  groupBys: [
    {
      ...{ type: 'field', path: 'custom.u', limit: 5, total: false },
      order: { by: { type: 'core' }, direction: 'desc' },
    },
  ],
};
const buckets = Array.from({ length: 5 }, (_, at) => ({
  keys: [{ type: 'string' as const, text: `url${at}` }],
  values: [Array.from({ length: 10_000 }, (_, step) => step * at)],
}));
const series = {
  ...{ type: 'aggregate' as const, query: aggregate, format: true, ...reply },
  ...{ outputs: [{ name: 'n', unit: 'ms' }], groupOutputs: [{ name: 'u' }] },
};
const page = { ...list, textMax: Infinity, blocksMax: Infinity };
const csv = { type: 'csv' as const, safe: true };
const around = { id: 'id', before: 1, after: 1, visible: selection.predicate, ...selection };

const ANSWERS: [string, Parameters<typeof writeAnswer>][] = [
  [
    'a list',
    [
      { type: 'list', query: list, ...reply },
      { events, stats },
    ],
  ],
  [
    'a saved list',
    [
      { type: 'list', query: list, saved: true, ...reply },
      { events, stats },
    ],
  ],
  [
    'a page',
    [
      { type: 'export', query: page, format: csv, zone: 'UTC' },
      { events, damaged: [], stats },
    ],
  ],
  [
    'what is around an event',
    [
      { type: 'context', query: { ...around, event: true, columns: [] }, zone: 'UTC' } as QueryJob,
      { before: events, event: events[0], after: events, stats },
    ] as Parameters<typeof writeAnswer>,
  ],
  ['time series', [series, { buckets, more: false, stats }]],
  [
    'rows of time series',
    [
      { ...series, saved: { rowsMax: Infinity } },
      { buckets, more: false, stats },
    ],
  ],
];

t.test('no unit of an answer adds more, and no piece is much larger than the others', async (t) => {
  for (const [name, written] of ANSWERS) {
    const { texts, characters, units, answer } = mostOf(...written);
    t.ok(texts <= 4_096, `${name}: ${texts} texts`);
    t.ok(characters <= UNIT_CHARACTERS + 2_000, `${name}: ${characters} characters`);
    t.ok(units > 2, `${name}: ${units} units`);
    const largest = Math.max(...answer.map(({ length }) => length));
    t.ok(largest <= PIECE_BYTES + 2_000, `${name}: pieces of ${largest} bytes`);
    t.ok(answer.length > 2, `${name}: ${answer.length} pieces`);
  }
});
