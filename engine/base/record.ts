import { Packr } from 'msgpackr';
import { assert, must } from './assert.ts';
import { checksum } from './checksum.ts';

const PREFIX_BYTES = 16;
/** Offset of the first byte that the checksum covers. */
const COVERED_AT = 4;

/** Bytes of a record's payload; more is refused, so that a damaged length is recognised as one. */
export const RECORD_BYTES_MAX = 1_048_576;

const packr = new Packr({ useRecords: false });

/** A record as it stands in a file. */
export interface StoredRecord {
  /** Records before this one. */
  number: number;
  /** The checksum of the record before; of the first one how often the file was rewritten. */
  previous: number;
  /** MessagePack; a view. */
  payload: Uint8Array;
  /** Checksum of all other fields here and of the payload's length. */
  checksum: number;
  /** Prefix and payload. */
  bytes: number;
}

/** The payload of a record of plain data; the caller's own. */
export function packRecord(record: unknown): Uint8Array {
  const payload = packr.pack(record);
  assert(payload.length <= RECORD_BYTES_MAX, `record of ${payload.length} bytes`);
  return Uint8Array.from(payload);
}

/** The plain data of a payload. */
export function unpackRecord(payload: Uint8Array): unknown {
  return packr.unpack(payload);
}

/** The bytes of a record and their checksum. Source: FORMAT.md 6. */
export function frameRecord(
  payload: Uint8Array,
  number: number,
  previous: number,
): { bytes: Uint8Array; checksum: number } {
  const bytes = new Uint8Array(PREFIX_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(4, payload.length, true);
  view.setUint32(8, number, true);
  view.setUint32(12, previous, true);
  bytes.set(payload, PREFIX_BYTES);
  const sum = checksum(bytes, COVERED_AT);
  view.setUint32(0, sum, true);
  return { bytes, checksum: sum };
}

/** The record that begins at `at`; `undefined` when none is whole there. */
export function recordAt(bytes: Uint8Array, at: number): StoredRecord | undefined {
  if (bytes.length - at < PREFIX_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, PREFIX_BYTES);
  const length = view.getUint32(4, true);
  const end = at + PREFIX_BYTES + length;
  if (length === 0 || length > RECORD_BYTES_MAX || end > bytes.length) return undefined;
  const stored = view.getUint32(0, true);
  if (checksum(bytes, at + COVERED_AT, end) !== stored) return undefined;
  return {
    number: view.getUint32(8, true),
    previous: view.getUint32(12, true),
    payload: bytes.subarray(at + PREFIX_BYTES, end),
    checksum: stored,
    bytes: end - at,
  };
}

/** Offset of the first whole record from `from` on that has `number` or a higher one, wherever it begins. */
export function findRecord(bytes: Uint8Array, from: number, number: number): number | undefined {
  // Each record before it has a prefix at least: what looks like a higher number is none.
  const numberMax = number + Math.ceil(bytes.length / PREFIX_BYTES);
  for (let at = from; at + PREFIX_BYTES < bytes.length; at++) {
    // A length of 1 MiB or less ends in two bytes that are nearly always 0 and seldom elsewhere.
    if (must(bytes[at + 7], 'byte') !== 0 || must(bytes[at + 6], 'byte') > 0x10) continue;
    const found = recordAt(bytes, at);
    if (found !== undefined && found.number >= number && found.number <= numberMax) return at;
  }
  return undefined;
}
