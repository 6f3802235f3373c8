import type { AggregateResult } from '../api/contract.ts';
import { counted, duration, pointTime, whole as wholeNumber } from '../base/format.ts';
import { Icon } from './icon.tsx';

interface ExactnessProps {
  /** Parts that the answer lacks, as it tells of them. */
  whole: Pick<AggregateResult, 'bound' | 'damaged'>;
  zone: string;
}

/** The word on how whole an answer is. */
export function Exactness({ whole: { bound, damaged }, zone }: ExactnessProps) {
  if (damaged !== undefined) {
    return (
      <span class="warn-text">
        <Icon name="warning" /> partial: {counted(damaged.blocks, 'damaged block')}
      </span>
    );
  }
  if (bound !== undefined) {
    return (
      <span class="warn-text">
        <Icon name="warning" /> the newest {wholeNumber(bound.limit)}, from{' '}
        {pointTime(Date.parse(bound.from), zone)}
      </span>
    );
  }
  return (
    <span class="exact">
      <Icon name="check" size={14} /> exact
    </span>
  );
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
