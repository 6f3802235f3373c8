import type { Aggregation } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';

/** A tag of a tagset: an event has the first one whose predicate holds for it. */
export interface TagDefinition {
  id: string;
  name: string;
  /** `#rrggbb`. */
  color: string;
  predicate: Predicate;
}

/** A declared field. Source: INTERFACE.md 2.5. */
export type FieldDefinition =
  | { id: string; name: string; type: 'attribute'; attribute: string }
  | { id: string; name: string; type: 'tagset'; tags: readonly TagDefinition[] };

/** A declared metric; `formula` is its text over metric ids. Source: INTERFACE.md 2.6 and 4.8. */
export type MetricDefinition =
  | { id: string; name: string; type: 'core' }
  | {
      id: string;
      name: string;
      type: 'attribute';
      attribute: string;
      aggregation: Aggregation;
      /** Stands behind formatted values, such as `ms`. */
      unit?: string;
    }
  | { id: string; name: string; type: 'formula'; formula: string; unit?: string };

/** Meanings of declared ids in requests. A declared id wins over an attribute path. */
export interface Resolver {
  field(id: string): FieldDefinition | undefined;
  metric(id: string): MetricDefinition | undefined;
  /** Ids of the declared metrics, for messages. */
  metricIds(): readonly string[];
}

/** Knows no id: all ids are attribute paths, `count`, or `<aggregation>:<path>`. */
export const NOTHING_DECLARED: Resolver = {
  field: () => undefined,
  metric: () => undefined,
  metricIds: () => [],
};
