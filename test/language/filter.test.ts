import t from 'tap';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import {
  allOf,
  anyOf,
  fieldFilter,
  isAttributePath,
  negated,
  pathsOfName,
  tagFilter,
} from '../../server/language/filter.ts';

const ALL: Predicate = { type: 'all' };
const NONE: Predicate = { type: 'none' };
const leaf: Predicate = { type: 'exists', paths: ['custom.a'] };
const other: Predicate = { type: 'exists', paths: ['custom.b'] };

t.test('constants are folded', async (t) => {
  t.same(allOf([]), ALL);
  t.same(allOf([ALL, leaf]), leaf);
  t.same(allOf([leaf, NONE]), NONE);
  t.same(allOf([leaf, other]), { type: 'and', children: [leaf, other] });
  t.same(anyOf([]), NONE);
  t.same(anyOf([NONE, leaf]), leaf);
  t.same(anyOf([leaf, ALL]), ALL);
  t.same(anyOf([leaf, other]), { type: 'or', children: [leaf, other] });
  t.same(negated(ALL), NONE);
  t.same(negated(NONE), ALL);
  t.same(negated(negated(leaf)), leaf);
});

t.test('request bodies write paths below custom and syslog, or message', async (t) => {
  for (const id of ['custom.a', 'custom.a.b c', 'syslog.appname', 'message', 'custom.\n']) {
    t.ok(isAttributePath(id), id);
  }
  for (const id of [
    '',
    'a',
    'custom',
    'custom.',
    'syslog.',
    'message.a',
    'Custom.a',
    '__proto__',
  ]) {
    t.notOk(isAttributePath(id), id);
  }
});

t.test('names of the search bar are below custom unless they are paths', async (t) => {
  t.same(pathsOfName('a.b'), ['custom.a.b']);
  t.same(pathsOfName('custom.a'), ['custom.a']);
  t.same(pathsOfName('custom'), ['custom.custom']);
  t.same(pathsOfName('@a'), ['custom.@a', 'custom.a']);
  t.same(pathsOfName('@syslog.a'), ['custom.@syslog.a', 'syslog.a']);
  t.same(pathsOfName('@'), ['custom.@']);
});

t.test('a field filter is one of its values or none of them', async (t) => {
  const value = (text: string): Predicate => ({
    type: 'value',
    paths: ['custom.a'],
    match: { type: 'text', text },
  });
  t.same(fieldFilter('custom.a', ['200'], false), value('200'));
  const either: Predicate = { type: 'or', children: [value('x*'), value('')] };
  t.same(fieldFilter('custom.a', ['x*', ''], false), either);
  t.same(fieldFilter('custom.a', ['x*', ''], true), { type: 'not', child: either });
});

t.test('a filter of tags holds for events whose first tag is wanted', async (t) => {
  const has = (path: string): Predicate => ({ type: 'exists', paths: [path] });
  const tags = ['a', 'b', 'c'].map((id) => ({ id, predicate: has(id) }));
  const holds = (predicate: Predicate, there: string): boolean => {
    if (predicate.type === 'exists') return there.includes(predicate.paths[0]);
    if (predicate.type === 'not') return !holds(predicate.child, there);
    if (predicate.type === 'and') return predicate.children.every((one) => holds(one, there));
    if (predicate.type === 'or') return predicate.children.some((one) => holds(one, there));
    return predicate.type === 'all';
  };
  for (const wanted of ['a', 'b', 'c', 'ac', 'bc', 'abc']) {
    for (const there of ['', 'a', 'b', 'c', 'ab', 'ac', 'bc', 'abc']) {
      const first = ['a', 'b', 'c'].find((id) => there.includes(id)) ?? 'none';
      const filter = tagFilter(tags, (id) => wanted.includes(id), false);
      t.equal(holds(filter, there), wanted.includes(first), `${wanted} of ${there}`);
      const others = tagFilter(tags, (id) => wanted.includes(id), true);
      t.equal(holds(others, there), !wanted.includes(first), `not ${wanted} of ${there}`);
    }
  }
});
