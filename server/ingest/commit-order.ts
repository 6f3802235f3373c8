import { must } from '../../engine/base/assert.ts';
import type { Claim } from '../../engine/engine.ts';

/** Something that an ingest worker said, or that is to be done for it. */
interface Entry {
  /** The sequences that are settled by it. */
  claim: Claim | undefined;
  /** Called when it is its turn; what is behind it waits until the promise resolves, when there is one. */
  deliver: () => void | Promise<void>;
}

/**
 * Puts the messages of ingest workers into the order of the sequences that their groups took. A group has its turn
 * when all groups before it are settled, whether committed or closed off; the later messages of its worker wait with
 * it. Claims are of one counter, so they lie end to end. Owned by the front thread. Source: FORMAT.md 5.
 */
export class CommitOrder {
  /** All groups of sequences below are settled. */
  #end: number;
  /** Queues by writer. */
  readonly #queues: Entry[][];
  /** Set by writer while its last delivery is still at work. */
  readonly #busy: boolean[];
  /** End of the last claim that was added, by writer. */
  readonly #known: number[];
  #advancing = false;

  /** `end` is where the counter began. */
  constructor(writers: number, end: number) {
    this.#end = end;
    this.#queues = Array.from({ length: writers }, () => []);
    this.#busy = new Array<boolean>(writers).fill(false);
    this.#known = new Array<number>(writers).fill(0);
  }

  /**
   * Adds what a worker said behind what it said before. `claim`: it settles the group of these sequences, and waits for
   * all before it; an empty one settles none. `deliver` must not reject; when it never resolves, nothing passes it.
   */
  add(writer: number, deliver: Entry['deliver'], claim?: Claim): void {
    const settles = claim !== undefined && claim.first < claim.end ? claim : undefined;
    if (settles !== undefined) this.#known[writer] = settles.end;
    this.#queue(writer).push({ claim: settles, deliver });
    this.#advance();
  }

  /** Adds what is to be done for a worker that died: `claim` is its last one, which it may have told itself. */
  addLast(writer: number, deliver: Entry['deliver'], claim: Claim): void {
    const isKnown = claim.end <= must(this.#known[writer], 'end of claims');
    this.add(writer, deliver, isKnown ? undefined : claim);
  }

  /** Drops the waiting entries of a worker that died, except those that settle groups. */
  forget(writer: number): void {
    this.#queues[writer] = this.#queue(writer).filter(({ claim }) => claim !== undefined);
  }

  #queue(writer: number): Entry[] {
    return must(this.#queues[writer], 'queue of a writer');
  }

  #advance(): void {
    // What is delivered may add something.
    if (this.#advancing) return;
    this.#advancing = true;
    try {
      let writer = 0;
      for (let idle = 0; idle < this.#queues.length; writer = (writer + 1) % this.#queues.length) {
        idle = this.#deliverFirst(writer) ? 0 : idle + 1;
      }
    } finally {
      this.#advancing = false;
    }
  }

  /** Delivers the first entry of a worker when it is its turn, and says whether. */
  #deliverFirst(writer: number): boolean {
    const queue = this.#queue(writer);
    const entry = queue[0];
    if (entry === undefined || this.#busy[writer] === true) return false;
    if (entry.claim !== undefined && entry.claim.first !== this.#end) return false;
    queue.shift();
    const done = entry.deliver();
    if (done === undefined) {
      this.#settle(entry);
      return true;
    }
    this.#busy[writer] = true;
    void done.then(() => {
      this.#busy[writer] = false;
      this.#settle(entry);
      this.#advance();
    });
    return false;
  }

  #settle({ claim }: Entry): void {
    if (claim !== undefined) this.#end = claim.end;
  }
}
