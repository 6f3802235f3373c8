import t from 'tap';
import { following, telling } from '../../engine/query/model/units.ts';

t.test('units that are ended before their end end those that they are made of', (t) => {
  const ended: string[] = [];
  function* units<T>(name: string, given: T): Generator<T, number> {
    try {
      yield given;
      yield given;
      return 1;
    } finally {
      ended.push(name);
    }
  }
  const progress = { unitsDone: 1, unitsTotal: 2 };
  const parts = { unitsDone: 3 };
  const followed = following(parts, units('part', progress));
  t.same(followed.next(), { done: false, value: { unitsDone: 4, unitsTotal: 5 } });
  followed.return(0);
  const told = telling(() => progress, units('work', undefined));
  t.same(told.next(), { done: false, value: progress });
  told.return(0);
  t.same(ended, ['part', 'work']);
  t.end();
});

t.test('units that go on to their end give what they are made of returns', (t) => {
  function* units(): Generator<undefined, number> {
    yield undefined;
    return 7;
  }
  const told = telling(() => ({ unitsDone: 0, unitsTotal: 1 }), units());
  t.equal(told.next().done, false);
  t.same(told.next(), { done: true, value: 7 });
  t.end();
});
