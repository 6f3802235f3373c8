import { must } from '../../../engine/base/assert.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { shown } from '../../language/shown.ts';
import type { JobAnswer } from '../../query/job.ts';
import { columnsOf } from '../columns.ts';
import { ApiError, answerReply, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkFetchBody, checkListBody } from '../schema.ts';
import { fieldOf, mayExplain, rangeOf, selectionOf } from '../selection.ts';

const LIST_LIMIT_DEFAULT = 50;
/** Events that can be left out of a list that is not by date, or behind an event: they are gathered. */
const GATHERED_MAX = 100_000;

/** `POST /beta/events/list`: a page of events, newest first. Source: INTERFACE.md 4.6. */
export async function listEvents(context: ReadContext): Promise<Reply> {
  const body = checkListBody(context.body);
  const range = rangeOf(body.time, context.nowMs);
  const { zone } = range;
  const { afterEvent: after, skip, orderBy } = body;
  if ((skip ?? 0) > GATHERED_MAX && (after !== undefined || orderBy !== undefined)) {
    const other = after === undefined ? 'orderBy' : 'afterEvent';
    throw new ApiError(400, `skip ${skip} is not allowed with ${other}; allowed: 0 to 100000`);
  }
  const explain = mayExplain(body.explain, context.key);
  const { key, resolver, boundEvents } = context;
  const scope = { resolver, filter: key.filter, boundEvents };
  const isFirst = after === undefined && (skip ?? 0) === 0;
  const { selection, ...hinted } = selectionOf(
    isFirst ? body : { ...body, hints: false },
    range,
    scope,
  );
  const query = {
    ...selection,
    order: body.order ?? 'desc',
    limit: body.limit ?? LIST_LIMIT_DEFAULT,
    ...(after === undefined ? {} : { after }),
    ...(skip === undefined ? {} : { skip }),
    ...(body.total === true ? { total: true } : {}),
    ...(orderBy === undefined ? {} : { orderBy: pathOf(orderBy, context) }),
    event: body.event ?? false,
    columns: columnsOf(body.columns ?? [], context.resolver),
  };
  try {
    const answer = await context.run({ type: 'list', query, zone: zone.name, explain, ...hinted });
    return answerReply(must(answer, 'answer of a list'));
  } catch (error) {
    if (after === undefined || !isUsage(error)) throw error;
    const what =
      orderBy === undefined
        ? 'is malformed; allowed: the id of an event'
        : 'is not of the list; allowed: the id of an event that it has';
    throw new ApiError(400, `afterEvent ${shown(after)} ${what}`);
  }
}

/** The path that a list is ordered by. Throws ApiError 400. */
function pathOf(orderBy: string, { resolver }: ReadContext): string {
  const field = fieldOf(orderBy, 'orderBy', resolver);
  if (field.type === 'attribute') return field.attribute;
  throw new ApiError(
    400,
    `orderBy ${shown(orderBy)} is a tagset; allowed: an attribute or a field`,
  );
}

/**
 * `POST /beta/events/fetch`: one event, dates in UTC. An id that is malformed, unknown, or hidden by the key's filter
 * is the same 404. Source: INTERFACE.md 4.6.
 */
export async function fetchEvent(context: ReadContext): Promise<Reply> {
  const body = checkFetchBody(context.body);
  const query = {
    id: body.id,
    predicate: context.key.filter,
    event: body.event ?? false,
    columns: columnsOf(body.columns ?? [], context.resolver),
  };
  let answer: JobAnswer;
  try {
    answer = await context.run({ type: 'fetch', query });
  } catch (error) {
    if (!isUsage(error)) throw error;
  }
  if (answer === undefined) throw new ApiError(404, `id ${shown(body.id)}: there is no such event`);
  return answerReply(answer);
}

/** Recognises the engine's error for a malformed id: only the engine knows how ids are checked. */
function isUsage(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'USAGE';
}
