import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { LIST_LIMIT_MAX } from '../../engine/base/limits.ts';
import { refuse } from './schema-fault.ts';

/** Elements of `filters`. */
const FILTERS_MAX = 100;
/** Values of a field filter. */
const VALUES_MAX = 1_000;
/** Events before a page of a list that are left out. */
const SKIP_MAX = 1_000_000_000;
/** Elements of `columns`. */
const COLUMNS_MAX = 1_000;
/** Events that a tail shows in a second. */
const TAIL_PER_SECOND_MAX = 2_000;
/** Attributes that discovery tells of, and values of each. */
const ATTRIBUTES_MAX = 1_000;
const ATTRIBUTE_VALUES_MAX = 100;
/** Attributes whose values are counted together. */
const FACETS_MAX = 20;
/** Suggestions of a completion. */
const SUGGESTIONS_MAX = 50;
const COMPUTE_MAX = 5;
const GROUP_BY_MAX = 3;
/** Events before an event, and after it. */
const CONTEXT_EVENTS_MAX = 500;
const DESCRIPTION_CHARACTERS_MAX = 1_000;

/** A text. Its `description`, as of all parts of a schema, is what messages say is allowed. */
export const text = (description = 'a string') => Type.String({ description });
/** True or false. */
export const flag = () => Type.Boolean({ description: 'true or false' });
/** An array of so many `items`. */
export const list = <T extends TSchema>(items: T, minItems: number, maxItems: number) =>
  Type.Array(items, {
    minItems,
    maxItems,
    description: `an array of ${minItems} to ${maxItems} elements`,
  });
/** An object of these properties and no others. */
export const object = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, {
    additionalProperties: false,
    description: `an object of ${Object.keys(properties).join(', ') || 'no members'}`,
  });
/** A text of so many characters. */
export const cutText = (maxLength: number, minLength = 0) =>
  Type.String({
    minLength,
    maxLength,
    description: `a string of ${minLength} to ${maxLength} characters`,
  });
/** One of these texts. */
export const choice = (...values: string[]) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description: values.map((value) => `"${value}"`).join(' or ') },
  );
/** Fields that every definition has. */
export const named = {
  id: text(),
  name: text(),
  description: Type.Optional(cutText(DESCRIPTION_CHARACTERS_MAX)),
};
/** An object with exactly one of its properties. */
const oneOf = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description: `an object of one of ${Object.keys(properties).join(', ')}`,
  });

const point = () =>
  Type.Union([Type.String(), Type.Number()], {
    description: 'an ISO 8601 string, epoch milliseconds as a number, or date math such as now-15m',
  });

const time = object({
  from: point(),
  to: point(),
  timezone: Type.Optional(text('the name of a time zone')),
  offset: Type.Optional(
    Type.Integer({
      minimum: -50_400_000,
      maximum: 50_400_000,
      description:
        'whole seconds from -50400 to 50400, or whole milliseconds from -50400000 to 50400000',
    }),
  ),
});

const filters = list(
  oneOf({
    field: Type.Optional(
      object({
        id: text(),
        values: list(text(), 1, VALUES_MAX),
        exclude: Type.Optional(flag()),
      }),
    ),
    search: Type.Optional(
      Type.Union([Type.String(), object({ query: text() })], {
        description: 'a query string, or an object of query',
      }),
    ),
  }),
  0,
  FILTERS_MAX,
);

const columns = list(
  oneOf({
    field: Type.Optional(text()),
    metric: Type.Optional(text()),
    attribute: Type.Optional(text()),
  }),
  0,
  COLUMNS_MAX,
);

const listBody = object({
  time,
  filters: Type.Optional(filters),
  event: Type.Optional(flag()),
  columns: Type.Optional(columns),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      description: `a whole number from 1 to ${LIST_LIMIT_MAX}`,
    }),
  ),
  afterEvent: Type.Optional(text()),
  skip: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SKIP_MAX,
      description: `a whole number from 0 to ${SKIP_MAX}`,
    }),
  ),
  total: Type.Optional(flag()),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: '"asc" or "desc"' }),
  ),
  orderBy: Type.Optional(text()),
  explain: Type.Optional(flag()),
  hints: Type.Optional(flag()),
});

const exportBody = object({
  time,
  filters: Type.Optional(filters),
  order: Type.Optional(choice('asc', 'desc')),
  columns: Type.Optional(columns),
  format: Type.Optional(choice('ndjson', 'csv')),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'a whole number, 1 or greater' })),
  afterEvent: Type.Optional(text()),
  safe: Type.Optional(flag()),
  partial: Type.Optional(flag()),
});

const around = () =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: CONTEXT_EVENTS_MAX,
      description: `a whole number from 0 to ${CONTEXT_EVENTS_MAX}`,
    }),
  );

const contextBody = object({
  id: text(),
  before: around(),
  after: around(),
  filters: Type.Optional(filters),
  event: Type.Optional(flag()),
  columns: Type.Optional(columns),
  timezone: Type.Optional(text('the name of a time zone')),
});

const tailBody = object({
  query: Type.Optional(text()),
  filters: Type.Optional(filters),
  event: Type.Optional(flag()),
  columns: Type.Optional(columns),
  timezone: Type.Optional(text('the name of a time zone')),
  limit_per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: TAIL_PER_SECOND_MAX,
      description: `a whole number from 1 to ${TAIL_PER_SECOND_MAX}`,
    }),
  ),
  last_event_id: Type.Optional(text('the id of an event of a tail')),
});

const fetchBody = object({
  id: text(),
  event: Type.Optional(flag()),
  columns: Type.Optional(columns),
});

const output = () =>
  Type.Optional(Type.String({ minLength: 1, description: 'a string that is not empty' }));
const total = () =>
  Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      description: 'a string that is not empty, or null',
    }),
  );
const interval = () => text('a number of s, m, h, d, w, M or y, such as 15m');

const compute = list(
  oneOf({
    metric: Type.Optional(object({ id: text(), output: output() })),
    timeseries: Type.Optional(object({ metricId: text(), output: output(), interval: interval() })),
  }),
  1,
  COMPUTE_MAX,
);

const groupBy = list(
  oneOf({
    field: Type.Optional(
      object({
        id: text(),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, description: 'a whole number from 1 to 100' }),
        ),
        output: output(),
        total: total(),
        order: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
              description: '"asc" or "desc"',
            }),
            {
              minProperties: 1,
              maxProperties: 1,
              description: 'an object of one metric id, output or "@natural" and "asc" or "desc"',
            },
          ),
        ),
      }),
    ),
    time: Type.Optional(
      object({ interval: Type.Optional(interval()), output: output(), total: total() }),
    ),
  }),
  0,
  GROUP_BY_MAX,
);

const aggregateBody = object({
  time,
  compute,
  groupBy: Type.Optional(groupBy),
  filters: Type.Optional(filters),
  format: Type.Optional(flag()),
  explain: Type.Optional(flag()),
  hints: Type.Optional(flag()),
  afterBucket: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
        description: 'the value of a bucket: a string, a number, true or false',
      }),
      {
        minProperties: 1,
        maxProperties: 1,
        description: "an object of the first groupBy's output and a bucket's value",
      },
    ),
  ),
});

/** A whole number of a range. */
const whole = (minimum: number, maximum: number) =>
  Type.Integer({
    minimum,
    maximum,
    description: `a whole number from ${minimum} to ${maximum}`,
  });

const attributesBody = object({
  time,
  filters: Type.Optional(filters),
  attributes: Type.Optional(list(text(), 1, ATTRIBUTES_MAX)),
  prefix: Type.Optional(text()),
  limit: Type.Optional(whole(1, ATTRIBUTES_MAX)),
  values: Type.Optional(whole(0, ATTRIBUTE_VALUES_MAX)),
  distinct: Type.Optional(flag()),
});

const facetsBody = object({
  time,
  filters: Type.Optional(filters),
  fields: list(text(), 1, FACETS_MAX),
  limit: Type.Optional(whole(1, ATTRIBUTE_VALUES_MAX)),
});

const completeBody = object({
  query: text(),
  position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'a whole number up to the length of query' }),
  ),
  time,
  limit: Type.Optional(whole(1, SUGGESTIONS_MAX)),
});

/** Body of `POST /beta/events/list`. Source: INTERFACE.md 4.6. */
export type ListBody = Static<typeof listBody>;
/** Body of `POST /beta/events/fetch`. Source: INTERFACE.md 4.6. */
export type FetchBody = Static<typeof fetchBody>;
/** Body of `POST /beta/events/export`. */
export type ExportBody = Static<typeof exportBody>;
/** Body of `POST /beta/events/context`. */
export type ContextBody = Static<typeof contextBody>;
/** Body of `POST /beta/events/tail`, and the parameters of `GET`. */
export type TailBody = Static<typeof tailBody>;
/** Body of `POST /beta/events/aggregate`. Source: INTERFACE.md 4.8. */
export type AggregateBody = Static<typeof aggregateBody>;
/** Body of `POST /beta/discover/attributes`. Source: INTERFACE.md 4.5. */
export type AttributesBody = Static<typeof attributesBody>;
/** Body of `POST /beta/discover/facets`. Source: INTERFACE.md 4.5. */
export type FacetsBody = Static<typeof facetsBody>;
/** Body of `POST /beta/discover/complete`. Source: INTERFACE.md 4.5. */
export type CompleteBody = Static<typeof completeBody>;
/** The `compute` array. Source: INTERFACE.md 4.8. */
export type ComputeBody = Static<typeof compute>;
/** The `groupBy` array. Source: INTERFACE.md 4.8. */
export type GroupByBody = Static<typeof groupBy>;
/** The `time` object. Source: INTERFACE.md 4.2. */
export type TimeBody = Static<typeof time>;
/** The `filters` array, in both spellings of a search. Source: INTERFACE.md 4.3. */
export type FiltersBody = Static<typeof filters>;
/** The `columns` array. Source: INTERFACE.md 4.6. */
export type ColumnsBody = Static<typeof columns>;

/** Schemas of request bodies and of their parts, for the description of the interface. */
export const BODY_SCHEMAS = {
  ...{ time, filters, columns, compute, groupBy },
  ...{ list: listBody, fetch: fetchBody, export: exportBody },
  ...{ context: contextBody, tail: tailBody, aggregate: aggregateBody },
  ...{ attributes: attributesBody, facets: facetsBody, complete: completeBody },
};

const listValidator = Compile(listBody);
const fetchValidator = Compile(fetchBody);
const exportValidator = Compile(exportBody);
const contextValidator = Compile(contextBody);
const tailValidator = Compile(tailBody);
const aggregateValidator = Compile(aggregateBody);
const attributesValidator = Compile(attributesBody);
const facetsValidator = Compile(facetsBody);
const completeValidator = Compile(completeBody);

/** Returns the body if it asks for a list. Throws ApiError 400 naming the first fault. */
export function checkListBody(body: unknown): ListBody {
  return listValidator.Check(body) ? body : refuse(listValidator, body);
}

/** Returns the body if it asks for an event. Throws ApiError 400 naming the first fault. */
export function checkFetchBody(body: unknown): FetchBody {
  return fetchValidator.Check(body) ? body : refuse(fetchValidator, body);
}

/** Returns the body if it asks for an export. Throws ApiError 400 naming the first fault. */
export function checkExportBody(body: unknown): ExportBody {
  return exportValidator.Check(body) ? body : refuse(exportValidator, body);
}

/** Returns the body if it asks for a context. Throws ApiError 400 naming the first fault. */
export function checkContextBody(body: unknown): ContextBody {
  return contextValidator.Check(body) ? body : refuse(contextValidator, body);
}

/** Returns the body if it asks for a tail. Throws ApiError 400 naming the first fault. */
export function checkTailBody(body: unknown): TailBody {
  return tailValidator.Check(body) ? body : refuse(tailValidator, body);
}

/** Returns the body if it asks for an aggregation. Throws ApiError 400 naming the first fault. */
export function checkAggregateBody(body: unknown): AggregateBody {
  return aggregateValidator.Check(body) ? body : refuse(aggregateValidator, body);
}

/** Returns the body if it asks for attributes. Throws ApiError 400 naming the first fault. */
export function checkAttributesBody(body: unknown): AttributesBody {
  return attributesValidator.Check(body) ? body : refuse(attributesValidator, body);
}

/** Returns the body if it asks for facets. Throws ApiError 400 naming the first fault. */
export function checkFacetsBody(body: unknown): FacetsBody {
  return facetsValidator.Check(body) ? body : refuse(facetsValidator, body);
}

/** Returns the body if it asks for a completion. Throws ApiError 400 naming the first fault. */
export function checkCompleteBody(body: unknown): CompleteBody {
  return completeValidator.Check(body) ? body : refuse(completeValidator, body);
}
