import fc from 'fast-check';
import t from 'tap';
import { openBlock } from '../../engine/segment/block/block.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { RowSum, rowSums, type SummedBlock } from '../../engine/segment/sum/row-sum.ts';
import { pathOfSegment } from '../../engine/store/filename.ts';
import { anyRows } from './event-arbitrary.ts';
import type { TestLeaf, TestRow } from './leaves.ts';
import { Shelf } from './shelf.ts';

/** The blocks of a shelf, opened as a query opens them. */
function blocksOf(shelf: Shelf): SummedBlock[] {
  return shelf.refs.map((ref) => {
    const file = shelf.disk.open(pathOfSegment(ref.sealed, ref.segment), 'read');
    return ref.sealed ? new SealedFile(file, ref.segment).open(ref) : openBlock(file, ref);
  });
}

async function shelfOf(rows: readonly TestRow[], receivedMs = 5, sequence = 7): Promise<Shelf> {
  const shelf = new Shelf();
  await shelf.add(rows, 1, sequence, receivedMs);
  return shelf;
}

function areEqual(left: readonly SummedBlock[], right: readonly SummedBlock[]): boolean {
  const { wanted, found } = rowSums();
  for (const block of left) wanted.add(block);
  for (const block of right) found.add(block);
  return wanted.equals(found);
}

const text = (name: string, value: string): TestLeaf => ({
  names: ['custom', name],
  kind: 'string',
  text: value,
});
const number = (name: string, value: string): TestLeaf => ({
  names: ['custom', name],
  kind: 'number',
  text: value,
});

const LEAVES: TestLeaf[] = [
  text('verb', 'GET'),
  text('word', 'one'),
  number('n', '0.61'),
  { names: ['custom', 'nothing'], kind: 'null' },
  { names: ['custom', 'empty'], kind: 'object' },
  { names: ['custom', 'flag'], kind: 'boolean', value: true },
  { names: ['custom', 'tags'], kind: 'array', text: '["a",1]' },
  { names: ['custom', 'at'], kind: 'date', text: '2026-11-01T00:00:00.250Z' },
  { names: ['message'], kind: 'string', text: 'hello' },
];
const ROWS: TestRow[] = [
  { timeMs: 1_000, leaves: LEAVES },
  { timeMs: 1_000, leaves: [text('verb', 'PUT'), number('n', '7')] },
];

/** ROWS with other leaves in the first row. */
function withLeaves(leaves: TestLeaf[]): TestRow[] {
  return [{ timeMs: 1_000, leaves }, ROWS[1]];
}

function replaced(index: number, leaf: TestLeaf): TestRow[] {
  return withLeaves(LEAVES.map((known, at) => (at === index ? leaf : known)));
}

t.test('each thing that a row has is part of its sum', async (t) => {
  const [first, second] = LEAVES;
  const date: TestLeaf = {
    names: ['custom', 'at'],
    kind: 'date',
    text: '2026-11-01T00:00:00.251Z',
  };
  const form: TestLeaf = {
    names: ['custom', 'at'],
    kind: 'date',
    text: '2026-11-01 00:00:00.250Z',
  };
  const others: Record<string, TestRow[]> = {
    'a text': replaced(0, text('verb', 'GEt')),
    'a number': replaced(2, number('n', '0.62')),
    'digits of a number': replaced(2, number('n', '0.610')),
    'a number that is a text': replaced(2, text('n', '0.61')),
    'a text of a number': replaced(2, number('n', '61e-2')),
    'a boolean': replaced(5, { names: ['custom', 'flag'], kind: 'boolean', value: false }),
    'an array': replaced(6, { names: ['custom', 'tags'], kind: 'array', text: '["a",2]' }),
    'a string instead of an array': replaced(6, text('tags', '["a",1]')),
    'a date': replaced(7, date),
    'the form of a date': replaced(7, form),
    'a name': replaced(1, text('word2', 'one')),
    'the place of a dot': replaced(1, { ...second, names: ['custom.word'] } as TestLeaf),
    'a null that is gone': withLeaves(LEAVES.filter((_, at) => at !== 3)),
    'an empty object that is gone': withLeaves(LEAVES.filter((_, at) => at !== 4)),
    'an empty object instead of a null': replaced(3, {
      names: ['custom', 'nothing'],
      kind: 'object',
    }),
    'the order of leaves': withLeaves([second, first, ...LEAVES.slice(2)]),
    'values of two attributes': withLeaves([
      text('verb', 'one'),
      text('word', 'GET'),
      ...LEAVES.slice(2),
    ]),
    'values of two rows': [
      { timeMs: 1_000, leaves: [text('verb', 'PUT'), ...LEAVES.slice(1)] },
      { timeMs: 1_000, leaves: [text('verb', 'GET'), number('n', '7')] },
    ],
    'the time': [{ timeMs: 1_001, leaves: LEAVES }, ROWS[1]],
    'a row': [ROWS[0]],
  };
  const own = blocksOf(await shelfOf(ROWS));
  t.ok(areEqual(own, blocksOf(await shelfOf(ROWS))));
  for (const [what, rows] of Object.entries(others)) {
    t.notOk(areEqual(own, blocksOf(await shelfOf(rows))), what);
  }
  t.notOk(areEqual(own, blocksOf(await shelfOf(ROWS, 6))), 'the reception date');
  t.notOk(areEqual(own, blocksOf(await shelfOf(ROWS, 5, 8))), 'the sequence');
  const other = new Shelf();
  await other.add(ROWS, 2, 7, 5);
  t.notOk(areEqual(own, blocksOf(other)), 'the writer');
  t.notOk(areEqual(own, [...own, ...own]), 'how often it is there');
});

t.test('equal rows have equal sums, however they are encoded', async () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), anyRows), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(runs, async (parts) => {
      const shelf = new Shelf();
      let sequence = 3;
      for (const [writer, rows] of parts) {
        await shelf.add(rows, writer, sequence);
        sequence += rows.length;
      }
      const blocks = blocksOf(shelf);
      await shelf.seal(shelf.refs);
      if (!areEqual(blocks, blocksOf(shelf))) throw new Error('the sums differ');
    }),
    { numRuns: 60 },
  );
});

t.test('texts, dictionaries and scales say the same', async (t) => {
  const value = (row: number): string => `value ${row % 5}`;
  const many = Array.from({ length: 5_000 }, (_, row) => ({
    timeMs: row,
    leaves: [text('a', value(row)), number('n', row < 2_500 ? `${row}.5` : `${row}.25`)],
  }));
  const whole = await shelfOf(many, 5, 0);
  const single = new Shelf();
  for (const [row, each] of many.slice(0, 200).entries()) await single.add([each], 1, row, 5);
  await single.add(many.slice(200), 1, 200, 5);
  t.ok(areEqual(blocksOf(whole), blocksOf(single)), 'of blocks of one row and of many');
  await whole.seal(whole.refs);
  t.ok(areEqual(blocksOf(whole), blocksOf(single)), 'with a dictionary of the segment');
});

t.test('a number among doubles that are texts is what is printed', async (t) => {
  const numbers = ['-1.50', '5e-324', '5e-324'];
  const rows = numbers.map((value, timeMs) => ({ timeMs, leaves: [number('n', value)] }));
  const apart = new Shelf();
  await apart.add(rows.slice(0, 1), 1, 0, 5);
  await apart.add(rows.slice(1), 1, 1, 5);
  t.ok(areEqual(blocksOf(apart), blocksOf(await shelfOf(rows, 5, 0))));
});

t.test('sums of other keys differ', async (t) => {
  const [block] = blocksOf(await shelfOf(ROWS));
  const one = rowSums().wanted;
  const other = rowSums().wanted;
  one.add(block);
  other.add(block);
  t.ok(one instanceof RowSum);
  t.notOk(one.equals(other));
});

/** Lets sealing write what it will, and gives the file the content of another, which is whole too. */
async function sealAs(shelf: Shelf, content: Uint8Array): Promise<void> {
  const { disk } = shelf;
  const rename = disk.rename.bind(disk);
  disk.rename = async (from, to) => {
    await rename(from, to);
    disk.damage(to, () => content);
  };
  await shelf.sealOnly(shelf.refs);
}

t.test('a new segment that has not the rows of its sources is refused, and removed', async (t) => {
  const [first, second] = ROWS;
  const swapped = [
    { ...first, leaves: [text('verb', 'PUT'), ...LEAVES.slice(1)] },
    { ...second, leaves: [text('verb', 'GET'), number('n', '7')] },
  ];
  for (const rows of [ROWS, swapped]) {
    const other = await shelfOf(rows);
    const [segment] = (await other.sealOnly(other.refs)).segments;
    const content = other.disk.content(pathOfSegment(true, segment.segment));
    const shelf = await shelfOf(ROWS);
    if (rows === ROWS) {
      await t.resolves(sealAs(shelf, content));
      continue;
    }
    await t.rejects(sealAs(shelf, content), { code: 'MISMATCH' });
    t.same(shelf.disk.list('sealed'), []);
    const damaged = content.slice();
    damaged[200] ^= 1;
    await t.rejects(sealAs(await shelfOf(ROWS), damaged), { code: 'MISMATCH' });
  }
});
