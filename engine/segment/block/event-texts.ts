import { Batch } from '../../column/batch.ts';
import type { PathTable } from '../../column/path.ts';
import type { Rows } from '../../column/rows.ts';
import { FrameKind, writeFrameHeader } from '../frame.ts';
import { openBlock } from './block.ts';
import { encodeBlock } from './block-encoder.ts';

/**
 * JSON texts of `{custom, syslog, message}` of row records, by way of a block in memory that is written and read like
 * all others: what a fetch of them would show. Keeps nothing.
 */
export function eventTextsOf(rows: Rows, paths: PathTable): string[] {
  const texts: string[] = [];
  const batch = new Batch(paths);
  for (let row = 0; row < rows.rowCount; ) {
    row += batch.append(rows, row);
    texts.push(...blockTexts(batch));
    batch.clear();
  }
  return texts;
}

function blockTexts(batch: Batch): string[] {
  const { bytes, ...encoded } = encodeBlock(batch, 0, batch.rowCount);
  const place = { segment: 1, ordinal: 1 };
  const kind = FrameKind.BLOCK;
  const { rowCount, minTimeMs, maxTimeMs } = encoded;
  const nowhere = { repeats: false, previous: 0, group: 1, firstSequence: 0 };
  writeFrameHeader(bytes, { ...encoded, ...place, ...nowhere, kind, frameBytes: bytes.length });
  const sequences = { firstSequence: 0, endSequence: rowCount };
  const ref = { ...place, ...sequences, minTimeMs, maxTimeMs, rowCount, writer: 0, offset: 0 };
  const source = {
    read: (target: Uint8Array, position: number): number => {
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
  };
  const block = openBlock(source, { ...ref, sealed: false, bytes: bytes.length });
  return Array.from({ length: rowCount }, (_, row) => block.eventText(row));
}
