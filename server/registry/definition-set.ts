import type {
  Definition,
  DefinitionKind,
  DefinitionTypes,
  FieldDefinition,
  MetricDefinition,
} from './definition.ts';

/** Fields, metrics and a group of them that come with an extension. */
export interface DefinitionSet {
  fields: readonly FieldDefinition[];
  metrics: readonly (MetricDefinition & { type: 'attribute' })[];
  /** Has all of them. Without it they are in none. */
  group?: { id: string; name: string; description: string };
}

/** Existing definitions. */
interface Known {
  list<K extends DefinitionKind>(kind: K): DefinitionTypes[K][];
  get<K extends DefinitionKind>(kind: K, id: string): DefinitionTypes[K] | undefined;
}

/**
 * Definitions of a set that are still to be made, in a possible order. Existing ones stay, whatever their ids. A
 * field exists when one has its attribute; a metric exists when one has its attribute and aggregation. Either also
 * exists when its id is taken.
 */
export function missingOf(set: DefinitionSet, known: Known): [DefinitionKind, Definition][] {
  const missing: [DefinitionKind, Definition][] = [];
  const fieldIds = set.fields.map((field) => {
    const same = known.list('fields').find(({ attribute }) => attribute === field.attribute);
    if (same !== undefined) return same.id;
    const isTaken =
      known.get('fields', field.id) !== undefined || known.get('tagsets', field.id) !== undefined;
    if (!isTaken) missing.push(['fields', field]);
    return field.id;
  });
  const metricIds = set.metrics.map((metric) => {
    const same = known
      .list('metrics')
      .find(
        (one) =>
          one.type === 'attribute' &&
          one.attribute === metric.attribute &&
          one.aggregation === metric.aggregation,
      );
    if (same !== undefined) return same.id;
    if (known.get('metrics', metric.id) === undefined) missing.push(['metrics', metric]);
    return metric.id;
  });
  const { group } = set;
  if (group !== undefined && known.get('groups', group.id) === undefined) {
    missing.push(['groups', { ...group, fields: fieldIds, metrics: metricIds }]);
  }
  return missing;
}
