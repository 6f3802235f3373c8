import { must } from '../../../engine/base/assert.ts';
import { EXTENSION_SCHEMAS } from '../admin/extension-schema.ts';
import { RETENTION_SCHEMA } from '../admin/retention.ts';
import { ADMIN_BODIES } from '../admin/schema.ts';
import { SNAPSHOT_SCHEMA } from '../admin/snapshots.ts';
import {
  auditReply,
  cancelledReply,
  collectionReply,
  deletedReply,
  diskReply,
  extensionTestReply,
  ledgerReply,
  queriesReply,
  RESOURCE_SHAPES,
  resultOf,
  retentionReply,
  retentionTestReply,
  serviceHealthReply,
  snapshotDeletedReply,
  snapshotReply,
  troublesReply,
} from '../openapi/reply-schema.ts';
import { text } from '../schema.ts';
import { ADMIN_EXAMPLES } from './examples/admin.ts';
import { type ApiExample, EXAMPLE_WRITE_KEY } from './examples/example.ts';
import { RESOURCES, type Resource } from './examples/resources.ts';
import { type ApiParameter, BODY_REFUSALS, json } from './operation.ts';
import type { AdminRoute } from './route.ts';

const ADMIN = { tag: 'Administration', access: 'admin' } as const;

/** The administration. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...RESOURCES.flatMap(routesOf),
  {
    ...{ ...ADMIN, id: 'testExtensions', method: 'post', path: '/admin/api/extensions/test' },
    ...{ resource: 'extensions', action: 'test' },
    summary: 'Tries extensions on samples; nothing is stored',
    bodies: json(EXTENSION_SCHEMAS.test),
    replies: json(extensionTestReply),
    refusals: [...BODY_REFUSALS, 503],
    examples: ADMIN_EXAMPLES.testExtensions,
  },
  {
    ...{ ...ADMIN, id: 'listTroubles', method: 'get', path: '/admin/api/troubles' },
    ...{ resource: 'troubles', action: 'list' },
    summary: 'What was wrong with what came in',
    replies: json(troublesReply),
    refusals: [],
    examples: ADMIN_EXAMPLES.listTroubles,
  },
  {
    ...{ ...ADMIN, id: 'serviceHealth', method: 'get', path: '/admin/api/health' },
    ...{ resource: 'health', action: 'list' },
    summary: 'What came in since the start, queues, disk and sealing',
    replies: json(serviceHealthReply),
    refusals: [],
    examples: ADMIN_EXAMPLES.serviceHealth,
  },
  {
    ...{ ...ADMIN, id: 'deliveryLedger', method: 'get', path: '/admin/api/ledger' },
    ...{ resource: 'ledger', action: 'list' },
    summary: 'What became durable by minute and write key, beside what is stored now',
    about: 'The events that are stored are counted for the answer, which may take a while.',
    replies: json(ledgerReply),
    refusals: [429, 503],
    examples: ADMIN_EXAMPLES.deliveryLedger,
  },
  {
    ...{ ...ADMIN, id: 'diskByAttribute', method: 'get', path: '/admin/api/disk' },
    ...{ resource: 'disk', action: 'list' },
    summary: 'What each attribute takes on the disk',
    replies: json(diskReply),
    refusals: [429, 503],
    examples: ADMIN_EXAMPLES.diskByAttribute,
  },
  {
    ...{ ...ADMIN, id: 'listQueries', method: 'get', path: '/admin/api/queries' },
    ...{ resource: 'queries', action: 'list' },
    summary: 'The queries of all keys that are not answered, and the last slow ones',
    replies: json(queriesReply),
    refusals: [],
    examples: ADMIN_EXAMPLES.listQueries,
  },
  {
    ...{ ...ADMIN, id: 'cancelAnyQuery', method: 'delete', path: '/admin/api/queries/{id}' },
    ...{ resource: 'queries', action: 'delete' },
    summary: 'Cancels a query of any key, which is then answered by 503',
    parameters: [{ name: 'id', in: 'path', about: 'The id.', schema: text() }],
    replies: json(cancelledReply),
    refusals: [404],
    examples: ADMIN_EXAMPLES.cancelAnyQuery,
  },
  {
    ...{ ...ADMIN, id: 'makeSnapshot', method: 'post', path: '/admin/api/snapshots' },
    ...{ resource: 'snapshots', action: 'make' },
    summary: 'Keeps the files of the store as they are for a minute, so that they can be copied',
    about: 'For `logseam backup`. With the id of a snapshot that is there, for another minute.',
    bodies: json(SNAPSHOT_SCHEMA),
    replies: json(snapshotReply),
    refusals: [...BODY_REFUSALS, 429],
    examples: ADMIN_EXAMPLES.makeSnapshot,
  },
  {
    ...{ ...ADMIN, id: 'deleteSnapshot', method: 'delete', path: '/admin/api/snapshots/{id}' },
    ...{ resource: 'snapshots', action: 'delete' },
    summary: 'Ends a snapshot',
    parameters: [{ name: 'id', in: 'path', about: 'The id.', schema: text() }],
    replies: json(snapshotDeletedReply),
    refusals: [404],
    examples: ADMIN_EXAMPLES.deleteSnapshot,
  },
  {
    ...{ ...ADMIN, id: 'showRetention', method: 'get', path: '/admin/api/retention' },
    ...{ resource: 'retention', action: 'list' },
    summary: 'How long events are kept',
    replies: json(retentionReply),
    refusals: [],
    examples: ADMIN_EXAMPLES.showRetention,
  },
  {
    ...{ ...ADMIN, id: 'testRetention', method: 'post', path: '/admin/api/retention/test' },
    ...{ resource: 'retention', action: 'test' },
    summary: 'What would be dropped now; nothing is changed',
    about: 'What the body leaves out is as it is in force.',
    bodies: json(RETENTION_SCHEMA),
    replies: json(retentionTestReply),
    refusals: BODY_REFUSALS,
    examples: ADMIN_EXAMPLES.testRetention,
  },
  {
    ...{ ...ADMIN, id: 'changeRetention', method: 'patch', path: '/admin/api/retention' },
    ...{ resource: 'retention', action: 'change' },
    summary: 'Changes how long events are kept, in place of the configuration',
    about: 'What is beyond it is dropped at once.',
    bodies: json(RETENTION_SCHEMA),
    replies: json(retentionReply),
    refusals: [...BODY_REFUSALS, 503],
    examples: ADMIN_EXAMPLES.changeRetention,
  },
  {
    ...{ ...ADMIN, id: 'resetRetention', method: 'delete', path: '/admin/api/retention' },
    ...{ resource: 'retention', action: 'delete' },
    summary: 'Lets the configuration say again how long events are kept',
    replies: json(retentionReply),
    refusals: [503],
    examples: ADMIN_EXAMPLES.resetRetention,
  },
  {
    ...{ ...ADMIN, id: 'listAudit', method: 'get', path: '/admin/api/audit' },
    ...{ resource: 'audit', action: 'list' },
    summary: 'The newest 500 changes, the newest first',
    about: 'Lines of `audit.log`; each has what its kind of change tells besides.',
    replies: json(auditReply),
    refusals: [],
    examples: ADMIN_EXAMPLES.listAudit,
  },
];

function routesOf(resource: Resource): AdminRoute[] {
  const { name, one, operation, operations, shown, changed } = resource;
  const bodies = must(ADMIN_BODIES.get(name), `bodies of ${name}`);
  const shapes = must(RESOURCE_SHAPES.get(name), `shapes of ${name}`);
  const isKey = name.endsWith('_keys');
  const isNamed = isKey || name === 'users';
  const collection = `/admin/api/${name}`;
  const about = isNamed ? 'The id or the name.' : 'The id.';
  const idParameter: ApiParameter = { name: 'id', in: 'path', about, schema: text() };
  const all = { ...ADMIN, resource: name };
  const single = { ...all, path: `${collection}/{id}`, parameters: [idParameter] };
  const [first] = shown;
  const ofFirst = {
    name: 'one',
    summary: 'The one that was made',
    parameters: { id: idOf(first) },
  };
  return [
    {
      ...{ ...all, id: `list${operations}`, method: 'get', path: collection, action: 'list' },
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
      ...{ ...all, id: `make${operation}`, method: 'post', path: collection, action: 'make' },
      summary: `Makes ${one}`,
      ...(isKey && { about: '`key` is shown only here.' }),
      bodies: json(bodies.made),
      replies: json(resultOf(shapes.made ?? shapes.shown)),
      refusals: [...BODY_REFUSALS, 503],
      examples: examplesOfMaking(resource),
    },
    {
      ...{ ...single, id: `show${operation}`, method: 'get', action: 'show' },
      summary: `Shows ${one}`,
      replies: json(resultOf(shapes.shown)),
      refusals: [404],
      examples: [{ ...ofFirst, reply: { result: first } }],
    },
    {
      ...{ ...single, id: `change${operation}`, method: 'patch', action: 'change' },
      summary: `Changes what the body has of ${one}`,
      about: 'null takes away what may be left out.',
      bodies: json(bodies.changed),
      replies: json(resultOf(shapes.changed ?? shapes.shown)),
      refusals: [...BODY_REFUSALS, 404, 503],
      examples: [
        { ...ofFirst, body: changed, reply: { result: changedOf(first, changed, isNamed) } },
      ],
    },
    {
      ...{ ...single, id: `delete${operation}`, method: 'delete', action: 'delete' },
      summary: `Deletes ${one}`,
      replies: json(deletedReply),
      refusals: isKept(name) ? [400, 404, 503] : [404, 503],
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

/** Id in the address. Ids of keys and users are random, so they show their name. */
function idOf({ id, name }: Record<string, unknown>): string {
  return /^[0-9a-f]{16}$/.test(String(id)) ? String(name) : String(id);
}

/** State after a change. Null takes a part of a definition away, and is shown for a key or a user. */
function changedOf(
  shown: Record<string, unknown>,
  changed: Record<string, unknown>,
  isNamed: boolean,
): Record<string, unknown> {
  const parts = Object.entries({ ...shown, ...changed });
  return Object.fromEntries(parts.filter(([, value]) => isNamed || value !== null));
}

/** Reports whether some of a resource may not be deleted: the last admin, and definitions that others use. */
function isKept(name: string): boolean {
  return ['users', 'fields', 'tagsets', 'metrics'].includes(name);
}
