import { BLANK, digitsEnd } from '../../../engine/base/ascii.ts';
import { CLOSE_BRACKET, COLON, MINUS, OPEN_BRACKET, ZERO } from '../text.ts';
import { isDateLike } from './rfc5424.ts';
import { Part, type SyslogHeader, tokenEnd } from './syslog-header.ts';

/**
 * Reads the header `TIMESTAMP HOSTNAME TAG[PID]:` at `start` into `header`; returns where the text begins, -1 when it
 * is none. Behind a PRI the timestamp may be ISO 8601 as well, host or tag may be missing, and devices may put
 * `SEQUENCE:` or `SEQUENCE: HOSTNAME:` before the timestamp, which then ends with a colon. Without one, only a date of
 * RFC 3164 with a host and a tag that ends with a colon is a header: it is a line of a log file.
 * Source: RFC 3164 section 4, INTERFACE.md 1.2.
 */
export function scanRfc3164(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
  nowMs: number,
): number {
  if (header.prival < 0) return scanFileLine(bytes, start, end, header, nowMs);
  const from = hasSequence(bytes[start]) ? behindSequence(bytes, start, end, header) : start;
  let at = scanDate(bytes, from, end, header, nowMs);
  if (at < 0 && from > start) {
    const behind = behindOrigin(bytes, from, end, header);
    if (behind >= 0) at = scanDate(bytes, behind, end, header, nowMs);
    // With a host behind the date as well there would be two.
    if (!header.isDateClosed) return -1;
  }
  if (at < 0 || at === end) return at;
  at = skipSpaces(bytes, at, end);
  const withoutHost = scanTag(bytes, at, end, header);
  if (withoutHost >= 0 || header.isDateClosed) return Math.max(at, withoutHost);
  const hostEnd = tokenEnd(bytes, at, end);
  if (hostEnd === at || (hostEnd < end && bytes[hostEnd] !== BLANK)) return -1;
  if (hostEnd - at > 1 || bytes[at] !== MINUS) header.set(Part.HOSTNAME, at, hostEnd);
  if (hostEnd === end) return end;
  const text = isLoneColon(bytes, hostEnd + 1, end) ? hostEnd + 3 : hostEnd + 1;
  return Math.max(text, scanTag(bytes, text, end, header));
}

/** Scans as scanRfc3164 does, without a PRI. */
function scanFileLine(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
  nowMs: number,
): number {
  if (bytes[start + 4] === MINUS) return -1;
  const at = scanDate(bytes, start, end, header, nowMs) + 1;
  if (at === 0 || at >= end || header.isDateClosed) return -1;
  const hostEnd = tokenEnd(bytes, at, end);
  if (hostEnd === at || hostEnd === end || bytes[hostEnd] !== BLANK) return -1;
  if (!isHostName(bytes, at, hostEnd)) return -1;
  if (hostEnd - at > 1 || bytes[at] !== MINUS) header.set(Part.HOSTNAME, at, hostEnd);
  const behindTag = scanTag(bytes, hostEnd + 1, end, header);
  return behindTag >= 0 && bytes[behindTag - 1] === COLON ? behindTag : -1;
}

/** Reads the date at `start`; returns the offset behind it, where a blank or the end follows, -1 when there is none. */
function scanDate(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
  nowMs: number,
): number {
  if (start >= end) return -1;
  const isIso = bytes[start + 4] === MINUS;
  const stop = isIso ? tokenEnd(bytes, start, end) : header.date.scan(bytes, start, end, nowMs);
  if (stop < 0 || (stop < end && bytes[stop] !== BLANK)) return -1;
  if (!isIso) header.hasDate = true;
  else if (isDateLike(bytes, start, stop)) header.set(Part.TIMESTAMP, start, stop);
  else return -1;
  return stop;
}

/** Recognises a byte that may begin a sequence number, which some devices leave empty. */
function hasSequence(byte: number): boolean {
  return byte >= ZERO && byte <= COLON;
}

/** Offset behind `SEQUENCE: ` at `start`; `start` when it is not there. */
function behindSequence(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: SyslogHeader,
): number {
  const colon = digitsEnd(bytes, start, end);
  if (!isLoneColon(bytes, colon, end)) return start;
  if (colon > start) header.set(Part.SEQUENCE, start, colon);
  return colon + 2;
}

/** Offset behind `HOSTNAME: ` at `start`, -1 when it is not there. */
function behindOrigin(bytes: Uint8Array, start: number, end: number, header: SyslogHeader): number {
  const colon = tokenEnd(bytes, start, end) - 1;
  if (colon <= start || !isLoneColon(bytes, colon, end)) return -1;
  if (!isHostName(bytes, start, colon)) return -1;
  header.set(Part.HOSTNAME, start, colon);
  return colon + 2;
}

/** Finds a colon and a blank at `at`. */
function isLoneColon(bytes: Uint8Array, at: number, end: number): boolean {
  return at + 1 < end && bytes[at] === COLON && bytes[at + 1] === BLANK;
}

function skipSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === BLANK) at++;
  return at;
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

/** Checks that a token consists of letters, digits and `. - _ :`, as names and addresses of hosts do. */
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
