import fc from 'fast-check';
import t from 'tap';
import { QueryStringExtractor } from '../../server/extend/query-string.ts';
import { UrlExtractor } from '../../server/extend/url.ts';
import { attributesText } from '../support/attributes-text.ts';

const urls = new UrlExtractor();
const urlText = (text: string): string => attributesText(urls.extract(text)?.attributes);
const queries = new QueryStringExtractor();
const queryText = (text: string): string => attributesText(queries.extract(text)?.attributes);

t.test('URLs are split as RFC 3986 section 1.1.2 and 3 show', async (t) => {
  for (const [url, expected] of [
    [
      'ftp://ftp.is.co.za/rfc/rfc1808.txt',
      '{"scheme":"ftp","host":"ftp.is.co.za","path":"/rfc/rfc1808.txt"}',
    ],
    [
      'http://www.ietf.org/rfc/rfc2396.txt',
      '{"scheme":"http","host":"www.ietf.org","path":"/rfc/rfc2396.txt"}',
    ],
    [
      'ldap://[2001:db8::7]/c=GB?objectClass?one',
      '{"scheme":"ldap","host":"2001:db8::7","path":"/c=GB","queryString":{"objectClass?one":""}}',
    ],
    ['mailto:John.Doe@example.com', '{"scheme":"mailto","path":"John.Doe@example.com"}'],
    [
      'news:comp.infosystems.www.servers.unix',
      '{"scheme":"news","path":"comp.infosystems.www.servers.unix"}',
    ],
    ['tel:+1-816-555-1212', '{"scheme":"tel","path":"+1-816-555-1212"}'],
    ['telnet://192.0.2.16:80/', '{"scheme":"telnet","host":"192.0.2.16","port":80,"path":"/"}'],
    [
      'urn:oasis:names:specification:docbook:dtd:xml:4.1.2',
      '{"scheme":"urn","path":"oasis:names:specification:docbook:dtd:xml:4.1.2"}',
    ],
    [
      'foo://example.com:8042/over/there?name=ferret#nose',
      '{"scheme":"foo","host":"example.com","port":8042,"path":"/over/there","queryString":{"name":"ferret"},"fragment":"nose"}',
    ],
    [
      'HTTP://User:Secret@EXAMPLE.com/%7Efoo',
      '{"scheme":"http","user":"User","host":"example.com","path":"/%7Efoo"}',
    ],
    ['http://a@b@c/', '{"scheme":"http","user":"a@b","host":"c","path":"/"}'],
    ['http://:pw@c', '{"scheme":"http","host":"c"}'],
    ['http://[::1]:8080', '{"scheme":"http","host":"::1","port":8080}'],
    ['http://example.com:/', '{"scheme":"http","host":"example.com","path":"/"}'],
    ['http://example.com:99999/', '{"scheme":"http","host":"example.com:99999","path":"/"}'],
    ['file:///etc/hosts', '{"scheme":"file","path":"/etc/hosts"}'],
    ['//cdn.example.com/a.js', '{"host":"cdn.example.com","path":"/a.js"}'],
    ['/a/b?x=1&x=2', '{"path":"/a/b","queryString":{"x":["1","2"]}}'],
    ['?x=1', '{"queryString":{"x":"1"}}'],
    ['#top', '{"fragment":"top"}'],
    ['a/b.html', '{"path":"a/b.html"}'],
    ['example.com:443', '{"host":"example.com","port":443}'],
    ['localhost:8080/x', '{"host":"localhost","port":8080,"path":"/x"}'],
    ['*', '{"path":"*"}'],
    [
      ' http://example.com/a b?c d=e f ',
      '{"scheme":"http","host":"example.com","path":"/a b","queryString":{"c d":"e f"}}',
    ],
    ['C:\\logs\\a.txt', '{"path":"C:\\\\logs\\\\a.txt"}'],
    ['http://', '{"scheme":"http"}'],
    ['not a url', 'none'],
    ['', 'none'],
    ['   ', 'none'],
    ['?', 'none'],
    ['#', 'none'],
    ['?&&', 'none'],
  ] as const) {
    t.equal(urlText(url), expected, url);
  }
});

t.test('query strings are decoded, with and without their mark', async (t) => {
  for (const [text, expected] of [
    ['a=1&b=2', '{"a":"1","b":"2"}'],
    ['?a=1', '{"a":"1"}'],
    ['?a', '{"a":""}'],
    ['a=b=c', '{"a":"b=c"}'],
    ['a=1+2%2B3', '{"a":"1 2+3"}'],
    ['q=%E6%97%A5&%C3%A9=1', '{"q":"日","é":"1"}'],
    ['q=日+%', '{"q":"日 %"}'],
    ['q=%ff', '{"q":"\ufffd"}'],
    ['q=%ed%a0%80', '{"q":"\ufffd\ufffd\ufffd"}'],
    ['__proto__=x&toString=y&a=1&a=&a=2', '{"__proto__":"x","toString":"y","a":["1","","2"]}'],
    ['text', 'none'],
    ['=x', 'none'],
    ['', 'none'],
  ] as const) {
    t.equal(queryText(text), expected, text);
  }
  const many = queries.extract(Array.from({ length: 3000 }, (_, place) => `n${place}=1`).join('&'));
  t.equal(many?.attributes.size, 1000, 'parameters have an end');
});

t.test('a query string that URLSearchParams writes is read as it reads it', async () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme' })),
        {
          minLength: 1,
        },
      ),
      (pairs) => {
        const text = new URLSearchParams(pairs).toString();
        const expected = new Map<string, string[]>();
        for (const [name, value] of new URLSearchParams(text))
          expected.set(name, [...(expected.get(name) ?? []), value]);
        const members = [...expected].map(
          ([name, values]) =>
            `${JSON.stringify(name)}:${JSON.stringify(values.length === 1 ? values[0] : values)}`,
        );
        return queryText(text) === `{${members.join(',')}}`;
      },
    ),
  );
});

t.test('web URLs have the parts that the URL class of the platform finds', async () => {
  fc.assert(
    fc.property(
      fc.webUrl({
        withFragments: true,
        withQueryParameters: true,
        authoritySettings: { withPort: true, withUserInfo: true },
      }),
      (text) => {
        const url = new URL(text);
        const parts = urls.extract(text)?.attributes;
        return (
          `${parts?.get('scheme')}:` === url.protocol &&
          parts?.get('host') === url.hostname &&
          (url.port === '' || parts?.get('port') === Number(url.port)) &&
          ((parts?.get('path') ?? '/') === url.pathname ||
            text.includes('%') ||
            /\/\.{1,2}(\/|$|[?#])/.test(text))
        );
      },
    ),
    { numRuns: 1000 },
  );
});

t.test('any text is read or refused, and gives strings that are well formed', async () => {
  const piece = fc.constantFrom(
    'http',
    ':',
    '/',
    '//',
    '?',
    '#',
    '[',
    ']',
    '@',
    '%',
    '%41',
    '&',
    '=',
    ' ',
    '8',
    '+',
    'é',
    '\0',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (any) => {
      const formed = any.toWellFormed();
      return urlText(formed).isWellFormed() && queryText(formed).isWellFormed();
    }),
    { numRuns: 3000 },
  );
});
