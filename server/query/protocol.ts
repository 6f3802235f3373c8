import type { EngineErrorCode } from '../../engine/base/errors.ts';
import type { Snapshot } from '../../engine/engine.ts';
import type { JobAnswer, QueryJob } from './job.ts';

/** What the front thread says to a query worker. */
export type ToQuery =
  /** `key` is whose query it is. `snapshot` is left out when it is the one of the message before. */
  | { type: 'run'; query: number; key: string; job: QueryJob; snapshot?: Snapshot }
  | { type: 'cancel'; query: number }
  /** These segments are gone, and no query that is not answered reads them. */
  | { type: 'forget'; segments: readonly number[] }
  /** Leave what is being worked on, and end. */
  | { type: 'close' };

/** What a query worker says: the answer, or why there is none. `code` is missing for what is a bug. */
export type FromQuery =
  | { type: 'ready' }
  | { type: 'answer'; query: number; answer: JobAnswer }
  | { type: 'failed'; query: number; code?: EngineErrorCode; message: string };

/** What a query worker starts with. */
export interface QueryData {
  /** The data folder. */
  root: string;
  /** The key of the event ids' checks. */
  secret: Uint8Array;
  /** One Int32: 1 while ingestion is behind, otherwise 0. */
  behind: SharedArrayBuffer;
}
