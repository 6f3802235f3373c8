import { MINUTE_MS } from '../../base/durations.ts';
import type { Footer } from '../../segment/footer.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type BlockSource, firstAt, isDamage } from '../model/source.ts';

/** The rows of a sealed segment by minute, and where its blocks begin among them. */
interface SegmentMinutes {
  minutes: Float64Array;
  /** Rows of the segment before each minute; one more entry: all its rows. */
  rowsBefore: Float64Array;
  /** By ordinal of a block: rows of the segment before it. */
  starts: Map<number, number>;
}

/**
 * Tells which rows of sealed blocks lie before a time, as the minutes in the footers of their segments do. Source:
 * FORMAT.md 10.6.
 */
export class MinuteRows {
  readonly #source: Pick<BlockSource, 'footer'>;
  /** Of the segment that was asked of last, `undefined` when it is not known. */
  #minutes: SegmentMinutes | undefined;
  /** The segment whose footer was read last; -1 when none was. */
  segment = -1;

  constructor(source: Pick<BlockSource, 'footer'>) {
    this.#source = source;
  }

  /** Rows of a sealed block before `timeMs`; `undefined` when that takes the times of its rows. */
  before(ref: BlockRef, timeMs: number): number | undefined {
    if (timeMs <= ref.minTimeMs) return 0;
    if (timeMs > ref.maxTimeMs) return ref.rowCount;
    if (timeMs % MINUTE_MS !== 0) return undefined;
    const known = this.#minutesOf(ref);
    const start = known?.starts.get(ref.ordinal);
    if (known === undefined || start === undefined) return undefined;
    return known.rowsBefore[firstAt(known.minutes, timeMs / MINUTE_MS)] - start;
  }

  /** Minutes in the footer of a block's segment; a damaged one has none. */
  #minutesOf(ref: BlockRef): SegmentMinutes | undefined {
    if (this.segment === ref.segment) return this.#minutes;
    this.segment = ref.segment;
    this.#minutes = undefined;
    try {
      const footer = this.#source.footer?.(ref);
      if (footer !== undefined) this.#minutes = segmentMinutes(footer);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    return this.#minutes;
  }
}

function segmentMinutes({ minutes, blocks, rowCount }: Footer): SegmentMinutes {
  const starts = new Map<number, number>();
  let start = 0;
  for (const block of blocks) {
    starts.set(block.ordinal, start);
    start += block.rowCount;
  }
  const before = new Float64Array(minutes.rowsBefore.length + 1);
  before.set(minutes.rowsBefore);
  before[minutes.rowsBefore.length] = rowCount;
  return { minutes: minutes.minutes, rowsBefore: before, starts };
}
