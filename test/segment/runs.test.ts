import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import {
  addRun,
  holdsRuns,
  type Run,
  readRuns,
  rowsOfRuns,
  writeRuns,
} from '../../engine/segment/block/runs.ts';
import { batchOf, frameOf, open } from './block-maker.ts';

/** Runs that ascend and do not touch, and a sequence behind them. */
const anyRuns = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: 1, max: 50 })), {
    maxLength: 20,
  })
  .map((steps) => {
    const runs: Run[] = [];
    let end = 0;
    for (const [gap, rows] of steps) {
      runs.push({ first: end + gap, rows });
      end += gap + rows;
    }
    return { runs, end };
  });

function sequencesOf(runs: readonly Run[]): number[] {
  return runs.flatMap(({ first, rows }) => Array.from({ length: rows }, (_, row) => first + row));
}

t.test('runs come back from their bytes', async () => {
  fc.assert(
    fc.property(anyRuns, fc.nat(100), ({ runs, end }, more) => {
      const meta = new ByteWriter(16);
      writeRuns(meta, runs);
      const back = readRuns(new ByteReader(meta.bytes()), rowsOfRuns(runs) + more, end + more);
      if (JSON.stringify(back) !== JSON.stringify(runs)) throw new Error('other runs');
    }),
  );
});

t.test('any bytes are runs that fit their block, or corruption', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(500), fc.nat(), (bytes, rows, first) => {
      try {
        const runs = readRuns(new ByteReader(bytes), rows, first);
        if (rowsOfRuns(runs) > rows) throw new Error('more rows than the block has');
        const last = sequencesOf(runs).at(-1) ?? -1;
        if (last >= first && runs.length > 0) throw new Error('beyond the rows behind them');
      } catch (error) {
        if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});

t.test('runs that follow one another are one; whose sequences are held is told', async () => {
  const numbers = fc
    .uniqueArray(fc.nat(30), { maxLength: 25 })
    .map((list) => list.sort((a, b) => a - b));
  const runsOf = (list: number[]): Run[] => {
    const runs: Run[] = [];
    for (const first of list) addRun(runs, { first, rows: 1 });
    return runs;
  };
  fc.assert(
    fc.property(numbers, numbers, (outer, inner) => {
      const [outerRuns, innerRuns] = [runsOf(outer), runsOf(inner)];
      if (sequencesOf(outerRuns).join() !== outer.join()) throw new Error('other sequences');
      for (let at = 1; at < outerRuns.length; at++) {
        const before = outerRuns[at - 1] as Run;
        if (before.first + before.rows === outerRuns[at]?.first) throw new Error('not one run');
      }
      const held = inner.every((sequence) => outer.includes(sequence));
      if (holdsRuns(outerRuns, innerRuns) !== held) throw new Error(`not ${held}`);
    }),
    { numRuns: 2_000 },
  );
});

t.test('a block that repeats rows has their sequences first', async (t) => {
  const rows = Array.from({ length: 6 }, (_, row) => ({
    timeMs: row,
    leaves: [{ names: ['message'], kind: 'string' as const, text: `row ${row}` }],
  }));
  const runs = [
    { first: 10, rows: 2 },
    { first: 20, rows: 1 },
  ];
  const block = open(frameOf(batchOf(rows), 0, 6, runs));
  t.same([...block.keys().sequences], [10, 11, 20, 2 ** 33, 2 ** 33 + 1, 2 ** 33 + 2]);
  const many = Array.from({ length: 400 }, (_, row) => rows[row % rows.length]);
  const keys = open(frameOf(batchOf(many), 0, 400, runs)).keysOf(1);
  const alone = [0, 1, 2, 3, 399].map((row) => keys.sequenceAt(row));
  t.same(alone, [10, 11, 20, 2 ** 33, 2 ** 33 + 396], 'one by one too');
  t.match(JSON.parse(block.eventText(5)), { message: 'row 5' });
  const whole = open(frameOf(batchOf(rows), 0, 2, [{ first: 7, rows: 2 }]));
  t.same([...whole.keys().sequences], [7, 8]);
});
