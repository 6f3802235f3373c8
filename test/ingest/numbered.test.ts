import fc from 'fast-check';
import t from 'tap';
import { Numbered } from '../../server/ingest/turns/numbered.ts';

t.test('what is there is found by its number, whatever came and went', async (t) => {
  const steps = fc.array(fc.option(fc.nat(), { freq: 2 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (actions) => {
      const numbered = new Numbered<{ value: number }>();
      const there = new Map<number, { value: number }>();
      for (const [value, goes] of actions.entries()) {
        const numbers = [...there.keys()];
        if (goes === null || numbers.length === 0) {
          const thing = { value };
          const number = numbered.add(thing);
          t.notOk(there.has(number), 'a number is that of one thing');
          there.set(number, thing);
        } else {
          const number = numbers[goes % numbers.length];
          numbered.delete(number);
          there.delete(number);
          t.equal(numbered.get(number), undefined);
        }
      }
      const sorted = [...there].sort(([a], [b]) => a - b);
      t.equal(numbered.size, there.size);
      t.same(
        [...numbered.numbers()],
        sorted.map(([number]) => number),
      );
      t.same(
        [...numbered],
        sorted.map(([, thing]) => thing),
      );
      for (const [number, thing] of there) t.equal(numbered.get(number), thing);
    }),
  );
});

t.test(
  'numbers are given again, so that they stay as few as there were things at a time',
  async (t) => {
    const numbered = new Numbered<object>();
    for (let round = 0; round < 1_000; round++) {
      const numbers = [numbered.add({}), numbered.add({})];
      t.same(numbers.sort(), [0, 1]);
      for (const number of numbers) numbered.delete(number);
    }
    t.throws(() => numbered.delete(0), 'what is not there does not go');
  },
);
