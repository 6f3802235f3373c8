import { print } from '../report/number.ts';
import type { Apart } from './attribute.ts';
import type { Profiled } from './profiled.ts';
import type { Stage } from './stage.ts';

const APART: readonly Apart[] = ['garbage collection', 'native'];
const HOT = 5;

/** Units that seconds are shown in. */
export interface Measure {
  /** `s/M events` or `ms a query`. */
  unit: string;
  /** From seconds. */
  factor: number;
}

/**
 * A line a stage with its time and share, below each its five hottest functions with theirs; at the end garbage
 * collection, native code outside of functions, what the threads waited, and the processor time of the whole process.
 */
export function profileLines(
  { times, cpuSeconds }: Profiled,
  stages: readonly Stage[],
  { unit, factor }: Measure,
): string[] {
  const of = (stage: Stage | Apart): number => times.seconds.get(stage) ?? 0;
  const shown = [...stages, 'other' as const, ...APART].filter((stage) => of(stage) > 0);
  const busy = shown.reduce((sum, stage) => sum + of(stage), 0);
  const line = (name: string, seconds: number): string => {
    const share = busy === 0 ? 0 : (100 * seconds) / busy;
    return `${print(seconds * factor).padStart(9)} ${unit} ${share.toFixed(1).padStart(6)} %  ${name}`;
  };
  const lines = shown.flatMap((stage) => [
    line(stage, of(stage)),
    ...(stage === 'garbage collection' || stage === 'native'
      ? []
      : times.hottest(stage, HOT).map(({ name, seconds }) => line(`  ${name}`, seconds))),
  ]);
  return [
    ...lines,
    line('in all, of samples', busy),
    `${print(cpuSeconds * factor).padStart(9)} ${unit}           CPU of the whole process`,
    `${print(of('idle')).padStart(9)} s idle, all threads together`,
  ];
}
