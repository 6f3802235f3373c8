import { copyBytes } from '../../base/bytes.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { RegionWriter } from '../../column/chunk.ts';
import { grow } from '../../packed/growth.ts';

/**
 * Writes an overflow map: values of many columns of which each has few, as texts, column after column, those of one by
 * their rows. Holds 8 bytes a value, and compressed texts. Source: FORMAT.md 4.12.
 */
export class OverflowWriter {
  readonly #out: RegionWriter;
  #keys = new Float64Array(64);
  #counts = new Float64Array(64);
  #columnCount = 0;
  #rows = new Uint32Array(256);
  #lengths = new Uint32Array(256);
  #valueCount = 0;
  /** Texts of the last piece. */
  #bytes = new Uint8Array(4_096);
  #end = 0;
  readonly #pieces: Uint8Array[] = [];
  readonly #compress: ReturnType<RegionWriter['compressor']>;

  /** Writes to `out` when it ends. */
  constructor(out: RegionWriter) {
    this.#out = out;
    this.#compress = out.compressor();
  }

  /** Begins the column with a leaf key, which is above those before. One without values is left out. */
  begin(key: number): void {
    this.#dropEmpty();
    if (this.#columnCount === this.#keys.length) {
      this.#keys = grow(this.#keys, this.#columnCount + 1);
      this.#counts = grow(this.#counts, this.#columnCount + 1);
    }
    this.#keys[this.#columnCount] = key;
    this.#counts[this.#columnCount++] = 0;
  }

  /** Adds the value of a row of the column, above those before: its text is `source[start, end)`. */
  add(row: number, source: Uint8Array, start: number, end: number): void {
    const at = this.#valueCount++;
    if (at === this.#rows.length) {
      this.#rows = grow(this.#rows, at + 1);
      this.#lengths = grow(this.#lengths, at + 1);
    }
    this.#rows[at] = row;
    this.#lengths[at] = end - start;
    this.#counts[this.#columnCount - 1]++;
    const next = this.#end + end - start;
    if (next > this.#bytes.length) this.#bytes = grow(this.#bytes, next);
    copyBytes(source, start, end, this.#bytes, this.#end);
    this.#end = next;
    if (this.#valueCount % TEXT_PIECE_ROWS === 0) this.#endPiece();
  }

  /** Writes the map, unless it has no values. */
  finish(): void {
    this.#dropEmpty();
    if (this.#valueCount % TEXT_PIECE_ROWS !== 0) this.#endPiece();
    if (this.#columnCount === 0) return;
    const out = this.#out;
    const { meta, region } = out;
    meta.varint(this.#columnCount);
    meta.varint(this.#valueCount);
    out.integers(region, this.#keys, this.#columnCount, 'values');
    out.integers(region, this.#counts, this.#columnCount, 'values');
    out.end();
    out.integers(
      region,
      Float64Array.from(this.#rows.subarray(0, this.#valueCount)),
      this.#valueCount,
      'values',
    );
    out.end();
    out.integers(
      region,
      Float64Array.from(this.#lengths.subarray(0, this.#valueCount)),
      this.#valueCount,
      'ids',
    );
    out.end();
    for (const piece of this.#pieces) out.add(piece);
  }

  #dropEmpty(): void {
    if (this.#columnCount > 0 && this.#counts[this.#columnCount - 1] === 0) this.#columnCount--;
  }

  #endPiece(): void {
    const bytes = this.#bytes.subarray(0, this.#end);
    this.#pieces.push(this.#compress(bytes) ?? bytes.slice());
    this.#end = 0;
  }
}
