import { type PackedSpan, type PackedValues, plainValues } from '../packed/cells.ts';
import type { IntegerStream } from '../packed/integer-stream.ts';
import type { CodedNumbers, NumberColumn } from './column.ts';
import { Kind } from './kind.ts';
import { bitmapWords, type PresentRows, presenceOf, spread } from './presence.ts';

/** A column of numbers, which are decoded when they are asked for. */
export class LazyNumberColumn implements NumberColumn {
  readonly kind = Kind.NUMBER;
  readonly presence: NumberColumn['presence'];
  readonly scale: number;
  readonly exceptions: NumberColumn['exceptions'];
  readonly text: NumberColumn['text'];
  readonly #stream: IntegerStream;
  readonly #present: PresentRows | undefined;
  readonly #rowCount: number;
  #mantissas: Float64Array | undefined;
  #small: Uint32Array | undefined;

  /**
   * Numbers of a block of `rowCount` rows; `present` is undefined when all have a value. `stream` has their mantissas.
   */
  constructor(
    stream: IntegerStream,
    present: PresentRows | undefined,
    rowCount: number,
    { scale, exceptions, text }: Pick<NumberColumn, 'scale' | 'exceptions' | 'text'>,
  ) {
    this.presence = presenceOf(present);
    this.scale = scale;
    this.exceptions = exceptions;
    this.text = text;
    this.#stream = stream;
    this.#present = present;
    this.#rowCount = rowCount;
  }

  get mantissas(): Float64Array {
    if (this.#mantissas !== undefined) return this.#mantissas;
    const mantissas = spread(this.#stream.values(), this.#present, this.#rowCount);
    for (const { row } of this.exceptions) mantissas[row] = 0;
    this.#mantissas = mantissas;
    return mantissas;
  }

  small(max: number): Uint32Array | undefined {
    if (this.exceptions.length > 0 || !this.#stream.isWithin(0, max)) return undefined;
    this.#small ??= this.#spreadSmall(this.#stream.ranks());
    return this.#small;
  }

  packed(max: number): PackedValues | undefined {
    if (!this.#isWhole || !this.#stream.isWithin(0, max)) return undefined;
    if (this.#stream.codes() === undefined) return this.#stream.packed(1);
    const small = this.small(max);
    return small && plainValues(small);
  }

  coded(): CodedNumbers | undefined {
    return this.#isWhole ? this.#stream.codes() : undefined;
  }

  /** True when each row has a value, and none is an exception. */
  get #isWhole(): boolean {
    return this.#present === undefined && this.exceptions.length === 0;
  }

  rowsWithin(low: number, high: number): Uint32Array {
    const isDecoded = this.#mantissas !== undefined;
    const found = isDecoded ? undefined : this.#stream.bitsWithin(low, high);
    if (found === undefined) return numbersWithin(this.mantissas, low, high);
    return this.#present === undefined ? found : this.#present.bitsOf(found);
  }

  span(low: number, high: number): PackedSpan | undefined {
    return this.#isWhole ? this.#stream.spanWithin(low, high) : undefined;
  }

  /** Puts the ranks of the present rows to their rows. */
  #spreadSmall(ranks: Uint32Array): Uint32Array {
    if (this.#present === undefined) return ranks;
    const small = new Uint32Array(this.#rowCount);
    const rows = this.#present.rows();
    for (let index = 0; index < rows.length; index++) small[rows[index]] = ranks[index];
    return small;
  }
}

/** A bit for each of `numbers`, set when it is from `low` to `high`. */
function numbersWithin(numbers: Float64Array, low: number, high: number): Uint32Array {
  const bits = new Uint32Array(bitmapWords(numbers.length));
  for (let word = 0; word < bits.length; word++) {
    const end = Math.min((word + 1) << 5, numbers.length);
    let found = 0;
    for (let at = word << 5; at < end; at++) {
      found |= numbers[at] >= low && numbers[at] <= high ? 1 << at : 0;
    }
    bits[word] = found;
  }
  return bits;
}
