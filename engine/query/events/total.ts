import { assert } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { BlockScan, type BlockVisitor } from '../group/block-scan.ts';
import type { Sharing, VisitorData, VisitorSpec } from '../group/shared-scan.ts';
import { type Bitmap, countRows } from '../model/bitmap.ts';
import type { QueryStats, Selection, Snapshot } from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';

/** A pass over the blocks that counts the selected events. */
export class Counter implements BlockVisitor {
  readonly needsRows = false;
  readonly isFull = false;
  total = 0;

  addCount(eventCount: number): void {
    this.total += eventCount;
  }

  *add(_block: Block, rows: Bitmap): Units<void> {
    this.total += countRows(rows);
    yield;
  }

  spec(): VisitorSpec {
    return { type: 'total' };
  }

  found(): VisitorData {
    return { type: 'total', total: this.total };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'total', 'another total');
    this.total += data.total;
    yield;
  }
}

/**
 * Counts the selected events, a block a unit; `opened` are the blocks that were read. Damaged blocks are left out.
 * Throws what the source throws but CORRUPTION.
 */
export function* totalUnits(
  source: BlockSource,
  snapshot: Snapshot,
  selection: Selection & Reach,
  sharing?: Sharing,
): Generator<Progress, { total: number; stats: QueryStats; opened: ReadonlySet<BlockRef> }> {
  const scan = new BlockScan(source, snapshot, selection, sharing);
  const counter = new Counter();
  yield* scan.run(counter);
  return { total: counter.total, stats: scan.stats, opened: scan.opened };
}
