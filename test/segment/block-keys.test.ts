import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { RowKeys } from '../../engine/segment/block/keys/present-writers.ts';
import {
  openRowKeys,
  readRowKeys,
  writeRowKeys,
} from '../../engine/segment/block/keys/row-keys.ts';
import {
  MARK_ROWS,
  type RowMarks,
  readRowMarks,
  writeRowMarks,
} from '../../engine/segment/block/keys/row-marks.ts';
import { seededRandom } from '../support/memory-disk.ts';
import type { TestRow } from './leaves.ts';
import { Shelf } from './shelf.ts';

const ROWS = 1_000;

/** Rows whose times step forth and back. */
function rowsFrom(startMs: number, count = ROWS): TestRow[] {
  return Array.from({ length: count }, (_, row) => ({
    timeMs: startMs + row * 7 - (row % 5) * 20,
    leaves: [{ names: ['message'], kind: 'string', text: `row ${row}` }],
  }));
}

t.test('keys of rows are the same one by one and all together', async (t) => {
  for (const [writers, count] of [
    [[0], ROWS],
    [[0, 1], ROWS],
    [[7], 3_000],
    [[0, 5, 255], 1_700],
    [Array.from({ length: 17 }, (_, writer) => writer), 100],
  ] as const) {
    for (const isSealed of [false, true]) {
      const shelf = new Shelf();
      for (const writer of writers) await shelf.add(rowsFrom(writer * 3, count), writer, 2 ** 33);
      if (isSealed) await shelf.seal(shelf.refs);
      for (const ref of shelf.refs) {
        const all = shelf.reader.open(ref);
        const times = all.timeMs();
        const received = all.receivedMs();
        const { writers: writer, sequences } = all.keys();
        for (const asked of [1, count]) {
          shelf.reader.forget([ref.segment]);
          const keys = shelf.reader.open(ref).keysOf(asked);
          for (let row = ref.rowCount - 1; row >= 0; row -= 3) {
            const found = [keys.timeAt(row), keys.receivedAt(row)];
            found.push(keys.writerAt(row), keys.sequenceAt(row));
            const wanted = [times[row], received[row], writer[row], sequences[row]];
            if (found.join() !== wanted.join()) t.same(found, wanted, `row ${row}`);
          }
        }
      }
      t.pass(`${writers.length} writers, ${isSealed ? 'sealed' : 'not sealed'}`);
    }
  }
});

/** Rows of writers as they may stand in a block. */
interface Rows {
  timeMs: Float64Array;
  keys: RowKeys;
}

/** Rows in an order by time, whose writers take turns of so many rows about, and sequences in groups of as many. */
function madeRows(count: number, writerCount: number, turn: number, seed: number): Rows {
  const random = seededRandom(seed);
  const rows: Rows = {
    timeMs: new Float64Array(count),
    keys: { writers: new Uint8Array(count), sequences: new Float64Array(count) },
  };
  let writer = 0;
  let timeMs = 1e12;
  let sequence = 2 ** 40;
  for (let row = 0; row < count; row++) {
    if (random() * turn < 1) {
      writer = Math.floor(random() * writerCount);
      sequence += 100;
    }
    timeMs += random() < 0.1 ? Math.floor(random() * 900) : 1;
    rows.timeMs[row] = timeMs;
    rows.keys.writers[row] = writer * 9;
    rows.keys.sequences[row] = sequence++ - (random() < 0.05 ? 1 : 0);
  }
  return rows;
}

/** The bytes of keys and of their marks. */
function written({ timeMs, keys }: Rows): { keyBytes: Uint8Array; markBytes: Uint8Array } {
  const [keyRegion, markRegion] = [new ByteWriter(64), new ByteWriter(64)];
  writeRowKeys(keyRegion, keys);
  writeRowMarks(markRegion, timeMs, keys);
  return { keyBytes: keyRegion.bytes().slice(), markBytes: markRegion.bytes().slice() };
}

function marksIn(bytes: Uint8Array, { timeMs }: Rows): RowMarks {
  const facts = { minTimeMs: timeMs[0], maxTimeMs: timeMs[timeMs.length - 1] };
  return readRowMarks(new ByteReader(bytes), { ...facts, rowCount: timeMs.length });
}

t.test('keys are read by their marks as they were written', async (t) => {
  const made = fc.record({
    count: fc.integer({ min: MARK_ROWS + 1, max: 5 * MARK_ROWS }),
    writerCount: fc.integer({ min: 1, max: 6 }),
    turn: fc.constantFrom(1, 3, 40, 1_500),
    seed: fc.integer({ min: 1, max: 1e6 }),
  });
  fc.assert(
    fc.property(made, ({ count, writerCount, turn, seed }) => {
      const rows = madeRows(count, writerCount, turn, seed);
      const { keyBytes, markBytes } = written(rows);
      const marks = marksIn(markBytes, rows);
      const all = readRowKeys(keyBytes, count, marks.writers);
      const single = openRowKeys(keyBytes, count, marks);
      for (let row = 0; row < count; row += 7) {
        const wanted = [rows.keys.writers[row], rows.keys.sequences[row]].join();
        const found = [single?.writerAt(row), single?.sequenceAt(row)].join();
        if (found !== wanted) throw new Error(`row ${row} alone: ${found}, not ${wanted}`);
      }
      return (
        Buffer.from(all.writers).equals(rows.keys.writers) &&
        all.sequences.join() === rows.keys.sequences.join() &&
        marks.times.every((time, mark) => time === rows.timeMs[(mark + 1) * MARK_ROWS])
      );
    }),
    { numRuns: 60 },
  );
  t.pass('of one writer and of several');
});

t.test('few rows and many writers have no marks of their keys', async (t) => {
  const few = madeRows(MARK_ROWS, 2, 10, 1);
  t.equal(written(few).markBytes.length, 0, 'nothing stands for few rows');
  const crowd = madeRows(3_000, 20, 2, 2);
  t.same(marksIn(written(crowd).markBytes, crowd).writers, [], 'times alone of many writers');
});

t.test('marks that lie are damage for those who read all', async (t) => {
  const rows = madeRows(4_000, 3, 20, 5);
  const { keyBytes, markBytes } = written(rows);
  const wrong = (change: (marks: RowMarks) => void): void => {
    const marks = marksIn(markBytes, rows);
    change(marks);
    t.throws(() => readRowKeys(keyBytes, 4_000, marks.writers), { code: 'CORRUPTION' });
  };
  wrong(({ writers: [first] }) => first.before[1]++);
  wrong(({ writers: [, second] }) => second.before[2]--);
  wrong(({ writers: [, , third] }) => third.firsts[2]++);
  t.throws(() => readRowKeys(keyBytes, 4_000, marksIn(markBytes, rows).writers.slice(1)));
  const lying = marksIn(markBytes, rows);
  lying.writers[0].before[1]++;
  const single = openRowKeys(keyBytes, 4_000, lying);
  const isOfFirst = (row: number): boolean => rows.keys.writers[row] === 0;
  const row = Array.from({ length: MARK_ROWS }, (_, at) => at).find(isOfFirst) ?? -1;
  t.throws(() => single?.sequenceAt(row), { code: 'CORRUPTION' }, 'and of those around');
});

t.test('bytes of marks that are wrong are read as others, or are damage', async (t) => {
  const rows = madeRows(4_000, 3, 20, 6);
  const { markBytes } = written(rows);
  let damagedCount = 0;
  for (let at = 0; at < markBytes.length; at++) {
    const bytes = markBytes.slice();
    bytes[at] ^= 0x55;
    try {
      marksIn(bytes, rows);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
      damagedCount++;
    }
  }
  t.ok(damagedCount > 10, `${damagedCount} of ${markBytes.length} are damage`);
});
