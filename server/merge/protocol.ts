import type { EngineErrorCode } from '../../engine/base/errors.ts';
import type { MergeJob, SealResult } from '../../engine/engine.ts';

/** Data with which a merge worker starts. */
export interface MergeData {
  /** The data folder, and the bytes by which its files know it. */
  root: string;
  folderId: Uint8Array;
  /** Of the hashes that its files have. */
  seed: number;
}

/** Messages of the front thread to a merge worker. */
export type ToMerge =
  /** Do this; nothing else is being done. */
  | { type: 'run'; job: MergeJob }
  /** The number of a new segment. */
  | { type: 'granted'; segment: number }
  /** Stop the work, remove the unfinished files, and end. */
  | { type: 'stop' };

/** Messages of a merge worker. `code` is missing for a bug; `systemCode` is the operating system's. */
export type FromMerge =
  | { type: 'allocate' }
  | { type: 'done'; result: SealResult }
  | { type: 'failed'; code?: EngineErrorCode; systemCode: string | undefined; message: string };
