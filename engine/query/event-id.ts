import { createHmac } from 'node:crypto';
import { assert } from '../base/assert.ts';

/** Bytes before the check: time 6, writer 1, sequence 6. */
const KEY_BYTES = 13;
const CHECK_BYTES = 2;
const ID_CHARACTERS = 20;
/** Greatest writer and sequence: FORMAT.md 7. */
export const WRITER_MAX = 255;
export const SEQUENCE_MAX = 2 ** 48 - 1;
/** What is added to a time so that it is never negative: 2^47. */
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

/** Writes the id of an event, 20 URL-safe characters. `secret` is the manifest's. Source: FORMAT.md 7. */
export function encodeEventId(secret: Uint8Array, key: EventKey): string {
  const bytes = Buffer.alloc(KEY_BYTES + CHECK_BYTES);
  const biased = key.timeMs + TIME_BIAS;
  assert(Number.isInteger(biased) && biased >= 0, `event time ${key.timeMs}`);
  bytes.writeUIntBE(biased, 0, 6);
  bytes.writeUInt8(key.writer, 6);
  bytes.writeUIntBE(key.sequence, 7, 6);
  check(secret, bytes).copy(bytes, KEY_BYTES, 0, CHECK_BYTES);
  return bytes.toString('base64url');
}

/** Reads an id; `undefined` when it is malformed or its check is wrong. Source: FORMAT.md 7. */
export function decodeEventId(secret: Uint8Array, id: string): EventKey | undefined {
  if (id.length !== ID_CHARACTERS) return undefined;
  const bytes = Buffer.from(id, 'base64url');
  if (bytes.length !== KEY_BYTES + CHECK_BYTES || bytes.toString('base64url') !== id) {
    return undefined;
  }
  if (check(secret, bytes).readUInt16BE(0) !== bytes.readUInt16BE(KEY_BYTES)) return undefined;
  return {
    timeMs: bytes.readUIntBE(0, 6) - TIME_BIAS,
    writer: bytes.readUInt8(6),
    sequence: bytes.readUIntBE(7, 6),
  };
}

function check(secret: Uint8Array, bytes: Buffer): Buffer {
  return createHmac('sha256', secret).update(bytes.subarray(0, KEY_BYTES)).digest();
}
