import { createHmac } from 'node:crypto';

const CHECK_BYTES = 4;
const TIME_BYTES = 6;
const SEQUENCE_BYTES = 6;
const TOKEN_BYTES = CHECK_BYTES + TIME_BYTES + SEQUENCE_BYTES;
const TOKEN_CHARACTERS = Math.ceil((TOKEN_BYTES * 4) / 3);
/** Sets the checks of tokens apart from others by the same secret. */
const PURPOSE = 'tail';

/** A place in a tail. */
export interface TailPlace {
  /** What has a lower sequence was told. */
  position: number;
  /** A time at which all that was visible lay before the position. */
  timeMs: number;
}

/**
 * Writes a place as URL-safe text. `secret` is the manifest's: a token of another folder is not taken. The check is
 * no more than that, as whoever makes up a place sees no more than a query shows.
 */
export function encodeTailToken(secret: Uint8Array, { position, timeMs }: TailPlace): string {
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes.writeUIntBE(timeMs, CHECK_BYTES, TIME_BYTES);
  bytes.writeUIntBE(position, CHECK_BYTES + TIME_BYTES, SEQUENCE_BYTES);
  check(secret, bytes).copy(bytes, 0, 0, CHECK_BYTES);
  return bytes.toString('base64url');
}

/** Reads a token; `undefined` when it is malformed, or of another folder. */
export function decodeTailToken(secret: Uint8Array, token: string): TailPlace | undefined {
  if (token.length !== TOKEN_CHARACTERS) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== TOKEN_BYTES) return undefined;
  if (bytes.toString('base64url') !== token) return undefined;
  if (check(secret, bytes).readUInt32BE(0) !== bytes.readUInt32BE(0)) return undefined;
  const position = bytes.readUIntBE(CHECK_BYTES + TIME_BYTES, SEQUENCE_BYTES);
  return { position, timeMs: bytes.readUIntBE(CHECK_BYTES, TIME_BYTES) };
}

function check(secret: Uint8Array, bytes: Buffer): Buffer {
  const content = bytes.subarray(CHECK_BYTES);
  return createHmac('sha256', secret).update(PURPOSE).update(content).digest();
}
