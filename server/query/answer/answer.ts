import { must } from '../../../engine/base/assert.ts';
import type { Units } from '../../../engine/base/pause.ts';
import type {
  AggregateResult,
  AttributesResult,
  Bound,
  ContextResult,
  FacetsResult,
  ListedEvent,
  ListResult,
  PageResult,
  QueryStats,
} from '../../../engine/engine.ts';
import { isoIn, parseZone, UTC, type Zone } from '../../language/zone.ts';
import type { HintFacts } from '../hint/hint.ts';
import { hintsOf } from '../hint/makers.ts';
import type { JobAnswer, QueryJob } from '../job.ts';
import { writeAggregates } from './aggregate-answer.ts';
import { AnswerWriter } from './answer-writer.ts';
import { attributeText, facetText } from './attribute-answer.ts';
import { eventText } from './event-text.ts';
import { writePage } from './export-page.ts';
import { rawEventText, writeRows } from './saved-answer.ts';

type JobOf<T extends QueryJob['type']> = Extract<QueryJob, { type: T }>;

/** The engine's result for a job, by the job's type. */
interface Found {
  list: ListResult;
  fetch: ListedEvent | undefined;
  export: PageResult;
  context: ContextResult | undefined;
  aggregate: AggregateResult;
  attributes: AttributesResult;
  facets: FacetsResult;
}

/**
 * Writes what the engine found for `job` as the JSON text of `result`, in units; runs in the query worker, so that the
 * front does no work per row. `undefined` for an event that was not found. A partial answer says so in `damaged` and
 * `bound`. `facts` are those of an answer without events. Source: INTERFACE.md 4.6 and 4.8.
 */
export function* writeAnswer<J extends Extract<QueryJob, { type: keyof Found }>>(
  job: J,
  found: Found[J['type']],
  facts?: HintFacts,
): Units<JobAnswer> {
  if (found === undefined) return undefined;
  const writer = new AnswerWriter();
  if (job.type === 'attributes') yield* writeAttributes(writer, job, found as AttributesResult);
  else if (job.type === 'facets') yield* writeFacets(writer, job, found as FacetsResult);
  else if (job.type === 'list') yield* writeList(writer, job, found as ListResult, facts);
  else if (job.type === 'aggregate')
    yield* writeAggregate(writer, job, found as AggregateResult, facts);
  else if (job.type === 'context') yield* writeContext(writer, job, found as ContextResult);
  else if (job.type === 'export') {
    yield* writePage(writer, job, found as PageResult, zoneOf(job.zone));
  } else writer.add(eventText(found as ListedEvent, job.query.columns.length > 0, UTC));
  return writer.finish();
}

function* writeList(
  writer: AnswerWriter,
  job: JobOf<'list'>,
  result: ListResult,
  facts: HintFacts | undefined,
): Units<void> {
  const zone = zoneOf(job.zone);
  const withColumns = job.query.columns.length > 0;
  const textOf = (event: ListedEvent): string =>
    job.saved === true ? rawEventText(event, zone) : eventText(event, withColumns, zone);
  writer.add('{"events":[');
  yield* writer.addEach(result.events, textOf, ',');
  const total = result.total === undefined ? '' : `,"total":${result.total}`;
  const missing = `${boundText(result.bound, zone)}${hintsText(facts, zone)}`;
  writer.add(`]${total}${missing}${statsText(result.stats, job.explain)}}`);
}

function* writeAttributes(
  writer: AnswerWriter,
  job: JobOf<'attributes'>,
  result: AttributesResult,
): Units<void> {
  const zone = zoneOf(job.zone);
  writer.add('{"attributes":[');
  yield* writer.addEach(result.attributes, (facts) => attributeText(facts, zone), ',');
  writer.add(`]${statsText(result.stats, false)}}`);
}

function* writeFacets(
  writer: AnswerWriter,
  { ids, zone }: JobOf<'facets'>,
  { facets, bound, stats }: FacetsResult,
): Units<void> {
  writer.add('{"facets":[');
  yield* writer.addEach([...facets.entries()], ([at, facet]) => facetText(ids[at], facet), ',');
  writer.add(`]${boundText(bound, zoneOf(zone))}${statsText(stats, false)}}`);
}

function* writeAggregate(
  writer: AnswerWriter,
  job: JobOf<'aggregate'>,
  result: AggregateResult,
  facts: HintFacts | undefined,
): Units<void> {
  writer.add('{');
  if (job.saved === undefined) yield* writeAggregates(writer, job, result);
  else yield* writeRows(writer, job, result);
  const zone = zoneOf(job.zone);
  const { bound, stats, ways = [] } = result;
  const read = statsText({ ...stats, ways }, job.explain);
  const names = job.saved?.names === undefined ? '' : `,"names":${job.saved.names}`;
  writer.add(`${names}${boundText(bound, zone)}${hintsText(facts, zone)}${read}}`);
}

function* writeContext(
  writer: AnswerWriter,
  job: JobOf<'context'>,
  { before, event, after, stats }: ContextResult,
): Units<void> {
  const zone = zoneOf(job.zone);
  const withColumns = job.query.columns.length > 0;
  const textOf = (one: ListedEvent): string => eventText(one, withColumns, zone);
  writer.add('{"before":[');
  yield* writer.addEach(before, textOf, ',');
  writer.add(`],"event":${textOf(event)},"after":[`);
  yield* writer.addEach(after, textOf, ',');
  writer.add(`]${statsText(stats, false)}}`);
}

/** Says that only the newest events of the range were reached, when there are more. */
function boundText(bound: Bound | undefined, zone: Zone): string {
  if (bound === undefined) return '';
  const { limit, oldestMs } = bound;
  return `,"bound":{"limit":${limit},"reached":true,"from":"${isoIn(zone, oldestMs)}"}`;
}

/** Why there are no events, when something is known of it. */
function hintsText(facts: HintFacts | undefined, zone: Zone): string {
  const hints = facts === undefined ? [] : hintsOf(facts, zone);
  if (hints.length === 0) return '';
  const texts = hints.map(({ newestMs, oldestMs, ...hint }) => ({
    ...hint,
    ...(newestMs === undefined ? {} : { newest: isoIn(zone, newestMs) }),
    ...(oldestMs === undefined ? {} : { oldest: isoIn(zone, oldestMs) }),
  }));
  return `,"hints":${JSON.stringify(texts)}`;
}

/** Says that the answer is partial, if it is, and what was read for it, if that was asked. */
function statsText(stats: QueryStats & Pick<AggregateResult, 'ways'>, explain: boolean): string {
  const damaged = stats.blocksDamaged > 0 ? `,"damaged":{"blocks":${stats.blocksDamaged}}` : '';
  return explain ? `${damaged},"explain":${JSON.stringify(stats)}` : damaged;
}

function zoneOf(name: string): Zone {
  return must(parseZone(name), `zone ${name}`);
}
