import { monthAt, syslogDay, syslogYear } from './date.ts';
import { isDateLike } from './rfc5424.ts';
import { Part, type SyslogHeader, tokenEnd } from './syslog-header.ts';
import { CLOSE_BRACKET, COLON, MINUS, OPEN_BRACKET, ZERO } from './text.ts';

const BLANK = 0x20;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
/** `Mmm dd ` before the time of day. */
const DAY_BYTES = 7;
/** `yyyy-mm-ddT` and `Z`. */
const ISO_DAY_BYTES = 11;

/**
 * Reads the header `TIMESTAMP HOSTNAME TAG[PID]:` at `start` into `header`; returns where the text begins, -1 when it
 * is none. Behind a PRI the timestamp may be ISO 8601 as well, and host or tag may be missing. Without one, only a
 * date of RFC 3164 with a host and a tag that ends with a colon is a header: it is a line of a log file.
 * Source: RFC 3164 section 4, decisions.md 3.4.
 */
export function scanRfc3164(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
  nowMs: number,
): number {
  const hasPrival = header.prival >= 0;
  let at = dateEnd(bytes, start, end, hasPrival, nowMs);
  if (at < 0) return -1;
  if (bytes[start] > 0x40) {
    header.bsdStart = start;
    header.bsdEnd = at;
  } else {
    header.set(Part.TIMESTAMP, start, at);
  }
  if (at === end) return hasPrival ? end : -1;
  at++;
  const withoutHost = hasPrival ? scanTag(bytes, at, end, header) : -1;
  if (withoutHost >= 0) return withoutHost;
  const hostEnd = tokenEnd(bytes, at, end);
  const isHost = hostEnd > at && (hostEnd === end || bytes[hostEnd] === BLANK);
  if (!isHost || (!hasPrival && !isHostName(bytes, at, hostEnd))) return -1;
  if (hostEnd - at > 1 || bytes[at] !== MINUS) header.set(Part.HOSTNAME, at, hostEnd);
  if (hostEnd === end) return hasPrival ? end : -1;
  const behindTag = scanTag(bytes, hostEnd + 1, end, header);
  if (behindTag >= 0) return hasPrival || bytes[behindTag - 1] === COLON ? behindTag : -1;
  return hasPrival ? hostEnd + 1 : -1;
}

/** Offset behind the date at `start`, where a blank or the end follows; -1 when there is none. */
function dateEnd(
  bytes: Uint8Array,
  start: number,
  end: number,
  hasPrival: boolean,
  nowMs: number,
): number {
  if (start >= end) return -1;
  const isBsd = bytes[start] > 0x40;
  if (isBsd && (end - start < DAY_BYTES || monthAt(bytes, start) === 0)) return -1;
  const stop = tokenEnd(bytes, isBsd ? start + DAY_BYTES : start, end);
  if (stop < end && bytes[stop] !== BLANK) return -1;
  if (isBsd) return syslogYear(bytes, start, stop, nowMs) < 0 ? -1 : stop;
  return hasPrival && isDateLike(bytes, start, stop) ? stop : -1;
}

/**
 * Reads `tag:`, `tag[pid]:` or `tag[pid]` at `start`, where a blank or the end follows, into `header`; returns the
 * offset behind it, -1 when there is none.
 */
function scanTag(bytes: Uint8Array, start: number, end: number, header: SyslogHeader): number {
  let at = start;
  while (at < end && bytes[at] > BLANK && bytes[at] !== COLON && bytes[at] !== OPEN_BRACKET) at++;
  if (at === start || at === end) return -1;
  const tagEnd = at;
  let pidEnd = -1;
  if (bytes[at] === OPEN_BRACKET) {
    pidEnd = at + 1;
    while (pidEnd < end && bytes[pidEnd] > BLANK && bytes[pidEnd] !== CLOSE_BRACKET) pidEnd++;
    if (pidEnd === at + 1 || pidEnd === end || bytes[pidEnd] !== CLOSE_BRACKET) return -1;
    at = pidEnd + 1;
  }
  if (at < end && bytes[at] === COLON) at++;
  else if (pidEnd < 0) return -1;
  if (at < end && bytes[at] !== BLANK) return -1;
  header.set(Part.APPNAME, start, tagEnd);
  if (pidEnd >= 0) header.set(Part.PROCID, tagEnd + 1, pidEnd);
  return at;
}

/** Whether a token has only letters, digits, `. - _ :`, as names and addresses of hosts have. */
function isHostName(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    const lower = byte | 0x20;
    const isLetter = lower >= 0x61 && lower <= 0x7a;
    // From `-` to `:` there are also the dot, the slash and the digits.
    const isOther = (byte >= MINUS && byte <= COLON && byte !== 0x2f) || byte === 0x5f;
    if (!isLetter && !isOther) return false;
  }
  return true;
}

/** Bytes that `isoDate` writes for a date text of `lengthBytes`. */
export function isoDateBytes(lengthBytes: number): number {
  return lengthBytes - DAY_BYTES + ISO_DAY_BYTES + 1;
}

/**
 * Writes the date `bytes[start, end)` of a header as ISO 8601 in UTC, in the year that brings it nearest to `nowMs`, to
 * `target` from `at` on: isoDateBytes many bytes. The date must have been found by `scanRfc3164`.
 */
export function isoDate(
  bytes: Uint8Array,
  start: number,
  end: number,
  nowMs: number,
  target: Uint8Array,
  at: number,
): void {
  digits(target, at, 4, syslogYear(bytes, start, end, nowMs));
  target[at + 4] = MINUS;
  digits(target, at + 5, 2, monthAt(bytes, start));
  target[at + 7] = MINUS;
  digits(target, at + 8, 2, syslogDay(bytes, start));
  target[at + 10] = LETTER_T;
  const timeBytes = end - start - DAY_BYTES;
  for (let index = 0; index < timeBytes; index++) {
    target[at + ISO_DAY_BYTES + index] = bytes[start + DAY_BYTES + index];
  }
  target[at + ISO_DAY_BYTES + timeBytes] = LETTER_Z;
}

function digits(target: Uint8Array, at: number, count: number, value: number): void {
  let rest = value;
  for (let index = at + count - 1; index >= at; index--) {
    target[index] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
