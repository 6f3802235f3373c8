import { must } from '../../engine/base/assert.ts';
import type {
  AggregateResult,
  AttributesResult,
  Bound,
  ContextResult,
  ListedEvent,
  ListResult,
  PageResult,
  QueryStats,
} from '../../engine/engine.ts';
import { aggregatesUnits } from './aggregate-answer.ts';
import { attributeText } from './attribute-answer.ts';
import { eventText } from './event-text.ts';
import { pageText } from './export-page.ts';
import type { JobAnswer, QueryJob } from './job.ts';
import { rawEventText, rowsUnits } from './saved-answer.ts';
import { isoIn, parseZone, UTC, type Zone } from './zone.ts';

type JobOf<T extends QueryJob['type']> = Extract<QueryJob, { type: T }>;

/** What the engine finds for a job, by the job's type. */
interface Found {
  list: ListResult;
  fetch: ListedEvent | undefined;
  export: PageResult;
  context: ContextResult | undefined;
  aggregate: AggregateResult;
  attributes: AttributesResult;
}

/**
 * Writes what the engine found for `job` as the JSON text of `result`; runs in the query worker, so that the front
 * does no work per row. `undefined` for an event that was not found. A partial answer says so in `damaged` and `bound`.
 * Source: interface.md 4.6 and 4.8, decisions.md 5b.
 */
export function answerJob<J extends Exclude<QueryJob, { type: 'complete' }>>(
  job: J,
  found: Found[J['type']],
): JobAnswer {
  if (job.type === 'attributes') return answerAttributes(job, found as AttributesResult);
  if (job.type === 'list') return answerList(job, found as ListResult);
  if (job.type === 'aggregate') return answerAggregate(job, found as AggregateResult);
  if (job.type === 'export') return pageText(job, found as PageResult, zoneOf(job.zone));
  if (job.type === 'context') return answerContext(job, found as ContextResult | undefined);
  const event = found as ListedEvent | undefined;
  return event === undefined ? undefined : eventText(event, job.query.columns.length > 0, UTC);
}

function answerList(job: JobOf<'list'>, result: ListResult): string {
  const zone = zoneOf(job.zone);
  const withColumns = job.query.columns.length > 0;
  const events = result.events.map((event) =>
    job.saved === true ? rawEventText(event, zone) : eventText(event, withColumns, zone),
  );
  const bound = boundText(result.bound, zone);
  return `{"events":[${events.join(',')}]${bound}${statsText(result.stats, job.explain)}}`;
}

function answerAttributes(job: JobOf<'attributes'>, result: AttributesResult): string {
  const zone = zoneOf(job.zone);
  const attributes = result.attributes.map((facts) => attributeText(facts, zone));
  return `{"attributes":[${attributes.join(',')}]${statsText(result.stats, false)}}`;
}

/** The same of an aggregation, in units of a few milliseconds: it may have a million values. */
export function* aggregateAnswerUnits(
  job: JobOf<'aggregate'>,
  result: AggregateResult,
): Generator<undefined, string> {
  const units = job.saved === undefined ? aggregatesUnits(job, result) : rowsUnits(job, result);
  const text = yield* units;
  const bound = boundText(result.bound, zoneOf(job.zone));
  return `{${text}${bound}${statsText(result.stats, job.explain)}}`;
}

function answerAggregate(job: JobOf<'aggregate'>, result: AggregateResult): string {
  const units = aggregateAnswerUnits(job, result);
  for (;;) {
    const { done, value } = units.next();
    if (done === true) return value;
  }
}

function answerContext(job: JobOf<'context'>, result: ContextResult | undefined): JobAnswer {
  if (result === undefined) return undefined;
  const zone = zoneOf(job.zone);
  const withColumns = job.query.columns.length > 0;
  const texts = (events: readonly ListedEvent[]): string =>
    events.map((event) => eventText(event, withColumns, zone)).join(',');
  const { before, event, after, stats } = result;
  return (
    `{"before":[${texts(before)}],"event":${eventText(event, withColumns, zone)},` +
    `"after":[${texts(after)}]${statsText(stats, false)}}`
  );
}

/** That only the newest events of the range were reached, when there are more. */
function boundText(bound: Bound | undefined, zone: Zone): string {
  if (bound === undefined) return '';
  const { limit, oldestMs } = bound;
  return `,"bound":{"limit":${limit},"reached":true,"from":"${isoIn(zone, oldestMs)}"}`;
}

/** That the answer is partial, when it is, and what was read for it, when that was asked. */
function statsText(stats: QueryStats, explain: boolean): string {
  const damaged = stats.blocksDamaged > 0 ? `,"damaged":{"blocks":${stats.blocksDamaged}}` : '';
  return explain ? `${damaged},"explain":${JSON.stringify(stats)}` : damaged;
}

function zoneOf(name: string): Zone {
  return must(parseZone(name), `zone ${name}`);
}
