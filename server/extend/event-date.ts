import { DOT, NINE, ZERO } from '../../engine/base/ascii.ts';
import { Kind } from '../../engine/column/kind.ts';
import { boundedDate, parseDate } from '../decode/date.ts';
import { instantOf, parseZone, UTC, type Zone } from '../language/zone.ts';
import { DatePatterns } from './date-pattern.ts';
import type { RowValues } from './row-values.ts';

/** Dates of the known forms that do not say where their clock stands: ISO 8601 and RFC 3164. */
const WALL_CLOCK =
  /^(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?|\*?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:[.,]\d+)?)$/;
/** Digits of microseconds since the epoch, and of nanoseconds: those of dates from 1973 on. */
const FINE = /^\d{15,20}$/;
const NANOSECONDS_DIGITS = 18;
const LETTER_Z = 0x5a;
/** Longer texts are no dates. */
const TEXT_CHARACTERS_MAX = 200;

/** Reads the dates of an extension of kind `date`: by its patterns, in the known forms, as micro- and nanoseconds. */
export class EventDateReader {
  readonly #patterns: DatePatterns;
  readonly #zone: Zone;
  readonly #isPlain: boolean;

  /** `timezone`: of dates that name none. Throws DatePatternError. */
  constructor(formats: readonly string[], timezone: string) {
    this.#patterns = new DatePatterns(formats, timezone);
    this.#isPlain = formats.length === 0;
    this.#zone = parseZone(timezone) ?? UTC;
  }

  /** Milliseconds since the epoch that the text which was turned to says; `undefined` when it is no date. */
  dateOf(values: RowValues, nowMs: number): number | undefined {
    const { kind, bytes, start, end } = values;
    const ms = kind === Kind.BOOLEAN ? Number.NaN : this.readPlain(bytes, start, end, nowMs);
    return Number.isNaN(ms) ? this.read(values.text, nowMs) : ms;
  }

  /**
   * Milliseconds since the epoch of a text that is digits, or a date of a known form in UTC, without formats; NaN when
   * `read` has to look at it.
   */
  readPlain(bytes: Uint8Array, start: number, end: number, nowMs: number): number {
    if (!this.#isPlain || end === start || end - start > TEXT_CHARACTERS_MAX) return Number.NaN;
    let at = start;
    while (at < end && (bytes[at] === DOT || (bytes[at] >= ZERO && bytes[at] <= NINE))) at++;
    // Those of WALL_CLOCK have others, and end in a digit.
    const isKnown = at === end || (bytes[end - 1] === LETTER_Z && bytes[start] >= ZERO);
    return isKnown ? parseDate(bytes, start, end, nowMs) : Number.NaN;
  }

  /** Milliseconds since the epoch of `text`; `undefined` when it is no date. A year that is missing is the nearest. */
  read(text: string, nowMs: number): number | undefined {
    if (text.length > TEXT_CHARACTERS_MAX) return undefined;
    const trimmed = text.trim();
    const ms = this.#patterns.parse(trimmed, nowMs);
    if (ms !== undefined) return ms;
    const bytes = Buffer.from(trimmed);
    const known = parseDate(bytes, 0, bytes.length, nowMs);
    if (Number.isNaN(known)) return FINE.test(trimmed) ? fineMs(trimmed) : undefined;
    return WALL_CLOCK.test(trimmed) ? instantOf(this.#zone, known) : known;
  }
}

/** Whole milliseconds of digits that are micro- or nanoseconds. */
function fineMs(digits: string): number | undefined {
  const ms = Number(digits.slice(0, digits.length < NANOSECONDS_DIGITS ? -3 : -6));
  return Number.isNaN(boundedDate(ms)) ? undefined : ms;
}
