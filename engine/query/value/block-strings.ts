import type { StringColumn } from '../../column/column.ts';
import { Kind } from '../../column/kind.ts';
import { unpackedView } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { columnsAt } from '../scan/scan.ts';

/** The only column of a block at a path, when it is one of strings. */
export function stringsOf(block: Block, path: string): StringColumn | undefined {
  const columns = columnsAt(block, path);
  const column = columns.length === 1 ? block.column(columns[0]) : undefined;
  return column?.kind === Kind.STRING ? column : undefined;
}

/** The ids of a column of strings, good until other numbers are read. Throws CORRUPTION. */
export function idsOf(column: StringColumn): Uint32Array {
  const packed = column.packed?.();
  return (packed && unpackedView(packed, column.entryCount)) ?? column.ids;
}
