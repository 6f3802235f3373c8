import { PairScanner } from '../decode/keyvalue.ts';
import type { NumberResult } from '../decode/number.ts';
import { scanNumber } from '../decode/number.ts';
import { Note, Pairs } from '../decode/pairs.ts';
import type { ExtractedValue, Extraction, Extractor } from './extraction.ts';
import { NumberText } from './extraction.ts';
import { bitsOf } from './signs.ts';

const SIGNS = bitsOf('=');

/**
 * Finds the pairs `name=value` of a text, by the rules that hold for the text of a syslog line. A repeated name keeps
 * its last value at its first position. Source: INTERFACE.md 1.2.
 */
export class KeyValueExtractor implements Extractor {
  readonly #scanner = new PairScanner();
  readonly #pairs = new Pairs();
  readonly #number: NumberResult = { value: 0, detail: 0 };

  mayFind(signs: number): boolean {
    return (signs & SIGNS) === SIGNS;
  }

  extract(text: string): Extraction | undefined {
    if (!text.includes('=')) return undefined;
    const bytes = Buffer.from(text);
    const pairs = this.#pairs;
    pairs.count = 0;
    this.#scanner.scan(bytes, 0, bytes.length, pairs);
    if (pairs.count === 0) return undefined;
    // In ASCII a character is a byte, so the offsets are those of the text.
    const isAscii = bytes.length === text.length;
    const textOf = (start: number, end: number): string =>
      isAscii ? text.slice(start, end) : bytes.toString('utf8', start, end);
    const attributes = new Map<string, ExtractedValue>();
    for (let place = 0; place < pairs.count; place++) {
      const start = pairs.valueStart[place];
      const end = pairs.valueEnd[place];
      const value = textOf(start, end);
      const name = textOf(pairs.nameStart[place], pairs.nameEnd[place]);
      const note = pairs.note[place];
      if (note === Note.ESCAPED) attributes.set(name, value.replace(/\\(["\\])/g, '$1'));
      else if (note === Note.PLAIN && scanNumber(bytes, start, end, this.#number) === end)
        attributes.set(name, new NumberText(value));
      else attributes.set(name, value);
    }
    return { attributes };
  }
}
