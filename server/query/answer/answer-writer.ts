import type { Units } from '../../../engine/base/pause.ts';

/** Characters after which a piece ends. */
const PIECE_CHARACTERS = 64 * 1024;
/** Texts that are added in a unit, and characters that are written in about the time of one. */
const UNIT_TEXTS = 2_048;
/** Short texts in whose time one is made of an item. */
const ITEM_TEXTS = 8;
const TEXT_CHARACTERS = 128;

const encoder = new TextEncoder();

/** A text as UTF-8, in pieces that lie one after the other, none of them empty: it is never in one place as a whole. */
export type AnswerPieces = Uint8Array<ArrayBuffer>[];

/** Writes an answer, which may be large: its users yield whenever a unit is full. Owned by one query. */
export class AnswerWriter {
  readonly #pieces: AnswerPieces = [];
  #text = '';
  #unitLeft = UNIT_TEXTS;

  /** Adds a text, which does not end within a character; it took as long to make as `texts` short ones. */
  add(text: string, texts = 1): void {
    this.#text += text;
    this.#unitLeft -= texts + text.length / TEXT_CHARACTERS;
    if (this.#text.length >= PIECE_CHARACTERS) this.endPiece();
  }

  /** Reports that it is time to yield; another unit begins then. */
  isFull(): boolean {
    if (this.#unitLeft > 0) return false;
    this.#unitLeft = UNIT_TEXTS;
    return true;
  }

  /** Adds what `textOf` makes of each item, with `separator` between, in units. */
  *addEach<T>(items: readonly T[], textOf: (item: T) => string, separator: string): Units<void> {
    for (let at = 0; at < items.length; at++) {
      if (at > 0 && separator !== '') this.add(separator);
      this.add(textOf(items[at]), ITEM_TEXTS);
      if (this.isFull()) yield;
    }
  }

  /** Ends the piece, so that the following text begins another. */
  endPiece(): void {
    if (this.#text === '') return;
    this.#pieces.push(encoder.encode(this.#text));
    this.#text = '';
  }

  /** All that was added. The pieces are the caller's. */
  finish(): AnswerPieces {
    this.endPiece();
    return this.#pieces;
  }
}
