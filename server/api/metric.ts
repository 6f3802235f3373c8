import { nearest } from '../../engine/base/nearest.ts';
import type { Aggregation, Metric } from '../../engine/engine.ts';
import { isAttributePath } from '../query/filter.ts';
import { shown } from '../query/shown.ts';
import { ApiError } from './reply.ts';

/** Id of the number of events. Source: decisions.md 5.4. */
const CORE_METRIC = 'count';

const AGGREGATIONS: ReadonlyMap<string, Aggregation> = new Map(
  (
    [
      ...['count', 'cardinality', 'sum', 'min', 'max', 'avg'],
      ...['median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'],
    ] as Aggregation[]
  ).map((name) => [name, name]),
);

/**
 * The metric whose id is `id`: `count`, or `<aggregation>:<path>`. Throws ApiError 400 that names `parameter` and the
 * nearest id. Source: decisions.md 4.2, 5.4.
 */
export function parseMetric(id: string, parameter: string): Metric {
  if (id === CORE_METRIC) return { type: 'core' };
  const colon = id.indexOf(':');
  const name = colon < 0 ? id : id.slice(0, colon);
  const aggregation = AGGREGATIONS.get(name);
  if (colon >= 0 && aggregation !== undefined) {
    const path = id.slice(colon + 1);
    if (isAttributePath(path)) return { type: 'attribute', path, aggregation };
    throw new ApiError(
      400,
      `${parameter} ${shown(id)} has an unknown attribute; allowed after the colon: custom.<name>, ` +
        'syslog.<name> or message',
    );
  }
  const close = nearest(name, colon < 0 ? [CORE_METRIC] : AGGREGATIONS.keys());
  const hint = close === undefined ? '' : ` did you mean "${close}"?`;
  throw new ApiError(
    400,
    `${parameter} ${shown(id)} is unknown;${hint} allowed: count, or <aggregation>:<attribute path> with ` +
      [...AGGREGATIONS.keys()].join(', '),
  );
}
