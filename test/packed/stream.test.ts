import t from 'tap';
import { Draw } from '../../bench/corpus/random.ts';
import { assert } from '../../engine/base/assert.ts';
import { ByteWriter } from '../../engine/base/bytes.ts';
import { RegionWriter } from '../../engine/column/chunk.ts';
import { Kind } from '../../engine/column/kind.ts';
import { StringBuilder } from '../../engine/column/strings.ts';
import { usedEntries, writeDictionary } from '../../engine/column/text.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { idsToWrite, writeIds, writeIntegers } from '../../engine/packed/integers.ts';
import { streamKernel } from '../../engine/packed/stream-kernel.ts';

const COUNTS = [
  1, 2, 15, 16, 17, 18, 19, 20, 127, 128, 129, 130, 131, 1_000, 4_099, 65_535, 65_536,
];
const CASES = 400;

/** Results of `make` without kernels and with the build whose every access is checked. */
function twice<T>(make: () => T): [plain: T, kernel: T] {
  useKernels('off');
  const plain = make();
  useKernels('checked');
  assert(streamKernel(100) !== undefined, 'there is a kernel');
  return [plain, make()];
}

function countOf(draw: Draw, seed: number): number {
  return seed < COUNTS.length ? COUNTS[seed] : 1 + draw.below(700);
}

/** Whole numbers of some width from some number on, at random, in order, or in runs. */
function numbers(seed: number): Float64Array {
  const draw = new Draw(seed);
  const range = 2 ** draw.below(53);
  const first = draw.below(3) === 0 ? 0 : Math.floor((0.5 - draw.next()) * range);
  const form = draw.below(4);
  const values = new Float64Array(countOf(draw, seed));
  let value = first;
  for (let index = 0; index < values.length; index++) {
    if (form === 0 || (form === 1 && draw.below(20) === 0)) {
      value = first + Math.floor(draw.next() * range);
    } else if (form === 2) {
      value = Math.min(value + draw.below(1_000) - 3, Number.MAX_SAFE_INTEGER);
    }
    values[index] = value;
  }
  return values;
}

t.test('streams of numbers are the same', async (t) => {
  const all = (): Buffer[] =>
    Array.from({ length: CASES }, (_, seed) => {
      const writer = new ByteWriter();
      const values = numbers(seed);
      writeIntegers(writer, values, values.length, 'values');
      return Buffer.from(writer.bytes().slice());
    });
  const [plain, kernel] = twice(all);
  for (const [seed, bytes] of plain.entries()) {
    if (!bytes.equals(kernel[seed])) t.fail(`stream ${seed}`);
  }
  t.equal(kernel.length, CASES);
});

t.test('streams of ids are the same', async (t) => {
  const all = (): Buffer[] =>
    Array.from({ length: CASES }, (_, seed) => {
      const draw = new Draw(seed);
      const count = countOf(draw, seed);
      const least = draw.below(2) * draw.below(2 ** 31);
      const range = Math.min(2 ** (1 + draw.below(32)), 2 ** 32 - least);
      const isFew = draw.below(3) === 0;
      const ids = idsToWrite(count);
      for (let index = 0; index < count; index++) {
        const isAgain = isFew && index > 0 && draw.below(9) > 0;
        ids[index] = isAgain ? ids[index - 1] : least + Math.floor(draw.next() * range);
      }
      const writer = new ByteWriter();
      writer.u8(7);
      writeIds(writer, count);
      return Buffer.from(writer.bytes().slice());
    });
  const [plain, kernel] = twice(all);
  for (const [seed, bytes] of plain.entries()) {
    if (!bytes.equals(kernel[seed])) t.fail(`stream ${seed}`);
  }
  t.equal(kernel.length, CASES);
});

t.test('dictionaries of columns are the same, with a value in each row or in some', async (t) => {
  const all = (): unknown[] =>
    Array.from({ length: CASES }, (_, seed) => {
      const draw = new Draw(seed);
      const rowCount = Math.min(countOf(draw, seed), 32_768);
      const distinct = 1 + draw.below(Math.min(rowCount, 300));
      const isSparse = draw.below(2) === 0;
      const builder = new StringBuilder(4, Kind.STRING);
      for (let row = 0; row < rowCount; row++) {
        if (isSparse && row > 0 && draw.below(3) === 0) continue;
        const text = Buffer.from(String.fromCharCode(33 + draw.below(distinct)), 'utf8');
        builder.append(row, text, 0, text.length);
      }
      const from = draw.below(builder.count);
      const firstRow = builder.rows[from];
      const used = usedEntries(builder, from, builder.count);
      const out = new RegionWriter();
      const slots = isSparse ? { firstRow, rowCount: rowCount - firstRow } : undefined;
      writeDictionary(out, builder, used, from, builder.count, slots);
      const { entries, count, numbers } = used;
      return [
        Array.from(entries.subarray(0, count)),
        Array.from(numbers),
        Buffer.from(out.meta.bytes()).toString('hex'),
        Buffer.from(out.regions.parts()[0] ?? []).toString('hex'),
      ];
    });
  const [plain, kernel] = twice(all);
  // LZ4 of the two may differ: texts of so few bytes have none.
  for (const [seed, made] of plain.entries()) {
    if (JSON.stringify(made) !== JSON.stringify(kernel[seed])) t.fail(`column ${seed}`);
  }
  t.equal(kernel.length, CASES);
});
