import { parseDate } from '../../decode/date.ts';

const LENGTH_MAX = 40;
const CLOSE_BRACKET = ']';
/** Three letters a month, so that a month's place is that of its name. */
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';
/** `15/Dec/2015:17:36:50 +0000`; some servers write a fraction, no zone, or a blank before the hour. */
const COMMON =
  /^(\d\d)\/([a-z]{3})\/(\d{4})[: ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: ?([+-]\d\d):?(\d\d)| ?(UTC|GMT|Z))?$/i;
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/**
 * Reads the dates of access lines, in brackets, remembering the last one, which the next line mostly shares.
 * Source: strftime formats of Apache's `%t`, nginx's `$time_local` and `$time_iso8601`.
 */
export class AccessDateReader {
  /** The date that was read last, in ISO 8601, with the offset of the line. */
  iso = '';
  /** The date that was read last as it is written, with its closing bracket. */
  #written = '';

  /**
   * Reads the date at `at`, inside of the bracket; returns the offset behind the closing one, -1 when there is none.
   */
  read(text: string, at: number): number {
    if (this.#written !== '' && text.startsWith(this.#written, at))
      return at + this.#written.length;
    const written = text.slice(at, at + LENGTH_MAX);
    const closing = written.indexOf(CLOSE_BRACKET);
    if (closing < 0) return -1;
    const iso = isoOf(written.slice(0, closing));
    if (iso === undefined) return -1;
    this.iso = iso;
    // A copy: a part of the line would keep all of it in memory.
    this.#written = Buffer.from(written.slice(0, closing + 1)).toString();
    return at + closing + 1;
  }
}

function isoOf(written: string): string | undefined {
  const parts = COMMON.exec(written);
  if (parts === null && !ISO.test(written)) return undefined;
  const iso = parts === null ? written : isoOfCommon(parts);
  const bytes = Buffer.from(iso);
  return Number.isNaN(parseDate(bytes, 0, bytes.length, 0)) ? undefined : bytes.toString();
}

function isoOfCommon(parts: RegExpExecArray): string {
  const [, day, monthName, year, time, hours, minutes, utc] = parts;
  const place = MONTHS.indexOf(monthName.toLowerCase());
  // What is between two names gives a fraction, which is no month of a date.
  const month = String(place / 3 + 1).padStart(2, '0');
  const offset = hours === undefined ? '' : `${hours}:${minutes}`;
  const isUtc = utc !== undefined || /^[+-]00:00$/.test(offset);
  return `${year}-${month}-${day}T${time.replace(',', '.')}${isUtc ? 'Z' : offset}`;
}
