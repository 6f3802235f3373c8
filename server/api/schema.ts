import { type Static, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { assert, must } from '../../engine/base/assert.ts';
import { LIST_LIMIT_MAX } from '../../engine/base/limits.ts';
import { nearest } from '../../engine/base/nearest.ts';
import { shown } from '../query/shown.ts';
import { ApiError } from './reply.ts';

/** Elements of `filters`. */
const FILTERS_MAX = 100;
/** Values of a field filter. */
const VALUES_MAX = 1_000;
/** Elements of `columns`. */
const COLUMNS_MAX = 1_000;
const COMPUTE_MAX = 5;
const GROUP_BY_MAX = 3;

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
    description: `an object of ${Object.keys(properties).join(', ')}`,
  });
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
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: '"asc" or "desc"' }),
  ),
  explain: Type.Optional(flag()),
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

/** Body of `POST /beta/events/list`. Source: interface.md 4.6; `order` is ours (decisions.md 5.2). */
export type ListBody = Static<typeof listBody>;
/** Body of `POST /beta/events/fetch`. Source: interface.md 4.6. */
export type FetchBody = Static<typeof fetchBody>;
/** Body of `POST /beta/events/aggregate`. Source: interface.md 4.8. */
export type AggregateBody = Static<typeof aggregateBody>;
/** The `compute` array. Source: interface.md 4.8, decisions.md 5b.1. */
export type ComputeBody = Static<typeof compute>;
/** The `groupBy` array. Source: interface.md 4.8, decisions.md 5b.1. */
export type GroupByBody = Static<typeof groupBy>;
/** The `time` object. Source: interface.md 4.2. */
export type TimeBody = Static<typeof time>;
/** The `filters` array, in both spellings of a search. Source: interface.md 4.3, decisions.md 5b.1. */
export type FiltersBody = Static<typeof filters>;
/** The `columns` array. Source: interface.md 4.6. */
export type ColumnsBody = Static<typeof columns>;

const listValidator = Compile(listBody);
const fetchValidator = Compile(fetchBody);
const aggregateValidator = Compile(aggregateBody);

/** The body as it is, when it is one of a list request. Throws ApiError 400 naming the first fault. */
export function checkListBody(body: unknown): ListBody {
  return listValidator.Check(body) ? body : refuse(listValidator, body);
}

/** The body as it is, when it is one of a fetch request. Throws ApiError 400 naming the first fault. */
export function checkFetchBody(body: unknown): FetchBody {
  return fetchValidator.Check(body) ? body : refuse(fetchValidator, body);
}

/** The body as it is, when it is one of an aggregate request. Throws ApiError 400 naming the first fault. */
export function checkAggregateBody(body: unknown): AggregateBody {
  return aggregateValidator.Check(body) ? body : refuse(aggregateValidator, body);
}

/** What a fault is said from: where it is in the body, and where the broken rule is in the schema. */
interface Fault {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: object;
}

/** Throws the ApiError 400 that names the parameter, its value, and what is allowed, of a body that does not pass. */
export function refuse(validator: Validator, body: unknown): never {
  const schema: unknown = validator.Type();
  const fault = firstFault(validator.Errors(body));
  const unknownName = /^(.*)\/additionalProperties$/.exec(fault.schemaPath);
  const parts = segments(fault.instancePath);
  if (fault.keyword === 'boolean' && unknownName !== null) {
    const known = Object.keys(Object(at(schema, [...segments(unknownName[1]), 'properties'])));
    throw new ApiError(400, unknownMessage(parameterName(parts), String(parts.at(-1)), known));
  }
  let rule = segments(fault.schemaPath);
  let missing = '';
  if (fault.keyword === 'required') {
    const { requiredProperties } = fault.params as { requiredProperties: string[] };
    parts.push(requiredProperties[0]);
    rule = [...rule, 'properties', requiredProperties[0]];
    missing = ' is missing';
  }
  const allowed = Object(at(schema, rule)).description;
  assert(typeof allowed === 'string', `schema ${fault.schemaPath} says what is allowed`);
  const what = missing === '' ? ` ${shown(at(body, parts))} is not allowed` : missing;
  throw new ApiError(400, `${parameterName(parts)}${what}; allowed: ${allowed}`);
}

/**
 * The fault to tell: an unknown name before all others, because a misspelled one is also missing. Of a union it is the
 * one inside an alternative, when the value is of that alternative's kind, else the union's own.
 */
function firstFault(faults: readonly Fault[]): Fault {
  const first = must(faults[0], 'fault of a refused body');
  const unknown = faults.find((fault) => fault.keyword === 'boolean');
  if (unknown !== undefined) return unknown;
  const union = /^(.*?)\/anyOf\/\d/.exec(first.schemaPath)?.[1];
  if (union === undefined) return first;
  const inside = faults.filter((fault) => fault.schemaPath.startsWith(`${union}/anyOf/`));
  const depth = Math.min(...inside.map((fault) => segments(fault.instancePath).length));
  const deeper = inside.find(
    (fault) => segments(fault.instancePath).length > depth || fault.keyword === 'required',
  );
  return deeper ?? { ...first, keyword: 'anyOf', schemaPath: union };
}

/** `filters[0].feild is unknown; did you mean "field"? allowed: field, search` */
function unknownMessage(parameter: string, name: string, known: string[]): string {
  const close = nearest(name, known);
  const hint = close === undefined ? '' : ` did you mean "${close}"?`;
  return `${parameter} is unknown;${hint} allowed: ${known.join(', ')}`;
}

/** The names of a JSON pointer, `#` left out. Source: RFC 6901. */
function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The part of a tree at a path of own properties. */
function at(tree: unknown, path: readonly string[]): unknown {
  let part = tree;
  for (const name of path)
    part = Object.hasOwn(Object(part), name) ? Object(part)[name] : undefined;
  return part;
}

/** `filters[0].field.id`; the whole is `the body`; names of strangers are shortened. */
function parameterName(path: readonly string[]): string {
  if (path.length === 0) return 'the body';
  return path
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name.slice(0, 60)}`))
    .join('')
    .replace(/^\./, '');
}
