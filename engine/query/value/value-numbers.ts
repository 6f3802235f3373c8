import { hashNumber, hashText } from '../../base/hash.ts';
import { parseDateForm } from '../../column/date-form.ts';
import { EntryHash, hashDate } from '../../column/entries.ts';
import { MANTISSA_EXACT_MAX } from '../../column/number-text.ts';
import { decimalKey, parseDecimal } from '../filter/decimal.ts';
import { encodeText } from '../filter/text.ts';

/**
 * Kind of a value, the low KIND_BITS of its hash. Numbers of up to 15 digits are doubles, others the text of their
 * digits and exponent.
 */
export const ValueKind = { NUMBER: 0, LONG_NUMBER: 1, STRING: 2, DATE: 3, BOOLEAN: 4 } as const;
/** Bits that a `ValueKind` takes. */
export const KIND_BITS = 3;
/** The bits of a hash that are the kind of its value. */
export const KIND_MASK = (1 << KIND_BITS) - 1;
/** Bits of a hash of a value. */
export const HASH_BITS = 31;

/** Result of `ofHash` when it does not know. */
export const TEXT_NEEDED = -2;

const { NUMBER, LONG_NUMBER, STRING, DATE, BOOLEAN } = ValueKind;

/** Decimals of as many digits are told apart by their doubles. */
const DIGITS_EXACT = 15;
/** Doubles below have fewer digits than DIGITS_EXACT. */
const DOUBLE_EXACT_MIN = 1e-290;

const NO_BYTES = new Uint8Array(0);

const dateForm = { form: 0, value: 0, timeMs: 0 };
const formBytes = new Uint8Array(2);

/**
 * Gives values of any kind numbers from 0 on; what these mean is the subclass's. 200 and 200.0 are one value; 200,
 * "200" and true are three; a date text is one value in a column of dates and in one of strings. Equal values have
 * equal hashes, seeded.
 */
export abstract class ValueNumbers extends EntryHash {
  /** True when `ofHash` may know the numbers of strings. */
  abstract readonly usesHashes: boolean;

  /** The number of a string of a hash, -1 when it has none, TEXT_NEEDED when the text is needed to know it. */
  abstract ofHash(hash: number): number;

  /**
   * The number of a value: `bytes[start, end)` and `number` together tell values of a kind apart; -1 when it has none.
   */
  protected abstract number(
    kind: number,
    number: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    hash: number,
  ): number;

  /** The number of a string value, WTF-8; -1 when it has none. So do the other methods of this kind. */
  string(bytes: Uint8Array, start: number, end: number): number {
    if (parseDateForm(bytes, start, end, dateForm)) return this.date(dateForm.value, dateForm.form);
    const hash = hashText(bytes, start, end, this.seed) >>> 1;
    return this.number(STRING, 0, bytes, start, end, hash);
  }

  /** A date as a column of dates has it. */
  date(value: number, form: number): number {
    formBytes[0] = form;
    formBytes[1] = form >>> 8;
    const hash = hashDate(value, form, this.seed) >>> 1;
    return this.number(DATE, value, formBytes, 0, 2, hash);
  }

  /** The number `mantissa / divisor`, the divisor a power of ten up to 10^22. */
  decimal(mantissa: number, divisor: number): number {
    if (mantissa > -MANTISSA_EXACT_MAX && mantissa < MANTISSA_EXACT_MAX) {
      return this.#double(mantissa / divisor);
    }
    return this.numberText(`${mantissa}e-${Math.round(Math.log10(divisor))}`);
  }

  /** A number that a column holds as a double. */
  double(value: number): number {
    if (Number.isInteger(value) && Math.abs(value) < MANTISSA_EXACT_MAX) return this.#double(value);
    return this.numberText(String(value));
  }

  /** The number that `text` says. */
  numberText(text: string): number {
    const decimal = parseDecimal(text);
    if (decimal === undefined) return -1;
    const value = Number(text);
    const normal = Number.isFinite(value) && Math.abs(value) >= DOUBLE_EXACT_MIN;
    if (decimal.digits === '') return this.#double(0);
    if (normal && decimal.digits.length <= DIGITS_EXACT) return this.#double(value);
    const key = encodeText(decimalKey(decimal));
    return this.number(
      LONG_NUMBER,
      value,
      key,
      0,
      key.length,
      hashText(key, 0, key.length, ~this.seed) >>> 1,
    );
  }

  /** A boolean. */
  boolean(value: boolean): number {
    const number = value ? 1 : 0;
    return this.number(BOOLEAN, number, NO_BYTES, 0, 0, hashNumber(number, ~this.seed) >>> 1);
  }

  #double(value: number): number {
    const number = value + 0;
    return this.number(NUMBER, number, NO_BYTES, 0, 0, hashNumber(number, this.seed) >>> 1);
  }
}
