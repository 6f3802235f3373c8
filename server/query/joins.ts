import type { JoinedPart, Joining } from '../../engine/engine.ts';

/** A worker's part of a scan that belongs to a query of another one. */
export interface Join {
  /** The worker that does it, and the one whose query it is. */
  worker: number;
  owner: number;
  query: number;
  share: number;
  member: number;
}

/** Threads that join in scans of others, by numbers of their own. Owned by the front thread. */
export class Joins {
  readonly #joins = new Map<number, Join>();

  /** Notes that `workers` join in a scan: the parts that they get, by `next` numbers. */
  open(
    { owner, query, share }: Pick<Join, 'owner' | 'query' | 'share'>,
    workers: readonly number[],
    next: () => number,
  ): { join: number; worker: number; joining: Joining }[] {
    return workers.map((worker, at) => {
      const join = next();
      const member = FIRST_MEMBER + at;
      this.#joins.set(join, { worker, owner, query, share, member });
      return { join, worker, joining: { member, count: workers.length } };
    });
  }

  /** Ends one; `undefined` when nobody waits for it any more. */
  close(join: number): Join | undefined {
    const known = this.#joins.get(join);
    this.#joins.delete(join);
    return known;
  }

  /** Ends those for which `ends` holds. */
  closeAll(ends: (join: Join) => boolean): [join: number, Join][] {
    const ended = [...this.#joins].filter(([, join]) => ends(join));
    for (const [join] of ended) this.#joins.delete(join);
    return ended;
  }
}

/** The number of the first who joins: that of the owner is 1. */
const FIRST_MEMBER = 2;

/** The empty part of a member that failed: the owner visits its blocks itself. */
export function nothingOf({ member }: Join): JoinedPart {
  return { member, opened: [], refuted: [], damaged: [] };
}
