import { ByteReader, type ByteWriter } from '../base/bytes.ts';
import { grow, refit } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { idsToWrite, writeIds } from '../packed/integers.ts';
import { ColumnBuilder } from './builder.ts';
import type { BooleanColumn } from './column.ts';
import { Kind } from './kind.ts';
import { bitmapWords, type PresentRows, presenceOf } from './presence.ts';

/** Booleans of an open block. */
export class BooleanBuilder extends ColumnBuilder {
  values = new Uint8Array(4);

  constructor(path: number) {
    super(path, Kind.BOOLEAN);
  }

  /** Adds a boolean of `row`: 1 or 0. */
  append(row: number, value: number): void {
    const at = this.addRow(row);
    if (at === this.values.length) this.values = grow(this.values, at + 1);
    this.values[at] = value;
  }

  override clear(): void {
    this.values = refit(this.values, this.count, 4);
    super.clear();
  }
}

/** Writes the values `[from, to)`. Source: FORMAT.md 4.7. */
export function writeBooleans(
  writer: ByteWriter,
  builder: BooleanBuilder,
  from: number,
  to: number,
): void {
  const ids = idsToWrite(to - from);
  for (let index = from; index < to; index++) ids[index - from] = builder.values[index];
  writeIds(writer, to - from);
}

/** Reads `count` values as a column of a block of `rowCount` rows. Throws CORRUPTION. */
export function readBooleans(
  bytes: Uint8Array,
  count: number,
  present: PresentRows | undefined,
  rowCount: number,
): BooleanColumn {
  const dense = new IntegerStream(new ByteReader(bytes), count).ids(1);
  const rows = present?.rows();
  const values = new Uint32Array(bitmapWords(rowCount));
  for (let index = 0; index < count; index++) {
    const row = rows === undefined ? index : rows[index];
    values[row >>> 5] |= dense[index] << (row & 31);
  }
  return { kind: Kind.BOOLEAN, presence: presenceOf(present), values };
}
