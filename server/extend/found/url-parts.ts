import { AMPERSAND, ASCII_MAX, BLANK, EQUALS, PERCENT, PLUS } from '../../../engine/base/ascii.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { hexAt } from '../query-string.ts';
import type { Findings } from './findings.ts';

/** Parameters that are read here. */
const PARAMETERS_MAX = 200;

/** Reads the parameters of query strings, as `queryParameters` does. Owned by one thread. */
export class ParameterFinder {
  readonly #found: Findings;
  #start = 0;
  #end = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #isInSide = false;

  constructor(found: Findings) {
    this.#found = found;
  }

  /** Adds the parameters of `bytes[start, end)` to the object at the path `container`; false when it is not plain. */
  find(
    container: number,
    { bytes, isInSide }: { bytes: Uint8Array; isInSide: boolean },
    start: number,
    end: number,
  ): boolean {
    const found = this.#found;
    let count = 0;
    for (let at = start; at < end; ) {
      let stop = at;
      let equals = -1;
      for (; stop < end && bytes[stop] !== AMPERSAND; stop++)
        if (equals < 0 && bytes[stop] === EQUALS) equals = stop;
      this.#bytes = bytes;
      this.#isInSide = isInSide;
      if (!this.#decode(at, equals < 0 ? stop : equals)) return false;
      if (this.#end > this.#start) {
        const path = found.pathIn(container, this.#bytes, this.#start, this.#end);
        this.#bytes = bytes;
        this.#isInSide = isInSide;
        if (path < 0 || ++count > PARAMETERS_MAX) return false;
        if (!this.#decode(equals < 0 ? stop : equals + 1, stop)) return false;
        const place = this.#isInSide ? ~this.#start : this.#start;
        found.add(path, Kind.STRING, place, this.#end - this.#start);
      }
      at = stop + 1;
    }
    return true;
  }

  /** Turns to the meaning of `[from, to)`; false when bytes beyond ASCII are escaped in it. */
  #decode(from: number, to: number): boolean {
    const bytes = this.#bytes;
    this.#start = from;
    this.#end = to;
    let at = from;
    while (at < to && bytes[at] !== PERCENT && bytes[at] !== PLUS) at++;
    if (at === to) return true;
    const { rows } = this.#found;
    const start = rows.reserveSide(to - from);
    const { side } = rows;
    let end = start;
    for (at = from; at < to; at++) {
      const byte = bytes[at];
      const value = byte === PERCENT && at + 2 < to ? hexAt(bytes, at + 1) : -1;
      if (value > ASCII_MAX) return false;
      if (value >= 0) at += 2;
      side[end++] = value >= 0 ? value : byte === PLUS ? BLANK : byte;
    }
    rows.sideBytes = end;
    this.#bytes = side;
    this.#isInSide = true;
    this.#start = start;
    this.#end = end;
    return true;
  }
}
