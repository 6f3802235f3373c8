import type { Claims } from '../model/claims.ts';
import type { Progress } from '../model/source.ts';
import type { JoinedPart, Offer } from './shared-scan.ts';

/**
 * The part of a thread in a scan: what it does with the blocks that it can claim, and with what those found who joined.
 */
export interface Visits<Outcome> {
  claims: Claims;
  /** The offer that others have by now. */
  offer: () => Offer | undefined;
  progress: () => Progress;
  /** Visits all blocks that can be claimed. */
  visit: () => Generator<Progress, Outcome | 'done'>;
  /** Takes what another has found; false when nothing of all this is right then. */
  take: (part: JoinedPart) => Generator<Progress, boolean>;
}

/**
 * Visits blocks, and takes what those have found who joined: until all that were claimed are accounted for. Who has
 * nothing to show for blocks leaves them to be visited here.
 */
export function* sharedVisits<Outcome>(
  visits: Visits<Outcome>,
): Generator<Progress, Outcome | 'done' | 'damaged'> {
  const { claims, progress } = visits;
  const taken = new Set<number>();
  try {
    for (;;) {
      const outcome = yield* visits.visit();
      const offer = visits.offer();
      if (outcome !== 'done' || offer === undefined) return outcome;
      let part = offer.take();
      while (part === undefined && claims.isAwaited(taken)) {
        yield { ...progress(), waits: true };
        part = offer.take();
      }
      if (part === undefined) return 'done';
      if (part.data === undefined) claims.release(part.member);
      else {
        taken.add(part.member);
        if (!(yield* visits.take(part))) return 'damaged';
      }
    }
  } finally {
    claims.close();
    visits.offer()?.close();
  }
}
