import { BLANK } from '../../../engine/base/ascii.ts';
import { digitsAt } from '../../../engine/column/date-form.ts';
import { MINUS, OPEN_BRACKET } from '../text.ts';
import { scanStructuredData } from './structured-data.ts';
import { Part, type SyslogHeader, tokenEnd } from './syslog-header.ts';

const VERSION_0 = 0x30;
const VERSION_1 = 0x31;
const LOWER = 0x20;
const LETTER_T = 0x74;
const DATE_BYTES = 10;

/**
 * Reads the header behind the PRI at `start`, `VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA`, into
 * `header`; returns where the text begins, -1 when it is none. VERSION is 1, or 0 as rsyslog writes it for what it got
 * in the older form. Structured data may be missing, as in log drains: then the text follows the MSGID.
 * Source: RFC 5424 section 6, INTERFACE.md 1.2.
 */
export function scanRfc5424(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
): number {
  if (start + 1 >= end || bytes[start + 1] !== BLANK) return -1;
  if (bytes[start] !== VERSION_0 && bytes[start] !== VERSION_1) return -1;
  header.set(Part.VERSION, start, start + 1);
  let at = start + 2;
  for (let part: number = Part.TIMESTAMP; part <= Part.MSGID; part++) {
    const stop = tokenEnd(bytes, at, end);
    if (stop === at) return -1;
    const isNil = stop === at + 1 && bytes[at] === MINUS;
    if (part === Part.TIMESTAMP && !isNil && !isDateLike(bytes, at, stop)) return -1;
    if (!isNil) header.set(part as Part, at, stop);
    if (stop === end) return part === Part.MSGID ? end : -1;
    if (bytes[stop] !== BLANK) return -1;
    at = stop + 1;
  }
  if (at < end && bytes[at] === MINUS && (at + 1 === end || bytes[at + 1] === BLANK)) return at + 1;
  const behind =
    at < end && bytes[at] === OPEN_BRACKET
      ? scanStructuredData(bytes, at, end, header.elements)
      : -1;
  return behind < 0 ? at : behind;
}

/**
 * Recognises the beginning of a day and a time of ISO 8601 in `bytes[start, end)`. A later fault only makes the date
 * unreadable.
 */
export function isDateLike(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start > DATE_BYTES &&
    bytes[start + 4] === MINUS &&
    bytes[start + 7] === MINUS &&
    (bytes[start + 10] | LOWER) === LETTER_T &&
    digitsAt(bytes, start, 4) >= 0 &&
    digitsAt(bytes, start + 5, 2) >= 0 &&
    digitsAt(bytes, start + 8, 2) >= 0
  );
}
