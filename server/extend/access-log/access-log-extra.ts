import { EQUALS, NINE, QUOTE, ZERO } from '../../../engine/base/ascii.ts';
import { NumberText } from '../extraction.ts';
import { blanksEnd, isAddressList, isBlank, meaningOf, quotedEnd } from './access-log-text.ts';

const TIME_LENGTH_MAX = 24;
/** A number, perhaps with a unit, or behind whole seconds as in Apache's `%T/%D`. */
const TIME = /^(?:\d+\/)?((?:0|[1-9]\d*)(\.\d+)?)(ms|us|µs|s)?$/;
/** Number of quoted parts whose place gives their meaning: referer and user agent. */
const PLACED_COUNT = 2;

/**
 * Parts behind the bytes of an access line. Quoted parts and bare words may come in any order; those that no rule
 * knows are left out. Owned by one thread; `read` forgets the line before.
 */
export class AccessLogExtras {
  referer: string | undefined;
  userAgent: string | undefined;
  /** Forwarded addresses in the form of X-Forwarded-For. */
  forwardedAddresses: string | undefined;
  /** The number as it is written; its unit is the server's. */
  responseTime: NumberText | undefined;
  /** Bytes of the request, as mod_logio's `%I` gives them. */
  bytesRead: NumberText | undefined;
  /** The pairs `name=value`, a blank between them. */
  pairs = '';

  /** The parts in quotes that stand first. */
  #first: string | undefined;
  #second: string | undefined;
  #quotedCount = 0;
  /** Bare whole numbers: the first one, and how many there are. */
  #whole: NumberText | undefined;
  #wholeCount = 0;

  /** Reads `text` from `start`, behind the bytes, to its end. */
  read(text: string, start: number): void {
    this.#forget();
    for (let at = blanksEnd(text, start); at < text.length; at = blanksEnd(text, at)) {
      if (text.charCodeAt(at) === QUOTE) {
        const closing = quotedEnd(text, at + 1);
        this.#addQuoted(text.slice(at + 1, closing));
        at = closing + 1;
      } else {
        at = this.#word(text, at);
      }
    }
    this.#conclude();
  }

  #forget(): void {
    this.referer = undefined;
    this.userAgent = undefined;
    this.forwardedAddresses = undefined;
    this.responseTime = undefined;
    this.bytesRead = undefined;
    this.pairs = '';
    this.#first = undefined;
    this.#second = undefined;
    this.#quotedCount = 0;
    this.#whole = undefined;
    this.#wholeCount = 0;
  }

  /** Reads the word at `at`, which may be a pair with a value in quotes; returns the offset behind it. */
  #word(text: string, at: number): number {
    let end = at;
    let isPair = false;
    while (end < text.length && !isBlank(text.charCodeAt(end))) {
      if (!isPair && end > at && text.charCodeAt(end) === EQUALS) {
        isPair = true;
        if (text.charCodeAt(end + 1) === QUOTE) {
          end = Math.min(quotedEnd(text, end + 2) + 1, text.length);
          break;
        }
      }
      end++;
    }
    if (isPair) this.pairs += `${text.slice(at, end)} `;
    else if (isDigit(text, at)) this.#addNumber(text.slice(at, end), true);
    return end;
  }

  #addQuoted(text: string): void {
    this.#quotedCount++;
    if (this.#quotedCount === 1) this.#first = text;
    else if (this.#quotedCount === 2) this.#second = text;
    else if (isDigit(text, 0) && this.#addNumber(text, false)) return;
    else if (this.forwardedAddresses === undefined && isAddressList(text))
      this.forwardedAddresses = text;
  }

  /** Takes a time; false when `text` is none. A whole number without a unit may be one only if it `mayBeWhole`. */
  #addNumber(text: string, mayBeWhole: boolean): boolean {
    const parts = text.length <= TIME_LENGTH_MAX ? TIME.exec(text) : null;
    if (parts === null) return false;
    const [, digits, fraction, unit] = parts;
    if (fraction !== undefined || unit !== undefined || text.includes('/')) {
      this.responseTime ??= new NumberText(digits);
      return true;
    }
    if (mayBeWhole) {
      this.#whole ??= new NumberText(digits);
      this.#wholeCount++;
    }
    return mayBeWhole;
  }

  #conclude(): void {
    const first = this.#first;
    if (this.#quotedCount >= PLACED_COUNT) {
      this.referer = meaningOf(first ?? '');
      this.userAgent = meaningOf(this.#second ?? '');
    } else if (first !== undefined) {
      if (isAddressList(first)) this.forwardedAddresses = first;
      else if (/^https?:\/\//i.test(first)) this.referer = meaningOf(first);
      else this.userAgent = meaningOf(first);
    }
    if (this.responseTime !== undefined) return;
    if (this.#wholeCount === 1) this.responseTime = this.#whole;
    else if (this.#wholeCount === 2) this.bytesRead = this.#whole;
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= ZERO && code <= NINE;
}
