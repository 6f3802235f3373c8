import fc from 'fast-check';
import t from 'tap';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { HashLanes, wordsOf } from '../../engine/segment/sum/row-hash.ts';
import {
  addEntries,
  addTexts,
  addWords,
  type Lanes,
  mixDetails,
  mixWords,
  RowLanes,
  releaseLanes,
  sumLanes,
} from '../../engine/segment/sum/row-lanes.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);
useKernels('checked');

/** Throws unless lanes of `rowCount` rows are those of the reference after both took the same. */
function compare(
  rowCount: number,
  take: (rows: RowLanes) => void,
  reference: (l: Lanes) => void,
): void {
  const rows = new RowLanes(rowCount);
  const wanted = { low: new Int32Array(rowCount), high: new Int32Array(rowCount) };
  for (let row = 0; row < rowCount; row++) {
    wanted.low[row] = row * 7_919;
    wanted.high[row] = ~row;
  }
  rows.lanes.low.set(wanted.low);
  rows.lanes.high.set(wanted.high);
  // Its lanes lie right behind, and must not change.
  const next = new RowLanes(1);
  next.lanes.low[0] = 5;
  take(rows);
  reference(wanted);
  const { low, high } = rows.lanes;
  if (low.some((lane, row) => lane !== wanted.low[row])) throw new Error('other low lanes');
  if (high.some((lane, row) => lane !== wanted.high[row])) throw new Error('other high lanes');
  if (next.lanes.low[0] !== 5) throw new Error('lanes of other rows changed');
  next.free();
  rows.free();
}

const counts = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom(65_536, 65_535, 64, 65));
/** All rows, or every so many. */
const steps = fc.constantFrom(undefined, 1, 3);

function rowsOf(count: number, step: number | undefined): Uint32Array | undefined {
  if (step === undefined) return undefined;
  return Uint32Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

t.test('the kernel adds numbers as the reference does', async () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, 2 ** 53, -(2 ** 40)));
  fc.assert(
    fc.property(
      counts,
      steps,
      fc.array(number, { minLength: 1 }),
      fc.integer(),
      (count, step, numbers, key) => {
        const rows = rowsOf(count, step);
        const valueCount = rows?.length ?? count;
        const values = Float64Array.from(
          { length: valueCount },
          (_, at) => numbers[at % numbers.length],
        );
        const details = Uint16Array.from({ length: valueCount }, (_, at) => at % 20);
        const leaves = { words: wordsOf(values), details, rows };
        compare(
          count,
          (lanes) => lanes.addWords(key, ~key, leaves),
          (lanes) => addWords(lanes, key, ~key, leaves),
        );
      },
    ),
    { numRuns: 60 },
  );
});

t.test('the kernel mixes numbers into rows and sums these up as the reference does', async () => {
  const numbers = fc.array(fc.oneof(fc.double(), fc.constantFrom(0, -0, 2 ** 48)), {
    minLength: 1,
  });
  fc.assert(
    fc.property(counts, numbers, (count, some) => {
      const values = Float64Array.from({ length: count }, (_, at) => some[at % some.length]);
      const details = Uint8Array.from({ length: count }, (_, at) => at % 256);
      let sum: unknown;
      compare(
        count,
        (lanes) => {
          lanes.mixWords(wordsOf(values));
          lanes.mixDetails(details);
          sum = lanes.sum();
        },
        (lanes) => {
          mixWords(lanes, wordsOf(values));
          mixDetails(lanes, details);
          const { low, high } = sumLanes(lanes);
          const isSame = JSON.stringify(sum) === JSON.stringify({ low, high });
          if (!isSame) throw new Error('another sum');
        },
      );
    }),
    { numRuns: 60 },
  );
});

t.test('the kernel adds strings as the reference does', async () => {
  fc.assert(
    fc.property(
      counts,
      steps,
      fc.integer({ min: 1, max: 3_000 }),
      fc.integer(),
      (count, step, entryCount, key) => {
        const rows = rowsOf(count, step);
        const ids = Uint32Array.from(
          { length: rows?.length ?? count },
          (_, at) => 1 + ((at * 31) % entryCount),
        );
        const hashes = new HashLanes(entryCount);
        for (let entry = 0; entry < entryCount; entry++) {
          hashes.low[entry] = Math.imul(entry, key);
          hashes.high[entry] = Math.imul(entry, ~key);
        }
        const leaves = { ids, hashes, entryCount, rows };
        compare(
          count,
          (lanes) => lanes.addEntries(leaves),
          (lanes) => addEntries(lanes, leaves),
        );
      },
    ),
    { numRuns: 60 },
  );
});

t.test('the kernel adds texts as the reference does', async () => {
  const texts = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 300 });
  const far = fc.constantFrom(0, 1, 65_000);
  fc.assert(
    fc.property(texts, far, steps, fc.integer(), (texts, first, step, low) => {
      const count = texts.length;
      const rowCount = first + count * (step ?? 1);
      const offsets = new Uint32Array(count + 1);
      for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
      const bytes = new Uint8Array(Buffer.concat([...texts, Buffer.from('more')]));
      const key = new HashLanes(2);
      key.low[1] = low;
      key.high[1] = ~low;
      const rows = step === undefined ? undefined : new Uint32Array(first + count);
      rows?.forEach((_, at) => {
        rows[at] = at < first ? 0 : first + (at - first) * (step ?? 1);
      });
      const leaves = { piece: { first, offsets, bytes }, key, index: 1, rows };
      compare(
        rowCount,
        (lanes) => lanes.addTexts(leaves),
        (lanes) => addTexts(lanes, leaves),
      );
    }),
    { numRuns: 60 },
  );
});

t.test('texts beyond the memory of the kernel are added', async () => {
  const long = 70_000;
  const offsets = Uint32Array.from({ length: 101 }, (_, at) => at * long);
  const bytes = new Uint8Array(100 * long).fill(7);
  const key = new HashLanes(1);
  const leaves = { piece: { first: 3, offsets, bytes }, key, index: 0, rows: undefined };
  compare(
    103,
    (lanes) => lanes.addTexts(leaves),
    (lanes) => addTexts(lanes, leaves),
  );
});

t.test('lanes beyond the memory of the kernel are plain, and memory is used again', async (t) => {
  const many = Array.from({ length: 400 }, () => new RowLanes(65_536));
  for (const [at, lanes] of many.entries()) lanes.lanes.low.fill(at);
  t.ok(many.every((lanes, at) => lanes.lanes.low[65_535] === at));
  for (const lanes of many.reverse()) lanes.free();
  const buffer = new RowLanes(1).lanes.low.buffer;
  releaseLanes();
  t.not(new RowLanes(1).lanes.low.buffer, buffer, 'of another kernel');
});
