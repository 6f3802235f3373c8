import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { IntegerStream } from '../../engine/packed/integer-stream.ts';
import { type StreamUse, writeIntegers } from '../../engine/packed/integers.ts';

function encode(values: number[], use: StreamUse, before = 0): Uint8Array {
  const writer = new ByteWriter();
  for (let index = 0; index < before; index++) writer.u8(7);
  writeIntegers(writer, Float64Array.from(values), values.length, use);
  return writer.bytes().slice();
}

/** The fault of the way back of `values`; undefined when there is none. */
function fault(values: number[], use: StreamUse, before = 0): string | undefined {
  const bytes = encode(values, use, before);
  const reader = new ByteReader(bytes);
  reader.raw(before);
  const stream = new IntegerStream(reader, values.length);
  if (reader.remaining !== 0) return `${reader.remaining} bytes left`;
  for (let index = 0; index < values.length; index += 1 + (values.length >> 6)) {
    if (stream.at(index) !== values[index]) return `at(${index}) is ${stream.at(index)}`;
  }
  if (before === 0) {
    const inParts = faultOfParts(new IntegerStream(new ByteReader(bytes), values.length), values);
    if (inParts !== undefined) return inParts;
  }
  const all = stream.values();
  const wrong = values.findIndex((value, index) => value !== all[index]);
  return wrong < 0 ? undefined : `${wrong} is ${all[wrong]}, not ${values[wrong]}`;
}

/** The fault of parts of `values`, and of those between two of them; undefined when there is none. */
function faultOfParts(stream: IntegerStream, values: number[]): string | undefined {
  const low = Math.min(values[0], values[values.length >> 1]);
  const high = Math.max(values[0], values[values.length >> 1]);
  const bits = stream.bitsWithin(low, high);
  for (const [index, value] of values.entries()) {
    if (bits === undefined) break;
    const isWithin = ((bits[index >>> 5] >>> (index & 31)) & 1) === 1;
    if (isWithin !== (value >= low && value <= high)) return `bit ${index} of ${value} is wrong`;
  }
  for (let from = 0; from < values.length; from += 512) {
    const part = stream.part(from, Math.min(512, values.length - from));
    const wrong = part.findIndex((value, index) => value !== values[from + index]);
    if (wrong >= 0) return `${from + wrong} is ${part[wrong]} in its part`;
  }
  return undefined;
}

const steps = (count: number, step: (index: number) => number): number[] => {
  const values: number[] = [];
  for (let index = 0, value = 1.7e12; index < count; index++) {
    value += step(index);
    values.push(value);
  }
  return values;
};

t.test('each encoding brings its numbers back, at the size that it should have', async (t) => {
  const table: [string, number[], number, number][] = [
    ['nothing', [], 0, 0],
    ['one', [42], 0, 2],
    ['one negative', [-1.7e12], 0, 10],
    ['constant', new Array(1000).fill(7), 0, 2],
    ['small', Array.from({ length: 1280 }, (_, i) => 5 + ((i * 7) % 16)), 1, 650],
    ['ascending', steps(1280, (i) => i % 2), 2, 180],
    ['descending', steps(1280, (i) => -(i % 2)), 2, 180],
    ['same step', steps(4096, () => 10), 2, 14],
    ['runs', Array.from({ length: 32_768 }, (_, i) => Math.floor(i / 5000) * 1e9), 3, 60],
    ['wide', [0, 2 ** 53 - 1, 5, 2 ** 40], 1, 50],
    ['too wide', [-(2 ** 53 - 1), 2 ** 53 - 1], 4, 20],
    ['beyond safe', [2 ** 60, 1], 4, 20],
    ['fractions', [0.1, 0.2, -7.5], 4, 27],
  ];
  for (const [name, values, encoding, bytesMax] of table) {
    t.equal(fault(values, 'values'), undefined, name);
    const bytes = encode(values, 'values');
    if (values.length > 0) t.equal(bytes[0] & 7, encoding, `${name}: encoding`);
    t.ok(bytes.length <= bytesMax, `${name}: ${bytes.length} bytes`);
  }
});

t.test('any whole numbers come back, wherever the stream begins', async () => {
  const number = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 32, 2 ** 32 - 1, -1),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 300 }), fc.nat(9), (values, before) => {
      const wrong = fault(values, 'values', before);
      if (wrong !== undefined) throw new Error(wrong);
    }),
  );
});

t.test('ordered and repeated numbers come back', async () => {
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      fc.array(fc.tuple(fc.integer({ min: -3, max: 1000 }), fc.integer({ min: 1, max: 200 })), {
        maxLength: 50,
      }),
      (start, runs) => {
        const values: number[] = [];
        let value = start / 2;
        value = Math.floor(value);
        for (const [step, length] of runs) {
          value += step;
          for (let index = 0; index < length; index++) values.push(value);
        }
        const wrong =
          fault(values, 'values') ??
          fault(
            values.map((v) => v - value),
            'values',
          );
        if (wrong !== undefined) throw new Error(wrong);
      },
    ),
  );
});

t.test('any finite doubles come back', async () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(double, { minLength: 1, maxLength: 100 }), (values) => {
      const reader = new ByteReader(encode(values, 'values'));
      const back = new IntegerStream(reader, values.length).values();
      return values.every((value, index) => value === back[index]);
    }),
  );
});

t.test('ids come back and are never stored as differences', async (t) => {
  const ids = Array.from({ length: 65_536 }, (_, index) => index);
  const bytes = encode(ids, 'ids');
  t.equal(bytes[0] & 7, 1);
  t.same(Array.from(new IntegerStream(new ByteReader(bytes), 65_536).ids(65_535)), ids);
  fc.assert(
    fc.property(fc.array(fc.nat(1 << 20), { minLength: 1, maxLength: 300 }), (values) => {
      const back = new IntegerStream(new ByteReader(encode(values, 'ids')), values.length);
      const read = back.ids(1 << 20);
      return values.every((value, index) => value === read[index] && value === back.at(index));
    }),
  );
});

t.test('an id beyond the allowed is corruption', async (t) => {
  for (const values of [[0, 9], [9, 9], [1, -1], new Array(500).fill(9)]) {
    const stream = new IntegerStream(new ByteReader(encode(values, 'values')), values.length);
    t.throws(() => stream.ids(8), { code: 'CORRUPTION' });
  }
});

t.test('any bytes are a stream or corruption, and never more', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(3000), (bytes, count) => {
      try {
        const stream = new IntegerStream(new ByteReader(bytes), count);
        stream.values();
        if (count > 0) stream.at(count - 1);
        stream.ids(100);
      } catch (error) {
        if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
      }
    }),
    { numRuns: 2000 },
  );
});
