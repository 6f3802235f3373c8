import type { Patches } from './cells.ts';

/** Adds patches to `numbers`, which are those from `first` on. */
export function addPatches(
  numbers: Uint32Array,
  { places, highs }: Pick<Patches, 'places' | 'highs'>,
  first = 0,
): void {
  const end = first + numbers.length;
  for (let at = firstFrom(places, first); at < places.length && places[at] < end; at++) {
    numbers[places[at] - first] += highs[at];
  }
}

/** Number of the first of `places`, which ascend, from `begin` up to `end` that is not below `place`; else `end`. */
export function firstFrom(
  places: Uint32Array,
  place: number,
  begin = 0,
  end = places.length,
): number {
  let low = begin;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle] < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
