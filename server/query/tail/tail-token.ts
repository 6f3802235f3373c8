import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { derivedKey } from '../../../engine/base/derived-key.ts';

const CIPHER = 'aes-128-gcm';
const PURPOSE = 'tail tokens';
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 12;
const TIME_BYTES = 6;
const SEQUENCE_BYTES = 6;
const PLACE_BYTES = TIME_BYTES + SEQUENCE_BYTES;
const TOKEN_BYTES = NONCE_BYTES + PLACE_BYTES + TAG_BYTES;
/** No bit of the last one is left over: each place has one spelling. */
const TOKEN_CHARACTERS = (TOKEN_BYTES * 4) / 3;

/** A place in a tail. */
export interface TailPlace {
  /** Position below which all sequences were told. */
  position: number;
  /** A time at which all that was visible lay before the position. */
  timeMs: number;
}

/**
 * The tokens of places in a folder's tails, 48 URL-safe characters: a random nonce of 96 bits, the place in
 * AES-128-GCM, the tag. So they tell nothing of events that are not shown, not even whether two of them are of the same
 * place.
 */
export class TailTokens {
  readonly #key: Uint8Array;

  /** `secret` is the manifest's. */
  constructor(secret: Uint8Array) {
    this.#key = derivedKey(secret, PURPOSE, KEY_BYTES);
  }

  /** The token of a place. */
  encode(place: TailPlace): string {
    const bytes = Buffer.allocUnsafe(TOKEN_BYTES);
    const nonce = randomFillSync(bytes.subarray(0, NONCE_BYTES));
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.update(bytesOf(place)).copy(bytes, NONCE_BYTES);
    cipher.final();
    cipher.getAuthTag().copy(bytes, NONCE_BYTES + PLACE_BYTES);
    return bytes.toString('base64url');
  }

  /** The place that a token is of; `undefined` when it is malformed, changed, or of another folder. */
  decode(token: string): TailPlace | undefined {
    if (token.length !== TOKEN_CHARACTERS) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tagAt = NONCE_BYTES + PLACE_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(tagAt));
    const place = decipher.update(bytes.subarray(NONCE_BYTES, tagAt));
    try {
      decipher.final();
    } catch {
      // Node tells a wrong tag by an error without a code.
      return undefined;
    }
    return placeOf(place);
  }
}

function bytesOf({ position, timeMs }: TailPlace): Buffer {
  const bytes = Buffer.allocUnsafe(PLACE_BYTES);
  bytes.writeUIntBE(timeMs, 0, TIME_BYTES);
  bytes.writeUIntBE(position, TIME_BYTES, SEQUENCE_BYTES);
  return bytes;
}

function placeOf(bytes: Buffer): TailPlace {
  const timeMs = bytes.readUIntBE(0, TIME_BYTES);
  return { position: bytes.readUIntBE(TIME_BYTES, SEQUENCE_BYTES), timeMs };
}
