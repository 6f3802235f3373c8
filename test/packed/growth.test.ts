import fc from 'fast-check';
import t from 'tap';
import { extend, grow } from '../../engine/packed/growth.ts';
import { Quantiles } from '../../engine/query/metric/quantile.ts';

t.test('arrays of any elements that grow side by side stay as long as each other', async (t) => {
  const lengths = fc.constantFrom(0, 1, 1_000, 1 << 19, (1 << 20) - 1, 1 << 20, 3 << 19);
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 1 << 20 }), (length, more) => {
      const needed = length + more;
      const grown = [
        grow(new Uint16Array(length), needed),
        grow(new Uint32Array(length), needed),
        grow(new Float64Array(length), needed),
        extend(new Float64Array(length), needed),
      ];
      t.ok(grow(new Uint8Array(length), needed).length >= grown[0].length, 'bytes have more room');
      for (const array of grown) {
        t.equal(array.length, grown[0].length);
        t.ok(array.length >= needed);
      }
    }),
    { numRuns: 20 },
  );
});

t.test(
  'quantiles of more than a million values of groups with few each are those of all',
  async (t) => {
    const [groups, values] = [15_000, 100];
    const quantiles = new Quantiles();
    for (let group = 0; group < groups; group++) {
      for (let value = 1; value <= values; value++) quantiles.add(group, value);
    }
    const wrong: number[] = [];
    for (let group = 0; group < groups; group++) {
      if (quantiles.at(group, 95) !== 95) wrong.push(group);
    }
    t.same(wrong, []);
  },
);
