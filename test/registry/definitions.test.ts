import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { openDisk } from '../../engine/base/file.ts';
import { RecordFile } from '../../engine/base/record-file.ts';
import { definitionRules } from '../../server/api/admin/definition-rules.ts';
import { declaredResolver } from '../../server/api/declared.ts';
import { DEFINITION_KINDS, type DefinitionKind } from '../../server/registry/definition.ts';
import { idFromName } from '../../server/registry/definition-id.ts';
import { type Definitions, openDefinitions } from '../../server/registry/definitions.ts';
import { openKeys } from '../../server/registry/keys.ts';
import { UsageCells } from '../../server/registry/usage.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const WHO = { who: 'test' };

/** A data folder of its own for one test. */
class Folder {
  readonly root = mkdtempSync(join(tmpdir(), 'logseam-definitions-'));
  readonly disk = openDisk(this.root);
  filters: string[] = [];

  constructor(t: { teardown(run: () => void): void }) {
    t.teardown(() => rmSync(this.root, { recursive: true }));
  }

  async open(): Promise<Definitions> {
    const nowMs = (): number => NOW_MS;
    const rules = definitionRules(
      () =>
        this.filters.map((filter, place) => ({
          ...{ kind: 'read' as const, id: `${place}`, name: `key ${place}`, createdMs: 0 },
          ...{ digest: new Uint8Array(32), enabled: true, cell: -1, filter },
        })),
      nowMs,
    );
    return openDefinitions({ disk: this.disk, rules, nowMs });
  }

  audit(): Record<string, unknown>[] {
    const lines = readFileSync(join(this.root, 'audit.log'), 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line));
  }
}

function make(definitions: Definitions, kind: DefinitionKind, value: object) {
  return definitions.create(kind, new Map(Object.entries(value)), WHO);
}

function alter(definitions: Definitions, kind: DefinitionKind, id: string, value: object) {
  return definitions.change(kind, id, new Map(Object.entries(value)), WHO);
}

const TIME = { from: 'now-1h', to: 'now' };
const VERB = { id: 'verb', name: 'Verb', attribute: 'custom.http.verb' };
const TAGS = [
  { name: 'Bad', query: 'verb:DELETE' },
  { id: 'good', name: 'Good', query: '*', color: '#00FF00' },
];

/** One of each kind that uses those before it. */
async function fill(definitions: Definitions): Promise<void> {
  await make(definitions, 'fields', VERB);
  await make(definitions, 'tagsets', { name: 'Danger level', tags: TAGS });
  await make(definitions, 'metrics', {
    ...{ id: 'size', name: 'Size', type: 'attribute' },
    ...{ attribute: 'custom.size', aggregation: 'sum', unit: 'B' },
  });
  await make(definitions, 'metrics', {
    name: 'Mean size',
    type: 'formula',
    formula: 'size / count',
  });
  await make(definitions, 'groups', {
    ...{ name: 'Web', fields: ['verb', 'danger_level'], metrics: ['size', 'mean_size'] },
  });
  await make(definitions, 'saved_analyses', {
    ...{ name: 'Deletions', kind: 'list', time: TIME },
    ...{ filters: [{ search: 'verb:DELETE' }], columns: [{ field: 'danger_level' }] },
  });
}

t.test('a fresh service has the event count, syslog fields, and a group of them', async (t) => {
  const folder = new Folder(t);
  const definitions = await folder.open();
  await definitions.provision();
  t.same(
    definitions.list('fields').map(({ id }) => id),
    [
      ...['syslog.appname', 'syslog.hostname', 'syslog.severity', 'syslog.facility'],
      ...['syslog.prival', 'syslog.version', 'syslog.timestamp', 'syslog.procid', 'syslog.msgid'],
    ],
  );
  t.match(definitions.list('metrics'), [{ id: 'count', type: 'core' }]);
  t.match(definitions.list('groups'), [{ id: 'default', metrics: ['count'] }]);
  await definitions.delete('groups', 'default', WHO);
  await definitions.provision();
  await definitions.close();
  const again = await folder.open();
  await again.provision();
  t.same(again.list('groups'), [], 'what was deleted stays so');
  t.equal(again.list('fields').length, 9);
  await again.close();
  t.match(folder.audit(), [
    { who: 'first start', what: 'create', resource: 'all' },
    { ...WHO, what: 'delete', resource: 'groups', id: 'default' },
  ]);
});

t.test('a reopen keeps everything, with what was left out filled in', async (t) => {
  const folder = new Folder(t);
  const definitions = await folder.open();
  await definitions.provision();
  await fill(definitions);
  await alter(definitions, 'fields', 'verb', { name: 'HTTP verb', description: 'GET and so on' });
  await alter(definitions, 'metrics', 'size', { unit: null });
  const before = DEFINITION_KINDS.map((kind) => definitions.list(kind));
  t.match(definitions.get('tagsets', 'danger_level'), {
    ...{ name: 'Danger level', description: '', type: 'tagset' },
    tags: [
      { id: 'bad', color: /^#[0-9a-f]{6}$/ },
      { id: 'good', color: '#00FF00' },
    ],
  });
  t.same(definitions.get('fields', 'verb'), {
    ...{ id: 'verb', name: 'HTTP verb', description: 'GET and so on' },
    ...{ type: 'attribute', attribute: 'custom.http.verb' },
  });
  t.notOk('unit' in Object(definitions.get('metrics', 'size')));
  await definitions.close();
  const again = await folder.open();
  t.same(
    DEFINITION_KINDS.map((kind) => again.list(kind)),
    before,
  );
  await again.close();
  t.equal(folder.audit().length, 9);
});

t.test('what is used is not deleted, and the user is named', async (t) => {
  const folder = new Folder(t);
  const definitions = await folder.open();
  await definitions.provision();
  await fill(definitions);
  const refusals: [DefinitionKind, string, RegExp][] = [
    ['fields', 'verb', /field "verb" cannot be deleted: it is used by the tagset "danger_level"/],
    ['fields', 'syslog.appname', /group "default"/],
    ['tagsets', 'danger_level', /group "web"/],
    ['metrics', 'size', /metric "mean_size"/],
    ['metrics', 'count', /is the event count/],
    ['fields', 'nothing', /no field with the id "nothing"/],
  ];
  for (const [kind, id, message] of refusals) {
    await t.rejects(definitions.delete(kind, id, WHO), { message }, `${kind} ${id}`);
  }
  folder.filters = ['team:red', '-verb:GET'];
  await definitions.delete('groups', 'web', WHO);
  await t.rejects(definitions.delete('tagsets', 'danger_level', WHO), {
    message: /saved analysis "deletions"/,
  });
  await definitions.delete('saved_analyses', 'deletions', WHO);
  await definitions.delete('tagsets', 'danger_level', WHO);
  await t.rejects(definitions.delete('fields', 'verb', WHO), {
    message: /security filter of the read key "key 1"/,
  });
  folder.filters = [];
  await definitions.delete('fields', 'verb', WHO);
  await definitions.delete('metrics', 'mean_size', WHO);
  await definitions.delete('metrics', 'size', WHO);
  await definitions.close();
});

t.test('a tag that a saved analysis names is not removed', async (t) => {
  const definitions = await new Folder(t).open();
  await definitions.provision();
  await fill(definitions);
  const filters = [{ field: { id: 'danger_level', values: ['good'] } }];
  await make(definitions, 'saved_analyses', { name: 'Good', kind: 'list', time: TIME, filters });
  const [bad, good] = must(definitions.get('tagsets', 'danger_level'), 'tagset').tags;
  await t.rejects(alter(definitions, 'tagsets', 'danger_level', { tags: [bad] }), {
    code: 'USAGE',
    message:
      'tag "good" of the tagset "danger_level" cannot be removed: it is used by the saved analysis "good"',
  });
  await alter(definitions, 'tagsets', 'danger_level', { tags: [{ ...good, name: 'Fine' }] });
  t.match(definitions.get('tagsets', 'danger_level'), { tags: [{ id: 'good', name: 'Fine' }] });
  await definitions.delete('saved_analyses', 'good', WHO);
  await alter(definitions, 'tagsets', 'danger_level', { tags: [bad] });
  await t.rejects(
    make(definitions, 'saved_analyses', { name: 'G', kind: 'list', time: TIME, filters }),
  );
});

t.test('a new field does not change what a text means that is there already', async (t) => {
  const folder = new Folder(t);
  folder.filters = ['team:red'];
  const definitions = await folder.open();
  const other = { id: 'team', name: 'x', attribute: 'custom.owner.team' };
  await t.rejects(make(definitions, 'fields', other), {
    message: /id "team" is the name of an attribute in the security filter of the read key "key 0"/,
  });
  await make(definitions, 'fields', { ...other, attribute: 'custom.team' });
  await definitions.close();
});

const FIELD = { name: 'x', attribute: 'custom.x' };
const METRIC = { name: 'x', type: 'attribute', attribute: 'custom.x', aggregation: 'sum' };
const FORMULA = { name: 'x', type: 'formula', formula: 'size * 2' };
const ANALYSIS = { name: 'x', kind: 'list', time: TIME };
const COUNTED = { name: 'x', kind: 'toplist', time: TIME, compute: [{ metric: { id: 'count' } }] };

const SERIES = {
  ...{ name: 'x', kind: 'timeseries', time: TIME },
  compute: [{ timeseries: { metricId: 'count', interval: '1m' } }],
};

const WRONG: [DefinitionKind, object, RegExp][] = [
  ['fields', { attribute: 'custom.x' }, /^name is missing/],
  ['fields', { ...FIELD, name: '' }, /name has 0 characters/],
  ['fields', { ...FIELD, name: 'a\nb' }, /control character/],
  ['fields', { ...FIELD, description: 7 }, /description 7 .*0 to 1000 characters/],
  ['fields', { name: 'x' }, /attribute is missing; allowed: custom\.<name>/],
  ['fields', { ...FIELD, attribute: 'http.verb' }, /attribute "http\.verb" is not allowed/],
  ['fields', { ...FIELD, atribute: 'custom.x' }, /atribute is unknown; did you mean "attribute"/],
  ['fields', { ...FIELD, type: 'tagset' }, /type "tagset" is not allowed; allowed: "attribute"/],
  ['fields', { ...FIELD, id: 'a b' }, /id "a b" is not allowed; allowed: 1 to 64 of/],
  ['fields', { ...FIELD, id: '' }, /id "" is not allowed/],
  ['fields', { ...FIELD, id: '.x' }, /id "\.x"/],
  ['fields', { ...FIELD, id: 7 }, /id 7 is not allowed/],
  ['fields', { ...FIELD, id: 'a'.repeat(65) }, /1 to 64/],
  ['fields', { ...FIELD, id: 'verb' }, /id "verb" is taken by a field/],
  ['fields', { ...FIELD, id: 'danger_level' }, /taken by a tagset/],
  ['fields', { ...FIELD, id: 'message' }, /id "message" is the path of another attribute/],
  ['tagsets', { name: 'x', tags: [] }, /tags .* 1 to 100 elements/],
  ['tagsets', { name: 'x', tags: [{ name: 'a' }] }, /tags\[0\]\.query is missing/],
  [
    'tagsets',
    { name: 'x', tags: [{ name: 'a', query: '((' }] },
    /"\(\(" is malformed at position 2/,
  ],
  [
    'tagsets',
    { name: 'x', tags: [{ name: 'a', query: '', color: 'red' }] },
    /color "red".*#1f77b4/,
  ],
  [
    'tagsets',
    { name: 'x', tags: [{ ...TAGS[1] }, { ...TAGS[1] }] },
    /tags\[1\]\.id "good" is used twice/,
  ],
  ['metrics', { ...METRIC, type: 'sum' }, /type "sum" .*"attribute" or "formula" or "core"/],
  ['metrics', { ...METRIC, aggregation: 'mean' }, /aggregation "mean".*"avg"/],
  ['metrics', { ...METRIC, attribute: 'x' }, /attribute "x" is not allowed/],
  ['metrics', { ...METRIC, formula: '1' }, /formula is unknown/],
  ['metrics', { name: 'x', type: 'core' }, /type "core" of the metric "x" is not allowed/],
  ['metrics', { ...FORMULA, formula: '' }, /formula "".*1 to 1000/],
  ['metrics', { ...FORMULA, formula: 'size +' }, /formula/],
  ['metrics', { ...FORMULA, formula: 'sise * 2' }, /sise/],
  ['metrics', { ...FORMULA, id: 'own', formula: 'own + 1' }, /reaches itself: own > own/],
  ['groups', { name: 'x', fields: ['vreb'] }, /fields\[0\] "vreb" is unknown; did you mean "verb"/],
  ['groups', { name: 'x', metrics: ['size', 'size'] }, /metrics\[1\] "size" is there twice/],
  ['groups', { name: 'x', metrics: ['sum:custom.x'] }, /metrics\[0\]/],
  ['saved_analyses', { ...ANALYSIS, kind: 'pie' }, /kind "pie" .*"toplist"/],
  ['saved_analyses', { name: 'x', kind: 'list' }, /time is missing/],
  ['saved_analyses', { ...ANALYSIS, time: { from: 'now' } }, /time\.to is missing/],
  ['saved_analyses', { ...ANALYSIS, time: { from: 'now', to: 'then' } }, /time\.to "then"/],
  ['saved_analyses', { ...ANALYSIS, compute: [] }, /compute is not allowed in .* "list"/],
  ['saved_analyses', { ...ANALYSIS, filters: [{ search: '((' }] }, /malformed at position 2/],
  [
    'saved_analyses',
    { ...ANALYSIS, columns: [{ field: 'nothing' }] },
    /field "nothing" is unknown/,
  ],
  [
    'saved_analyses',
    { ...ANALYSIS, filters: [{ field: { id: 'danger_level', values: ['goof'] } }] },
    /values\[0\] "goof" is no tag of "danger_level"; did you mean "good"\? allowed: bad, good/,
  ],
  ['saved_analyses', { ...COUNTED, compute: undefined }, /compute is missing/],
  ['saved_analyses', { ...COUNTED, columns: [] }, /columns is not allowed in .* "toplist"/],
  [
    'saved_analyses',
    { ...COUNTED, kind: 'table', compute: [{ metric: { id: 'coutn' } }] },
    /"coutn" is unknown/,
  ],
  ['saved_analyses', { ...COUNTED }, /groupBy/],
  ['saved_analyses', { ...COUNTED, kind: 'timeseries' }, /groupBy has no time/],
  ['saved_analyses', { ...COUNTED, groupBy: [{ time: {} }] }, /"toplist" must be .* without time/],
  ['saved_analyses', { ...SERIES, groupBy: [{ time: {} }] }, /several times; allowed: one/],
  [
    'saved_analyses',
    { ...SERIES, compute: [...SERIES.compute, { metric: { id: 'size' } }] },
    /mixes metric and timeseries/,
  ],
  [
    'saved_analyses',
    {
      ...SERIES,
      compute: [...SERIES.compute, { timeseries: { metricId: 'size', interval: '1h' } }],
    },
    /intervals "1m" and "1h"; allowed: one/,
  ],
];

t.test('what is wrong is refused by name, value and what is allowed', async (t) => {
  const folder = new Folder(t);
  const definitions = await folder.open();
  await definitions.provision();
  await fill(definitions);
  const before = definitions.version;
  for (const [kind, value, message] of WRONG) {
    const given = Object.fromEntries(
      Object.entries(value).filter(([, part]) => part !== undefined),
    );
    await t.rejects(make(definitions, kind, given), { message }, `${kind} ${message}`);
  }
  await t.rejects(alter(definitions, 'fields', 'verb', { id: 'other' }), {
    message: /never changes/,
  });
  await t.rejects(alter(definitions, 'fields', 'verb', { name: null }), {
    message: /name is missing/,
  });
  await t.rejects(alter(definitions, 'fields', 'verb', { id: 'x' }), { message: /"verb" never/ });
  await t.rejects(
    alter(definitions, 'metrics', 'size', {
      ...{ type: 'formula', formula: 'mean_size', attribute: null, aggregation: null, unit: null },
    }),
    { message: /reaches itself: (size > mean_size > size|mean_size > size > mean_size)/ },
  );
  await t.rejects(alter(definitions, 'metrics', 'count', { type: 'formula', formula: '1' }), {
    message: /type "formula" of the metric "count"/,
  });
  await t.rejects(
    make(definitions, 'fields', JSON.parse('{"name":"x","__proto__":{"attribute":"custom.x"}}')),
    { message: /__proto__ is unknown/ },
  );
  t.equal(definitions.version, before, 'nothing has changed');
  await definitions.close();
});

t.test('formulas in formulas do not grow without a bound', async (t) => {
  const folder = new Folder(t);
  const definitions = await folder.open();
  await definitions.provision();
  const formula = (of: string): object => ({ type: 'formula', formula: `${of} + ${of} + ${of}` });
  await make(definitions, 'metrics', { name: 'a', ...formula('count') });
  for (const [id, of] of ['ba', 'cb', 'dc']) {
    await make(definitions, 'metrics', { name: id, ...formula(of) });
  }
  await t.rejects(make(definitions, 'metrics', { name: 'e', ...formula('d') }), {
    message: /has 243 metrics .*; allowed: 100/,
  });
  await definitions.close();
});

t.test('tagsets that name each other know attributes alone', async (t) => {
  const definitions = await new Folder(t).open();
  const tagset = (id: string, query: string): object => ({
    id,
    name: id,
    tags: [{ name: 'x', query }],
  });
  await make(definitions, 'tagsets', tagset('a', 'a:x OR b:x'));
  await alter(definitions, 'tagsets', 'a', { tags: [{ name: 'x', query: 'a:y' }] });
  await make(definitions, 'tagsets', tagset('b', 'a:x'));
  await alter(definitions, 'tagsets', 'a', { tags: [{ name: 'x', query: 'b:x' }] });
  const predicate = { type: 'value', paths: ['custom.b'], match: { type: 'text', text: 'x' } };
  t.match(declaredResolver(definitions).field('a'), { tags: [{ id: 'x', predicate }] });
  await definitions.close();
});

t.test('ids are made from names, safe in a URL and unique', async (t) => {
  const taken = new Set(['reponse_ms', 'field', 'field_2']);
  const id = (name: string): string => idFromName(name, 'field', (one) => taken.has(one));
  t.equal(id('Temps écoulé'), 'temps_ecoule');
  t.equal(id('Réponse (ms)'), 'reponse_ms_2');
  t.equal(id('日本'), 'field_3');
  t.equal(id('x'.repeat(100)).length, 56);
});

t.test('a file that holds something else is corruption, named by record', async (t) => {
  const entry = { type: 'definition', kind: 'fields', definition: { ...VERB, type: 'attribute' } };
  const wrong: [unknown, RegExp][] = [
    ['text', /record 1 of definitions: not a list/],
    [[{ ...entry, type: 'x' }], /unknown type/],
    [[{ ...entry, kind: '__proto__' }], /unknown kind/],
    [[{ ...entry, definition: { id: 'x' } }], /name is missing/],
    [[{ ...entry, definition: { ...VERB, id: '/' } }], /id "\/"/],
  ];
  for (const [record, message] of wrong) {
    const folder = new Folder(t);
    const { file } = RecordFile.open(folder.disk, 'definitions');
    await file.append([entry]);
    await file.append(record);
    await file.close();
    await t.rejects(folder.open(), { code: 'CORRUPTION', message }, String(message));
  }
});

t.test(
  'changes that a stop tore are as never asked, and two registries share the audit log',
  async (t) => {
    const folder = new Folder(t);
    const definitions = await folder.open();
    await make(definitions, 'fields', VERB);
    const size = readFileSync(join(folder.root, 'definitions')).length;
    await make(definitions, 'fields', FIELD);
    await definitions.close();
    const bytes = readFileSync(join(folder.root, 'definitions'));
    writeFileSync(join(folder.root, 'definitions'), bytes.subarray(0, size + 5));
    writeFileSync(join(folder.root, 'definitions.copy'), bytes.subarray(0, size));
    const again = await folder.open();
    t.same(
      again.list('fields').map(({ id }) => id),
      ['verb'],
    );
    const cells = new UsageCells();
    const keys = await openKeys({
      ...{ disk: folder.disk, cells, planLimitMb: undefined, nowMs: () => NOW_MS },
    });
    const before = folder.audit().length;
    await Promise.all([
      ...['a', 'b', 'c'].map((name) => make(again, 'fields', { ...FIELD, name })),
      ...['a', 'b', 'c'].map((name) => keys.create({ kind: 'read', name }, WHO)),
    ]);
    t.equal(folder.audit().length, before + 6);
    await keys.close();
    await again.close();
  },
);
