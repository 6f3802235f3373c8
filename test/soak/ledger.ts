/** Outcomes of what a source sent: surely stored, surely not, or either. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** Numbers that were sent together. `whole`: stored all or not at all. */
export interface Stretch {
  first: number;
  count: number;
  whole: boolean;
}

/** Events that one source has sent, and their answers. Numbers are given out once, in ascending order. */
export class Ledger {
  /** Numbers given out so far. */
  sent = 0;
  acknowledged = 0;
  /** Stretches without an acknowledgement, in ascending order of settling. */
  readonly unknown: Stretch[] = [];
  readonly refused: Stretch[] = [];

  /** Gives out the next `count` numbers; returns the first. */
  take(count: number): number {
    const first = this.sent;
    this.sent += count;
    return first;
  }

  /** Says what came of numbers that were given out. */
  settle(stretch: Stretch, outcome: Outcome): void {
    if (outcome === 'acknowledged') this.acknowledged += stretch.count;
    else this[outcome].push(stretch);
  }

  /** Numbers that may be stored or not, those under way included. */
  get unknownCount(): number {
    return this.sent - this.acknowledged - sum(this.refused);
  }
}

function sum(stretches: readonly Stretch[]): number {
  return stretches.reduce((total, { count }) => total + count, 0);
}
