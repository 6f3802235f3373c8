import t from 'tap';
import { EventTest } from '../../engine/query/filter/event-test.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { type CompiledStep, compileStep, compileSteps } from '../../server/extend/compile.ts';
import { Extender, type ExtensionMatch } from '../../server/extend/extender.ts';
import type { ExtensionAction, ExtensionStep } from '../../server/extend/extension.ts';
import type { ExtractedValue, Extraction, Extractor } from '../../server/extend/extraction.ts';
import { Decoding } from '../support/decoding.ts';

const ALL: Predicate = { type: 'all' };

/** A decoder whose events are extended. */
class Extending extends Decoding {
  readonly failures: string[] = [];
  readonly matches: ExtensionMatch[] = [];

  constructor(steps: readonly CompiledStep[]) {
    super();
    const extender = new Extender(steps, this.paths, this.rows, this.decoder.counters, {
      failed: (id, error) => this.failures.push(`${id}: ${error}`),
      matched: (_, match) => this.matches.push(match),
    });
    this.decoder.extension = (hasDate) => extender.extendRow(hasDate);
  }
}

function mapOf(members: Record<string, ExtractedValue>): Map<string, ExtractedValue> {
  return new Map(Object.entries(members));
}

/** A step that runs `extract`; `over` may say more. */
function fake(
  extract: (text: string) => Extraction | undefined,
  over: Partial<CompiledStep> & { takesMessage?: boolean } = {},
): CompiledStep {
  const extractor: Extractor = { extract };
  const { takesMessage = false, ...rest } = over;
  return {
    id: 'fake',
    test: new EventTest(ALL),
    sources: ['message'],
    target: undefined,
    work: { type: 'extract', extractor, takesMessage },
    ...rest,
  };
}

function step(action: ExtensionAction, over: Partial<ExtensionStep> = {}): CompiledStep {
  const plain = { id: action.kind, predicate: ALL, sources: ['message'], target: undefined };
  return compileStep({ ...plain, action, ...over });
}

/** The event that `sent`, a body of JSON, becomes. */
function extended(sent: string, ...steps: CompiledStep[]): string {
  return new Extending(steps).json(sent)[0];
}

t.test('steps run in their order, each on what those before it left', async (t) => {
  const exists: Predicate = { type: 'exists', paths: ['custom.found'] };
  const first = fake((text) => ({ attributes: mapOf({ found: text.toUpperCase() }) }));
  const second = fake((text) => ({ attributes: mapOf({ twice: text + text }) }), {
    test: new EventTest(exists),
    sources: ['custom.none', 'custom.found'],
    target: 'custom.out',
  });
  const sent = '{"message":"ab"}';
  t.equal(
    extended(sent, first, second),
    '{"custom":{"found":"AB","out":{"twice":"ABAB"}},"message":"ab"}',
  );
  t.equal(extended(sent, second, first), '{"custom":{"found":"AB"},"message":"ab"}');
});

t.test('every event of a body is extended, whatever it is', async (t) => {
  const mark = fake((text) => ({ attributes: mapOf({ mark: text.length }) }));
  const extending = new Extending([mark]);
  t.same(extending.lines('text\n{"message":"json"}\n<13>Nov 21 11:12:13 h a: x=1\n{"a":1}'), [
    '{"custom":{"mark":4},"message":"text"}',
    '{"custom":{"mark":4},"message":"json"}',
    '{"custom":{"x":1,"mark":3},"syslog":{"prival":13,"severity":5,"facility":1,"timestamp":"2026-11-21T11:12:13Z","hostname":"h","appname":"a"},"message":"x=1"}',
    '{"custom":{"a":1}}',
  ]);
  t.same(extending.json('[{"message":"a"},"bc",[1]]'), [
    '{"custom":{"mark":1},"message":"a"}',
    '{"custom":{"mark":2},"message":"bc"}',
    '{"custom":{"mark":3},"message":"[1]"}',
  ]);
});

t.test('an extension that fails leaves the event as it was, and the others run', async (t) => {
  const extending = new Extending([
    fake(() => ({ attributes: mapOf({ a: 1 }) })),
    fake(
      () => {
        throw new Error('a bug');
      },
      { id: 'broken' },
    ),
    // Found when it is half written.
    fake(() => ({ attributes: new Map([['b', 1n as unknown as number]]) }), { id: 'half' }),
    fake(() => ({ attributes: mapOf({ c: 3 }) })),
  ]);
  t.same(extending.lines('x\ny'), [
    '{"custom":{"a":1,"c":3},"message":"x"}',
    '{"custom":{"a":1,"c":3},"message":"y"}',
  ]);
  t.equal(extending.failures.length, 4);
  t.match(extending.failures[0], /^broken: Error: a bug/);
  t.match(extending.failures[1], /^half: /);
  t.equal(extending.decoder.counters.extensionsFailed, 2);
});

t.test('only who means the message of the event changes it', async (t) => {
  const found = { attributes: mapOf({ message: 'new', a: 1 }) };
  const sent = '{"message":"old"}';
  t.equal(
    extended(
      sent,
      fake(() => found, { takesMessage: true }),
    ),
    '{"custom":{"a":1},"message":"new"}',
  );
  t.equal(
    extended(
      sent,
      fake(() => found),
    ),
    '{"custom":{"message":"new","a":1},"message":"old"}',
  );
  t.equal(
    extended(
      sent,
      fake(() => found, { takesMessage: true, target: 'custom.x' }),
    ),
    '{"custom":{"x":{"message":"new","a":1}},"message":"old"}',
  );
  t.equal(
    extended('{"message":"see {\\"message\\":\\"in\\",\\"n\\":1.50}"}', step({ kind: 'json' })),
    '{"custom":{"n":1.50},"message":"see in"}',
  );
  t.equal(
    extended('{"message":"a {\\"message\\":\\"b\\",\\"x\\":1} c"}', step({ kind: 'json' })),
    '{"custom":{"x":1},"message":"a b c"}',
  );
  t.equal(
    extended('{"message":"{\\"message\\":\\"b\\",\\"x\\":1}"}', step({ kind: 'json' })),
    '{"custom":{"x":1},"message":"b"}',
  );
});

t.test('a level that is meant goes to the target', async (t) => {
  const severity = step(
    { kind: 'severity' },
    { sources: ['custom.level', 'custom.severity'], target: 'syslog.severity' },
  );
  t.equal(
    extended('{"severity":"WARN"}', severity),
    '{"custom":{"severity":"WARN"},"syslog":{"severity":4}}',
  );
  t.equal(
    extended('{"level":3,"syslog":{"severity":6}}', severity),
    '{"custom":{"level":3},"syslog":{"severity":3}}',
  );
  t.equal(extended('{"a":1}', severity), '{"custom":{"a":1}}');
});

t.test('an attribute moves or is copied, from the first source that has a value', async (t) => {
  const over = { sources: ['custom.none', 'custom.a', 'custom.b'], target: 'custom.to' };
  const move = step({ kind: 'attribute', keeps: false }, over);
  const copy = step({ kind: 'attribute', keeps: true }, over);
  t.equal(extended('{"a":[1],"b":2}', move), '{"custom":{"b":2,"to":[1]}}');
  t.equal(extended('{"b":0.20}', copy), '{"custom":{"b":0.20,"to":0.20}}');
  t.equal(extended('{"a":1,"to":5}', move), '{"custom":{"to":1}}');
});

t.test('the date of an extension wins over all others', async (t) => {
  const formats = ['yyyy.MM.dd HH:mm'];
  const date = step(
    { kind: 'date', formats, timezone: 'Europe/Paris' },
    { sources: ['custom.when', 'timestamp'] },
  );
  const extending = new Extending([date]);
  extending.json(
    JSON.stringify([
      { when: '2021.05.06 10:00', timestamp: '2026-01-01T00:00:00Z' },
      { when: '2021-05-06 10:00:00' },
      { when: '2021-05-06T10:00:00Z' },
      { when: 1447669830000 },
      { when: 'no date', timestamp: '2026-01-01T00:00:00Z' },
      { a: 1 },
    ]),
  );
  t.same(extending.dates(), [
    '2021-05-06T08:00:00.000Z',
    '2021-05-06T08:00:00.000Z',
    '2021-05-06T10:00:00.000Z',
    '2015-11-16T10:30:30.000Z',
    '2026-01-01T00:00:00.000Z',
    '2026-11-21T12:00:00.000Z',
  ]);
});

t.test('a date attribute that is found is the date of an event without one', async (t) => {
  const extending = new Extending([step({ kind: 'access_log' })]);
  const line = '1.2.3.4 - - [15/Dec/2015:17:36:50 +0100] "GET / HTTP/1.1" 200 5';
  extending.json(JSON.stringify([line, { message: line, date: '2026-01-01T00:00:00Z' }]));
  t.same(extending.dates(), ['2015-12-15T16:36:50.000Z', '2026-01-01T00:00:00.000Z']);
  t.same(extending.matches, [{ extension: 'access_log' }, { extension: 'access_log' }]);
});

t.test('the rule that matched is told', async (t) => {
  const rules = 'one a %{word:x}\ntwo b %{word:x}';
  const extending = new Extending([step({ kind: 'grok', rules, helperRules: '' })]);
  t.equal(extending.lines('b c')[0], '{"custom":{"x":"c"},"message":"b c"}');
  t.same(extending.matches, [{ extension: 'grok', rule: 'two' }]);
});

t.test('an event grows by a bounded share of what extensions find', async (t) => {
  const megabyte = 'x'.repeat(1_000_000);
  let count = 0;
  const more = fake(() => ({ attributes: mapOf({ [`a${count++}`]: megabyte }) }));
  const extending = new Extending(Array.from({ length: 50 }, () => more));
  const [event] = extending.lines('m');
  t.ok(event.length < 4_000_000);
  t.equal(extending.decoder.counters.extensionsFailed, 1);
});

t.test('a line is extended when its key has been found to be good', async (t) => {
  const mark = fake(() => ({ attributes: mapOf({ mark: 1 }) }));
  const extending = new Extending([mark]);
  const { decoder, rows } = extending;
  const source = Buffer.from('{"logmaticKey":"k","message":"m"}');
  decoder.begin(source, 0, undefined);
  decoder.isWriteKey = () => true;
  decoder.findsWriteKey = true;
  decoder.line(0, source.length);
  decoder.findsWriteKey = false;
  t.equal(Buffer.from(decoder.writeKey() ?? []).toString(), 'k');
  t.same(extending.matches, [], 'nothing is done for strangers');
  decoder.finishLine(0, source.length);
  t.equal(extending.matches.length, 1);
  t.equal(rows.rowCount, 1);
});

t.test('steps that cannot be made are left out', async (t) => {
  const failed: string[] = [];
  const base = { predicate: ALL, sources: ['message'], target: undefined };
  const steps: ExtensionStep[] = [
    { ...base, id: 'bad', action: { kind: 'grok', rules: 'x %{nothing:a}', helperRules: '' } },
    { ...base, id: 'good', action: { kind: 'url' } },
  ];
  const made = compileSteps(steps, (id) => failed.push(id));
  t.same(
    made.map(({ id }) => id),
    ['good'],
  );
  t.same(failed, ['bad']);
});
