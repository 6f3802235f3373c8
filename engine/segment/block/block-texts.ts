import { damaged } from '../../base/errors.ts';
import type { EntrySource, StringPlace } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { NumberChunk } from '../../column/number-chunk.ts';
import type { PresentRows } from '../../column/presence.ts';
import type { StringChunk } from '../../column/string-chunk.ts';
import { StringEncoding } from '../../column/text.ts';
import { numberTexts } from '../../derive/number-texts.ts';
import type { ColumnTexts, RowTexts } from '../../derive/row-texts.ts';
import { free } from '../../packed/growth.ts';
import type { ColumnEntry } from './column-entry.ts';

/** Parts of a block that the texts of its columns are read from. */
export interface TextColumns {
  rowCount: number;
  /** The column of a number; `undefined` when it is none of the directory. */
  entry(column: number): ColumnEntry | undefined;
  present(entry: ColumnEntry): PresentRows | undefined;
  strings(column: number, entry: ColumnEntry): StringChunk;
  numbers(column: number, entry: ColumnEntry): NumberChunk;
}

/** Texts of the columns of strings and numbers of a block, but of derived ones: so none is derived of itself. */
export class BlockTexts implements ColumnTexts {
  readonly #block: TextColumns;
  #texts: (RowTexts | undefined)[] = [];
  #ids: (Uint32Array | undefined)[] = [];

  constructor(block: TextColumns) {
    this.#block = block;
  }

  texts(column: number): RowTexts {
    const known = this.#texts[column];
    if (known !== undefined) return known;
    const texts = this.#read(column);
    this.#texts[column] = texts;
    return texts;
  }

  ids(column: number): Uint32Array {
    const known = this.#ids[column];
    if (known !== undefined) return known;
    const entry = this.#entry(column);
    const ids = this.#byRow(entry, this.#block.strings(column, entry).denseIds());
    this.#ids[column] = ids;
    return ids;
  }

  dictionary(column: number): EntrySource | undefined {
    const entry = this.#entry(column);
    return entry.kind === Kind.STRING ? this.#block.strings(column, entry).shared : undefined;
  }

  /** Ends it, and frees the ids that `texts` gave. */
  free(): void {
    free(...this.#ids);
    for (const texts of this.#texts) free(texts?.ids);
  }

  /** Lets go of the texts, which others still have. */
  rest(): void {
    this.#texts = [];
    this.#ids = [];
  }

  place(column: number, row: number): StringPlace | undefined {
    const entry = this.#entry(column);
    const present = entry.hasSlots ? undefined : this.#block.present(entry);
    const rank = present === undefined ? row : present.rank(row);
    if (rank < 0) return undefined;
    if (entry.kind === Kind.STRING) return this.#block.strings(column, entry).value(rank);
    const bytes = Buffer.from(this.#block.numbers(column, entry).text(rank), 'latin1');
    return { bytes, start: 0, end: bytes.length };
  }

  numbers(column: number): { ids: Uint32Array; chunk: NumberChunk } | undefined {
    const entry = this.#entry(column);
    return entry.kind === Kind.STRING ? undefined : this.#numbers(column, entry);
  }

  #numbers(column: number, entry: ColumnEntry): { ids: Uint32Array; chunk: NumberChunk } {
    const rows = this.#block.present(entry)?.rows();
    const ids = new Uint32Array(rows === undefined ? entry.presentCount : this.#block.rowCount);
    for (let rank = 0; rank < entry.presentCount; rank++) {
      ids[rows === undefined ? rank : rows[rank]] = rank + 1;
    }
    return { ids, chunk: this.#block.numbers(column, entry) };
  }

  #read(column: number): RowTexts {
    const entry = this.#entry(column);
    if (entry.kind === Kind.STRING) {
      return { ids: this.ids(column), ...this.#block.strings(column, entry).entries() };
    }
    const { ids, chunk } = this.#numbers(column, entry);
    return { ids, ...numberTexts(chunk) };
  }

  #byRow(entry: ColumnEntry, dense: Uint32Array): Uint32Array {
    const rows = entry.hasSlots ? undefined : this.#block.present(entry)?.rows();
    if (rows === undefined) return dense;
    const ids = new Uint32Array(this.#block.rowCount);
    for (let rank = 0; rank < dense.length; rank++) ids[rows[rank]] = dense[rank];
    return ids;
  }

  #entry(column: number): ColumnEntry {
    const entry = this.#block.entry(column) ?? damaged(`a text is derived of column ${column}`);
    const { kind, encoding } = entry;
    const isPlain = kind === Kind.STRING && encoding !== StringEncoding.DERIVED;
    if (!isPlain && kind !== Kind.NUMBER) damaged(`a text is derived of column ${column}`);
    return entry;
  }
}
