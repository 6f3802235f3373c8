import { BACKSLASH, QUOTE } from '../../../engine/base/ascii.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { PairScanner } from '../../decode/keyvalue.ts';
import { Note, Pairs } from '../../decode/pairs.ts';
import type { RowValues } from '../row-values.ts';
import { type Answer, type Finder, type Findings, FOUND, NOTHING, UNSURE } from './findings.ts';

/** Finds the pairs of a text, as KeyValueExtractor does. */
export class PairFinder implements Finder {
  readonly #found: Findings;
  readonly #scanner = new PairScanner();
  readonly #pairs = new Pairs();

  constructor(found: Findings) {
    this.#found = found;
  }

  find({ bytes, start, end, isInSide }: RowValues): Answer {
    const found = this.#found;
    const pairs = this.#pairs;
    pairs.count = 0;
    this.#scanner.scan(bytes, start, end, pairs);
    if (pairs.count === 0) return NOTHING;
    const { nameStart, nameEnd, valueStart, valueEnd, note } = pairs;
    for (let pair = 0; pair < pairs.count; pair++) {
      const path = found.pathIn(found.container, bytes, nameStart[pair], nameEnd[pair]);
      if (path < 0) return UNSURE;
      const at = valueStart[pair];
      if (note[pair] === Note.ESCAPED) {
        addUnescaped(found, path, bytes, at, valueEnd[pair]);
      } else {
        const kind = note[pair] === Note.PLAIN ? Kind.NUMBER : Kind.STRING;
        found.add(path, kind, isInSide ? ~at : at, valueEnd[pair] - at);
      }
    }
    return FOUND;
  }
}

/** Adds a text in which `\"` and `\\` stand for themselves. */
function addUnescaped(
  found: Findings,
  path: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const { rows } = found;
  const to = rows.reserveSide(end - start);
  const { side } = rows;
  let length = 0;
  for (let at = start; at < end; at++) {
    const next = bytes[at] === BACKSLASH && at + 1 < end ? bytes[at + 1] : 0;
    if (next === QUOTE || next === BACKSLASH) at++;
    side[to + length++] = bytes[at];
  }
  rows.sideBytes = to + length;
  found.add(path, Kind.STRING, ~to, length);
}
