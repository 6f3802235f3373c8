import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import {
  FRACTION_DIGITS_MAX,
  MANTISSA_EXACT_MAX,
  POWERS_OF_TEN,
} from '../../column/number-text.ts';
import { grow } from '../../packed/growth.ts';
import { parseDecimal } from '../filter/decimal.ts';
import type { Pairs } from '../value/pairs.ts';
import { eachOf, exactValue } from './long-bounds.ts';

/** Digits before and behind the point up to which texts are added exactly; other texts are added as doubles. */
const DIGITS_EXACT_MAX = 400;
/** Memory of a total that is no double any more. */
const LARGE_BYTES = 100;
const NOTHING = new Float64Array(0);

/** Numbers of a column by row, as they are unpacked: mantissas + 1, or codes of the mantissas of `table`. */
export interface UnpackedNumbers {
  codes: Uint32Array;
  table: Float64Array | undefined;
}

/** Sums as plain data. */
export interface SumsData {
  groupCount: number;
  totals: Float64Array<ArrayBuffer>[];
  large: Map<number, Map<number, bigint>>;
  doubles: Float64Array<ArrayBuffer>;
  compensations: Float64Array<ArrayBuffer>;
}

/**
 * Sums of numbers by group: exact for decimals of whatever scales, within a rounding of the last place for other
 * doubles. Decimals are added as whole numbers, one total a scale and group, which moves to a BigInt before it could be
 * rounded; doubles with Neumaier's compensation. Mergeable.
 */
export class Sums {
  #groupCount = 0;
  /** Totals by scale and group, below 2^53 each; of a scale that was not met there is nothing. */
  #totals: Float64Array<ArrayBuffer>[] = new Array(FRACTION_DIGITS_MAX + 1).fill(NOTHING);
  /** Totals that left `#totals`, by scale and group. */
  #large = new Map<number, Map<number, bigint>>();
  #doubles: Float64Array<ArrayBuffer> = NOTHING;
  #compensations: Float64Array<ArrayBuffer> = NOTHING;

  /** Takes `data` over. */
  static of({ groupCount, totals, large, doubles, compensations }: SumsData): Sums {
    const sums = new Sums();
    sums.#groupCount = groupCount;
    sums.#totals = totals;
    sums.#large = large;
    sums.#doubles = doubles;
    sums.#compensations = compensations;
    return sums;
  }

  /** Its parts; it is not to be used any more. */
  get data(): SumsData {
    return {
      groupCount: this.#groupCount,
      totals: this.#totals,
      large: this.#large,
      doubles: this.#doubles,
      compensations: this.#compensations,
    };
  }

  /** Makes room for groups 0 to `groupCount - 1`. */
  ensure(groupCount: number): void {
    this.#groupCount = Math.max(this.#groupCount, groupCount);
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    let bytes = (this.#doubles.length + this.#compensations.length) * 8;
    for (const totals of this.#totals) bytes += totals.length * 8;
    for (const totals of this.#large.values()) bytes += totals.size * LARGE_BYTES;
    return bytes;
  }

  /** Adds `mantissas[row] / 10^scale` of the row of each of `pairs` to its group. */
  addDecimals({ rows, groups, count }: Pairs, mantissas: Float64Array, scale: number): void {
    if (count === 0) return;
    const totals = this.#totalsOf(scale);
    for (let at = 0; at < count; at++) {
      const group = groups[at];
      const mantissa = mantissas[rows[at]];
      const total = totals[group];
      const next = total + mantissa;
      if (next <= Number.MAX_SAFE_INTEGER && next >= Number.MIN_SAFE_INTEGER) {
        totals[group] = next;
      } else {
        this.#addLarge(group, BigInt(total), scale);
        totals[group] = mantissa;
      }
    }
  }

  /** The same of numbers that are packed; adds the pairs of each group to `counts` besides. */
  addUnpacked(
    { rows, groups, count }: Pairs,
    { codes, table }: UnpackedNumbers,
    scale: number,
    counts: Float64Array,
  ): void {
    if (count === 0) return;
    const totals = this.#totalsOf(scale);
    for (let at = 0; at < count; at++) {
      const group = groups[at];
      const code = codes[rows[at]];
      const mantissa = table === undefined ? code - 1 : table[code];
      const total = totals[group];
      const next = total + mantissa;
      counts[group]++;
      if (next <= Number.MAX_SAFE_INTEGER && next >= Number.MIN_SAFE_INTEGER) {
        totals[group] = next;
      } else {
        this.#addLarge(group, BigInt(total), scale);
        totals[group] = mantissa;
      }
    }
  }

  /** Takes all that was added away, and keeps the memory. */
  clear(): void {
    for (const totals of this.#totals) totals.fill(0);
    this.#large = new Map();
    this.#doubles = NOTHING;
    this.#compensations = NOTHING;
  }

  /** Adds `mantissa / 10^scale` to a group. */
  addDecimal(group: number, mantissa: number, scale: number): void {
    const totals = this.#totalsOf(scale);
    const total = totals[group] + mantissa;
    if (total <= Number.MAX_SAFE_INTEGER && total >= Number.MIN_SAFE_INTEGER) {
      totals[group] = total;
      return;
    }
    this.#addLarge(group, BigInt(totals[group]), scale);
    totals[group] = mantissa;
  }

  /** Adds the number that `text` says to a group. */
  addText(group: number, text: string): void {
    const decimal = parseDecimal(text);
    const exponent = decimal?.exponent ?? 0;
    const exact = Math.abs(exponent) + (decimal?.digits.length ?? 0) <= DIGITS_EXACT_MAX;
    if (decimal === undefined || !exact) {
      this.#addRounded(group, Number(text));
      return;
    }
    const whole = BigInt(`${decimal.negative ? '-' : ''}${decimal.digits || '0'}`);
    if (exponent >= 0) this.#addLarge(group, whole * 10n ** BigInt(exponent), 0);
    else this.#addLarge(group, whole, -exponent);
  }

  /** Adds a double to a group: exactly when it is whole, or the nearest one of a decimal of up to 15 digits. */
  addDouble(group: number, value: number): void {
    for (let scale = 0; scale < POWERS_OF_TEN.length && scale <= FRACTION_DIGITS_MAX; scale++) {
      const mantissa = Math.round(value * POWERS_OF_TEN[scale]);
      if (!(Math.abs(mantissa) < MANTISSA_EXACT_MAX)) break;
      if (mantissa / POWERS_OF_TEN[scale] !== value) continue;
      this.addDecimal(group, mantissa, scale);
      return;
    }
    // A large whole number was sent as its double is printed.
    if (Number.isInteger(value)) this.addText(group, String(value));
    else this.#addRounded(group, value);
  }

  /** Adds the doubles `values[row]` of the row of each of `pairs` to its group. */
  addDoubles({ rows, groups, count }: Pairs, values: Float64Array): void {
    for (let at = 0; at < count; at++) this.addDouble(groups[at], values[rows[at]]);
  }

  #addRounded(group: number, value: number): void {
    if (group >= this.#doubles.length) {
      this.#doubles = grow(this.#doubles, this.#groupCount);
      this.#compensations = grow(this.#compensations, this.#groupCount);
    }
    const before = this.#doubles[group];
    const total = before + value;
    this.#compensations[group] +=
      Math.abs(before) >= Math.abs(value) ? before - total + value : value - total + before;
    this.#doubles[group] = total;
  }

  /**
   * Adds what `other` has, in units; its group g, or its group `chosen[g]`, is `groups[g]` here, where there is room.
   * `other` stays as it is.
   */
  *merge(other: Sums, groups: Uint32Array, chosen?: Uint32Array): Units<void> {
    const partsOf = (length: number, add: (from: number, group: number) => void): Units<void> =>
      inParts(length === 0 ? 0 : (chosen?.length ?? length), UNIT_SLOTS, (begin, end) => {
        for (let at = begin; at < end; at++) add(chosen?.[at] ?? at, groups[at]);
      });
    for (const [scale, totals] of other.#totals.entries()) {
      yield* partsOf(totals.length, (from, group) => {
        if ((totals[from] ?? 0) !== 0) this.addDecimal(group, totals[from], scale);
      });
    }
    for (const [scale, totals] of other.#large) {
      eachOf(totals, groups, chosen, (total, group) => this.#addLarge(group, total, scale));
    }
    const doubles = other.#doubles;
    const compensations = other.#compensations;
    yield* partsOf(doubles.length, (from, group) => {
      if ((doubles[from] ?? 0) === 0 && (compensations[from] ?? 0) === 0) return;
      this.#addRounded(group, doubles[from]);
      this.#addRounded(group, compensations[from]);
    });
  }

  /** The sum of a group as the nearest double; not finite when it is beyond them. */
  result(group: number): number {
    return Number(this.exact(group));
  }

  /** The sum of a group: exact when all of it was added exactly, else as the nearest double. */
  exact(group: number): number | string {
    const simple = this.#simple(group);
    if (simple !== undefined) return simple;
    const { decimals, scale } = this.#decimalsOf(group);
    const total = this.#doubles[group] ?? 0;
    const compensation = this.#compensations[group] ?? 0;
    const value = Number(`${decimals}e-${scale}`) + (total + compensation);
    const isShort = decimals < MANTISSA_EXACT_MAX && decimals > -MANTISSA_EXACT_MAX;
    const isRounded = total !== 0 || compensation !== 0;
    if (isShort || isRounded || !Number.isFinite(value)) return value;
    return exactValue(`${decimals}e-${scale}`);
  }

  /** The sum of a group that has one short total and nothing else; `undefined` when it has more. */
  #simple(group: number): number | undefined {
    if (this.#large.size > 0 || this.#doubles.length > 0) return undefined;
    let scaleFound = 0;
    let found = 0;
    for (let scale = 0; scale < this.#totals.length; scale++) {
      const totals = this.#totals[scale];
      const total = group < totals.length ? totals[group] : 0;
      if (total === 0) continue;
      if (found !== 0 || Math.abs(total) >= MANTISSA_EXACT_MAX) return undefined;
      [scaleFound, found] = [scale, total];
    }
    // A quotient of two exact doubles is the nearest one.
    return found / POWERS_OF_TEN[scaleFound];
  }

  /** The part of a group's sum that was added exactly: `decimals / 10^scale`. */
  #decimalsOf(group: number): { decimals: bigint; scale: number } {
    let decimals = 0n;
    let scaleMax = 0;
    for (const [scale, totals] of this.#large) {
      if (totals.has(group)) scaleMax = Math.max(scaleMax, scale);
    }
    for (const [scale, totals] of this.#totals.entries()) {
      if ((totals[group] ?? 0) !== 0) scaleMax = Math.max(scaleMax, scale);
    }
    for (const [scale, totals] of this.#totals.entries()) {
      const total = totals[group] ?? 0;
      if (total !== 0) decimals += BigInt(total) * 10n ** BigInt(scaleMax - scale);
    }
    for (const [scale, totals] of this.#large) {
      const total = totals.get(group);
      if (total !== undefined) decimals += total * 10n ** BigInt(scaleMax - scale);
    }
    return { decimals, scale: scaleMax };
  }

  /** The totals of a scale, with room for all groups. */
  #totalsOf(scale: number): Float64Array {
    const totals = this.#totals[scale];
    if (totals.length >= this.#groupCount) return totals;
    const grown = grow(totals, this.#groupCount);
    this.#totals[scale] = grown;
    return grown;
  }

  #addLarge(group: number, value: bigint, scale: number): void {
    const totals = this.#large.get(scale) ?? new Map<number, bigint>();
    this.#large.set(scale, totals.set(group, (totals.get(group) ?? 0n) + value));
  }
}
