import { ByteReader } from '../../engine/base/bytes.ts';
import type { Region } from '../../engine/column/chunk.ts';
import { Kind } from '../../engine/column/kind.ts';
import { ORDERED_SHAPES } from '../../engine/column/shape.ts';
import { StringEncoding } from '../../engine/column/text.ts';
import { ADDRESSES_MAGIC } from '../../engine/packed/addresses.ts';
import { StreamHead } from '../../engine/packed/integers.ts';
import { readHead } from '../../engine/segment/block/block-head.ts';
import type { ColumnEntry } from '../../engine/segment/block/column-entry.ts';
import { readRowMarks } from '../../engine/segment/block/keys/row-marks.ts';
import { FRAME_ALIGNMENT, FrameKind, readFrameHeader } from '../../engine/segment/frame.ts';
import { type SmallSegment, segmentPathOf } from './segments.ts';

const nameOf = (names: object, number: number): string =>
  Object.entries(names).find(([, each]) => each === number)?.[0] ?? `number ${number}`;

/** The first bytes of what is compressed so; of other bytes they are a length. */
const COMPRESSIONS = new Map([
  [0xfd2fb528, 'zstd'],
  [ADDRESSES_MAGIC, 'addresses'],
]);

/** Collects the names of the encodings that a segment has, as FORMAT.md tells them apart. */
class Survey {
  readonly found = new Set<string>();

  stream(bytes: Uint8Array, at = 0): void {
    const head = bytes[at];
    const { ENCODING_MASK, BASE_NEGATIVE, STEP_NEGATIVE, PATCHED } = StreamHead;
    this.found.add(
      `stream ${['constant', 'packed', 'differences', 'runs', 'doubles', 'codes'][head & ENCODING_MASK]}`,
    );
    if (head & BASE_NEGATIVE) this.found.add('negative base');
    if (head & STEP_NEGATIVE) this.found.add('negative step');
    if (head & PATCHED) this.found.add('patches');
  }

  column(
    { kind, encoding, hasSlots, presence }: ColumnEntry,
    read: (number: number) => Uint8Array,
  ): void {
    const name = nameOf(Kind, kind).toLowerCase();
    this.found.add(hasSlots ? 'presence in ids' : presence < 0 ? 'all rows' : 'row list');
    if (kind === Kind.STRING || kind === Kind.ARRAY) {
      this.found.add(`${name} ${nameOf(StringEncoding, encoding).toLowerCase()}`);
      if (encoding === StringEncoding.TEXT) this.#compressed(read(1));
      return;
    }
    const reader = new ByteReader(read(0));
    if (kind === Kind.NUMBER) {
      const rule = reader.u8();
      const scale = reader.u8();
      this.found.add(`number of rule ${rule}`).add(scale === 255 ? 'double' : 'scaled number');
      if (reader.varint() > 0) this.found.add('number as text');
    } else if (kind === Kind.DATE) this.found.add(`date of origin ${reader.u8()}`);
    else this.found.add(name);
    this.stream(reader.raw(1));
  }

  #compressed(bytes: Uint8Array): void {
    if (bytes.length < 8) return;
    const magic = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    this.found.add(COMPRESSIONS.get(magic) ?? 'LZ4 or plain');
  }
}

/** The names of the encodings that a segment has. */
export function encodingsOf(segment: SmallSegment): Set<string> {
  const survey = new Survey();
  const { disk, refs, bytes } = segment;
  for (let at = 0; at < bytes.length; ) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined) break;
    survey.found.add(`frame ${nameOf(FrameKind, header.kind).toLowerCase()}`);
    if (header.metaRawBytes > 0) survey.found.add('compressed meta');
    at += Math.max(header.frameBytes, FRAME_ALIGNMENT);
  }
  const file = disk.open(segmentPathOf(segment), 'read');
  for (const ref of refs) {
    const { source, directory } = readHead(file, ref);
    const read = (region: Region): Uint8Array => source.region(region);
    survey.stream(read(directory.time));
    survey.stream(read(directory.received));
    survey.stream(read(directory.shapeIds));
    survey.found.add(
      read(directory.shapes)[0] === ORDERED_SHAPES ? 'ordered shapes' : 'listed shapes',
    );
    if (directory.overflow !== undefined) survey.found.add('overflow map');
    if (directory.keys !== undefined)
      survey.found.add(`keys of ${read(directory.keys)[0] + 1} writers`);
    if (directory.marks !== undefined) {
      const { writers } = readRowMarks(new ByteReader(read(directory.marks)), ref);
      survey.found.add(`marks of ${writers.length} writers`);
    }
    for (const { layout } of directory.columns.lists())
      survey.found.add(`row list of layout ${layout}`);
    for (const column of directory.columns.entries()) {
      survey.column(column, (number) => read(column.regions[number]));
      if (column.regions.some((region) => region.inline === undefined && region.isShared))
        survey.found.add('shared chunk');
    }
  }
  file.close();
  return survey.found;
}
