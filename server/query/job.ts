import type {
  AggregateQuery,
  AttributesQuery,
  ContextQuery,
  FacetsQuery,
  FetchQuery,
  ListQuery,
  PageQuery,
  RowCountsQuery,
  Snapshot,
  TailQuery,
} from '../../engine/engine.ts';
import type { DeclaredId, Typing } from '../language/complete.ts';
import type { AnswerPieces } from './answer/answer-writer.ts';
import type { HintScope } from './hint/hint.ts';

/** Common part of jobs whose answer can be explained. */
interface Explainable {
  /** Adds `explain` to the answer: what was read for it. */
  explain: boolean;
}

/** Common part of jobs whose answer may have no events. */
interface Hinted {
  /** Scope of hints on an answer without events; none when left out. */
  hints?: HintScope;
}

/** A compute's place in the reply: its name, and the unit behind its formatted values. */
export interface ComputeOutput {
  name: string;
  unit?: string;
}

/** A groupBy's place in the reply: its name, the label of its total, and the tags of a tagset. */
export interface GroupOutput {
  name: string;
  total?: string;
  tags?: { id: string; name: string; color: string }[];
}

/** Form of the events of an export: a JSON object a line, or cells, which are made `safe` for spreadsheets. */
export type ExportFormat = { type: 'ndjson' } | { type: 'csv'; safe: boolean };

/** The names that a completion suggests: of attributes, and ids that are declared. */
export interface NameSource {
  type: 'names';
  query: AttributesQuery;
  declared: DeclaredId[];
}

/** The values that a completion suggests, of each path that a name may mean. */
export interface ValueSource {
  type: 'values';
  queries: AggregateQuery[];
}

/** A question about the store: rows by their sequences, or what attributes take on the disk. */
export type StoreQuery = ({ about: 'rows' } & RowCountsQuery) | { about: 'disk' };

/**
 * A query as the front sends it to a query worker, which answers with the JSON text of `result`.
 * `zone` is the normalised zone in which dates of the reply are written: an IANA name, `UTC`, or `+hh:mm`.
 * `ids` are what the request calls the paths of facets. Plain data that crosses threads.
 */
export type QueryJob = AskedJob & {
  /** Set when the client takes the whole reply as gzip, which an export never is. */
  gzip?: boolean;
};

/** A question of a client. */
type AskedJob =
  /** `saved`: in the form of a saved analysis; the query then wants the event and the column `syslog` alone. */
  | ({ type: 'list'; query: ListQuery; zone: string; saved?: boolean } & Explainable & Hinted)
  | { type: 'fetch'; query: FetchQuery }
  /** A part of an export, with an answer of the form that `export-page.ts` tells. */
  | { type: 'export'; query: PageQuery; zone: string; format: ExportFormat }
  | { type: 'context'; query: ContextQuery; zone: string }
  | { type: 'attributes'; query: AttributesQuery; zone: string }
  | { type: 'facets'; query: FacetsQuery; ids: string[]; zone: string }
  /** About the store as a whole; asked by the administration alone. */
  | { type: 'store'; query: StoreQuery }
  | { type: 'complete'; typing: Typing; from: NameSource | ValueSource }
  | ({
      type: 'aggregate';
      query: AggregateQuery;
      /** Outputs by compute. */
      outputs: ComputeOutput[];
      /** Outputs by groupBy. */
      groupOutputs: GroupOutput[];
      /**
       * Gives the answer the form of a saved analysis, of so many rows at most; `names` is the JSON text of what it
       * and its outputs are called.
       */
      saved?: { rowsMax: number; names?: string };
      format: boolean;
      zone: string;
    } & Explainable &
      Hinted);

/**
 * JSON text of `result`, or the whole reply as gzip; `undefined` when a fetched event does not exist or is hidden. It
 * is moved from thread to thread.
 */
export type JobAnswer = AnswerPieces | undefined;

/** A live tail's question to a query worker. Plain data that crosses threads. */
export interface TailJob {
  type: 'tail';
  query: TailQuery;
  /** The blocks that may have rows between the positions of `query`. */
  blocks: Snapshot['blocks'];
  /** When all that was visible lay before the query's `from`, and before its `to`: for the tokens. */
  fromMs: number;
  toMs: number;
  /** Zone as in a QueryJob. */
  zone: string;
}

/** A query worker's answer to a tail. */
export interface TailAnswer {
  /** Server-sent events: how many were dropped, when there are such, then the events. */
  text: string;
  eventCount: number;
  /** Position at which the next job goes on. */
  position: number;
  /** Set when that is the `to` of the job. */
  isWhole: boolean;
}
