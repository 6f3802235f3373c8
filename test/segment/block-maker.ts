import { Batch } from '../../engine/column/batch.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { type Block, openBlock } from '../../engine/segment/block/block.ts';
import { encodeBlock } from '../../engine/segment/block/block-encoder.ts';
import type { Run } from '../../engine/segment/block/runs.ts';
import {
  type BlockRef,
  FrameKind,
  freshRowsOf,
  writeFrameHeader,
} from '../../engine/segment/frame.ts';
import { addRow, type TestRow } from './leaves.ts';

export const RECEIVED_MS = 1_700_000_001_000;

export interface MadeBlock {
  frame: Uint8Array;
  ref: BlockRef;
}

/** Row records of `rows`, as a decoder would fill them. */
export function rowsOf(paths: PathTable, rows: readonly TestRow[], receivedMs = RECEIVED_MS): Rows {
  const records = new Rows();
  records.reset(new Uint8Array(0), receivedMs);
  for (const row of rows) addRow(records, paths, row);
  return records;
}

/** A batch that holds `rows`. */
export function batchOf(rows: readonly TestRow[]): Batch {
  const paths = new PathTable();
  const batch = new Batch(paths);
  batch.append(rowsOf(paths, rows), 0);
  return batch;
}

/** A whole frame of the rows `[from, to)` of a batch, as a store would place it at the start of a file. */
export function frameOf(
  batch: Batch,
  from: number,
  to: number,
  runs: readonly Run[] = [],
): MadeBlock {
  const encoded = encodeBlock(batch, from, to, runs);
  const firstSequence = 2 ** 33 + from;
  const frame = encoded.bytes;
  const place = { segment: 7, ordinal: 3 };
  writeFrameHeader(frame, {
    kind: FrameKind.BLOCK,
    repeats: runs.length > 0,
    firstSequence,
    ...place,
    previous: 5,
    frameBytes: frame.length,
    group: 2,
    ...encoded,
  });
  const { rowCount, minTimeMs, maxTimeMs } = encoded;
  const ref = {
    ...place,
    sealed: false,
    writer: 1,
    offset: 0,
    bytes: frame.length,
    rowCount,
    firstSequence: runs[0]?.first ?? firstSequence,
    endSequence: firstSequence + freshRowsOf(encoded),
    minTimeMs,
    maxTimeMs,
  };
  return { frame, ref };
}

/** Something to read `bytes` from as from a file; notes what was read. */
export class MemorySource {
  readonly bytes: Uint8Array;
  readonly reads: { position: number; count: number }[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  read(target: Uint8Array, position: number): number {
    this.reads.push({ position, count: target.length });
    const part = this.bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }
}

/** Opens a block that was made. */
export function open({ frame, ref }: MadeBlock): Block {
  return openBlock(new MemorySource(frame), ref);
}
