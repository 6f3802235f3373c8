import { compareDecimals, decimalKey, decimalText, parseDecimal } from '../filter/decimal.ts';

/** A number that may lie between doubles. */
interface LongNumber {
  /** The nearest double. */
  value: number;
  text: string;
}

/** Memory of a number beside its text. */
const ENTRY_BYTES = 100;

/** Least and greatest long numbers by group as plain data. */
export interface LongBoundsData {
  mins: Map<number, LongNumber>;
  maxs: Map<number, LongNumber>;
}

/** Least and greatest of numbers that doubles do not tell apart, by group. Mergeable. */
export class LongBounds {
  /** Plain data, which is the bounds'. */
  readonly data: LongBoundsData = { mins: new Map(), maxs: new Map() };
  #characters = 0;

  /** Memory that it takes. */
  get memoryBytes(): number {
    const { mins, maxs } = this.data;
    return (mins.size + maxs.size) * ENTRY_BYTES + this.#characters * 2;
  }

  /** Takes all bounds away. */
  clear(): void {
    this.data.mins.clear();
    this.data.maxs.clear();
    this.#characters = 0;
  }

  /** Widens the bounds of a group by the number that `text` says, of which `value` is the nearest double. */
  add(group: number, value: number, text: string): void {
    this.addLeast(group, { value, text });
    this.addGreatest(group, { value, text });
  }

  /** Lowers the least number of a group to `number`, if that is less. */
  addLeast(group: number, number: LongNumber): void {
    const known = this.data.mins.get(group);
    if (known === undefined || compareLong(number, known) < 0) this.#put('mins', group, number);
  }

  /** Raises the greatest number of a group to `number`, if that is greater. */
  addGreatest(group: number, number: LongNumber): void {
    const known = this.data.maxs.get(group);
    if (known === undefined || compareLong(number, known) > 0) this.#put('maxs', group, number);
  }

  /** Adds the data of another one; its group g, or its group `chosen[g]`, is `groups[g]` here. */
  merge({ mins, maxs }: LongBoundsData, groups: Uint32Array, chosen?: Uint32Array): void {
    eachOf(mins, groups, chosen, (number, group) => this.addLeast(group, number));
    eachOf(maxs, groups, chosen, (number, group) => this.addGreatest(group, number));
  }

  /** The lesser of `double` and the least number of a group. */
  least(group: number, double: number): number | string {
    const number = this.data.mins.get(group);
    return number === undefined || compareDouble(double, number) <= 0
      ? double
      : exactValue(number.text);
  }

  /** The greater of `double` and the greatest number of a group. */
  greatest(group: number, double: number): number | string {
    const number = this.data.maxs.get(group);
    return number === undefined || compareDouble(double, number) >= 0
      ? double
      : exactValue(number.text);
  }

  #put(side: keyof LongBoundsData, group: number, number: LongNumber): void {
    const bounds = this.data[side];
    this.#characters += number.text.length - (bounds.get(group)?.text.length ?? 0);
    bounds.set(group, number);
  }
}

/** Shows what groups have, or those alone that are `chosen`, with the other number of each. */
export function eachOf<T>(
  byGroup: ReadonlyMap<number, T>,
  groups: Uint32Array,
  chosen: Uint32Array | undefined,
  visit: (value: T, group: number) => void,
): void {
  if (byGroup.size === 0) return;
  if (chosen === undefined) {
    for (const [group, value] of byGroup) visit(value, groups[group]);
    return;
  }
  for (const [at, from] of chosen.entries()) {
    const value = byGroup.get(from);
    if (value !== undefined) visit(value, groups[at]);
  }
}

function compareLong(left: LongNumber, right: LongNumber): number {
  return left.value - right.value || compareDecimals(left.text, right.text);
}

/** Compares a double, infinite ones too, with a number. */
function compareDouble(double: number, number: LongNumber): number {
  return double - number.value || compareDecimals(String(double), number.text);
}

/**
 * The number that `text` says: as a double when that prints the same number, else as its text. Its double is finite.
 */
export function exactValue(text: string): number | string {
  const value = Number(text);
  const decimal = parseDecimal(text);
  const printed = parseDecimal(String(value));
  if (decimal === undefined || printed === undefined) return value;
  return decimalKey(decimal) === decimalKey(printed) ? value : decimalText(text);
}

/** Compares values of a metric, which are numbers: negative when `left` is less. */
export function compareValues(left: number | string, right: number | string): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return Number(left) - Number(right) || compareDecimals(String(left), String(right));
}
