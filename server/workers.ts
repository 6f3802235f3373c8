import type { Config } from './config.ts';

/** Most workers of a kind that `auto` starts. */
const AUTO_WORKERS_MAX = 8;
/** Memory of the machine for each thread that seals, which takes a sixth of it. */
const SEAL_WORKER_BYTES = 1_000_000_000;

/** Numbers of threads of each kind. */
export interface Workers {
  ingest: number;
  query: number;
  /** At most; there are as many as are needed. */
  seal: number;
}

/** The threads in force on a machine with `coreCount` cores and `memoryBytes`. */
export function workersOf(
  settings: Pick<Config, 'ingestWorkers' | 'queryWorkers' | 'sealWorkers'>,
  coreCount: number,
  memoryBytes: number,
): Workers {
  const half = Math.min(Math.max(Math.floor(coreCount / 2), 1), AUTO_WORKERS_MAX);
  const { ingestWorkers: ingest = half, queryWorkers: query = Math.max(half, 2) } = settings;
  const room = Math.max(Math.floor(memoryBytes / SEAL_WORKER_BYTES), 1);
  const { sealWorkers: seal = Math.min(ingest, coreCount, room) } = settings;
  return { ingest, query, seal };
}
