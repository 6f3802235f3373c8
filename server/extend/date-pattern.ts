import { DAY_MS } from '../../engine/base/durations.ts';
import { daysFromCivil, daysInMonth } from '../../engine/column/date-form.ts';
import { boundedDate } from '../decode/date.ts';
import type { Zone } from '../language/zone.ts';
import { instantOf, parseZone, UTC } from '../language/zone.ts';

/** The fault of a date pattern, its zone or its locale. */
export class DatePatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatePatternError';
  }
}

const PATTERN_CHARACTERS_MAX = 100;
/** Longer texts are no dates. */
const TEXT_CHARACTERS_MAX = 200;
/** Years between two leap days, at most. */
const LEAP_GAP_YEARS = 8;
/** Two digits from here on are a year of the 1900s. Source: POSIX, strptime. */
const CENTURY_PIVOT = 69;

const LETTERS = 'y, M, d, H, h, m, s, S, a, E, Z and z';
const NUMERIC = 'ydHhmsS';
/** Most digits of a part; of a fraction of a second whatever its pattern says. */
const DIGITS_MAX: ReadonlyMap<string, number> = new Map([
  ['y', 4],
  ['M', 2],
  ['d', 2],
  ['H', 2],
  ['h', 2],
  ['m', 2],
  ['s', 2],
  ['S', 9],
]);
const MONTH_NAMES =
  'january february march april may june july august september october november december'.split(
    ' ',
  );
const DAY_NAMES = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');

/** Hours from UTC of zone names that mean one thing. Source: RFC 2822 section 4.3; the European ones by their laws. */
const ZONE_HOURS: ReadonlyMap<string, number> = new Map([
  ['utc', 0],
  ['gmt', 0],
  ['ut', 0],
  ['z', 0],
  ['est', -5],
  ['edt', -4],
  ['cst', -6],
  ['cdt', -5],
  ['mst', -7],
  ['mdt', -6],
  ['pst', -8],
  ['pdt', -7],
  ['wet', 0],
  ['west', 1],
  ['cet', 1],
  ['cest', 2],
  ['eet', 2],
  ['eest', 3],
]);

/** One part of a pattern: a letter with how often it stands there, or a literal. */
interface Part {
  /** One of LETTERS, or empty for a literal. */
  letter: string;
  count: number;
  literal: string;
  /** Exact number of digits, where another number follows at once; 0 when a number may be shorter. */
  digits: number;
}

/** Fields read from a text; -1 for those that it lacks. */
interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  /** Hour of a half day, 1 to 12. */
  halfHour: number;
  minute: number;
  second: number;
  milliseconds: number;
  isAfternoon: boolean;
  /** Milliseconds east of UTC; NaN when the text has none. */
  offsetMs: number;
}

/** Reads dates of one pattern, such as `dd/MMM/yyyy:HH:mm:ss Z`. Source: Joda-Time, DateTimeFormat. */
export class DatePattern {
  /** Regular expression of the texts that may be such dates, in the common syntax of RE2 and ECMAScript. */
  readonly source: string;

  #parts: readonly Part[];
  #zone: Zone;

  /**
   * `timezone`: an IANA name or `UTC+01:00`, of texts that name none. `locale`: of names, English only.
   * Throws DatePatternError.
   */
  constructor(pattern: string, timezone = 'UTC', locale = 'en') {
    this.#parts = partsOf(pattern);
    const zone = parseZone(timezone);
    if (zone === undefined) {
      throw new DatePatternError(
        `unknown time zone "${timezone}": allowed are names such as Europe/Paris, and UTC+01:00`,
      );
    }
    if (!/^en(?:[-_][A-Za-z]{2})?$/i.test(locale)) {
      throw new DatePatternError(`unknown locale "${locale}": names are read in English (en) only`);
    }
    this.#zone = zone;
    this.source = this.#parts.map(sourceOfPart).join('');
  }

  /**
   * Milliseconds since the epoch of `text`; `undefined` when it is no such date. A year or a day that the text does
   * not name is the one that brings the date nearest to `nowMs`.
   */
  parse(text: string, nowMs: number): number | undefined {
    if (text.length > TEXT_CHARACTERS_MAX) return undefined;
    const fields: Fields = {
      year: -1,
      month: -1,
      day: -1,
      hour: -1,
      halfHour: -1,
      minute: 0,
      second: 0,
      milliseconds: 0,
      isAfternoon: false,
      offsetMs: Number.NaN,
    };
    let at = 0;
    for (const part of this.#parts) {
      at = readPart(part, text, at, fields);
      if (at < 0) return undefined;
    }
    if (at !== text.length) return undefined;
    const ms = boundedDate(instantOfFields(fields, this.#zone, nowMs));
    return Number.isNaN(ms) ? undefined : ms;
  }
}

/** Reads dates of any of several patterns. */
export class DatePatterns {
  #patterns: DatePattern[];

  /** `timezone`: of texts that name none. Throws DatePatternError. */
  constructor(formats: readonly string[], timezone: string) {
    this.#patterns = formats.map((format) => new DatePattern(format, timezone));
  }

  /** Milliseconds since the epoch by the first pattern that fits; `undefined` when none does. */
  parse(text: string, nowMs: number): number | undefined {
    for (const pattern of this.#patterns) {
      const ms = pattern.parse(text, nowMs);
      if (ms !== undefined) return ms;
    }
    return undefined;
  }
}

/** Throws DatePatternError when `pattern` or `timezone` is not one that DatePattern reads. */
export function checkDatePattern(pattern: string, timezone = 'UTC'): void {
  new DatePattern(pattern, timezone);
}

function partsOf(pattern: string): Part[] {
  if (pattern.length === 0 || pattern.length > PATTERN_CHARACTERS_MAX) {
    throw new DatePatternError(
      `the date pattern has ${pattern.length} characters, allowed are 1 to ${PATTERN_CHARACTERS_MAX}`,
    );
  }
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length; ) {
    const letter = pattern[at];
    if (/[A-Za-z]/.test(letter)) {
      let end = at + 1;
      while (pattern[end] === letter) end++;
      parts.push(partOfLetter(pattern, letter, at, end - at));
      at = end;
    } else if (letter === "'") {
      const quoted = quotedAt(pattern, at);
      parts.push({ letter: '', count: 0, literal: quoted.literal, digits: 0 });
      at = quoted.end;
    } else {
      parts.push({ letter: '', count: 0, literal: letter, digits: 0 });
      at++;
    }
  }
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (next !== undefined && isNumber(part) && isNumber(next)) {
      part.digits = part.letter === 'y' && part.count === 1 ? 4 : part.count;
    }
  }
  if (!parts.some((part) => part.letter !== '')) {
    throw new DatePatternError(`the date pattern "${pattern}" has none of the letters ${LETTERS}`);
  }
  return parts;
}

function partOfLetter(pattern: string, letter: string, at: number, count: number): Part {
  const countMax = DIGITS_MAX.get(letter) ?? (letter === 'a' ? 1 : letter === 'z' ? 4 : 3);
  const known = 'yMdHhmsSaEZz'.includes(letter);
  if (!known) {
    throw new DatePatternError(
      `unknown letter "${letter}" at character ${at + 1} of the date pattern "${pattern}": allowed are ${LETTERS}; ` +
        "text stands between '",
    );
  }
  const isName = letter === 'M' || letter === 'E';
  if (count > (isName ? 4 : countMax) || (letter === 'y' && count === 3)) {
    throw new DatePatternError(
      `"${letter.repeat(count)}" at character ${at + 1} of the date pattern "${pattern}" is too long or has no meaning`,
    );
  }
  return { letter, count, literal: '', digits: 0 };
}

/** The literal between the quotes at `at`; two quotes are one that stands for itself. */
function quotedAt(pattern: string, at: number): { literal: string; end: number } {
  if (pattern[at + 1] === "'") return { literal: "'", end: at + 2 };
  let literal = '';
  for (let index = at + 1; index < pattern.length; index++) {
    if (pattern[index] !== "'") literal += pattern[index];
    else if (pattern[index + 1] === "'") {
      literal += "'";
      index++;
    } else return { literal, end: index + 1 };
  }
  throw new DatePatternError(
    `the quote at character ${at + 1} of the date pattern "${pattern}" is not closed`,
  );
}

function isNumber(part: Part): boolean {
  return part.letter === 'M' ? part.count < 3 : part.letter !== '' && NUMERIC.includes(part.letter);
}

function sourceOfPart(part: Part): string {
  if (part.letter === '')
    if (part.letter === '') return part.literal.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&');
  if (isNumber(part)) {
    if (part.digits > 0) return `[0-9]{${part.digits}}`;
    if (part.letter === 'y' && part.count > 1) return `[0-9]{${part.count}}`;
    // A day or an hour may be filled by a blank, as in "Sep  9".
    const fill = part.count === 2 && part.letter !== 'S' ? '(?: [0-9]|[0-9]{1,2})' : undefined;
    return fill ?? `[0-9]{1,${DIGITS_MAX.get(part.letter) ?? 2}}`;
  }
  if (part.letter === 'a') return '[AaPp][Mm]';
  if (part.letter === 'Z' || part.letter === 'z') {
    return '(?:[+\\-][0-9]{2}(?::?[0-9]{2})?|[A-Za-z]{1,4})';
  }
  return '[A-Za-z]{3,9}';
}

/** Offset behind what `part` reads at `at`, which goes to `fields`; -1 when it does not stand there. */
function readPart(part: Part, text: string, at: number, fields: Fields): number {
  if (part.letter === '') return text.startsWith(part.literal, at) ? at + part.literal.length : -1;
  if (isNumber(part)) return readNumber(part, text, at, fields);
  if (part.letter === 'a') {
    const half = text.slice(at, at + 2).toLowerCase();
    fields.isAfternoon = half === 'pm';
    return half === 'am' || half === 'pm' ? at + 2 : -1;
  }
  if (part.letter === 'Z' || part.letter === 'z') return readOffset(text, at, fields);
  const names = part.letter === 'M' ? MONTH_NAMES : DAY_NAMES;
  const end = wordEnd(text, at);
  const index = end - at < 3 ? -1 : indexOfName(names, text.slice(at, end).toLowerCase());
  if (index < 0) return -1;
  if (part.letter === 'M') fields.month = index + 1;
  return end;
}

/** Index of the name that `word` is, whole or by its first three letters; `sept` is one too. */
function indexOfName(names: readonly string[], word: string): number {
  return names.findIndex(
    (name) =>
      word === name || word === name.slice(0, 3) || (word === 'sept' && name === 'september'),
  );
}

function wordEnd(text: string, start: number): number {
  let at = start;
  while (
    at < text.length &&
    (text.charCodeAt(at) | 0x20) >= 0x61 &&
    (text.charCodeAt(at) | 0x20) <= 0x7a
  )
    at++;
  return at;
}

function readNumber(part: Part, text: string, start: number, fields: Fields): number {
  let at = start;
  const isFilled = part.count === 2 && part.letter !== 'y' && part.digits === 0;
  if (isFilled && text[at] === ' ') at++;
  const digitsStart = at;
  const exact =
    part.digits > 0 ? part.digits : part.letter === 'y' && part.count > 1 ? part.count : 0;
  const most = (exact > 0 ? exact : (DIGITS_MAX.get(part.letter) ?? 2)) - (at - start);
  let value = 0;
  while (at < digitsStart + most) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
    at++;
  }
  const digitCount = at - digitsStart;
  if (digitCount === 0 || (exact > 0 && digitCount !== exact)) return -1;
  return setNumber(part, value, digitCount, fields) ? at : -1;
}

/** Stores `value`; false when the part cannot have it. */
function setNumber(part: Part, value: number, digitCount: number, fields: Fields): boolean {
  switch (part.letter) {
    case 'y':
      fields.year = part.count === 2 ? value + (value < CENTURY_PIVOT ? 2000 : 1900) : value;
      return true;
    case 'M':
      fields.month = value;
      return value >= 1 && value <= 12;
    case 'd':
      fields.day = value;
      return value >= 1 && value <= 31;
    case 'H':
      fields.hour = value;
      return value <= 23;
    case 'h':
      fields.halfHour = value;
      return value >= 1 && value <= 12;
    case 'm':
      fields.minute = value;
      return value <= 59;
    case 's':
      // 60 is a leap second; it counts as the first of the next minute.
      fields.second = value;
      return value <= 60;
    default:
      fields.milliseconds = Math.floor((value * 1000) / 10 ** digitCount);
      return true;
  }
}

/** An offset (`+0900`, `+09:00`, `+09`), a zone's name or abbreviation. */
function readOffset(text: string, at: number, fields: Fields): number {
  const sign = text[at] === '+' ? 1 : text[at] === '-' ? -1 : 0;
  if (sign !== 0) {
    const found = /^[+-](\d{2}):?(\d{2})?/.exec(text.slice(at, at + 6));
    if (found === null || Number(found[1]) > 23 || Number(found[2] ?? 0) > 59) return -1;
    fields.offsetMs = sign * (Number(found[1]) * 60 + Number(found[2] ?? 0)) * 60_000;
    return at + (found[2] === undefined ? 3 : found[0].length);
  }
  const end = wordEnd(text, at);
  const hours = ZONE_HOURS.get(text.slice(at, end).toLowerCase());
  if (hours === undefined) return -1;
  fields.offsetMs = hours * 3_600_000;
  return end;
}

function instantOfFields(fields: Fields, zone: Zone, nowMs: number): number {
  const timeMs = timeOfFields(fields);
  const offsetMs = fields.offsetMs;
  const instant = (year: number, month: number, day: number): number => {
    const wallMs = daysFromCivil(year, month, day) * DAY_MS + timeMs;
    if (!Number.isNaN(offsetMs)) return wallMs - offsetMs;
    return zone === UTC ? wallMs : instantOf(zone, wallMs);
  };
  const { year, month, day } = fields;
  if (year < 0 && month < 0 && day < 0) return nearestDay(instant, nowMs);
  const someMonth = month < 0 ? 1 : month;
  const someDay = day < 0 ? 1 : day;
  if (year >= 0) {
    return someDay > daysInMonth(year, someMonth) ? Number.NaN : instant(year, someMonth, someDay);
  }
  const thisYear = new Date(nowMs).getUTCFullYear();
  let nearestMs = Number.NaN;
  for (let some = thisYear - LEAP_GAP_YEARS; some <= thisYear + LEAP_GAP_YEARS; some++) {
    if (someDay > daysInMonth(some, someMonth)) continue;
    const ms = instant(some, someMonth, someDay);
    if (!(Math.abs(ms - nowMs) >= Math.abs(nearestMs - nowMs))) nearestMs = ms;
  }
  return nearestMs;
}

function timeOfFields(fields: Fields): number {
  const half = fields.isAfternoon ? 12 : 0;
  const fromHalf = fields.halfHour >= 0 ? (fields.halfHour % 12) + half : 0;
  const hour = fields.hour >= 0 ? fields.hour : fromHalf;
  return hour * 3_600_000 + fields.minute * 60_000 + fields.second * 1000 + fields.milliseconds;
}

/** A time of day without a date: of yesterday, today or tomorrow. */
function nearestDay(
  instant: (year: number, month: number, day: number) => number,
  nowMs: number,
): number {
  let nearestMs = Number.NaN;
  for (let days = -1; days <= 1; days++) {
    const date = new Date(nowMs + days * DAY_MS);
    const ms = instant(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
    if (!(Math.abs(ms - nowMs) >= Math.abs(nearestMs - nowMs))) nearestMs = ms;
  }
  return nearestMs;
}
