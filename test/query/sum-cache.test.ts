import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { SumKey } from '../../engine/column/entries.ts';
import { SumCache } from '../../engine/query/sum-cache.ts';

const SUM = new SumKey<{ memoryBytes: number; made: number }>('sum');
const OTHER = new SumKey<{ memoryBytes: number; made: number }>('other');

t.test(
  'sums are kept while there is room, each by its key, until their segment is gone',
  async (t) => {
    const cache = new SumCache(1_000);
    let made = 0;
    const ask = (segment: number, column: number, key = SUM): number => {
      const make = function* () {
        yield;
        return { memoryBytes: 10, made: ++made };
      };
      return finished(cache.keeper(segment, `${column}`).keptUnits(key, make)).made;
    };
    t.same([ask(1, 0), ask(1, 0), ask(1, 0)], [1, 1, 1]);
    t.same([ask(1, 1), ask(2, 0), ask(1, 0, OTHER)], [2, 3, 4]);
    t.same([ask(2, 0), ask(2, 0)], [3, 3]);
    cache.forget([1]);
    t.same([ask(1, 0), ask(2, 0)], [5, 3]);
    // There is room for three of 266 bytes: the fourth is made each time, and others stay.
    t.same([ask(3, 0), ask(4, 0), ask(4, 0), ask(3, 0), ask(2, 0)], [6, 7, 8, 6, 3]);
    cache.clear();
    t.equal(ask(2, 0), 9);
  },
);

t.test('a sum is due when it is kept, or was asked about before and has room', async (t) => {
  const cache = new SumCache(1_000);
  const keeper = cache.keeper(1, '0');
  const make = (memoryBytes: number) =>
    function* () {
      yield;
      return { memoryBytes, made: 1 };
    };
  t.same(
    [keeper.isDue(SUM, 700), keeper.isDue(SUM, 700), keeper.isDue(SUM, 800)],
    [false, true, false],
  );
  finished(keeper.keptUnits(SUM, make(700)));
  t.equal(keeper.isDue(SUM, 800), true, 'it is kept');
  t.same([keeper.isDue(OTHER, 10), keeper.isDue(OTHER, 10)], [false, false], 'nothing has room');
  for (let ask = 0; ask < 10; ask++) finished(cache.keeper(2, `${ask}`).keptUnits(SUM, make(700)));
  t.equal(keeper.isDue(OTHER, 10), true, 'nobody asks for what is kept');
});

t.test('a sum of all segments grows while there is room, until one of them is gone', async (t) => {
  const cache = new SumCache(1_000);
  const keeper = cache.keeperOfAll('path');
  let made = 0;
  const ask = (): { memoryBytes: number; made: number } =>
    finished(
      keeper.keptUnits(SUM, function* () {
        yield;
        return { memoryBytes: 10, made: ++made };
      }),
    );
  const first = ask();
  first.memoryBytes = 700;
  keeper.weigh(SUM, first);
  t.equal(ask().made, 1);
  t.equal(keeper.isDue(OTHER, 10), false);
  t.equal(keeper.isDue(OTHER, 10), false, 'what it takes now leaves no room');
  first.memoryBytes = 800;
  keeper.weigh(SUM, first);
  t.equal(ask().made, 2, 'it had no room');
  first.memoryBytes = 10;
  keeper.weigh(SUM, first);
  t.equal(ask().made, 2, 'one that is not kept is not weighed');
  cache.forget([]);
  t.equal(ask().made, 2);
  cache.forget([7]);
  t.equal(ask().made, 3);
});
