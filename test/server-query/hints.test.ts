import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { openReader } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { allOf } from '../../server/language/filter.ts';
import { parseSearch, searchTerms, type Term } from '../../server/language/search.ts';
import { UTC } from '../../server/language/zone.ts';
import { listFacts } from '../../server/query/hint/facts.ts';
import type { HintFacts } from '../../server/query/hint/hint.ts';
import { hintsOf, nearestPath } from '../../server/query/hint/makers.ts';
import { predicate, testRow } from '../query/events.ts';
import { stored } from '../query/stored.ts';
import type { TestRow } from '../segment/leaves.ts';
import type { Model } from '../support/model.ts';

const RANGE = { fromMs: 3, toMs: 9 };
const ALL: Predicate = { type: 'all' };
const RED: Predicate = {
  ...{ type: 'value', paths: ['custom.team'] },
  match: { type: 'text', text: 'red' },
};

function ofTeam(row: TestRow, text: string): TestRow {
  return { ...row, leaves: [...row.leaves, { names: ['custom', 'team'], kind: 'string', text }] };
}

/** Hints about terms that nothing holds for together, and those of the model. */
async function factsIn(
  rows: readonly TestRow[],
  sealed: boolean,
  terms: Term[],
  visible: Predicate,
): Promise<{ facts: HintFacts; model: Model; asked: Predicate }> {
  const { shelf, model } = await stored(rows.length > 0 ? [[...rows]] : [], sealed ? 1 : 0);
  const asked = allOf([visible, ...terms.map((term) => term.predicate)]);
  const reader = openReader(shelf.disk, new Uint8Array(32));
  const scope = { selection: { ...RANGE, predicate: asked }, terms, visible };
  const stats = {
    blocksTotal: 0,
    blocksOpened: 0,
    blocksRefuted: 0,
    blocksCounted: 0,
    rowsScanned: 0,
    blocksDamaged: 0,
  };
  const facts = finished(listFacts(reader, { blocks: shelf.refs }, scope, { events: [], stats }));
  if (facts === undefined) throw new Error('no facts');
  return { facts, model, asked };
}

/** Facts as plain data. */
function plain({ values, places, ...facts }: HintFacts): object {
  return { ...facts, values: [...values.values()], places: [...places.values()] };
}

t.test(
  'facts are those of the model, and the same without the events that are hidden',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(testRow, fc.boolean()), { maxLength: 25 }),
        fc.boolean(),
        fc.array(predicate, { minLength: 2, maxLength: 4 }),
        async (written, sealed, predicates) => {
          const terms = predicates.map((one, n) => ({
            text: `${n}`,
            predicate: one,
            isOpen: true,
          }));
          const rows = written.map(([row, isRed]) => ofTeam(row, isRed ? 'red' : 'blue'));
          const seen = rows.filter((_, n) => written[n][1]);
          const { facts, model, asked } = await factsIn(rows, sealed, terms, RED);
          const { facts: alone } = await factsIn(seen, sealed, terms, ALL);
          if (JSON.stringify(plain(facts)) !== JSON.stringify(plain(alone))) {
            throw new Error(`${JSON.stringify(plain(facts))}, not ${JSON.stringify(plain(alone))}`);
          }
          const timesOf = (of: Predicate, fromMs: number, toMs: number): number[] =>
            model
              .list({ fromMs, toMs, predicate: of, order: 'asc', limit: 1e9 })
              .map(({ timeMs }) => timeMs);
          for (const { predicate: one, count } of facts.terms) {
            const wanted = timesOf(allOf([RED, one]), RANGE.fromMs, RANGE.toMs).length;
            if (count !== wanted) throw new Error(`${count} events, not ${wanted}`);
          }
          const before = timesOf(asked, -1e9, RANGE.fromMs).at(-1);
          const behind = timesOf(asked, RANGE.toMs, 1e9).at(0);
          if (facts.newestMs !== before || facts.oldestMs !== behind) {
            throw new Error(`${facts.newestMs}, ${facts.oldestMs}, not ${before}, ${behind}`);
          }
        },
      ),
      { numRuns: 150 },
    );
  },
);

t.test('the terms of a search hold together for what the search holds for', async (t) => {
  for (const [query, texts] of [
    ['', []],
    [' a  b:c ', ['a', 'b:c']],
    ['a AND -b NOT (c OR d) e:(f OR g)', ['a', '-b', 'NOT (c OR d)', 'e:(f OR g)']],
    ['"a b" OR c', ['"a b" OR c']],
    ['((a b))', ['((a b))']],
    ['a:[1 TO 2] /x/', ['a:[1 TO 2]', '/x/']],
  ] as const) {
    const terms = searchTerms(query);
    t.same(
      terms.map(({ text }) => text),
      texts,
    );
    t.same(allOf(terms.map((term) => term.predicate)), parseSearch(query));
  }
  const tags = [{ id: 'x', predicate: parseSearch('b:1') }];
  const open = searchTerms('a t:x (t:x OR c)', (name) =>
    name === 't' ? { type: 'tagset', id: 't', tags } : undefined,
  );
  t.same(
    open.map(({ isOpen }) => isOpen),
    [true, false, false],
  );
});

t.test(
  'the nearest path has the same name elsewhere, ends with it, or is spelled almost so',
  async (t) => {
    const attributes = ['message', 'syslog.hostname', 'custom.http.status_code', 'custom.Level'];
    for (const [path, nearest] of [
      ['custom.hostname', 'syslog.hostname'],
      ['custom.message', 'message'],
      ['custom.status_code', 'custom.http.status_code'],
      ['custom.level', 'custom.Level'],
      ['custom.custom.Level', 'custom.Level'],
      ['custom.levle', 'custom.Level'],
      ['custom.http.status', undefined],
    ] as const) {
      t.equal(nearestPath(path, attributes), nearest, path);
    }
  },
);

t.test('hints are in the order in which they help, and of nothing that is not known', async (t) => {
  const terms = searchTerms('and level:ERROR nam:1 (payment OR /x/)').map((term) => ({
    ...term,
    count: 0,
  }));
  const places = new Map();
  t.same(hintsOf({ terms: [], values: new Map(), places }, UTC), []);
  const { predicate: level } = terms[1];
  const values = new Map(
    level.type === 'value' ? [[level, { path: 'custom.level', texts: ['error'] }]] : [],
  );
  const attributes = ['custom.level', 'custom.name'];
  const found = hintsOf({ terms, attributes, values, places, newestMs: 0, oldestMs: 1 }, UTC);
  t.same(
    found.map(({ type }) => type),
    ['syntax', 'attribute', 'value', 'term', 'term', 'term', 'term', 'range', 'range'],
  );
  t.equal(
    found[2].message,
    'no event of the time has "ERROR" as "custom.level"; did you mean "error"?',
  );
});
