import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { isAttributePath } from '../../language/filter.ts';
import { shown } from '../../language/shown.ts';
import type {
  DefinitionKind,
  DefinitionTypes,
  FieldDefinition,
  GroupDefinition,
  MetricDefinition,
  SavedAnalysis,
  Tag,
  TagsetDefinition,
} from '../../registry/definition.ts';
import { checkDefinitionId, idFromName } from '../../registry/definition-id.ts';
import { checkName } from '../../registry/key-record.ts';
import { ApiError } from '../reply.ts';
import {
  checkAggregateBody,
  checkListBody,
  choice,
  cutText,
  flag,
  list,
  named,
  object,
  text,
} from '../schema.ts';
import { refuse } from '../schema-fault.ts';
import { readExtension } from './extension-schema.ts';

const TAGS_MAX = 100;
const MEMBERS_MAX = 1_000;
const FORMULA_CHARACTERS_MAX = 1_000;
const UNIT_CHARACTERS_MAX = 10;

/** Colours of the tags of a tagset that were given none, by their place. */
const TAG_COLORS: readonly string[] = [
  ...['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd'],
  ...['#8c564b', '#e377c2', '#7f7f7f', '#bcbd22', '#17becf'],
];

const unit = Type.Optional(cutText(UNIT_CHARACTERS_MAX));
const metricType = choice('attribute', 'formula', 'core');
const aggregation = choice(
  ...['count', 'cardinality', 'sum', 'min', 'max', 'avg'],
  ...['median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'],
);

const field = Compile(
  object({
    ...named,
    type: Type.Optional(choice('attribute')),
    attribute: text('custom.<name>, syslog.<name> or message'),
  }),
);
const tagset = Compile(
  object({
    ...named,
    type: Type.Optional(choice('tagset')),
    tags: list(
      object({
        id: Type.Optional(text()),
        name: text(),
        color: Type.Optional(
          Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'a colour such as "#1f77b4"' }),
        ),
        query: text('a search query'),
      }),
      1,
      TAGS_MAX,
    ),
  }),
);
const anyMetric = Compile(
  Type.Object(
    { type: metricType },
    { description: 'an object of id, name, description, type and what the type has' },
  ),
);
const metrics = {
  core: Compile(object({ ...named, type: metricType })),
  attribute: Compile(
    object({
      ...named,
      type: metricType,
      attribute: text('custom.<name>, syslog.<name> or message'),
      aggregation,
      unit,
    }),
  ),
  formula: Compile(
    object({ ...named, type: metricType, formula: cutText(FORMULA_CHARACTERS_MAX, 1), unit }),
  ),
};
const group = Compile(
  object({
    ...named,
    fields: Type.Optional(list(text('the id of a field'), 0, MEMBERS_MAX)),
    metrics: Type.Optional(list(text('the id of a metric'), 0, MEMBERS_MAX)),
  }),
);
const described = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  description,
});
const analysis = Compile(
  object({
    ...named,
    kind: choice('list', 'timeseries', 'toplist', 'table'),
    time: described(Type.Unknown(), 'an object of from, to, timezone, offset'),
    filters: Type.Optional(Type.Unknown()),
    columns: Type.Optional(Type.Unknown()),
    compute: Type.Optional(Type.Unknown()),
    groupBy: Type.Optional(Type.Unknown()),
  }),
);

const discoverBody = object({
  fields: flag(),
  metrics: flag(),
  groups: Type.Optional(list(text('the id of a group'), 0, MEMBERS_MAX)),
});
const discover = Compile(discoverBody);
const groups = Compile(object({}));

/** Schemas of definitions and of the bodies of discovery, for the description of the interface. */
export const DEFINITION_SCHEMAS = {
  ...{ field: field.Type(), tagset: tagset.Type(), group: group.Type(), analysis: analysis.Type() },
  coreMetric: metrics.core.Type(),
  attributeMetric: metrics.attribute.Type(),
  formulaMetric: metrics.formula.Type(),
  ...{ discoverGroups: groups.Type(), discover: discoverBody },
};

/** Body of `POST /beta/discover/fields_metrics`. Source: INTERFACE.md 4.5. */
export type DiscoverBody = Static<typeof discoverBody>;

/** Returns the body if it asks for fields and metrics. Throws ApiError 400 naming the first fault. */
export function checkDiscoverBody(body: unknown): DiscoverBody {
  return discover.Check(body) ? body : refuse(discover, body);
}

/** Throws ApiError 400 unless the body is an empty object, which is all that is known of the discovery of groups. */
export function checkGroupsBody(body: unknown): void {
  if (!groups.Check(body)) refuse(groups, body);
}

/**
 * Reads a definition from a value of any shape. Defaults are filled in, names and ids are checked, the meaning of
 * texts is not. Throws ApiError 400, or USAGE, naming the first fault.
 */
export function readDefinition<K extends DefinitionKind>(
  kind: K,
  value: unknown,
): DefinitionTypes[K] {
  const definition = READERS[kind](value);
  checkName(definition.name);
  return definition;
}

const READERS: { [K in DefinitionKind]: (value: unknown) => DefinitionTypes[K] } = {
  fields: readField,
  tagsets: readTagset,
  metrics: readMetric,
  groups: readGroup,
  saved_analyses: readAnalysis,
  extensions: readExtension,
};

function readField(value: unknown): FieldDefinition {
  if (!field.Check(value)) return refuse(field, value);
  const { id, name, description = '', attribute } = value;
  checkAttribute(attribute);
  return { id, name, description, type: 'attribute', attribute };
}

function checkAttribute(attribute: string): void {
  if (isAttributePath(attribute)) return;
  throw new ApiError(
    400,
    `attribute ${shown(attribute)} is not allowed; allowed: custom.<name>, syslog.<name> or message`,
  );
}

function readTagset(value: unknown): TagsetDefinition {
  if (!tagset.Check(value)) return refuse(tagset, value);
  const { id, name, description = '' } = value;
  const taken = new Set(value.tags.flatMap((tag) => tag.id ?? []));
  const seen = new Set<string>();
  const tags = value.tags.map((tag, place): Tag => {
    checkName(tag.name, `tags[${place}].name`);
    const tagId = tag.id ?? idFromName(tag.name, 'tag', (wanted) => taken.has(wanted));
    taken.add(tagId);
    checkDefinitionId(tagId, `tags[${place}].id`);
    if (seen.has(tagId)) throw new ApiError(400, `tags[${place}].id ${shown(tagId)} is used twice`);
    seen.add(tagId);
    const color = tag.color ?? TAG_COLORS[place % TAG_COLORS.length];
    return { id: tagId, name: tag.name, color, query: tag.query };
  });
  return { id, name, description, type: 'tagset', tags };
}

function readMetric(value: unknown): MetricDefinition {
  if (!anyMetric.Check(value)) return refuse(anyMetric, value);
  const { attribute, formula, core } = metrics;
  if (value.type === 'attribute') {
    if (!attribute.Check(value)) return refuse(attribute, value);
    checkAttribute(value.attribute);
    return { ...value, type: 'attribute', description: value.description ?? '' };
  }
  if (value.type === 'formula') {
    if (!formula.Check(value)) return refuse(formula, value);
    return { ...value, type: 'formula', description: value.description ?? '' };
  }
  if (!core.Check(value)) return refuse(core, value);
  return { ...value, type: 'core', description: value.description ?? '' };
}

function readGroup(value: unknown): GroupDefinition {
  if (!group.Check(value)) return refuse(group, value);
  return {
    ...value,
    description: value.description ?? '',
    fields: value.fields ?? [],
    metrics: value.metrics ?? [],
  };
}

function readAnalysis(value: unknown): SavedAnalysis {
  if (!analysis.Check(value)) return refuse(analysis, value);
  const { id, name, description = '', columns, compute, groupBy, ...rest } = value;
  const kind = rest.kind as SavedAnalysis['kind'];
  const { time, filters = [] } = rest;
  if (kind === 'list') {
    refusePart(kind, 'compute', compute);
    refusePart(kind, 'groupBy', groupBy);
    const body = checkListBody(given({ time, filters, columns }));
    const { columns: checked = [] } = body;
    return {
      ...{ id, name, description, kind },
      time: body.time,
      filters: body.filters ?? [],
      columns: checked,
    };
  }
  refusePart(kind, 'columns', columns);
  const body = checkAggregateBody(given({ time, filters, compute, groupBy }));
  return {
    ...{ id, name, description, kind },
    time: body.time,
    filters: body.filters ?? [],
    compute: body.compute as SavedAnalysis['compute'] & object,
    groupBy: (body.groupBy ?? []) as SavedAnalysis['groupBy'] & object,
  };
}

function refusePart(kind: string, parameter: string, value: unknown): void {
  if (value === undefined) return;
  throw new ApiError(400, `${parameter} is not allowed in an analysis of kind "${kind}"`);
}

/** The parts that are there. */
function given(parts: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}
