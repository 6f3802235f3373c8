import type { JoinedPart, SharedScan, Sharing } from '../../engine/engine.ts';

/** Rows of a scan from which on a message to other workers is worth it: some milliseconds of work. */
const ROWS_MIN = 1 << 18;

/** The scans of a query worker in which others may join. */
export class Offers {
  readonly #post: (query: number, share: number, scan: SharedScan) => void;
  readonly #parts = new Map<number, JoinedPart[]>();
  readonly #others: number;
  #nextShare = 0;

  /** `post` tells the others of a scan, of which there are so many. */
  constructor(others: number, post: (query: number, share: number, scan: SharedScan) => void) {
    this.#others = others;
    this.#post = post;
  }

  /** Offers of a query's scans to other threads. */
  of(query: number): Sharing {
    return {
      rowsMin: ROWS_MIN,
      others: this.#others,
      offer: (scan) => {
        const share = this.#nextShare++;
        const parts: JoinedPart[] = [];
        this.#parts.set(share, parts);
        this.#post(query, share, scan);
        return { take: () => parts.shift(), close: () => void this.#parts.delete(share) };
      },
    };
  }

  /** Takes what another worker has found. */
  add(share: number, part: JoinedPart): void {
    this.#parts.get(share)?.push(part);
  }
}
