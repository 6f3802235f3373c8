import type { Units } from '../../base/pause.ts';
import { SumKey, type Summed } from '../../column/entries.ts';
import { type BlockRef, placeKey } from '../../segment/frame.ts';
import { allRows } from '../model/bitmap.ts';
import { type BlockSource, isDamage } from '../model/source.ts';
import { AttributeMeasures } from './attribute-measures.ts';

/** Memory of the key of a block. */
const BLOCK_BYTES = 96;

/** Measures of what some log blocks have at a path, kept from query to query. */
class LogMeasures implements Summed {
  /** Those of the blocks that were asked for last. Neither is changed any more. */
  last: { measures: AttributeMeasures; blocks: ReadonlySet<string> };

  constructor(measures: AttributeMeasures) {
    this.last = { measures, blocks: new Set() };
  }

  get memoryBytes(): number {
    return this.last.measures.memoryBytes + this.last.blocks.size * BLOCK_BYTES;
  }
}

const LOG_MEASURES = new SumKey<LogMeasures>('measures');

/**
 * Measures all rows of log blocks at a path, in units; those of blocks that were there when it was asked before are
 * known. A block that is damaged is given instead.
 */
export function* measuredOfLog(
  source: BlockSource,
  path: string,
  refs: ReadonlySet<BlockRef>,
): Units<AttributeMeasures | BlockRef> {
  const none = (): AttributeMeasures => new AttributeMeasures(path, source.secret);
  const keeper = source.sums?.keeperOfAll(path);
  const made = function* (): Units<LogMeasures> {
    yield;
    return new LogMeasures(none());
  };
  const kept = yield* keeper === undefined ? made() : keeper.keptUnits(LOG_MEASURES, made);
  const blocks = new Set(Array.from(refs, placeKey));
  const { last } = kept;
  const isPart = last.blocks.isSubsetOf(blocks);
  if (isPart && last.blocks.size === blocks.size) return last.measures;
  const measures = none();
  if (isPart) yield* measures.merge(last.measures);
  const more = none();
  for (const ref of refs) {
    if (isPart && last.blocks.has(placeKey(ref))) continue;
    try {
      const block = source.open(ref);
      yield* more.add(block, allRows(block.rowCount));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return ref;
    }
  }
  // What was seen of numbers to add them takes much memory: it is left behind.
  yield* measures.merge(more);
  kept.last = { measures, blocks };
  keeper?.weigh(LOG_MEASURES, kept);
  return measures;
}
