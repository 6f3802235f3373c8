import type { Draw } from './random.ts';

/** Date of the first event of every corpus: 2026-11-01T00:00:00Z. */
export const CORPUS_START_MS = 1_793_491_200_000;
/** Milliseconds between two events on average: 10M events fill the first day, 50M five. */
export const CORPUS_STEP_MS = 7;

/** Makes the clock of a corpus: each call is the date of the next event, in epoch milliseconds, never before the last one. */
export function clockOf(draw: Draw): () => number {
  let timeMs = CORPUS_START_MS;
  return () => {
    timeMs += draw.below(2 * CORPUS_STEP_MS + 1);
    return timeMs;
  };
}
