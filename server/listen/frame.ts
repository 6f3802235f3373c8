import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';

/**
 * Bytes of a line that are kept. The write key comes on top of what an event may have, so that the decoder still sees
 * that a line was too long, and marks its event.
 */
export const LINE_BYTES_MAX = EVENT_BYTES_MAX + 64;

/** Bytes of a chunk that are looked at in one go; less than a line may have, so lines inside a piece are whole. */
const PIECE_BYTES = 262_144;
const LINE_FEED = 10;
const NOTHING = new Uint8Array(0);

/**
 * Takes what a frame has found. Both views are valid during the call only.
 * `head` followed by `rest` is one or more whole lines, each with its line feed; when `cut`, it is the beginning of a
 * single line that is too long, without a line feed.
 */
export type TakeLines = (head: Uint8Array, rest: Uint8Array, cut: boolean) => void;

/**
 * Finds where the lines of a stream end, however its bytes were cut into chunks. It keeps the beginning of a line
 * whose end has not come yet; of a line beyond LINE_BYTES_MAX it gives as much and skips the rest.
 * Source: decisions.md 2.1, 2.6.
 */
export class LineFrame {
  #tail: Uint8Array | undefined;
  #tailBytes = 0;
  #skipping = false;

  /** Bytes of memory held for the line whose end has not come yet. */
  get heldBytes(): number {
    return this.#tail?.length ?? 0;
  }

  /** Looks at the next bytes of the stream; keeps no reference to them. */
  push(chunk: Uint8Array, take: TakeLines): void {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      this.#piece(chunk.subarray(at, at + PIECE_BYTES), take);
    }
  }

  /** Ends the stream: gives what is left as a line of its own, to which a line feed is added. */
  end(take: TakeLines): void {
    if (this.#tailBytes === 0) return;
    const tail = this.#held();
    this.drop();
    take(tail, new Uint8Array([LINE_FEED]), false);
  }

  #piece(piece: Uint8Array, take: TakeLines): void {
    let start = 0;
    if (this.#skipping) {
      const lineEnd = piece.indexOf(LINE_FEED);
      if (lineEnd < 0) return;
      this.#skipping = false;
      start = lineEnd + 1;
    }
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    if (end > start) this.#lines(piece, start, end, take);
    this.#keep(piece.subarray(Math.max(start, end)), take);
  }

  /** Gives the lines that end in `piece[start, end)`, the first of which may have begun in the tail. */
  #lines(piece: Uint8Array, start: number, end: number, take: TakeLines): void {
    const tail = this.#held();
    this.drop();
    const firstEnd = tail.length === 0 ? start : piece.indexOf(LINE_FEED, start);
    const missing = LINE_BYTES_MAX - tail.length;
    if (tail.length > 0 && firstEnd - start > missing) {
      take(tail, piece.subarray(start, start + missing), true);
      if (firstEnd + 1 < end) take(NOTHING, piece.subarray(firstEnd + 1, end), false);
    } else {
      take(tail, piece.subarray(start, end), false);
    }
  }

  /** Adds the beginning of a line to the tail. */
  #keep(bytes: Uint8Array, take: TakeLines): void {
    if (bytes.length === 0) return;
    const missing = LINE_BYTES_MAX - this.#tailBytes;
    if (bytes.length > missing) {
      const tail = this.#held();
      this.drop();
      this.#skipping = true;
      take(tail, bytes.subarray(0, missing), true);
      return;
    }
    const needed = this.#tailBytes + bytes.length;
    if (this.#tail === undefined || needed > this.#tail.length) {
      const grown = new Uint8Array(this.#tail === undefined ? needed : needed * 2);
      if (this.#tail !== undefined) grown.set(this.#held());
      this.#tail = grown;
    }
    this.#tail.set(bytes, this.#tailBytes);
    this.#tailBytes = needed;
  }

  #held(): Uint8Array {
    return this.#tail?.subarray(0, this.#tailBytes) ?? NOTHING;
  }

  /** Forgets the line whose end has not come. */
  drop(): void {
    this.#tail = undefined;
    this.#tailBytes = 0;
  }
}
