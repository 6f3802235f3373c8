import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged, EngineError } from '../base/errors.ts';
import { checkFormat } from './frame.ts';

/** Draft from which heads have features and sources. */
const FORMAT_FEATURES = 5;
/** Features of a segment that a reader must know. The bits are on disk. Source: FORMAT.md 3. */
export const Feature = { NONE: 0, OVERFLOW: 1 } as const;
/** All of these: the lowest bits. */
const KNOWN_FEATURES = Feature.OVERFLOW;

/** Meta of a segment's first frame: the segment says itself what it is. Source: FORMAT.md 3. */
export interface Head {
  format: number;
  writer: number;
  folderId: Uint8Array;
  createdMs: number;
  /** Bits of `Feature`. */
  features: number;
  /** Of a sealed segment: those whose rows it has, ascending. */
  sources: readonly number[];
}

/** Writes the meta of a head. */
export function writeHead({
  format,
  writer,
  folderId,
  createdMs,
  features,
  sources,
}: Head): Uint8Array {
  const meta = new ByteWriter(64);
  meta.u32(format);
  meta.u8(writer);
  meta.blob(folderId);
  meta.f64(createdMs);
  if (format < FORMAT_FEATURES) return meta.bytes();
  meta.varint(features);
  meta.varint(0);
  meta.varint(sources.length);
  let last = 0;
  for (const source of sources) {
    meta.varint(source - last);
    last = source;
  }
  return meta.bytes();
}

/**
 * Reads a head's meta. Throws CORRUPTION when it is malformed, USAGE when it is of a draft, or needs features, that
 * this code does not know: then nothing else of it has been read.
 */
export function readHead(meta: Uint8Array): Head {
  const reader = new ByteReader(meta);
  const format = reader.u32();
  checkFormat('the segment', format);
  const writer = reader.u8();
  const folderId = reader.blob().slice();
  const head = { format, writer, folderId, createdMs: reader.f64() };
  if (format < FORMAT_FEATURES) return { ...head, features: Feature.NONE, sources: [] };
  return { ...head, features: readFeatures(reader), sources: readSources(reader) };
}

function readFeatures(reader: ByteReader): number {
  const features = reader.varint();
  if (features <= KNOWN_FEATURES) return features;
  const bits = `0x${features.toString(16)}`;
  throw new EngineError('USAGE', `the segment needs features ${bits} that this program lacks`);
}

function readSources(reader: ByteReader): number[] {
  // Features that a reader may do without.
  reader.varint();
  const count = reader.varint();
  if (count > reader.remaining) damaged(`${count} sources in ${reader.remaining} bytes`);
  const sources: number[] = [];
  let last = 0;
  for (let index = 0; index < count; index++) {
    last += reader.varint();
    sources.push(last);
  }
  return sources;
}
