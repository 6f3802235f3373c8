import type { Entries } from '../../column/entries.ts';

/** Bytes of a string that its place depends on. */
export const ORDER_BYTES = 64;

/**
 * Puts `order`, numbers of distinct entries, into the order of the first bytes of these, of equal ones the least number
 * first. A string that ends has zeros behind it.
 */
export function orderByBytes(order: Uint32Array, { offsets, bytes }: Entries): void {
  const byteOf = (entry: number, at: number): number => {
    const place = offsets[entry] + at;
    return place < offsets[entry + 1] ? bytes[place] : 0;
  };
  order.sort((left, right) => {
    for (let at = 0; at < ORDER_BYTES; at++) {
      const difference = byteOf(left, at) - byteOf(right, at);
      if (difference !== 0) return difference;
    }
    return left - right;
  });
}
