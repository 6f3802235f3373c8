import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { AggregateResult, AttributeFacts } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { noStats } from '../../engine/query/model/source.ts';
import {
  completionText,
  nameSuggestions,
  startsWithTyped,
  type Typing,
  tagSuggestions,
  typingAt,
  valueSuggestions,
} from '../../server/language/complete.ts';
import { SearchError } from '../../server/language/lexer.ts';
import {
  type DeclaredNames,
  type Expectation,
  expectedAfter,
  parseSearch,
} from '../../server/language/search.ts';

const TAGS = [
  { id: 'high', name: 'High', predicate: { type: 'all' as const } },
  { id: 'low', name: 'Not so high', predicate: { type: 'all' as const } },
];
const declared: DeclaredNames = (name) => {
  if (name === 'danger') return { type: 'tagset', id: 'danger', tags: TAGS };
  return name === 'verb' ? { type: 'attribute', attribute: 'custom.http.verb' } : undefined;
};

/** Completions that are expected after a text, as one line. */
function expected(query: string): string {
  const found = expectedAfter(query, declared);
  if (found === undefined) return 'nothing';
  const { caret, subject, keywords } = found;
  const { at, typed, quoted, place } = caret;
  let of = 'a term';
  if (subject?.type === 'paths') of = subject.paths.join(' ');
  if (subject?.type === 'tagset') of = subject.id;
  return `${at} ${JSON.stringify(typed)}${quoted ? ' quoted' : ''} ${place}: ${of} ${keywords.join(' ')}`;
}

const EXPECTED: [string, string][] = [
  ['', '0 "" any: a term NOT'],
  ['  ', '2 "" any: a term NOT'],
  ['fo', '0 "fo" any: a term NOT'],
  ['fo ', '3 "" any: a term AND OR NOT'],
  ['fo ba', '3 "ba" any: a term AND OR NOT'],
  ['fo AND ', '7 "" any: a term NOT'],
  ['fo AN', '3 "AN" any: a term AND OR NOT'],
  ['fo OR (', '7 "" any: a term NOT'],
  ['(a) ', '4 "" any: a term AND OR NOT'],
  ['-', '1 "" any: a term NOT'],
  ['NOT http.', '4 "http." any: a term NOT'],
  ['a\\ b', '0 "a b" any: a term NOT'],
  ['a\\', '0 "a" any: a term NOT'],
  ['"a b', '0 "a b" quoted any: a term '],
  ['"a" ', '4 "" any: a term AND OR NOT'],
  ['a:', '2 "" any: custom.a '],
  ['@a:x', '3 "x" any: custom.@a custom.a '],
  ['x verb:G', '7 "G" any: custom.http.verb '],
  ['a:"x y', '2 "x y" quoted any: custom.a '],
  ['a:"x\\"', '2 "x\\"" quoted any: custom.a '],
  ['a:x ', '4 "" any: a term AND OR NOT'],
  ['a:(', '3 "" any: custom.a NOT'],
  ['a:(x', '3 "x" any: custom.a NOT'],
  ['a:(x ', '5 "" any: custom.a AND OR NOT'],
  ['a:(x OR (y z', '11 "z" any: custom.a AND OR NOT'],
  ['a:(x) ', '6 "" any: a term AND OR NOT'],
  ['a:>', '3 "" bound: custom.a '],
  ['a:>= 4', '5 "4" bound: custom.a '],
  ['a:(>4', '4 "4" bound: custom.a '],
  ['a:[', '3 "" bound: custom.a '],
  ['a:[40', '3 "40" bound: custom.a '],
  ['a:[40 ', '6 "" to: custom.a TO'],
  ['a:["4" T', '7 "T" to: custom.a TO'],
  ['a:[40 TO', '6 "TO" to: custom.a TO'],
  ['a:[40 TO ', '9 "" bound: custom.a '],
  ['a:[40 TO "5', '9 "5" quoted bound: custom.a '],
  ['a:[40 TO 5 ', '11 "" close: custom.a '],
  ['a:[40 TO 5] b', '12 "b" any: a term AND OR NOT'],
  ['danger:h', '7 "h" any: danger '],
  ['danger:(high ', '13 "" any: danger AND OR NOT'],
];

t.test('the parser says what may stand at the end of a text', async (t) => {
  for (const [query, what] of EXPECTED) t.equal(expected(query), what, query);
  for (const query of ['a) b', 'a OR OR b', ':a', 'a:[1 2', 'danger:x y', 'a: b']) {
    t.throws(() => expectedAfter(query, declared), { name: 'SearchError' }, query);
  }
});

const expectation = (query: string): Expectation => {
  const found = expectedAfter(query, declared);
  if (found === undefined) throw new Error(`nothing after ${query}`);
  return found;
};
const typing = (text: string, limit = 50): Typing => {
  const position = text.indexOf('|');
  const query = text.replace('|', '');
  return typingAt(query, position, expectation(query.slice(0, position)), limit);
};

t.test('the piece at the caret is replaced to its end', async (t) => {
  const pieces: [string, number, number][] = [
    ['foo|', 0, 3],
    ['fo|o bar', 0, 3],
    ['|foo', 0, 3],
    ['x | foo', 2, 2],
    ['ht|tp.verb:GET', 0, 10],
    ['a:x|y:z b', 2, 6],
    ['a:x|y)', 2, 4],
    ['a:"x| y" b', 2, 7],
    ['a:"x| AND b:"y"', 2, 4],
    ['a:"x|', 2, 4],
    ['a:"x|"', 2, 5],
    ['a:x|\\ y b', 2, 6],
    ['a:[4|00 TO 5]', 3, 6],
    ['a:[4 TO 5|0]', 8, 10],
    ['a:[4 T|O 5]', 5, 7],
  ];
  for (const [text, from, to] of pieces) t.match(typing(text), { from, to }, text);
});

const facts = (path: string, eventCount: number): AttributeFacts => ({
  path,
  eventCount,
  kinds: ['string'],
});
const DECLARED = [
  { id: 'danger', name: 'Danger' },
  { id: 'verb', name: 'The verb', attribute: 'custom.http.verb' },
];
const names = (text: string, attributes: AttributeFacts[]): string[] =>
  finished(nameSuggestions(typing(text), DECLARED, attributes)).map(({ text: name }) => name);

t.test('names are as short as they may be, and mean their attribute', async (t) => {
  const attributes = [
    facts('custom.http.verb', 9),
    facts('custom.Http.host', 10),
    facts('custom.verb', 3),
    facts('custom.message', 2),
    facts('custom.@m', 2),
    facts('custom.a b', 1),
    facts('custom.-x:"y"', 1),
    facts('syslog.appname', 5),
    facts('message', 8),
  ];
  t.same(names('|', attributes), [
    ...['danger:', 'Http.host:', 'http.verb:', 'verb:', 'message:', 'syslog.appname:'],
    ...['custom.verb:', '@m:', 'custom.message:', '\\-x\\:\\"y\\":', 'a\\ b:'],
  ]);
  t.same(names('http|', attributes), ['Http.host:', 'http.verb:']);
  t.same(names('ver|', attributes), ['verb:', 'http.verb:', 'custom.verb:']);
  t.same(names('custom.h|', attributes), ['custom.Http.host:', 'custom.http.verb:']);
  t.same(names('@h|', attributes), ['@Http.host:', '@http.verb:']);
  t.same(names('"h|', attributes), []);
});

const buckets = (...values: [string, number][]): AggregateResult => ({
  buckets: values.map(([text, count]) => ({ keys: [{ type: 'string', text }], values: [count] })),
  more: false,
  stats: noStats(0),
});

t.test('values of all paths of a name count together', async (t) => {
  const results = [buckets(['ab', 3], ['Abc', 2], ['b', 9]), buckets(['Abc', 2])];
  t.same(valueSuggestions(typing('@x:a|'), results), [
    { text: 'Abc', kind: 'value', count: 4 },
    { text: 'ab', kind: 'value', count: 3 },
  ]);
});

t.test('tags are found by id and name', async (t) => {
  t.same(tagSuggestions(typing('danger:hi|'), TAGS), [
    { text: 'high', kind: 'tag', label: 'High' },
    { text: 'low', kind: 'tag', label: 'Not so high' },
  ]);
  t.same(tagSuggestions(typing('danger:"l|'), TAGS), [
    { text: '"low"', kind: 'tag', label: 'Not so high' },
  ]);
});

t.test('words of the language have their place within the limit', async (t) => {
  const all = Array.from({ length: 9 }, (_, at) => ({ text: `a${at}`, kind: 'value' as const }));
  const texts = (text: string, limit: number): string[] =>
    JSON.parse(completionText(typing(text, limit), all)).suggestions.map(
      (suggestion: { text: string }) => suggestion.text,
    );
  t.same(texts('x |', 5), ['a0', 'a1', 'AND', 'OR', 'NOT']);
  t.same(texts('x a|', 3), ['a0', 'a1', 'AND']);
  t.same(texts('x |', 2), ['AND', 'OR']);
  t.same(texts('x a|b:c', 2), ['a0', 'a1'], 'a name is one');
});

/** The leaves of a predicate. */
function leaves(predicate: Predicate): Predicate[] {
  if (predicate.type === 'and' || predicate.type === 'or')
    return predicate.children.flatMap(leaves);
  return predicate.type === 'not' ? leaves(predicate.child) : [predicate];
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.constantFrom('AND', 'OR', 'TO', 'NOT', '*', '-5', 'a b', '"', '\\', '[1 TO 2]', 'a:b', ''),
);
/** Text before and behind the one that is completed. */
const AROUND = fc.constantFrom<[string, string]>(['', ''], ['x OR -', ' y'], ['(x AND ', ')']);

t.test('a completed query means the value', async () => {
  const places = fc.constantFrom<[string, string]>(
    ['a:', ''],
    ['a:(x OR ', ')'],
    ['a:>', ''],
    ['a:(b -', ')'],
    ['a:[', ' TO *]'],
    ['a:{* TO ', '}'],
  );
  fc.assert(
    fc.property(AROUND, places, anyText, fc.boolean(), (around, place, text, quoted) => {
      const before = `${around[0]}${place[0]}`;
      const behind = `${place[1]}${around[1]}`;
      const typed = quoted ? `${before}"` : before;
      const query = typed + behind;
      const at = typingAt(query, typed.length, expectation(typed), 10);
      const [suggestion] = valueSuggestions({ ...at, typed: '' }, [buckets([text, 1])]);
      const completed = query.slice(0, at.from) + suggestion.text + query.slice(at.to);
      return leaves(parseSearch(completed)).some((leaf) => {
        if (leaf.type === 'value') return leaf.match.type === 'text' && leaf.match.text === text;
        return leaf.type === 'range' && (leaf.from ?? leaf.to)?.text === text;
      });
    }),
    { numRuns: 1_000 },
  );
});

t.test('a completed query means the attribute', async () => {
  const path = fc.oneof(
    anyText.filter((name) => name !== '').map((name) => `custom.${name}`),
    anyText.filter((name) => name !== '').map((name) => `syslog.${name}`),
    fc.constantFrom('message', 'custom.verb', 'custom.danger', 'custom.@x', 'custom.syslog.a'),
  );
  fc.assert(
    fc.property(AROUND, path, fc.constantFrom('', '@', 'custom.'), (around, path, typed) => {
      const begun = around[0] + typed;
      const query = `${begun}${around[1]}`;
      const at = typingAt(query, begun.length, expectation(begun), 10);
      for (const { text } of finished(nameSuggestions(at, DECLARED, [facts(path, 1)]))) {
        if (text === 'danger:' || text === 'verb:') continue;
        const completed = `${query.slice(0, at.from)}${text}v${query.slice(at.to)}`;
        const found = leaves(parseSearch(completed, declared));
        if (found.some((leaf) => leaf.type === 'value' && leaf.paths.includes(path))) continue;
        return false;
      }
      return true;
    }),
    { numRuns: 1_000 },
  );
});

t.test('after any text something is expected, or it is malformed inside', async () => {
  const hostile = fc.array(
    fc.constantFrom(
      ...'()[]{}<>=:"\\*?-@. ab1',
      'AND',
      'OR',
      'NOT',
      'TO',
      'danger:',
      'é',
      '\ud800',
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(hostile, fc.nat(40), (parts, cut) => {
      const query = parts.join('');
      const position = Math.min(cut, query.length);
      try {
        const found = expectedAfter(query.slice(0, position), declared);
        if (found === undefined) return false;
        const { from, to } = typingAt(query, position, found, 10);
        return from <= position && position <= to && to <= query.length;
      } catch (error) {
        return error instanceof SearchError && error.position <= position;
      }
    }),
    { numRuns: 3_000 },
  );
});

t.test('what is typed is looked for in both cases', async (t) => {
  t.same(startsWithTyped('custom.a', ''), { type: 'exists', paths: ['custom.a'] });
  t.match(startsWithTyped('custom.a', 'É*'), {
    type: 'or',
    children: [
      { match: { pattern: [{ literal: 'É*' }, { wildcard: '*' }], ignoresCase: true } },
      { match: { pattern: [{ literal: 'é*' }, { wildcard: '*' }], ignoresCase: true } },
    ],
  });
});
