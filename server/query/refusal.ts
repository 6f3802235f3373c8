/** Why a query was not run, or not to its end, in the terms of HTTP; the message is for the client. */
export class QueryRefused extends Error {
  readonly status: 429 | 503;
  readonly reason: QueryRefusalReason;

  constructor(status: 429 | 503, reason: QueryRefusalReason, message: string) {
    super(message);
    this.name = 'QueryRefused';
    this.status = status;
    this.reason = reason;
  }
}

/** Why queries are refused, in the words of the statistics. */
export type QueryRefusalReason = 'queue_full' | 'deadline' | 'worker_died' | 'stopping';
