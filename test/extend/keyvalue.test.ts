import fc from 'fast-check';
import t from 'tap';
import { KeyValueExtractor } from '../../server/extend/keyvalue.ts';
import { attributesText } from '../support/attributes-text.ts';

const extractor = new KeyValueExtractor();
const textOf = (text: string): string => attributesText(extractor.extract(text)?.attributes);

t.test('pairs of a text become attributes, by the rules of syslog texts', async (t) => {
  for (const [text, expected] of [
    [
      'user=john connect_date=11/08/2017 id=123 action=click',
      '{"user":"john","connect_date":"11/08/2017","id":123,"action":"click"}',
    ],
    [
      'level=info msg="started \\"web\\" on C:\\\\x" took=0.610s n=0.610',
      '{"level":"info","msg":"started \\"web\\" on C:\\\\x","took":"0.610s","n":0.610}',
    ],
    ["a='x y' b=<x y>", '{"a":"x y","b":"x y"}'],
    ['a=1,b=2;c=3', '{"a":1,"b":2,"c":3}'],
    [
      'big=12345678901234567890 e=1e3 neg=-0 oct=007',
      '{"big":12345678901234567890,"e":1e3,"neg":-0,"oct":"007"}',
    ],
    ['n="5"', '{"n":"5"}'],
    ['a=1 b=2 a=3', '{"a":3,"b":2}'],
    ['a= b=null c=="x" d=1', '{"d":1}'],
    ['größe=12 ort="Köln \\\\ Süd" x=é', '{"größe":12,"ort":"Köln \\\\ Süd","x":"é"}'],
    ['http.verb=GET @marker=x', '{"http.verb":"GET","@marker":"x"}'],
    ['__proto__=1 constructor=2', '{"__proto__":1,"constructor":2}'],
    ['filterlog: src=10.0.0.1 blocked', '{"src":"10.0.0.1"}'],
    ['a="never closed', '{"a":"\\"never"}'],
    ['no pairs here', 'none'],
    ['1 = 2', 'none'],
    ['', 'none'],
  ] as const) {
    t.equal(textOf(text), expected, text);
  }
});

t.test('pairs that were written come back', async () => {
  const name = fc.stringMatching(/^[a-z_@][\w.@-]{0,8}$/);
  const value = fc.oneof(
    fc.stringMatching(/^[a-z/:é][a-z0-9/:é]{0,8}$/).filter((text) => text !== 'null'),
    fc.nat(),
  );
  const quoted = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value, quoted), { minLength: 1 }), (triples) => {
      const expected = new Map<string, string>();
      const words: string[] = [];
      for (const [key, plain, inner] of triples) {
        words.push(`${key}=${plain}`, `q${key}="${inner.replace(/["\\]/g, '\\$&')}"`);
        expected.set(key, JSON.stringify(plain));
        expected.set(`q${key}`, JSON.stringify(inner));
      }
      const members = [...expected].map(([key, text]) => `${JSON.stringify(key)}:${text}`);
      return textOf(words.join(' ')) === `{${members.join(',')}}`;
    }),
  );
});

t.test('any text is read or refused, and gives strings that are well formed', async () => {
  const piece = fc.constantFrom(
    'a',
    '=',
    '"',
    "'",
    '<',
    '>',
    ' ',
    ',',
    '\\',
    'é',
    '1',
    '\ud83d\ude00',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (any) => textOf(any.toWellFormed()).isWellFormed()),
    { numRuns: 3000 },
  );
});
