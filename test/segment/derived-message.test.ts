import t from 'tap';
import { StringEncoding } from '../../engine/column/text.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { run } from '../query/blocks.ts';
import type { TestRow } from './leaves.ts';
import { checkOrder, compareTexts, Shelf } from './shelf.ts';

const START_MS = 1_700_000_000_000;

/** Access log lines in three forms, with odd numbers, values and messages that are missing, and some other messages. */
function accessRows(count: number, first: number, startMs = START_MS): TestRow[] {
  return Array.from({ length: count }, (_, index): TestRow => {
    const row = first + index;
    const verb = ['GET', 'POST', 'LÖSCHE'][row % 3];
    const url = `/item/${(row * 7_919) % 5_000}?session=${(row * 104_729).toString(16)}`;
    const status = row % 50 === 9 ? '0x1' : String(200 + (row % 4) * 101);
    const taken = row % 31 === 3 ? '1e-3' : (row / 1_000).toFixed(3);
    const leaves: TestRow['leaves'] = [
      { names: ['custom', 'verb'], kind: 'string', text: verb },
      { names: ['custom', 'url'], kind: 'string', text: url },
      { names: ['custom', 'taken'], kind: 'number', text: taken },
    ];
    if (row % 7 !== 2) {
      const kind = status.startsWith('0x') ? 'string' : 'number';
      leaves.push({ names: ['custom', 'status'], kind, text: status });
    }
    const forms = [
      `${verb} ${url} answered ${status} in ${taken} s`,
      `"${verb} ${url} HTTP/1.1" ${status} by worker ${row % 977}`,
      `${url}: ${taken}`,
    ];
    const text = row % 101 === 0 ? `restarted after ${row} \ud800` : forms[(row >> 2) % 3];
    if (row % 19 !== 5) leaves.push({ names: ['message'], kind: 'string', text });
    return { timeMs: startMs + row * 11 - (row % 40 === 0 ? 300 : 0), leaves };
  });
}

/** Encodings of the messages in sealed blocks. */
function encodingsOf(shelf: Shelf): number[] {
  return shelf.refs.map((ref) => {
    const block = shelf.reader.open(ref);
    const [index] = block.columnsAt('message');
    return block.head.directory.columns.entry(index).encoding;
  });
}

/** Times of the rows of which the message has what `text` matches. */
function found(shelf: Shelf, text: string): number[] {
  const match = { type: 'regex' as const, source: text };
  const predicate = { type: 'value' as const, paths: ['message'], match };
  const range = { fromMs: -1e15, toMs: 1e15, columns: [] };
  const query = { ...range, predicate, order: 'asc' as const, limit: 10_000, event: false };
  const { events, stats } = run(listUnits(shelf.reader, { blocks: shelf.refs }, query));
  if (stats.blocksDamaged > 0) throw new Error('damaged');
  return events.map(({ timeMs }) => timeMs);
}

t.test('messages are derived of attributes, and merged, and stay what they were', async (t) => {
  const shelf = new Shelf();
  await shelf.add(accessRows(4_000, 0), 1, 0);
  await shelf.add(accessRows(3_000, 10_000, START_MS - 90_000), 2, 50_000);
  const wanted = shelf.texts();
  const needles = [
    '.*answered 200 in.*',
    `.*session=${(2_711 * 104_729).toString(16)}.*`,
    'restarted.*',
  ];
  const places = needles.map((needle) => found(shelf, needle));
  t.ok(places.every(({ length }) => length > 0));
  await shelf.seal(shelf.refs);
  t.same(encodingsOf(shelf), [StringEncoding.DERIVED]);
  compareTexts(shelf.texts(), wanted);
  t.same(
    needles.map((needle) => found(shelf, needle)),
    places,
  );
  await shelf.add(accessRows(2_000, 20_000, START_MS - 190_000), 3, 90_000);
  const more = shelf.texts();
  await shelf.seal(shelf.refs);
  t.same(encodingsOf(shelf), [StringEncoding.DERIVED]);
  compareTexts(shelf.texts(), more);
  checkOrder(shelf, shelf.refs);
});

t.test('messages that say nothing of the attributes are text', async (t) => {
  const rows = accessRows(3_000, 0).map(({ timeMs, leaves }, row): TestRow => {
    const message = { names: ['message'], kind: 'string' as const, text: `event ${row * 77} came` };
    return { timeMs, leaves: [...leaves.filter(({ names }) => names[0] !== 'message'), message] };
  });
  const shelf = new Shelf();
  await shelf.add(rows, 1, 0);
  const wanted = shelf.texts();
  await shelf.seal(shelf.refs);
  t.same(encodingsOf(shelf), [StringEncoding.TEXT]);
  compareTexts(shelf.texts(), wanted);
});

t.test(
  'messages that are derived stay so when they are merged, however often each comes',
  async (t) => {
    const shelf = new Shelf();
    for (let time = 0; time < 3; time++) {
      const ref = await shelf.add(
        accessRows(4_000, 0, START_MS + time * 100_000),
        1,
        time * 50_000,
      );
      await shelf.seal([ref]);
    }
    const { DERIVED } = StringEncoding;
    t.same(encodingsOf(shelf), [DERIVED, DERIVED, DERIVED]);
    const wanted = shelf.texts();
    await shelf.seal(shelf.refs);
    t.same(encodingsOf(shelf), [DERIVED]);
    compareTexts(shelf.texts(), wanted);
  },
);
