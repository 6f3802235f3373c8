import { BACKSLASH, QUOTE } from '../../engine/base/ascii.ts';

/** Reading of a pair's value. */
export const Note = {
  /** Unchanged; a number when it is one. */
  PLAIN: 0,
  /** Unchanged, a string. */
  STRING: 1,
  /** A string in which backslashes are to be undone. */
  ESCAPED: 2,
  /** No value: the name is that of an element, to which the pairs behind it belong. */
  ELEMENT: 3,
} as const;

/** One of the values of `Note`. */
export type Note = (typeof Note)[keyof typeof Note];

/**
 * Undoes backslashes of `bytes[start, end)`: before a quote, a backslash or `escaped` they are left out. Returns the
 * end of what was written to `target` from `to` on, for which there is room.
 */
export function unescapePair(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
  escaped = QUOTE,
): number {
  let behind = to;
  for (let at = start; at < end; at++) {
    if (bytes[at] === BACKSLASH && at + 1 < end) {
      const next = bytes[at + 1];
      if (next === QUOTE || next === BACKSLASH || next === escaped) at++;
    }
    target[behind++] = bytes[at];
  }
  return behind;
}

/** Names and values that were found in a text, as offsets into it, in order. Keeps its memory. */
export class Pairs {
  nameStart = new Int32Array(64);
  nameEnd = new Int32Array(64);
  valueStart = new Int32Array(64);
  valueEnd = new Int32Array(64);
  note = new Uint8Array(64);
  count = 0;

  /** Adds a pair behind the others. */
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number, note: Note): void {
    const place = this.count++;
    if (place === this.note.length) this.#grow();
    this.nameStart[place] = nameStart;
    this.nameEnd[place] = nameEnd;
    this.valueStart[place] = valueStart;
    this.valueEnd[place] = valueEnd;
    this.note[place] = note;
  }

  #grow(): void {
    const capacity = this.note.length * 2;
    const grow = (from: Int32Array): Int32Array<ArrayBuffer> => {
      const to = new Int32Array(capacity);
      to.set(from);
      return to;
    };
    this.nameStart = grow(this.nameStart);
    this.nameEnd = grow(this.nameEnd);
    this.valueStart = grow(this.valueStart);
    this.valueEnd = grow(this.valueEnd);
    const note = new Uint8Array(capacity);
    note.set(this.note);
    this.note = note;
  }
}
