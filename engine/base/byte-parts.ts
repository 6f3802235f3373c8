/** Bytes of a part that several small pieces share. */
const PART_BYTES = 65_536;

/**
 * Bytes that are written one piece after the other and kept until all are there. Unlike in a ByteWriter nothing is
 * copied to make room for more, and little more memory is held than was written.
 */
export class ByteParts {
  #parts: Uint8Array<ArrayBuffer>[] = [];
  /** The part that small pieces go to, and how much of it is written. */
  #open = new Uint8Array(0);
  #openBytes = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies `bytes`. */
  raw(bytes: Uint8Array): void {
    if (this.#openBytes + bytes.length > this.#open.length) {
      this.#close();
      this.#open = new Uint8Array(Math.max(bytes.length, PART_BYTES));
    }
    this.#open.set(bytes, this.#openBytes);
    this.#openBytes += bytes.length;
    this.#length += bytes.length;
  }

  /** Zero bytes up to the next multiple of `alignment`. */
  pad(alignment: number): void {
    const excess = this.#length % alignment;
    if (excess !== 0) this.raw(new Uint8Array(alignment - excess));
  }

  /** All bytes, in order: views that are valid until the next write. */
  parts(): readonly Uint8Array[] {
    return [...this.#parts, this.#open.subarray(0, this.#openBytes)];
  }

  /** All bytes as one array, which is the caller's. Empties it, and frees each part as soon as it is copied. */
  take(): Uint8Array<ArrayBuffer> {
    this.#close();
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
      part.buffer.transfer(0);
    }
    this.#parts = [];
    this.#open = new Uint8Array(0);
    this.#length = 0;
    return bytes;
  }

  /** Empties it, and frees what was written: views of it are empty then. */
  reset(): void {
    for (const { buffer } of [...this.#parts, this.#open]) buffer.transfer(0);
    this.#parts = [];
    this.#open = new Uint8Array(0);
    this.#openBytes = 0;
    this.#length = 0;
  }

  #close(): void {
    if (this.#openBytes > 0) this.#parts.push(this.#open.subarray(0, this.#openBytes));
    this.#openBytes = 0;
  }
}
