import { isAdministrator } from '../api/admin/admin.ts';
import type { ApiRequest, Reply } from '../api/reply.ts';
import { DISK_FAILING, DISK_FULL, reasonOf } from '../ingest/refusal.ts';
import { type Listeners, openListeners } from '../listen/listeners.ts';
import type { BoundCells } from '../runtime.ts';
import type { OpenedData } from './open.ts';
import type { ServiceState } from './routes.ts';
import type { Workers } from './workers.ts';

/** Opens all listeners. Rejects with USAGE when an address cannot be had; then the threads have ended. */
export function listen(
  data: OpenedData,
  workers: Workers,
  bound: BoundCells,
  state: ServiceState,
  routes: (request: ApiRequest) => Promise<Reply>,
): Promise<Listeners> {
  const { runtime, log, health, certificate, keys, cells, token, failures } = data;
  const { intake, queries, compaction, room, lineCells, httpConnectionsMax } = workers;
  const { config } = runtime;
  const nowMs = Date.now;
  return openListeners({
    config,
    certificate,
    intake,
    cells: lineCells,
    httpConnectionsMax,
    cellOf: (name) => bound.of(name),
    input: {
      room,
      lookup: (text) => {
        const key = keys.lookup(text);
        return key?.kind === 'write' ? key : undefined;
      },
      cells,
      limits: runtime.limits,
      diskRefusal: () => {
        if (compaction.full) return DISK_FULL;
        return health.failing ? DISK_FAILING : undefined;
      },
      nowMs,
      refused: (channel, refusal) => {
        intake.counts.refuse(channel, reasonOf(refusal));
        intake.troubles.refused(refusal, nowMs(), channel);
      },
      stored: (key, sender) => intake.senders.note(key, nowMs(), sender),
      faulty: (status, peer) => intake.troubles.refusedTo(status, peer),
      unauthenticated: (peer) => failures.note('input', peer),
      isAdministrator: (authorization) => isAdministrator(authorization, token),
    },
    routes,
    met: (sender, word, name) => {
      const key = keys.lookup(word) ?? (name === undefined ? name : keys.named('write', name));
      if (key?.kind === 'write') intake.senders.note(key.id, nowMs(), () => sender);
    },
    answered: (channel, status) => state.answers.add(channel, status),
    log,
  }).catch(async (error) => {
    workers.begin();
    // Without its threads the process ends.
    await Promise.all([intake.close(), queries.close(), compaction.close()]);
    throw error;
  });
}
