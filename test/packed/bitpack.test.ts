import fc from 'fast-check';
import t from 'tap';
import {
  bitsOf,
  findPacked,
  pack,
  packedWords,
  unpack,
  unpackBelow,
  unpackOne,
} from '../../engine/packed/bitpack.ts';

function scratch(values: number[]): Uint32Array {
  const padded = new Uint32Array(Math.ceil(values.length / 4) * 4).fill(0xffffffff);
  padded.set(values);
  return padded;
}

/** The layout of FORMAT.md 4.2, bit by bit. */
function naiveUnpack(words: Uint32Array, width: number, index: number): number {
  const group = Math.floor(index / 128);
  const lane = index % 4;
  const position = Math.floor((index % 128) / 4);
  let value = 0n;
  for (let bit = 0; bit < width; bit++) {
    const laneBit = position * width + bit;
    const word = words[group * 4 * width + Math.floor(laneBit / 32) * 4 + lane];
    if ((word >>> (laneBit % 32)) & 1) value |= 1n << BigInt(bit);
  }
  return Number(value);
}

t.test('every width and length comes back as the format says', async (t) => {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
  const wrong: string[] = [];
  for (let width = 0; width <= 32; width++) {
    for (const count of [0, 1, 2, 3, 4, 5, 31, 127, 128, 129, 256, 300]) {
      const mask = width === 32 ? 0xffffffff : 2 ** width - 1;
      const values = Array.from({ length: count }, () => (next() & mask) >>> 0);
      if (count > 0) values[count - 1] = mask;
      const words = pack(scratch(values), count, width);
      const back = unpack(words, count, width);
      const same = values.every(
        (value, index) =>
          value === back[index] &&
          value === unpackOne(words, width, index) &&
          value === naiveUnpack(words, width, index),
      );
      if (!same || back.length !== count || words.length !== packedWords(count, width)) {
        wrong.push(`${count} of ${width} bits`);
      }
    }
  }
  t.same(wrong, []);
});

t.test('the values from one number to another are found', async () => {
  const value = (width: number) => fc.nat(2 ** width - 1);
  const asked = fc.integer({ min: 0, max: 31 }).chain((width) =>
    fc.record({
      width: fc.constant(width),
      values: fc.array(value(width), { maxLength: 400 }),
      repeats: fc.constantFrom(1, 40),
      first: value(width),
      last: fc.oneof(value(width), fc.nat(2 ** 31 - 1)),
    }),
  );
  fc.assert(
    fc.property(asked, ({ width, values: some, repeats, first, last }) => {
      const values = new Array(repeats).fill(some).flat();
      const words = pack(scratch(values), values.length, width);
      const bits = findPacked(words, values.length, width, first, last);
      if (bits.length !== Math.ceil(values.length / 32)) throw new Error(`${bits.length} words`);
      for (let index = 0; index < bits.length * 32; index++) {
        const isFound = ((bits[index >>> 5] >>> (index & 31)) & 1) === 1;
        const isWithin = values[index] >= first && values[index] <= last;
        if (isFound !== isWithin) throw new Error(`value ${index}`);
      }
    }),
  );
});

t.test('values are unpacked when none of them is above another', async () => {
  const asked = fc.integer({ min: 0, max: 31 }).chain((width) =>
    fc.record({
      width: fc.constant(width),
      values: fc.array(fc.nat(2 ** width - 1), { maxLength: 400 }),
      below: fc.nat(3),
    }),
  );
  fc.assert(
    fc.property(asked, ({ width, values, below }) => {
      const words = pack(scratch(values), values.length, width);
      const last = Math.max(0, ...values) - below;
      if (last < 0) return;
      const found = unpackBelow(words, values.length, width, 0, last);
      const wanted = values.every((value) => value <= last) ? values : undefined;
      const text = found === undefined ? undefined : [...found].join();
      if (text !== wanted?.join()) throw new Error(`${text}, not ${wanted}`);
    }),
  );
});

t.test('any numbers of a width come back', async () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 32 })
        .chain((width) =>
          fc.tuple(
            fc.constant(width),
            fc.array(fc.integer({ min: 0, max: 2 ** width - 1 }), { maxLength: 400 }),
          ),
        ),
      ([width, values]) => {
        const words = pack(scratch(values), values.length, width);
        const back = unpack(words, values.length, width);
        return values.every((value, index) => value === back[index]);
      },
    ),
  );
});

t.test('a full block packs into whole groups', async (t) => {
  t.equal(packedWords(65_536, 7), (65_536 * 7) / 32);
  t.equal(packedWords(2, 10), 4, 'a short group stores only the words in use');
  t.equal(packedWords(0, 10), 0);
  t.equal(packedWords(128, 32), 128);
});

t.test('bits of a number', async (t) => {
  const table: [number, number][] = [
    [0, 0],
    [1, 1],
    [2, 2],
    [255, 8],
    [2 ** 31, 32],
    [2 ** 32 - 1, 32],
    [2 ** 32, 33],
    [2 ** 53 - 1, 53],
  ];
  for (const [value, bits] of table) t.equal(bitsOf(value), bits, String(value));
});
