import type { Aggregation } from '../../engine/engine.ts';
import type { Definitions } from '../registry/definitions.ts';
import {
  type FieldDefinition,
  type MetricDefinition,
  NOTHING_DECLARED,
  type Resolver,
} from './resolver.ts';
import { searchOf } from './selection.ts';

/** A resolver over the definitions of the service, which are read anew after each change of them. */
export function declaredResolver(definitions: Definitions): Resolver {
  let version = -1;
  const fields = new Map<string, FieldDefinition | undefined>();
  const attributes = attributesOf(definitions);
  return {
    field: (id) => {
      if (version !== definitions.version) fields.clear();
      version = definitions.version;
      if (!definitions.hasField(id)) return undefined;
      const known = fields.get(id) ?? fieldOf(definitions, id, attributes);
      fields.set(id, known);
      return known;
    },
    metric: (id) => metricOf(definitions, id),
    metricIds: () => definitions.list('metrics').map(({ id }) => id),
  };
}

/** Meanings of ids in the queries of tags, which know attributes alone, so that tagsets cannot reach themselves. */
export function attributesOf(definitions: Definitions): Resolver {
  return { ...NOTHING_DECLARED, field: (id) => definitions.get('fields', id) };
}

/** Throws ApiError 400 when the query of a tag is malformed. */
function fieldOf(
  definitions: Definitions,
  id: string,
  attributes: Resolver,
): FieldDefinition | undefined {
  const field = definitions.get('fields', id);
  if (field !== undefined) return field;
  const tagset = definitions.get('tagsets', id);
  if (tagset === undefined) return undefined;
  const tags = tagset.tags.map((tag, place) => ({
    id: tag.id,
    name: tag.name,
    color: tag.color,
    predicate: searchOf(tag.query, `tags[${place}].query`, attributes),
  }));
  return { id, name: tagset.name, type: 'tagset', tags };
}

function metricOf(definitions: Definitions, id: string): MetricDefinition | undefined {
  const metric = definitions.get('metrics', id);
  if (metric?.type !== 'attribute') return metric;
  return { ...metric, aggregation: metric.aggregation as Aggregation };
}
