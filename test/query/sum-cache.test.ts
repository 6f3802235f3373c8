import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { SumKey } from '../../engine/column/entries.ts';
import { SumCache } from '../../engine/query/sum-cache.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';

const SUM = new SumKey<{ memoryBytes: number; made: number }>('sum');
const OTHER = new SumKey<{ memoryBytes: number; made: number }>('other');

t.test(
  'sums that were made twice are kept, each by its key, until their segment is gone',
  async (t) => {
    const cache = new SumCache(1_000);
    let made = 0;
    const ask = (segment: number, column: number, key = SUM): number => {
      const make = function* () {
        yield;
        return { memoryBytes: 10, made: ++made };
      };
      return finished(cache.keeper({ segment, offset: 64 } as BlockRef, column)(key, make)).made;
    };
    t.same([ask(1, 0), ask(1, 0), ask(1, 0)], [1, 2, 2]);
    t.same([ask(1, 1), ask(2, 0), ask(1, 0, OTHER)], [3, 4, 5]);
    t.same([ask(2, 0), ask(2, 0)], [6, 6]);
    cache.forget([1]);
    t.same([ask(1, 0), ask(2, 0)], [7, 6]);
    cache.clear();
    t.equal(ask(2, 0), 8);
  },
);
