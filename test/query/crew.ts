import { joinUnits } from '../../engine/query/events/join-scan.ts';
import type { JoinedPart, SharedScan, Sharing } from '../../engine/query/group/shared-scan.ts';
import type { BlockSource, Progress } from '../../engine/query/model/source.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { Shelf } from '../segment/shelf.ts';

/** Others who join in the scans of a query, in one thread: between units of the query some of theirs are done. */
export class Crew implements Sharing {
  readonly rowsMin = 0;
  readonly others: number;
  /** Parts that had something. */
  joinedCount = 0;
  readonly #sources: BlockSource[];
  readonly #next: (below: number) => number;
  readonly #fails: boolean;
  #active: (() => boolean)[] = [];

  /** `next` chooses who goes on; with `fails` half of those who join break down. */
  constructor(shelf: Shelf, members: number, next: (below: number) => number, fails = false) {
    const { disk, reader } = shelf;
    this.#sources = Array.from({ length: members }, () => new Reader(disk, reader.secret));
    this.others = members;
    this.#next = next;
    this.#fails = fails;
  }

  offer(offered: SharedScan): { take(): JoinedPart | undefined; close(): void } {
    const parts: JoinedPart[] = [];
    const scan = structuredClone(offered);
    const count = this.#sources.length;
    for (const [at, source] of this.#sources.entries()) {
      const member = at + 2;
      const units = joinUnits(source, scan, { member, count });
      const unitsMax = this.#fails && this.#next(2) === 0 ? this.#next(30) : Infinity;
      let unitCount = 0;
      this.#active.push(() => {
        if (unitCount++ >= unitsMax) {
          parts.push({ member, opened: [], refuted: [], damaged: [] });
          return false;
        }
        const step = units.next();
        if (step.done !== true) return true;
        if (step.value.data !== undefined && step.value.opened.length > 0) this.joinedCount++;
        parts.push(structuredClone(step.value));
        return false;
      });
    }
    return { take: () => parts.shift(), close: () => undefined };
  }

  /** Runs all units of a query. */
  run<T>(units: Generator<Progress, T>): T {
    for (;;) {
      const step = units.next();
      if (step.done === true) return step.value;
      if (step.value.waits === true && this.#active.length === 0) throw new Error('waits for none');
      const steps = step.value.waits === true ? 1 : this.#next(4);
      for (let count = 0; count < steps && this.#active.length > 0; count++) {
        const at = this.#next(this.#active.length);
        if (!this.#active[at]()) this.#active.splice(at, 1);
      }
    }
  }
}
