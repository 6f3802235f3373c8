import { free } from '../../packed/growth.ts';

/** Bytes to which parts of a room are aligned. */
const ALIGNMENT = 8;

/**
 * Memory for the values of one column of a segment after the other. It only grows: memory that comes and goes with each
 * column makes the collector run for each.
 */
export class ColumnRoom {
  #bytes = new Uint8Array(0);
  #end = 0;

  /** Takes all back, and makes room for `parts` of so many bytes. */
  begin(...parts: readonly number[]): void {
    const bytes = parts.reduce((sum, part) => sum + Math.ceil(part / ALIGNMENT) * ALIGNMENT, 0);
    this.#end = 0;
    if (bytes <= this.#bytes.length) return;
    this.free();
    this.#bytes = new Uint8Array(bytes);
  }

  /** The next part, of zeros, which has `length` elements of an array of `Type`. */
  part<T extends ArrayBufferView>(
    Type: new (buffer: ArrayBuffer, offset: number, length: number) => T,
    length: number,
  ): T {
    const part = new Type(this.#bytes.buffer, this.#end, length);
    this.#bytes.fill(0, this.#end, this.#end + part.byteLength);
    this.#end += Math.ceil(part.byteLength / ALIGNMENT) * ALIGNMENT;
    return part;
  }

  /** Ends it. */
  free(): void {
    free(this.#bytes);
  }
}
