import { sameBytes } from '../../../engine/base/hash.ts';
import { Kind } from '../../../engine/column/kind.ts';
import type { Rows } from '../../../engine/column/rows.ts';

/** Texts that are remembered, and the bytes that they have at most. */
const TEXTS_MAX = 4;
const TEXT_BYTES_MAX = 16;
const NO_ENTRY = -1;

/** Answers of a filter that has read one value of a row: those for a few short strings. Owned by one thread. */
export class KnownAnswers {
  /** The entry that was read, from the first one of its row. */
  #entry = NO_ENTRY;
  readonly #texts: Uint8Array[] = [];
  readonly #answers: boolean[] = [];

  /** The answer for the row that begins at entry `first`; `undefined` when it is not known. */
  of(rows: Rows, first: number): boolean | undefined {
    if (this.#entry === NO_ENTRY) return undefined;
    const entry = first + this.#entry;
    if (rows.kind[entry] !== Kind.STRING) return undefined;
    const length = rows.length[entry];
    const start = rows.start[entry];
    const bytes = start < 0 ? rows.side : rows.source;
    const at = start < 0 ? ~start : start;
    for (let text = 0; text < this.#texts.length; text++) {
      const known = this.#texts[text];
      if (known.length === length && sameBytes(known, 0, bytes, at, length))
        return this.#answers[text];
    }
    return undefined;
  }

  /** Remembers an answer for the row that begins at entry `first`, of which entry `only` was read and no other. */
  add(rows: Rows, first: number, only: number, answer: boolean): void {
    const entry = first + only;
    const isShort = rows.kind[entry] === Kind.STRING && rows.length[entry] <= TEXT_BYTES_MAX;
    const isSame = this.#entry === NO_ENTRY || this.#entry === only;
    if (!isShort || !isSame || this.#texts.length === TEXTS_MAX) return;
    this.#entry = only;
    this.#texts.push(rows.text(entry).slice());
    this.#answers.push(answer);
  }
}
