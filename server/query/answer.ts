import { must } from '../../engine/base/assert.ts';
import type { AggregateResult, ListedEvent, ListResult, QueryStats } from '../../engine/engine.ts';
import { aggregatesText } from './aggregate-answer.ts';
import type { JobAnswer, QueryJob } from './job.ts';
import { rawEventText, rowsText } from './saved-answer.ts';
import { isoIn, parseZone, UTC, type Zone } from './zone.ts';

type JobOf<T extends QueryJob['type']> = Extract<QueryJob, { type: T }>;

/** What the engine finds for a job, by the job's type. */
interface Found {
  list: ListResult;
  fetch: ListedEvent | undefined;
  aggregate: AggregateResult;
}

/**
 * Writes what the engine found for `job` as the JSON text of `result`; runs in the query worker, so that the front
 * does no work per row. `undefined` for an event that was not found. A partial answer says so in `damaged`.
 * Source: interface.md 4.6 and 4.8, decisions.md 5b.
 */
export function answerJob<J extends QueryJob>(job: J, found: Found[J['type']]): JobAnswer {
  if (job.type === 'list') return answerList(job, found as ListResult);
  if (job.type === 'aggregate') return answerAggregate(job, found as AggregateResult);
  const event = found as ListedEvent | undefined;
  return event === undefined ? undefined : eventText(event, job.query.columns.length > 0, UTC);
}

function answerList(job: JobOf<'list'>, result: ListResult): string {
  const zone = zoneOf(job.zone);
  const withColumns = job.query.columns.length > 0;
  const events = result.events.map((event) =>
    job.saved === true ? rawEventText(event, zone) : eventText(event, withColumns, zone),
  );
  return `{"events":[${events.join(',')}]${statsText(result.stats, job.explain)}}`;
}

function answerAggregate(job: JobOf<'aggregate'>, result: AggregateResult): string {
  const text = job.saved === undefined ? aggregatesText(job, result) : rowsText(job, result);
  return `{${text}${statsText(result.stats, job.explain)}}`;
}

/** An event of a reply; `event` and `columns` are JSON texts already. */
function eventText(event: ListedEvent, withColumns: boolean, zone: Zone): string {
  let text = `{"id":${JSON.stringify(event.id)},"date":"${isoIn(zone, event.timeMs)}"`;
  if (event.event !== undefined) text += `,"event":${event.event}`;
  if (withColumns) text += `,"columns":[${event.columns.join(',')}]`;
  return `${text}}`;
}

/** That the answer is partial, when it is, and what was read for it, when that was asked. */
function statsText(stats: QueryStats, explain: boolean): string {
  const damaged = stats.blocksDamaged > 0 ? `,"damaged":{"blocks":${stats.blocksDamaged}}` : '';
  return explain ? `${damaged},"explain":${JSON.stringify(stats)}` : damaged;
}

function zoneOf(name: string): Zone {
  return must(parseZone(name), `zone ${name}`);
}
