import { NO_KEY } from './group-keys.ts';

/** The greatest of some keys, as many as `count`, in a heap. */
export class GreatestKeys {
  readonly #heap: Float64Array;

  constructor(count: number) {
    this.#heap = new Float64Array(count).fill(NO_KEY);
  }

  /** The least of them; NO_KEY when not so many were offered. */
  get least(): number {
    return this.#heap[0];
  }

  /** Takes a key, if it is among the greatest. */
  offer(key: number): void {
    const heap = this.#heap;
    if (key <= heap[0]) return;
    const { length } = heap;
    let at = 0;
    for (let next = 1; next < length; next = at * 2 + 1) {
      if (next + 1 < length && heap[next + 1] < heap[next]) next++;
      if (heap[next] >= key) break;
      heap[at] = heap[next];
      at = next;
    }
    heap[at] = key;
  }
}
