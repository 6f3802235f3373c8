import type { BlockRef } from '../../segment/frame.ts';

/** The number of whoever a scan is of; those who join have higher ones. */
export const OWNER = 1;
const FREE = 0;
const CLOSED = -1;

/**
 * Who visits which of the blocks of a scan: each is claimed by one. A thread goes on with the block behind its last
 * one, as blocks of a segment have dictionaries in common; when that is taken, in the middle of the most that is left.
 */
export class Claims {
  /** By place, who claimed the block. */
  readonly cells: Int32Array<SharedArrayBuffer>;
  readonly #self: number;
  readonly #refs: readonly Pick<BlockRef, 'segment'>[];

  /** `cells` are those of the owner of the scan, who begins with new ones. */
  constructor(
    refs: readonly Pick<BlockRef, 'segment'>[],
    self = OWNER,
    cells = new Int32Array(new SharedArrayBuffer(refs.length * 4)),
  ) {
    this.cells = cells;
    this.#self = self;
    this.#refs = refs;
  }

  /** True when a block is left. */
  get isLeft(): boolean {
    return this.cells.includes(FREE);
  }

  /** True while nobody has claimed the block at `place`. */
  isFree(place: number): boolean {
    return this.cells[place] === FREE;
  }

  /** Blocks that are claimed. */
  get claimedCount(): number {
    return this.cells.reduce((count, cell) => count + (cell > FREE ? 1 : 0), 0);
  }

  /** True when another claimed a block of the segment of the one at `place`, as far as they lie one after the other. */
  isOfOther(place: number): boolean {
    const { segment } = this.#refs[place];
    let first = place;
    while (this.#refs[first - 1]?.segment === segment) first--;
    for (let at = first; this.#refs[at]?.segment === segment; at++) {
      if (this.cells[at] > FREE && this.cells[at] !== this.#self) return true;
    }
    return false;
  }

  /** Claims the block at `place`; false when another has it. */
  claim(place: number): boolean {
    return Atomics.compareExchange(this.cells, place, FREE, this.#self) === FREE;
  }

  /** Claims a block, after the one at `place` if that is left; -1 when none is. */
  next(place: number): number {
    if (place + 1 < this.cells.length && this.claim(place + 1)) return place + 1;
    return this.jump();
  }

  /** Claims a block away from where others are; -1 when none is left. */
  jump(): number {
    for (;;) {
      const place = this.#middle();
      if (place < 0 || this.claim(place)) return place;
    }
  }

  /** Places that `member` claimed. */
  placesOf(member: number): number[] {
    const places: number[] = [];
    for (const [place, cell] of this.cells.entries()) if (cell === member) places.push(place);
    return places;
  }

  /** Makes blocks free again that were claimed by one who has nothing to show for them. */
  release(member: number): void {
    for (const place of this.placesOf(member)) Atomics.store(this.cells, place, FREE);
  }

  /** True when one who is not among `members` claimed a block. */
  isAwaited(members: ReadonlySet<number>): boolean {
    return this.cells.some((cell) => cell > OWNER && !members.has(cell));
  }

  /** True while it has the claim of the block at `place`. */
  has(place: number): boolean {
    return Atomics.load(this.cells, place) === this.#self;
  }

  /** Leaves nothing to claim, and takes the claims of others from them. */
  close(): void {
    for (let place = 0; place < this.cells.length; place++) {
      if (!this.has(place)) Atomics.store(this.cells, place, CLOSED);
    }
  }

  /**
   * The first block of a segment near the middle of the longest stretch of free blocks, else its middle; -1 when there
   * is none.
   */
  #middle(): number {
    const { cells } = this;
    let first = -1;
    let length = 0;
    for (let from = 0; from < cells.length; from++) {
      let to = from;
      while (to < cells.length && cells[to] === FREE) to++;
      if (to - from > length) [first, length] = [from, to - from];
      from = to;
    }
    const middle = first + (length >> 1);
    for (let away = 0; away < length >> 2; away++) {
      if (this.#isFirst(middle + away)) return middle + away;
      if (this.#isFirst(middle - away)) return middle - away;
    }
    return length === 0 ? -1 : middle;
  }

  /** True when a block is the first of its segment. */
  #isFirst(place: number): boolean {
    return this.#refs[place].segment !== this.#refs[place - 1]?.segment;
  }
}
