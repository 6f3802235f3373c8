import { nearestHint } from '../../../engine/base/nearest.ts';
import { shown } from '../../language/shown.ts';
import type {
  FieldDefinition,
  GroupDefinition,
  MetricDefinition,
  TagsetDefinition,
} from '../../registry/definition.ts';
import { checkDiscoverBody, checkGroupsBody } from '../admin/definition-schema.ts';
import { ApiError, type Reply, resultReply } from '../reply.ts';
import type { ReadContext } from '../route.ts';

/** `POST /beta/discover/groups`: all groups. Source: INTERFACE.md 4.5. */
export async function discoverGroups(context: ReadContext): Promise<Reply> {
  checkGroupsBody(context.body);
  const groups = context.definitions
    .list('groups')
    .map(({ id, name, description }) => ({ id, name, description }));
  return resultReply(JSON.stringify({ groups }));
}

/**
 * `POST /beta/discover/fields_metrics`: what is declared, of some groups or of all; `false` leaves a key out.
 * Source: INTERFACE.md 4.5.
 */
export async function discoverFieldsMetrics(context: ReadContext): Promise<Reply> {
  const { fields, metrics, groups } = checkDiscoverBody(context.body);
  const { definitions } = context;
  const wanted = groups === undefined ? undefined : groupsOf(groups, definitions.list('groups'));
  const isWanted = (type: 'fields' | 'metrics', id: string): boolean =>
    wanted?.some((group) => group[type].includes(id)) ?? true;
  const result = {
    ...(fields && {
      fields: [...definitions.list('fields'), ...definitions.list('tagsets')]
        .filter(({ id }) => isWanted('fields', id))
        .map(shownField),
    }),
    ...(metrics && {
      metrics: definitions
        .list('metrics')
        .filter(({ id }) => isWanted('metrics', id))
        .map(shownMetric),
    }),
  };
  return resultReply(JSON.stringify(result));
}

function groupsOf(ids: readonly string[], groups: readonly GroupDefinition[]): GroupDefinition[] {
  return ids.map((id, place) => {
    const group = groups.find((one) => one.id === id);
    if (group !== undefined) return group;
    const known = groups.map((one) => one.id);
    const hint = nearestHint(id, known);
    throw new ApiError(
      400,
      `groups[${place}] ${shown(id)} is unknown;${hint} allowed: ${listed(known)}`,
    );
  });
}

/** Ids for a message: not more than a few. */
function listed(ids: readonly string[]): string {
  const few = ids.slice(0, 10).join(', ');
  return ids.length > 10 ? `${few} and ${ids.length - 10} more` : few;
}

/** The queries of tags stay inside: they tell of data that the key may not see. Source: INTERFACE.md 2.5. */
function shownField(field: FieldDefinition | TagsetDefinition): object {
  if (field.type === 'attribute') return field;
  return { ...field, tags: field.tags.map(({ id, name, color }) => ({ id, name, color })) };
}

/** Source: INTERFACE.md 2.6. */
function shownMetric({ id, name, description, ...metric }: MetricDefinition): object {
  const summary = { id, name, description, type: metric.type };
  if (metric.type === 'core') return summary;
  if (metric.type === 'formula') return { ...summary, formula: metric.formula };
  return { ...summary, attribute: metric.attribute, aggregation: metric.aggregation };
}
