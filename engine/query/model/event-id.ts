import { type Cipher, createCipheriv, createDecipheriv, type Decipher } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import { derivedKey } from '../../base/derived-key.ts';

/** A block on its own: all blocks differ, as the keys of events do. */
const CIPHER = 'aes-128-ecb';
const PURPOSE = 'event ids';
const BLOCK_BYTES = 16;
/** Time 6, sequence 6, writer 1; the bytes behind them are zero. */
const KEY_BYTES = 13;
const ID_CHARACTERS = 22;
/** Greatest writer and sequence: FORMAT.md 7. */
export const WRITER_MAX = 255;
export const SEQUENCE_MAX = 2 ** 48 - 1;
/** Number that is added to a time so that it is never negative: 2^47. */
const TIME_BIAS = 2 ** 47;

/** The place of an event in the total order. Source: FORMAT.md 7. */
export interface EventKey {
  /** Epoch milliseconds, whole. */
  timeMs: number;
  sequence: number;
  writer: number;
}

/** Compares by time, then sequence, then writer: negative when `left` comes first. */
export function compareEvents(left: EventKey, right: EventKey): number {
  if (left.timeMs !== right.timeMs) return left.timeMs - right.timeMs;
  if (left.sequence !== right.sequence) return left.sequence - right.sequence;
  return left.writer - right.writer;
}

/** The greatest key below `key`; it need not be that of an event. */
export function keyBefore({ timeMs, writer, sequence }: EventKey): EventKey {
  if (writer > 0) return { timeMs, sequence, writer: writer - 1 };
  if (sequence > 0) return { timeMs, sequence: sequence - 1, writer: WRITER_MAX };
  return { timeMs: timeMs - 1, sequence: SEQUENCE_MAX, writer: WRITER_MAX };
}

/** The least key above `key`; it need not be that of an event. */
export function keyAfter({ timeMs, writer, sequence }: EventKey): EventKey {
  if (writer < WRITER_MAX) return { timeMs, sequence, writer: writer + 1 };
  if (sequence < SEQUENCE_MAX) return { timeMs, sequence: sequence + 1, writer: 0 };
  return { timeMs: timeMs + 1, sequence: 0, writer: 0 };
}

/**
 * The ids of a folder's events: one AES-128 block each, so that they are no order and no count of events, hidden ones
 * included. Used by one thread. Source: FORMAT.md 7.
 */
export class EventIds {
  readonly #cipher: Cipher;
  readonly #decipher: Decipher;
  readonly #block = Buffer.alloc(BLOCK_BYTES);

  /** `secret` is the manifest's. */
  constructor(secret: Uint8Array) {
    const key = derivedKey(secret, PURPOSE, BLOCK_BYTES);
    this.#cipher = createCipheriv(CIPHER, key, null).setAutoPadding(false);
    this.#decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
  }

  /** The id of an event, 22 URL-safe characters. */
  encode({ timeMs, sequence, writer }: EventKey): string {
    const block = this.#block;
    const biased = timeMs + TIME_BIAS;
    assert(Number.isInteger(biased) && biased >= 0, `event time ${timeMs}`);
    block.writeUIntBE(biased, 0, 6);
    block.writeUIntBE(sequence, 6, 6);
    block.writeUInt8(writer, 12);
    return this.#cipher.update(block).toString('base64url');
  }

  /** The key that an id is of; `undefined` when it is malformed, as most of another folder are. */
  decode(id: string): EventKey | undefined {
    if (id.length !== ID_CHARACTERS) return undefined;
    const bytes = Buffer.from(id, 'base64url');
    if (bytes.length !== BLOCK_BYTES || bytes.toString('base64url') !== id) return undefined;
    const block = this.#decipher.update(bytes);
    if (block.readUIntBE(KEY_BYTES, BLOCK_BYTES - KEY_BYTES) !== 0) return undefined;
    return {
      timeMs: block.readUIntBE(0, 6) - TIME_BIAS,
      sequence: block.readUIntBE(6, 6),
      writer: block.readUInt8(12),
    };
  }
}
