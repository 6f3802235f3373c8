import fc from 'fast-check';
import t from 'tap';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import { anyRows } from './event-arbitrary.ts';
import type { TestRow } from './leaves.ts';
import { checkOrder, compareTexts, Shelf } from './shelf.ts';

const DAY_MS = 86_400_000;

/** A column of every kind, with shared values, own ones, gaps, and odd numbers. */
function manyRows(count: number, startMs: number, stepMs: number): TestRow[] {
  return Array.from({ length: count }, (_, row): TestRow => {
    const timeMs = startMs + row * stepMs - (row % 97 === 0 ? 5_000 : 0);
    const iso = new Date(timeMs).toISOString();
    const leaves: TestRow['leaves'] = [
      { names: ['custom', 'verb'], kind: 'string', text: ['GET', 'POST', 'PUT'][row % 3] },
      { names: ['custom', 'tags'], kind: 'array', text: `["a",${row % 5}]` },
      { names: ['custom', 'date'], kind: 'date', text: iso },
      { names: ['custom', 'status'], kind: 'number', text: String(200 + (row % 7)) },
      { names: ['custom', 'ratio'], kind: 'number', text: String((row % 50) / 8) },
      { names: ['custom', 'double'], kind: 'number', text: String(Math.sqrt(row)) },
      { names: ['custom', 'odd'], kind: 'number', text: ['-0', '1e3', '007', '1.50'][row % 4] },
      { names: ['custom', 'flag'], kind: 'boolean', value: row % 3 === 1 },
      { names: ['custom', 'own'], kind: 'string', text: `id ${row} ${row * 7919}` },
    ];
    if (row % 2 === 0) {
      leaves.push({ names: ['custom', 'half'], kind: 'string', text: `h${row % 300}` });
    }
    if (row % 40 === 3) {
      leaves.push({ names: ['custom', 'rare'], kind: 'string', text: `r${row % 3}` });
      leaves.push({ names: ['custom', 'rareNumber'], kind: 'number', text: `${row}.5` });
    }
    if (row % 11 === 0) leaves.push({ names: ['custom', 'nothing'], kind: 'null' });
    leaves.push({ names: ['message'], kind: 'string', text: `message ${row} of ${row % 100}` });
    return { timeMs, leaves };
  });
}

t.test('sealed blocks have the rows of their sources, in order, whatever they are', async () => {
  const run = fc.tuple(fc.integer({ min: 0, max: 2 }), anyRows, fc.nat(3));
  const runs = fc.array(run, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      runs,
      fc.nat(6),
      fc.constantFrom(20, 1_000_000),
      async (runs, cut, rowsMax) => {
        const shelf = new Shelf();
        const sequences = [7, 2 ** 33, 0];
        for (const [writer, rows, gap] of runs) {
          sequences[writer] += gap;
          await shelf.add(rows, writer, sequences[writer], 1_000_000 + gap);
          sequences[writer] += rows.length;
        }
        const wanted = shelf.texts();
        for (const refs of [shelf.refs.slice(0, cut), undefined]) {
          const all = refs ?? shelf.refs;
          if (all.length === 0) continue;
          const { segments, damaged, rowCount } = await shelf.seal(all, rowsMax);
          const total = segments.reduce((sum, segment) => sum + segment.rowCount, 0);
          if (damaged.length > 0 || total !== rowCount) throw new Error('rows are missing');
          if (segments.some((segment) => segment.rowCount > rowsMax)) throw new Error('too large');
          compareTexts(shelf.texts(), wanted);
          for (const segment of segments) checkOrder(shelf, segment.blocks);
        }
      },
    ),
    { numRuns: 40 },
  );
});

t.test('dictionaries of the segment, sparse and distinct columns come back', async (t) => {
  const shelf = new Shelf();
  const start = 20_000 * DAY_MS + 10_000;
  await shelf.add(manyRows(5_000, start, 10), 0, 0);
  await shelf.add(manyRows(4_500, start + 30_000, 10), 1, 500);
  await shelf.add(manyRows(500, start - 9 * DAY_MS, 10), 1, 90_000);
  const wanted = shelf.texts();
  const first = await shelf.seal(shelf.refs.slice(0, 2));
  const [segment] = first.segments;
  t.equal(first.segments.length, 1);
  t.same(segment.sequences, [
    { writer: 0, sequence: 4_999 },
    { writer: 1, sequence: 4_999 },
  ]);
  compareTexts(shelf.texts(), wanted);
  const footer = new SealedFile(
    shelf.disk.open(sealedPath(segment.segment), 'read'),
    segment.segment,
  ).footer();
  t.ok(footer.dictionaries.length >= 3);
  t.same(footer.blocks, segment.blocks);
  t.equal(footer.rowCount, 9_500);
  const { minutes, rowsBefore } = footer.minutes;
  t.equal(rowsBefore[0], 0);
  t.equal(minutes[0], Math.floor(segment.minTimeMs / 60_000));
  const second = await shelf.seal(shelf.refs);
  t.equal(second.segments.length, 2, 'a segment for the day, and one for the rows of others');
  compareTexts(shelf.texts(), wanted);
});

t.test('a segment has as many blocks as its rows need', async (t) => {
  const shelf = new Shelf();
  const start = 20_000 * DAY_MS;
  for (let part = 0; part < 3; part++) {
    const rows = Array.from({ length: 24_000 }, (_, row): TestRow => {
      const leaf = { names: ['custom', 'n'], kind: 'number' as const, text: String(row) };
      const name = { names: ['message'], kind: 'string' as const, text: `m${row % 1000}` };
      return { timeMs: start + part + row * 3, leaves: row % 2 === 0 ? [leaf, name] : [name] };
    });
    await shelf.add(rows, part, 0);
  }
  const wanted = shelf.texts();
  const { segments } = await shelf.seal(shelf.refs);
  t.same(
    segments.map(({ blocks }) => blocks.map(({ rowCount }) => rowCount)),
    [[65_536, 6_464]],
  );
  compareTexts(shelf.texts(), wanted);
  checkOrder(shelf, segments[0].blocks);
});

t.test('a damaged source is left out and named, the rest is sealed', async (t) => {
  const shelf = new Shelf();
  for (let part = 0; part < 3; part++)
    await shelf.add(manyRows(100, part * 1_000, 1), 0, part * 100);
  const [first, second, third] = shelf.refs;
  const wanted = shelf.texts([first, third]);
  shelf.disk.damage(`log/0000000${second.segment}.log`, (bytes) => {
    const copy = bytes.slice();
    copy[copy.length - 100] ^= 1;
    return copy;
  });
  const { segments, damaged, rowCount } = await shelf.seal(shelf.refs);
  t.same(damaged, [second]);
  t.equal(rowCount, 200);
  compareTexts(shelf.texts(segments.flatMap(({ blocks }) => blocks)), wanted);
});

t.test('sealing that is stopped, or fails, leaves no file', async (t) => {
  const shelf = new Shelf();
  await shelf.add(manyRows(2_000, 0, 1), 0, 0);
  const stop = new AbortController();
  stop.abort();
  await t.rejects(shelf.sealOnly(shelf.refs, 1_000_000, { signal: stop.signal }), {
    code: 'CLOSED',
  });
  t.same(shelf.disk.list('sealed'), []);
});
