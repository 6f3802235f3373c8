/** Memory of the groups of one pass. */
const MEMORY_BYTES_MAX = 128 * 1024 * 1024;
/** Memory of the groups of a level up to which it is not sketched first. */
const TRIAL_BYTES_MAX = 16 * 1024 * 1024;
/** Cells of levels that are counted together. */
const CELLS_MAX = 1 << 20;
/** Entries of each dictionary among which the first values are looked for by metrics. */
const HEADS_MAX = 1_024;

/** Limits of an aggregation, and up to where it goes which way; the answer is always the same. */
export interface AggregateLimits {
  /** Memory of the groups of one pass. */
  memoryBytesMax: number;
  /** Memory up to which a level is neither sketched nor counted in shares; never sketched when it is that of a pass. */
  trialBytesMax: number;
  /** Cells of levels that are counted together; 0: none are. */
  cellsMax: number;
  /** Entries of each dictionary among which the first values are looked for by metrics; more when more are wanted. */
  headsMax: number;
}

/** The limits of the service. */
export const LIMITS: AggregateLimits = {
  memoryBytesMax: MEMORY_BYTES_MAX,
  trialBytesMax: TRIAL_BYTES_MAX,
  cellsMax: CELLS_MAX,
  headsMax: HEADS_MAX,
};
