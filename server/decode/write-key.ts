import { Kind } from '../../engine/column/kind.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { latin1 } from './text.ts';

/** Tells whether `bytes[start, end)` is a write key, one that is off included. */
export type WriteKeyTest = (bytes: Uint8Array, start: number, end: number) => boolean;

const HIDDEN = '***';

/**
 * Puts `***` for `key` into the texts of the row that is being written: an attribute that is taken out may stand in the
 * message too, which it was read from.
 */
export function hideKey(rows: Rows, key: Uint8Array): void {
  const wanted = latin1(key, 0, key.length);
  for (let entry = rows.rowEntry[rows.rowCount]; entry < rows.entryCount; entry++) {
    if (rows.kind[entry] !== Kind.STRING && rows.kind[entry] !== Kind.ARRAY) continue;
    const bytes = rows.text(entry);
    const text = latin1(bytes, 0, bytes.length);
    if (!text.includes(wanted)) continue;
    const hidden = Buffer.from(text.replaceAll(wanted, HIDDEN), 'latin1');
    rows.start[entry] = rows.addSide(hidden);
    rows.length[entry] = hidden.length;
  }
}
