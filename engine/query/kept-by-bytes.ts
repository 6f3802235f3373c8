import { must } from '../base/assert.ts';
import type { Shrinkable } from './model/room.ts';

interface Kept<T> {
  value: T;
  segment: number;
  bytes: number;
}

/** Values of segments by key, of up to some bytes; what was used longest ago goes when there are more. */
export class KeptByBytes<K, T> implements Shrinkable {
  readonly #bytesMax: number;
  readonly #onExcess: ((key: K, segment: number, value: T) => void) | undefined;
  /** The one that was used last at the end. */
  readonly #kept = new Map<K, Kept<T>>();
  /** The key at the end, when it is kept. */
  #newest: K | undefined;
  /**
   * Those that are still to be weighed in this turn. Their keys, as an iterator of a Map that changes holds on to all
   * that was ever in it.
   */
  #turn: K[] = [];
  #bytes = 0;

  /** `onExcess` is told what goes for others. */
  constructor(bytesMax: number, onExcess?: (key: K, segment: number, value: T) => void) {
    this.#bytesMax = bytesMax;
    this.#onExcess = onExcess;
  }

  /** Memory that the values take, as it was told. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: K): T | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (key === this.#newest) return kept.value;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    this.#newest = key;
    return kept.value;
  }

  /** Keeps a value of a segment, which takes `bytes`. */
  keep(key: K, segment: number, value: T, bytes: number): void {
    this.drop(key);
    this.#kept.set(key, { value, segment, bytes });
    this.#newest = key;
    this.#bytes += bytes;
    this.#dropExcess();
  }

  /** Takes note that a value takes so many bytes, at least, when it is kept. */
  weigh(key: K, bytes: number): void {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.bytes >= bytes) return;
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#dropExcess();
  }

  /** Takes what the next value in turn takes from `bytesOf`: that of each may have changed. */
  weighNext(bytesOf: (value: T) => number): void {
    if (this.#turn.length === 0) this.#turn = [...this.#kept.keys()].reverse();
    const next = this.#turn.pop();
    const kept = next === undefined ? undefined : this.#kept.get(next);
    if (kept === undefined) return;
    this.#bytes -= kept.bytes;
    kept.bytes = bytesOf(kept.value);
    this.#bytes += kept.bytes;
    this.#dropExcess();
  }

  #dropExcess(): void {
    while (this.#bytes > this.#bytesMax) this.dropOldest();
  }

  dropOldest(): void {
    const [oldest, kept] = must(this.#kept.entries().next().value, 'value that takes memory');
    this.drop(oldest);
    this.#onExcess?.(oldest, kept.segment, kept.value);
  }

  /** Forgets a value. */
  drop(key: K): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }

  /** Forgets the values of segments; looks at all values. */
  forget(segments: readonly number[]): void {
    const gone = new Set(segments);
    for (const [key, { segment }] of this.#kept) if (gone.has(segment)) this.drop(key);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }
}
