import { shown } from '../../language/shown.ts';
import type { RunningQueries } from '../../query/running-queries.ts';
import { ApiError, resultReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

/** The name of the read key or user with an id; `undefined` when it does not exist any more. */
type ReaderName = (id: string) => string | undefined;

/** The resource `queries`: those of all keys that are not answered, and the last slow ones. DELETE cancels one. */
export function queryResource(
  running: Pick<RunningQueries, 'list' | 'slow' | 'cancel'>,
  nameOf: ReaderName,
): [string, AdminResource] {
  return [
    'queries',
    {
      list: async () => {
        const nowMs = performance.now();
        const queries = running.list().map(({ id, key, kind, progress, startedMs }) => ({
          ...{ id: String(id), key: nameOf(key) ?? key, kind, state: progress.state },
          ...{ unitsDone: progress.unitsDone, unitsTotal: progress.unitsTotal },
          ms: Math.round(nowMs - startedMs),
        }));
        const slow = running.slow().map(({ key, endedMs, ...rest }) => ({
          ...{ key: nameOf(key) ?? key, ended: new Date(endedMs).toISOString(), ...rest },
        }));
        return resultReply(JSON.stringify({ queries, slow }));
      },
      delete: async ({ id }) => {
        if (/^\d{1,15}$/.test(id) && running.cancel(Number(id))) {
          return resultReply('{"state":"cancelled"}');
        }
        throw new ApiError(404, `the query ${shown(id)} is unknown or answered`);
      },
    },
  ];
}
