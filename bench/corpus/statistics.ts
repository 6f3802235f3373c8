import { gzipSync } from 'node:zlib';
import { hashBytes } from '../../engine/base/hash.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG, PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { decodeBody } from '../../test/support/decode-body.ts';
import { eachBody } from './bodies.ts';
import type { Corpus } from './index.ts';

/** Bytes that are compressed and counted at a time. */
const PIECE_BYTES = 4_000_000;
/** More names than any corpus of a sensible length has, so that none goes to `_excess`. */
const PATHS = 16_000_000;
const NEWLINE = 10;

/** Measures of how rough a corpus is. */
export interface Statistics {
  events: number;
  /** Bytes of a line without its newline. */
  bytes: { mean: number; p50: number; p99: number; max: number };
  /** Distinct values of the main attributes, in the order in which the corpus names them. */
  distinct: { attribute: string; values: number }[];
  /** Distinct lists of attributes, in the order in which an event has them. */
  shapes: number;
  /** Bits a byte when each byte is coded for itself (entropy of order 0). */
  entropy: number;
  /** Bytes for one of gzip, level 6. */
  gzip: number;
}

/** Distinct texts, kept as hashes of 53 bits: two of a million meet once in 18,000 runs. */
class Distinct {
  readonly #hashes = new Set<number>();

  add(bytes: Uint8Array): void {
    const high = hashBytes(bytes, 0, bytes.length, 0x2545f491);
    const low = hashBytes(bytes, 0, bytes.length, 0x9e3779b1);
    this.#hashes.add(high * 2 ** 22 + (low >>> 9));
  }

  get size(): number {
    return this.#hashes.size;
  }
}

/** Attributes and shapes as the decoder of the service finds them. */
class Attributes {
  readonly #paths = new PathTable(PATHS);
  readonly #rows = new Rows();
  readonly #decoder = new Decoder(this.#paths, this.#rows);
  readonly #values = new Map<number, Distinct>();
  readonly #shapes = new Distinct();

  constructor(names: readonly string[]) {
    for (const name of names) this.#values.set(this.#pathOf(name), new Distinct());
  }

  /** Adds the events of a body and returns how many there are. */
  add(body: Uint8Array): number {
    this.#decoder.begin(body, 0, undefined);
    decodeBody(this.#decoder, body, 'lines');
    const { rowCount, rowEntry, path } = this.#rows;
    for (let row = 0; row < rowCount; row++) {
      const shape = path.subarray(rowEntry[row], rowEntry[row + 1]);
      this.#shapes.add(new Uint8Array(shape.buffer, shape.byteOffset, shape.byteLength));
      for (let entry = rowEntry[row]; entry < rowEntry[row + 1]; entry++) {
        this.#values.get(path[entry])?.add(this.#rows.text(entry));
      }
    }
    return rowCount;
  }

  get shapes(): number {
    return this.#shapes.size;
  }

  /** Distinct values of each attribute, in the order of the names. */
  get counts(): number[] {
    return [...this.#values.values()].map(({ size }) => size);
  }

  #pathOf(name: string): number {
    if (name === 'message') return PATH_MESSAGE;
    const names = name.split('.');
    const isSyslog = names[0] === 'syslog';
    let path = isSyslog ? PATH_SYSLOG : PATH_CUSTOM;
    for (const part of isSyslog ? names.slice(1) : names) {
      const bytes = Buffer.from(part);
      path = this.#paths.intern(path, bytes, 0, bytes.length);
    }
    return path;
  }
}

/** Entropy in bits a byte, from the number of times that each byte came. */
function entropyOf(counts: Float64Array): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / total) * Math.log2(count / total);
  return bits;
}

/** The lengths of the lines of `body`, from place `at` of `lengths` on; returns the place behind the last one. */
function addLengths(body: Buffer, lengths: Uint32Array, at: number): number {
  let place = at;
  for (let start = 0; start < body.length; ) {
    const end = body.indexOf(NEWLINE, start);
    lengths[place++] = end - start;
    start = end + 1;
  }
  return place;
}

/**
 * Statistics of the first `eventCount` events of a corpus. Keeps four bytes an event, and a number for each distinct
 * value and shape. Throws when the decoder finds another number of events.
 */
export function statisticsOf(
  corpus: Pick<Corpus, 'attributes' | 'make'>,
  eventCount: number,
  seed: number,
): Statistics {
  const attributes = new Attributes(corpus.attributes);
  const byteCounts = new Float64Array(256);
  const lengths = new Uint32Array(eventCount);
  let lineCount = 0;
  let rowCount = 0;
  let allBytes = 0;
  let gzipBytes = 0;
  for (const { body } of eachBody(corpus.make(seed), eventCount, PIECE_BYTES)) {
    for (const byte of body) byteCounts[byte]++;
    lineCount = addLengths(body, lengths, lineCount);
    rowCount += attributes.add(body);
    allBytes += body.length;
    gzipBytes += gzipSync(body).length;
  }
  if (rowCount !== eventCount) {
    throw new Error(`${eventCount} lines, of which the decoder makes ${rowCount} events`);
  }
  lengths.sort();
  return {
    events: eventCount,
    bytes: {
      mean: allBytes / eventCount - 1,
      p50: lengths[Math.floor(eventCount / 2)],
      p99: lengths[Math.floor(eventCount * 0.99)],
      max: lengths[eventCount - 1],
    },
    distinct: attributes.counts.map((values, place) => ({
      attribute: corpus.attributes[place],
      values,
    })),
    shapes: attributes.shapes,
    entropy: entropyOf(byteCounts),
    gzip: allBytes / gzipBytes,
  };
}
