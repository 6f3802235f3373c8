import fc from 'fast-check';
import t from 'tap';
import { Kind } from '../../engine/column/kind.ts';
import { Draft } from '../../server/extend/draft.ts';
import { type ExtractedValue, NumberText } from '../../server/extend/extraction.ts';
import { Decoding } from '../support/decoding.ts';

/** Drafts of the events of a decoding, which they change. */
class Drafting extends Decoding {
  readonly draft = new Draft(this.paths, this.rows, this.decoder.counters);

  /** Decodes an event and turns the draft to it. */
  begin(event: string): Draft {
    this.json(event);
    this.draft.begin();
    return this.draft;
  }

  /** The event as it is now. */
  event(): string {
    return this.events().at(-1) ?? 'none';
  }

  /** Changes the event `sent` and returns what it has become. */
  changed(sent: string, change: (draft: Draft) => void): string {
    const draft = this.begin(sent);
    change(draft);
    draft.write();
    draft.finish(true);
    return this.event();
  }
}

const drafting = new Drafting();

function mapOf(members: Record<string, ExtractedValue>): Map<string, ExtractedValue> {
  return new Map(Object.entries(members));
}

/** Attributes by their names joined by dots, in order; values as JSON. */
function flat(event: string): [string, string][] {
  const walk = (value: unknown, names: string[]): [string, string][] => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const members = isObject ? Object.entries(value) : [];
    if (members.length === 0) return [[names.join('.'), JSON.stringify(value)]];
    return members.flatMap(([name, inner]) => walk(inner, [...names, name]));
  };
  const { custom = {}, ...others } = JSON.parse(event);
  const roots = Object.entries({ ...others, custom });
  return roots
    .flatMap(([root, value]) => walk(value, [root]))
    .filter(([name]) => name !== 'custom');
}

const name = fc.constantFrom('a', 'b', 'a.b', 'a.b.c', 'x', 'x.y', 'date', 'timestamp');
const scalar = fc.constantFrom('1', '0.50', '"t"', '"é\\"q"', 'null', 'true', '[1,"2",{"n":1}]');
const dated = fc.constantFrom('"2026-01-02T03:04:05.678Z"', '"no date"', '1447669830000');
const value: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    dated,
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, text]) => `"${key}":${text}`).join(',')}}`),
  ),
})).value;
const members = fc.array(
  fc.tuple(fc.oneof(name, fc.constantFrom('message', 'syslog', 'syslog.q')), value),
  { maxLength: 6 },
);

function objectOf(list: readonly (readonly [string, string])[]): string {
  return `{${list.map(([key, text]) => `"${key}":${text}`).join(',')}}`;
}

/** JSON as an extraction has it. */
function extracted(text: string): ExtractedValue {
  const convert = (of: unknown): ExtractedValue => {
    if (Array.isArray(of)) return of.map(convert);
    if (typeof of === 'object' && of !== null) return mapOf(of as Record<string, ExtractedValue>);
    return of as ExtractedValue;
  };
  return /^[\d.]+$/.test(text) ? new NumberText(text) : convert(JSON.parse(text));
}

t.test('an event that is written anew without a change is the same row', async () => {
  fc.assert(
    fc.property(members, (list) => {
      const draft = drafting.begin(objectOf(list));
      const { rows } = drafting;
      const entries = (): string[] =>
        Array.from({ length: rows.entryCount }, (_, entry) =>
          [
            drafting.rows.path[entry],
            rows.kind[entry],
            rows.start[entry],
            rows.length[entry],
            rows.value[entry],
            rows.detail[entry],
          ].join(' '),
        ).sort();
      const before = { event: drafting.event(), entries: entries(), dates: drafting.dates() };
      draft.remove('custom.nothing');
      draft.write();
      draft.finish(true);
      const after = { event: drafting.event(), entries: entries(), dates: drafting.dates() };
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        throw new Error(`${JSON.stringify(before)} became ${JSON.stringify(after)}`);
      }
    }),
  );
});

t.test('an attribute is added as if it had been sent behind the others', async () => {
  fc.assert(
    fc.property(members, name, fc.oneof(scalar, dated), (list, added, text) => {
      // A name that is sent twice is no collision.
      fc.pre(!list.some(([key]) => key === added));
      const sent = flat(new Decoding().json(objectOf(list))[0]);
      const isThere = sent.some(([path]) => path === `custom.${added}`);
      const all = isThere ? list : [...list, [added, text] as const];
      const expected = JSON.stringify(flat(new Decoding().json(objectOf(all))[0]));
      const event = drafting.changed(objectOf(list), (draft) =>
        draft.add(new Map([[added, extracted(text)]]), undefined),
      );
      if (JSON.stringify(flat(event)) !== expected) throw new Error(`${event}, not ${expected}`);
    }),
  );
});

type Change = ['add' | 'set' | 'remove', string, string];

t.test('any changes leave what a list of attributes would have', async () => {
  const change: fc.Arbitrary<Change> = fc.tuple(
    fc.constantFrom('add' as const, 'set' as const, 'remove' as const),
    fc.oneof(
      name.map((of) => `custom.${of}`),
      fc.constantFrom('syslog.q', 'syslog.q.r', 'message'),
    ),
    fc.constantFrom('"t"', '"é\\"q"'),
  );
  fc.assert(
    fc.property(members, fc.array(fc.tuple(change, fc.boolean())), (list, changes) => {
      const draft = drafting.begin(objectOf(list));
      const model = new Map(flat(drafting.event()));
      for (const [[kind, path, text], writes] of changes) {
        if (kind === 'remove') {
          // A longer name keeps its dots also when what it collided with is gone.
          if ([...model.keys()].some((other) => other.startsWith(`${path}.`))) continue;
          draft.remove(path);
          model.delete(path);
        } else if (kind === 'set' || path === 'message') {
          draft.set(path, JSON.parse(text));
          putLeaf(model, path, JSON.stringify(JSON.parse(text)));
        } else {
          // What is found in a text is below `custom`, whatever its name.
          const found = path.replace(/^custom\./, '');
          draft.add(new Map([[found, JSON.parse(text)]]), undefined);
          const place = `custom.${found}`;
          if (!model.has(place)) putLeaf(model, place, JSON.stringify(JSON.parse(text)));
        }
        if (writes) draft.write();
      }
      draft.write();
      draft.finish(true);
      const event = new Map(flat(drafting.event()));
      event.delete('syslog');
      model.delete('syslog');
      const sorted = (of: Map<string, string>): string => JSON.stringify([...of].sort());
      if (sorted(event) !== sorted(model))
        throw new Error(`${sorted(event)}, not ${sorted(model)}`);
    }),
    { numRuns: 300 },
  );
});

/** An object that was empty has something in it now, unless an attribute is in the way to it. */
function putLeaf(model: Map<string, string>, path: string, text: string): void {
  model.set(path, text);
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const around = model.get(path.slice(0, dot));
    if (around === '{}') model.delete(path.slice(0, dot));
    else if (around !== undefined) return;
  }
}

const CHANGES: [string, string, (draft: Draft) => void, string][] = [
  [
    'what is added goes into the objects that are there',
    '{"http":{"verb":"GET"},"z":1}',
    (draft) => draft.add(mapOf({ 'http.verb': 'PUT', 'http.status': 200 }), undefined),
    '{"custom":{"http":{"verb":"GET","status":200},"z":1}}',
  ],
  [
    'a target is an object around what is added',
    '{"ua":"x"}',
    (draft) => draft.add(mapOf({ os: mapOf({ family: 'Linux' }) }), 'custom.ua_details'),
    '{"custom":{"ua":"x","ua_details":{"os":{"family":"Linux"}}}}',
  ],
  [
    'a target of the syslog part',
    '{}',
    (draft) => draft.add(mapOf({ a: 1 }), 'syslog.x.y'),
    '{"custom":{},"syslog":{"x":{"y":{"a":1}}}}',
  ],
  [
    'the longer name keeps its dots',
    '{"a":1}',
    (draft) => draft.add(mapOf({ 'a.b': 2, c: mapOf({ d: 3 }) }), undefined),
    '{"custom":{"a":1,"a.b":2,"c":{"d":3}}}',
  ],
  [
    'a message that is added is an attribute',
    '{"message":"m"}',
    (draft) => draft.add(mapOf({ message: 'x', 'syslog.a': 1 }), undefined),
    '{"custom":{"message":"x","syslog":{"a":1}},"message":"m"}',
  ],
  [
    'number texts, nulls, booleans, arrays and numbers without a text of JSON',
    '{}',
    (draft) =>
      draft.add(
        mapOf({
          a: new NumberText('0.610'),
          b: null,
          c: [1, 'é', [mapOf({ x: null })]],
          d: Number.NaN,
          e: 1e21,
          f: false,
        }),
        undefined,
      ),
    '{"custom":{"a":0.610,"b":null,"c":[1,"é",[{"x":null}]],"d":null,"e":1e+21,"f":false}}',
  ],
  [
    'a value is set whatever was there',
    '{"a":{"b":1},"l":"warn"}',
    (draft) => {
      draft.set('custom.l', 4);
      draft.set('custom.a.b', [1]);
      draft.set('syslog.severity', 4);
      draft.set('message', 'new');
    },
    '{"custom":{"a":{"b":[1]},"l":4},"syslog":{"severity":4},"message":"new"}',
  ],
  [
    'values move with their kinds',
    '{"a":[1, {"x":"é"}],"b":0.50,"c":true,"d":"t","e":{"f":1}}',
    (draft) => {
      draft.copy('custom.a', 'custom.m.a', false);
      draft.copy('custom.b', 'custom.m.b', true);
      draft.copy('custom.c', 'custom.c.d', false);
      draft.copy('custom.d', 'message', false);
      draft.copy('custom.e', 'custom.g', false);
    },
    '{"custom":{"b":0.50,"e":{"f":1},"m":{"a":[1,{"x":"é"}],"b":0.50},"c":{"d":true}},"message":"t"}',
  ],
  [
    'a value is copied over another one; what is in an object stays',
    '{"a":1,"b":{"c":2},"d":3,"e":4}',
    (draft) => {
      draft.copy('custom.a', 'custom.b', false);
      draft.copy('custom.d', 'custom.e', true);
      t.notOk(draft.copy('custom.e', 'custom.e', false));
      t.notOk(draft.copy('custom.none', 'custom.e', false));
    },
    '{"custom":{"b.c":2,"d":3,"e":3,"b":1}}',
  ],
];

for (const [title, sent, change, expected] of CHANGES) {
  t.test(title, async (t) => t.equal(drafting.changed(sent, change), expected));
}

t.test('texts are read by dotted paths', async (t) => {
  const draft = drafting.begin(
    '{"message":"m","a":{"b":"é\\n"},"x":1,"x.y":0.50,"n":null,"o":{},"f":false,"r":["t"],"date":"2026-01-02T03:04:05Z"}',
  );
  const texts = ['message', 'custom.a.b', 'custom.x', 'custom.x.y', 'custom.f', 'custom.date'];
  t.same(
    texts.map((path) => draft.text(path)),
    ['m', 'é\n', '1', '0.50', 'false', '2026-01-02T03:04:05Z'],
  );
  for (const path of ['custom.n', 'custom.o', 'custom.a', 'custom.r', 'custom.zz', 'syslog.x']) {
    t.equal(draft.text(path), undefined, path);
  }
  t.ok(draft.has('custom.a'));
  t.notOk(draft.has('custom.o'));
});

t.test('an added date is read as one that was sent', async (t) => {
  const draft = drafting.begin('{"a":1}');
  draft.add(mapOf({ date_access: '2015-12-15T17:36:50Z' }), undefined);
  draft.write();
  const { rows } = drafting;
  t.equal(rows.kind[rows.entryCount - 1], Kind.DATE);
  draft.finish(false);
  t.same(drafting.dates(), ['2015-12-15T17:36:50.000Z']);
});

t.test('an event keeps its own date, and one that was set wins over all', async (t) => {
  const sent = '{"timestamp":"2026-01-02T03:04:05Z"}';
  const draft = drafting.begin(sent);
  draft.add(mapOf({ date: '2015-12-15T17:36:50Z' }), undefined);
  draft.write();
  draft.finish(true);
  t.same(drafting.dates(), ['2026-01-02T03:04:05.000Z']);
  drafting.begin(sent);
  draft.setTime(1_000);
  draft.setTime(2_000);
  draft.finish(true);
  t.same(drafting.dates(), ['1970-01-01T00:00:01.000Z']);
});

t.test('attributes beyond the limits go to the excess, and none of the event does', async (t) => {
  const numbered = (count: number, prefix: string): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, at]));
  const sent = JSON.stringify({ o: { first: 1 }, ...numbered(998, 'a') });
  const event = JSON.parse(
    drafting.changed(sent, (draft) =>
      draft.add(mapOf({ 'o.x': 1, 'o.y': 2, z: mapOf({ deep: 'é' }) }), undefined),
    ),
  );
  t.equal(Object.keys(event.custom).length, 1 + 998 + 1);
  t.same(event.custom.o, { first: 1, x: 1 });
  t.same(JSON.parse(event.custom._excess), { o: { y: 2 }, z: { deep: 'é' } });

  const more = drafting.changed(JSON.stringify(numbered(1_001, 'a')), (draft) =>
    draft.add(mapOf({ b: 1 }), undefined),
  );
  t.same(JSON.parse(JSON.parse(more).custom._excess), { a1000: 1000, b: 1 });
});

t.test('what is too deep becomes text, and a long name goes to the excess', async (t) => {
  let deep: ExtractedValue = 1;
  for (let level = 0; level < 25; level++) deep = mapOf({ l: deep });
  const event = drafting.changed('{}', (draft) =>
    draft.add(mapOf({ deep, ['n'.repeat(300)]: 1 }), undefined),
  );
  const same = JSON.stringify({ deep: JSON.parse(`${'{"l":'.repeat(25)}1${'}'.repeat(25)}`) });
  t.equal(event, new Decoding().json(`${same.slice(0, -1)},"${'n'.repeat(300)}":1}`)[0]);
});
