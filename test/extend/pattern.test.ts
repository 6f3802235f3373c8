import fc from 'fast-check';
import t from 'tap';
import { Pattern } from '../../engine/base/pattern.ts';
import type { PatternText } from '../../engine/base/pattern-text.ts';
import {
  hasLiterals,
  PATTERN_CHARACTERS_MAX,
  PatternError,
  readPattern,
} from '../../engine/base/pattern-text.ts';

/** Error of a pattern that is refused, with its offset. */
function refusal(pattern: string): string {
  try {
    new Pattern(readPattern(pattern));
  } catch (error) {
    if (error instanceof PatternError) return `${error.at}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

/** True when the native matcher takes a pattern. */
function isNative(read: PatternText): boolean {
  const { steps, size } = new Pattern(read);
  return steps < size;
}

/** A pattern with a capture around each `<...>` of `pattern`. */
function capturing(pattern: string): PatternText {
  return readPattern(pattern.replaceAll('<', '%{').replaceAll('>', '}'), (at) => {
    const whole = pattern.replaceAll('<', '%{').replaceAll('>', '}');
    const end = whole.indexOf('}', at) + 1;
    const read = readPattern(whole.slice(at + 2, end - 1));
    const native = read.native === undefined ? undefined : `(${read.native})`;
    return { ...read, source: `(${read.source})`, native, captures: true, end };
  });
}

t.test('what no automaton can do is refused, with its name and place', async (t) => {
  const reason = 'is not supported: patterns run in linear time';
  const table: [string, string][] = [
    ['ab(?=c)', `2: look-ahead (?=...) ${reason}`],
    ['(?!c)', `0: look-ahead (?!...) ${reason}`],
    ['x(?<=c)', `1: look-behind (?<=...) ${reason}`],
    ['x(?<!c)', `1: look-behind (?<!...) ${reason}`],
    ['(?>a)', `0: atomic group (?>...) ${reason}`],
    ['(a)\\1', `3: back-reference \\1 ${reason}`],
    ['(a)\\k<b>', `3: back-reference \\k ${reason}`],
    ['(?P=b)', `0: back-reference (?P=...) ${reason}`],
    ['a*+b', '1: two repeats in a row, and possessive ones, are not supported'],
    ['(?P<n>a)', '0: a named group is not supported: write %{regex("..."):name}'],
    ['(?<n>a)', '0: a named group is not supported: write %{regex("..."):name}'],
    ['a(b', '1: the group "(" is not closed'],
    ['ab)', '2: ")" closes no group'],
    ['a[b', '1: the class "[" is not closed'],
    ['*a', '0: "*" repeats nothing'],
    ['a|+b', '2: "+" repeats nothing'],
    ['a\\', '1: the pattern ends with "\\"'],
    ['a{3,2}', '1: "{3,2}": counts go from the smaller to the larger, up to 1000'],
    ['a{1001}', '1: "{1001}": counts go from the smaller to the larger, up to 1000'],
    ['(?x)a', '0: unknown flags "x": allowed are i, m, s and U'],
    ['\ud800', '0: the pattern is not well-formed Unicode'],
  ];
  for (const [pattern, expected] of table) t.equal(refusal(pattern), expected, pattern);
  t.equal(refusal('(?:a|b)+[c-f]{2,3}?\\d\\Qa.b\\E(?i:x)\\pL[[:alpha:]]\\x{e9}'), 'accepted');
});

t.test('patterns that would take much memory are refused', async (t) => {
  const tooLarge =
    'the pattern is too large here: its parts, repeats multiplied out, are more than 4000';
  t.match(refusal('(x{1000}){1000}'), tooLarge);
  t.match(refusal('((a{100}){100}){100}'), tooLarge);
  t.match(refusal('(((((a{9}){9}){9}){9}){9}){9}'), tooLarge);
  t.match(refusal(`(?:${'a'.repeat(500)}){9}`), tooLarge);
  t.match(refusal('a'.repeat(PATTERN_CHARACTERS_MAX + 1)), 'at most 4096 are allowed');
  t.match(refusal('('.repeat(200)), 'groups stand more than 100 deep');
  t.equal(refusal('x{1000}'), 'accepted');
});

t.test('the time of a match grows with the text, whatever the pattern', async (t) => {
  const smallCount = 2 ** 17;
  const factor = 8;
  const cpuOf = (pattern: Pattern, text: string): number => {
    const before = process.cpuUsage().user;
    t.equal(pattern.match(text), false);
    return process.cpuUsage().user - before;
  };
  for (const source of ['(a+)+', '(a|a)*b', '(a*)*c', '.*.*.*x', '(?:a+a+)+y']) {
    const pattern = new Pattern(readPattern(source));
    const small = `${'a'.repeat(smallCount)}!`;
    const large = `${'a'.repeat(smallCount * factor)}!`;
    cpuOf(pattern, small);
    const smallMicros = cpuOf(pattern, small);
    const largeMicros = cpuOf(pattern, large);
    // Quadratic growth would be a factor of 64.
    t.ok(
      largeMicros < 30 * Math.max(smallMicros, 2_000),
      `${source}: ${smallMicros}, ${largeMicros}`,
    );
  }
});

t.test('the native matcher takes no pattern that could go back far', async (t) => {
  const risky = [
    ...['(a+)+', '(a*)*', '(a|a)*b', '(a|ab)*', '(?:ab|ac)*', 'a*a*b', '(a{0,3}){0,3}', '.*x.*y'],
    ...['.*[a-z]+/', '[a-z]*[x/]b+', '[^b]*ab*', '.*a?', '.*(ab)', '.+?x'],
    ...['(?i)abc', '\\pL+', '(^|a)*', '(a|)*b', '(?:(?:a?){9}){9}'],
  ];
  for (const source of risky) t.equal(isNative(readPattern(source)), false, source);
  const harmless = ['/[a-m][a-z]+/.*[02468]', '.*x.*', '[^/]*/\\w+[ab].', '.*\\.png'];
  for (const source of ['[^"]*" x', '\\S+ \\d+ .*', 'a(b|c)?d{2,3}', ...harmless]) {
    t.equal(isNative(readPattern(source)), true, source);
  }
});

t.test('both matchers find the same, and the native one never goes back far', async (t) => {
  const atom = fc.constantFrom('a', 'b', '[ab]', '.', '\\w', '\\s', ' ', 'é', '\\.', '[^a]', '😀');
  const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '??');
  const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
    pattern: fc
      .array(tie('piece'), { minLength: 1, maxLength: 4 })
      .map((pieces) => pieces.join('')),
    piece: fc.oneof(
      { depthSize: 'small' },
      fc.tuple(atom, repeat).map((both) => both.join('')),
      fc.tuple(tie('pattern'), repeat).map(([inner, count]) => `(${inner})${count}`),
      fc
        .tuple(tie('pattern'), tie('pattern'), repeat)
        .map(([a, b, count]) => `(${a}|${b})${count}`),
      fc.tuple(atom, repeat).map(([inner, count]) => `<${inner}+>${count.slice(0, 1)}`),
    ),
  }));
  const text = fc.string({
    unit: fc.constantFrom('a', 'a', 'a', 'b', ' ', '.', 'é', '😀', '\n'),
    maxLength: 80,
  });
  let nativeCount = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 5 }), (source, texts) => {
      let read: PatternText;
      try {
        read = capturing(source);
      } catch (error) {
        if (error instanceof PatternError) return;
        throw error;
      }
      const one = new Pattern(read);
      if (one.steps >= one.size) return;
      nativeCount++;
      // What matches must contain the literals, too.
      for (const each of [...texts, 'a'.repeat(70), 'ab', 'a b']) {
        const isMatch = one.match(each);
        const groups = [...Array(one.groupCount).keys()].map((index) => one.group(index + 1));
        t.equal(one.matchByAutomaton(each), isMatch, `${source} on ${each}`);
        if (!isMatch) continue;
        const same = [...Array(one.groupCount).keys()].map((index) => one.group(index + 1));
        t.same(groups, same, `${source} on ${each}`);
        t.ok(hasLiterals(each, read.literals), `${source}: ${read.literals}`);
      }
    }),
    { numRuns: 1_500 },
  );
  t.ok(nativeCount > 50, `${nativeCount} native patterns`);
});

t.test('both matchers find the same where the last repeat alone goes back', async (t) => {
  const atom = fc.constantFrom('a', 'b', '/', '[ab]', '[^/]', '.', '\\w', '\\s', '\\D', 'é', '😀');
  const item = fc.tuple(atom, fc.constantFrom('', '', '*', '+')).map((both) => both.join(''));
  const source = fc.array(item, { minLength: 1, maxLength: 6 }).map((items) => items.join(''));
  const unit = fc.constantFrom('a', 'a', 'b', '/', ' ', '7', 'é', '😀', '\n', '\ud800');
  let nativeCount = 0;
  fc.assert(
    fc.property(source, fc.array(fc.string({ unit, maxLength: 12 })), (pattern, texts) => {
      const read = readPattern(pattern);
      const one = new Pattern(read);
      if (one.steps === 1 || one.steps >= one.size) return;
      nativeCount++;
      for (const each of [...texts, '', 'a', 'a/', 'aab/b', '/a/b']) {
        t.equal(one.test(each), one.matchByAutomaton(each), `${pattern} on ${each}`);
      }
    }),
    { numRuns: 1_000 },
  );
  t.ok(nativeCount > 40, `${nativeCount} native patterns`);
});

t.test('the characters at the ends of a text refuse none that matches', async (t) => {
  const atom = fc.constantFrom('a', 'b', '/', '[ab]', '[^/]', '.', '\\w', '\\s', '\\D', '(a|b)');
  const item = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?')).map((both) => both.join(''));
  const source = fc.array(item, { maxLength: 5 }).map((items) => items.join(''));
  const unit = fc.constantFrom('a', 'a', 'b', '/', ' ', '7', '\n');
  let refused = 0;
  fc.assert(
    fc.property(source, fc.array(fc.string({ unit, maxLength: 8 })), (pattern, texts) => {
      const one = new Pattern(readPattern(pattern));
      for (const each of [...texts, '', 'a', 'a/', 'aab/b']) {
        const bytes = Buffer.from(`/${each}/`, 'latin1');
        if (one.mayMatch(bytes, 1, bytes.length - 1)) continue;
        refused++;
        t.notOk(one.matchByAutomaton(each), `${pattern} on ${each}`);
      }
    }),
    { numRuns: 500 },
  );
  t.ok(refused > 100, `${refused} texts are refused`);
});

t.test('the first bytes of a text refuse none that matches', async (t) => {
  const atom = fc.constantFrom(
    'a',
    'b',
    'é',
    '[ab]',
    '[^/]',
    '.',
    '\\d',
    '(a|bb|)',
    '(?i:k)',
    '^',
    '\\b',
  );
  const item = fc
    .tuple(atom, fc.constantFrom('', '', '', '*', '?', '{2}'))
    .map(([one, repeat]) => (one === '^' || one === '\\b' ? one : one + repeat));
  const source = fc.array(item, { maxLength: 10 }).map((items) => items.join(''));
  const unit = fc.constantFrom('a', 'a', 'b', '/', 'é', '7', 'K', '\u212a');
  let refused = 0;
  fc.assert(
    fc.property(source, fc.array(fc.string({ unit, maxLength: 10 })), (pattern, texts) => {
      const one = new Pattern(readPattern(pattern));
      for (const each of [...texts, '', 'a', 'ab7']) {
        const bytes = Buffer.from(`/${each}/`);
        const end = bytes.length - 1;
        const mayBegin = one.mayBegin(each === '' ? undefined : bytes[1]);
        if (mayBegin && one.mayBeginAs(bytes, 1, end)) continue;
        refused++;
        t.notOk(one.matchByAutomaton(each), `${pattern} on ${each}`);
      }
    }),
    { numRuns: 1_000 },
  );
  t.ok(refused > 100, `${refused} texts are refused`);
});

t.test('literals are found one behind the other, those of insets too', async (t) => {
  const inset = readPattern('-[0-9]+:\\w');
  const read = readPattern('a%{x} b%{x}?c(d|e)f*gh', (at) => ({
    ...inset,
    end: at + '%{x}'.length,
  }));
  t.same(read.literals, ['a', '-', ':', ' b', 'c', 'gh']);
  t.equal(hasLiterals('a-1:x bcdgh', read.literals), true);
  t.equal(hasLiterals('a:-1 bcdgh', read.literals), false, 'another order');
  t.equal(hasLiterals('a-1:x bcdg', read.literals), false);
  const once = readPattern('aba').literals;
  t.equal(hasLiterals('ab', once), false);
  t.equal(hasLiterals('ab', ['ab', 'b']), false, 'they do not overlap');
});

t.test('the literal of a pattern is in every text that matches', async (t) => {
  const table: [string, string][] = [
    ['abc', 'abc'],
    ['abc?d', 'ab'],
    ['a{0,2}bcd*', 'bc'],
    ['xy+z', 'xy'],
    ['ab|cdef', ''],
    ['(abc)x', 'x'],
    ['a\\.b\\d', 'a.b'],
    ['(?i)abc', ''],
    ['\\x41bc\\pLd', 'bc'],
    ['\\012345', '345'],
    ['x😀*', 'x'],
  ];
  for (const [source, literal] of table) t.equal(readPattern(source).literal, literal, source);
});
