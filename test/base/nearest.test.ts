import t from 'tap';
import { nearest } from '../../engine/base/nearest.ts';

t.test('the nearest name is the one that was most likely meant', async (t) => {
  const known = ['time', 'filters', 'limit', 'afterEvent', 'id'];
  const names: [string, string | undefined][] = [
    ['limt', 'limit'],
    ['Limit', 'limit'],
    ['tiem', 'time'],
    ['afterevent', 'afterEvent'],
    ['filter', 'filters'],
    ['di', undefined],
    ['x', undefined],
    ['', undefined],
    ['colour', undefined],
    ['limitlimit', undefined],
    ['l'.repeat(100_000), undefined],
  ];
  for (const [name, meant] of names) t.equal(nearest(name, known), meant, name.slice(0, 20));
  t.equal(nearest('a', []), undefined);
});
