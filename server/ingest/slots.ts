import { assert } from '../../engine/base/assert.ts';
import { copyBytes } from '../../engine/base/bytes.ts';

/** Granularity of slots. */
export const SLOT_UNIT_BYTES = 65_536;

/** Bytes behind a slot's content that belong to it, so that wide loads may read past the content's end. */
export const SLOT_PADDING_BYTES = 64;

/** A run of whole units in an ingest worker's memory: `[start, start + capacityBytes)` is for content. */
export interface Slot {
  /** Offset in the memory; a multiple of 64. */
  start: number;
  capacityBytes: number;
}

/** Bytes that the slots of several memories may take together: pages that were touched once stay resident. */
export class SlotBudget {
  /** Bytes that growing bodies leave to those that begin. */
  readonly beginBytes: number;
  heldBytes = 0;
  readonly #limitBytes: () => number;

  /** `limitBytes` may change. */
  constructor(limitBytes: () => number, beginBytes = 0) {
    this.#limitBytes = limitBytes;
    this.beginBytes = beginBytes;
  }

  get leftBytes(): number {
    return this.#limitBytes() - this.heldBytes;
  }
}

/**
 * Slots in a memory of one ingest worker, handed out by the thread that owns this table: the front for what it
 * receives, in memory that both share, the worker for what it receives itself.
 * First fit from the lowest address, so that pages high up are never touched unless they are needed and what is
 * resident stays near to what is in use.
 */
export class Slots {
  /** The whole memory; content lies from `slot.start` on. */
  readonly bytes: Uint8Array;
  readonly #baseBytes: number;
  readonly #taken: Uint8Array;
  readonly #spareUnits: number;
  readonly #budget: SlotBudget;
  #freeUnits: number;

  /**
   * Slots in `memory[baseBytes, endBytes)`, by default up to its end; `baseBytes` is a multiple of 64. Bodies leave
   * `spareBytes` free for lines, and take no more than is left of `budget`.
   */
  constructor(
    memory: WebAssembly.Memory,
    baseBytes: number,
    endBytes = memory.buffer.byteLength,
    spareBytes = 0,
    budget = new SlotBudget(() => endBytes - baseBytes),
  ) {
    this.#spareUnits = spareBytes / SLOT_UNIT_BYTES;
    assert(baseBytes % 64 === 0, `slots from ${baseBytes}`);
    this.#budget = budget;
    this.bytes = new Uint8Array(memory.buffer);
    this.#baseBytes = baseBytes;
    this.#freeUnits = Math.floor((endBytes - baseBytes) / SLOT_UNIT_BYTES);
    this.#taken = new Uint8Array(this.#freeUnits);
  }

  /** Bytes in units that nobody holds; they may lie apart. */
  get freeBytes(): number {
    return this.#freeUnits * SLOT_UNIT_BYTES;
  }

  /** Bytes of all units. */
  get totalBytes(): number {
    return this.#taken.length * SLOT_UNIT_BYTES;
  }

  /** Takes room for `bytes` of content; `undefined` when there is none in one piece. */
  reserve(bytes: number): Slot | undefined {
    const units = unitsFor(bytes);
    if (units > this.#freeUnits) return undefined;
    let runStart = 0;
    for (let unit = 0; unit < this.#taken.length; unit++) {
      if (this.#taken[unit] === 1) runStart = unit + 1;
      else if (unit + 1 - runStart === units) return this.#take(runStart, units);
    }
    return undefined;
  }

  /** Takes room for `bytes` of a body; `undefined` when there is none beside the spare bytes, or in the budget. */
  reserveBody(bytes: number): Slot | undefined {
    const units = unitsFor(bytes);
    const isWithin = units * SLOT_UNIT_BYTES <= this.#budget.leftBytes;
    return isWithin && units + this.#spareUnits <= this.#freeUnits
      ? this.reserve(bytes)
      : undefined;
  }

  /** Reports whether the budget has no room for `bytes` of a body that grows, whatever is free here. */
  isOverBudget(bytes: number): boolean {
    const { leftBytes, beginBytes } = this.#budget;
    return unitsFor(bytes) * SLOT_UNIT_BYTES + beginBytes > leftBytes;
  }

  /**
   * A slot for `bytes` of a body that begins with the first `usedBytes` of `slot`: the same one when it is large
   * enough or what is behind it is free, otherwise a new one, `slot` being given back. `undefined` when there is no
   * room: then `slot` stays.
   */
  grow(slot: Slot, usedBytes: number, bytes: number): Slot | undefined {
    if (bytes <= slot.capacityBytes) return slot;
    const more = unitsFor(bytes) - unitsFor(slot.capacityBytes);
    const isOver = this.isOverBudget(more * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES);
    const extended = isOver ? undefined : this.#extend(slot, more);
    if (extended !== undefined) return extended;
    const larger = this.isOverBudget(bytes) ? undefined : this.reserveBody(bytes);
    if (larger === undefined) return undefined;
    this.bytes.copyWithin(larger.start, slot.start, slot.start + usedBytes);
    this.release(slot);
    return larger;
  }

  /** Copies content into a slot, to offset `at` of the memory. */
  write(content: Uint8Array, at: number): void {
    copyBytes(content, 0, content.length, this.bytes, at);
  }

  /** Gives a slot back; its content may be overwritten from now on. */
  release(slot: Slot): void {
    const first = (slot.start - this.#baseBytes) / SLOT_UNIT_BYTES;
    const units = unitsFor(slot.capacityBytes);
    for (let unit = first; unit < first + units; unit++) {
      assert(this.#taken[unit] === 1, 'units of a slot are taken');
      this.#taken[unit] = 0;
    }
    this.#count(-units);
  }

  #count(units: number): void {
    this.#freeUnits -= units;
    this.#budget.heldBytes += units * SLOT_UNIT_BYTES;
  }

  /** The same slot with more units, when those behind it are free. */
  #extend({ start, capacityBytes }: Slot, more: number): Slot | undefined {
    if (more + this.#spareUnits > this.#freeUnits) return undefined;
    const units = unitsFor(capacityBytes);
    const first = (start - this.#baseBytes) / SLOT_UNIT_BYTES;
    const end = first + units + more;
    if (end > this.#taken.length || this.#taken.subarray(first + units, end).includes(1)) {
      return undefined;
    }
    this.#take(first + units, more);
    return { start, capacityBytes: (units + more) * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES };
  }

  #take(first: number, units: number): Slot {
    this.#taken.fill(1, first, first + units);
    this.#count(units);
    return {
      start: this.#baseBytes + first * SLOT_UNIT_BYTES,
      capacityBytes: units * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES,
    };
  }
}

function unitsFor(bytes: number): number {
  return Math.ceil((bytes + SLOT_PADDING_BYTES) / SLOT_UNIT_BYTES);
}
