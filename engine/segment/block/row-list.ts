import type { RowList } from '../../column/batch.ts';

/** The row lists of a block, which columns share: found by a cheap hash, and compared. */
export class RowListTable {
  readonly #lists: RowList[] = [];
  readonly #numbers = new Map<number, number[]>();

  /** The number of a list of the same rows; -1 when it is new, and then it gets the next number. */
  find(list: RowList): number {
    const { rows, from, to } = list;
    const middle = (from + to) >>> 1;
    const hash = (to - from) * 2 ** 32 + ((rows[from] ^ (rows[to - 1] << 8)) >>> 0) + rows[middle];
    const candidates = this.#numbers.get(hash);
    for (const number of candidates ?? []) if (sameRows(this.#lists[number], list)) return number;
    if (candidates === undefined) this.#numbers.set(hash, [this.#lists.length]);
    else candidates.push(this.#lists.length);
    this.#lists.push({ rows, from, to });
    return -1;
  }
}

function sameRows(left: RowList, right: RowList): boolean {
  const count = left.to - left.from;
  if (right.to - right.from !== count) return false;
  if (left.rows === right.rows && left.from === right.from) return true;
  for (let index = 0; index < count; index++) {
    if (left.rows[left.from + index] !== right.rows[right.from + index]) return false;
  }
  return true;
}
