import fc from 'fast-check';
import t from 'tap';
import { Histogram } from '../../engine/base/histogram.ts';
import { Exposition } from '../../server/api/metrics/exposition.ts';
import { readExposition, sumOf } from '../support/exposition.ts';

t.test('any label text comes back from the exposition, in its own sample', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'"\\\n,}= a') }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.integer()), { maxLength: 5 }), (samples) => {
      const exposition = new Exposition();
      exposition.counter(
        'a_total',
        'A help.',
        samples.map(([label, value]) => [{ key: label, channel: 'http' }, value]),
      );
      const family = readExposition(exposition.text()).get('a_total');
      const back = (family?.samples ?? []).map(({ labels, value }) => [labels['key'], value]);
      return (
        JSON.stringify(back) === JSON.stringify(samples.map(([label, value]) => [label, value]))
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('a histogram counts each value up to the bounds that are not below it', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 })), (values) => {
      const histogram = new Histogram([5, 10, 20]);
      for (const value of values) histogram.add(value);
      const exposition = new Exposition();
      exposition.histogram('h', 'A help.', [[{}, histogram]]);
      const families = readExposition(exposition.text());
      const upTo = (most: number): number => values.filter((value) => value <= most).length;
      for (const bound of [5, 10, 20]) {
        t.equal(sumOf(families, 'h_bucket', { le: String(bound) }), upTo(bound));
      }
      t.equal(sumOf(families, 'h_bucket', { le: '+Inf' }), values.length);
      t.equal(sumOf(families, 'h_count'), values.length);
      t.equal(
        sumOf(families, 'h_sum'),
        values.reduce((sum, value) => sum + value, 0),
      );
    }),
    { numRuns: 20 },
  );
});
