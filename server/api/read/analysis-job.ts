import type { QueryJob } from '../../query/job.ts';
import type { SavedAnalysis } from '../../registry/definition.ts';
import { columnsOf } from '../columns.ts';
import { ApiError } from '../reply.ts';
import { checkAggregateBody } from '../schema.ts';
import { boundOf, predicateOf, rangeOf } from '../selection.ts';
import { type AggregateScope, aggregateJob } from './aggregate.ts';
import type { ExecuteBody } from './execute-schema.ts';

const LIMIT_DEFAULT = 50;

/** The query of an analysis. Parts of the request replace saved ones. Throws ApiError 400. Source: INTERFACE.md 4.7. */
export function jobOfAnalysis(
  analysis: SavedAnalysis,
  asked: ExecuteBody,
  scope: AggregateScope,
): QueryJob {
  const time = timeOf(analysis, asked.time);
  const skip = asked['field.from'] ?? asked.field?.from ?? 0;
  if (analysis.kind !== 'list') {
    if (skip > 0) {
      throw new ApiError(
        400,
        `field.from ${skip} is not allowed in an analysis of kind "${analysis.kind}"; allowed: 0`,
      );
    }
    return analyticalJob(analysis, time, asked, scope);
  }
  const range = rangeOf(time, scope.nowMs);
  const { fromMs, toMs, zone } = range;
  // They are for whoever shows the view; what they name is looked at nevertheless.
  columnsOf(analysis.columns ?? [], scope.resolver);
  const query = {
    fromMs,
    toMs,
    predicate: predicateOf(analysis.filters, scope.filter, scope.resolver),
    ...boundOf(range, scope.boundEvents, scope.filter),
    order: 'desc' as const,
    limit: asked.limit ?? LIMIT_DEFAULT,
    skip,
    event: true,
    columns: [{ type: 'attribute' as const, path: 'syslog' }],
  };
  return { type: 'list', query, zone: zone.name, saved: true, explain: false };
}

function analyticalJob(
  analysis: SavedAnalysis,
  time: SavedAnalysis['time'],
  asked: ExecuteBody,
  scope: AggregateScope,
): QueryJob {
  checkForm(analysis);
  const body = checkAggregateBody({
    time,
    filters: analysis.filters,
    compute: analysis.compute,
    groupBy: analysis.groupBy?.map(({ field, time: step }) =>
      field === undefined ? { time: withoutTotal(step) } : { field: withoutTotal(field) },
    ),
    format: asked.format ?? false,
    hints: false,
  });
  const isPaginable = analysis.kind !== 'timeseries';
  const rowsMax = isPaginable
    ? (asked.limit ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
  const names = asked.names === true ? { names: JSON.stringify(namesOf(analysis)) } : {};
  return { ...aggregateJob(body, scope), saved: { rowsMax, ...names } };
}

/** The name of an analysis, and the ids of which its outputs are made, in their order. */
function namesOf({ name, compute = [], groupBy = [] }: SavedAnalysis) {
  return {
    name,
    fields: groupBy.flatMap(({ field }) => field?.id ?? []),
    metrics: compute.map(({ metric, timeseries }) => metric?.id ?? timeseries?.metricId),
  };
}

/** The time of an analysis with what is asked instead; a zone that is asked replaces an offset that was saved. */
function timeOf(analysis: SavedAnalysis, asked: ExecuteBody['time']): SavedAnalysis['time'] {
  const { from, to, ...zone } = analysis.time;
  const hasZone = asked?.timezone !== undefined || asked?.offset !== undefined;
  return { from, to, ...(hasZone ? {} : zone), ...asked };
}

/** Throws ApiError 400 unless the rows of an analytical view have one time each, as its kind wants. */
function checkForm({ kind, compute = [], groupBy = [] }: SavedAnalysis): void {
  const series = compute.flatMap(({ timeseries }) => timeseries ?? []);
  const times = groupBy.filter(({ time }) => time !== undefined);
  if (series.length > 0 && series.length < compute.length) {
    throw new ApiError(400, 'compute mixes metric and timeseries; allowed: one of them');
  }
  const interval = series[0]?.interval;
  const other = series.find((one) => one.interval !== interval);
  if (other !== undefined) {
    throw new ApiError(
      400,
      `compute has the intervals "${interval}" and "${other.interval}"; allowed: one`,
    );
  }
  if (times.length + (series.length > 0 ? 1 : 0) > 1) {
    throw new ApiError(400, 'groupBy and compute have several times; allowed: one');
  }
  const hasTime = times.length > 0 || series.length > 0;
  if (kind === 'timeseries' && !hasTime) {
    throw new ApiError(
      400,
      'groupBy has no time; an analysis of kind "timeseries" needs one, or timeseries in compute',
    );
  }
  if (kind === 'toplist' && (hasTime || groupBy.length === 0)) {
    throw new ApiError(
      400,
      'groupBy of an analysis of kind "toplist" must be 1 to 3 fields, without time',
    );
  }
}

/** Totals are for aggregations: rows of a view have none. */
function withoutTotal(groupBy: object | undefined): object {
  return Object.fromEntries(Object.entries(groupBy ?? {}).filter(([name]) => name !== 'total'));
}
