/** Memory of a chunk at rest, besides what it tells, and of the place of a column. */
const CHUNK_BYTES = 1_024;
const PLACE_BYTES = 8;
/** Memory above which a chunk does not stay: it is read in part, where it may be, when it is opened again. */
const RESTING_MAX = 16 * 1024;

/** Part of a block that is open for reading, and can let go of most of its memory. */
interface Resting {
  /** Lets go of what can be read again; the bytes that it still takes. */
  rest(): number;
}

interface Opened<T> {
  chunk: T;
  /** True when it was asked for since it came to rest. */
  isAwake: boolean;
  /** Bytes that it took at rest. */
  bytes: number;
}

/** Chunks of a block that are open, by number. */
export class OpenChunks<T extends Resting> {
  #opened: (Opened<T> | undefined)[] = [];
  /** Numbers that were kept since all were forgotten, some of them again. */
  #numbers: number[] = [];

  /** The chunk of a number; `undefined` when it is not open. */
  get(number: number): T | undefined {
    const opened = this.#opened[number];
    if (opened === undefined) return undefined;
    opened.isAwake = true;
    return opened.chunk;
  }

  /** Keeps a chunk, and gives it. */
  keep(number: number, chunk: T): T {
    this.#opened[number] = { chunk, isAwake: true, bytes: 0 };
    this.#numbers.push(number);
    return chunk;
  }

  /** Sums up what chunks take, by `bytesOf`. */
  sum(bytesOf: (chunk: T) => number): number {
    let bytes = 0;
    for (const number of this.#numbers) {
      const opened = this.#opened[number];
      if (opened !== undefined) bytes += bytesOf(opened.chunk);
    }
    return bytes;
  }

  /** Forgets all. */
  clear(): void {
    this.#opened = [];
    this.#numbers = [];
  }

  /** Forgets all, which `visit` is shown first; the places stay, for one who opens a chunk after the other. */
  clearPlaces(visit: (chunk: T) => void): void {
    for (const number of this.#numbers) {
      const opened = this.#opened[number];
      if (opened !== undefined) visit(opened.chunk);
      this.#opened[number] = undefined;
    }
    this.#numbers.length = 0;
  }

  /**
   * Lets chunks rest, those that were asked for or `all`, and forgets those that still take much; the bytes of the
   * others.
   */
  rest(all: boolean): number {
    let bytes = this.#opened.length * PLACE_BYTES;
    let count = 0;
    for (let number = 0; number < this.#opened.length; number++) {
      const opened = this.#opened[number];
      if (opened === undefined) continue;
      if (opened.isAwake || all) opened.bytes = opened.chunk.rest() + CHUNK_BYTES;
      opened.isAwake = false;
      if (opened.bytes > RESTING_MAX) this.#opened[number] = undefined;
      else {
        bytes += opened.bytes;
        this.#numbers[count++] = number;
      }
    }
    this.#numbers.length = count;
    return bytes;
  }
}
