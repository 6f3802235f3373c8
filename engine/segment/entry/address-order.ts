import type { Entries } from '../../column/entries.ts';
import { addressOf } from '../../packed/addresses.ts';

/** Entries beyond are not told apart by the low bits of a double whose others are an address. */
const PLACES = 2 ** 21;
/** Entries of which one at least has to be an address, so that the others are looked at. */
const SAMPLE = 32;

/**
 * Puts those of `order`, numbers of entries, that are IPv4 addresses before the others, by their numbers; returns how
 * many. Does nothing when less than half of them are.
 */
export function addressesFirst(order: Uint32Array, entries: Entries): number {
  const { length } = order;
  if (length > PLACES || !hasAddress(order.subarray(0, SAMPLE), entries)) return 0;
  const { offsets, bytes } = entries;
  const keys = new Float64Array(length);
  const others = new Uint32Array(length);
  let count = 0;
  for (let place = 0; place < length; place++) {
    const entry = order[place];
    const address = addressOf(bytes, offsets[entry], offsets[entry + 1]);
    if (address < 0) others[place - count] = entry;
    else keys[count++] = address * PLACES + place;
  }
  if (count * 2 < length) return 0;
  const before = order.slice();
  const sorted = keys.subarray(0, count).sort();
  for (let at = 0; at < count; at++) order[at] = before[sorted[at] % PLACES];
  order.set(others.subarray(0, length - count), count);
  return count;
}

function hasAddress(order: Uint32Array, { offsets, bytes }: Entries): boolean {
  return order.some((entry) => addressOf(bytes, offsets[entry], offsets[entry + 1]) >= 0);
}
