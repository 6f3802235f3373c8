import type { Collected } from './stand.ts';

/** Memory of a service at a time of the soak, with the events that it had acknowledged. */
export interface Sample extends Collected {
  minutes: number;
  events: number;
}

/**
 * Growth from minute `from` to the last sample as a share of the level: by the median slope of all pairs (Theil and
 * Sen), so that single samples in the middle of a merge do not count.
 */
export function flatness(
  samples: readonly Sample[],
  from: number,
  pick: (sample: Sample) => number,
): number {
  const late = samples.filter(({ minutes }) => minutes >= from);
  if (late.length < 2) return 0;
  const slopes: number[] = [];
  for (const [at, left] of late.entries())
    for (const right of late.slice(at + 1))
      slopes.push((pick(right) - pick(left)) / (right.minutes - left.minutes));
  const minutes = late[late.length - 1].minutes - late[0].minutes;
  return (middle(slopes) * minutes) / middle(late.map(pick));
}

function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1];
}
