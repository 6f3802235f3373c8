import fc from 'fast-check';
import t from 'tap';
import {
  plainEnd,
  plainEndOf,
  repairedText,
  skipBlanks,
  stringEnd,
  unescapeString,
  wholeCharactersEnd,
} from '../../server/decode/text.ts';
import { wtf8 } from '../support/row-text.ts';

/** The string whose inside, quote included, is `inside`; undefined when it is none. */
function unescaped(inside: string): string | undefined {
  const bytes = Buffer.from(inside);
  const end = stringEnd(bytes, 0, bytes.length);
  if (end < 0) return undefined;
  const target = new Uint8Array(bytes.length);
  return wtf8(target.subarray(0, unescapeString(bytes, 0, end, target, 0)));
}

t.test('escapes are undone', async (t) => {
  const table: [string, string | undefined][] = [
    ['"', ''],
    ['abc"def', 'abc'],
    ['\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['\\u0000\\u007f\\u0080\\u07ff\\u0800\\uffff"', '\u0000\u007f\u0080\u07ff\u0800\uffff'],
    ['\\uABCD\\uabcd"', '\uabcd\uabcd'],
    ['\\ud83d\\ude00"', '😀'],
    ['\\ud83d"', '\ud83d'],
    ['\\ud83d\\n"', '\ud83d\n'],
    ['\\ud83d\\u0041"', '\ud83dA'],
    ['\\ude00\\ud83d"', '\ude00\ud83d'],
    ['\\ud83d\\ud83d\\ude00"', '\ud83d😀'],
    ['', undefined],
    ['abc', undefined],
    ['\\"', undefined],
    ['\\x"', undefined],
    ['\\u12"', undefined],
    ['\\u12', undefined],
    ['\\u00g0"', undefined],
    ['\\u0{00"', undefined],
    ['\\u000{"', undefined],
    ['\\', undefined],
    ['a\u001fb"', undefined],
    ['a\nb"', undefined],
  ];
  for (const [inside, want] of table) t.equal(unescaped(inside), want, inside);
});

t.test('what is escaped comes back', async () => {
  const escaped = (text: string): string =>
    Array.from(
      { length: text.length },
      (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join('');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const well = text.toWellFormed();
      return (
        unescaped(`${JSON.stringify(well).slice(1)}`) === well &&
        unescaped(`${escaped(text)}"`) === text
      );
    }),
  );
});

t.test('blanks and plain runs end where they should', async (t) => {
  const bytes = Buffer.from(' \t\r\n\u000bx');
  t.equal(skipBlanks(bytes, 0, bytes.length), 4);
  t.equal(skipBlanks(bytes, 0, 2), 2);
  t.equal(plainEnd(Buffer.from('é~"'), 0, 4), 3);
  t.equal(plainEnd(Buffer.from('ab\\'), 0, 3), 2);
  t.equal(plainEnd(Buffer.from('abc"'), 0, 2), 2);
});

t.test('a cut never leaves half a character, nor takes a whole one', async (t) => {
  for (const text of ['aé', 'a€', 'a😀', 'é€😀x', 'abc']) {
    const bytes = Buffer.from(text);
    for (let end = 0; end <= bytes.length; end++) {
      const whole = wholeCharactersEnd(bytes, 0, end);
      const kept = bytes.subarray(0, whole).toString();
      t.ok(text.startsWith(kept) && !kept.includes('\ufffd'), `${text} cut at ${end}`);
      t.ok(end - whole < 4 && (whole < end || bytes.subarray(0, end).toString() === kept));
    }
  }
});

t.test('a repaired text is what a browser would show', async () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const shown = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
      return Buffer.from(repairedText(bytes, 0, bytes.length)).toString() === shown;
    }),
  );
});

t.test('the end of a plain text is the same by words as by bytes', async (t) => {
  const byte = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc),
  );
  const texts = fc.array(byte, { maxLength: 20 });
  const property = fc.property(texts, fc.nat(4), fc.nat(20), (bytes, start, length) => {
    const text = Uint8Array.from(bytes);
    const at = Math.min(start, text.length);
    const end = Math.min(at + length, text.length);
    return plainEndOf(new DataView(text.buffer), at, end) === plainEnd(text, at, end);
  });
  fc.assert(property, { numRuns: 20_000 });
  t.pass('20,000 texts');
});
