import fc from 'fast-check';
import t from 'tap';
import { checkGrok, GrokExtractor } from '../../server/extend/grok.ts';
import { GrokError } from '../../server/extend/grok-rule.ts';
import { attributesText } from '../support/attributes-text.ts';

function refusal(rules: string, helperRules = ''): string {
  try {
    checkGrok(rules, helperRules);
  } catch (error) {
    if (error instanceof GrokError) return error.message;
    throw error;
  }
  return 'accepted';
}

function found(rules: string, text: string, helperRules = ''): string {
  const extraction = new GrokExtractor(rules, helperRules).extract(text);
  return extraction === undefined
    ? 'none'
    : `${extraction.rule} ${attributesText(extraction.attributes)}`;
}

t.test('a rule holds for the whole text, and the first one that matches wins', async (t) => {
  const rules = [
    '# logins',
    'login user:%{word:user} connected on %{date("MM/dd/yyyy"):connect_date}',
    '',
    '  logout\tuser:%{word:user} left  ',
    'other user:%{data:rest}',
  ].join('\r\n');
  t.equal(
    found(rules, 'user:john connected on 11/08/2017'),
    'login {"user":"john","connect_date":1510099200000}',
  );
  t.equal(found(rules, 'user:john left'), 'logout {"user":"john"}');
  t.equal(found(rules, 'user:john left us'), 'other {"rest":"john left us"}');
  t.equal(found(rules, ' user:john left'), 'none');
  t.equal(found('', 'user:john left'), 'none');
});

t.test('alternatives, optional parts and helper rules', async (t) => {
  const helpers = 'who (%{ipv4:ip}|%{word:name})\nwhen at %{integer:hour}(:%{integer:minute})?h';
  const rules = 'seen %{who}( \\(%{notSpace:role}\\))? was seen %{when:when}';
  t.equal(
    found(rules, '10.0.0.1 (root) was seen at 7:30h', helpers),
    'seen {"ip":"10.0.0.1","role":"root","when":"at 7:30h","hour":7,"minute":30}',
  );
  t.equal(
    found(rules, 'john was seen at 7h', helpers),
    'seen {"name":"john","when":"at 7h","hour":7}',
  );
  t.equal(found('a x\nb %{a}%{word:w}', 'xy'), 'b {"w":"y"}', 'a rule may use another one');
});

t.test('a name that is extracted twice gets an array', async (t) => {
  t.equal(found('r %{word:a} %{integer:a} %{word:a}', 'x 1 y'), 'r {"a":["x",1,"y"]}');
  t.equal(found('r (%{integer:a}|%{word:a})', 'x'), 'r {"a":"x"}');
  t.equal(found('r %{word:a} %{data::keyvalue}', 'x a=1'), 'r {"a":["x",1]}');
});

t.test('names of strangers are attributes and nothing else', async (t) => {
  t.equal(
    found('r %{word:__proto__} %{word:constructor}', 'a b'),
    'r {"__proto__":"a","constructor":"b"}',
  );
  t.equal(found('r %{data::keyvalue(":")}', '__proto__:1'), 'r {"__proto__":1}');
  t.match(refusal('r %{toString:x}'), /unknown matcher or rule "toString"/);
  t.match(refusal('r %{word:x:__proto__}'), /unknown filter "__proto__"/);
});

t.test('what is wrong with a rule is said with its name, line and character', async (t) => {
  const table: [string, string][] = [
    [
      '\n\nr %{wrd:x}',
      'rule "r" (line 3 of the rules), character 3: unknown matcher or rule "wrd": did you mean word?',
    ],
    [
      'r %{word:x:nmber}',
      'rule "r" (line 1 of the rules), character 10: unknown filter "nmber": did you mean number?',
    ],
    [
      'r a(?=b)',
      'rule "r" (line 1 of the rules), character 2: look-ahead (?=...) is not supported: patterns run in linear time',
    ],
    [
      'r %{regex("a(?!b)"):x}',
      'rule "r" (line 1 of the rules), character 11: look-ahead (?!...) is not supported: patterns run in linear time',
    ],
    [
      'r x%{word:x',
      'rule "r" (line 1 of the rules), character 10: ":" or "}" is expected in "%{word:x", but the pattern ends',
    ],
    [
      'r %{}',
      'rule "r" (line 1 of the rules), character 3: the name of a matcher or a rule is expected in "%{}", but "}" stands there',
    ],
    [
      'r %{word::number}',
      'rule "r" (line 1 of the rules), character 9: filter number needs the name of an attribute before it: %{word:name:number}',
    ],
    [
      'r %{regex("a):x}',
      'rule "r" (line 1 of the rules), character 9: the text that begins with " is not closed',
    ],
    [
      'r %{word(1):x}',
      'rule "r" (line 1 of the rules), character 3: word takes 0 arguments, not 1',
    ],
    [
      'r %{date(1):x}',
      'rule "r" (line 1 of the rules), character 8: an argument of date is a quoted text',
    ],
    [
      'r %{word:a..b}',
      'rule "r" (line 1 of the rules), character 8: the attribute\'s name "a..b" has an empty step between its dots',
    ],
    [
      'r %{word:x:scale("2")}',
      'rule "r" (line 1 of the rules), character 10: scale takes one number, such as scale(0.001)',
    ],
    [
      'r %{data:x:array("[",",")}',
      'rule "r" (line 1 of the rules), character 10: the brackets of array are an opening and a closing text of one length, such as "[]", not "["',
    ],
    [
      'r %{data:x:csv("a,,b")}',
      'rule "r" (line 1 of the rules), character 10: the names of csv are up to 1000 different ones between commas, not "a,,b"',
    ],
    [
      'r %{data:x:xml}',
      'rule "r" (line 1 of the rules), character 10: filter xml is not supported: extract what is needed by rules',
    ],
    [
      'r %{data:x:geoip}',
      'rule "r" (line 1 of the rules), character 10: filter geoip is not supported: there is no database of addresses',
    ],
    [
      'r',
      'rule "r" (line 1 of the rules), character 1: a blank and a pattern are expected behind the name',
    ],
    [
      'r: a',
      'rule "r:" (line 1 of the rules), character 1: a rule begins with its name: 1 to 100 letters, digits, "_", "." or "-", then a blank and its pattern',
    ],
    ['word a', 'rule "word" (line 1 of the rules), character 1: "word" is the name of a matcher'],
    [
      'r a\nr b',
      'rule "r" (line 2 of the rules), character 1: another rule has this name: line 1 of the rules',
    ],
  ];
  for (const [rules, message] of table) t.equal(refusal(rules), message, rules);
  t.match(refusal('r %{data:x:rubyhash}'), /rubyhash is not supported: keyvalue/);
  t.match(refusal('r %{date("QQ"):x}'), /unknown letter "Q"/);
  t.match(refusal('r %{date("yyyy","Nowhere"):x}'), /unknown time zone "Nowhere"/);
  t.match(refusal('r \\y'), /invalid escape sequence/);
  t.match(refusal(`r %{word:${'x'.repeat(257)}}`), /more than 256 bytes/);
});

t.test('helper rules are checked, used or not, and may not go in circles', async (t) => {
  t.equal(
    refusal('r %{a}', 'a %{b}\nb x%{c}\nc %{a}'),
    'rule "c" (line 3 of the helper rules), character 3: a rule uses itself: a > b > c > a',
  );
  t.match(refusal('r %{r}'), /a rule uses itself: r > r/);
  t.match(
    refusal('r x', 'a (b'),
    /rule "a" \(line 1 of the helper rules\), character 1: the group/,
  );
  t.match(refusal('r %{a}', 'a a|b)'), /"\)" closes no group/);
  t.match(refusal('r %{a("x")}', 'a x'), /rule "a" takes no arguments/);
  t.match(refusal('a x', 'a y'), /another rule has this name: line 1 of the helper rules/);
});

t.test('rules that would take much memory or time are refused', async (t) => {
  t.match(refusal('r (%{ip}x){1000}'), /too large/);
  const chain = (count: number, part: (index: number) => string): string =>
    [...Array(count).keys()].map((index) => `h${index} ${part(index)}`).join('\n');
  const doubling = chain(
    60,
    (index) => (index === 0 ? '' : `%{h${index - 1}}%{h${index - 1}}`) || 'a',
  );
  t.match(refusal('r x', doubling), /too large|more than 65536|16 deep/);
  const deep = chain(20, (index) => (index === 0 ? 'a' : `%{h${index - 1}}`));
  t.match(refusal('r %{h19}', deep), /more than 16 deep/);
  t.match(refusal(chain(101, () => 'a')), /at most 100 rules are allowed/);
  t.match(refusal(`r ${'a'.repeat(70_000)}`), /at most 65536 are allowed/);
  t.match(refusal(chain(60, () => `%{ip}{7}`)), /too large together/);
  t.match(refusal(`r ${'%{word:x}'.repeat(201)}`), /at most 200 attributes/);
});

t.test('a rule that could take a long text over its steps is not tried on it', async (t) => {
  const rules = 'slow (x?){900}y%{data:a}z\nquick %{notSpace:b}';
  t.equal(found(rules, 'xxyz'), 'slow {"a":""}');
  t.equal(found(rules, 'abc'), 'quick {"b":"abc"}');
  t.equal(found(rules, `y${'z'.repeat(100_000)}`), 'none');
});

t.test('what was printed by the parts of a rule comes back as these parts', async (t) => {
  const kinds: [string, fc.Arbitrary<string>, (text: string) => string][] = [
    ['word', fc.stringMatching(/^[a-z_0-9]{1,8}$/), JSON.stringify],
    ['notSpace', fc.stringMatching(/^[!-~]{1,8}$/), JSON.stringify],
    ['integer', fc.integer().map(String), (text) => text],
    ['number', fc.integer().map((value) => `${value}.50`), (text) => text],
    ['ip', fc.oneof(fc.ipV4(), fc.ipV6()), JSON.stringify],
    ['ipOrHost', fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()), JSON.stringify],
    ['uuid', fc.uuid(), JSON.stringify],
    ['doubleQuotedString', fc.stringMatching(/^"[a-z ]{0,8}"$/), (text) => text],
    ['boolean', fc.boolean().map(String), (text) => text],
  ];
  const part = fc
    .constantFrom(...kinds)
    .chain(([kind, texts, value]) => texts.map((text) => ({ kind, text, value: value(text) })));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const pattern = parts.map(({ kind }, index) => `%{${kind}:a${index}}`).join(' - ');
      const text = parts.map((each) => each.text).join(' - ');
      const values = parts.map(({ value }, index) => `"a${index}":${value}`).join(',');
      t.equal(found(`r ${pattern}`, text), `r {${values}}`);
    }),
    { numRuns: 150 },
  );
});

t.test('any rules are compiled or refused, and no text makes them throw', async () => {
  const piece = fc.constantFrom(
    ...['%{', '}', ':', '"', "'", '(', ')', ',', '|', '[', ']', '{2}', '*', '+', '?', '\\', '^'],
    ...['word', 'data', 'date', 'regex', 'ip', 'x', 'y', '.', 'keyvalue', 'json', 'array', 'a b'],
    ...['%{word:x}', '%{data:y:number}', '%{h}', '%{data::keyvalue(":")}', '\\d', '\n', 'é', '😀'],
    ...['%{date("yyyy"):z}', '%{data:c:csv("a,b")}', '%{data:l:array("[]",",",number)}', ' '],
  );
  const rule = fc.array(piece, { maxLength: 12 }).map((pieces) => `r ${pieces.join('')}`);
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom('x', 'y', '1', ' ', ':', '=', '"', '[', ']', ',', '{', '\n', '2016', 'é'),
        {
          maxLength: 40,
        },
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(rule, fc.array(text, { maxLength: 6 }), (rules, texts) => {
      let extractor: GrokExtractor;
      try {
        extractor = new GrokExtractor(rules, 'h %{integer:n}?');
      } catch (error) {
        if (error instanceof GrokError) return;
        throw error;
      }
      for (const each of texts) extractor.extract(each);
    }),
    { numRuns: 1_200 },
  );
});
