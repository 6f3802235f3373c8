import { unreachable } from '../../engine/base/assert.ts';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import { BadBody, EventTooLarge } from '../decode/body.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BodyForm } from './protocol.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const BLANK = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const BRACKET = 0x5b;
const BRACE = 0x7b;
/** Digits of a frame's length. Source: decisions.md 2.4. */
const LENGTH_DIGITS_MAX = 7;

/**
 * Decodes a whole body, `source`, to which the decoder was begun. Throws EventTooLarge, and BadBody when the body is
 * declared as JSON or as frames and is not. Source: decisions.md 1.3, 1.8.
 */
export function decodeBody(decoder: Decoder, source: Uint8Array, form: BodyForm): void {
  if (form === 'json') decoder.jsonBody(0, source.length);
  else if (form === 'lines') decoder.textBody(0, source.length);
  else if (form === 'frames') decodeFrames(decoder, source);
  else if (form === 'auto') decodeUndeclared(decoder, source);
  else unreachable(form);
}

/** Nobody said that it is JSON: what is not stays text, so that nothing is lost. */
function decodeUndeclared(decoder: Decoder, source: Uint8Array): void {
  if (beginsLikeJson(source)) {
    try {
      decoder.jsonBody(0, source.length);
      return;
    } catch (error) {
      if (!(error instanceof BadBody)) throw error;
    }
  }
  decoder.textBody(0, source.length);
}

/** Whether a body of no declared form begins as JSON does, maybe behind a byte order mark. */
function beginsLikeJson(source: Uint8Array): boolean {
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => source[index] === byte);
  let at = isMarked ? BYTE_ORDER_MARK.length : 0;
  while (at < source.length && isBlank(source[at])) at++;
  return source[at] === BRACE || source[at] === BRACKET;
}

/** Octet-counted frames, `<bytes> <frame>`, line ends between them left aside. All counts are checked before. */
function decodeFrames(decoder: Decoder, source: Uint8Array): void {
  for (let at = lineStart(source, 0); at < source.length; ) {
    const start = frameStart(source, at);
    if (start < 0) throw new BadBody('no length of a frame and blank', at);
    const end = start + frameBytes(source, at);
    if (end > source.length) throw new BadBody('the frame is longer than the body', at);
    if (end - start > EVENT_BYTES_MAX) throw new EventTooLarge(start, end - start);
    at = lineStart(source, end);
  }
  for (let at = lineStart(source, 0); at < source.length; ) {
    const start = frameStart(source, at);
    const end = start + frameBytes(source, at);
    decoder.line(start, trimmedEnd(source, start, end));
    at = lineStart(source, end);
  }
}

/** The first offset from `start` on that is no line end. */
function lineStart(source: Uint8Array, start: number): number {
  let at = start;
  while (at < source.length && (source[at] === 10 || source[at] === 13)) at++;
  return at;
}

/** Where the frame begins whose length stands at `at`; -1 when there is no length. */
function frameStart(source: Uint8Array, at: number): number {
  let digits = 0;
  while (source[at + digits] >= ZERO && source[at + digits] <= NINE) digits++;
  const counted = digits > 0 && digits <= LENGTH_DIGITS_MAX && source[at + digits] === BLANK;
  return counted ? at + digits + 1 : -1;
}

function frameBytes(source: Uint8Array, at: number): number {
  let bytes = 0;
  for (let digit = at; source[digit] !== BLANK; digit++) bytes = bytes * 10 + source[digit] - ZERO;
  return bytes;
}

/** The frame's end without line ends, which senders put there for receivers that want them. */
function trimmedEnd(source: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && (source[at - 1] === 10 || source[at - 1] === 13)) at--;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === BLANK || (byte >= 9 && byte <= 13);
}
