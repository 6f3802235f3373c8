import { HASH_SEED, hashBytes, sameBytes } from '../../engine/base/hash.ts';
import { Kind } from '../../engine/column/kind.ts';
import type { RowValues } from './row-values.ts';

const INFO = 6;

/** Beginnings of names, in lower case, and the levels that they mean. The first one that fits counts. */
const BEGINNINGS: readonly (readonly [string, number])[] = [
  ['emerg', 0],
  ['f', 0],
  ['panic', 0],
  ['a', 1],
  ['c', 2],
  ['err', 3],
  ['w', 4],
  ['n', 5],
  ['i', 6],
  ['d', 7],
  ['trace', 7],
  ['verbose', 7],
  ['silly', 7],
];

/** Levels of 10, 20 and so on to 60. Source: pino and bunyan, "Levels". */
const TENS = [7, 7, 6, 4, 3, 0];

/**
 * The level of syslog, 0 (emergency) to 7 (debug), that a name such as `WARN`, a digit or a number of pino such as `50`
 * means; 6 for any other text, `undefined` for one that is empty or blank. Source: RFC 5424 section 6.2.1.
 */
export function severityOf(text: string): number | undefined {
  // No name needs more, and a long text is not to be copied.
  const name = text.slice(0, 64).trim().toLowerCase();
  if (name === '') return text.trim() === '' ? undefined : INFO;
  if (name.length === 1 && name >= '0' && name <= '7') return Number(name);
  if (/^[1-6]0$/.test(name)) return TENS[Number(name[0]) - 1];
  for (const [beginning, level] of BEGINNINGS) if (name.startsWith(beginning)) return level;
  return INFO;
}

/** Texts that are remembered with their levels, a power of two, and the bytes that they have at most. */
const KNOWN_COUNT = 64;
const KNOWN_BYTES_MAX = 14;
/** Bytes of a place: the length of a text, its level, the text. */
const PLACE_BYTES = KNOWN_BYTES_MAX + 2;
const NONE = 0xff;

/** Levels of texts, those of short ones remembered, as they repeat. Owned by one thread. */
export class Severities {
  readonly #known = new Uint8Array(KNOWN_COUNT * PLACE_BYTES);

  /** The level that the text which was turned to means. */
  of(values: RowValues): number | undefined {
    const { kind, bytes, start, end } = values;
    const length = end - start;
    if (kind === Kind.BOOLEAN || length === 0 || length > KNOWN_BYTES_MAX)
      return severityOf(values.text);
    const known = this.#known;
    const hash = hashBytes(bytes, start, end, HASH_SEED);
    const place = (hash & (KNOWN_COUNT - 1)) * PLACE_BYTES;
    if (known[place] !== length || !sameBytes(known, place + 2, bytes, start, length)) {
      known[place] = length;
      known[place + 1] = severityOf(values.text) ?? NONE;
      for (let at = 0; at < length; at++) known[place + 2 + at] = bytes[start + at];
    }
    return known[place + 1] === NONE ? undefined : known[place + 1];
  }
}
