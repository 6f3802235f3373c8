import type { AuthFailures } from '../access/failures.ts';
import { isAdministrator } from '../admin/admin.ts';
import type { OperationAccess } from '../dispatch.ts';
import { openapiReply } from '../openapi/document.ts';
import type { Reply } from '../reply.ts';
import type { Callers } from '../session/callers.ts';
import { type MetricSources, metricsReply } from './metrics.ts';

/** Facts that decide whether the service can do its work now. */
export interface ReadinessFacts {
  /** Why it ends, or has not begun. */
  stopping: boolean;
  ingestWorkersUp: number;
  queryWorkersUp: number;
  /** Time by which the event loops of all workers of a kind are late now, in milliseconds. */
  ingestStalledMs: number;
  queryStalledMs: number;
  /** Set while no worker may listen on the ports of TCP and TLS. */
  linesRefused: boolean;
  /** Time for which bodies have found no room by now, in milliseconds. */
  bodiesRefusedMs: number;
  /** Number of segments that lost rows. The rest is served, and answers that may need those rows are partial. */
  damagedSegments: number;
  /** Set while free disk is below the reserve, so that nothing is taken in. */
  diskFull: boolean;
  /** Set while the last write has failed. */
  diskFailing: boolean;
}

/** Workers that have not turned to anything new for so long do not work. */
const STALLED_MS = 10_000;

/** Sources of the answers about the service's operation. */
export interface OperationOptions {
  metricsOpen: boolean;
  /** The token of the file `admin-token`. */
  token: string;
  failures: AuthFailures;
  callers: Pick<Callers, 'of'>;
  facts(): ReadinessFacts;
  sources: Omit<MetricSources, 'ready' | 'authFailures'>;
}

/** Makes what `/readyz`, `/metrics` and `/openapi.json` answer. */
export function createOperation(options: OperationOptions): OperationAccess {
  const { metricsOpen, token, failures, facts } = options;
  const sources = {
    ...options.sources,
    authFailures: failures.counts,
    ready: () => unreadiness(facts()).length === 0,
  };
  return {
    health: () => ({ status: 200, body: '{"ok":true}' }),
    ready: () => readinessReply(unreadiness(facts()), facts().damagedSegments),
    metrics: () => metricsReply(sources),
    openapi: () => openapiReply(sources.version),
    metricsOpen,
    failures,
    isAdministrator: (request) =>
      isAdministrator(request.headers.get('authorization'), token) ||
      options.callers.of(request)?.role === 'admin',
  };
}

/** Why the service cannot do its work now; empty when it can. */
export function unreadiness(facts: ReadinessFacts): string[] {
  const reasons: string[] = [];
  if (facts.stopping) reasons.push('the service is stopping');
  if (facts.ingestWorkersUp === 0) reasons.push('no ingest worker is up');
  if (facts.queryWorkersUp === 0) reasons.push('no query worker is up');
  if (facts.ingestStalledMs > STALLED_MS) reasons.push('no ingest worker goes on');
  if (facts.queryStalledMs > STALLED_MS) reasons.push('no query worker goes on');
  if (facts.linesRefused) reasons.push('no worker can listen on the ports of TCP and TLS');
  if (facts.bodiesRefusedMs > STALLED_MS) reasons.push('no worker has room for bodies');
  if (facts.diskFull) reasons.push('the free disk is below the reserve, nothing is taken in');
  if (facts.diskFailing) reasons.push('the disk fails, nothing is taken in');
  return reasons;
}

function readinessReply(reasons: readonly string[], damagedSegments: number): Reply {
  const damaged = damagedSegments === 0 ? {} : { damaged_segments: damagedSegments };
  if (reasons.length === 0) return { status: 200, body: JSON.stringify({ ok: true, ...damaged }) };
  return { status: 503, body: JSON.stringify({ ok: false, reasons, ...damaged }) };
}
