import type { ListColumn } from '../../engine/engine.ts';
import { metricOf } from './metric.ts';
import type { Resolver } from './resolver.ts';
import type { ColumnsBody } from './schema.ts';
import { fieldOf } from './selection.ts';

/**
 * Columns of a request. A tagset shows the id of the event's tag, a metric of an attribute the event's value, the
 * event count 1, and a formula its value for these. Throws ApiError 400. Source: INTERFACE.md 4.6.
 */
export function columnsOf(columns: Readonly<ColumnsBody>, resolver: Resolver): ListColumn[] {
  return columns.map(({ metric, field, attribute = '' }, place) => {
    const parameter = `columns[${place}]`;
    if (metric !== undefined) return metricColumn(metric, `${parameter}.metric`, resolver);
    const name = field === undefined ? 'attribute' : 'field';
    const found = fieldOf(field ?? attribute, `${parameter}.${name}`, resolver);
    if (found.type === 'attribute') return { type: 'attribute', path: found.attribute };
    const tags = found.tags.map(({ id, predicate }) => ({ id, predicate }));
    return { type: 'tag', tags };
  });
}

function metricColumn(id: string, parameter: string, resolver: Resolver): ListColumn {
  const { metric } = metricOf(id, parameter, resolver);
  if (metric.type === 'formula') return { type: 'formula', expression: metric.expression };
  return metric.type === 'core' ? { type: 'count' } : { type: 'attribute', path: metric.path };
}
