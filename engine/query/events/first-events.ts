import { compareDecimals, parseDecimal } from '../filter/decimal.ts';
import { compareText, encodeText } from '../filter/text.ts';
import type { OrderedEvent, OrderKey } from '../group/shared-scan.ts';
import { compareEvents } from '../model/event-id.ts';
import type { BucketKey } from '../model/query.ts';

const NUMBER_RANK = 0;
const STRING_RANK = 1;
const FALSE_RANK = 2;
const TRUE_RANK = 3;

/** Makes a value ready to be compared. */
export function orderKey(key: BucketKey): OrderKey {
  if (key.type === 'number') {
    return { rank: NUMBER_RANK, number: Number(key.text), text: key.text, isString: false };
  }
  if (key.type === 'string') {
    const { text } = key;
    const isNumeric = Number.isFinite(Number(text)) && parseDecimal(text) !== undefined;
    return isNumeric
      ? { rank: NUMBER_RANK, number: Number(text), text, isString: true }
      : { rank: STRING_RANK, number: 0, text, isString: true };
  }
  const isTrue = key.type === 'boolean' && key.value;
  return { rank: isTrue ? TRUE_RANK : FALSE_RANK, number: 0, text: '', isString: false };
}

/** True when a value is a number or a numeric string. */
export function isNumber({ rank }: OrderKey): boolean {
  return rank === NUMBER_RANK;
}

/** The natural order of values: negative when `left` comes first. */
function compareKeys(left: OrderKey, right: OrderKey): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (left.number !== right.number) return left.number < right.number ? -1 : 1;
  if (left.rank === NUMBER_RANK) {
    const order = compareDecimals(left.text, right.text);
    if (order !== 0) return order;
    // A number comes before the strings that say the same.
    if (!left.isString || !right.isString) return Number(left.isString) - Number(right.isString);
  }
  if (left.text === right.text) return 0;
  const text = encodeText(left.text);
  return compareText(text, 0, text.length, encodeText(right.text));
}

/**
 * The first `limit` events of an order by a value among those that were offered: a binary heap with the last of them at
 * its root. Events of equal values are in the order of events, in the same direction; those without a value come last.
 */
export class FirstEvents {
  /** Characters of the texts that it keeps. */
  characters = 0;
  readonly #limit: number;
  readonly #sign: number;
  readonly #heap: OrderedEvent[] = [];

  constructor(limit: number, order: 'asc' | 'desc') {
    this.#limit = limit;
    this.#sign = order === 'asc' ? 1 : -1;
  }

  /** The last of the first events; `undefined` while there is room for any event. */
  get last(): OrderedEvent | undefined {
    return this.#heap.length < this.#limit ? undefined : this.#heap[0];
  }

  /** Compares values: negative when `left` comes first, 0 when events decide. */
  compareValues(left: OrderKey | undefined, right: OrderKey | undefined): number {
    if (left === undefined || right === undefined) {
      return left === right ? 0 : left === undefined ? 1 : -1;
    }
    return this.#sign * compareKeys(left, right);
  }

  /** The events, in no order; not to be kept beyond the next one that is offered. */
  get events(): readonly OrderedEvent[] {
    return this.#heap;
  }

  /** Compares events: negative when `left` comes first. */
  compare(left: Omit<OrderedEvent, 'block' | 'row'>, right: Omit<OrderedEvent, 'block' | 'row'>) {
    const order = this.compareValues(left.value, right.value);
    return order !== 0 ? order : this.#sign * compareEvents(left, right);
  }

  /** Takes an event when it is among the first; the last one has to go when there is no room. */
  offer(event: OrderedEvent): void {
    const { last } = this;
    if (last === undefined) this.#rise(event);
    else if (this.compare(event, last) < 0) this.#replaceLast(event);
  }

  /** Takes out the last event; `undefined` when there is none. */
  takeLast(): OrderedEvent | undefined {
    const [first] = this.#heap;
    const moved = this.#heap.pop();
    if (first === undefined || moved === undefined) return undefined;
    if (this.#heap.length > 0) this.#sink(moved);
    this.characters -= first.value?.text.length ?? 0;
    return first;
  }

  #rise(event: OrderedEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    this.characters += event.value?.text.length ?? 0;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.compare(event, heap[parent]) <= 0) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = event;
  }

  #replaceLast(event: OrderedEvent): void {
    const [last] = this.#heap;
    this.characters += (event.value?.text.length ?? 0) - (last.value?.text.length ?? 0);
    this.#sink(event);
  }

  /** Puts an event in the place of the root's: those that come after it make room for it. */
  #sink(event: OrderedEvent): void {
    const heap = this.#heap;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.compare(heap[child + 1], heap[child]) > 0) child++;
      if (this.compare(event, heap[child]) >= 0) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = event;
  }
}
