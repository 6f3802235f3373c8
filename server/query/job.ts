import type { AggregateQuery, FetchQuery, ListQuery } from '../../engine/engine.ts';

/** What every job whose answer can be explained says. */
interface Explainable {
  /** Whether the answer tells, in `explain`, what was read for it. */
  explain: boolean;
}

/**
 * A query as the front sends it to a query worker, which answers with the JSON text of `result`.
 * `zone` is the normalised zone in which dates of the reply are written: an IANA name, `UTC`, or `+hh:mm`.
 * Plain data that crosses threads.
 */
export type QueryJob =
  | ({ type: 'list'; query: ListQuery; zone: string } & Explainable)
  | { type: 'fetch'; query: FetchQuery }
  | ({
      type: 'aggregate';
      query: AggregateQuery;
      outputs: string[];
      format: boolean;
      zone: string;
    } & Explainable);

/** JSON text of `result`; `undefined` when a fetched event does not exist or is hidden. */
export type JobAnswer = string | undefined;
