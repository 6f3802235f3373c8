import { must } from '../../engine/base/assert.ts';
import { shown } from '../query/shown.ts';
import { parseMetric } from './metric.ts';
import { ApiError, type Reply, resultReply } from './reply.ts';
import type { ReadContext } from './route.ts';
import { type AggregateBody, checkAggregateBody } from './schema.ts';
import { mayExplain, predicateOf, rangeOf } from './selection.ts';

/** `POST /beta/events/aggregate`: metrics over the selected events. Source: interface.md 4.8, decisions.md 5.3. */
export async function aggregateEvents(context: ReadContext): Promise<Reply> {
  const body = checkAggregateBody(context.body);
  const computed = metricsOf(body);
  const { fromMs, toMs, zone } = rangeOf(body.time, context.nowMs);
  const query = {
    fromMs,
    toMs,
    predicate: predicateOf(body.filters ?? [], context.key.filter),
    metrics: computed.map(({ id, place }) => parseMetric(id, `compute[${place}].metric.id`)),
  };
  const answer = await context.run({
    type: 'aggregate',
    query,
    outputs: outputsOf(computed),
    format: body.format ?? false,
    zone: zone.name,
    explain: mayExplain(body.explain, context.key),
  });
  return resultReply(must(answer, 'answer of an aggregation'));
}

/** A metric of `compute` and its place there. */
interface Computed {
  id: string;
  output: string;
  place: number;
}

/** The metrics of a request; the one place that refuses what is not supported yet. */
function metricsOf(body: AggregateBody): Computed[] {
  if (body.groupBy !== undefined && body.groupBy.length > 0) refuse('groupBy');
  if (body.afterBucket !== undefined) refuse('afterBucket');
  return body.compute.map(({ metric }, place) => {
    if (metric === undefined) return refuse(`compute[${place}].timeseries`);
    return { id: metric.id, output: metric.output ?? metric.id, place };
  });
}

function refuse(parameter: string): never {
  throw new ApiError(400, `${parameter} is not supported yet`);
}

/** Names under which the values stand in the reply. Source: decisions.md 5b.1. */
function outputsOf(computed: readonly Computed[]): string[] {
  const names = new Set<string>();
  for (const { output, place } of computed) {
    if (names.has(output)) {
      throw new ApiError(
        400,
        `compute[${place}].metric.output ${shown(output)} is used twice; allowed: a name of its own`,
      );
    }
    names.add(output);
  }
  return [...names];
}
