import fc from 'fast-check';
import t from 'tap';
import { PATH_CUSTOM } from '../../engine/column/path.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { type CompiledStep, compileSteps } from '../../server/extend/compile.ts';
import { Extender } from '../../server/extend/extender.ts';
import { NameBudget } from '../../server/ingest/name-budget.ts';
import { NameCounts } from '../../server/ingest/name-counts.ts';
import { Decoding } from '../support/decoding.ts';

const DAY = 20_000;
const ALL: Predicate = { type: 'all' };

/** A decoder whose events are held to a budget. */
function limited(budget: NameBudget): Decoding {
  const decoding = new Decoding();
  budget.usePaths(decoding.paths);
  decoding.decoder.nameLimit = budget;
  return decoding;
}

function budgetOf(namesMax: number, memory = NameCounts.memory(1), worker = 0): NameBudget {
  return new NameBudget(new NameCounts(memory, worker), namesMax);
}

t.test('names beyond the budget go to the excess, known ones stay', async (t) => {
  const budget = budgetOf(3);
  const decoding = limited(budget);
  budget.begin(0, DAY);
  t.same(decoding.lines('{"a":1,"b":{"c":[{"x":1,"y":2}]}}'), [
    '{"custom":{"a":1,"b":{"c":[{"x":1,"y":2}]}}}',
  ]);
  t.same(
    decoding.lines(
      '{"a":2,"d":null,"b":{"e":"\\"é\\"","c":3,"f":{"g":0.610,"h":true}},"i":[1, 2]}',
    ),
    [
      '{"custom":{"a":2,"d":null,"b":{"c":3},"_excess":"{\\"b\\":{\\"e\\":\\"\\\\\\"é\\\\\\"\\",\\"f\\":{\\"g\\":0.610,\\"h\\":true}},\\"i\\":[1,2]}"}}',
    ],
  );
  t.equal(decoding.decoder.counters.namesOverBudget, 4);
  t.equal(decoding.decoder.counters.namesRefused, 0);
});

t.test('another key has a budget of its own, and the next day another', async (t) => {
  const budget = budgetOf(1);
  const decoding = limited(budget);
  const event = (cell: number, day: number, line: string): string => {
    budget.begin(cell, day);
    return decoding.lines(line).join();
  };
  t.equal(event(0, DAY, '{"a":1}'), '{"custom":{"a":1}}');
  t.equal(event(0, DAY, '{"b":1}'), '{"custom":{"_excess":"{\\"b\\":1}"}}');
  t.equal(event(1, DAY, '{"b":1}'), '{"custom":{"b":1}}');
  t.equal(event(1, DAY, '{"a":1}'), '{"custom":{"_excess":"{\\"a\\":1}"}}');
  t.equal(event(0, DAY, '{"a":2}'), '{"custom":{"a":2}}');
  t.equal(event(0, DAY + 1, '{"b":1}'), '{"custom":{"b":1}}', 'the next day begins anew');
  t.equal(
    event(0, DAY, '{"a":1}'),
    '{"custom":{"_excess":"{\\"a\\":1}"}}',
    'and does not end again',
  );
  t.equal(event(0, DAY - 30, '{"c":1}'), '{"custom":{"c":1}}', 'a clock set back begins anew');
  t.equal(event(1, DAY + 1, '{"a":1}'), '{"custom":{"a":1}}');
});

t.test('a list of paths is known to a key and day when that has brought all of them', async (t) => {
  const budget = budgetOf(3);
  const decoding = limited(budget);
  budget.begin(0, DAY);
  decoding.lines('{"a":1,"b":1}');
  const pathOf = (name: string): number =>
    decoding.paths.intern(PATH_CUSTOM, Buffer.from(name), 0, name.length);
  const list = [pathOf('a'), pathOf('b'), pathOf('b')];
  t.ok(budget.knowsAll([]));
  t.ok(budget.knowsAll(list));
  list.push(pathOf('c'), pathOf('d'));
  t.notOk(budget.knowsAll(list));
  decoding.lines('{"c":1,"d":1}');
  t.notOk(budget.knowsAll(list), 'd is one too many');
  t.ok(budget.knowsAll(list.slice(0, -1)));
  budget.begin(1, DAY);
  t.notOk(budget.knowsAll(list.slice(0, -1)));
  budget.begin(0, DAY + 1);
  t.notOk(budget.knowsAll(list.slice(0, -1)));
  limited(budget);
  budget.begin(0, DAY + 1);
  t.notOk(budget.knowsAll(list));
});

t.test('names are remembered beyond a path table', async (t) => {
  const budget = budgetOf(300);
  const names = Array.from({ length: 300 }, (_, at) => `"n${at}.m":1`).join();
  const first = limited(budget);
  budget.begin(0, DAY);
  first.lines(`{${names}}`);
  const next = limited(budget);
  budget.begin(0, DAY);
  const [event] = next.lines(`{"other":1,"n299.m":2,"n0.m":3}`);
  t.equal(event, '{"custom":{"n299":{"m":2},"n0":{"m":3},"_excess":"{\\"other\\":1}"}}');
});

t.test('what the service itself names is not counted and always kept', async (t) => {
  const budget = budgetOf(1);
  const decoding = limited(budget);
  budget.begin(0, DAY);
  decoding.lines('{"a":1}');
  const [header] = decoding.lines('<13>1 2026-11-21T12:00:00Z host app 1 - - {"date":5,"b":1}');
  t.match(header, '"custom":{"date":5,"_excess":"{\\"b\\":1}"}');
  t.match(header, '"hostname":"host"');
  const [plain] = decoding.lines('{"message":"m","timestamp":"2026-11-21T12:00:00Z"}');
  t.equal(plain, '{"custom":{"timestamp":"2026-11-21T12:00:00Z"},"message":"m"}');
});

t.test('an excess that is there already is joined', async (t) => {
  const budget = budgetOf(999);
  const decoding = limited(budget);
  budget.begin(0, DAY);
  const names = Array.from({ length: 1_001 }, (_, at) => `"n${at}":${at}`).join();
  const [event] = decoding.lines(`{${names}}`);
  const custom = JSON.parse(event).custom;
  t.equal(Object.keys(custom).length, 1_000);
  t.same(JSON.parse(custom._excess), { n999: 999, n1000: 1000 });
  const { eventsTooWide, namesOverBudget } = decoding.decoder.counters;
  t.same({ eventsTooWide, namesOverBudget }, { eventsTooWide: 1, namesOverBudget: 1 });
});

t.test('attributes of extensions and of the request count too', async (t) => {
  const budget = budgetOf(2);
  const decoding = limited(budget);
  const { decoder, paths, rows } = decoding;
  const steps: readonly CompiledStep[] = compileSteps(
    [
      {
        ...{ id: 'kv', predicate: ALL, sources: ['message'] },
        target: undefined,
        action: { kind: 'keyvalue' },
      },
    ],
    (_, error) => t.fail(`${error}`),
  );
  const failed = (): void => {
    t.fail('an extension failed');
  };
  const extender = new Extender(steps, paths, rows, decoder.counters, { failed });
  decoder.extension = (hasDate) => extender.extendRow(hasDate);
  budget.begin(0, DAY);
  const enrichment = { attributes: [{ names: ['host'], value: 'h', replaces: false }] };
  const [event] = decoding.lines('a=1 b=2', enrichment);
  t.same(JSON.parse(event), {
    custom: { host: 'h', a: 1, _excess: '{"b":2}' },
    message: 'a=1 b=2',
  });
});

t.test('workers share a budget, and one in the place of another begins anew', async (t) => {
  const memory = NameCounts.memory(2);
  const [first, second] = [0, 1].map((worker) => budgetOf(4, memory, worker));
  const count = (budget: NameBudget, line: string): number => {
    const decoding = limited(budget);
    budget.begin(7, DAY);
    return Object.keys(JSON.parse(decoding.lines(line)[0]).custom).length;
  };
  t.equal(count(first, '{"a":1,"b":1,"c":1}'), 3);
  t.equal(count(second, '{"a":1,"b":1}'), 2, 'one kept, one in the excess');
  t.equal(count(first, '{"d":1,"e":1}'), 1, 'both in the excess');
  const counts = new NameCounts(memory, 1);
  t.equal(counts.sum(7, DAY), 3, 'names of a worker that is gone are given back');
  t.equal(counts.sum(7, DAY + 1), 0);
  t.equal(count(first, '{"d":1,"e":1}'), 2);
});

t.test(
  'an event has the same attributes within any budget, in their places or in the excess',
  async (t) => {
    const name = fc.constantFrom('a', 'b', 'c.d', 'c.e', 'c', 'f', 'é', '_excess');
    const value = fc.oneof(fc.integer(), fc.constantFrom('x', '"', true, null, [1], {}));
    const events = fc.array(fc.dictionary(name, value, { maxKeys: 5 }), { maxLength: 5 });
    fc.assert(
      fc.property(events, fc.integer({ min: 0, max: 6 }), (objects, namesMax) => {
        const budget = budgetOf(namesMax);
        const body = objects.map((object) => `${JSON.stringify(object)}\n`).join('');
        const decoding = limited(budget);
        budget.begin(0, DAY);
        const free = new Decoding().lines(body);
        const held = decoding.lines(body);
        t.same(held.map(leaves), free.map(leaves));
      }),
    );
  },
);

/** The attributes of an event, each as its dotted path and value, those of the excess among them. */
function leaves(event: string): string[] {
  const found: string[] = [];
  const walk = (path: string, value: unknown): void => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (path === '._excess' && typeof value === 'string' && value.startsWith('{')) {
      walk('', JSON.parse(value));
    } else if (isObject && Object.keys(value).length > 0) {
      for (const [name, inner] of Object.entries(value)) walk(`${path}.${name}`, inner);
    } else if (path !== '') {
      found.push(`${path}=${JSON.stringify(value)}`);
    }
  };
  walk('', JSON.parse(event).custom);
  return found.sort();
}
