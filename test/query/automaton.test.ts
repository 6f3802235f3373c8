import fc from 'fast-check';
import t from 'tap';
import { Pattern } from '../../engine/base/pattern.ts';
import { readPattern } from '../../engine/base/pattern-text.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { automatonOf, ByteAutomaton } from '../../engine/query/filter/automaton.ts';
import { LiteralFinder } from '../../engine/query/filter/literal.ts';
import { FOUND, findInEach, UNSURE } from '../../engine/query/filter/search-kernel.ts';

/** Patterns as automata of one state at a time match what the automaton of RE2 matches. */

t.beforeEach(() => useKernels('checked'));
t.teardown(() => useKernels('fast'));

const atom = fc.constantFrom(
  'a',
  'b',
  '[ab]',
  '.',
  '\\w',
  '\\s',
  ' ',
  '\\.',
  '[^a]',
  '/',
  '\u00e9',
);
const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?');
const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  piece: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(atom, repeat).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), repeat).map(([inner, times]) => `(${inner})${times}`),
    fc.tuple(tie('pattern'), tie('pattern')).map((sides) => `(?:${sides.join('|')})`),
    tie('pattern').map((inner) => `(?i:${inner})`),
  ),
}));
const ascii = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', ' ', '\n', '.', '/'),
  maxLength: 12,
});
const text = fc.oneof(
  ascii,
  fc.string({ unit: fc.constantFrom('a', 'b', '\u00e9'), maxLength: 4 }),
);

/** Verdicts of the kernel on texts: `undefined` where it is unsure. */
function byKernel(automaton: ByteAutomaton, texts: readonly string[], literal?: string) {
  const all = texts.map((one) => Buffer.from(one));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of all.entries()) offsets[at + 1] = offsets[at] + length;
  const finder = literal === undefined ? undefined : new LiteralFinder(Buffer.from(literal));
  const found = findInEach({ bytes: Buffer.concat(all), offsets }, { automaton, finder });
  return texts.map((_, at) => (found?.[at] === UNSURE ? undefined : found?.[at] === FOUND));
}

t.test(
  'an automaton matches the texts that RE2 matches, and knows what it cannot tell',
  async (t) => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 12 }), (source, texts) => {
        const one = new Pattern(readPattern(source));
        const automaton = ByteAutomaton.of(one.program);
        fc.pre(automaton !== undefined);
        const wanted = texts.map((each) => one.matchByAutomaton(each));
        const plain = texts.map((each) => {
          const bytes = Buffer.from(`x${each}y`);
          return automaton.match(bytes, 1, bytes.length - 1);
        });
        const found = byKernel(automaton, texts);
        const together = byKernel(automaton, texts.filter(isPlain));
        for (const [at, known] of [...plain, ...found].entries()) {
          if (known === undefined && !isPlain(texts[at % texts.length])) continue;
          t.equal(known, wanted[at % texts.length], `${source} ${texts[at % texts.length]}`);
        }
        t.same(
          together,
          wanted.filter((_, at) => isPlain(texts[at])),
        );
      }),
      { numRuns: 300 },
    );
  },
);

function isPlain(each: string): boolean {
  return Buffer.byteLength(each) === each.length;
}

t.test('where a literal is looked for too, texts without it are none', async (t) => {
  const one = new Pattern(readPattern('.*cart.*[0-4]'));
  const automaton = ByteAutomaton.of(one.program);
  t.ok(automaton);
  if (automaton === undefined) return;
  const texts = ['a cart 3', 'a CART 3', 'cart', 'cart9', '', 'x3', '\u00e9cart3'];
  t.same(byKernel(automaton, texts, 'cart'), [true, false, false, false, false, false, undefined]);
});

t.test('the end of a text decides as soon as nothing else can', async (t) => {
  const { program } = new Pattern(readPattern('/[a-m][a-z]+/.*[02468]'));
  const { stops, accepts } = ByteAutomaton.of(program)?.tables ?? { stops: 0, accepts: [] };
  t.equal(stops, 3, 'the dead state, and those behind the second slash');
  t.equal(accepts.filter((each) => each > 0).length, 1);
});

t.test('borders of words and lines, and very many states, are left to RE2', async (t) => {
  for (const source of ['a\\b.*', '(?m:^a$)', '.*a.{9}']) {
    t.equal(ByteAutomaton.of(new Pattern(readPattern(source)).program), undefined, source);
  }
});

t.test('what is looked at to make an automaton is bounded', async (t) => {
  for (const source of ['(.?){122}', '(?:.?\\w?){60}x', '(?:a?b?c?d?){28}', '(?i:[a-y]?){120}']) {
    const { inst, start } = new Pattern(readPattern(source)).program;
    let looks = 0;
    const counting = new Proxy(inst, {
      get: (all, place) => {
        looks++;
        return Reflect.get(all, place);
      },
    });
    ByteAutomaton.of({ inst: counting, start });
    t.ok(looks < 50_000, `${looks} looks at ${inst.length} instructions of ${source}`);
  }
});

t.test('an automaton is made once for a pattern', async (t) => {
  const made = (source: string): ByteAutomaton | undefined =>
    automatonOf(new Pattern(readPattern(source)));
  t.equal(made('ab+c'), made('ab+c'));
  t.equal(made('.*a.{9}'), undefined);
  t.equal(made('.*a.{9}'), undefined);
  const first = made('ab+c');
  for (let at = 0; at < 40; at++) made(`ab{${at + 1}}`);
  t.not(made('ab+c'), first);
});
