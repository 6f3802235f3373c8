import fc from 'fast-check';
import t from 'tap';
import { parseDateForm } from '../../engine/column/date-form.ts';
import { Kind } from '../../engine/column/kind.ts';
import { compilePattern, matchesPattern } from '../../engine/query/filter/pattern.ts';
import { WordsTest } from '../../engine/query/filter/printed-test.ts';
import { encodeText, SAME } from '../../engine/query/filter/text.ts';
import { keepsLetters, WordSequence } from '../../engine/query/filter/word.ts';
import type { Pattern } from '../../engine/query/model/predicate.ts';
import { holds, parseNode } from '../support/model.ts';

/** A pattern from a text in which `*` and `?` are wildcards. */
function patternOf(text: string): Pattern {
  return text
    .split(/([*?])/)
    .filter((piece) => piece !== '')
    .map((piece) => (piece === '*' || piece === '?' ? { wildcard: piece } : { literal: piece }));
}

function hasWords(text: string, words: string[]): boolean {
  const bytes = encodeText(text);
  return new WordSequence(words.map(patternOf)).matches(
    bytes,
    0,
    bytes.length,
    keepsLetters(bytes),
  );
}

t.test('words are whole, in sequence and without case', async (t) => {
  const cases: [string, string[], boolean][] = [
    ['GET /index.html', ['get'], true],
    ['GET /index.html', ['index', 'html'], true],
    ['GET /index.html', ['get', 'html'], false],
    ['GET /index.html', ['inde'], false],
    ['GET /index.html', ['inde*'], true],
    ['GET /index.html', ['ind?x', '*ml'], true],
    ['a_b-c', ['a_b'], true],
    ['a_b-c', ['a'], false],
    ['a b a b c', ['a', 'b', 'c'], true],
    ['', ['*'], false],
    ['--', ['*'], false],
    ['x', ['*'], true],
    ['Überraschung', ['überraschung'], true],
    ['Überraschung', ['?berr*'], true],
    ['fooé', ['foo'], false],
    ['e\u0301te\u0301', ['e\u0301te\u0301'], true],
    ['日本語 text', ['日本語'], true],
    ['日本語 text', ['日'], false],
    ['ΟΔΟΣ', ['οδος'], true],
    ['\u212a', ['k'], true],
    ['İ', ['?'], false],
    ['İ', ['i*'], true],
    ['x😀y', ['x', 'y'], true],
    ['𝒳', ['?'], true],
    ['٣', ['٣'], true],
    ['a\ud800b', ['a', 'b'], true],
  ];
  for (const [text, words, wanted] of cases) {
    t.equal(hasWords(text, words), wanted, `${JSON.stringify(text)} has ${words.join(' ')}`);
  }
});

const textPart = fc.constantFrom(
  'a',
  'B',
  'ab',
  '_',
  '-',
  ' ',
  'é',
  'É',
  'İ',
  'Σ',
  'σ',
  '字',
  '1',
  '😀',
  '\u0301',
);
const randomText = fc.array(textPart, { maxLength: 12 }).map((parts) => parts.join(''));
const wordText = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'é', 'σ', 'ς', '字', '1', '*', '?', 'i̇'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

t.test('words are found as by the model', async () => {
  fc.assert(
    fc.property(randomText, fc.array(wordText, { minLength: 1, maxLength: 3 }), (text, words) => {
      const message = parseNode(JSON.stringify({ message: text }));
      const wanted = holds({ type: 'words', words: words.map(patternOf) }, message);
      return hasWords(text, words) === wanted;
    }),
    { numRuns: 2_000 },
  );
});

t.test('patterns match whole texts, case-sensitively, a ? being one code point', async (t) => {
  const cases: [string, string, boolean][] = [
    ['', '', true],
    ['', '*', true],
    ['', '?', false],
    ['abc', 'a*c', true],
    ['abc', 'A*', false],
    ['abc', 'ab', false],
    ['😀', '?', true],
    ['😀', '??', false],
    ['é😀字', '?*?', true],
    ['aXbXc', '*X?', true],
    ['aab', '*ab', true],
    ['\ud800', '?', true],
    ['a*b', 'a*b', true],
  ];
  for (const [text, pattern, wanted] of cases) {
    const bytes = encodeText(text);
    const found = matchesPattern(compilePattern(patternOf(pattern)), bytes, 0, bytes.length, SAME);
    t.equal(found, wanted, `${JSON.stringify(text)} is as ${pattern}`);
  }
});

t.test('a pattern of many wildcards costs pattern times text at most', async (t) => {
  const bytes = encodeText('a'.repeat(20_000));
  const tokens = compilePattern(patternOf(`${'*a'.repeat(20)}*b`));
  t.notOk(matchesPattern(tokens, bytes, 0, bytes.length, SAME));
});

t.test('dates of all forms are found by each of their words', async (t) => {
  for (const separator of ['T', ' ']) {
    for (const fraction of ['', '.123', '.123456']) {
      for (const zone of ['', 'Z', '+02:00', '-0530']) {
        const text = `2026-11-23${separator}10:07:05${fraction}${zone}`;
        const bytes = encodeText(text);
        const found = { form: 0, value: 0, timeMs: 0 };
        t.ok(parseDateForm(bytes, 0, bytes.length, found), text);
        const column = {
          kind: Kind.DATE,
          presence: Uint32Array.of(1),
          values: Float64Array.of(found.value),
          forms: Uint16Array.of(found.form),
        };
        const has = (...words: string[]): boolean => {
          const test = new WordsTest(new WordSequence(words.map(patternOf)));
          return test.dates(column, Uint32Array.of(1))[0] === 1;
        };
        const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
        for (const word of words) {
          t.ok(has(word), `${word} in ${text}`);
          t.ok(has(`${word.slice(0, 1)}*`));
        }
        t.ok(has(...words));
        for (const other of ['12345', '1234567', 'z', '2026z']) t.notOk(has(other), other);
      }
    }
  }
});
