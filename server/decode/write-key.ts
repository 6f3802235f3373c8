import { Kind } from '../../engine/column/kind.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { latin1 } from './text.ts';

/** Recognises `bytes[start, end)` as a write key, also as one that is disabled. */
export type WriteKeyTest = (bytes: Uint8Array, start: number, end: number) => boolean;

const HIDDEN = '***';

/**
 * Writes `***` in place of `key` in the texts of the row in progress: the message from which the key was read may still
 * hold it.
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
