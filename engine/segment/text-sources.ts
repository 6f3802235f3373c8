import type { StringColumn } from '../column/column.ts';
import { StringBuilder } from '../column/strings.ts';
import type { Selection } from './placement.ts';
import { type ColumnPart, type Source, type SourceColumn, SourceFinder } from './source-rows.ts';

/** Memory of the source columns that are kept decoded. */
const KEPT_BYTES_MAX = 48 * 1024 * 1024;

function memoryBytes({ ids, bytes, offsets }: StringColumn): number {
  return bytes.length + (ids.length + offsets.length) * 4;
}

/**
 * Reads the values of a column of long or distinct strings from its sources, again and where they are needed, as rows
 * in order are mostly of few sources.
 */
export class TextSources {
  readonly #sources: readonly Source[];
  readonly #finder: SourceFinder;
  readonly #parts: (ColumnPart | undefined)[];
  /** By source, the one that was used last at the end. */
  readonly #kept = new Map<number, StringColumn>();
  #keptBytes = 0;

  constructor(sources: readonly Source[], column: SourceColumn) {
    this.#sources = sources;
    this.#finder = new SourceFinder(sources);
    this.#parts = new Array<ColumnPart | undefined>(sources.length).fill(undefined);
    for (const part of column.parts) this.#parts[part.source] = part;
  }

  /** The selected values as a builder; `order` has the rows of the block, as the batch counts them. */
  builder(
    path: number,
    kind: StringColumn['kind'],
    { rows }: Selection,
    order: Uint32Array,
  ): StringBuilder {
    const builder = new StringBuilder(path, kind);
    const entries = new Uint16Array(rows.length);
    let from = 0;
    let to = 0;
    let column: StringColumn | undefined;
    for (let index = 0; index < rows.length; index++) {
      const row = order[rows[index]];
      if (row < from || row >= to) {
        const source = this.#finder.source(row);
        from = this.#sources[source].base;
        to = from + this.#sources[source].block.rowCount;
        column = this.#column(source);
      }
      if (column === undefined) continue;
      const id = column.ids[row - from];
      const start = column.offsets[id - 1];
      entries[index] = builder.dictionary.add(column.bytes, start, column.offsets[id] - start);
    }
    builder.plain = true;
    builder.rows = rows as Uint16Array<ArrayBuffer>;
    builder.count = rows.length;
    builder.entries = entries;
    return builder;
  }

  #column(source: number): StringColumn | undefined {
    const known = this.#kept.get(source);
    if (known !== undefined) {
      this.#kept.delete(source);
      this.#kept.set(source, known);
      return known;
    }
    const part = this.#parts[source];
    if (part === undefined) return undefined;
    const { block } = this.#sources[source];
    const column = block.column(part.index);
    block.forget();
    if (!('ids' in column)) return undefined;
    this.#kept.set(source, column);
    this.#keptBytes += memoryBytes(column);
    for (const [oldest, kept] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES_MAX || oldest === source) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= memoryBytes(kept);
    }
    return column;
  }
}
