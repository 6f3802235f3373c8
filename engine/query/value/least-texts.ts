import { NumberReader } from '../filter/decimal.ts';
import { compareText, encodeText } from '../filter/text.ts';

/** Bytes of the texts at most. */
const BYTES_MAX = 8 * 1024 * 1024;

const reader = new NumberReader();

/** A string; `number`: the nearest double when it is numeric. */
interface LeastText {
  number: number | undefined;
  bytes: Uint8Array;
}

/** The texts, one after the other, and the first one that is not kept, if there are others. */
export interface LeastTextsData {
  ends: Uint32Array;
  bytes: Uint8Array;
  end: Uint8Array | undefined;
}

/**
 * The first strings, in natural order, of those that are offered once: numeric ones by their doubles, then others by
 * their bytes.
 */
export class LeastTexts {
  readonly #countMax: number;
  #texts: LeastText[] = [];
  #bytes = 0;
  #end: LeastText | undefined;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Its parts. Plain data that crosses threads. */
  get data(): LeastTextsData {
    this.#cut();
    const ends = new Uint32Array(this.#texts.length);
    const all = new Uint8Array(this.#bytes);
    let to = 0;
    for (const [at, { bytes }] of this.#texts.entries()) {
      all.set(bytes, to);
      to += bytes.length;
      ends[at] = to;
    }
    return { ends, bytes: all, end: this.#end?.bytes };
  }

  /** The bytes of the texts. */
  *bytes(): Generator<Uint8Array> {
    this.#cut();
    for (const { bytes } of this.#texts) yield bytes;
  }

  /** True when all strings that were offered are among them. */
  get hasAll(): boolean {
    return this.#end === undefined;
  }

  /** True when all strings up to `text` in natural order that were offered once are among them. */
  reaches(text: string): boolean {
    if (this.#end === undefined) return true;
    const bytes = encodeText(text);
    const number = numberOf(bytes, 0, bytes.length);
    // Which of several strings of one double comes first is told by their digits.
    if (number !== undefined && number === this.#end.number) return false;
    return order(number, bytes, 0, bytes.length, this.#end) < 0;
  }

  /** Offers the string `bytes[start, end)`. */
  offer(bytes: Uint8Array, start: number, end: number): void {
    const number = numberOf(bytes, start, end);
    if (this.#end !== undefined && order(number, bytes, start, end, this.#end) >= 0) return;
    this.#add({ number, bytes: bytes.slice(start, end) });
  }

  /** Adds those of another one. */
  merge({ ends, bytes, end }: LeastTextsData): void {
    if (end !== undefined) {
      const other = { number: numberOf(end, 0, end.length), bytes: end };
      if (this.#end === undefined || compare(other, this.#end) < 0) this.#end = other;
    }
    for (let at = 0; at < ends.length; at++) this.offer(bytes, ends[at - 1] ?? 0, ends[at]);
  }

  #add(text: LeastText): void {
    this.#texts.push(text);
    this.#bytes += text.bytes.length;
    if (this.#texts.length > this.#countMax * 2 || this.#bytes > BYTES_MAX * 2) this.#cut();
  }

  /** Leaves out those that were offered several times, and those that are too many. */
  #cut(): void {
    const sorted = this.#texts.sort(compare);
    const kept: LeastText[] = [];
    let bytes = 0;
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      const text = sorted[from];
      while (to < sorted.length && compare(sorted[to], text) === 0) to++;
      if (this.#end !== undefined && compare(text, this.#end) >= 0) break;
      if (to > from + 1) continue;
      if (kept.length === this.#countMax || bytes + text.bytes.length > BYTES_MAX) {
        this.#end = text;
        break;
      }
      kept.push(text);
      bytes += text.bytes.length;
    }
    this.#texts = kept;
    this.#bytes = bytes;
  }
}

function numberOf(bytes: Uint8Array, start: number, end: number): number | undefined {
  return reader.read(bytes, start, end) ? reader.value : undefined;
}

function compare({ number, bytes }: LeastText, other: LeastText): number {
  return order(number, bytes, 0, bytes.length, other);
}

/** The order of the text `bytes[start, end)` to another one: negative when it comes first. */
function order(
  number: number | undefined,
  bytes: Uint8Array,
  start: number,
  end: number,
  other: LeastText,
): number {
  if (number !== other.number) {
    if (number === undefined) return 1;
    if (other.number === undefined || number < other.number) return -1;
    return 1;
  }
  return compareText(bytes, start, end, other.bytes);
}
