import type {
  Definition,
  DefinitionKind,
  ExtensionDefinition,
  GroupDefinition,
  MetricDefinition,
  SavedAnalysis,
  TagsetDefinition,
} from './definition.ts';

/** A name in a definition: a field or tagset, or a metric, by an id or by a path that may become one. */
export interface Reference {
  type: 'field' | 'metric';
  id: string;
}

/** The parts of the query languages that show the names in a definition. Both throw when a text is malformed. */
export interface Languages {
  /** The attribute names in a search. */
  searchNames(query: string): Iterable<string>;
  /** The metric ids in a formula. */
  formulaMetrics(formula: string): Iterable<string>;
}

/** All that a definition names, repetitions included. Throws as `languages` do. */
export function referencesOf(
  kind: DefinitionKind,
  definition: Definition,
  languages: Languages,
): Reference[] {
  if (kind === 'groups') return ofGroup(definition as GroupDefinition);
  if (kind === 'saved_analyses') return ofAnalysis(definition as SavedAnalysis, languages);
  if (kind === 'tagsets') {
    const { tags } = definition as TagsetDefinition;
    return tags.flatMap(({ query }) => fields(languages.searchNames(query)));
  }
  if (kind === 'extensions') {
    return fields(languages.searchNames((definition as ExtensionDefinition).filter));
  }
  if (kind === 'fields') return [];
  const metric = definition as MetricDefinition;
  return metric.type === 'formula' ? metrics(languages.formulaMetrics(metric.formula)) : [];
}

/**
 * A tag that `before` has and `after` has not while the filter of an analysis names it. Those that searches name are
 * found by `DefinitionRules.check`.
 */
export function removedTag(
  before: TagsetDefinition,
  after: TagsetDefinition,
  analyses: readonly SavedAnalysis[],
): { tagId: string; analysisId: string } | undefined {
  const kept = new Set(after.tags.map(({ id }) => id));
  const removed = new Set(before.tags.map(({ id }) => id).filter((id) => !kept.has(id)));
  for (const { id: analysisId, filters } of analyses) {
    for (const { field } of filters) {
      const tagId =
        field?.id === before.id ? field.values.find((id) => removed.has(id)) : undefined;
      if (tagId !== undefined) return { tagId, analysisId };
    }
  }
  return undefined;
}

function ofGroup(group: GroupDefinition): Reference[] {
  return [...fields(group.fields), ...metrics(group.metrics)];
}

function ofAnalysis(analysis: SavedAnalysis, languages: Languages): Reference[] {
  const found: Reference[] = [];
  // Ids of metrics, or formulas in their place.
  const computed: string[] = [];
  for (const { field, search } of analysis.filters) {
    if (field !== undefined) found.push(...fields([field.id]));
    const query = typeof search === 'object' ? search.query : search;
    if (query !== undefined) found.push(...fields(languages.searchNames(query)));
  }
  for (const { field, metric } of analysis.columns ?? []) {
    if (field !== undefined) found.push(...fields([field]));
    if (metric !== undefined) computed.push(metric);
  }
  for (const { metric, timeseries } of analysis.compute ?? []) {
    const id = metric?.id ?? timeseries?.metricId;
    if (id !== undefined) computed.push(id);
  }
  for (const { field } of analysis.groupBy ?? []) {
    if (field === undefined) continue;
    found.push(...fields([field.id]));
    computed.push(...Object.keys(field.order ?? {}));
  }
  for (const id of computed) {
    found.push(...metrics(id.startsWith('=') ? languages.formulaMetrics(id.slice(1)) : [id]));
  }
  return found;
}

function fields(ids: Iterable<string>): Reference[] {
  return [...ids].map((id) => ({ type: 'field', id }));
}

function metrics(ids: Iterable<string>): Reference[] {
  return [...ids].map((id) => ({ type: 'metric', id }));
}
