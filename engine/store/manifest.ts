import { randomBytes } from 'node:crypto';
import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import { RecordFile } from '../base/record.ts';
import { FORMAT_VERSION } from '../segment/frame.ts';
import { LOG_FOLDER, MANIFEST_PATH, parseSegmentName, SEGMENT_MAX } from './filename.ts';

/** Bytes of a folder's id. */
export const FOLDER_ID_BYTES = 16;
const SECRET_BYTES = 32;

/** Writers have 8 bits of an event id. Source: FORMAT.md 8. */
export const WRITERS_MAX = 256;
const SEQUENCE_MAX = 2 ** 48;

/** What a closed segment holds: frames up to `bytes`, rows with sequences below `sequence`. */
export interface Closing {
  bytes: number;
  sequence: number;
  /** Ordinals of blocks whose regions were found damaged when the segment was recovered. */
  damaged: number[];
}

/** What the manifest says of a segment; `closed` is absent while its writer may append to it. */
export interface SegmentEntry {
  writer: number;
  /** The segment's rows have this sequence or higher ones. */
  sequence: number;
  closed?: Closing;
}

type ManifestRecord =
  | { type: 'store'; format: number; folder: Uint8Array; secret: Uint8Array; createdMs: number }
  | { type: 'segment'; segment: number; writer: number; sequence: number }
  | { type: 'closed'; segment: number; bytes: number; sequence: number; damaged: number[] };

/**
 * The record of what exists in a folder: its identity, and its segments. Only the front thread has one.
 * Source: FORMAT.md 6.
 */
export class Manifest {
  /** 16 random bytes that stand in every segment's head too. Not to be written. */
  readonly folderId: Uint8Array;
  /** 32 random bytes that key the checks of event ids. Not to be written. */
  readonly secret: Uint8Array;
  readonly #file: RecordFile;
  readonly #segments: Map<number, SegmentEntry>;
  #lastSegment: number;

  constructor(
    file: RecordFile,
    folderId: Uint8Array,
    secret: Uint8Array,
    segments: Map<number, SegmentEntry>,
  ) {
    this.#file = file;
    this.folderId = folderId;
    this.secret = secret;
    this.#segments = segments;
    this.#lastSegment = 0;
    for (const segment of segments.keys()) {
      this.#lastSegment = Math.max(this.#lastSegment, segment);
    }
  }

  /**
   * Opens the manifest of `disk`, or begins one, and makes the folder of segments.
   * Throws CORRUPTION when it is damaged or when a segment's file is there that it does not know; USAGE when the
   * folder is of another format; IO.
   */
  static async open(disk: Disk, nowMs: number): Promise<Manifest> {
    disk.makeFolder(LOG_FOLDER);
    const { file, records } = RecordFile.open(disk, MANIFEST_PATH);
    try {
      const read = records.map(parseRecord);
      const segments = collectSegments(read);
      refuseUnknownFiles(disk, segments);
      let store = read[0];
      if (store === undefined) {
        store = {
          type: 'store',
          format: FORMAT_VERSION,
          folder: Uint8Array.from(randomBytes(FOLDER_ID_BYTES)),
          secret: Uint8Array.from(randomBytes(SECRET_BYTES)),
          createdMs: nowMs,
        };
        await file.append(store);
      }
      // Also when it is not new: the start before this one may have stopped between making and syncing.
      await disk.syncFolder('');
      assert(store.type === 'store', 'the first record is the store');
      return new Manifest(file, store.folder, store.secret, segments);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** All segments by number, in their order. Changes with the manifest; not to be written. */
  get segments(): ReadonlyMap<number, SegmentEntry> {
    return this.#segments;
  }

  /**
   * Takes the next segment number for `writer`; resolves when that is durable. `sequence` is what the writer's rows
   * go on from: at least `floor`, and above all rows of its closed segments. Rejects with IO.
   */
  async allocate(writer: number, floor = 0): Promise<{ segment: number; sequence: number }> {
    assert(writer >= 0 && writer < WRITERS_MAX, `writer ${writer}`);
    let sequence = floor;
    for (const entry of this.#segments.values()) {
      if (entry.writer !== writer) continue;
      sequence = Math.max(sequence, entry.closed?.sequence ?? entry.sequence);
    }
    if (this.#lastSegment >= SEGMENT_MAX || sequence >= SEQUENCE_MAX) {
      throw new EngineError(
        'LIMIT',
        `no number left: segment ${this.#lastSegment}, row ${sequence}`,
      );
    }
    // Counted before it is durable: a number whose record failed may be on the disk all the same.
    const segment = ++this.#lastSegment;
    await this.#file.append({ type: 'segment', segment, writer, sequence });
    this.#segments.set(segment, { writer, sequence });
    return { segment, sequence };
  }

  /**
   * Records that a segment is whole with its first `bytes`, that its rows are below `sequence`, and which of its
   * blocks, by ordinal, are known to be damaged; resolves when that is durable. Rejects with IO.
   */
  async close(
    segment: number,
    bytes: number,
    sequence: number,
    damagedBlocks: readonly number[] = [],
  ): Promise<void> {
    const entry = must(this.#segments.get(segment), `segment ${segment}`);
    assert(entry.closed === undefined, `segment ${segment} is closed already`);
    const above = Math.max(sequence, entry.sequence);
    const closed = { bytes, sequence: above, damaged: [...damagedBlocks] };
    await this.#file.append({ type: 'closed', segment, ...closed });
    entry.closed = closed;
  }

  /** Waits for what is being appended and lets go of the file. */
  async release(): Promise<void> {
    await this.#file.close();
  }
}

function collectSegments(records: readonly ManifestRecord[]): Map<number, SegmentEntry> {
  const segments = new Map<number, SegmentEntry>();
  for (const [number, record] of records.entries()) {
    if ((record.type === 'store') !== (number === 0)) refuse(number, `${record.type} record`);
    if (record.type === 'segment') {
      if (segments.has(record.segment)) refuse(number, `segment ${record.segment} a second time`);
      segments.set(record.segment, { writer: record.writer, sequence: record.sequence });
    } else if (record.type === 'closed') {
      const entry = segments.get(record.segment);
      if (entry === undefined) refuse(number, `segment ${record.segment} is not known`);
      const { bytes, sequence, damaged } = record;
      entry.closed = { bytes, sequence, damaged };
    }
  }
  return segments;
}

/**
 * A file is made only after its number is durable. One without a number means that the manifest lost a record
 * after all (a damaged last one cannot be told from a torn one), and going on would take that number again.
 */
function refuseUnknownFiles(disk: Disk, segments: ReadonlyMap<number, SegmentEntry>): void {
  for (const name of disk.list(LOG_FOLDER)) {
    const segment = parseSegmentName(name);
    if (segment !== undefined && !segments.has(segment)) {
      throw new EngineError('CORRUPTION', `${LOG_FOLDER}/${name} is not in the manifest`);
    }
  }
}

function refuse(number: number, what: string): never {
  throw new EngineError('CORRUPTION', `${MANIFEST_PATH}: record ${number}: ${what}`);
}

/** Checks a record's fields, so that nothing else has to. */
function parseRecord(value: unknown, number: number): ManifestRecord {
  if (typeof value !== 'object' || value === null) refuse(number, 'not a map');
  const fields = new Map<string, unknown>(Object.entries(value));
  const count = (name: string): number => {
    const field = fields.get(name);
    if (typeof field !== 'number' || !Number.isSafeInteger(field) || field < 0) {
      refuse(number, `${name} is ${String(field)}`);
    }
    return field;
  };
  const bytes = (name: string, length: number): Uint8Array => {
    const field = fields.get(name);
    if (!(field instanceof Uint8Array) || field.length !== length) {
      refuse(number, `${name} is not ${length} bytes`);
    }
    return Uint8Array.from(field);
  };
  const ordinals = (): number[] => {
    const field = fields.get('damaged');
    const valid = Array.isArray(field) && field.every((entry) => Number.isSafeInteger(entry));
    if (!valid) refuse(number, 'damaged is not a list of ordinals');
    return field;
  };
  switch (fields.get('type')) {
    case 'store': {
      const format = count('format');
      if (format !== FORMAT_VERSION) {
        throw new EngineError(
          'USAGE',
          `the folder is of format ${format}, this program reads ${FORMAT_VERSION}`,
        );
      }
      const folder = bytes('folder', FOLDER_ID_BYTES);
      const secret = bytes('secret', SECRET_BYTES);
      return { type: 'store', format, folder, secret, createdMs: count('createdMs') };
    }
    case 'segment': {
      const writer = count('writer');
      if (writer >= WRITERS_MAX) refuse(number, `writer is ${writer}`);
      return { type: 'segment', segment: count('segment'), writer, sequence: count('sequence') };
    }
    case 'closed':
      return {
        type: 'closed',
        segment: count('segment'),
        bytes: count('bytes'),
        sequence: count('sequence'),
        damaged: ordinals(),
      };
    default:
      return refuse(number, `type is ${String(fields.get('type'))}`);
  }
}
