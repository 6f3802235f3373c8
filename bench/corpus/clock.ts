import type { Draw } from './random.ts';

/** Date of the first event of every corpus: 2026-11-01T00:00:00Z. */
export const CORPUS_START_MS = 1_793_491_200_000;
/** Milliseconds between two events on average: 10M events fill the first day, 50M five. */
export const CORPUS_STEP_MS = 7;

/**
 * Makes the clock of a corpus: each call is the date of the next event, in epoch milliseconds, never before the last
 * one.
 */
export function clockOf(draw: Draw): () => number {
  let timeMs = CORPUS_START_MS;
  return () => {
    timeMs += draw.below(2 * CORPUS_STEP_MS + 1);
    return timeMs;
  };
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A date as RFC 3164 has it: no year, no zone, a blank for the first digit of a day below 10. */
export function shortDate(timeMs: number): string {
  const date = new Date(timeMs);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${MONTHS[date.getUTCMonth()]} ${day} ${date.toISOString().slice(11, 19)}`;
}

/** A date as access lines have it, with milliseconds: `01/Nov/2026:00:00:00.123`. */
export function slashDate(timeMs: number): string {
  const iso = new Date(timeMs).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 23)}`;
}
