import { must } from '../../../engine/base/assert.ts';
import { EXTENSION_SCHEMAS } from '../admin/extension-schema.ts';
import { ADMIN_BODIES } from '../admin/schema.ts';
import { text } from '../schema.ts';
import {
  type ApiExample,
  type ApiOperation,
  type ApiParameter,
  BODY_REFUSALS,
  EXAMPLE_TIME,
  EXAMPLE_WRITE_KEY,
  json,
} from './operation.ts';
import {
  collectionReply,
  deletedReply,
  extensionTestReply,
  RESOURCE_SHAPES,
  resultOf,
  troublesReply,
} from './reply-schema.ts';

/** A resource, and what its examples make and change. */
interface Resource {
  name: string;
  /** Name of one of it, and of its operations. */
  one: string;
  operation: string;
  /** Name of many of it in ids of operations. */
  operations: string;
  made: readonly Record<string, unknown>[];
  /** Resources as they are shown afterwards. */
  shown: readonly Record<string, unknown>[];
  changed: Record<string, unknown>;
}

const RESOURCES: readonly Resource[] = [
  {
    ...{ name: 'write_keys', one: 'a write key', operation: 'WriteKey', operations: 'WriteKeys' },
    made: [{ name: 'shop', daily_quota: { type: 'megabytes', value: 100 } }],
    shown: [
      {
        id: '1411424a85013563',
        name: 'shop',
        enabled: true,
        quota_reached: false,
        daily_usage: 0,
        daily_quota: { type: 'megabytes', value: 100 },
      },
    ],
    changed: { enabled: false },
  },
  {
    ...{ name: 'read_keys', one: 'a read key', operation: 'ReadKey', operations: 'ReadKeys' },
    made: [{ name: 'shop', security_filter: 'syslog.appname:shop' }],
    shown: [{ id: 'c1ea827824fd55a5', name: 'shop', security_filter: 'syslog.appname:shop' }],
    changed: { security_filter: null },
  },
  {
    ...{ name: 'fields', one: 'a field', operation: 'Field', operations: 'Fields' },
    made: [{ name: 'Verb', attribute: 'custom.http.verb' }],
    shown: [
      {
        id: 'verb',
        name: 'Verb',
        description: '',
        type: 'attribute',
        attribute: 'custom.http.verb',
      },
    ],
    changed: { description: 'The HTTP method' },
  },
  {
    ...{ name: 'tagsets', one: 'a tagset', operation: 'Tagset', operations: 'Tagsets' },
    made: [
      {
        name: 'Outcome',
        tags: [
          { name: 'Failed', query: 'http.status_code:>=500', color: '#d62728' },
          { name: 'Fine', query: 'http.status_code:*', color: '#2ca02c' },
        ],
      },
    ],
    shown: [
      {
        id: 'outcome',
        name: 'Outcome',
        description: '',
        type: 'tagset',
        tags: [
          { id: 'failed', name: 'Failed', color: '#d62728', query: 'http.status_code:>=500' },
          { id: 'fine', name: 'Fine', color: '#2ca02c', query: 'http.status_code:*' },
        ],
      },
    ],
    changed: { description: 'How a request ended' },
  },
  {
    ...{ name: 'metrics', one: 'a metric', operation: 'Metric', operations: 'Metrics' },
    made: [
      {
        ...{ name: 'Slowest answer', type: 'attribute', unit: 's' },
        ...{ attribute: 'custom.http.response_time', aggregation: 'max' },
      },
    ],
    shown: [
      {
        name: 'Slowest answer',
        type: 'attribute',
        unit: 's',
        attribute: 'custom.http.response_time',
        aggregation: 'max',
        id: 'slowest_answer',
        description: '',
      },
    ],
    changed: { unit: null },
  },
  {
    ...{ name: 'groups', one: 'a group', operation: 'Group', operations: 'Groups' },
    made: [{ id: 'shop', name: 'Shop', fields: ['verb', 'outcome'], metrics: ['slowest_answer'] }],
    shown: [
      {
        id: 'shop',
        name: 'Shop',
        fields: ['verb', 'outcome'],
        metrics: ['slowest_answer'],
        description: '',
      },
    ],
    changed: { description: 'What the shop is asked for' },
  },
  {
    ...{
      name: 'saved_analyses',
      one: 'a saved analysis',
      operation: 'SavedAnalysis',
      operations: 'SavedAnalyses',
    },
    made: [
      {
        ...{ name: 'Failed requests', kind: 'list', time: EXAMPLE_TIME },
        filters: [{ field: { id: 'outcome', values: ['failed'] } }],
      },
      {
        ...{ name: 'Requests by verb', kind: 'toplist', time: EXAMPLE_TIME },
        compute: [{ metric: { id: 'count' } }],
        groupBy: [{ field: { id: 'verb' } }],
      },
    ],
    shown: [
      {
        id: 'failed_requests',
        name: 'Failed requests',
        description: '',
        kind: 'list',
        time: { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' },
        filters: [{ field: { id: 'outcome', values: ['failed'] } }],
        columns: [],
      },
      {
        id: 'requests_by_verb',
        name: 'Requests by verb',
        description: '',
        kind: 'toplist',
        time: { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' },
        filters: [],
        compute: [{ metric: { id: 'count' } }],
        groupBy: [{ field: { id: 'verb' } }],
      },
    ],
    changed: { description: 'Answers of 500 and above' },
  },
  {
    ...{
      name: 'extensions',
      one: 'an extension',
      operation: 'Extension',
      operations: 'Extensions',
    },
    made: [
      {
        ...{ name: 'Shop lines', kind: 'grok', filter: 'syslog.appname:shop' },
        rules: 'order order %{integer:order.id} took %{number:order.seconds} s',
      },
    ],
    shown: [
      {
        id: 'shop_lines',
        name: 'Shop lines',
        description: '',
        enabled: false,
        filter: 'syslog.appname:shop',
        sources: ['message'],
        kind: 'grok',
        rules: 'order order %{integer:order.id} took %{number:order.seconds} s',
        helperRules: '',
        position: 14,
      },
    ],
    changed: { enabled: true, position: 0 },
  },
];

const ADMIN = { tag: 'Administration', access: 'admin' } as const;

/** The administration. */
export const ADMIN_OPERATIONS: readonly ApiOperation[] = [
  ...RESOURCES.flatMap(operationsOf),
  {
    ...{ ...ADMIN, id: 'testExtensions', method: 'post', path: '/admin/api/extensions/test' },
    summary: 'Tries extensions on samples; nothing is stored',
    bodies: json(EXTENSION_SCHEMAS.test),
    replies: json(extensionTestReply),
    refusals: [...BODY_REFUSALS, 503],
    examples: [
      {
        name: 'definition',
        summary: 'One that is not there yet',
        body: {
          extension: { kind: 'keyvalue' },
          samples: ['{"timestamp":"2026-03-01T10:00:00Z","message":"user=ann ms=12"}'],
        },
        reply: {
          result: {
            events: [
              {
                event: {
                  custom: { timestamp: '2026-03-01T10:00:00Z', user: 'ann', ms: 12 },
                  message: 'user=ann ms=12',
                },
                date: '2026-03-01T10:00:00.000Z',
                matched: true,
              },
            ],
            ms: 0.8,
          },
        },
      },
      {
        name: 'all',
        summary: 'All that are on',
        body: {
          all: true,
          samples: ['<13>1 2026-03-01T10:00:00Z web-1 shop - - - order 17 took 0.5 s'],
        },
        reply: {
          result: {
            events: [
              {
                event: {
                  custom: { order: { id: 17, seconds: 0.5 } },
                  syslog: {
                    prival: 13,
                    severity: 5,
                    facility: 1,
                    version: 1,
                    timestamp: '2026-03-01T10:00:00Z',
                    hostname: 'web-1',
                    appname: 'shop',
                  },
                  message: 'order 17 took 0.5 s',
                },
                date: '2026-03-01T10:00:00.000Z',
                matched: true,
                rule: 'order',
              },
            ],
            ms: 0.9,
          },
        },
      },
    ],
  },
  {
    ...{ ...ADMIN, id: 'listTroubles', method: 'get', path: '/admin/api/troubles' },
    summary: 'What was wrong with what came in',
    replies: json(troublesReply),
    refusals: [],
    examples: [
      {
        name: 'troubles',
        summary: 'All kinds',
        reply: { result: { troubles: [{ kind: 'line_cut', count: 0 }] } },
        isExcerpt: true,
      },
    ],
  },
];

function operationsOf(resource: Resource): ApiOperation[] {
  const { name, one, operation, operations, shown, changed } = resource;
  const bodies = must(ADMIN_BODIES.get(name), `bodies of ${name}`);
  const shapes = must(RESOURCE_SHAPES.get(name), `shapes of ${name}`);
  const isKey = name.endsWith('_keys');
  const collection = `/admin/api/${name}`;
  const about = isKey ? 'The id or the name.' : 'The id.';
  const idParameter: ApiParameter = { name: 'id', in: 'path', about, schema: text() };
  const single = { ...ADMIN, path: `${collection}/{id}`, parameters: [idParameter] };
  const [first] = shown;
  const ofFirst = {
    name: 'one',
    summary: 'The one that was made',
    parameters: { id: idOf(first) },
  };
  return [
    {
      ...{ ...ADMIN, id: `list${operations}`, method: 'get', path: collection },
      summary: `Lists all of \`${name}\``,
      replies: json(collectionReply(name, shapes.shown)),
      refusals: [],
      examples: [
        {
          ...{ name: 'all', summary: 'All of them', isExcerpt: true },
          reply: { result: { [name]: [first] } },
        },
      ],
    },
    {
      ...{ ...ADMIN, id: `make${operation}`, method: 'post', path: collection },
      summary: `Makes ${one}`,
      ...(isKey && { about: '`key` is shown only here.' }),
      bodies: json(bodies.made),
      replies: json(resultOf(shapes.made ?? shapes.shown)),
      refusals: [...BODY_REFUSALS, 503],
      examples: examplesOfMaking(resource),
    },
    {
      ...{ ...single, id: `show${operation}`, method: 'get' },
      summary: `Shows ${one}`,
      replies: json(resultOf(shapes.shown)),
      refusals: [404],
      examples: [{ ...ofFirst, reply: { result: first } }],
    },
    {
      ...{ ...single, id: `change${operation}`, method: 'patch' },
      summary: `Changes what the body has of ${one}`,
      about: 'null takes away what may be left out.',
      bodies: json(bodies.changed),
      replies: json(resultOf(shapes.changed ?? shapes.shown)),
      refusals: [...BODY_REFUSALS, 404, 503],
      examples: [
        { ...ofFirst, body: changed, reply: { result: changedOf(first, changed, isKey) } },
      ],
    },
    {
      ...{ ...single, id: `delete${operation}`, method: 'delete' },
      summary: `Deletes ${one}`,
      replies: json(deletedReply),
      refusals: isUsedByOthers(name) ? [400, 404, 503] : [404, 503],
      examples: shown.toReversed().map((definition) => ({
        name: idOf(definition),
        summary: String(definition['name']),
        parameters: { id: idOf(definition) },
        reply: { result: { id: definition['id'], name: definition['name'], deleted: true } },
      })),
    },
  ];
}

function examplesOfMaking({ name, made, shown }: Resource): ApiExample[] {
  const secret = name.endsWith('_keys') ? { key: EXAMPLE_WRITE_KEY } : {};
  return made.map((body, place) => ({
    name: idOf(shown[place]),
    summary: String(body['name']),
    body,
    reply: { result: { ...shown[place], ...secret } },
  }));
}

/** Id in the address. Ids of keys are random, so keys show their name. */
function idOf({ id, name }: Record<string, unknown>): string {
  return /^[0-9a-f]{16}$/.test(String(id)) ? String(name) : String(id);
}

/** State after a change. Null takes a part of a definition away, and is shown for a key. */
function changedOf(
  shown: Record<string, unknown>,
  changed: Record<string, unknown>,
  isKey: boolean,
): Record<string, unknown> {
  const parts = Object.entries({ ...shown, ...changed });
  return Object.fromEntries(parts.filter(([, value]) => isKey || value !== null));
}

/** Reports whether definitions of a resource may be used by others, which protects them from deletion. */
function isUsedByOthers(name: string): boolean {
  return ['fields', 'tagsets', 'metrics'].includes(name);
}
