import { distance } from 'fastest-levenshtein';

/** Names longer than this are not compared: the distance costs the product of the lengths. */
const NAME_CHARACTERS_MAX = 64;

/**
 * The one of `known` that somebody who wrote `name` most likely meant; `undefined` when none is close.
 * Close is an edit distance, without regard to case, of at most 2 and less than half of the name; the first wins.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > NAME_CHARACTERS_MAX) return undefined;
  const lower = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.ceil(name.length / 2)));
  for (const candidate of known) {
    const edits = distance(lower, candidate.toLowerCase());
    if (edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}
