import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import { attributesUnits } from '../../engine/query/group/attributes.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { FRAME_HEADER_BYTES, readFrameHeader } from '../../engine/segment/frame.ts';
import { readHead } from '../../engine/segment/head.ts';
import { SEALED_FOLDER, sealedPath } from '../../engine/store/filename.ts';
import { run } from '../query/blocks.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { anyRows } from './event-arbitrary.ts';
import type { TestLeaf, TestRow } from './leaves.ts';
import { compareTexts, Shelf } from './shelf.ts';

const FILE = fileURLToPath(new URL('../fixture/sealed-v6-overflow.seg', import.meta.url));
const START_MS = 1_700_000_000_000;
const EVER = { fromMs: -1e15, toMs: 1e15 };

/** Rows of three columns that all have, and of very many that few have, of all kinds. */
function wideRows(count: number): TestRow[] {
  return Array.from({ length: count }, (_, row): TestRow => {
    const names = ['custom', 'rare', `n${row % 90}`];
    const few: TestLeaf[] = [
      { names, kind: 'string', text: `value é ${row}` },
      { names, kind: 'number', text: row % 4 === 0 ? '1e400' : (row / 100).toFixed(2) },
      { names, kind: 'boolean', value: row % 3 === 0 },
      { names, kind: 'array', text: `[${row},"\ud800"]` },
      { names, kind: 'date', text: new Date(START_MS + row).toISOString() },
    ];
    return {
      timeMs: START_MS + row * 10,
      leaves: [
        { names: ['custom', 'status'], kind: 'number', text: String(200 + (row % 3)) },
        few[row % few.length],
        { names: ['custom', `own${row}`], kind: 'string', text: 'x'.repeat(row % 300) },
        { names: ['custom', 'host'], kind: 'string', text: `h${row % 7}` },
        { names: ['message'], kind: 'string', text: `message ${row}` },
      ],
    };
  });
}

/** Rows in two log segments, sealed with a budget of columns. */
async function sealedShelf(rows: readonly TestRow[], columnsMax?: number): Promise<Shelf> {
  const shelf = new Shelf(columnsMax);
  const middle = Math.ceil(rows.length / 3);
  await shelf.add(rows.slice(0, middle), 0, 1);
  if (rows.length > middle) await shelf.add(rows.slice(middle), 1, 1);
  await shelf.seal(shelf.refs);
  return shelf;
}

function featuresOf(shelf: Shelf): number {
  const bytes = shelf.disk.content(sealedPath(shelf.refs[0].segment));
  const header = readFrameHeader(bytes);
  const end = FRAME_HEADER_BYTES + (header?.metaBytes ?? 0);
  return readHead(bytes.subarray(FRAME_HEADER_BYTES, end)).features;
}

t.test('rows are what they were whatever the budget of columns, and merged again', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, fc.nat(4), async (rows, columnsMax) => {
      const shelf = new Shelf(columnsMax);
      await shelf.add(rows, 3, 1);
      const wanted = shelf.texts();
      await shelf.seal(shelf.refs);
      compareTexts(shelf.texts(), wanted);
      await shelf.seal(shelf.refs);
      compareTexts(shelf.texts(), wanted);
    }),
    { numRuns: 15 },
  );
});

t.test('columns beyond the budget are in maps, and told like others', async (t) => {
  const rows = wideRows(400);
  const shelf = await sealedShelf(rows, 3);
  const plain = await sealedShelf(rows);
  t.equal(featuresOf(shelf), 1);
  t.equal(featuresOf(plain), 0);
  const [ref] = shelf.refs;
  const block = shelf.reader.open(ref);
  const other = plain.reader.open(plain.refs[0]);
  const { columns, overflow } = block.head.directory;
  t.equal(columns.length, 3);
  t.equal(overflow?.columnCount, other.columnCount - 3);
  const named = (of: typeof block): string[] =>
    of.columns.map(({ path, kind, presentCount }) => `${path} ${kind} ${presentCount}`).sort();
  t.same(named(block), named(other));
  t.same(
    columns
      .outlines()
      .map(({ path }) => block.head.paths[path])
      .filter((path) => /own|rare/.test(path)),
    [],
  );
  t.ok(ref.bytes < plain.refs[0].bytes);
  t.equal(shelf.reader.columns(ref), undefined);
  const bytes = block.columnBytes().reduce((sum, column) => sum + column.bytes, 0);
  t.ok(bytes > 0 && bytes < shelf.disk.content(sealedPath(ref.segment)).length);
});

t.test('queries read columns of maps as they read others', async (t) => {
  const rows = wideRows(400);
  const shelf = await sealedShelf(rows, 3);
  const plain = await sealedShelf(rows);
  const text = (path: string, value: string): Predicate => ({
    ...{ type: 'value', paths: [path], match: { type: 'text', text: value } },
  });
  const predicates: Predicate[] = [
    { type: 'all' },
    text('custom.rare.n0', 'value é 90'),
    text('custom.rare.n1', '0.91'),
    text('custom.rare.n2', 'true'),
    text('custom.rare.n3', '93'),
    text('custom.rare.n4', new Date(START_MS + 94).toISOString()),
    text('custom.own7', 'xxxxxxx'),
    { type: 'exists', paths: ['custom.rare'] },
    { type: 'exists', paths: ['custom.own399'] },
    { type: 'anywhere', match: { type: 'text', text: 'value é 90' } },
    { type: 'not', child: { type: 'exists', paths: ['custom.rare.n5'] } },
    { type: 'range', paths: ['custom.rare.n6'], from: { text: '1', number: 1, inclusive: true } },
  ];
  for (const predicate of predicates) {
    const listed = ({ reader, refs }: Shelf, orderBy?: string): unknown => {
      const page = { ...EVER, predicate, order: 'desc' as const, limit: 50, event: true };
      const columns = [{ type: 'attribute' as const, path: 'custom.rare.n1' }];
      const query = { ...page, columns, ...(orderBy === undefined ? {} : { orderBy }) };
      return run(listUnits(reader, { blocks: refs }, query)).events.map(
        ({ id, ...event }) => event,
      );
    };
    t.same(listed(shelf), listed(plain), JSON.stringify(predicate));
    t.same(listed(shelf, 'custom.rare.n1'), listed(plain, 'custom.rare.n1'));
    const discovered = ({ reader, refs }: Shelf): unknown => {
      const limits = { distinctMax: 100, memoryBytesMax: 1e8 };
      const query = { ...EVER, predicate, limit: 200, values: 3 };
      return run(attributesUnits(reader, { blocks: refs }, query, limits)).attributes;
    };
    t.same(discovered(shelf), discovered(plain));
  }
});

t.test('columns stay where their maps would have more than 64 values a row', async (t) => {
  const rows = Array.from({ length: 20 }, (_, row): TestRow => {
    const leaf = (at: number): TestLeaf => ({
      names: ['custom', `c${at}`],
      kind: 'number',
      text: '1',
    });
    return { timeMs: START_MS + row, leaves: Array.from({ length: 100 }, (__, at) => leaf(at)) };
  });
  const shelf = await sealedShelf(rows, 10);
  const { columns, overflow } = shelf.reader.open(shelf.refs[0]).head.directory;
  t.equal(columns.length, 36);
  t.equal(overflow?.columnCount, 64);
  t.equal(overflow?.valueCount, 64 * 20);
});

/** Makes the file when it is not there: once for the draft. */
async function makeGolden(): Promise<void> {
  const shelf = await sealedShelf(wideRows(200), 4);
  writeFileSync(FILE, shelf.disk.content(sealedPath(shelf.refs[0].segment)));
}

if (!existsSync(FILE)) await makeGolden();

t.test('a segment with an overflow map that was written once says what it said', async (t) => {
  const rows = wideRows(200);
  const fresh = await sealedShelf(rows, 4);
  const [ref] = fresh.refs;
  const disk = new MemoryDisk();
  disk.makeFolder(SEALED_FOLDER);
  const file = disk.open(sealedPath(ref.segment), 'create');
  const bytes = new Uint8Array(readFileSync(FILE));
  await file.write([bytes], 0);
  file.close();
  const reader = new Reader(disk, new Uint8Array(32));
  const refs = reader.footer(ref)?.blocks as BlockRef[];
  const block = reader.open(refs[0]);
  const texts = rows.map((_, row) => block.eventText(row));
  const again = fresh.reader.open(ref);
  t.same(
    texts,
    rows.map((_, row) => again.eventText(row)),
  );
  t.match(texts[7], /"rare":\{"n7":true\}|"rare":\{"n7":/);
});
