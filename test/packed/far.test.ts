import t from 'tap';
import { ByteReader, ByteWriter, type FarBytes, WINDOW_BYTES } from '../../engine/base/bytes.ts';
import { DeltaSums } from '../../engine/packed/delta-sums.ts';
import { writeDense } from '../../engine/packed/dense-integers.ts';
import { IntegerStream } from '../../engine/packed/integer-stream.ts';
import { writeIntegers } from '../../engine/packed/integers.ts';

/** Streams of numbers whose bytes are read when they are asked for. */

let state = 7;

/** A whole number below `below`. */
function next(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** Far bytes that count how many of them are read. */
function farOf(bytes: Uint8Array): { far: FarBytes; read: () => number } {
  let read = 0;
  const far: FarBytes = {
    length: bytes.length,
    read: (from, count, room) => {
      if (from < 0 || from + count > bytes.length) throw new Error('beyond the end');
      read += count;
      const asked = bytes.subarray(from, from + count);
      if (room === undefined || room.length < count) return asked.slice();
      room.set(asked);
      return room.subarray(0, count);
    },
    window: (from) => far.read(from, Math.min(WINDOW_BYTES, bytes.length - from)),
    whole: () => {
      read += bytes.length;
      return bytes;
    },
  };
  return { far, read: () => read };
}

const FORMS: readonly ((count: number) => Float64Array)[] = [
  (count) => new Float64Array(count).fill(next(900) - 300),
  (count) => new Float64Array(count).map(() => next(2 ** (1 + next(20))) - 5),
  (count) => new Float64Array(count).map(() => next(2 ** 30) * 2 ** 12 + next(4_096)),
  (count) => {
    let last = 1_790_000_000_000;
    return new Float64Array(count).map(() => (last += next(300)));
  },
  (count) => {
    let last = 0;
    return new Float64Array(count).map(() => {
      if (next(60) === 0) last = next(90_000);
      return last;
    });
  },
  (count) => new Float64Array(count).map(() => next(1_000) / 7),
];

t.test(
  'a far stream has the numbers of a near one, in whatever order they are asked for',
  async (t) => {
    for (let round = 0; round < 120; round++) {
      const count = round < 100 ? 1 + next(5_000) : 20_000 + next(45_536);
      const values = FORMS[round % FORMS.length](count);
      const writer = new ByteWriter();
      const before = next(9);
      for (let at = 0; at < before; at++) writer.u8(at);
      const write = round % 3 === 0 ? writeDense : writeIntegers;
      write(writer, values, count, round % 2 === 0 ? 'ids' : 'values');
      writer.varint(123_456);
      const { far } = farOf(writer.bytes());
      const sums = new DeltaSums();
      for (let time = 0; time < 3; time++) {
        const reader = new ByteReader(far);
        for (let at = 0; at < before; at++) t.equal(reader.u8(), at);
        const stream = new IntegerStream(reader, count, true, sums);
        t.equal(reader.varint(), 123_456, 'what follows is read behind it');
        t.equal(reader.remaining, 0);
        const places = Array.from({ length: next(30) }, () => next(count));
        if (time === 1) t.same(stream.values(), values);
        t.same(
          places.map((at) => stream.at(at)),
          places.map((at) => values[at]),
        );
        if (time === 2) t.same(stream.values(), values);
      }
    }
  },
);

t.test('a stream is known to lie between bounds only when all its numbers do', async (t) => {
  for (let round = 0; round < 120; round++) {
    const count = 1 + next(3_000);
    const values = FORMS[round % (FORMS.length - 1)](count);
    const writer = new ByteWriter();
    writeIntegers(writer, values, count, round % 2 === 0 ? 'ids' : 'values');
    const stream = new IntegerStream(new ByteReader(writer.bytes()), count);
    const least = values.reduce((min, value) => Math.min(min, value));
    const greatest = values.reduce((max, value) => Math.max(max, value));
    t.notOk(stream.isBetween(least + 1, Number.POSITIVE_INFINITY));
    t.notOk(stream.isBetween(Number.NEGATIVE_INFINITY, greatest - 1));
    t.ok(stream.isBetween(-(2 ** 60), 2 ** 60));
  }
});

t.test('of a far stream no more is read than a few values need', async (t) => {
  const count = 65_536;
  for (const [form, sums] of [
    [FORMS[1], undefined],
    [FORMS[3], new DeltaSums()],
  ] as const) {
    const values = form(count);
    const writer = new ByteWriter();
    writeIntegers(writer, values, count, 'values');
    const open = (): { stream: IntegerStream; read: () => number } => {
      const { far, read } = farOf(writer.bytes());
      return { stream: new IntegerStream(new ByteReader(far), count, true, sums), read };
    };
    if (sums !== undefined) t.equal(open().stream.at(count - 1), values[count - 1]);
    const { stream, read } = open();
    for (const at of [40_000, 40_001, 40_900]) t.equal(stream.at(at), values[at]);
    t.ok(read() < writer.length / 10, `${read()} of ${writer.length} bytes`);
  }
});

t.test(
  'values within bounds are found in a far stream, however wide its numbers are',
  async (t) => {
    const count = 5_000;
    for (const width of [4, 16, 17, 30]) {
      const values = Float64Array.from({ length: count }, () => next(2 ** width));
      const writer = new ByteWriter();
      writeIntegers(writer, values, count, 'ids');
      const stream = new IntegerStream(new ByteReader(farOf(writer.bytes()).far), count);
      for (const wanted of [values[7], values[4_999], 2 ** width]) {
        const bits = stream.bitsWithin(wanted, wanted) ?? new Uint32Array(0);
        const found = Array.from(values, (_, at) => (bits[at >>> 5] >>> (at & 31)) & 1);
        t.same(
          found,
          Array.from(values, (value) => (value === wanted ? 1 : 0)),
        );
      }
    }
  },
);

t.test('far bytes that end early are corrupt', async (t) => {
  const writer = new ByteWriter();
  writeIntegers(writer, FORMS[1](3_000), 3_000, 'ids');
  for (let cut = 0; cut < writer.length; cut += 97) {
    const { far } = farOf(writer.bytes().slice(0, cut));
    t.throws(() => new IntegerStream(new ByteReader(far), 3_000), { code: 'CORRUPTION' });
  }
});
