import type { EngineErrorCode } from '../../engine/base/errors.ts';
import type { BlockChanges, JoinedPart, Joining, SharedScan } from '../../engine/engine.ts';
import type { JobAnswer, QueryJob, TailAnswer, TailJob } from './job.ts';
import type { Allowance } from './scheduler.ts';

/** Messages of the front thread to a query worker. */
export type ToQuery =
  /**
   * `key` is whose query it is. `changes` lead from the blocks of the message before to those that it reads; a tail has
   * its own.
   */
  | {
      type: 'run';
      query: number;
      key: string;
      allowance: Allowance;
      job: QueryJob | TailJob;
      changes?: BlockChanges;
    }
  /** Join in a scan of another worker, under a number like that of a query. */
  | {
      type: 'join';
      query: number;
      key: string;
      allowance: Allowance;
      scan: SharedScan;
      joining: Joining;
    }
  /** A query that stands still may take more, and goes on. */
  | { type: 'allow'; query: number; allowance: Allowance }
  /** Part that another worker found by joining in the scan `share` of a query. */
  | { type: 'part'; query: number; share: number; part: JoinedPart }
  | { type: 'cancel'; query: number }
  /** These segments are gone, and no query that is not answered reads them. */
  | { type: 'forget'; segments: readonly number[] }
  /** Stop the work, and end. */
  | { type: 'close' };

/** Messages of a query worker: the answer, or why there is none. `code` is missing for a bug. */
export type FromQuery =
  | { type: 'ready' }
  /** Progress of a query that takes long; never after its answer. */
  | { type: 'progress'; query: number; unitsDone: number; unitsTotal: number }
  /** It needs more than it may take, and stands still: until `allow`, or it is stopped to be run again later. */
  | { type: 'needs'; query: number; allowance: Allowance }
  /** Others may join in a scan of a query. */
  | { type: 'share'; query: number; share: number; scan: SharedScan }
  /** Part that was found by joining. */
  | { type: 'joined'; query: number; part: JoinedPart }
  | { type: 'answer'; query: number; answer: JobAnswer | TailAnswer }
  | { type: 'failed'; query: number; code?: EngineErrorCode; message: string };

/** Data with which a query worker starts. */
export interface QueryData {
  /** The data folder. */
  root: string;
  /** Secret of the manifest, from which the keys of event ids and tail tokens are made. */
  secret: Uint8Array;
  /** Memory that a query may keep until it is answered, in 2^20 bytes. */
  memoryMb: number;
  /** Memory of the rows that searches selected, kept for those that ask again, in 2^20 bytes. */
  cacheMb: number;
  /** Number of query workers. */
  workers: number;
  /** Files of segments that each may keep open. */
  files: number;
  /** One Int32: 1 while ingestion is behind, otherwise 0. */
  behind: SharedArrayBuffer;
}
