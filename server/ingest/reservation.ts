import type { KeyUsage } from '../../engine/engine.ts';
import type { UsageCells } from '../registry/usage.ts';

/** Bytes and events of a write key. */
interface Usage {
  readonly cell: number;
  bytes: number;
  events: number;
}

/** Usage of each write key by one task, all of it reserved in the cells on the same day. */
export class Reservation {
  readonly #day: number;
  /** The key that came first: most tasks have no other. */
  #first: Usage | undefined;
  #others: Map<number, Usage> | undefined;

  constructor(day: number) {
    this.#day = day;
  }

  /** Adds what was reserved in the cell of a key. */
  add(cell: number, bytes: number, events: number): void {
    this.#first ??= { cell, bytes: 0, events: 0 };
    const usage = this.#first.cell === cell ? this.#first : this.#otherOf(cell);
    usage.bytes += bytes;
    usage.events += events;
  }

  #otherOf(cell: number): Usage {
    this.#others ??= new Map();
    let usage = this.#others.get(cell);
    if (usage === undefined) {
      usage = { cell, bytes: 0, events: 0 };
      this.#others.set(cell, usage);
    }
    return usage;
  }

  /** Usage in the form of the commit record; `idOf` gives the id of the key with a cell. */
  usage(idOf: (cell: number) => string): KeyUsage[] {
    if (this.#first === undefined) return [];
    const usages = [usageOf(this.#first, this.#day, idOf)];
    if (this.#others === undefined) return usages;
    for (const other of this.#others.values()) usages.push(usageOf(other, this.#day, idOf));
    return usages;
  }

  /** Gives everything back: nothing of it was stored. */
  release(cells: UsageCells): void {
    const usages =
      this.#first === undefined ? [] : [this.#first, ...(this.#others?.values() ?? [])];
    for (const { cell, bytes } of usages) cells.release(cell, bytes, this.#day);
  }
}

function usageOf(
  { cell, bytes, events }: Usage,
  day: number,
  idOf: (cell: number) => string,
): KeyUsage {
  return { key: idOf(cell), day, bytes, events };
}
