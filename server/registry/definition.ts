/** Common part of definitions. `id` never changes and is unique in its namespace; fields and tagsets share one. */
interface Named {
  id: string;
  name: string;
  description: string;
}

/** A field that is an attribute of events. Source: INTERFACE.md 2.5. */
export interface FieldDefinition extends Named {
  type: 'attribute';
  /** A path such as `custom.http.verb`. */
  attribute: string;
}

/** A tag: events for which its query, and none of the tags before it, holds. */
export interface Tag {
  id: string;
  name: string;
  /** `#rrggbb`. */
  color: string;
  query: string;
}

/** A field whose value is the first tag whose query holds for an event. Source: INTERFACE.md 2.5. */
export interface TagsetDefinition extends Named {
  type: 'tagset';
  tags: readonly Tag[];
}

/**
 * A metric; of type `core` there is one, the number of events. `unit` stands behind formatted values, such as `ms`.
 * Source: INTERFACE.md 2.6.
 */
export type MetricDefinition = Named &
  (
    | { type: 'core' }
    | { type: 'attribute'; attribute: string; aggregation: string; unit?: string }
    | { type: 'formula'; formula: string; unit?: string }
  );

/** A collection of fields, tagsets and metrics by their ids. Source: INTERFACE.md 2.4. */
export interface GroupDefinition extends Named {
  fields: readonly string[];
  metrics: readonly string[];
}

/** An element of `filters`. Source: INTERFACE.md 4.3. */
export interface SavedFilter {
  field?: { id: string; values: string[]; exclude?: boolean };
  search?: string | { query: string };
}

/** An element of `columns`. Source: INTERFACE.md 4.6. */
export interface SavedColumn {
  field?: string;
  metric?: string;
  attribute?: string;
}

/** An element of `compute`. Source: INTERFACE.md 4.8. */
export interface SavedCompute {
  metric?: { id: string; output?: string };
  timeseries?: { metricId: string; output?: string; interval: string };
}

/** An element of `groupBy`. Source: INTERFACE.md 4.8. */
export interface SavedGroupBy {
  field?: { id: string; limit?: number; output?: string; order?: Record<string, string> };
  time?: { interval?: string; output?: string };
}

/** A bookmarked analysis with all that it needs to run. Source: INTERFACE.md 2.7. */
export interface SavedAnalysis extends Named {
  kind: 'list' | 'timeseries' | 'toplist' | 'table';
  time: { from: string | number; to: string | number; timezone?: string; offset?: number };
  filters: readonly SavedFilter[];
  /** Columns that kind `list` shows of its events. */
  columns?: readonly SavedColumn[];
  /** Computes of the other kinds. */
  compute?: readonly SavedCompute[];
  groupBy?: readonly SavedGroupBy[];
}

/** Kinds of parsing extensions. */
export const EXTENSION_KINDS = [
  'json',
  'keyvalue',
  'access_log',
  'grok',
  'url',
  'user_agent',
  'query_string',
  'severity',
  'date',
  'attribute',
] as const;

/** Kind of a parsing extension. Source: INTERFACE.md 11. */
export type ExtensionKind = (typeof EXTENSION_KINDS)[number];

/** Kinds of extensions that need nothing but where to look and where to put it. */
export type PlainExtensionKind = Exclude<ExtensionKind, 'grok' | 'date' | 'attribute'>;

/**
 * A parsing extension, which reads more out of the events for which `filter` holds. Definitions run in their order.
 * Source: INTERFACE.md 11.
 */
export type ExtensionDefinition = Named & {
  enabled: boolean;
  /** A search query; empty: all events. */
  filter: string;
  /** Attribute paths: the first one that has a value is read. */
  sources: readonly string[];
  /** Attribute path that gets the findings; `custom` when it is left out. */
  target?: string;
} & (
    | { kind: PlainExtensionKind }
    /** A rule a line: a name, a blank, a pattern. */
    | { kind: 'grok'; rules: string; helperRules: string }
    | { kind: 'date'; formats: readonly string[]; timezone: string }
    /** `keeps`: the source stays too. */
    | { kind: 'attribute'; keeps: boolean }
  );

/** The definitions by the name of their resource in the admin API. */
export interface DefinitionTypes {
  fields: FieldDefinition;
  tagsets: TagsetDefinition;
  metrics: MetricDefinition;
  groups: GroupDefinition;
  saved_analyses: SavedAnalysis;
  extensions: ExtensionDefinition;
}

/** The name of a resource that is defined. */
export type DefinitionKind = keyof DefinitionTypes;

/** A definition of any kind. */
export type Definition = DefinitionTypes[DefinitionKind];

/** The kinds in the order in which they can be made: each refers to those before it only, or to itself. */
export const DEFINITION_KINDS: readonly DefinitionKind[] = [
  'fields',
  'tagsets',
  'metrics',
  'groups',
  'saved_analyses',
  'extensions',
];

/** Name of one definition of a kind, in messages. */
export const SINGULAR: Readonly<Record<DefinitionKind, string>> = {
  fields: 'field',
  tagsets: 'tagset',
  metrics: 'metric',
  groups: 'group',
  saved_analyses: 'saved analysis',
  extensions: 'extension',
};

/** Id of the number of events. Source: INTERFACE.md 4.8. */
export const CORE_METRIC_ID = 'count';
