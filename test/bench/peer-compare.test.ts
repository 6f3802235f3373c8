import t from 'tap';
import { compareAnswers } from '../../bench/peer/compare.ts';
import { EQUAL, ESTIMATED, QUESTIONS, ROUNDED } from '../../bench/peer/questions.ts';

/** When answers of two stores are the same answer. */

const TOP = {
  columns: ['value', 'count'],
  keys: 1,
  tolerances: [EQUAL],
  cut: { limit: 3, rank: 1, group: 0 },
};
const NEWEST = {
  columns: ['time', 'text'],
  keys: 2,
  tolerances: [],
  cut: { limit: 3, rank: 0, group: 0 },
};
const CHART = {
  columns: ['minute', 'average', 'p95'],
  keys: 1,
  tolerances: [ROUNDED, ESTIMATED],
};

t.test('rows are compared by their keys, in whatever order they come', async (t) => {
  t.equal(
    compareAnswers(
      CHART,
      [
        [60, 1, 5],
        [120, 2, 6],
      ],
      [
        [120, 2, 6],
        [60, 1, 5],
      ],
    ),
    undefined,
  );
});

t.test('a value that differs is found, with both rows and the name of its column', async (t) => {
  t.same(
    compareAnswers(
      TOP,
      [
        ['a', 5],
        ['b', 3],
      ],
      [
        ['a', 5],
        ['b', 4],
      ],
    ),
    {
      what: 'count',
      expected: ['b', 3],
      found: ['b', 4],
    },
  );
});

t.test('averages may differ by rounding, percentiles by 1 %, and no more', async (t) => {
  const expected = [[60, 0.1 + 0.2, 100]];
  t.equal(compareAnswers(CHART, expected, [[60, 0.3, 100.9]]), undefined);
  t.equal(compareAnswers(CHART, expected, [[60, 0.3, 101.5]])?.what, 'p95');
  t.equal(compareAnswers(CHART, expected, [[60, 0.3001, 100]])?.what, 'average');
});

t.test('whole numbers among the keys are exact, doubles are compared as rounded', async (t) => {
  const list = { columns: ['time', 'seconds'], keys: 2, tolerances: [] };
  const date = 1_793_491_200_000;
  t.equal(compareAnswers(list, [[date, 0.009]], [[date, 0.009000000000000001]]), undefined);
  t.equal(compareAnswers(list, [[date, 0.009]], [[date + 1, 0.009]])?.what, 'time');
  t.equal(compareAnswers(list, [[date, 0.009]], [[date, 0.01]])?.what, 'seconds');
});

t.test('a text is never a number, and nothing is never a text', async (t) => {
  t.equal(compareAnswers(TOP, [['a', 5]], [['a', '5']])?.what, 'count');
  t.equal(compareAnswers(TOP, [['', 5]], [[null, 5]])?.what, 'value');
});

t.test('rows that are missing or too many are named', async (t) => {
  t.same(
    compareAnswers(
      TOP,
      [
        ['a', 5],
        ['b', 3],
      ],
      [['a', 5]],
    ),
    {
      what: '1 rows instead of 2',
      expected: ['b', 3],
      found: undefined,
    },
  );
  t.same(compareAnswers(TOP, [], [['a', 5]]), {
    what: '1 rows instead of 0',
    expected: undefined,
    found: ['a', 5],
  });
});

t.test('of a full top list the values that share the last count may be any of them', async (t) => {
  const expected = [
    ['a', 9],
    ['b', 4],
    ['c', 4],
  ];
  t.equal(
    compareAnswers(TOP, expected, [
      ['a', 9],
      ['d', 4],
      ['b', 4],
    ]),
    undefined,
  );
  t.ok(
    compareAnswers(TOP, expected, [
      ['x', 9],
      ['b', 4],
      ['c', 4],
    ]),
    'above it they are not',
  );
  t.ok(
    compareAnswers(TOP, expected, [
      ['a', 9],
      ['b', 4],
      ['c', 3],
    ]),
    'nor is their count',
  );
  t.ok(
    compareAnswers(TOP, expected, [
      ['a', 9],
      ['b', 5],
      ['c', 4],
    ]),
    'nor are as many',
  );
});

t.test('a top list that is not full has no tie that could be cut', async (t) => {
  t.ok(
    compareAnswers(
      TOP,
      [
        ['a', 4],
        ['b', 4],
      ],
      [
        ['a', 4],
        ['c', 4],
      ],
    ),
  );
});

t.test('of the newest events those of the oldest date may be any of that date', async (t) => {
  const expected = [
    [3, 'x'],
    [2, 'y'],
    [1, 'z'],
  ];
  t.equal(
    compareAnswers(NEWEST, expected, [
      [3, 'x'],
      [2, 'y'],
      [1, 'other'],
    ]),
    undefined,
  );
  t.ok(
    compareAnswers(NEWEST, expected, [
      [3, 'x'],
      [2, 'other'],
      [1, 'z'],
    ]),
  );
  t.ok(
    compareAnswers(NEWEST, expected, [
      [3, 'x'],
      [2, 'y'],
      [0, 'z'],
    ]),
  );
});

t.test('ties are looked for in each group of nested top lists', async (t) => {
  const nested = {
    columns: ['host', 'value', 'count'],
    keys: 2,
    tolerances: [EQUAL],
    cut: { limit: 2, rank: 2, group: 1 },
  };
  const expected = [
    ['h', 'a', 5],
    ['h', 'b', 2],
    ['i', 'a', 3],
    ['i', 'b', 3],
  ];
  const found = [
    ['h', 'a', 5],
    ['h', 'z', 2],
    ['i', 'q', 3],
    ['i', 'b', 3],
  ];
  t.equal(compareAnswers(nested, expected, found), undefined);
  t.ok(compareAnswers(nested, expected, [['h', 'q', 5], ...expected.slice(1)]));
});

t.test(
  'where only shared groups are compared, theirs must be equal, and some shared',
  async (t) => {
    const shared = { columns: ['group', 'count'], keys: 1, tolerances: [EQUAL], sharedOnly: true };
    t.equal(
      compareAnswers(
        shared,
        [
          ['a', 5],
          ['b', 4],
        ],
        [
          ['a', 5],
          ['c', 3],
        ],
      ),
      undefined,
    );
    t.equal(
      compareAnswers(
        shared,
        [
          ['a', 5],
          ['b', 4],
        ],
        [
          ['a', 6],
          ['c', 3],
        ],
      )?.what,
      'count',
    );
    t.ok(compareAnswers(shared, [['a', 5]], [['c', 5]]));
    t.equal(compareAnswers(shared, [], []), undefined);
  },
);

t.test('every comparison has a tolerance for each column behind its keys', async (t) => {
  for (const { name, comparison } of QUESTIONS) {
    const { columns, keys, tolerances, cut } = comparison;
    t.equal(tolerances.length, columns.length - keys, name);
    if (cut !== undefined) t.ok(cut.rank < columns.length && cut.group < columns.length, name);
  }
});
