import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { EXAMPLE_TIME } from '../../server/api/routes/examples/example.ts';

import {
  answerTo,
  examplesInOrder,
  firstPlaceholders,
  placeholdersOf,
  requestOf,
} from '../support/openapi-run.ts';
import { seedOf } from '../support/seed.ts';
import { request, testService } from '../support/service.ts';

const service = await testService(t);
const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
/** Texts that never stand in a message: stacks, places of the machine, keys. */
const SECRET = [
  /\n? +at \S+ \(/,
  /node_modules|\.ts:\d/,
  token,
  service.writeKey,
  service.readKey,
  service.folder,
];

const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
const LONG = 'x'.repeat(100_000);

interface Row {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** The body as it is. */
  raw?: string;
  status: number;
  message: RegExp;
}

const admin = (path: string, rows: [body: unknown, message: RegExp][], method = 'POST'): Row[] =>
  rows.map(([body, message]) => ({
    ...{ method, path: `/admin/api/${path}`, body, status: 400, message },
  }));
const read = (path: string, rows: [query: string, message: RegExp][]): Row[] =>
  rows.map(([query, message]) => ({
    ...{ method: 'GET', path: `${path}?${query}`, status: 400, message },
  }));
const raw = (path: string, rows: [raw: string, status: number, message: RegExp][]): Row[] =>
  rows.map(([text, status, message]) => ({ path, raw: text, status, message }));

const EXECUTE = '/beta/saved_analyses/failed_requests/execute';
const TOP = '/beta/saved_analyses/requests_by_verb/execute';
const LIST = '/beta/events/list';
const ANALYSIS = { name: 'x', kind: 'list', time: EXAMPLE_TIME };
const TABLE = { ...ANALYSIS, kind: 'table', compute: [{ metric: { id: 'count' } }] };
const METRIC = { name: 'x', type: 'attribute', attribute: 'custom.a', aggregation: 'sum' };

const ROWS: Row[] = [
  ...admin('fields', [
    [[], /^the body is \(an array of 0\)/],
    ['x', /^the body is "x"/],
    [null, /^the body is null/],
    [{}, /^name|^attribute is missing/],
    [{ name: 'x' }, /^attribute is missing/],
    [{ name: 'x', attribute: 'a' }, /^attribute "a" is not allowed; allowed: custom\./],
    [{ name: 'x', attribute: 5 }, /^attribute 5/],
    [{ name: 5, attribute: 'custom.a' }, /^name 5/],
    [{ name: '', attribute: 'custom.a' }, /^name has 0 characters/],
    [{ name: 'x'.repeat(101), attribute: 'custom.a' }, /^name has 101 characters/],
    [{ name: 'x', id: 'a b', attribute: 'custom.a' }, /^id "a b" is not allowed/],
    [{ name: 'x', id: '__proto__x/y', attribute: 'custom.a' }, /^id "__proto__x\/y"/],
    [{ name: 'x', id: 'verb', attribute: 'custom.a' }, /^id "verb" is taken/],
    [{ name: 'x', attribute: 'custom.a', type: 'tagset' }, /^type "tagset"/],
    [
      { name: 'x', attribute: 'custom.a', description: 'x'.repeat(1_001) },
      /^description "x+\.\.\."/,
    ],
    [{ name: 'x', atribute: 'custom.a' }, /^atribute is unknown; did you mean "attribute"/],
    [
      JSON.parse('{"name":"x","attribute":"custom.a","__proto__":{"a":1}}'),
      /^__proto__ is unknown/,
    ],
  ]),
  ...admin('tagsets', [
    [{ name: 'x' }, /^tags is missing/],
    [{ name: 'x', tags: [] }, /^tags \(an array of 0\) .* 1 to 100/],
    [{ name: 'x', tags: [{}] }, /^tags\[0\]\.name is missing/],
    [{ name: 'x', tags: [{ name: 'a' }] }, /^tags\[0\]\.query is missing/],
    [{ name: 'x', tags: [{ name: 'a', query: '(b' }] }, /^tags\[0\]\.query "\(b" .*position 2/],
    [{ name: 'x', tags: [{ name: 'a', query: 'b', color: 'red' }] }, /^tags\[0\]\.color "red"/],
    [{ name: 'x', tags: Array(101).fill({ name: 'a', query: 'b' }) }, /^tags \(an array of 101\)/],
    [
      { name: 'x', tags: ['a', 'a'].map((id) => ({ id, name: 'a', query: 'b' })) },
      /^tags\[1\]\.id "a" is used twice/,
    ],
  ]),
  ...admin('metrics', [
    [{ name: 'x' }, /^type is missing/],
    [{ name: 'x', type: 'sum' }, /^type "sum"/],
    [{ ...METRIC, attribute: undefined }, /^attribute is missing/],
    [{ ...METRIC, attribute: 'a' }, /^attribute "a"/],
    [{ ...METRIC, aggregation: 'agv' }, /^aggregation "agv"/],
    [{ ...METRIC, unit: 'x'.repeat(11) }, /^unit "x{11}"/],
    [{ ...METRIC, formula: '1' }, /^formula is unknown/],
    [{ name: 'x', type: 'formula', formula: '1 +' }, /^formula "1 \+" is malformed/],
    [{ name: 'x', type: 'formula', formula: 'nothing * 2' }, /"nothing" is unknown/],
    [{ name: 'x', type: 'formula', formula: '' }, /^formula ""/],
  ]),
  ...admin('groups', [
    [{ name: 'x', fields: 'verb' }, /^fields "verb"/],
    [{ name: 'x', fields: ['no_such'] }, /"no_such" is unknown/],
    [{ name: 'x', metrics: [5] }, /^metrics\[0\] 5/],
    [{ name: 'x', members: [] }, /^members is unknown/],
  ]),
  ...admin('saved_analyses', [
    [{ ...ANALYSIS, kind: 'pie' }, /^kind "pie"/],
    [{ ...ANALYSIS, time: undefined }, /^time is missing/],
    [{ ...ANALYSIS, time: { from: 'soon', to: 'now' } }, /^time\.from "soon"/],
    [{ ...ANALYSIS, filters: [{ search: 'a:' }] }, /^filters\[0\]\.search "a:" .*position 2/],
    [{ ...ANALYSIS, columns: [{ attribute: 'a' }] }, /^columns\[0\]\.attribute "a"/],
    [{ ...ANALYSIS, compute: [] }, /^compute is not allowed in an analysis of kind "list"/],
    [{ ...TABLE, compute: undefined }, /^compute is missing/],
    [{ ...TABLE, columns: [] }, /^columns is not allowed/],
    [{ ...TABLE, kind: 'timeseries' }, /timeseries/],
    [{ ...TABLE, kind: 'toplist', groupBy: [{ time: {} }] }, /"toplist"/],
  ]),
  ...admin('extensions', [
    [{ name: 'x' }, /^kind is missing/],
    [{ name: 'x', kind: 'xml' }, /^kind "xml"/],
    [{ name: 'x', kind: 'grok' }, /^rules is missing/],
    [{ name: 'x', kind: 'grok', rules: 'a %{nothing:b}' }, /"?nothing/],
    [{ name: 'x', kind: 'json', filter: '(' }, /^filter "\(" .*position 1/],
    [{ name: 'x', kind: 'json', sources: ['a'] }, /^sources\[0\] "a"/],
    [{ name: 'x', kind: 'json', sources: ['message', 'message'] }, /^sources\[1\] .*twice/],
    [{ name: 'x', kind: 'json', target: 'message' }, /^target "message"/],
    [{ name: 'x', kind: 'json', enabled: 'on' }, /^enabled "on"/],
    [{ name: 'x', kind: 'json', position: -1 }, /^position -1/],
    [{ name: 'x', kind: 'json', definitions: 1 }, /^definitions 1/],
    [{ name: 'x', kind: 'date' }, /^sources is missing/],
    [{ name: 'x', kind: 'date', sources: ['custom.a'], timezone: 'Mars' }, /^timezone "Mars"/],
    [{ name: 'x', kind: 'attribute', sources: ['custom.a'] }, /^target is missing/],
  ]),
  ...admin('extensions/test', [
    [{}, /^samples is missing/],
    [{ samples: ['a'] }, /^extension is missing/],
    [{ extension: { kind: 'json' }, samples: [] }, /^samples \(an array of 0\) .* 1 to 100/],
    [{ extension: { kind: 'json' }, samples: [' '] }, /^samples\[0\] is blank/],
    [{ extension: 'no_such', samples: ['a'] }, /"no_such"/],
    [{ extension: 'json', all: true, samples: ['a'] }, /^all is there beside extension/],
    [{ all: false, samples: ['a'] }, /^all false/],
  ]),
  ...admin('write_keys', [
    [{}, /^name is missing/],
    [{ name: 7 }, /^name 7 .*allowed: a string of 1 to 100/],
    [{ name: 'x', enabled: 1 }, /^enabled 1 .*true or false/],
    [{ name: 'x', daily_quota: 5 }, /^daily_quota 5/],
    [{ name: 'x', daily_quota: {} }, /^daily_quota\.type is missing/],
    [{ name: 'x', daily_quota: { type: 'gb', value: 1 } }, /^daily_quota\.type "gb"/],
    [{ name: 'x', daily_quota: { type: 'megabytes', value: '1' } }, /^daily_quota\.value "1"/],
    [{ name: 'x', daily_quota: { type: 'megabytes', value: -1 } }, /^daily_quota\.value is -1/],
    [{ name: 'x', security_filter: 'a' }, /^security_filter is unknown/],
    [{ name: 'x', key: 'mine' }, /^parameter key cannot be set/],
    [{ name: 'default' }, /"default" is taken/],
  ]),
  ...admin('read_keys', [
    [{ name: 'x', security_filter: 5 }, /^security_filter 5/],
    [{ name: 'x', security_filter: '(a' }, /^security_filter "\(a".*position 2/],
    [{ name: 'x', daily_quota: null }, /^daily_quota is unknown/],
  ]),
  ...admin(
    'fields/verb',
    [
      [{ id: 'other' }, /never changes/],
      [{ name: null }, /^name is missing/],
    ],
    'PATCH',
  ),
  ...admin('metrics/count', [[{ type: 'formula', formula: '1' }, /count/]], 'PATCH'),
  ...admin('extensions/access_log', [[{ position: 1.5 }, /^position 1\.5/]], 'PATCH'),
  { method: 'GET', path: '/admin/api/feilds', status: 404, message: /"feilds" is unknown.*fields/ },
  { method: 'GET', path: '/admin/api/fields/__proto__', status: 404, message: /"__proto__"/ },
  { method: 'GET', path: '/admin/api/troubles/1', status: 404, message: /no ids/ },
  { method: 'PUT', path: '/admin/api/troubles', status: 405, message: /"PUT".*GET/ },
  ...raw('/beta/discover/groups', [
    ['5', 400, /^the body 5 is not allowed; allowed: an object of no members/],
    ['{"x":1}', 400, /^x is unknown; allowed: none/],
  ]),
  ...read(EXECUTE, [
    ['form=now', /^the query parameter "form" is unknown; did you mean "from"/],
    ['__proto__=1', /^the query parameter "__proto__" is unknown/],
    ['tz=UTC', /^the query parameter "tz" is unknown; did you mean "timezone"/],
    ['from=soon&from=now', /^time\.from "soon"/],
    ['from=soon', /^time\.from "soon"/],
    ['from=now&to=now-1h', /is after/],
    ['timezone=Mars', /^time\.timezone "Mars"/],
    ['offset=x', /^time\.offset "x"/],
    ['limit=0', /^limit 0 .* 1 to 1000/],
    ['limit=many', /^limit "many"/],
    ['limit=1e3', /^limit "1e3"/],
    ['format=yes', /^format "yes"/],
    ['field.from=100001', /^field\.from 100001/],
  ]),
  ...read(TOP, [['field.from=1', /field\.from/]]),
  ...read('/beta/events/tail', [
    ['qeury=a', /^the query parameter "qeury" is unknown; did you mean "query"/],
    ['query=(', /^query "\(" .*position 1/],
    ['filters=[', /^filters "\[" is not JSON: at position 1/],
    ['filters={}', /^filters \(an object\)/],
    ['columns=[{}]', /^columns\[0\]/],
    ['event=yes', /^event "yes"/],
    ['limit_per_second=0', /^limit_per_second 0/],
    ['last_event_id=abc', /^last_event_id "abc" is malformed/],
    ['timezone=Mars', /^timezone "Mars"/],
  ]),
  ...read('/beta/queries/one', [['surprise=1', /^the query parameter "surprise" is unknown/]]),
  ...raw(LIST, [
    ['', 400, /position 0: expected value/],
    ['{', 400, /position 1: expected name or }/],
    ['{"time":}', 400, /position 8: expected value/],
    ['{"time":1,}', 400, /position 10: expected name/],
    ["{'time':1}", 400, /position 1/],
    ['{} {}', 400, /position 3: expected end/],
    ['NaN', 400, /position 0/],
    ['01', 400, /position 1|position 0/],
    ['"\u0001"', 400, /position 0/],
    [DEEP, 400, /^the body \(an array of 1\)/],
    [`{"time":${DEEP}}`, 400, /^time \(an array of 1\)/],
    [`{"limit":1e999,"time":{"from":0,"to":1}}`, 400, /^limit Infinity/],
    [`{"time":{"from":1e308,"to":1e308}}`, 400, /^time\.from 1e\+308/],
    [`{"${LONG}":1,"time":{"from":0,"to":1}}`, 400, /^x{60} is unknown/],
    [`{"time":{"from":"${LONG}","to":0}}`, 400, /^time\.from "x{60}\.\.\."/],
    [
      `{"time":{"from":0,"to":1},"filters":[{"search":"${'('.repeat(50_000)}"}]}`,
      400,
      /^filters\[0\]\.search/,
    ],
    ['x'.repeat(1_048_577), 413, /1048576/],
  ]),
  {
    path: LIST,
    raw: '{}',
    headers: { 'content-type': 'text/json' },
    status: 415,
    message: /"text\/json"/,
  },
  {
    path: LIST,
    raw: '{}',
    headers: { 'x-query-id': 'a b' },
    status: 400,
    message: /X-Query-Id "a b"/,
  },
  { path: `${LIST}?limit=5`, raw: '{}', status: 400, message: /^the query parameter "limit"/ },
  { path: '/beta/events/lists', raw: '{}', status: 404, message: /"\/beta\/events\/lists"/ },
  { method: 'PATCH', path: LIST, raw: '{}', status: 405, message: /"PATCH".*POST/ },
  { path: '/v1/input/KEY', raw: '{"a":', status: 400, message: /malformed JSON at byte 5/ },
  {
    path: '/v1/input/KEY',
    raw: `{"a":"${'x'.repeat(1_048_577)}"}`,
    status: 413,
    message: /1048576|1 MiB/,
  },
  {
    ...{
      path: '/v1/input/KEY',
      raw: '9 short',
      headers: { 'content-type': 'application/logplex-1' },
    },
    ...{ status: 400, message: /frame/ },
  },
  {
    ...{ path: '/v1/input/KEY', raw: 'x', headers: { 'content-encoding': 'gzip' } },
    ...{ status: 400, message: /gzip|compressed/ },
  },
  { path: '/v1/input/no-such-key', raw: '{}', status: 401, message: /could not be authenticated/ },
];

let placeholders = await firstPlaceholders(service, token);

t.test('what the rows need is defined', async (t) => {
  for (const [operation, example] of examplesInOrder()) {
    if (operation.access !== 'writer' && !operation.id.startsWith('make')) continue;
    const answer = await answerTo(requestOf(service, token, operation, example, placeholders));
    t.equal(answer.status, 200, operation.id);
  }
  placeholders = { ...placeholders, ...(await placeholdersOf(service)) };
  t.not(placeholders.eventId, '');
});

t.test('a malformed request is refused by parameter, value and what is allowed', async (t) => {
  for (const { method = 'POST', path, headers, body, raw: text, status, message } of ROWS) {
    const answer = await request(`${service.http}${path.replace('KEY', service.writeKey)}`, {
      method,
      headers: {
        ...{ 'content-type': 'application/json', 'x-api-key': service.readKey },
        ...(path.startsWith('/admin/') && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(method !== 'GET' && { body: text ?? JSON.stringify(body) ?? '' }),
    });
    const title = `${method} ${path} ${text ?? JSON.stringify(body)}`.slice(0, 120);
    t.equal(answer.status, status, `${title}: ${answer.text.slice(0, 200)}`);
    const { error } = Object(answer.body);
    t.equal(error?.status, status, title);
    t.match(error?.message, message, title);
    t.ok(String(error?.message).length < 1_000, `${title}: the message is short`);
    const told = SECRET.filter((secret) => String(error?.message).match(secret) !== null);
    t.same(told, [], `${title}: the message keeps secrets`);
  }
});

/** Any JSON, with names that mean something more often than not. */
const NAMES = [
  ...[
    'time',
    'from',
    'to',
    'filters',
    'field',
    'search',
    'query',
    'columns',
    'id',
    'values',
    'limit',
  ],
  ...[
    'compute',
    'metric',
    'groupBy',
    'order',
    'output',
    'name',
    'kind',
    'tags',
    'rules',
    'sources',
  ],
  ...['__proto__', 'constructor', 'toString', ''],
];
const anyJson = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, 2 ** 53, 'now', 'custom.a', 'count', '('),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), tie('json')), {
        maxLength: 5,
      })
      .map((members) =>
        JSON.parse(
          `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
        ),
      ),
  ),
})).json;

/** A JSON value with one of its parts replaced, chosen by `steps`. */
function replaced(value: unknown, steps: readonly number[], part: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return part;
  const members = Object.entries(value);
  if (members.length === 0) return part;
  const [name] = members[step % members.length];
  const copy = members.map(([one, member]) => [
    one,
    one === name ? replaced(member, rest, part) : member,
  ]);
  return Array.isArray(value) ? copy.map(([, member]) => member) : Object.fromEntries(copy);
}

t.test('any JSON at any endpoint is answered by 200 or 4xx, and the service lives', async (t) => {
  seedOf(t);
  const bodied = examplesInOrder().filter(
    ([, { body }]) => body !== undefined && typeof body !== 'string',
  );
  for (const [operation, example] of bodied) {
    const { url, init } = requestOf(service, token, operation, example, placeholders);
    const body = fc.oneof(
      anyJson,
      fc
        .tuple(fc.array(fc.nat(9), { maxLength: 5 }), anyJson)
        .map(([steps, part]) => replaced(example.body, steps, part)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const answer = await answerTo({ url, init: { ...init, body: JSON.stringify(sent) } });
        if (answer.status === 200) return;
        const { error } = Object(answer.body);
        if (answer.status < 400 || answer.status > 499 || error?.status !== answer.status) {
          throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
        }
      }),
      { numRuns: 30 },
    );
  }
  t.match(await request(`${service.http}/healthz`), { status: 200 });
  t.match(await request(`${service.http}/readyz`), { status: 200 });
  t.notMatch(service.output(), /"level":"error"|a request failed/, 'nothing went wrong inside');
});
