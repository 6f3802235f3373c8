import type { AggregateResult } from '../api/contract.ts';
import { counted, duration, pointTime, whole as wholeNumber } from '../base/format.ts';
import { Icon } from './icon.tsx';

/** Parts that an answer lacks, as it tells of them. */
export type Wholeness = {
  readonly [K in 'bound' | 'damaged']?: AggregateResult[K] | undefined;
} & {
  /** The numbers that are not exact although nothing is lacking, and how near they are. */
  readonly near?: string | undefined;
};

interface ExactnessProps {
  whole: Wholeness;
  zone?: string;
  /** A mark alone, whose words are its name. */
  isMark?: boolean;
}

/** The word on how whole an answer is, or a mark for it beside a number. */
export function Exactness({ whole, zone = 'UTC', isMark = false }: ExactnessProps) {
  const isExact = (whole.damaged ?? whole.bound) === undefined;
  const text = exactnessOf(whole, zone);
  return (
    <span
      class={isExact ? 'exact' : 'warn-text'}
      {...(isMark ? { role: 'img', 'aria-label': text, title: text } : {})}
    >
      <Icon name={isExact ? 'check' : 'warning'} size={14} /> {!isMark && text}
    </span>
  );
}

/** The words on how exact the numbers of an answer are. */
export function exactnessOf({ bound, damaged, near }: Wholeness, zone: string): string {
  if (damaged !== undefined) return `partial: ${counted(damaged.blocks, 'damaged block')}`;
  if (bound === undefined) return near === undefined ? 'exact' : `exact; ${near}`;
  return `partial: the newest ${wholeNumber(bound.limit)}, from ${pointTime(Date.parse(bound.from), zone)}`;
}

interface CostProps {
  tookMs: number;
  explain: { blocksOpened: number; blocksTotal: number } | undefined;
}

/** Milliseconds, and the blocks that were read where that is told. */
export function Cost({ tookMs, explain }: CostProps) {
  return (
    <span class="quiet-text cost">
      {duration(tookMs)}
      {explain !== undefined &&
        ` · read ${wholeNumber(explain.blocksOpened)} of ${counted(explain.blocksTotal, 'block')}`}
    </span>
  );
}
