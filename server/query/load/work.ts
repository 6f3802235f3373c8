import type { Allowance } from '../scheduler.ts';

/** A query's part in a thread's work. */
export interface Work {
  readonly allowance: Allowance;
  /** Set while it stands still until it may take more. */
  readonly isStanding: boolean;
}

/**
 * Queries of a thread with which one with such an allowance shares its time. Heavy ones do not count for light ones,
 * which pass them by.
 */
export function loadOf(works: Iterable<Work>, allowance: Allowance): number {
  let count = 0;
  for (const work of works) {
    if (!work.isStanding && (allowance !== 'light' || work.allowance === 'light')) count++;
  }
  return count;
}
