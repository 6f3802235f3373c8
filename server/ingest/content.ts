import {
  BLANK,
  digitsEnd,
  isLineEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  trimmedEnd,
  ZERO,
} from '../../engine/base/ascii.ts';
import { unreachable } from '../../engine/base/assert.ts';
import { BODY_EVENTS_MAX, EVENT_BYTES_MAX, FRAME_DIGITS_MAX } from '../../engine/base/limits.ts';
import { BadBody, EventTooLarge, type PieceSize, TooManyEvents } from '../decode/body.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BodyForm } from './protocol.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Effect of a piece on the rows: `more` keeps them, and `anew` says that the earlier ones count as nothing. */
export type PieceKind = 'more' | 'anew';

/**
 * Decodes a body, `source`, to which the decoder was begun, piece by piece: at each yield the rows hold one, and the
 * last one at the end. Throws EventTooLarge, TooManyEvents, and BadBody when the body is declared as JSON or as frames
 * and is not; then no piece counts. Source: INTERFACE.md 4.4.
 */
export function* decodePieces(
  decoder: Decoder,
  source: Uint8Array,
  form: BodyForm,
  size: PieceSize,
): Generator<PieceKind, void, void> {
  if (form === 'json') yield* declared(decoder, source, true, size);
  else if (form === 'lines') yield* declared(decoder, source, false, size);
  else if (form === 'frames') yield* frames(decoder, source, size);
  else if (form === 'auto') yield* undeclared(decoder, source, size);
  else unreachable(form);
}

function* declared(
  decoder: Decoder,
  source: Uint8Array,
  isJson: boolean,
  size: PieceSize,
): Generator<PieceKind, void, void> {
  decoder.beginBody(0, source.length, isJson);
  while (!decoder.readBody(size)) {
    yield 'more';
    decoder.goOn();
  }
}

/** Nobody said that it is JSON: what is not stays text, so that nothing is lost. */
function* undeclared(
  decoder: Decoder,
  source: Uint8Array,
  size: PieceSize,
): Generator<PieceKind, void, void> {
  if (beginsLikeJson(source)) {
    try {
      yield* declared(decoder, source, true, size);
      return;
    } catch (error) {
      if (!(error instanceof BadBody)) throw error;
    }
    decoder.goOn();
    yield 'anew';
  }
  yield* declared(decoder, source, false, size);
}

/** Recognises the beginning of JSON, possibly behind a byte order mark, in a body of no declared form. */
function beginsLikeJson(source: Uint8Array): boolean {
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => source[index] === byte);
  let at = isMarked ? BYTE_ORDER_MARK.length : 0;
  while (at < source.length && isBlank(source[at])) at++;
  return source[at] === OPEN_BRACE || source[at] === OPEN_BRACKET;
}

/** Octet-counted frames, `<bytes> <frame>`, line ends between them left aside. All counts are checked before. */
function* frames(
  decoder: Decoder,
  source: Uint8Array,
  size: PieceSize,
): Generator<PieceKind, void, void> {
  checkFrames(source);
  let pieceStart = 0;
  let left = size.events;
  for (let at = lineStart(source, 0); at < source.length; left--) {
    if (left === 0 || at - pieceStart >= size.bytes || size.isSpent?.() === true) {
      yield 'more';
      decoder.goOn();
      pieceStart = at;
      left = size.events;
    }
    const start = frameStart(source, at);
    const end = start + frameBytes(source, at);
    // Senders put line ends there for receivers that want them.
    decoder.line(start, trimmedEnd(source, start, end));
    at = lineStart(source, end);
  }
}

function checkFrames(source: Uint8Array): void {
  let count = 0;
  for (let at = lineStart(source, 0); at < source.length; count++) {
    if (count === BODY_EVENTS_MAX) throw new TooManyEvents(at);
    const start = frameStart(source, at);
    if (start < 0) throw new BadBody('no length of a frame and blank', at);
    const end = start + frameBytes(source, at);
    if (end > source.length) throw new BadBody('the frame is longer than the body', at);
    if (end - start > EVENT_BYTES_MAX) throw new EventTooLarge(start, end - start);
    at = lineStart(source, end);
  }
}

/** The first offset from `start` on that is no line end. */
function lineStart(source: Uint8Array, start: number): number {
  let at = start;
  while (at < source.length && isLineEnd(source[at])) at++;
  return at;
}

/** Start of the frame whose length stands at `at`; -1 when there is no length. */
function frameStart(source: Uint8Array, at: number): number {
  const end = digitsEnd(source, at, at + FRAME_DIGITS_MAX);
  return end > at && source[end] === BLANK ? end + 1 : -1;
}

function frameBytes(source: Uint8Array, at: number): number {
  let bytes = 0;
  for (let digit = at; source[digit] !== BLANK; digit++) bytes = bytes * 10 + source[digit] - ZERO;
  return bytes;
}

function isBlank(byte: number): boolean {
  return byte === BLANK || (byte >= 9 && byte <= 13);
}
