import { EngineError } from '../base/errors.ts';
import { type BlockRef, checkFormat } from '../segment/frame.ts';
import { MANIFEST_PATH } from './filename.ts';
import type { KeptRetention, RetentionPolicy } from './retention.ts';
import { SEQUENCES_MAX } from './sequences.ts';
import type { KeyUsage } from './usage.ts';

/** Bytes of a folder's id. */
export const FOLDER_ID_BYTES = 16;
/** Bytes of the secret that keys the checks of event ids. */
export const SECRET_BYTES = 32;

/** Writers have 8 bits of an event id. Source: FORMAT.md 8. */
export const WRITERS_MAX = 256;

/** The manifest's entry of a sealed segment. Plain data that crosses threads. */
export interface SealedEntry {
  bytes: number;
  rowCount: number;
  minTimeMs: number;
  maxTimeMs: number;
  /** When it was sealed. */
  sealedMs: number;
  blocks: readonly BlockRef[];
}

/** A sealed segment as it stands in a record. */
export interface NumberedSealed extends SealedEntry {
  segment: number;
}

/** A record of the manifest. Source: FORMAT.md 6. */
export type ManifestRecord =
  | { type: 'store'; format: number; folder: Uint8Array; secret: Uint8Array; createdMs: number }
  | { type: 'summary'; lastSegment: number; sequence: number; usage: KeyUsage[] }
  | { type: 'segment'; segment: number; writer: number }
  | { type: 'closed'; segment: number; bytes: number; sequence: number; damaged: number[] }
  | { type: 'sealed'; sources: number[]; segments: NumberedSealed[]; usage: KeyUsage[] }
  | { type: 'dropped'; segments: number[]; usage: KeyUsage[] }
  | { type: 'registries' }
  | ({ type: 'retention' } & KeptRetention)
  | { type: 'policy'; policy: RetentionPolicy | undefined };

/** Throws CORRUPTION naming the record. */
export function refuseRecord(number: number, what: string): never {
  throw new EngineError('CORRUPTION', `${MANIFEST_PATH}: record ${number}: ${what}`);
}

/** A record as it is appended: of a block only the numbers that it does not share with all sealed ones. */
export function storedRecord(record: ManifestRecord): object {
  if (record.type === 'policy') {
    const { ageMaxMs = 0, bytesMax = 0, freeBytesMin = 0 } = record.policy ?? {};
    const set = record.policy === undefined ? 0 : 1;
    return { type: record.type, set, ageMaxMs, bytesMax, freeBytesMin };
  }
  if (record.type !== 'sealed') return record;
  const segments = record.segments.map(({ blocks, ...facts }) => ({
    ...facts,
    blocks: blocks.map((block) => [
      block.offset,
      block.bytes,
      block.ordinal,
      block.rowCount,
      block.minTimeMs,
      block.maxTimeMs,
    ]),
  }));
  return { ...record, segments };
}

/** The fields of a map that was read, each checked when it is taken. */
class Fields {
  readonly #number: number;
  readonly #fields: ReadonlyMap<string, unknown>;

  constructor(value: unknown, number: number) {
    if (typeof value !== 'object' || value === null) refuseRecord(number, 'not a map');
    this.#number = number;
    this.#fields = new Map<string, unknown>(Object.entries(value));
  }

  get(name: string): unknown {
    return this.#fields.get(name);
  }

  /** A whole number from 0 to `most`. */
  count(name: string, most = Number.MAX_SAFE_INTEGER): number {
    const field = this.#fields.get(name);
    if (typeof field !== 'number' || !Number.isSafeInteger(field) || field < 0 || field > most) {
      refuseRecord(this.#number, `${name} is ${String(field)}`);
    }
    return field;
  }

  time(name: string): number {
    const field = this.#fields.get(name);
    if (typeof field !== 'number' || !Number.isFinite(field)) {
      refuseRecord(this.#number, `${name} is ${String(field)}`);
    }
    return field;
  }

  text(name: string): string {
    const field = this.#fields.get(name);
    if (typeof field !== 'string') refuseRecord(this.#number, `${name} is no text`);
    return field;
  }

  bytes(name: string, length: number): Uint8Array {
    const field = this.#fields.get(name);
    if (!(field instanceof Uint8Array) || field.length !== length) {
      refuseRecord(this.#number, `${name} is not ${length} bytes`);
    }
    return Uint8Array.from(field);
  }

  list(name: string): unknown[] {
    const field = this.#fields.get(name);
    if (!Array.isArray(field)) refuseRecord(this.#number, `${name} is not a list`);
    return field;
  }

  counts(name: string): number[] {
    const field = this.list(name);
    if (!field.every((entry) => Number.isSafeInteger(entry) && Number(entry) >= 0)) {
      refuseRecord(this.#number, `${name} is not a list of numbers`);
    }
    return field as number[];
  }

  maps(name: string): Fields[] {
    return this.list(name).map((entry) => new Fields(entry, this.#number));
  }

  usage(): KeyUsage[] {
    return this.maps('usage').map((entry) => ({
      key: entry.text('key'),
      day: entry.count('day'),
      bytes: entry.count('bytes'),
      events: entry.count('events'),
    }));
  }

  policy(): RetentionPolicy | undefined {
    const limit = (name: string): number | undefined => {
      const count = this.count(name);
      return count === 0 ? undefined : count;
    };
    const ageMaxMs = limit('ageMaxMs');
    const policy = { ageMaxMs, bytesMax: limit('bytesMax'), freeBytesMin: limit('freeBytesMin') };
    return this.count('set', 1) === 0 ? undefined : policy;
  }

  sealed(): NumberedSealed {
    const segment = this.count('segment');
    return {
      segment,
      bytes: this.count('bytes'),
      rowCount: this.count('rowCount'),
      minTimeMs: this.time('minTimeMs'),
      maxTimeMs: this.time('maxTimeMs'),
      sealedMs: this.time('sealedMs'),
      blocks: this.list('blocks').map((block) => this.#block(segment, block)),
    };
  }

  #block(segment: number, value: unknown): BlockRef {
    const numbers = Array.isArray(value) ? value : [];
    const [offset, bytes, ordinal, rowCount, minTimeMs, maxTimeMs] = numbers;
    const counts = [offset, bytes, ordinal, rowCount];
    const whole = counts.every((count) => Number.isSafeInteger(count) && count >= 0);
    if (!whole || !Number.isFinite(minTimeMs) || !Number.isFinite(maxTimeMs)) {
      refuseRecord(this.#number, `a block of segment ${segment} is not six numbers`);
    }
    const place = { sealed: true, segment, writer: 0, firstSequence: 0, endSequence: 0 };
    return { ...place, offset, bytes, ordinal, rowCount, minTimeMs, maxTimeMs };
  }
}

/** Checks a record's fields, so that nothing else has to. Throws CORRUPTION, and USAGE for another format. */
export function parseRecord(value: unknown, number: number): ManifestRecord {
  const fields = new Fields(value, number);
  const type = fields.get('type');
  switch (type) {
    case 'store': {
      const format = fields.count('format');
      checkFormat('the folder', format);
      const folder = fields.bytes('folder', FOLDER_ID_BYTES);
      const secret = fields.bytes('secret', SECRET_BYTES);
      return { type, format, folder, secret, createdMs: fields.count('createdMs') };
    }
    case 'summary': {
      const lastSegment = fields.count('lastSegment');
      const sequence = fields.count('sequence', SEQUENCES_MAX);
      return { type, lastSegment, sequence, usage: fields.usage() };
    }
    case 'segment': {
      const writer = fields.count('writer', WRITERS_MAX - 1);
      return { type, segment: fields.count('segment'), writer };
    }
    case 'closed': {
      const bytes = fields.count('bytes');
      const sequence = fields.count('sequence', SEQUENCES_MAX);
      const damaged = fields.counts('damaged');
      return { type, segment: fields.count('segment'), bytes, sequence, damaged };
    }
    case 'sealed': {
      const segments = fields.maps('segments').map((segment) => segment.sealed());
      return { type, sources: fields.counts('sources'), segments, usage: fields.usage() };
    }
    case 'dropped':
      return { type, segments: fields.counts('segments'), usage: fields.usage() };
    case 'registries':
      return { type };
    case 'retention': {
      const ageMaxMs = fields.count('ageMaxMs');
      return { type, ageMaxMs, waitedMs: fields.count('waitedMs') };
    }
    case 'policy':
      return { type, policy: fields.policy() };
    default:
      return refuseRecord(number, `type is ${String(type)}`);
  }
}
