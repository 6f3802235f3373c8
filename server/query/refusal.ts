import { EngineError } from '../../engine/base/errors.ts';
import type { FromQuery } from './protocol.ts';

/** Why a query was not run, or not to its end, in the terms of HTTP; the message is for the client. */
export class QueryRefused extends Error {
  readonly status: 400 | 429 | 503;
  readonly reason: QueryRefusalReason;

  constructor(status: 400 | 429 | 503, reason: QueryRefusalReason, message: string) {
    super(message);
    this.name = 'QueryRefused';
    this.status = status;
    this.reason = reason;
  }

  /** Is set when the same query may be answered a little later. */
  get mayRetry(): boolean {
    return this.reason !== 'memory' && this.reason !== 'cancelled';
  }
}

/** Why queries are refused, in the words of the statistics. */
export type QueryRefusalReason =
  | 'queue_full'
  | 'deadline'
  | 'memory'
  | 'cancelled'
  | 'worker_died'
  | 'stopping';

/** The refusal of a query that took longer than it may. */
export function overdue(seconds: number): QueryRefused {
  const message = `the query took longer than query_seconds allows: ${seconds}`;
  return new QueryRefused(503, 'deadline', message);
}

/** The refusal of a query whose worker is gone; `what` says how. */
export function workerDied(what: string): QueryRefused {
  return new QueryRefused(503, 'worker_died', `${what}, try again`);
}

/** The refusal of queries while the service stops. */
export function stopping(): QueryRefused {
  return new QueryRefused(503, 'stopping', 'the service is stopping');
}

/** Why a query was cancelled: what the signal says, else the client went away. */
export function cancelled({ reason }: AbortSignal): Error {
  if (reason instanceof QueryRefused) return reason;
  return new EngineError('CANCELLED', 'the query was cancelled');
}

/** Why a query failed, as its worker says it. */
export function failureOf({ code, message }: Extract<FromQuery, { type: 'failed' }>): Error {
  if (code === undefined) return new Error(message);
  return code === 'MEMORY'
    ? new QueryRefused(400, 'memory', message)
    : new EngineError(code, message);
}
