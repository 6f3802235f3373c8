import { addRows, allRows, type Bitmap } from '../model/bitmap.ts';

/** Memory of a text beside its bytes, and of all of them; when there is more, they are read anew. */
const TEXT_BYTES = 160;
const BYTES_MAX = 1024 * 1024;

/** Text that a number stands for, as far as it is known. */
export interface NumberText {
  /** Its bytes, once they were read. */
  bytes: Uint8Array | undefined;
  /** Bits of the blocks of which it is known that they have no other text of its number. */
  blocks: Bitmap;
}

/** Texts of numbers that were read, and the blocks in which others of the same number were looked for. */
export class NumberTexts {
  readonly #texts = new Map<number, NumberText>();
  /** Memory that they take. */
  memoryBytes = 0;

  /** The texts of some numbers. */
  of(numbers: Uint32Array): NumberText[] {
    if (this.memoryBytes > BYTES_MAX) {
      this.#texts.clear();
      this.memoryBytes = 0;
    }
    return Array.from(numbers, (number) => {
      let text = this.#texts.get(number);
      if (text === undefined) {
        text = { bytes: undefined, blocks: new Uint32Array(0) };
        this.#texts.set(number, text);
        this.memoryBytes += TEXT_BYTES;
      }
      return text;
    });
  }

  /** Takes note of the bytes of a text. */
  read(text: NumberText, bytes: Uint8Array): void {
    text.bytes = bytes;
    this.memoryBytes += bytes.length;
  }

  /** Takes note that some texts were looked for in all of `blocks`. */
  looked(texts: readonly NumberText[], blocks: Bitmap): void {
    for (const text of texts) {
      if (text.blocks.length < blocks.length) {
        this.memoryBytes += (blocks.length - text.blocks.length) * 4;
        const before = text.blocks;
        text.blocks = new Uint32Array(blocks.length);
        text.blocks.set(before);
      }
      addRows(text.blocks, blocks);
    }
  }
}

/** Bits of the blocks in which each of some texts was looked for, of those with numbers below `blockCount`. */
export function lookedThrough(texts: readonly NumberText[], blockCount: number): Bitmap {
  const through = allRows(blockCount);
  for (const { blocks } of texts) {
    for (let word = 0; word < through.length; word++) through[word] &= blocks[word] ?? 0;
  }
  return through;
}
