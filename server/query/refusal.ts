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

  /** Whether the same query may be answered a little later. */
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
