import { type TSchema, Type } from 'typebox';
import { ROLES } from '../../registry/account/user-record.ts';

/** Schemas of what is answered, for the description of the interface; the tests hold real answers against them. */

/** An object with these members and no others. */
const shape = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** An object whose names are the asker's. */
const named = <T extends TSchema>(schema: T) => Type.Record(Type.String(), schema);
const count = Type.Integer({ minimum: 0 });
const date = Type.String({ format: 'date-time' });
const string = Type.String();
const json = Type.Unknown();
const color = Type.String({ pattern: '^#[0-9a-f]{6}$' });

/** `{"result": ...}` around what an endpoint answers. */
export const resultOf = <T extends TSchema>(result: T) => shape({ result });

/** Refusal of the output API and the administration. Source: INTERFACE.md 7. */
export const errorReply = shape({ error: shape({ status: Type.Integer(), message: string }) });
/** Refusal of the input API. */
export const inputErrorReply = shape({
  error: shape({ status: Type.Integer(), message: string }),
  ok: Type.Literal(false),
});

/** Success of the input API: everything is stored. */
const storedReply = shape({ ok: Type.Literal(true) });
/** Dry run of the input API: the events that a body would become. */
const dryReply = shape({
  ok: Type.Literal(true),
  debug: Type.Literal(true),
  events: Type.Array(
    shape({
      date,
      event: Type.Object({ custom: named(json) }),
      extensions: maybe(Type.Array(shape({ extension: string, rule: maybe(string) }))),
    }),
  ),
  tookMs: Type.Number({ minimum: 0 }),
});

/** Success or dry run of the input API. */
export const inputAnswer = Type.Union([storedReply, dryReply]);
/** JSON body of the input API. */
export const inputBody = Type.Union([Type.Object({}), Type.Array(Type.Unknown())]);
/** Reply of `GET /openapi.json`. */
export const openapiReply = Type.Object({ openapi: string, paths: named(json) });

/** An event in full. Source: INTERFACE.md 2.3. */
export const eventBody = shape({
  custom: named(json),
  syslog: maybe(named(json)),
  message: maybe(string),
});
/** An event of a list. Source: INTERFACE.md 2.3. */
export const listedEvent = shape({
  id: string,
  date,
  event: maybe(eventBody),
  columns: maybe(Type.Array(json)),
});
const damaged = maybe(shape({ blocks: count }));
const bound = maybe(shape({ limit: count, reached: Type.Literal(true), from: date }));
const unread = { blocksRefuted: count, blocksCounted: count };
const blocks = { blocksTotal: count, blocksOpened: count, ...unread };
const read = { ...blocks, rowsScanned: count, blocksDamaged: count, kernel: Type.Boolean() };
const explain = maybe(shape(read));
/** Steps of an aggregation. */
const way = oneOf('minutes', 'cube', 'trial', 'entries', 'sketch', 'passes', 'values');
const ways = Type.Array(shape({ way, levels: count, full: maybe(Type.Literal(true)) }));
const hints = maybe(
  Type.Array(
    shape({
      type: oneOf('term', 'syntax', 'attribute', 'value', 'word', 'range'),
      ...{ message: string, term: maybe(string), count: maybe(count), attribute: maybe(string) },
      ...{ value: maybe(string), nearest: maybe(string), try: maybe(string) },
      ...{ newest: maybe(date), oldest: maybe(date) },
    }),
  ),
);
/** Missing parts of an answer, and why they are missing. */
const whole = { damaged, bound };

/** Reply of `POST /beta/events/list`. */
export const listReply = resultOf(
  shape({ events: Type.Array(listedEvent), total: maybe(count), ...whole, hints, explain }),
);
/** Reply of `POST /beta/events/fetch`. */
export const fetchReply = resultOf(listedEvent);
/** Reply of `POST /beta/events/context`. */
export const contextReply = resultOf(
  shape({
    before: Type.Array(listedEvent),
    event: listedEvent,
    after: Type.Array(listedEvent),
    ...{ damaged },
  }),
);
/** A line of `POST /beta/events/export` as NDJSON: an event, or what is missing. */
export const exportLine = Type.Union([
  listedEvent,
  shape({ damaged: shape({ blocks: count }) }),
  shape({ bound: shape({ limit: count, reached: Type.Literal(true), from: date }) }),
]);

const bucketValue = Type.Union([
  ...[string, Type.Number(), Type.Boolean()],
  shape({ id: string, name: string, color }),
]);
const metricValue = Type.Union([
  ...[Type.Number(), Type.Null()],
  shape({ value: orNull(Type.Number()), formatted: string }),
]);
/** Reply of `POST /beta/events/aggregate`. Source: INTERFACE.md 2.8. */
export const aggregateReply = resultOf(
  shape({
    aggregates: Type.Array(
      shape({
        bucket: named(bucketValue),
        values: named(
          Type.Union([metricValue, Type.Array(shape({ time: date, value: metricValue }))]),
        ),
      }),
    ),
    lastBucket: maybe(named(Type.Union([string, Type.Number(), Type.Boolean()]))),
    ...whole,
    hints,
    explain: maybe(shape({ ...read, ways: maybe(ways) })),
  }),
);
/** Reply of the execution of a saved analysis: a list view, or an analytical view. Source: INTERFACE.md 4.7. */
export const executeReply = resultOf(
  Type.Union([
    shape({
      events: Type.Array(
        shape({
          ...{ id: string, date, message: maybe(string), custom: named(json) },
          ...{ syslog: named(json), reception: shape({ date }) },
        }),
      ),
      ...whole,
    }),
    shape({
      values: Type.Array(
        shape({
          time: Type.Integer(),
          fields: named(bucketValue),
          metrics: named(metricValue),
        }),
      ),
      names: maybe(
        shape({ name: string, fields: Type.Array(string), metrics: Type.Array(string) }),
      ),
      ...whole,
    }),
  ]),
);
/** Reply of `GET /beta/queries/<id>`. */
export const progressReply = resultOf(
  shape({ state: oneOf('waiting', 'running'), unitsDone: count, unitsTotal: count, ms: count }),
);
/** Reply of `DELETE /beta/queries/<id>`. */
export const cancelledReply = resultOf(shape({ state: Type.Literal('cancelled') }));

const summary = { id: string, name: string, description: string };
const tagset = { ...summary, type: Type.Literal('tagset') };
/** A field that is an attribute. Source: INTERFACE.md 2.5. */
export const attributeField = shape({
  ...summary,
  type: Type.Literal('attribute'),
  attribute: string,
});
/** Reply of `POST /beta/discover/groups`. Source: INTERFACE.md 2.4. */
export const groupsReply = resultOf(shape({ groups: Type.Array(shape(summary)) }));
/** Reply of `POST /beta/discover/fields_metrics`. Source: INTERFACE.md 2.5 and 2.6. */
export const discoverReply = resultOf(
  shape({
    fields: maybe(
      Type.Array(
        Type.Union([
          attributeField,
          shape({ ...tagset, tags: Type.Array(shape({ id: string, name: string, color })) }),
        ]),
      ),
    ),
    metrics: maybe(
      Type.Array(
        shape({
          ...summary,
          type: oneOf('attribute', 'formula', 'core'),
          ...{ attribute: maybe(string), aggregation: maybe(string), formula: maybe(string) },
        }),
      ),
    ),
  }),
);

/** Reply of `POST /beta/discover/attributes`. */
export const attributesReply = resultOf(
  shape({
    attributes: Type.Array(
      shape({
        ...{ attribute: string, kinds: Type.Array(string), events: count, distinct: maybe(count) },
        values: maybe(
          orNull(
            Type.Array(
              shape({ value: Type.Union([string, Type.Number(), Type.Boolean()]), count }),
            ),
          ),
        ),
        min: maybe(Type.Union([date, Type.Number()])),
        max: maybe(Type.Union([date, Type.Number()])),
      }),
    ),
    damaged,
  }),
);
/** Reply of `POST /beta/discover/facets`. */
export const facetsReply = resultOf(
  shape({
    facets: Type.Array(
      shape({
        field: string,
        values: Type.Array(
          shape({ value: Type.Union([string, Type.Number(), Type.Boolean()]), count }),
        ),
        more: Type.Boolean(),
      }),
    ),
    ...whole,
  }),
);
/** Reply of `POST /beta/discover/complete`. */
export const completeReply = resultOf(
  shape({
    from: count,
    to: count,
    suggestions: Type.Array(
      shape({
        text: string,
        kind: oneOf('attribute', 'field', 'tagset', 'tag', 'value', 'keyword'),
        label: maybe(string),
        count: maybe(count),
      }),
    ),
  }),
);

const CHANNELS = ['http', 'https', 'tcp', 'tls', 'udp'] as const;
const writeKey = {
  ...{ id: string, name: string, enabled: Type.Boolean(), quota_reached: Type.Boolean() },
  daily_usage: count,
  daily_quota: orNull(shape({ type: oneOf('percentage', 'megabytes'), value: Type.Number() })),
  days: Type.Array(shape({ day: string, bytes: count, events: count })),
  last_seen: orNull(string),
  senders: Type.Array(shape({ peer: string, channel: oneOf(...CHANNELS), last_seen: date })),
};
const role = oneOf(...ROLES);
const user = { id: string, name: string, role, security_filter: orNull(string), created: date };
const readKey = { id: string, name: string, security_filter: orNull(string) };
const tag = shape({ id: string, name: string, color, query: string });
/** A write key of the administration. Source: INTERFACE.md 2.1. */
export const shownWriteKey = shape(writeKey);
/** A read key of the administration. Source: INTERFACE.md 2.2. */
export const shownReadKey = shape(readKey);
/** A user of the administration. Source: INTERFACE.md 13.1. */
export const shownUser = shape(user);
const time = Type.Object({
  from: Type.Union([string, Type.Number()]),
  to: Type.Union([string, Type.Number()]),
});
/** Definitions of the administration by their resource. Source: INTERFACE.md 13. */
export const shownDefinitions = {
  fields: attributeField,
  tagsets: shape({ ...tagset, tags: Type.Array(tag) }),
  metrics: shape({
    ...summary,
    type: oneOf('attribute', 'formula', 'core'),
    ...{ attribute: maybe(string), aggregation: maybe(string), formula: maybe(string) },
    unit: maybe(string),
  }),
  groups: shape({ ...summary, fields: Type.Array(string), metrics: Type.Array(string) }),
  saved_analyses: shape({
    ...summary,
    kind: oneOf('list', 'timeseries', 'toplist', 'table'),
    time,
    filters: Type.Array(Type.Object({})),
    columns: maybe(Type.Array(Type.Object({}))),
    compute: maybe(Type.Array(Type.Object({}))),
    groupBy: maybe(Type.Array(Type.Object({}))),
  }),
};
/** A parsing extension of the administration. Source: INTERFACE.md 11. */
export const shownExtension = shape({
  ...{ ...summary, kind: string, enabled: Type.Boolean(), filter: string },
  ...{ sources: Type.Array(string), target: maybe(string), position: count },
  ...{ rules: maybe(string), helperRules: maybe(string) },
  ...{ formats: maybe(Type.Array(string)), timezone: maybe(string), keeps: maybe(Type.Boolean()) },
});
const changedExtension = shape({
  ...shownExtension.properties,
  made: maybe(
    shape({
      fields: Type.Array(shownDefinitions.fields),
      metrics: Type.Array(shownDefinitions.metrics),
      groups: Type.Array(shownDefinitions.groups),
    }),
  ),
  warning: maybe(
    shape({
      message: string,
      security_filters: Type.Array(string),
      tagsets: Type.Array(string),
    }),
  ),
});
/**
 * One of a resource of the administration: as it is listed and shown, and, when that is another, as it is answered when
 * it was made and when it was changed.
 */
export const RESOURCE_SHAPES: ReadonlyMap<
  string,
  { shown: TSchema; made?: TSchema; changed?: TSchema }
> = new Map<string, { shown: TSchema; made?: TSchema; changed?: TSchema }>([
  ['write_keys', { shown: shownWriteKey, made: shape({ ...writeKey, key: string }) }],
  ['read_keys', { shown: shownReadKey, made: shape({ ...readKey, key: string }) }],
  ['users', { shown: shownUser }],
  ...Object.entries(shownDefinitions).map(([name, shown]) => [name, { shown }] as const),
  ['extensions', { shown: shownExtension, made: changedExtension, changed: changedExtension }],
]);
/** Reply of logging in, and of `GET /account/session`. */
export const sessionReply = resultOf(
  shape({
    ...{ type: Type.Union([Type.Literal('user'), Type.Literal('key')]), name: string, role },
    ...{ security_filter: orNull(string), ends: orNull(date) },
  }),
);
/** A view that a user keeps. Source: INTERFACE.md 13.3. */
export const shownView = shape({
  ...{ id: string, name: string, address: string, shared: Type.Boolean() },
  ...{ owner: orNull(string), may_change: Type.Boolean(), changed: date },
});
/** Reply of `DELETE /account/session`. */
export const endedReply = resultOf(shape({ ended: Type.Literal(true) }));
/** Reply of `DELETE` on a resource of the administration. */
export const deletedReply = resultOf(
  shape({ id: string, name: string, deleted: Type.Literal(true) }),
);
/** Reply of `POST /admin/api/extensions/test`. */
export const extensionTestReply = resultOf(
  shape({
    events: Type.Array(
      shape({
        ...{ event: eventBody, date, matched: Type.Boolean(), rule: maybe(string) },
        before: maybe(shape({ event: eventBody, date })),
      }),
    ),
    ...{ ms: Type.Number({ minimum: 0 }), us: maybe(Type.Number({ minimum: 0 })) },
    failed: maybe(count),
  }),
);
const limits = { days: orNull(count), bytes: orNull(count), free_bytes: orNull(count) };
const goneSum = { segments: count, events: count, bytes: count };
/** Reply of `GET /admin/api/retention` and of what changes it. Source: INTERFACE.md 12. */
export const retentionReply = resultOf(
  shape({ ...limits, set: Type.Boolean(), waiting: maybe(shape({ ...goneSum, seconds: count })) }),
);
const dropped = shape({ ...goneSum, from: maybe(date), to: maybe(date) });
/** Reply of `POST /admin/api/retention/test`. */
export const retentionTestReply = resultOf(
  shape({ ...limits, age: dropped, space: dropped, unsealed: count, waits: Type.Boolean() }),
);
/** Reply of `GET /admin/api/troubles`. */
export const troublesReply = resultOf(
  shape({
    troubles: Type.Array(
      shape({
        ...{ kind: string, count, last: maybe(date) },
        ...{ line: maybe(string), reason: maybe(string), key: maybe(string) },
        ...{ channel: maybe(oneOf(...CHANNELS)), peer: maybe(string) },
      }),
    ),
  }),
);

/** Reply of `GET /admin/api/health`. */
export const serviceHealthReply = resultOf(
  shape({
    ...{ version: string, started: date },
    input: Type.Array(
      shape({ channel: oneOf(...CHANNELS), key: string, events: count, bytes: count }),
    ),
    queues: shape({
      ...{ input_bytes: count, input_bytes_max: count, tasks_pending: count },
      ...{ queries_running: count, queries_waiting: count, query_memory_bytes: count },
    }),
    disk: shape({
      ...{ events: count, bytes: count, free_bytes: count, reserve_bytes: count },
      ...{ full: Type.Boolean(), failing: Type.Boolean() },
      days: Type.Array(shape({ day: string, events: count, bytes: count })),
    }),
    sealing: shape({
      ...{ backlog_events: count, last_ms: count, failures: count, waiting: count, held: count },
      damaged_segments: count,
    }),
  }),
);
/** Reply of `GET /admin/api/ledger`. */
export const ledgerReply = resultOf(
  shape({
    ...{ since: date, counted: date, answered: count, durable: count },
    minutes: Type.Array(
      shape({
        ...{ minute: date, events: count, stored: count },
        keys: Type.Array(shape({ key: orNull(string), events: count })),
      }),
    ),
    retention_dropped: count,
    refused: Type.Array(shape({ channel: oneOf(...CHANNELS), reason: string, count })),
    damaged,
  }),
);
/** Reply of `GET /admin/api/disk`. */
export const diskReply = resultOf(
  shape({
    bytes: count,
    attributes: Type.Array(shape({ attribute: string, bytes: count })),
    other_attributes: shape({ count, bytes: count }),
    rest_bytes: count,
    damaged,
  }),
);
/** Reply of `GET /admin/api/queries`. */
export const queriesReply = resultOf(
  shape({
    queries: Type.Array(
      shape({
        ...{ id: string, key: string, kind: string, state: oneOf('waiting', 'running') },
        ...{ unitsDone: count, unitsTotal: count, ms: count },
      }),
    ),
    slow: Type.Array(
      shape({
        ...{ key: string, kind: string, state: oneOf('answered', 'stopped') },
        ...{ ended: date, ms: count, text: string },
      }),
    ),
  }),
);

/** Reply of `POST /admin/api/snapshots`. */
export const snapshotReply = resultOf(
  shape({
    id: string,
    records: count,
    open_segments: Type.Array(shape({ segment: count, bytes: count, sequence: count })),
  }),
);

/** Reply of `DELETE /admin/api/snapshots/{id}`. */
export const snapshotDeletedReply = resultOf(shape({ id: string, deleted: Type.Literal(true) }));

/** Reply of `GET /admin/api/audit`. */
export const auditReply = resultOf(
  shape({
    audit: Type.Array(Type.Object({ at: date, who: string, what: string, peer: maybe(string) })),
  }),
);

/** The list of a resource of the administration, under its name. */
export const collectionReply = (name: string, shown: TSchema) =>
  resultOf(shape({ [name]: Type.Array(shown) }));
/** A text that is no JSON, such as lines of events. */
export const plainText = Type.String();
/** Reply of `GET /healthz`. */
export const healthReply = shape({ ok: Type.Literal(true) });
/** Reply of `GET /readyz`. */
export const readyReply = shape({ ok: Type.Literal(true), damaged_segments: maybe(count) });
/** Reply of `GET /readyz` while the service cannot do its work. */
export const unreadyReply = shape({
  ok: Type.Literal(false),
  reasons: Type.Array(string),
  damaged_segments: maybe(count),
});
