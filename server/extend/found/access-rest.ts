import {
  ASCII_MAX,
  BACKSLASH,
  BLANK,
  DOT,
  digitsEnd,
  EQUALS,
  MINUS,
  NINE,
  QUOTE,
  SLASH,
  ZERO,
} from '../../../engine/base/ascii.ts';

const LETTER_M = 0x6d;
const LETTER_S = 0x73;
const LETTER_U = 0x75;
/** Longer words are no times. */
const TIME_BYTES_MAX = 24;

/** A part of a line; without `length` there is none. */
export class Span {
  start = 0;
  length = -1;

  set(start: number, end: number): void {
    this.start = start;
    this.length = end - start;
  }
}

/**
 * Parts behind the bytes of an access line, as AccessLogExtras has them: a referer and an agent, numbers, words that
 * say nothing. `read` forgets the line before.
 */
export class AccessRest {
  readonly referer = new Span();
  readonly agent = new Span();
  readonly responseTime = new Span();
  readonly bytesRead = new Span();
  /** Is set when the line is as most servers write it, and says nothing more. */
  isCommon = false;

  /** Whole numbers: the first one, and how many there are; numbers of all kinds. */
  readonly #whole = new Span();
  #wholeCount = 0;
  #numberCount = 0;
  #quotedCount = 0;

  /** Reads `[start, end)`, which ends in no blank; false when it has other parts. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    for (const span of [this.referer, this.agent, this.responseTime, this.bytesRead, this.#whole])
      span.length = -1;
    this.isCommon = true;
    this.#wholeCount = 0;
    this.#numberCount = 0;
    this.#quotedCount = 0;
    for (let at = start; at < end; ) {
      const part = at + 1;
      if (bytes[at] !== BLANK || bytes[part] <= BLANK) {
        // More blanks than one, or none behind a quote.
        return false;
      }
      at = bytes[part] === QUOTE ? this.#quoted(bytes, part, end) : this.#word(bytes, part, end);
      if (at < 0) return false;
    }
    return this.#conclude();
  }

  /** Reads the part in quotes at `at`; the offset behind it, -1 when it is not plain. */
  #quoted(bytes: Uint8Array, at: number, end: number): number {
    let closing = at + 1;
    for (; closing < end; closing++) {
      if (bytes[closing] === BACKSLASH) return -1;
      if (bytes[closing] !== QUOTE) continue;
      if (closing + 1 === end || bytes[closing + 1] <= BLANK) break;
      this.isCommon = false;
    }
    if (closing === end || this.#quotedCount === 2) return -1;
    if (this.#numberCount > 0) this.isCommon = false;
    this.#quotedCount++;
    const span = this.#quotedCount === 1 ? this.referer : this.agent;
    span.set(at + 1, closing);
    return closing + 1;
  }

  /** Reads the word at `at`; the offset behind it, -1 when it is a pair or not of ASCII. */
  #word(bytes: Uint8Array, at: number, end: number): number {
    let stop = at;
    while (stop < end && bytes[stop] > BLANK) {
      if ((bytes[stop] === EQUALS && stop > at) || bytes[stop] > ASCII_MAX) return -1;
      stop++;
    }
    const isNumber = bytes[at] >= ZERO && bytes[at] <= NINE && this.#number(bytes, at, stop);
    if (!isNumber || ++this.#numberCount > 1) this.isCommon = false;
    return stop;
  }

  /** Reads a number, perhaps behind whole seconds and before a unit; false when it is none. */
  #number(bytes: Uint8Array, at: number, end: number): boolean {
    if (end - at > TIME_BYTES_MAX) return false;
    const seconds = digitsEnd(bytes, at, end);
    const start = seconds < end && bytes[seconds] === SLASH ? seconds + 1 : at;
    const whole = bytes[start] === ZERO ? start + 1 : digitsEnd(bytes, start, end);
    if (start >= end || whole === start) return false;
    let stop = whole;
    if (whole < end && bytes[whole] === DOT) {
      stop = digitsEnd(bytes, whole + 1, end);
      if (stop === whole + 1) return false;
    }
    if (!isUnit(bytes, stop, end)) return false;
    const isPlain = start === at && stop === end;
    if (!isPlain) this.isCommon = false;
    if (isPlain && stop === whole) {
      if (this.#wholeCount++ === 0) this.#whole.set(start, stop);
    } else if (this.responseTime.length < 0) this.responseTime.set(start, stop);
    return true;
  }

  #conclude(): boolean {
    if (this.#quotedCount === 1) return false;
    if (this.#quotedCount === 2) {
      const { referer, agent } = this;
      if (referer.length === 0 || agent.length === 0) this.isCommon = false;
    }
    if (this.responseTime.length >= 0) return true;
    const { start, length } = this.#whole;
    if (this.#wholeCount === 1) this.responseTime.set(start, start + length);
    else if (this.#wholeCount === 2) this.bytesRead.set(start, start + length);
    return true;
  }
}

/** Recognises `[at, end)` as a unit of time in ASCII, or as none. */
function isUnit(bytes: Uint8Array, at: number, end: number): boolean {
  if (at === end) return true;
  if (bytes[end - 1] !== LETTER_S) return false;
  if (at + 1 === end) return true;
  return at + 2 === end && (bytes[at] === LETTER_M || bytes[at] === LETTER_U);
}

/** Makes a part that is `-` or empty none. */
export function dropNothing(bytes: Uint8Array, span: Span): void {
  const isDash = span.length === 1 && bytes[span.start] === MINUS;
  if (isDash || span.length === 0) span.length = -1;
}
