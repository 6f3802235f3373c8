import { NumberReader } from '../filter/decimal.ts';
import { compareText } from '../filter/text.ts';

/** Texts that are kept before those that are behind too many are left out, at first; and at most. */
const TEXTS_MIN = 1_024;
const TEXTS_MAX = 1 << 14;
/** Bytes of them at most. */
const BYTES_MAX = 8 * 1024 * 1024;

const reader = new NumberReader();

/** A text that may be among the first ones; `cell`: a part of its hash. Plain data that crosses threads. */
export interface LeastText {
  cell: number;
  /** True when its value is known to have one event; numbers, which come before other strings, never are. */
  isSure: boolean;
  isNumber: boolean;
  bytes: Uint8Array;
}

/**
 * Strings that may be the first by least events, and by natural order where these are equal: no other comes before so
 * many `count` that have one event for sure.
 */
export class LeastTexts {
  readonly #count: number;
  readonly #totals: Uint32Array;
  #texts: LeastText[] = [];
  #textsMax = TEXTS_MIN;
  #bytes = 0;
  /** Texts behind it are not among them, but for numbers. */
  #last: Uint8Array | undefined;

  /** `totals`: events of all values by cell. */
  constructor(count: number, totals: Uint32Array) {
    this.#count = count;
    this.#totals = totals;
  }

  /** True when there are too many. */
  get isLarge(): boolean {
    return this.#texts.length > TEXTS_MAX || this.#bytes > BYTES_MAX;
  }

  /** The strings; `undefined` when it is not known which these are. */
  get texts(): readonly LeastText[] | undefined {
    this.#prune();
    return this.#last === undefined || this.isLarge ? undefined : this.#texts;
  }

  /** All that it has, and perhaps more than `texts`. */
  get data(): readonly LeastText[] {
    return this.#texts;
  }

  /** Offers a string that may have one event alone. */
  offer(cell: number, bytes: Uint8Array, start: number, end: number): void {
    const last = this.#last;
    const isBehind = last !== undefined && compareText(bytes, start, end, last) > 0;
    const isNumber = reader.read(bytes, start, end);
    if (isBehind && !isNumber) return;
    const isSure = this.#totals[cell] === 1 && !isNumber;
    this.#add({ cell, isSure, isNumber, bytes: bytes.slice(start, end) });
  }

  /** Adds those of another one that is of the same `totals`. */
  merge(texts: readonly LeastText[]): void {
    for (const text of texts) this.#add(text);
  }

  #add(text: LeastText): void {
    if (this.isLarge) return;
    this.#texts.push(text);
    this.#bytes += text.bytes.length;
    if (this.#texts.length >= this.#textsMax || this.isLarge) this.#prune();
  }

  /** Leaves out those behind so many that are sure. */
  #prune(): void {
    const numbers = this.#texts.filter(({ isNumber }) => isNumber);
    const others = this.#texts.filter(({ isNumber }) => !isNumber);
    others.sort((left, right) => compareText(left.bytes, 0, left.bytes.length, right.bytes));
    let sure = 0;
    const last = others.findIndex(({ isSure }) => isSure && ++sure === this.#count);
    if (last >= 0) {
      this.#last = others[last].bytes;
      others.length = last + 1;
    }
    this.#texts = [...numbers, ...others];
    this.#bytes = this.#texts.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#textsMax = Math.max(this.#texts.length * 2, TEXTS_MIN);
  }
}
