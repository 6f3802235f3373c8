import { assert } from '../../engine/base/assert.ts';
import { DAY_MS } from '../../engine/base/durations.ts';

/** Cells of a table: twice the keys that may exist, so that a freed cell rests before it is used again. */
export const CELLS_MAX = 8_192;

/** The quota of a key that has none. */
export const NO_QUOTA = -1;

/** Result of a reservation: taken, refused because the key is off, or refused because its day's quota is spent. */
export type Reservation = 'ok' | 'disabled' | 'quota';

/** Days that a cell remembers, the one of the last reservation first. */
const DAYS = 4;
/** A cell is 64 bytes, a cache line: Int32 lock, enabled, days; then Float64 used bytes of each day, quota bytes. */
const CELL_BYTES = 64;
const INT_STRIDE = CELL_BYTES / 4;
const FLOAT_STRIDE = CELL_BYTES / 8;
const LOCK = 0;
const ENABLED = 1;
const DAY = 2;
const USED = 3;
const QUOTA = USED + DAYS;

/** Time that a thread sleeps when it finds a cell locked twice, because the holder was interrupted. */
const LOCK_WAIT_MS = 1;

/** The UTC day of a time: days since 1970-01-01. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** Whole seconds until the next midnight UTC, at least 1: the `Retry-After` of a spent quota. */
export function secondsToMidnight(nowMs: number): number {
  return Math.ceil(((dayOf(nowMs) + 1) * DAY_MS - nowMs) / 1000);
}

/**
 * The state of write keys that all threads share: on or off, the quota and the use of each of the last days. A clock
 * that jumps ahead and comes back finds the use of its day as it was. A cell is changed under its lock, within a few
 * machine instructions without a call or an allocation, so a thread cannot end while it holds one. (A 64-bit
 * compare-and-swap needs BigInt: 0.4 us a reservation, this 0.06.)
 */
export class UsageCells {
  /** The memory; given to another thread it makes a view of the same cells there. */
  readonly shared: SharedArrayBuffer;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;

  constructor(shared = new SharedArrayBuffer(CELLS_MAX * CELL_BYTES)) {
    assert(shared.byteLength === CELLS_MAX * CELL_BYTES, `memory of ${shared.byteLength} bytes`);
    this.shared = shared;
    this.#ints = new Int32Array(shared);
    this.#floats = new Float64Array(shared);
  }

  /**
   * Counts `bytes` as used by the key on `day`, before they are accepted. Bytes are whole, after decompression.
   * Refuses when the quota was reached before; the request that crosses it is accepted.
   */
  reserve(cell: number, bytes: number, day: number): Reservation {
    const ints = this.#ints;
    const floats = this.#floats;
    const int = cell * INT_STRIDE;
    const float = cell * FLOAT_STRIDE;
    let result: Reservation = 'disabled';
    this.#lock(int);
    if (ints[int + ENABLED] === 1) {
      this.#begin(cell, day);
      const quotaBytes = floats[float + QUOTA];
      if (quotaBytes >= 0 && floats[float + USED] >= quotaBytes) {
        result = 'quota';
      } else {
        floats[float + USED] += bytes;
        result = 'ok';
      }
    }
    Atomics.store(ints, int + LOCK, 0);
    return result;
  }

  /** Counts `bytes` as `reserve` does, unless they pass the quota, or the key is off: then false, and nothing is. */
  reserveWithin(cell: number, bytes: number, day: number): boolean {
    const ints = this.#ints;
    const floats = this.#floats;
    const int = cell * INT_STRIDE;
    const float = cell * FLOAT_STRIDE;
    let isWithin = false;
    this.#lock(int);
    if (ints[int + ENABLED] === 1) {
      this.#begin(cell, day);
      const quotaBytes = floats[float + QUOTA];
      isWithin = quotaBytes < 0 || floats[float + USED] + bytes <= quotaBytes;
      if (isWithin) floats[float + USED] += bytes;
    }
    Atomics.store(ints, int + LOCK, 0);
    return isWithin;
  }

  /** Gives back what was reserved on `day` and not stored. Nothing is given back to days that are forgotten. */
  release(cell: number, bytes: number, day: number): void {
    const int = cell * INT_STRIDE;
    this.#lock(int);
    const at = this.#placeOf(cell, day);
    const used = cell * FLOAT_STRIDE + USED + at;
    if (at < DAYS) this.#floats[used] = Math.max(this.#floats[used] - bytes, 0);
    Atomics.store(this.#ints, int + LOCK, 0);
  }

  /** Adds what recovery found for `day`, whatever the quota. The days of the last calls are remembered. */
  restore(cell: number, bytes: number, day: number): void {
    const int = cell * INT_STRIDE;
    this.#lock(int);
    this.#begin(cell, day);
    this.#floats[cell * FLOAT_STRIDE + USED] += bytes;
    Atomics.store(this.#ints, int + LOCK, 0);
  }

  /** Gives a cell to a new key: on, nothing used. */
  begin(cell: number): void {
    const int = cell * INT_STRIDE;
    const float = cell * FLOAT_STRIDE;
    this.#lock(int);
    this.#ints[int + ENABLED] = 1;
    this.#ints.fill(0, int + DAY, int + DAY + DAYS);
    this.#floats.fill(0, float + USED, float + USED + DAYS);
    this.#floats[float + QUOTA] = NO_QUOTA;
    Atomics.store(this.#ints, int + LOCK, 0);
  }

  /** Switches a key on or off for all threads at once. */
  enable(cell: number, enabled: boolean): void {
    const int = cell * INT_STRIDE;
    this.#lock(int);
    this.#ints[int + ENABLED] = enabled ? 1 : 0;
    Atomics.store(this.#ints, int + LOCK, 0);
  }

  /** Sets the bytes a day may bring, or NO_QUOTA. Acts on today's use. */
  limit(cell: number, quotaBytes: number): void {
    const int = cell * INT_STRIDE;
    this.#lock(int);
    this.#floats[cell * FLOAT_STRIDE + QUOTA] = quotaBytes;
    Atomics.store(this.#ints, int + LOCK, 0);
  }

  /** Bytes used on `day`; 0 when it is not remembered. */
  usedBytes(cell: number, day: number): number {
    const int = cell * INT_STRIDE;
    this.#lock(int);
    const at = this.#placeOf(cell, day);
    const usedBytes = at < DAYS ? this.#floats[cell * FLOAT_STRIDE + USED + at] : 0;
    Atomics.store(this.#ints, int + LOCK, 0);
    return usedBytes;
  }

  /** Bytes that a day may bring; NO_QUOTA when there is no bound. */
  quotaBytes(cell: number): number {
    return this.#floats[cell * FLOAT_STRIDE + QUOTA];
  }

  /** Reports whether `reserve` would refuse because the quota of `day` is spent. */
  isSpent(cell: number, day: number): boolean {
    const quotaBytes = this.quotaBytes(cell);
    return quotaBytes >= 0 && this.usedBytes(cell, day) >= quotaBytes;
  }

  /** Reports whether a key has `bytes` or more left of its quota of `day`. */
  hasLeft(cell: number, bytes: number, day: number): boolean {
    const quotaBytes = this.quotaBytes(cell);
    return quotaBytes < 0 || this.usedBytes(cell, day) + bytes <= quotaBytes;
  }

  /** Makes `day` the first of a locked cell; when it is new the one that was not used for longest is forgotten. */
  #begin(cell: number, day: number): void {
    const days = cell * INT_STRIDE + DAY;
    if (this.#ints[days] === day) return;
    const used = cell * FLOAT_STRIDE + USED;
    const place = this.#placeOf(cell, day);
    const usedBytes = place < DAYS ? this.#floats[used + place] : 0;
    for (let at = Math.min(place, DAYS - 1); at > 0; at--) {
      this.#ints[days + at] = this.#ints[days + at - 1];
      this.#floats[used + at] = this.#floats[used + at - 1];
    }
    this.#ints[days] = day;
    this.#floats[used] = usedBytes;
  }

  /** The place of `day` among those of a locked cell; DAYS when it is not there. */
  #placeOf(cell: number, day: number): number {
    const days = cell * INT_STRIDE + DAY;
    let at = 0;
    while (at < DAYS && this.#ints[days + at] !== day) at++;
    return at;
  }

  #lock(int: number): void {
    const ints = this.#ints;
    while (Atomics.compareExchange(ints, int + LOCK, 0, 1) !== 0) {
      if (Atomics.compareExchange(ints, int + LOCK, 0, 1) === 0) return;
      Atomics.wait(ints, int + LOCK, 1, LOCK_WAIT_MS);
    }
  }
}
