import t from 'tap';
import { LIMITS } from '../../engine/query/model/aggregate-limits.ts';
import {
  aggregateLimits,
  bitmapBytesOf,
  checkCharacters,
  memoryOf,
} from '../../engine/query/model/budget.ts';

const MIB = 2 ** 20;

t.test(
  'without a bound a query may take 256 MiB, and aggregations what they always may',
  async (t) => {
    t.equal(memoryOf({}), 256 * MIB);
    t.same(aggregateLimits({}), LIMITS);
    t.same(aggregateLimits({ memoryBytesMax: 4096 * MIB }), LIMITS, 'more is not taken');
  },
);

t.test('with less memory an aggregation takes half of it, and is never sketched', async (t) => {
  t.same(aggregateLimits({ memoryBytesMax: 16 * MIB }), {
    memoryBytesMax: 8 * MIB,
    trialBytesMax: 8 * MIB,
    cellsMax: MIB,
    headsMax: LIMITS.headsMax,
  });
  const { cellsMax } = aggregateLimits({ memoryBytesMax: 4 * MIB });
  t.equal(cellsMax, (2 * MIB) / 8, 'the cells of a cube fit');
});

t.test('the characters of an answer are bounded', async (t) => {
  const bound = { memoryBytesMax: 400 };
  checkCharacters(bound, 100);
  t.throws(() => checkCharacters(bound, 101), {
    code: 'MEMORY',
    message: /more than 100 characters; allowed: a smaller limit/,
  });
});

t.test('an eighth of the memory is for the rows that are selected', async (t) => {
  t.equal(bitmapBytesOf({}), 32 * MIB);
  t.equal(bitmapBytesOf({ memoryBytesMax: 16 * MIB }), 2 * MIB);
});
