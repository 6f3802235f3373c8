import { must } from '../../../engine/base/assert.ts';
import { nearest } from '../../../engine/base/nearest.ts';
import type {
  AggregateQuery,
  BucketKey,
  BucketOrder,
  Compute,
  GroupBy,
} from '../../../engine/engine.ts';
import type { Predicate } from '../../../engine/query/model/predicate.ts';
import {
  boundariesOf,
  bucketCount,
  parseInterval,
  TIME_BUCKETS_MAX,
} from '../../language/bucket.ts';
import { shown } from '../../language/shown.ts';
import { parseInstant, type TimeRange } from '../../language/time.ts';
import type { ComputeOutput, GroupOutput, QueryJob } from '../../query/job.ts';
import { numberTextIn } from '../json.ts';
import { metricOf } from '../metric.ts';
import { ApiError, answerReply, type Reply } from '../reply.ts';
import type { Resolver } from '../resolver.ts';
import type { ReadContext } from '../route.ts';
import {
  type AggregateBody,
  type ComputeBody,
  checkAggregateBody,
  type GroupByBody,
} from '../schema.ts';
import { fieldOf, mayExplain, rangeOf, selectionOf } from '../selection.ts';

const NATURAL = '@natural';
const FIELD_LIMIT_DEFAULT = 10;
/** Buckets of one field. Source: INTERFACE.md 4.8. */
const FIELD_LIMIT_MAX = 100;
/** Buckets of all fields together. Source: INTERFACE.md 4.8. */
const FIELD_PRODUCT_MAX = 1_000;
const INTERVAL_DEFAULT = '1m';

type FieldBody = NonNullable<GroupByBody[number]['field']>;
type AggregateJob = Extract<QueryJob, { type: 'aggregate' }>;

/** Meanings of the ids and times of a request. */
export interface AggregateScope {
  resolver: Resolver;
  nowMs: number;
  /** The security filter. */
  filter: Predicate;
  /** Events that are reached of a range of more than a day. */
  boundEvents: number;
}

/** `POST /beta/events/aggregate`: metrics in buckets of the selected events. Source: INTERFACE.md 4.8. */
export async function aggregateEvents(context: ReadContext): Promise<Reply> {
  const body = checkAggregateBody(context.body);
  const { resolver, nowMs, key, boundEvents } = context;
  const job = aggregateJob(body, { resolver, nowMs, filter: key.filter, boundEvents });
  const explain = mayExplain(body.explain, key);
  const answer = await context.run({ ...job, explain });
  return answerReply(must(answer, 'answer of an aggregation'));
}

/** The query of an aggregation, not explained. Throws ApiError 400. */
export function aggregateJob(body: AggregateBody, scope: AggregateScope): AggregateJob {
  const range = rangeOf(body.time, scope.nowMs);
  const { zone } = range;
  const { computes, outputs } = computesOf(body.compute, scope.resolver, range);
  const parts = (body.groupBy ?? []).map((groupBy, place) =>
    groupByOf(groupBy, `groupBy[${place}]`, { ...scope, range, computes, outputs }),
  );
  const groupBys = parts.map(({ groupBy }) => groupBy);
  const groupOutputs = parts.map(({ output }) => output);
  const groupOutput = (place: number): string =>
    `groupBy[${place}].${groupBys[place].type === 'time' ? 'time' : 'field'}.output`;
  requireDistinct(
    groupOutputs.map(({ name }) => name),
    groupOutput,
  );
  requireOwn(body, outputs, groupOutputs, groupOutput);
  requireProduct(groupBys);
  const isFirst = body.afterBucket === undefined;
  const { selection, ...hinted } = selectionOf(
    isFirst ? body : { ...body, hints: false },
    range,
    scope,
  );
  const query: AggregateQuery = { ...selection, computes, groupBys };
  if (body.afterBucket !== undefined) {
    query.afterBucket = afterOf(body.afterBucket, groupBys[0], groupOutputs[0], range, scope.nowMs);
  }
  return {
    type: 'aggregate',
    query,
    outputs,
    groupOutputs,
    format: body.format ?? false,
    zone: zone.name,
    explain: false,
    ...hinted,
  };
}

function computesOf(
  body: ComputeBody,
  resolver: Resolver,
  range: TimeRange,
): { computes: Compute[]; outputs: ComputeOutput[] } {
  const computes: Compute[] = [];
  const outputs: ComputeOutput[] = [];
  for (const [place, { metric, timeseries }] of body.entries()) {
    const parameter = `compute[${place}]`;
    const id = metric?.id ?? timeseries?.metricId ?? '';
    const idName = `${parameter}.${metric === undefined ? 'timeseries.metricId' : 'metric.id'}`;
    const { metric: meant, unit } = metricOf(id, idName, resolver);
    const name = metric?.output ?? timeseries?.output ?? id;
    outputs.push(unit === undefined ? { name } : { name, unit });
    if (timeseries === undefined) {
      computes.push({ type: 'metric', metric: meant });
      continue;
    }
    const intervalName = `${parameter}.timeseries.interval`;
    const boundaries = stepsOf(timeseries.interval, intervalName, range);
    computes.push({ type: 'timeseries', metric: meant, boundaries });
  }
  requireDistinct(
    outputs.map(({ name }) => name),
    (place) =>
      `compute[${place}].${body[place].metric === undefined ? 'timeseries' : 'metric'}.output`,
  );
  return { computes, outputs };
}

/** The time buckets of a range. Throws ApiError 400 for an interval that is none, or too short. */
function stepsOf(text: string, parameter: string, { fromMs, toMs, zone }: TimeRange): number[] {
  const interval = parseInterval(text);
  if (interval === undefined) {
    throw new ApiError(
      400,
      `${parameter} ${shown(text)} is not an interval; allowed: a number and s, m, h, d, w, M or y, such as 1s, ` +
        '15m, 1h, 1d, at most 30y',
    );
  }
  const boundaries = boundariesOf(interval, fromMs, toMs, zone);
  if (boundaries !== undefined) return boundaries;
  const count = Math.max(bucketCount(interval, fromMs, toMs), TIME_BUCKETS_MAX + 1);
  throw new ApiError(
    400,
    `${parameter} ${shown(text)} gives ${count} time buckets; allowed: ${TIME_BUCKETS_MAX}`,
  );
}

/** Scope in which a groupBy is read. */
interface GroupByScope {
  resolver: Resolver;
  range: TimeRange;
  computes: readonly Compute[];
  outputs: readonly ComputeOutput[];
}

function groupByOf(
  { field, time }: GroupByBody[number],
  parameter: string,
  scope: GroupByScope,
): { groupBy: GroupBy; output: GroupOutput } {
  const label = field?.total ?? time?.total ?? undefined;
  const total = label !== undefined;
  const labelled = total ? { total: label } : {};
  if (field === undefined) {
    const interval = time?.interval ?? INTERVAL_DEFAULT;
    const boundaries = stepsOf(interval, `${parameter}.time.interval`, scope.range);
    const output = { name: time?.output ?? 'time', ...labelled };
    return { groupBy: { type: 'time', boundaries, total }, output };
  }
  const found = fieldOf(field.id, `${parameter}.field.id`, scope.resolver);
  const order = orderOf(field, `${parameter}.field.order`, scope);
  const output = { name: field.output ?? field.id, ...labelled };
  if (found.type === 'tagset') {
    const tags = found.tags.map(({ id, predicate }) => ({ id, predicate }));
    const limit = field.limit === undefined ? {} : { limit: field.limit };
    const shownTags = found.tags.map(({ id, name, color }) => ({ id, name, color }));
    return {
      groupBy: { type: 'tagset', tags, ...limit, order, total },
      output: { ...output, tags: shownTags },
    };
  }
  const limit = field.limit ?? FIELD_LIMIT_DEFAULT;
  if (limit > FIELD_LIMIT_MAX) {
    throw new ApiError(
      400,
      `${parameter}.field.limit ${limit} is not allowed; allowed: a whole number from 1 to ${FIELD_LIMIT_MAX}`,
    );
  }
  return { groupBy: { type: 'field', path: found.attribute, limit, order, total }, output };
}

/** The order of a field's buckets: by default the first metric, descending. */
function orderOf({ order }: FieldBody, parameter: string, scope: GroupByScope): BucketOrder {
  const { computes, outputs, resolver } = scope;
  const [name, direction] = Object.entries(order ?? {})[0] ?? [];
  if (name === undefined || direction === undefined) {
    return { by: computes[0].metric, direction: 'desc' };
  }
  if (name === NATURAL) return { by: { type: 'natural' }, direction };
  const place = outputs.findIndex((output) => output.name === name);
  if (place >= 0) return { by: computes[place].metric, direction };
  try {
    return { by: metricOf(name, parameter, resolver).metric, direction };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const known = [NATURAL, ...outputs.map((output) => output.name)];
    const close = nearest(name, known);
    const hint = close === undefined ? '' : ` did you mean ${shown(close)}?`;
    throw new ApiError(
      400,
      `${parameter} ${shown(name)} is unknown;${hint} allowed: "${NATURAL}", an output of compute, or a metric id`,
    );
  }
}

/** Throws ApiError 400 when a name is there twice. Source: INTERFACE.md 4.8. */
function requireDistinct(names: readonly string[], parameter: (place: number) => string): void {
  for (const [place, name] of names.entries()) {
    if (names.indexOf(name) === place) continue;
    throw new ApiError(
      400,
      `${parameter(place)} ${shown(name)} is used twice; allowed: a name of its own`,
    );
  }
}

/** Throws ApiError 400 when a name that was given is there in compute and in groupBy. Source: INTERFACE.md 4.8. */
function requireOwn(
  { compute, groupBy }: AggregateBody,
  outputs: readonly ComputeOutput[],
  groupOutputs: readonly GroupOutput[],
  parameter: (place: number) => string,
): void {
  for (const [place, { name }] of groupOutputs.entries()) {
    const same = outputs.findIndex((output) => output.name === name);
    if (same < 0) continue;
    const { metric, timeseries } = compute[same];
    const isGiven =
      (metric ?? timeseries)?.output ??
      groupBy?.[place].field?.output ??
      groupBy?.[place].time?.output;
    if (isGiven === undefined) continue;
    throw new ApiError(
      400,
      `${parameter(place)} ${shown(name)} is used twice, here and in compute[${same}]; allowed: a name of its own`,
    );
  }
}

/** Throws ApiError 400 when the fields have too many buckets together. Source: INTERFACE.md 4.8. */
function requireProduct(groupBys: readonly GroupBy[]): void {
  let product = 1;
  for (const groupBy of groupBys) if (groupBy.type === 'field') product *= groupBy.limit;
  if (product <= FIELD_PRODUCT_MAX) return;
  throw new ApiError(
    400,
    `the limits of groupBy multiply to ${product}; allowed: at most ${FIELD_PRODUCT_MAX}`,
  );
}

/** The bucket after which a page begins. Throws ApiError 400. Source: INTERFACE.md 4.8. */
function afterOf(
  afterBucket: NonNullable<AggregateBody['afterBucket']>,
  groupBy: GroupBy | undefined,
  output: GroupOutput | undefined,
  { zone }: TimeRange,
  nowMs: number,
): BucketKey {
  const paged =
    groupBy !== undefined && (groupBy.type === 'time' || groupBy.order.by.type === 'natural');
  if (!paged || output === undefined) {
    throw new ApiError(
      400,
      `afterBucket is not allowed here; allowed: with a first groupBy of time, or ordered by "${NATURAL}"`,
    );
  }
  const [name, value] = Object.entries(afterBucket)[0];
  if (name !== output.name) {
    throw new ApiError(
      400,
      `afterBucket.${name.slice(0, 60)} is unknown; allowed: ${shown(output.name)}`,
    );
  }
  if (groupBy.type === 'time') {
    const timeMs = typeof value === 'boolean' ? undefined : parseInstant(value, zone, nowMs);
    if (timeMs !== undefined) return { type: 'time', timeMs };
    refuseAfter(name, value, 'the date of a bucket');
  }
  if (groupBy.type === 'tagset') {
    if (groupBy.tags.some(({ id }) => id === value)) return { type: 'tag', id: String(value) };
    refuseAfter(name, value, groupBy.tags.map(({ id }) => id).join(', '));
  }
  if (typeof value === 'boolean') return { type: 'boolean', value };
  return typeof value === 'number'
    ? { type: 'number', text: numberTextIn(afterBucket, name, value) }
    : { type: 'string', text: value };
}

function refuseAfter(name: string, value: unknown, allowed: string): never {
  throw new ApiError(
    400,
    `afterBucket.${name.slice(0, 60)} ${shown(value)} is not allowed; allowed: ${allowed}`,
  );
}
