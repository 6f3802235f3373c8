import { distance } from 'fastest-levenshtein';

/** Names longer than this are not compared: the distance costs the product of the lengths. */
const NAME_CHARACTERS_MAX = 64;

/** Two: what a swap of neighbours costs. */
const EDITS_MAX = 2;

/**
 * The one of `known` that somebody who wrote `name` most likely meant; `undefined` when none is close.
 * Close is an edit distance, without regard to case, of at most 2 and half the name; the first of the
 * closest wins.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > NAME_CHARACTERS_MAX) return undefined;
  const lower = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(EDITS_MAX, Math.ceil(name.length / 2)) + 1;
  for (const candidate of known) {
    const edits = distance(lower, candidate.toLowerCase());
    if (edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}

/** ` did you mean "<the nearest of known>"?`, for a message on `name`; empty when none is close. */
export function nearestHint(name: string, known: Iterable<string>): string {
  const close = nearest(name, known);
  return close === undefined ? '' : ` did you mean "${close}"?`;
}
