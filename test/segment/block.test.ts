import fc from 'fast-check';
import t from 'tap';
import { BLOCK_ROWS_CLOSE } from '../../engine/base/limits.ts';
import { Batch } from '../../engine/column/batch.ts';
import { printDate } from '../../engine/column/date-form.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PathTable } from '../../engine/column/path.ts';
import {
  type Block,
  CELL_BYTES,
  COLUMNS_BYTES_MAX,
  openBlock,
} from '../../engine/segment/block/block.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import { pathNames } from '../../engine/segment/directory-paths.ts';
import { batchOf, frameOf, MemorySource, open, RECEIVED_MS, rowsOf } from './block-maker.ts';
import { anyRows } from './event-arbitrary.ts';
import { leafText, naiveEvent, type TestLeaf, type TestRow } from './leaves.ts';

/** The value of a row in the decoded column: JSON text, of strings their bytes. */
function columnText(block: Block, index: number, row: number): string | undefined {
  const column = block.column(index);
  if ('ids' in column) {
    const id = column.ids[row];
    if (id === 0) return undefined;
    const bytes = column.bytes.subarray(column.offsets[id - 1], column.offsets[id]);
    return `${column.kind} ${Buffer.from(bytes).toString('hex')}`;
  }
  const { presence } = column;
  if (presence !== undefined && !hasBit(presence, row)) return undefined;
  switch (column.kind) {
    case Kind.NUMBER:
      return column.text(row);
    case Kind.DATE:
      return `"${printDate(column.values[row], column.forms[row])}"`;
    case Kind.BOOLEAN:
      return String(hasBit(column.values, row));
  }
}

function hasBit(words: Uint32Array, row: number): boolean {
  return ((words[row >>> 5] >>> (row & 31)) & 1) === 1;
}

function samePath(names: string[], leaf: TestLeaf): boolean {
  return names.length === leaf.names.length && names.every((name, at) => name === leaf.names[at]);
}

/** The part of `block` that is not as `rows` say; undefined when all is. */
function fault(block: Block, rows: readonly TestRow[]): string | undefined {
  if (block.rowCount !== rows.length) return `${block.rowCount} rows`;
  for (const [row, { leaves, timeMs }] of rows.entries()) {
    if (block.eventText(row) !== naiveEvent(leaves)) return `row ${row}: ${block.eventText(row)}`;
    if (block.timeMs()[row] !== timeMs) return `row ${row} at ${block.timeMs()[row]}`;
    if (block.receivedMs()[row] !== RECEIVED_MS) return `row ${row} received at another time`;
  }
  for (const [index, info] of block.columns.entries()) {
    const names = pathNames(block.paths, block.outlines[index].path);
    if (info.path !== names.join('.')) return `path ${info.path}`;
    let presentCount = 0;
    for (const [row, { leaves }] of rows.entries()) {
      const value = block.valueText(index, row);
      const text = columnText(block, index, row);
      const leaf = leaves.find((of) => samePath(names, of) && leafText(of) === value);
      if (value !== undefined && leaf === undefined)
        return `row ${row} has ${value} of ${info.path}`;
      if ((value === undefined) !== (text === undefined)) return `row ${row}: ${value} is ${text}`;
      const isText = info.kind === Kind.STRING || info.kind === Kind.ARRAY;
      if (!isText && value !== text) return `row ${row}: ${value} is ${text}`;
      if (value !== undefined) presentCount++;
    }
    if (presentCount !== info.presentCount) return `${info.path}: ${presentCount} values`;
  }
  return undefined;
}

t.test('any events come back from any part of a batch', async () => {
  fc.assert(
    fc.property(anyRows, fc.nat(), fc.nat(), (rows, one, other) => {
      const batch = batchOf(rows);
      const from = one % rows.length;
      const to = from + 1 + (other % (rows.length - from));
      for (const [start, end] of [
        [0, rows.length],
        [from, to],
      ]) {
        const made = frameOf(batch, start, end);
        if (!verifyBlock(made.frame)) throw new Error('not verified');
        const block = open(made);
        for (const _ of ['at first', 'after a rest']) {
          const wrong = fault(block, rows.slice(start, end));
          if (wrong !== undefined) throw new Error(wrong);
          block.rest(false);
        }
      }
    }),
    { numRuns: 120 },
  );
});

t.test('a batch that was cleared starts anew', async () => {
  fc.assert(
    fc.property(fc.array(anyRows, { minLength: 2, maxLength: 4 }), (blocks) => {
      const paths = new PathTable();
      const batch = new Batch(paths);
      for (const rows of blocks) {
        batch.clear();
        batch.append(rowsOf(paths, rows), 0);
        const wrong = fault(open(frameOf(batch, 0, rows.length)), rows);
        if (wrong !== undefined) throw new Error(wrong);
      }
    }),
    { numRuns: 60 },
  );
});

/** Events of `shapeCount` shapes of 30 attributes, some of them shared. */
function shapedRows(rowCount: number, shapeCount: number): TestRow[] {
  return Array.from({ length: rowCount }, (_, row) => {
    const shape = (row * 7919) % shapeCount;
    const leaves = Array.from({ length: 30 }, (_, at): TestLeaf => {
      const names = ['custom', at < 5 ? `shared${at}` : `own${(shape * 31 + at * 17) % 911}_${at}`];
      if (at % 5 === 0) return { names, kind: 'number', text: String((row * at) % 1000) };
      if (at % 5 === 1) return { names, kind: 'boolean', value: row % 3 === 0 };
      return { names, kind: 'string', text: at % 5 === 2 ? `unique ${row}` : `value ${row % 9}` };
    });
    return { timeMs: 1_700_000_000_000 + row, leaves };
  });
}

t.test('1, 30 and 1,000 shapes come back', async (t) => {
  for (const shapeCount of [1, 30, 1_000]) {
    const rows = shapedRows(1_500, shapeCount);
    const block = open(frameOf(batchOf(rows), 0, rows.length));
    const wrong = rows.findIndex(({ leaves }, row) => block.eventText(row) !== naiveEvent(leaves));
    t.equal(wrong, -1, `${shapeCount} shapes`);
  }
});

t.test('a block keeps decoded columns of so much memory, and reads others again', async (t) => {
  const keptMax = 500;
  const rowCount = COLUMNS_BYTES_MAX / CELL_BYTES / keptMax;
  const kinds = ['number', 'string', 'array'] as const;
  const rows = Array.from({ length: rowCount }, (_, row): TestRow => {
    const place = row % (2 * keptMax);
    const kind = kinds[place % kinds.length];
    const text = kind === 'array' ? `[${row}]` : String(row);
    return { timeMs: row, leaves: [{ names: ['custom', `a${place}`], kind, text }] };
  });
  const block = open(frameOf(batchOf(rows), 0, rows.length));
  const first = block.column(0);
  t.equal(block.column(0), first);
  t.equal(fault(block, rows), undefined);
  t.not(block.column(0), first);
  t.equal(block.columns.length, 2 * keptMax);
  t.equal(fault(block, rows), undefined);
});

t.test('a batch takes rows until it is full, and a full block comes back', async (t) => {
  const paths = new PathTable();
  const batch = new Batch(paths);
  const rows = Array.from({ length: 10_000 }, (_, row): TestRow => {
    const names = ['custom', 'n'];
    return { timeMs: row, leaves: [{ names, kind: 'number', text: `${row}` }] };
  });
  const records = rowsOf(paths, rows);
  for (let block = 0; block < 3; block++) t.equal(batch.append(records, 0), 10_000);
  t.equal(batch.isFull, false);
  t.equal(batch.append(records, 0), BLOCK_ROWS_CLOSE - 30_000);
  t.equal(batch.isFull, true);
  t.equal(batch.append(records, 0), 0);
  const block = open(frameOf(batch, 0, batch.rowCount));
  t.equal(block.rowCount, BLOCK_ROWS_CLOSE);
  t.equal(block.eventText(BLOCK_ROWS_CLOSE - 1), '{"custom":{"n":2767}}');
  batch.clear();
  t.equal(batch.rowCount, 0);
  t.equal(batch.append(records, 9_990), 10, 'from a row on');
  t.equal(open(frameOf(batch, 0, 10)).eventText(0), '{"custom":{"n":9990}}');
});

t.test('a batch of few large events is full too', async (t) => {
  const paths = new PathTable();
  const batch = new Batch(paths);
  const leaf: TestLeaf = { names: ['message'], kind: 'string', text: 'x'.repeat(1 << 20) };
  const records = rowsOf(paths, [{ timeMs: 0, leaves: [leaf] }]);
  let rowCount = 0;
  while (batch.append(records, 0) === 1) rowCount++;
  t.equal(rowCount, 32);
  t.equal(batch.isFull, true);
});

t.test('columns that were not used in the last block are dropped', async (t) => {
  const paths = new PathTable();
  const batch = new Batch(paths);
  const row = (name: string): TestRow => ({
    timeMs: 0,
    leaves: [{ names: ['custom', name], kind: 'string', text: name }],
  });
  const names = Array.from({ length: 2_000 }, (_, index) => `name ${index}`);
  batch.append(rowsOf(paths, names.map(row)), 0);
  batch.clear();
  batch.append(rowsOf(paths, [row('name 5'), row('name 3')]), 0);
  batch.clear();
  t.equal(batch.columns.length, 2);
  batch.append(rowsOf(paths, [row('name 7'), row('name 3')]), 0);
  t.equal(batch.columns.length, 3);
  t.equal(open(frameOf(batch, 0, 2)).eventText(0), '{"custom":{"name 7":"name 7"}}');
});

const ACCESS: TestLeaf[] = [
  { names: ['custom', '@marker'], kind: 'array', text: '["sourcecode","weblog"]' },
  { names: ['custom', 'date_access'], kind: 'date', text: '2023-11-14T22:13:20.123Z' },
  { names: ['custom', 'network', 'client_ip'], kind: 'string', text: '192.168.17.201' },
  { names: ['custom', 'network', 'bytes_write'], kind: 'number', text: '51332' },
  { names: ['custom', 'http', 'ident'], kind: 'string', text: '-' },
  { names: ['custom', 'http', 'response_time'], kind: 'number', text: '0.610' },
  { names: ['custom', 'http', 'status_code'], kind: 'number', text: '200' },
  {
    names: ['custom', 'http', 'request'],
    kind: 'string',
    text: '/api/v1/products/91231/reviews?user=abc',
  },
  { names: ['custom', 'http', 'verb'], kind: 'string', text: 'GET' },
  {
    names: ['custom', 'http', 'referer'],
    kind: 'string',
    text: 'http://www.example.com/products/list',
  },
  {
    names: ['custom', 'http', 'useragent'],
    kind: 'string',
    text: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/60.0.3112.94 Safari/537.36',
  },
  { names: ['custom', 'http', 'version'], kind: 'string', text: '1.1' },
  { names: ['custom', 'hostname'], kind: 'string', text: 'web-17' },
  { names: ['custom', 'appname'], kind: 'string', text: 'nginx' },
  {
    names: ['message'],
    kind: 'string',
    text: 'GET /api/v1/products/91231/reviews?user=abc HTTP/1.1',
  },
];

t.test('a block of one row is small', async (t) => {
  const made = frameOf(batchOf([{ timeMs: 1_700_000_000_123, leaves: ACCESS }]), 0, 1);
  t.ok(made.frame.length < 900, `${made.frame.length} bytes`);
  t.equal(open(made).eventText(0), naiveEvent(ACCESS));
});

t.test('columns say where they are, what they are and between which bounds', async (t) => {
  const rows = [3, 1, 2].map((n, row): TestRow => {
    const leaves = ACCESS.filter((leaf) => row > 0 || leaf.names[0] !== 'message');
    return {
      timeMs: 1_700_000_000_123,
      leaves: [...leaves, { names: ['syslog', 'n'], kind: 'number', text: `-${n}.5` }],
    };
  });
  const { columns } = open(frameOf(batchOf(rows), 0, 3));
  t.same(
    columns.map((column) => column.path),
    [
      ...ACCESS.filter((leaf) => leaf.names[0] !== 'message').map((leaf) => leaf.names.join('.')),
      'syslog.n',
      'message',
    ],
  );
  const find = (path: string) => columns.find((column) => column.path === path);
  t.same(find('syslog.n'), {
    path: 'syslog.n',
    kind: Kind.NUMBER,
    presentCount: 3,
    min: -3.5,
    max: -1.5,
  });
  t.same(find('message'), { path: 'message', kind: Kind.STRING, presentCount: 2 });
  const dateMs = Date.parse('2023-11-14T22:13:20.123Z');
  t.match(find('custom.date_access'), { kind: Kind.DATE, min: dateMs, max: dateMs });
});

t.test('only what is asked for is read, and twice at most', async (t) => {
  const rows = shapedRows(3_000, 1);
  const { frame, ref } = frameOf(batchOf(rows), 0, rows.length);
  const source = new MemorySource(frame);
  const block = openBlock(source, ref);
  t.equal(source.reads.length, 1, 'header and directory in one read');
  const index = block.columns.findIndex(({ path }) => path.endsWith('_7'));
  source.reads.length = 0;
  t.equal(block.valueText(index, 2_000), '"unique 2000"');
  t.equal(source.reads.length, 1, 'one piece');
  t.ok(source.reads[0].count < 10_000);
  t.equal(block.valueText(index, 2_001), '"unique 2001"');
  t.equal(source.reads.length, 2, 'the same piece, which stays from the second value on');
  t.equal(block.valueText(index, 2_002), '"unique 2002"');
  t.equal(source.reads.length, 2);
  block.column(index);
  const readCount = source.reads.length;
  t.equal(block.column(index), block.column(index));
  t.equal(source.reads.length, readCount);
});
