/** Steps that patterns may take for one event: 20 ms where a text is made to match for long. */
const EVENT_STEPS_MAX = 2 ** 20;
/** Steps that they may take for all events of a body, or of lines that are decoded together. */
const BODY_STEPS = 2 ** 26;
/** What each event adds to that: ten rules take less for an ordinary line. */
const STEPS_PER_EVENT = 2 ** 18;
/** Steps after which others have their turn. */
const PIECE_STEPS = 2 ** 19;

/**
 * What users' patterns may cost, in steps: characters of a text times instructions of the pattern that is tried on it. What an
 * event gets depends on what came before it in its body alone, and not on time. Owned by one thread.
 */
export class PatternBudget {
  #bodySteps = BODY_STEPS;
  #eventSteps = EVENT_STEPS_MAX;
  #pieceSteps = 0;
  /** Whether steps were refused since this was last set. */
  refused = false;

  /** Begins a body, or a piece of one whose earlier pieces have left `leftSteps`. */
  begin(leftSteps = BODY_STEPS): void {
    this.#bodySteps = leftSteps;
    this.#pieceSteps = 0;
  }

  /** Whether the piece has taken so much that it should end. */
  get isPieceSpent(): boolean {
    return this.#pieceSteps > PIECE_STEPS;
  }

  /** Steps that the body has left. */
  get leftSteps(): number {
    return this.#bodySteps;
  }

  /** Begins an event. */
  beginEvent(): void {
    this.#bodySteps += STEPS_PER_EVENT;
    this.#eventSteps = Math.min(EVENT_STEPS_MAX, this.#bodySteps);
    this.refused = false;
  }

  /** Takes steps for a pattern; false when there are not as many left: then it is not to be tried. */
  take(steps: number): boolean {
    if (steps > this.#eventSteps) {
      this.refused = true;
      return false;
    }
    this.#eventSteps -= steps;
    this.#bodySteps -= steps;
    this.#pieceSteps += steps;
    return true;
  }
}
