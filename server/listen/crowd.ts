/** Time that a line may lack its end without a valid key. */
const KEYLESS_MS = 10_000;
/** Members among which one to end is looked for. */
const LOOKED_AT_MAX = 1_024;

/** A connection as others see it that want its room. */
export interface Member {
  /** Place where its peer is counted. */
  readonly place: number;
  /** Memory for a line without its end. */
  readonly heldBytes: number;
  /** Set when none of its lines waits to be durable. */
  readonly isIdle: boolean;
  /** Ends it, so that the sender sees an error. */
  refuse(): void;
  /** Gives what there is of its line as one that is cut, when there is room. */
  cut(): void;
}

/** The connections of all listeners of one thread, as far as they have to make room for others. */
export class Crowd {
  /** Members that have brought no valid key, the oldest first. */
  readonly #strangers = new Set<Member>();
  /** Members among them with an unfinished line, and since when. */
  readonly #keyless = new Map<Member, number>();
  readonly #holding = new Set<Member>();

  /** Adds a new connection. */
  join(member: Member): void {
    this.#strangers.add(member);
  }

  /** It has brought a valid key: it may stay for ever. */
  know(member: Member): void {
    this.#strangers.delete(member);
    this.#keyless.delete(member);
  }

  /** It is over. */
  leave(member: Member): void {
    this.know(member);
    this.#holding.delete(member);
  }

  /**
   * Notes whether a connection has a line without its end, one without a valid key, at `nowMs` of a clock that is never
   * set.
   */
  note(member: Member, isKeyless: boolean, nowMs: number): void {
    if (member.heldBytes > 0) this.#holding.add(member);
    else this.#holding.delete(member);
    if (!isKeyless || !this.#strangers.has(member)) this.#keyless.delete(member);
    else if (!this.#keyless.has(member)) this.#keyless.set(member, nowMs);
  }

  /** Ends those whose line lacks both its end and a valid key for too long. */
  sweep(nowMs: number): void {
    for (const [member, sinceMs] of this.#keyless) {
      if (nowMs - sinceMs < KEYLESS_MS) return;
      this.leave(member);
      member.refuse();
    }
  }

  /** Ends the oldest idle connection without a valid key, of the peers of a place when it is given. */
  evict(place?: number): void {
    let left = LOOKED_AT_MAX;
    for (const member of this.#strangers) {
      if (left-- === 0) return;
      if (!member.isIdle || (place !== undefined && member.place !== place)) continue;
      this.leave(member);
      member.refuse();
      return;
    }
  }

  /** Cuts the line that holds most memory, of the peers of a place when it is given; the oldest of equals. */
  cutLargest(place?: number): void {
    let largest: Member | undefined;
    for (const member of this.#holding) {
      if (place !== undefined && member.place !== place) continue;
      if (largest === undefined || member.heldBytes > largest.heldBytes) largest = member;
    }
    largest?.cut();
  }
}
