import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openDisk } from '../../engine/base/file.ts';
import { RecordFile } from '../../engine/base/record-file.ts';
import { definitionRules } from '../../server/api/admin/definition-rules.ts';
import { followExtensions } from '../../server/api/admin/extension-steps.ts';
import { declaredResolver } from '../../server/api/declared.ts';
import type { ExtensionStep } from '../../server/extend/extension.ts';
import type { Definition, ExtensionDefinition } from '../../server/registry/definition.ts';
import {
  type Along,
  type Definitions,
  openDefinitions,
} from '../../server/registry/definitions.ts';
import { definitionSetOf } from '../../server/registry/extension-sets.ts';

const WHO = { who: 'test' };
const nowMs = (): number => Date.UTC(2026, 2, 1);

interface Teardown {
  teardown(run: () => void): void;
}

function newFolder(t: Teardown): string {
  const root = mkdtempSync(join(tmpdir(), 'logseam-extensions-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  return root;
}

function open(root: string): Promise<Definitions> {
  const rules = definitionRules(() => [], nowMs);
  return openDefinitions({ disk: openDisk(root), rules, nowMs });
}

function make(definitions: Definitions, value: object, along?: Along) {
  return definitions.create('extensions', new Map(Object.entries(value)), WHO, along);
}

function alter(definitions: Definitions, id: string, value: object, along?: Along) {
  return definitions.change('extensions', id, new Map(Object.entries(value)), WHO, along);
}

const idsOf = (definitions: Definitions): string[] =>
  definitions.list('extensions').map(({ id }) => id);

t.test('a fresh service has the ready-made extensions, all off', async (t) => {
  const definitions = await open(newFolder(t));
  await definitions.provision();
  const all = definitions.list('extensions');
  t.ok(all.length >= 7);
  t.notOk(all.some(({ enabled }) => enabled));
  const kinds = new Set(all.map(({ kind }) => kind));
  for (const kind of ['json', 'keyvalue', 'access_log', 'url', 'user_agent', 'severity'] as const) {
    t.ok(kinds.has(kind), kind);
  }
  const rules = definitionRules(() => [], nowMs);
  for (const extension of all) {
    t.same(rules.read('extensions', extension), extension, `${extension.id} is well formed`);
    t.doesNotThrow(() => rules.check('extensions', extension, definitions), extension.id);
  }
  await definitions.close();
});

t.test('a folder from before there were extensions gets the ready-made ones once', async (t) => {
  const root = newFolder(t);
  const disk = openDisk(root);
  const { file } = RecordFile.open(disk, 'definitions');
  const definition = { id: 'verb', name: 'Verb', description: '', attribute: 'custom.verb' };
  await file.append([{ type: 'definition', kind: 'fields', definition }]);
  await file.close();
  const definitions = await open(root);
  await definitions.provision();
  t.same(
    definitions.list('fields').map(({ id }) => id),
    ['verb'],
    'and nothing else',
  );
  const ids = idsOf(definitions);
  t.ok(ids.includes('access_log'));
  for (const id of ids) await definitions.delete('extensions', id, WHO);
  await definitions.close();
  const again = await open(root);
  await again.provision();
  t.same(idsOf(again), [], 'what was deleted stays so');
  await again.close();
});

t.test('each kind has its sources and its target', async (t) => {
  const definitions = await open(newFolder(t));
  const kinds: [object, object][] = [
    [{ kind: 'json' }, { sources: ['message'], target: undefined }],
    [{ kind: 'keyvalue' }, { sources: ['message'], target: undefined }],
    [{ kind: 'access_log' }, { sources: ['message'], target: undefined }],
    [
      { kind: 'grok', rules: 'one %{word:user}' },
      { sources: ['message'], target: undefined, helperRules: '' },
    ],
    [{ kind: 'url' }, { sources: ['custom.http.request'], target: 'custom.http.request_details' }],
    [
      { kind: 'user_agent' },
      { sources: ['custom.http.useragent'], target: 'custom.http.useragent_details' },
    ],
    [{ kind: 'query_string' }, { target: 'custom.http.request_details.queryString' }],
    [
      { kind: 'severity' },
      {
        sources: [
          ...['custom.severity', 'custom.level', 'custom.levelname'],
          ...['custom.level_name', 'custom.Level'],
        ],
        target: 'syslog.severity',
      },
    ],
    [
      { kind: 'date', sources: ['custom.when'] },
      { formats: [], timezone: 'UTC' },
    ],
    [
      { kind: 'attribute', sources: ['custom.a'], target: 'message' },
      { target: 'message', keeps: true },
    ],
    [{ kind: 'json', target: 'custom.body' }, { target: 'custom.body' }],
  ];
  for (const [place, [value, expected]] of kinds.entries()) {
    const { definition } = await make(definitions, { name: `Number ${place}`, ...value });
    t.match(definition, { enabled: false, filter: '', ...expected }, JSON.stringify(value));
  }
  await definitions.close();
});

t.test('a place in the order is kept, by a move, a new one and a reopen', async (t) => {
  const root = newFolder(t);
  const definitions = await open(root);
  for (const id of ['a', 'b', 'c']) await make(definitions, { id, name: id, kind: 'json' });
  await alter(definitions, 'c', { enabled: true }, { position: 0 });
  t.same(idsOf(definitions), ['c', 'a', 'b']);
  await make(definitions, { id: 'd', name: 'd', kind: 'json' }, { position: 1 });
  t.same(idsOf(definitions), ['c', 'd', 'a', 'b']);
  await alter(definitions, 'a', {}, { position: 3 });
  await definitions.delete('extensions', 'd', WHO);
  t.same(idsOf(definitions), ['c', 'b', 'a']);
  await t.rejects(alter(definitions, 'a', {}, { position: 3 }), {
    message: 'position 3 is not allowed; allowed: 0 to 2',
  });
  await make(definitions, { id: 'd', name: 'd', kind: 'json' });
  await definitions.close();
  const again = await open(root);
  t.same(idsOf(again), ['c', 'b', 'a', 'd']);
  t.equal(again.get('extensions', 'c')?.enabled, true);
  await again.close();
  const lines = readFileSync(join(root, 'audit.log'), 'utf8').trimEnd().split('\n');
  const moves = lines.map((line) => JSON.parse(line)).filter(({ what }) => what === 'move');
  t.match(moves, [
    { id: 'c', position: 0 },
    { id: 'd', position: 1 },
    { id: 'a', position: 3 },
  ]);
});

t.test('a field that a filter names is not deleted, nor is its meaning changed', async (t) => {
  const definitions = await open(newFolder(t));
  const field = { id: 'team', name: 'Team', attribute: 'custom.team' };
  await definitions.create('fields', new Map(Object.entries(field)), WHO);
  await make(definitions, { id: 'x', name: 'x', kind: 'json', filter: 'team:red other:1' });
  await t.rejects(definitions.delete('fields', 'team', WHO), {
    message: /used by the extension "x"/,
  });
  const other = new Map(Object.entries({ id: 'other', name: 'o', attribute: 'custom.more' }));
  await t.rejects(definitions.create('fields', other, WHO), { message: /in the extension "x"/ });
  await definitions.close();
});

t.test('what goes with an extension is made with it, and what exists stays', async (t) => {
  const root = newFolder(t);
  const definitions = await open(root);
  await definitions.provision();
  const verb = { id: 'method', name: 'My method', attribute: 'custom.http.verb' };
  await definitions.create('fields', new Map(Object.entries(verb)), WHO);
  const along: Along = {
    set: (definition) => definitionSetOf(definition as ExtensionDefinition),
  };
  const { made } = await alter(definitions, 'access_log', { enabled: true }, along);
  const ids = made.map(([kind, { id }]) => `${kind} ${id}`);
  t.same(ids, [
    ...['fields http.request_details.path', 'fields http.status_code'],
    ...['fields network.client_ip', 'fields http.useragent', 'fields http.referer'],
    ...['metrics response_time_avg', 'metrics response_time_pc95', 'metrics received_bytes'],
    'groups web_access',
  ]);
  t.match(definitions.get('groups', 'web_access'), {
    name: 'Web access',
    fields: ['http.request_details.path', 'http.status_code', 'method'],
    metrics: ['response_time_avg', 'response_time_pc95', 'received_bytes'],
  });
  const rules = definitionRules(() => [], nowMs);
  for (const [kind, definition] of made) {
    t.same(rules.read(kind, definition), definition, `${definition.id} is well formed`);
    t.doesNotThrow(() => rules.check(kind, definition, definitions));
  }
  t.same((await alter(definitions, 'access_log', {}, along)).made, [], 'once');
  t.same((await alter(definitions, 'embedded_json', {}, along)).made, []);
  await definitions.close();
  const again = await open(root);
  t.ok(again.get('groups', 'web_access'));
  t.equal(again.get('extensions', 'access_log')?.enabled, true);
  await again.close();
});

t.test('what goes with each ready-made extension is well formed', async (t) => {
  const definitions = await open(newFolder(t));
  await definitions.provision();
  const rules = definitionRules(() => [], nowMs);
  const along: Along = {
    set: (definition) => definitionSetOf(definition as ExtensionDefinition),
  };
  const made: Definition[] = [];
  for (const id of idsOf(definitions)) {
    const changed = await alter(definitions, id, {}, along);
    for (const [kind, definition] of changed.made) {
      made.push(definition);
      t.same(rules.read(kind, definition), definition, `${id} ${definition.id}`);
      t.doesNotThrow(() => rules.check(kind, definition, definitions));
    }
  }
  t.ok(made.length > 20);
  t.match(definitions.get('groups', 'postgresql'), {
    metrics: ['duration_avg', 'duration_pc95'],
    fields: ['level', 'db.instance', 'db.user', 'error.code'],
  });
  await definitions.close();
});

t.test('workers get what is on in its order, and again when that changes', async (t) => {
  const definitions = await open(newFolder(t));
  const given: (readonly ExtensionStep[])[] = [];
  const faults: string[] = [];
  followExtensions(
    definitions,
    declaredResolver(definitions),
    (steps) => given.push(steps),
    (id) => faults.push(id),
  );
  t.same(given, [[]]);
  await make(definitions, { id: 'a', name: 'a', kind: 'json' });
  t.equal(given.length, 1, 'one that is off makes no difference');
  await make(definitions, {
    id: 'b',
    name: 'b',
    kind: 'severity',
    enabled: true,
    filter: 'team:x',
  });
  await alter(definitions, 'a', { enabled: true, target: 'custom.body' });
  t.match(given.at(-1), [
    {
      ...{ id: 'a', action: { kind: 'json' }, predicate: { type: 'all' } },
      ...{ sources: ['message'], target: 'custom.body' },
    },
    { id: 'b', action: { kind: 'severity' }, predicate: { paths: ['custom.team'] } },
  ]);
  await alter(definitions, 'b', {}, { position: 0 });
  t.same(
    given.at(-1)?.map(({ id }) => id),
    ['b', 'a'],
  );
  const field = { id: 'team', name: 'Team', attribute: 'custom.team' };
  await definitions.create('fields', new Map(Object.entries(field)), WHO);
  const count = given.length;
  await definitions.change('fields', 'team', new Map([['attribute', 'custom.group']]), WHO);
  t.match(given.at(-1), [{ id: 'b', predicate: { paths: ['custom.group'] } }, {}]);
  t.equal(given.length, count + 1);
  t.same(faults, []);
  await definitions.close();
});

const JSON_ONE = { name: 'x', kind: 'json' };
const DATE = { name: 'x', kind: 'date', sources: ['custom.when'] };
const GROK = { name: 'x', kind: 'grok' };

t.test('what is wrong is refused by name, value and what is allowed', async (t) => {
  const definitions = await open(newFolder(t));
  const wrong: [object, RegExp][] = [
    [{ name: 'x' }, /^kind is missing; allowed: "json" or "keyvalue" or "access_log" or "grok"/],
    [{ kind: 'json' }, /^name is missing/],
    [{ ...JSON_ONE, kind: 'jsn' }, /kind "jsn" is not allowed; allowed: "json" or/],
    [{ ...JSON_ONE, enabled: 1 }, /enabled 1 is not allowed; allowed: true or false/],
    [{ ...JSON_ONE, filtr: '' }, /filtr is unknown; did you mean "filter"\?/],
    [{ ...JSON_ONE, filter: 'a:((' }, /filter "a:\(\(" is malformed at position 4/],
    [{ ...JSON_ONE, filter: 7 }, /filter 7 is not allowed; allowed: a string of 0 to 10000/],
    [{ ...JSON_ONE, sources: [] }, /sources \(an array of 0\) .*an array of 1 to 20/],
    [{ ...JSON_ONE, sources: 'message' }, /sources "message" .*an array of 1 to 20/],
    [
      { ...JSON_ONE, sources: ['message', 'http'] },
      /sources\[1\] "http" is not allowed; allowed: custom\.<name>, syslog\.<name> or message/,
    ],
    [{ ...JSON_ONE, sources: ['message', 'message'] }, /sources\[1\] "message" is there twice/],
    [
      { ...JSON_ONE, target: 'message' },
      /target "message" is not allowed; allowed: custom\.<name> or syslog\.<name>$/,
    ],
    [{ ...JSON_ONE, rules: 'a b' }, /rules is unknown/],
    [{ ...GROK }, /rules is missing; allowed: a string of 1 to 40000/],
    [{ ...GROK, rules: '' }, /rules "" is not allowed/],
    [
      { ...GROK, rules: 'good %{word:a}\nbad %{wrod:a}' },
      /rules is malformed: rule "bad" \(line 2 of the rules\), character \d+: .*word/,
    ],
    [{ ...GROK, rules: 'a (?=x)y' }, /rules is malformed: .*look-ahead/],
    [
      { ...GROK, rules: 'a %{b}', helperRules: 'b %{b}' },
      /rules is malformed: rule "b" \(line 1 of the helper rules\)/,
    ],
    [{ name: 'x', kind: 'date' }, /sources is missing/],
    [{ ...DATE, target: 'custom.a' }, /target is unknown/],
    [{ ...DATE, timezone: 'Mars' }, /timezone "Mars" is unknown; allowed: a name such as/],
    [{ ...DATE, formats: ['yyyy', 'QQ'] }, /formats\[1\] "QQ" is malformed: /],
    [{ ...DATE, formats: 'yyyy' }, /formats "yyyy" is not allowed/],
    [{ name: 'x', kind: 'attribute', sources: ['custom.a'] }, /target is missing/],
    [
      { name: 'x', kind: 'attribute', sources: ['custom.a'], target: 'custom.b', keeps: 'no' },
      /keeps "no" is not allowed; allowed: true or false/,
    ],
  ];
  for (const [value, message] of wrong) {
    await t.rejects(make(definitions, value), { message }, `${message}`);
  }
  t.same(idsOf(definitions), []);
  await definitions.close();
});
