import type { Kind } from '../../../engine/column/kind.ts';
import type { Rows } from '../../../engine/column/rows.ts';

/** Entries that are remembered at first. */
const ENTRIES = 8;

/** Entries of a row as they were before they were overwritten. Owned by one thread. */
export class Overwritten {
  readonly #rows: Rows;
  readonly #saved = Array.from({ length: ENTRIES }, makeEntry);
  #count = 0;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Forgets all. */
  begin(): void {
    this.#count = 0;
  }

  /** Remembers an entry. */
  save(entry: number): void {
    if (this.#count === this.#saved.length) this.#saved.push(makeEntry());
    const { path, kind, start, length, value, detail } = this.#rows;
    const to = this.#saved[this.#count++];
    to.entry = entry;
    to.path = path[entry];
    to.kind = kind[entry] as Kind;
    to.start = start[entry];
    to.length = length[entry];
    to.value = value[entry];
    to.detail = detail[entry];
  }

  /** Makes the entries what they were. */
  undo(): void {
    const { path, kind, start, length, value, detail } = this.#rows;
    while (this.#count > 0) {
      const from = this.#saved[--this.#count];
      const { entry } = from;
      path[entry] = from.path;
      kind[entry] = from.kind;
      start[entry] = from.start;
      length[entry] = from.length;
      value[entry] = from.value;
      detail[entry] = from.detail;
    }
  }
}

function makeEntry() {
  return { entry: 0, path: 0, kind: 0, start: 0, length: 0, value: 0, detail: 0 };
}
