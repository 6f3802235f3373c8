/** Expected seconds that count as done at the expected pace, so that the first moments do not decide. */
const PRIOR_SECONDS = 10;

/** How far a run is. */
export interface Progress {
  /** Expected seconds of each workload, in their order. */
  seconds: readonly number[];
  /** Which workload runs. */
  at: number;
  /** How much of it is done, 0 to 1. */
  done: number;
  /** Since the start of the run. */
  elapsedSeconds: number;
}

/** Seconds that are left: what was expected of the rest, at the pace that the run had so far. */
export function secondsLeft({ seconds, at, done, elapsedSeconds }: Progress): number {
  const past = sum(seconds.slice(0, at)) + done * (seconds[at] ?? 0);
  const pace = (elapsedSeconds + PRIOR_SECONDS) / (past + PRIOR_SECONDS);
  return Math.max(0, sum(seconds) - past) * pace;
}

/** The sum of all. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Minutes and seconds, as progress shows them. */
export function printSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
