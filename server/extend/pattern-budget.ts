/** Steps that patterns may take for one event: 20 ms where a text is made to match for long. */
const EVENT_STEPS_MAX = 2 ** 20;
/** Steps that they may take for all events of a body, or of lines that are decoded together. */
const BODY_STEPS = 2 ** 26;
/** Steps that each event adds; ten rules take less for an ordinary line. */
const STEPS_PER_EVENT = 2 ** 18;
/** Steps after which others have their turn. */
const PIECE_STEPS = 2 ** 19;

/**
 * Budget of users' patterns in steps: characters of a text times instructions of the pattern tried on it. An event's
 * budget depends on the events before it in its body alone, and not on time. Owned by one thread.
 */
export class PatternBudget {
  #bodySteps = BODY_STEPS;
  #eventSteps = EVENT_STEPS_MAX;
  #pieceSteps = 0;
  /** Steps of body and piece when the event began. */
  #begunBody = 0;
  #begunPiece = 0;
  /** Set when steps were refused; the owner clears it. */
  refused = false;

  /** Begins a body, or a piece of one whose earlier pieces have left `leftSteps`. */
  begin(leftSteps = BODY_STEPS): void {
    this.#bodySteps = leftSteps;
    this.#pieceSteps = 0;
  }

  /** Is set when the piece has taken enough steps to end. */
  get isPieceSpent(): boolean {
    return this.#pieceSteps > PIECE_STEPS;
  }

  /** Steps that the body has left. */
  get leftSteps(): number {
    return this.#bodySteps;
  }

  /** Begins an event. */
  beginEvent(): void {
    this.#begunBody = this.#bodySteps;
    this.#begunPiece = this.#pieceSteps;
    this.#bodySteps += STEPS_PER_EVENT;
    this.#eventSteps = Math.min(EVENT_STEPS_MAX, this.#bodySteps);
    this.refused = false;
  }

  /** Gives back what the event took, before it is begun once more. */
  undoEvent(): void {
    this.#bodySteps = this.#begunBody;
    this.#pieceSteps = this.#begunPiece;
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
