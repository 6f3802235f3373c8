import type { AggregateQuery, FetchQuery, ListQuery } from '../../engine/engine.ts';

/** What every job whose answer can be explained says. */
interface Explainable {
  /** Whether the answer tells, in `explain`, what was read for it. */
  explain: boolean;
}

/** How a compute stands in the reply: under which name, and what stands behind its formatted values. */
export interface ComputeOutput {
  name: string;
  unit?: string;
}

/** How a groupBy stands in the reply: its name, the label of its total, and the tags when it is a tagset. */
export interface GroupOutput {
  name: string;
  total?: string;
  tags?: { id: string; name: string; color: string }[];
}

/**
 * A query as the front sends it to a query worker, which answers with the JSON text of `result`.
 * `zone` is the normalised zone in which dates of the reply are written: an IANA name, `UTC`, or `+hh:mm`.
 * Plain data that crosses threads.
 */
export type QueryJob =
  /** `saved`: in the form of a saved analysis; the query then wants the event and the column `syslog` alone. */
  | ({ type: 'list'; query: ListQuery; zone: string; saved?: boolean } & Explainable)
  | { type: 'fetch'; query: FetchQuery }
  | ({
      type: 'aggregate';
      query: AggregateQuery;
      /** Of each compute. */
      outputs: ComputeOutput[];
      /** Of each groupBy. */
      groupOutputs: GroupOutput[];
      /** In the form of a saved analysis, of so many rows at most. */
      saved?: { rowsMax: number };
      format: boolean;
      zone: string;
    } & Explainable);

/** JSON text of `result`; `undefined` when a fetched event does not exist or is hidden. */
export type JobAnswer = string | undefined;
