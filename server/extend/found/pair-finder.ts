import { Kind } from '../../../engine/column/kind.ts';
import { PairScanner } from '../../decode/keyvalue.ts';
import { Note, Pairs, unescapePair } from '../../decode/pairs.ts';
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
        const { rows } = found;
        const to = rows.reserveSide(valueEnd[pair] - at);
        rows.sideBytes = unescapePair(bytes, at, valueEnd[pair], rows.side, to);
        found.add(path, Kind.STRING, ~to, rows.sideBytes - to);
      } else {
        const kind = note[pair] === Note.PLAIN ? Kind.NUMBER : Kind.STRING;
        found.add(path, kind, isInSide ? ~at : at, valueEnd[pair] - at);
      }
    }
    return FOUND;
  }
}
