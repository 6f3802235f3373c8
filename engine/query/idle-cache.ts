import { must } from '../base/assert.ts';
import type { Shrinkable } from './model/room.ts';

/** A value with the memory that it takes. */
export interface Sized<T> {
  value: T;
  bytes: number;
}

interface Kept<T> extends Sized<T> {
  segment: number;
  /** Number of the call that used it last. */
  usedAt: number;
}

/** Keys of which it is known that they were asked for once. */
const SEEN_MAX = 16_384;
/** An entry makes room when it was not used for so many calls for each entry that is kept. */
const IDLE_CALLS = 4;

/** When a value that there is room for is kept: as it is made first, or when it was asked for twice. */
type KeptFrom = 'first' | 'second';

/**
 * Values of segments by key; those that were asked for twice, when others have to make room. Scans go through more of
 * them than there is room for, again and again, so that what was used longest ago is what they need next: it stays
 * until nobody asks for it any more. Used by one thread.
 */
export class IdleCache<T> implements Shrinkable {
  readonly #bytesMax: number;
  readonly #seen = new Set<string>();
  /** Those that were used last at the end. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #keptFrom: KeptFrom;
  #bytes = 0;
  #calls = 0;

  constructor(bytesMax: number, keptFrom: KeptFrom = 'second') {
    this.#bytesMax = bytesMax;
    this.#keptFrom = keptFrom;
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value of a key when it is kept. */
  known(key: string): T | undefined {
    const usedAt = this.#calls++;
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    kept.usedAt = usedAt;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.value;
  }

  /**
   * The value of a key of a segment; `make` makes what is not kept, and throws what it likes. 0 bytes: not to keep.
   * `own` gives the value that is kept, of one whose memory is not its own.
   */
  get(segment: number, key: string, make: () => Sized<T>, own = (value: T): T => value): T {
    const kept = this.known(key);
    if (kept !== undefined) return kept;
    const made = make();
    const usedAt = this.#calls;
    if (made.bytes === 0) return made.value;
    const isFree = this.#keptFrom === 'first' && this.#bytes + made.bytes <= this.#bytesMax;
    if (this.#seen.delete(key) || isFree) {
      return this.#keep(key, { ...made, segment, usedAt }, own);
    }
    this.#see(key);
    return made.value;
  }

  /** True when a value of so many bytes is kept, or its key was asked about before and there is room for it. */
  isDue(key: string, bytes: number): boolean {
    if (this.#kept.has(key)) return true;
    if (!this.#seen.has(key)) {
      this.#see(key);
      return false;
    }
    let room = this.#bytesMax - this.#bytes;
    for (const kept of this.#kept.values()) {
      if (room >= bytes || !this.#isIdle(kept, this.#calls)) break;
      room += kept.bytes;
    }
    return room >= bytes;
  }

  /** Takes note of the bytes that a value takes now, which goes without room for them; not of one that is not kept. */
  weigh(key: string, value: T, bytes: number): void {
    const kept = this.#kept.get(key);
    if (kept?.value !== value) return;
    this.#drop(key);
    this.#keep(key, { ...kept, bytes }, (own) => own);
  }

  dropOldest(): void {
    this.#drop(must(this.#kept.keys().next().value, 'value that takes memory'));
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const [key, { segment }] of this.#kept) if (segments.includes(segment)) this.#drop(key);
  }

  /** Forgets all. */
  clear(): void {
    this.#seen.clear();
    this.#kept.clear();
    this.#bytes = 0;
  }

  #see(key: string): void {
    if (this.#seen.size < SEEN_MAX) this.#seen.add(key);
    else this.#seen.clear();
  }

  #keep(key: string, made: Kept<T>, own: (value: T) => T): T {
    if (made.bytes > this.#bytesMax) return made.value;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + made.bytes <= this.#bytesMax) break;
      if (!this.#isIdle(kept, made.usedAt)) return made.value;
      this.#drop(oldest);
    }
    const value = own(made.value);
    this.#kept.set(key, { ...made, value });
    this.#bytes += made.bytes;
    return value;
  }

  #isIdle({ usedAt }: Kept<T>, now: number): boolean {
    return now - usedAt > IDLE_CALLS * this.#kept.size;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}
