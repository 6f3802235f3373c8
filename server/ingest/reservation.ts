import type { KeyUsage } from '../../engine/engine.ts';
import type { UsageCells } from '../registry/usage.ts';

/** Usage of each write key by one task, all of it reserved in the cells on the same day. */
export class Reservation {
  readonly #day: number;
  readonly #usages = new Map<number, { bytes: number; events: number }>();

  constructor(day: number) {
    this.#day = day;
  }

  /** Adds what was reserved in the cell of a key. */
  add(cell: number, bytes: number, events: number): void {
    const usage = this.#usages.get(cell);
    if (usage === undefined) {
      this.#usages.set(cell, { bytes, events });
    } else {
      usage.bytes += bytes;
      usage.events += events;
    }
  }

  /** Usage in the form of the commit record; `idOf` gives the id of the key with a cell. */
  usage(idOf: (cell: number) => string): KeyUsage[] {
    return [...this.#usages].map(([cell, { bytes, events }]) => ({
      key: idOf(cell),
      day: this.#day,
      bytes,
      events,
    }));
  }

  /** Gives everything back: nothing of it was stored. */
  release(cells: UsageCells): void {
    for (const [cell, { bytes }] of this.#usages) cells.release(cell, bytes, this.#day);
  }
}
