import { shown } from '../../language/shown.ts';
import type { LiveQueries, LiveQuery } from '../../query/live-queries.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from '../reply.ts';
import type { ReadContext, ReadKey } from '../route.ts';

/** The header in which a request names its query. */
const ID_HEADER = 'x-query-id';
const ID = /^[\w-]{1,64}$/;
/** Total units that a key with a security filter is told: the real number tells of events that the filter hides. */
const UNITS_TOTAL_HIDDEN = 100;

/**
 * The query that a request names by its header `x-query-id`, to be closed when it is answered; `undefined` without it.
 * Throws ApiError 400 when that is no id, and 409 when another query of the key has it.
 */
export function queryOf(
  live: LiveQueries,
  request: ApiRequest,
  key: ReadKey,
): LiveQuery | undefined {
  const id = request.headers.get(ID_HEADER);
  if (id === undefined) return undefined;
  if (!ID.test(id)) {
    throw new ApiError(
      400,
      `the header X-Query-Id ${shown(id)} is not allowed; allowed: 1 to 64 of A-Z a-z 0-9 _ -`,
    );
  }
  const query = live.open(key.id, id, request.signal);
  if (query !== undefined) return query;
  throw new ApiError(
    409,
    `the header X-Query-Id ${shown(id)} is that of another query which is not answered; allowed: an id of its own`,
  );
}

/**
 * The reply of `answer`; `query` is closed when it is there, or, when it comes in parts, when the last one was written.
 */
export async function closing(
  query: LiveQuery | undefined,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  if (query === undefined) return answer();
  let isOver = true;
  try {
    const reply = await answer();
    const { stream } = reply;
    if (stream === undefined) return reply;
    isOver = false;
    return { ...reply, stream: (sink) => stream(sink).finally(() => query.close()) };
  } finally {
    if (isOver) query.close();
  }
}

/** `GET /beta/queries/<id>`: how far a query of the same key is. Throws ApiError 404 as `DELETE`. */
export function queryProgress(context: ReadContext): Reply {
  const query = unanswered(context);
  const { state, unitsDone, unitsTotal } = query.progress;
  const ms = Math.round(performance.now() - query.startedMs);
  const units = unitsFor(context.key, unitsDone, unitsTotal);
  return resultReply(JSON.stringify({ state, ...units, ms }));
}

/** `DELETE /beta/queries/<id>`: cancels a query of the same key. Throws ApiError 404 when it is unknown or answered. */
export function cancelQuery(context: ReadContext): Reply {
  unanswered(context).cancel();
  return resultReply('{"state":"cancelled"}');
}

function unanswered({ live, key, id }: ReadContext): LiveQuery {
  const query = live.find(key.id, id);
  if (query !== undefined) return query;
  throw new ApiError(404, `the query ${shown(id)} is unknown or answered`);
}

function unitsFor(
  { filter }: ReadKey,
  unitsDone: number,
  unitsTotal: number,
): { unitsDone: number; unitsTotal: number } {
  if (filter.type === 'all') return { unitsDone, unitsTotal };
  const part = unitsTotal === 0 ? 0 : unitsDone / unitsTotal;
  return { unitsDone: Math.floor(part * UNITS_TOTAL_HIDDEN), unitsTotal: UNITS_TOTAL_HIDDEN };
}
