import fc from 'fast-check';
import t from 'tap';
import type { Pattern, Predicate, RangeEnd } from '../../engine/query/model/predicate.ts';
import { QUERY_CHARACTERS_MAX, SearchError } from '../../server/language/lexer.ts';
import {
  type DeclaredName,
  type DeclaredNames,
  parseSearch,
  SEARCH_CLAUSES_MAX,
  SEARCH_DEPTH_MAX,
  searchNames,
  wordsOf,
} from '../../server/language/search.ts';
import { printSearch } from '../support/search-printer.ts';

const ALL: Predicate = { type: 'all' };
const NONE: Predicate = { type: 'none' };
const word = (...words: string[]): Predicate => ({
  type: 'words',
  words: words.map((literal) => [{ literal }]),
});
const value = (path: string, text: string): Predicate => ({
  type: 'value',
  paths: [path],
  match: { type: 'text', text },
});
const anywhere = (...words: string[]): Predicate => ({
  type: 'anywhere',
  match: { type: 'words', words: words.map((literal) => [{ literal }]) },
});
const regex = (path: string, source: string): Predicate => ({
  type: 'value',
  paths: [path],
  match: { type: 'regex', source },
});
const exists = (path: string): Predicate => ({ type: 'exists', paths: [path] });
const and = (...children: Predicate[]): Predicate => ({ type: 'and', children });
const or = (...children: Predicate[]): Predicate => ({ type: 'or', children });
const not = (child: Predicate): Predicate => ({ type: 'not', child });
const at = (number: number, inclusive: boolean): RangeEnd => ({
  text: String(number),
  number,
  inclusive,
});
const range = (path: string, from?: RangeEnd, to?: RangeEnd): Predicate => ({
  type: 'range',
  paths: [path],
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});
const glob = (text: string): Pattern =>
  text
    .split(/([*?])/)
    .filter((piece) => piece !== '')
    .map((piece) => (piece === '*' || piece === '?' ? { wildcard: piece } : { literal: piece }));

const UNDERSTOOD: [string, Predicate][] = [
  ['', ALL],
  ['  ', ALL],
  ['*', ALL],
  ['**', ALL],
  ['*.*', ALL],
  ['"--"', NONE],
  ['""', NONE],
  ['!!', NONE],
  ['foo OR "--"', word('foo')],
  ['foo -"--"', word('foo')],
  ['Error', word('error')],
  ['ÉTÉ_9 日本', and(word('été_9'), word('日本'))],
  ['e\u0301te', word('e\u0301te')],
  ['out-of.memory', word('out', 'of', 'memory')],
  ['"Out  of, memory!"', word('out', 'of', 'memory')],
  ['"say \\"hi\\""', word('say', 'hi')],
  ['"web*"', word('web')],
  ['web*', { type: 'words', words: [glob('web*')] }],
  ['*web?1', { type: 'words', words: [glob('*web?1')] }],
  ['a**b', { type: 'words', words: [glob('a*b')] }],
  ['a\\*b', word('a', 'b')],
  ['foo-*', word('foo')],
  ['a-*-b', { type: 'words', words: [glob('a'), glob('*'), glob('b')] }],
  ['?', { type: 'words', words: [glob('?')] }],
  ['user\\=JaneDoe', word('user', 'janedoe')],
  ['[10]', word('10')],
  ['a b', and(word('a'), word('b'))],
  ['a AND b', and(word('a'), word('b'))],
  ['a and or', and(word('a'), word('and'), word('or'))],
  ['\\AND', word('and')],
  ['"OR"', word('or')],
  ['a OR b c', or(word('a'), and(word('b'), word('c')))],
  ['a b OR c AND d', or(and(word('a'), word('b')), and(word('c'), word('d')))],
  ['(a OR b) c', and(or(word('a'), word('b')), word('c'))],
  ['f(x)', and(word('f'), word('x'))],
  ['-a b', and(not(word('a')), word('b'))],
  ['NOT a OR b', or(not(word('a')), word('b'))],
  ['NOT -a', word('a')],
  ['-(a OR b)', not(or(word('a'), word('b')))],
  ['NOT(a)', not(word('a'))],
  ['a -*', NONE],
  ['a *', word('a')],
  ['level:Error', value('custom.level', 'Error')],
  ['http.status:200', value('custom.http.status', '200')],
  ['custom.a.b:v', value('custom.a.b', 'v')],
  ['syslog.appname:v', value('syslog.appname', 'v')],
  ['message:"a b"', value('message', 'a b')],
  ['syslog:v', value('custom.syslog', 'v')],
  [
    '@a.b:v',
    { type: 'value', paths: ['custom.@a.b', 'custom.a.b'], match: { type: 'text', text: 'v' } },
  ],
  [
    '@custom.a:v',
    { type: 'value', paths: ['custom.@custom.a', 'custom.a'], match: { type: 'text', text: 'v' } },
  ],
  ['@:v', value('custom.@', 'v')],
  ['first\\ name:v', value('custom.first name', 'v')],
  ['a\\:b:v', value('custom.a:b', 'v')],
  ['AND:v', value('custom.AND', 'v')],
  ['a:AND', value('custom.a', 'AND')],
  ['a:-5', value('custom.a', '-5')],
  ['*:Time-out', anywhere('time', 'out')],
  ['*:"Time out"', anywhere('time', 'out')],
  ['*:(a OR -b) c', and(or(anywhere('a'), not(anywhere('b'))), word('c'))],
  ['-*:a', not(anywhere('a'))],
  ['**:a*', { type: 'anywhere', match: { type: 'words', words: [glob('a*')] } }],
  ['*:*', ALL],
  ['a:/x.*/', regex('custom.a', 'x.*')],
  ['a:/(x y|\\/")/ b', and(regex('custom.a', '(x y|\\/")'), word('b'))],
  ['a:(/x/ OR -"/x/")', or(regex('custom.a', 'x'), not(value('custom.a', '/x/')))],
  ['*:/x/', { type: 'anywhere', match: { type: 'regex', source: 'x' } }],
  ['a:/x/y/', value('custom.a', '/x/y/')],
  ['a:/x OR a:/y', or(value('custom.a', '/x'), value('custom.a', '/y'))],
  ['a:\\/x/', value('custom.a', '/x/')],
  ['a://', value('custom.a', '//')],
  ['/x/', word('x')],
  ['*:"--"', NONE],
  ['\\*:v', value('custom.*', 'v')],
  ['a:""', value('custom.a', '')],
  ['a:"x*"', value('custom.a', 'x*')],
  ['a:x\\*\\\\\\ y', value('custom.a', 'x*\\ y')],
  [
    'a:http://h:80/p?',
    {
      type: 'value',
      paths: ['custom.a'],
      match: { type: 'pattern', pattern: glob('http://h:80/p?') },
    },
  ],
  ['ip:2001:db8::1', value('custom.ip', '2001:db8::1')],
  ['a:*', exists('custom.a')],
  ['-a:*', not(exists('custom.a'))],
  ['a:[* TO *]', exists('custom.a')],
  ['a:"*"', value('custom.a', '*')],
  ['a:(x OR y)', or(value('custom.a', 'x'), value('custom.a', 'y'))],
  ['a:(x -y)', and(value('custom.a', 'x'), not(value('custom.a', 'y')))],
  ['a:(x (NOT "y z"))', and(value('custom.a', 'x'), not(value('custom.a', 'y z')))],
  ['a:(::1) b', and(value('custom.a', '::1'), word('b'))],
  ['a:(>1 <=5)', and(range('custom.a', at(1, false)), range('custom.a', undefined, at(5, true)))],
  ['a:(\\-5)', value('custom.a', '-5')],
  ['a:>100', range('custom.a', at(100, false))],
  ['a:>=100', range('custom.a', at(100, true))],
  ['a:<-1.5', range('custom.a', undefined, at(-1.5, false))],
  ['a:<= 7', range('custom.a', undefined, at(7, true))],
  ['a:>"5"', range('custom.a', at(5, false))],
  ['a:>b', range('custom.a', { text: 'b', inclusive: false })],
  ['a:>1e3', range('custom.a', { text: '1e3', number: 1000, inclusive: false })],
  ['a:>0x10', range('custom.a', { text: '0x10', inclusive: false })],
  ['a:>1e999', range('custom.a', { text: '1e999', inclusive: false })],
  ['a:[400 TO 499]', range('custom.a', at(400, true), at(499, true))],
  ['a:{1 TO 2}', range('custom.a', at(1, false), at(2, false))],
  ['a:[1 TO 2}', range('custom.a', at(1, true), at(2, false))],
  ['a:[ * TO 2 ]', range('custom.a', undefined, at(2, true))],
  ['a:{1 TO *}', range('custom.a', at(1, false))],
  [
    'a:["b c" TO d\\]]',
    range('custom.a', { text: 'b c', inclusive: true }, { text: 'd]', inclusive: true }),
  ],
];

t.test('queries mean what the language says', async (t) => {
  for (const [query, predicate] of UNDERSTOOD) t.same(parseSearch(query), predicate, query);
});

const tagset: DeclaredName = {
  type: 'tagset',
  id: 'danger',
  tags: [
    { id: 'high', predicate: exists('custom.a') },
    { id: 'low', predicate: exists('custom.b') },
  ],
};
const declared: DeclaredNames = (name) => {
  if (name === 'danger') return tagset;
  return name === 'verb' ? { type: 'attribute', attribute: 'custom.http.verb' } : undefined;
};

const MALFORMED: [string, number, RegExp][] = [
  ['(a', 2, /expected "\)" for the "\(" at position 0/],
  ['((a)', 4, /expected "\)" for the "\(" at position 0/],
  ['(a (b', 5, /expected "\)" for the "\(" at position 3/],
  ['f(x', 3, /expected "\)" for the "\(" at position 1/],
  ['a)', 1, /expected a term or the end, found "\)" without a "\("/],
  ['a OR b) c', 6, /found "\)" without a "\("/],
  ['(a))', 3, /found "\)" without a "\("/],
  [')', 0, /expected a term, found "\)"/],
  ['()', 1, /expected a term, found "\)"/],
  ['a ( )', 4, /expected a term, found "\)"/],
  ['(a OR )', 6, /expected a term, found "\)"/],
  ['a AND', 5, /expected a term, found the end/],
  ['a OR', 4, /expected a term, found the end/],
  ['a OR   ', 7, /expected a term, found the end/],
  ['AND', 0, /expected a term, found AND/],
  ['OR a', 0, /expected a term, found OR/],
  ['a OR OR b', 5, /expected a term, found OR/],
  ['a AND AND b', 6, /expected a term, found AND/],
  ['a OR AND b', 5, /found AND/],
  ['a AND OR b', 6, /expected a term, found OR/],
  ['a NOT', 5, /found the end/],
  ['NOT', 3, /expected a term, found the end/],
  ['NOT NOT', 7, /expected a term, found the end/],
  ['NOT OR a', 4, /expected a term, found OR/],
  ['a NOT AND b', 6, /expected a term, found AND/],
  ['(NOT)', 4, /expected a term, found "\)"/],
  ['-AND', 1, /expected a term, found AND/],
  ['-', 0, /right after "-"/],
  ['a -', 2, /expected a term right after "-"/],
  ['--', 1, /expected a term right after "-"/],
  ['foo - bar', 4, /right after "-"/],
  ['(a -)', 3, /right after "-"/],
  ['a:', 2, /expected a value right after ":"/],
  ['x (a:', 5, /expected a value right after ":"/],
  ['a: b', 2, /expected a value right after ":"/],
  ['a:)', 2, /expected a value right after ":"/],
  ['-a:\t', 3, /expected a value right after ":"/],
  [':a', 0, /expected an attribute before ":"/],
  ['x :', 2, /expected an attribute before ":"/],
  ['"a":b', 3, /expected an attribute before ":"/],
  ['(a):b', 3, /expected an attribute before ":"/],
  ['x a*:b', 2, /without wildcards, or "\*", before ":"/],
  ['x a:/b(c/', 6, /the group "\(" is not closed/],
  ['a:/b(?=c)/', 4, /look-ahead .* is not supported/],
  ['a:(b /c**/)', 7, /two repeats in a row/],
  ['a:/x{251}/', 3, /has \d+ parts, repeats multiplied out; allowed: 250/],
  ['danger:/h.*/', 7, /expected a tag, found a regular expression/],
  ['*:', 2, /expected a value right after ":"/],
  ['*:>5', 2, /expected a term, found a comparison/],
  ['*:(a [1 TO 2])', 5, /expected a term, found a range/],
  ['?:b', 0, /without wildcards, or "\*", before ":"/],
  ['a:()', 3, /expected a value, found "\)"/],
  ['a:(OR)', 3, /expected a value, found OR/],
  ['a:(b OR)', 7, /expected a value, found "\)"/],
  ['a:(b AND', 8, /expected a value, found the end/],
  ['a:(NOT', 6, /expected a value, found the end/],
  ['a:(b', 4, /expected "\)" for the "\(" at position 2/],
  ['a:((b)', 6, /expected "\)" for the "\(" at position 2/],
  ['a:(-)', 3, /expected a term right after "-"/],
  ['a:>', 3, /expected a value for ">"/],
  ['a:> ', 4, /expected a value for ">"/],
  ['a:<=)', 4, /expected a value for "<="/],
  ['a:>(1)', 3, /expected a value for ">"/],
  ['a:>=*', 4, /without wildcards/],
  ['a:<1?', 3, /expected a value without wildcards for "<"/],
  ['a:(>)', 4, /expected a value for ">"/],
  ['a:>"1', 3, /expected a closing quote/],
  ['a:[', 3, /expected a value for the start of a range/],
  ['a:[]', 3, /expected a value for the start of a range/],
  ['a:[1', 4, /expected "TO"/],
  ['a:[1 2]', 5, /expected "TO"/],
  ['a:[1 to 2]', 5, /expected "TO"/],
  ['a:[1 TO2]', 5, /expected "TO"/],
  ['a:[1]', 4, /expected "TO"/],
  ['a:[TO 2]', 6, /expected "TO"/],
  ['a:[1* TO 2]', 3, /expected a value without wildcards for the start of a range/],
  ['a:[1 TO', 5, /expected "TO"/],
  ['a:[1 TO ]', 8, /expected a value for the end of a range/],
  ['a:{1 TO ?}', 8, /expected a value without wildcards for the end of a range/],
  ['a:[1 TO 2', 9, /expected "]" or "}"/],
  ['a:[1 TO 2)', 9, /expected "]" or "}"/],
  ['a:[1 TO 2 3]', 10, /expected "]" or "}"/],
  ['a:["1 TO 2]', 3, /expected a closing quote/],
  ['x "abc', 2, /closing quote/],
  ['"', 0, /expected a closing quote/],
  ['a:"b', 2, /expected a closing quote/],
  ['a:(x "y)', 5, /expected a closing quote/],
  ['"a\\"', 0, /expected a closing quote/],
  ['abc\\', 3, /expected a character after/],
  ['a\\:b\\', 4, /expected a character after/],
  ['a:b\\', 3, /expected a character after/],
  ['a:"b\\', 4, /expected a character after/],
  ['danger:', 7, /expected a value right after ":"/],
  [
    'danger:hgih',
    7,
    /expected a tag of "danger", found "hgih"; did you mean "high"\? allowed: high/,
  ],
  ['danger:"lows"', 7, /expected a tag of "danger", found "lows"; did you mean "low"/],
  ['x danger:(high OR nothing)', 18, /found "nothing"; allowed: high, low/],
  ['danger:High', 7, /did you mean "high"/],
  ['danger:>low', 7, /expected a tag, found a comparison/],
  ['danger:[a TO z]', 7, /expected a tag, found a range/],
  ['danger:(high AND', 16, /expected a tag, found the end/],
];

t.test('a malformed query is refused with the position of the fault', async (t) => {
  for (const [query, position, what] of MALFORMED) {
    try {
      parseSearch(query, declared);
      t.fail(`${query} was understood`);
    } catch (error) {
      t.type(error, SearchError);
      t.equal((error as SearchError).position, position, query);
      t.match((error as SearchError).message, what, query);
      t.match((error as SearchError).message, `at position ${position}: `);
    }
  }
});

t.test('hostile queries are refused and ordinary large ones are not', async (t) => {
  const nested = (levels: number) => `${'('.repeat(levels)}a${')'.repeat(levels)}`;
  t.same(parseSearch(nested(SEARCH_DEPTH_MAX)), word('a'));
  t.throws(() => parseSearch(nested(SEARCH_DEPTH_MAX + 1)), /levels of parentheses/);
  t.throws(() => parseSearch('('.repeat(QUERY_CHARACTERS_MAX)), /levels of parentheses/);
  t.same(parseSearch('(a) '.repeat(500)).type, 'and', 'levels are not counted side by side');
  t.same(parseSearch(`${'-'.repeat(60_001)}a`), not(word('a')));
  t.same(parseSearch(`${'NOT '.repeat(10_000)}a`), word('a'));
  t.equal(parseSearch('a '.repeat(SEARCH_CLAUSES_MAX)).type, 'and');
  t.throws(() => parseSearch('a '.repeat(SEARCH_CLAUSES_MAX + 1)), /more than 1000 terms/);
  t.throws(() => parseSearch('a'.repeat(QUERY_CHARACTERS_MAX + 1)), /allowed: 65536/);
  t.same(parseSearch('a'.repeat(QUERY_CHARACTERS_MAX)), word('a'.repeat(QUERY_CHARACTERS_MAX)));
  t.throws(() => parseSearch(`a:${'*a'.repeat(65)}`), /wildcards; allowed: 64/);
  t.equal(parseSearch('a:/x{200}/ '.repeat(15)).type, 'and');
  t.throws(() => parseSearch('a:/x{200}/ '.repeat(25)), /more than 4000 together/);
});

t.test('words touch the wildcards that no other character separates from them', async (t) => {
  t.same(wordsOf(glob('a*.?b')), [glob('a*'), glob('?b')]);
  t.same(wordsOf(glob('*.a.*')), [glob('a')]);
  t.same(wordsOf(glob('...')), []);
});

const letters = fc.stringMatching(/^[a-zé日_0-9]{1,6}$/);
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const pieces = (literal: fc.Arbitrary<string>): fc.Arbitrary<Pattern> =>
  fc
    .array(fc.oneof(literal, fc.constantFrom('*', '?')), { minLength: 1, maxLength: 5 })
    .map((parts) => {
      const pattern: Pattern = [];
      for (const part of parts) {
        const last = pattern.at(-1);
        const star = last !== undefined && 'wildcard' in last && last.wildcard === '*';
        if (part === '*' || part === '?') {
          if (!(part === '*' && star)) pattern.push({ wildcard: part });
        } else if (last === undefined || 'wildcard' in last) pattern.push({ literal: part });
      }
      return pattern;
    });
const isStar = (pattern: Pattern) =>
  pattern.length === 1 && 'wildcard' in pattern[0] && pattern[0].wildcard === '*';
const isLiteral = (pattern: Pattern) => pattern.length === 1 && 'literal' in pattern[0];

const paths = fc.oneof(
  anyText.map((name) => [`custom.${name}`]),
  anyText.map((name) => [`syslog.${name}`]),
  fc.constant<string[]>(['message']),
  letters.map((name) => [`custom.@${name}`, `custom.${name}`]),
);
const rangeEnds = fc.oneof(
  fc.tuple(fc.integer(), fc.boolean()).map(([number, inclusive]) => at(number, inclusive)),
  fc.tuple(anyText, fc.boolean()).map(([text, inclusive]) => ({ text: `x${text}`, inclusive })),
);
const leaves: fc.Arbitrary<Predicate> = fc.oneof(
  fc
    .array(pieces(letters), { minLength: 1, maxLength: 4 })
    .filter((words) => !isStar(words[0]) && !isStar(words[words.length - 1]))
    .map((words) => ({ type: 'words' as const, words })),
  fc.tuple(paths, fc.string({ unit: 'grapheme' })).map(
    ([paths, text]): Predicate => ({
      type: 'value',
      paths,
      match: { type: 'text', text },
    }),
  ),
  fc
    .tuple(paths, pieces(anyText.filter((text) => !/[*?]/.test(text))))
    .filter(([, pattern]) => !isStar(pattern) && !isLiteral(pattern))
    .map(
      ([paths, pattern]): Predicate => ({
        type: 'value',
        paths,
        match: { type: 'pattern', pattern },
      }),
    ),
  paths.map((paths): Predicate => ({ type: 'exists', paths })),
  fc
    .tuple(paths, fc.option(rangeEnds), fc.option(rangeEnds))
    .filter(([, from, to]) => from !== null || to !== null)
    .map(
      ([paths, from, to]): Predicate => ({
        type: 'range',
        paths,
        ...(from === null ? {} : { from }),
        ...(to === null ? {} : { to }),
      }),
    ),
);
const { tree } = fc.letrec<{ tree: Predicate; inner: Predicate }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, leaves, tie('inner')),
  inner: fc.oneof(
    fc.array(tie('tree'), { minLength: 2, maxLength: 4 }).map((children) => and(...children)),
    fc.array(tie('tree'), { minLength: 2, maxLength: 4 }).map((children) => or(...children)),
    tie('tree')
      .filter((child) => child.type !== 'not')
      .map(not),
  ),
}));

t.test('a printed tree parses back to itself', async () => {
  fc.assert(
    fc.property(tree, fc.boolean(), (tree, plain) => {
      return JSON.stringify(parseSearch(printSearch(tree, plain))) === JSON.stringify(tree);
    }),
    { numRuns: 500 },
  );
});

t.test('any text is understood or refused with a position inside it', async () => {
  const hostile = fc.array(
    fc.constantFrom(...'()[]{}<>=:"\\*?-@. ab1', 'AND', 'OR', 'NOT', 'TO', 'é', '\ud800'),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(hostile, (parts) => {
      const query = parts.join('');
      try {
        parseSearch(query);
        return true;
      } catch (error) {
        return error instanceof SearchError && error.position <= query.length;
      }
    }),
    { numRuns: 3_000 },
  );
});

t.test('the id of a field stands for its attribute and wins over the name', async (t) => {
  t.same(parseSearch('verb:GET', declared), parseSearch('http.verb:GET'));
  t.same(parseSearch('-verb:(a OR b*)', declared), parseSearch('-http.verb:(a OR b*)'));
  t.same(parseSearch('custom.verb:GET', declared), parseSearch('verb:GET'), 'a path is no id');
  t.same(parseSearch('verb', declared), parseSearch('verb'), 'a word is no name');
  t.same([...searchNames('a:1 OR (@b.c:[1 TO 2] -a:x) word "q:u"')], ['a', '@b.c']);
  t.throws(() => searchNames('(('), { name: 'SearchError' });
});

t.test('a value of a tagset is one of its tags: the first whose query holds', async (t) => {
  const [high, low] = tagset.tags.map(({ predicate }) => predicate);
  const ofLow = and(not(high), low);
  const meant: [string, Predicate][] = [
    ['danger:high', high],
    ['danger:low', ofLow],
    ['danger:"low"', ofLow],
    ['danger:*', or(high, low)],
    ['-danger:*', not(or(high, low))],
    ['danger:(high OR low)', or(high, ofLow)],
    ['danger:(NOT high)', not(high)],
    ['danger:h?gh', high],
    ['danger:*o*', ofLow],
    ['danger:x*', NONE],
    ['custom.danger:high', value('custom.danger', 'high')],
    ['@danger:high', parseSearch('@danger:high')],
    ['high', word('high')],
  ];
  for (const [query, predicate] of meant) t.same(parseSearch(query, declared), predicate, query);
  const many: DeclaredNames = () => ({
    ...tagset,
    tags: [{ id: 'a', predicate: or(...Array.from({ length: 900 }, () => high)) }],
  });
  t.throws(() => parseSearch('x:a '.repeat(23), many), /at position 90: expected fewer values/);
  const long: DeclaredNames = () => ({
    ...tagset,
    tags: [{ id: 'a'.repeat(64), predicate: high }],
  });
  t.same(parseSearch(`x:${'*a'.repeat(60)}*b`, long), NONE, 'wildcards cost no power of them');
});
