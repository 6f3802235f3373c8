import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { HeadReader, type RequestHead } from '../../server/listen/request-head.ts';

type Header = [name: string, value: string];

const HEADERS: Header[] = [
  ['host', 'logs'],
  ['content-type', 'text/plain'],
];

function read(
  reader: HeadReader,
  headers: readonly Header[],
  { method = 'post', path = '/v1/input/k', query = undefined as string | undefined } = {},
): RequestHead {
  return reader.read({
    forEach: (take) => {
      for (const [name, value] of headers) take(name, value);
    },
    getMethod: () => method,
    getUrl: () => path,
    getQuery: () => query,
  });
}

t.test('a head that came last with its path is given again, whatever its length', async (t) => {
  const reader = new HeadReader(undefined);
  const first = read(reader, [...HEADERS, ['content-length', '5']]);
  t.match(first, { method: 'POST', path: '/v1/input/k', query: '' });
  t.same([...first.headers], HEADERS);
  t.same(reader.lengths, ['5']);
  t.equal(read(reader, [['content-length', '6'], ...HEADERS]), first);
  t.same(reader.lengths, ['6']);
  t.equal(read(reader, HEADERS), first);
  t.same(reader.lengths, []);
});

t.test('a head that differs in anything else is another', async (t) => {
  const reader = new HeadReader(undefined);
  const others: [Header[], { method?: string; path?: string; query?: string }?][] = [
    [HEADERS.slice(0, 1)],
    [[...HEADERS, ['x-api-key', 'k']]],
    [[must(HEADERS[0], 'header'), ['content-type', 'text/json']]],
    [[must(HEADERS[0], 'header'), ['content-typf', 'text/plain']]],
    [HEADERS.toReversed()],
    [HEADERS, { method: 'put' }],
    [HEADERS, { path: '/v1/input/l' }],
    [HEADERS, { query: 'debug=1' }],
  ];
  for (const [headers, rest = {}] of others) {
    const first = read(reader, HEADERS);
    const other = read(reader, headers, rest);
    t.not(other, first);
    t.same([...other.headers], headers);
    t.match(other, { method: rest.method?.toUpperCase() ?? 'POST', query: rest.query ?? '' });
  }
});

t.test('a header that came twice has its last value, and some have all of them', async (t) => {
  const reader = new HeadReader('x-user');
  const headers: Header[] = [
    ['x-user', 'a'],
    ['transfer-encoding', 'gzip'],
    ['x-user', 'b'],
    ['content-length', '1'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '2'],
  ];
  for (let time = 0; time < 2; time++) {
    const { headers: last } = read(reader, headers);
    t.same([last.get('x-user'), last.get('transfer-encoding')], ['b', 'chunked']);
    t.same(reader.users, ['a', 'b']);
    t.same(reader.encodings, ['gzip', 'chunked']);
    t.same(reader.lengths, ['1', '2']);
  }
  read(reader, HEADERS);
  t.same([...reader.users, ...reader.encodings, ...reader.lengths], []);
});

t.test('many paths and long heads are not remembered', async (t) => {
  const reader = new HeadReader(undefined);
  const first = read(reader, HEADERS);
  for (let path = 0; path < 255; path++) read(reader, HEADERS, { path: `/${path}` });
  t.equal(read(reader, HEADERS), first);
  read(reader, HEADERS, { path: '/another' });
  t.not(read(reader, HEADERS), first);
  const long: Header[] = [['cookie', 'c'.repeat(2_048)]];
  t.not(read(reader, long), read(reader, long));
});
