import t from 'tap';
import {
  type Comparison,
  compare,
  comparisonLines,
  exitCode,
} from '../../bench/guard/comparison.ts';

function judge(
  before: number[],
  after: number[],
  more: { unit?: string; lowerIsBetter?: boolean } = {},
): Comparison {
  const { unit = 's/M events', lowerIsBetter = true } = more;
  return compare({ name: 'CPU', unit, lowerIsBetter, before, after });
}

t.test(
  'a figure is worse by more than 10 % and by more than the base differs from itself',
  async (t) => {
    t.match(judge([100, 101, 99], [112, 112, 112]), { difference: 12, noise: 2, worse: true });
    t.equal(judge([100, 101, 99], [110, 110, 110]).worse, false, '10 % and no more');
    t.match(judge([100, 120, 95], [112, 112, 112]), { noise: 25, worse: false });
    t.equal(judge([100, 120, 95], [140, 140, 130]).worse, true, 'more than much noise');
    t.equal(judge([100, 101, 99], [115, 98, 115]).worse, false, 'one pair says the opposite');
    t.equal(judge([100, 101, 99], [50, 50, 50]).worse, false, 'less is better');
  },
);

t.test('a rate is worse when it is lower', async (t) => {
  const rate = { unit: 'events/s', lowerIsBetter: false };
  t.equal(judge([100, 100], [80, 80], rate).worse, true);
  t.equal(judge([100, 100], [130, 130], rate).worse, false);
});

t.test('shares are compared in points, and from 0 every cost is infinitely more', async (t) => {
  t.match(judge([0, 0], [4, 4], { unit: '%' }), { difference: 4, worse: false });
  t.equal(judge([0, 0], [40, 40], { unit: '%' }).worse, true);
  t.match(judge([0, 0], [1, 1]), { difference: Infinity, noise: 0, worse: true });
  t.match(judge([0, 0], [0, 0]), { difference: 0, worse: false });
});

t.test('one worse figure of many makes the process end with 1', async (t) => {
  const even = judge([5, 5], [5, 5]);
  t.equal(exitCode([]), 0);
  t.equal(exitCode([even, even]), 0);
  t.equal(exitCode([even, judge([5, 5], [6, 6]), even]), 1);
});

t.test('the table has medians, differences, noise, and what is worse', async (t) => {
  const lines = comparisonLines([judge([100, 102], [120, 120]), judge([5, 5], [5, 5])]);
  t.same(
    lines.map((line) => line.trim().split(/\s{2,}/)),
    [
      ['base', 'now', 'difference', 'of single pairs', 'noise'],
      ['CPU, s/M events', '101', '120', '+18.8 %', '+17.6 % to +20.0 %', '2.0 %', 'worse'],
      ['CPU, s/M events', '5.00', '5.00', '+0.0 %', '+0.0 % to +0.0 %', '0.0 %'],
    ],
  );
});
