import fc from 'fast-check';
import t from 'tap';
import { EmbeddedJsonExtractor } from '../../server/extend/embedded-json.ts';
import { attributesText } from '../support/attributes-text.ts';

const extractor = new EmbeddedJsonExtractor();
const textOf = (text: string): string => attributesText(extractor.extract(text)?.attributes);

t.test('an object that is the text or stands in it is found', async (t) => {
  for (const [text, expected] of [
    ['{"a":1}', '{"a":1}'],
    ['  {"a" : 1 , "b" : [ true , null ] }  ', '{"a":1,"b":[true,null]}'],
    ['2015-12-15 INFO web {"a":1}', '{"a":1}'],
    ['{"a":1} took 3 ms', '{"a":1}'],
    ['set {x} {"a":1} {"b":2}', '{"a":1}'],
    ['{not json {"a":1}', '{"a":1}'],
    ['{} then {"a":1}', '{"a":1}'],
    ['{"bad" {"a":1}', '{"a":1}'],
    [
      '{"n":0.610,"b":12345678901234567890,"e":-1E5,"z":-0}',
      '{"n":0.610,"b":12345678901234567890,"e":-1E5,"z":-0}',
    ],
    ['{"a":1,"b":2,"a":{"c":3}}', '{"a":{"c":3},"b":2}'],
    ['{"a.b":1,"":2,"__proto__":{"x":1}}', '{"a.b":1,"":2,"__proto__":{"x":1}}'],
    ['{"s":"\\"\\\\\\/\\n\\u00e9\\ud83d\\ude00é"}', '{"s":"\\"\\\\/\\né😀é"}'],
    ['{"o":{},"l":[],"m":[{"x":[1]}],"f":false}', '{"o":{},"l":[],"m":[{"x":[1]}],"f":false}'],
    ['{"a":{"b":1}', 'none'],
    ['half of one: {"a":1,"list":[{"b":2},{"c":', 'none'],
    ['{}', 'none'],
    ['[1,2]', 'none'],
    ['{"a":01}', 'none'],
    ['{"a":1,}', 'none'],
    ["{'a':1}", 'none'],
    ['{"b":x} {"b":x} {"b":x} {"a":1}', '{"a":1}'],
    ['{"b":x} {"b":x} {"b":x} {"b":x} {"a":1}', 'none'],
    ['text', 'none'],
    ['', 'none'],
  ] as const) {
    t.equal(textOf(text), expected, text);
  }
});

t.test('what lies deeper than 20 levels is text', async (t) => {
  const nested = (open: string, close: string, count: number): string =>
    open.repeat(count) + close.repeat(count);
  t.equal(
    textOf(`{"a":${nested('[', ']', 19)}}`),
    `{"a":${nested('[', ']', 19)}}`,
    '20 levels are kept',
  );
  t.equal(
    textOf(`{"a":${nested('[', ']', 25)}}`),
    `{"a":${'['.repeat(19)}"${nested('[', ']', 6)}"${']'.repeat(19)}}`,
  );
  const deep = textOf(`x ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  t.ok(deep.startsWith('{"a":{"a":') && deep.length > 500_000, 'however deep');
  t.equal(textOf('{"a":'.repeat(100_000)), 'none');
  t.equal(textOf('{"'.repeat(100_000)), 'none');
});

t.test('a lone surrogate becomes the character for what is not text', async (t) => {
  const found = extractor.extract('{"a":"\\ud800x"}')?.attributes.get('a');
  t.ok(typeof found === 'string' && found.isWellFormed() && found.endsWith('x'));
});

t.test('any object comes back from wherever it stands', async () => {
  const outside = fc.stringMatching(/^[^{]{0,20}$/);
  fc.assert(
    fc.property(
      outside,
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }), {
        minKeys: 1,
      }),
      fc.constantFrom(0, 2),
      fc.string(),
      (before, object, indent, behind) => {
        const json = JSON.stringify(object, null, indent);
        return textOf(before + json + behind) === JSON.stringify(JSON.parse(json));
      },
    ),
    { numRuns: 1000 },
  );
});

t.test('any text is read or refused, and gives strings that are well formed', async () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '"',
    '[',
    ']',
    ':',
    ',',
    '1',
    'a',
    '\\',
    '\\u',
    'true',
    ' ',
    '{"a":',
    '\n',
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
