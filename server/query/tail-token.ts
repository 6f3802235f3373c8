import { createHmac } from 'node:crypto';
import type { TailPosition } from '../../engine/engine.ts';

const CHECK_BYTES = 4;
const TIME_BYTES = 6;
/** A writer, and its sequence. */
const ENTRY_BYTES = 7;
const WRITERS_MAX = 256;
const TOKEN_CHARACTERS_MAX = Math.ceil(
  ((CHECK_BYTES + TIME_BYTES + WRITERS_MAX * ENTRY_BYTES) * 4) / 3,
);
/** Sets the checks of tokens apart from others by the same secret. */
const PURPOSE = 'tail';

/** A place in a tail: what came before it was told. */
export interface TailPlace {
  position: TailPosition;
  /** A time at which all that was visible lay before the position. */
  timeMs: number;
}

/**
 * Writes a place as URL-safe text. `secret` is the manifest's: a token of another folder is not taken. The check is
 * no more than that, as whoever makes up a place sees no more than a query shows.
 */
export function encodeTailToken(secret: Uint8Array, { position, timeMs }: TailPlace): string {
  const bytes = Buffer.alloc(CHECK_BYTES + TIME_BYTES + position.size * ENTRY_BYTES);
  bytes.writeUIntBE(timeMs, CHECK_BYTES, TIME_BYTES);
  let at = CHECK_BYTES + TIME_BYTES;
  for (const [writer, sequence] of position) {
    bytes.writeUInt8(writer, at);
    bytes.writeUIntBE(sequence, at + 1, ENTRY_BYTES - 1);
    at += ENTRY_BYTES;
  }
  check(secret, bytes).copy(bytes, 0, 0, CHECK_BYTES);
  return bytes.toString('base64url');
}

/** Reads a token; `undefined` when it is malformed, or of another folder. */
export function decodeTailToken(secret: Uint8Array, token: string): TailPlace | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const entriesBytes = bytes.length - CHECK_BYTES - TIME_BYTES;
  if (entriesBytes < 0 || entriesBytes % ENTRY_BYTES !== 0) return undefined;
  if (bytes.toString('base64url') !== token) return undefined;
  if (check(secret, bytes).readUInt32BE(0) !== bytes.readUInt32BE(0)) return undefined;
  const position = new Map<number, number>();
  for (let at = CHECK_BYTES + TIME_BYTES; at < bytes.length; at += ENTRY_BYTES) {
    position.set(bytes.readUInt8(at), bytes.readUIntBE(at + 1, ENTRY_BYTES - 1));
  }
  return { position, timeMs: bytes.readUIntBE(CHECK_BYTES, TIME_BYTES) };
}

function check(secret: Uint8Array, bytes: Buffer): Buffer {
  const content = bytes.subarray(CHECK_BYTES);
  return createHmac('sha256', secret).update(PURPOSE).update(content).digest();
}
