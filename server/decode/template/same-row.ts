import { sameBytes } from '../../../engine/base/hash.ts';
import type { Rows } from '../../../engine/column/rows.ts';

/** Reports whether two rows of one source are the same: their dates, and all that is said of each leaf. */
export function isSameRow(left: Rows, leftRow: number, right: Rows, rightRow: number): boolean {
  const from = left.rowEntry[leftRow];
  const shift = right.rowEntry[rightRow] - from;
  const end = left.rowEntry[leftRow + 1];
  if (right.rowEntry[rightRow + 1] - shift !== end) return false;
  if (left.timeMs[leftRow] !== right.timeMs[rightRow]) return false;
  for (let entry = from; entry < end; entry++) {
    const other = entry + shift;
    if (
      left.path[entry] !== right.path[other] ||
      left.kind[entry] !== right.kind[other] ||
      !isSameText(left, entry, right, other) ||
      !Object.is(left.value[entry], right.value[other]) ||
      left.detail[entry] !== right.detail[other]
    ) {
      return false;
    }
  }
  return true;
}

/** Texts in the source have one place in both; those in the side are compared. */
function isSameText(left: Rows, entry: number, right: Rows, other: number): boolean {
  const start = left.start[entry];
  const otherStart = right.start[other];
  const length = left.length[entry];
  if (length !== right.length[other] || start < 0 !== otherStart < 0) return false;
  if (start >= 0) return start === otherStart;
  return sameBytes(left.side, ~start, right.side, ~otherStart, length);
}
