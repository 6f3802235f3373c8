import fc from 'fast-check';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { ByteReader, ByteWriter, type FarBytes, WINDOW_BYTES } from '../../engine/base/bytes.ts';
import { type KernelForm, useKernels } from '../../engine/kernel/kernel.ts';
import type { PackedValues } from '../../engine/packed/cells.ts';
import { writeDense } from '../../engine/packed/dense-integers.ts';
import { IntegerStream } from '../../engine/packed/integer-stream.ts';
import { StreamHead, type StreamUse, writeIntegers } from '../../engine/packed/integers.ts';
import {
  chooseValues,
  countCells,
  findValues,
  sumCells,
  tallyRows,
  unpackValues,
} from '../../engine/packed/packed.ts';

function encode(values: readonly number[], use: StreamUse, write = writeDense): Uint8Array {
  const writer = new ByteWriter();
  write(writer, Float64Array.from(values), values.length, use);
  return writer.bytes().slice();
}

function open(bytes: Uint8Array | FarBytes, count: number): IntegerStream {
  return new IntegerStream(new ByteReader(bytes), count);
}

/** Bytes that are read piece by piece. */
function far(bytes: Uint8Array): FarBytes {
  return {
    length: bytes.length,
    read: (from, count) => bytes.slice(from, from + count),
    whole: () => bytes.slice(),
    window: (from) => bytes.slice(from, from + WINDOW_BYTES),
  };
}

function bitsOf(values: readonly number[], isSet: (value: number) => boolean): Uint32Array {
  const bits = new Uint32Array(Math.ceil(values.length / 32));
  for (const [at, value] of values.entries()) if (isSet(value)) bits[at >>> 5] |= 1 << (at & 31);
  return bits;
}

/** Throws when a stream gives something else than `values`, whichever way it is asked. */
function check(values: readonly number[], use: StreamUse): void {
  const bytes = encode(values, use);
  const { length } = values;
  const same = (what: string, found: ArrayLike<number> | undefined, wanted: ArrayLike<number>) => {
    if (found === undefined) return;
    const wrong = Array.from(wanted).findIndex((value, at) => value !== found[at]);
    if (found.length === wanted.length && wrong < 0) return;
    throw new Error(`${what} ${wrong} of ${length}: ${found[wrong]}, not ${wanted[wrong]}`);
  };
  same('value', open(bytes, length).values(), values);
  for (const stream of [open(bytes, length), open(far(bytes), length)]) {
    const places = values.map((_, at) => at).filter((at) => at % 37 === 0 || at + 1 === length);
    same(
      'single',
      places.map((at) => stream.at(at)),
      places.map((at) => values[at]),
    );
  }
  for (let from = 0; from < length; from += 512) {
    const part = open(bytes, length).part(from, Math.min(512, length - from));
    same('part', part, values.slice(from, from + 512));
  }
  const ordered = [...values].sort((a, b) => a - b);
  const [low, high] = [ordered[length >> 2] - 1, ordered[length >> 1]];
  for (const [from, to] of [
    [low, high],
    [high, high],
    [ordered[length - 1] - 1, high * 2 + 9],
  ]) {
    const wanted = bitsOf(values, (value) => value >= from && value <= to);
    same('bits', open(bytes, length).bitsWithin(from, to), wanted);
  }
  const [least, greatest] = [ordered[0], ordered[length - 1]];
  if (open(bytes, length).isWithin(least + 1, greatest)) throw new Error('within too little');
  if (open(bytes, length).isBetween(least, greatest - 1)) throw new Error('between too little');
  if (least < 0 || greatest >= 2 ** 31 - 1) return;
  same('id', open(bytes, length).ids(greatest), values);
  if (open(bytes, length).isWithin(0, 2 ** 31 - 2)) {
    same(
      'rank',
      open(bytes, length).ranks(),
      values.map((value) => value + 1),
    );
  }
  const packed = open(bytes, length).packed(1);
  if (packed === undefined) return;
  same(
    'packed',
    unpackValues(packed, 2 ** 31 - 1),
    values.map((value) => value + 1),
  );
}

/** Whole numbers of which most are small and some are not. */
const skewed = fc
  .tuple(
    fc.integer({ min: -5_000, max: 5_000 }),
    fc.array(fc.tuple(fc.nat(60), fc.nat(40), fc.nat(2 ** 31 - 1)), {
      minLength: 64,
      maxLength: 900,
    }),
  )
  .map(([base, parts]) =>
    parts.map(([value, rare, large]) => base + (rare === 0 ? large >> (value & 31) : value)),
  );
/** Whole numbers of which there are few different ones. */
const few = fc
  .tuple(
    fc.uniqueArray(fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 0, max: 9_999 })), {
      minLength: 2,
      maxLength: 300,
    }),
    fc.array(fc.nat(), { minLength: 64, maxLength: 900 }),
  )
  .map(([values, places]) => places.map((place) => values[place % values.length]));
const ascending = skewed.map((steps) => {
  let sum = -1_000;
  return steps.map((step) => {
    sum += Math.abs(step) % 2 ** 20;
    return sum;
  });
});

for (const form of ['off', 'checked'] as const) {
  t.test(`any numbers come back, kernels ${form}`, async () => {
    useKernels(form);
    for (const values of [skewed, few, ascending]) {
      for (const use of ['values', 'ids'] as const) {
        fc.assert(
          fc.property(values, (numbers) => {
            const ids = numbers.map((number) => Math.abs(number) % 2 ** 31);
            check(use === 'ids' ? ids : numbers, use);
          }),
        );
      }
    }
  });
}

const COUNT = 20_000;
let state = 7;

function next(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const STATUSES = [200, 204, 301, 304, 404, 500, 503];
const status = Array.from({ length: COUNT }, () => STATUSES[next(STATUSES.length)]);
const sizes = Array.from({ length: COUNT }, () => (next(30) === 0 ? next(2 ** 24) : next(4_096)));
const times = sizes.map(() => 0);
for (let at = 1; at < COUNT; at++)
  times[at] = times[at - 1] + (next(50) === 0 ? next(9_999) : next(8));

t.test('numbers are stored in the smallest form', async (t) => {
  const { CODES, PACKED, DELTA, RUNS, PATCHED } = StreamHead;
  const table: [string, number[], StreamUse, number, number][] = [
    ['few values', status, 'values', CODES, 0.4],
    ['few ids', status, 'ids', CODES, 0.4],
    ['outliers', sizes, 'values', PACKED | PATCHED, 1.7],
    ['ids with outliers', sizes, 'ids', PACKED, 3.1],
    ['ascending, with gaps', times, 'values', DELTA | PATCHED, 0.6],
    [
      'few values in long runs',
      status.map((_, at) => STATUSES[(at >> 11) % 7]),
      'values',
      RUNS,
      0.1,
    ],
    ['two values', status.map((value) => (value > 300 ? 0 : 1)), 'values', PACKED, 0.13],
  ];
  for (const [name, values, use, head, bytesMax] of table) {
    check(values, use);
    const bytes = encode(values, use);
    t.equal(bytes[0], head, name);
    t.ok(bytes.length < bytesMax * COUNT, `${name}: ${bytes.length / COUNT} bytes a value`);
    t.ok(bytes.length <= encode(values, use, writeIntegers).length, name);
  }
});

t.test('codes are given as they are stored, with what they stand for', async (t) => {
  const stream = open(encode(status, 'ids'), COUNT);
  const { codes, table } = must(stream.codes(), 'codes');
  t.same(Array.from(table), STATUSES);
  t.same(
    Array.from(unpackValues(codes, 6) ?? [], (code) => table[code]),
    status,
  );
  t.equal(open(encode(sizes, 'values'), COUNT).codes(), undefined);
  t.equal(stream.packed(0), undefined);
});

t.test('both forms answer questions about patched values alike', async (t) => {
  const codes = open(
    encode(
      sizes.map((size) => size >> 9),
      'values',
    ),
    COUNT,
  ).packed(1);
  const numbers = open(encode(sizes, 'values'), COUNT).packed(1);
  if (codes?.patches === undefined || numbers?.patches === undefined) throw new Error('no patches');
  t.not(numbers.patches.packed, undefined, 'the kernel unpacks them');
  const packed: PackedValues = codes;
  const rows = bitsOf(sizes, (size) => size % 3 !== 0);
  const cells = {
    ...{ rowCount: COUNT, rows, runs: undefined, cellCount: 50 },
    levels: [
      { codes: packed, size: 50, digits: new Uint32Array(2 ** 15 + 2).map((_, code) => code % 50) },
    ],
  };
  const tally = () => {
    const {
      times: counts,
      codes: found,
      ...facts
    } = tallyRows(packed, rows, () => {
      throw new Error('the kernel has no room');
    }).tally(100, 9_000);
    const { codeCount } = facts;
    return {
      ...facts,
      counts: Array.from(found.subarray(0, codeCount), (code) => [code, counts[code]]),
    };
  };
  const both = (ask: () => unknown): [unknown, unknown] => {
    const answer = (form: KernelForm): unknown => {
      useKernels(form);
      return structuredClone(ask());
    };
    return [answer('checked'), answer('off')];
  };
  for (const ask of [
    () => findValues(numbers, 4_000, 5_000),
    () =>
      chooseValues(
        packed,
        new Uint8Array(2 ** 15 + 2).map((_, code) => code % 2),
      ),
    () => chooseValues(packed, new Uint8Array(9).fill(1)),
    () => countCells(cells).slice(),
    () =>
      countCells({ ...cells, levels: [{ codes: packed, size: 50, digits: undefined }] }).slice(),
    () => Object.values(sumCells(cells, numbers, true)).map((values) => values.slice()),
    () => unpackValues(numbers, 2 ** 24 + 1),
    () => unpackValues(numbers, 5_000),
  ]) {
    const [found, wanted] = both(ask);
    t.same(found, wanted);
  }
  useKernels('checked');
  const small = sizes.map((size) => (size >> 9) + 1);
  const { rowCount, total } = tally();
  const counted = small.slice(100, 9_000).filter((_, at) => sizes[100 + at] % 3 !== 0);
  t.equal(rowCount, counted.length);
  t.equal(
    total,
    counted.reduce((sum, value) => sum + value, 0),
  );
});

t.test('bytes that are not as written are numbers or corruption', async () => {
  useKernels('checked');
  const written = [status, sizes, times].map((values) => encode(values.slice(0, 300), 'values'));
  fc.assert(
    fc.property(
      fc.constantFrom(...written),
      fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (bytes, changes, isBehind) => {
        const changed = bytes.slice();
        for (const [at, value] of changes) {
          changed[isBehind ? changed.length - 1 - at : at] = value;
        }
        try {
          const stream = open(changed, 300);
          stream.at(299);
          stream.bitsWithin(0, 1_000);
          stream.values();
          const packed = stream.packed(1);
          if (packed !== undefined) unpackValues(packed, 2 ** 31 - 1);
          stream.ids(2 ** 24);
        } catch (error) {
          if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
