import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import type { Region } from '../../engine/column/chunk.ts';
import { SharedDictionary } from '../../engine/column/shared-dictionary.ts';
import { Block } from '../../engine/segment/block/block.ts';
import { BlockHead } from '../../engine/segment/block/block-head.ts';
import { overflowRegions } from '../../engine/segment/block/directory.ts';
import { columnsOfBlock } from '../../engine/segment/footer.ts';
import { type FooterBytes, plainFooter, readFooter } from '../../engine/segment/footer-reader.ts';
import {
  FRAME_HEADER_BYTES,
  type FrameHeader,
  FrameKind,
  readFrameHeader,
} from '../../engine/segment/frame.ts';
import { checkedMeta, FrameSource, regionsStartOf } from '../../engine/segment/frame-source.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { HashLanes } from '../../engine/segment/sum/row-hash.ts';
import { RowSum } from '../../engine/segment/sum/row-sum.ts';
import { WordFrame } from '../../engine/word/word-frame.ts';
import { seededRandom } from '../support/memory-disk.ts';
import { type SmallSegment, segmentPathOf, smallSegments } from './segments.ts';

/** Bytes that were written wrongly under checksums that are right: they may say anything, but harm nobody. */

/** How often each block and each other frame is forged. */
const BLOCK_ROUNDS = 1_500;
const FRAME_ROUNDS = 1_000;
/** Varints of very large numbers, and of none. */
const EXTREMES = [
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x04],
  [0, 0, 0, 0],
];

type Forge = (bytes: Uint8Array) => Uint8Array;

/** Writes over some bytes of a copy. */
function forger(seed: number): { forge: Forge; below: (end: number) => number } {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const forge: Forge = (bytes) => {
    const forged = bytes.slice();
    for (let patches = 1 + below(3); patches > 0 && bytes.length > 0; patches--) {
      const at = below(bytes.length);
      const arbitrary = Array.from({ length: 1 + below(6) }, () => below(256));
      const patch = below(2) === 0 ? EXTREMES[below(EXTREMES.length)] : arbitrary;
      forged.set(patch.slice(0, bytes.length - at), at);
    }
    return forged;
  };
  return { forge, below };
}

/** Runs what may find damage, and fails in no other way. */
function harmless(read: () => unknown, what: string): void {
  try {
    read();
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === 'CORRUPTION') return;
    throw new Error(`${what}: ${cause}`, { cause });
  }
}

/** A source that forges a region, or the meta, and takes it for right. */
class ForgedSource extends FrameSource {
  forge: Forge = (bytes) => bytes;
  /** Place of the region; -1: the meta. */
  place = -1;

  override meta(header: FrameHeader): Uint8Array {
    const meta = super.meta(header);
    return this.place < 0 ? this.forge(meta) : meta;
  }

  override region(region: Region, scratch?: Uint8Array): Uint8Array {
    const bytes = super.region(region, scratch);
    return region.inline === undefined && region.offset === this.place ? this.forge(bytes) : bytes;
  }

  override far(region: Region): Uint8Array {
    return this.region(region);
  }
}

/** Everything that is read of a block. */
function readsOf(block: Block): (() => unknown)[] {
  const { rowCount } = block;
  const keys = () => block.keysOf(1);
  return [
    () => new RowSum(new HashLanes(1)).add(block),
    () => block.weigh(new Uint32Array(rowCount)),
    () => [keys().timeAt(rowCount - 1), keys().sequenceAt(0), keys().writerAt(rowCount >> 1)],
    () => {
      for (let row = 0; row < rowCount; row += 1 + (rowCount >> 5)) block.eventText(row);
    },
    ...Array.from({ length: block.columnCount }, (_, index) => () => {
      const column = block.column(index);
      if ('entryCount' in column) return [column.ids, column.offsets, block.derived(index)];
      return [column, block.presentBits(index), block.valueText(index, rowCount - 1)];
    }),
  ];
}

const segments = await smallSegments();

for (const segment of segments) {
  t.test(`bytes of ${segment.name} that are wrong under right checksums harm nobody`, async (t) => {
    const file = segment.disk.open(segmentPathOf(segment), 'read');
    const [ref] = segment.refs;
    const sealed = ref.sealed ? new SealedFile(file, segment.segment) : undefined;
    const { directory } = new BlockHead(ref, new FrameSource(file, ref));
    const { columns, overflow } = directory;
    const regions = [
      ...columns.entries().flatMap((column) => column.regions),
      ...overflowRegions(overflow),
    ];
    const places = regions.flatMap((region) =>
      region.inline === undefined ? [region.offset] : [],
    );
    const { forge, below } = forger(segment.bytes.length);
    for (let round = 0; round < BLOCK_ROUNDS; round++) {
      const source = new ForgedSource(file, ref);
      source.forge = forge;
      source.place = places[below(places.length * 2)] ?? -1;
      harmless(() => {
        const block = new Block(new BlockHead(ref, source), sealed);
        for (const [number, read] of readsOf(block).entries()) {
          harmless(read, `round ${round}, read ${number}`);
        }
      }, `round ${round}`);
    }
    t.pass(`${BLOCK_ROUNDS} rounds`);
    file.close();
  });
}

/** Everything that is read of a frame that is no block's. */
function readFrame(kind: FrameKind, segment: number, { meta, region }: FooterBytes): void {
  if (kind === FrameKind.DICTIONARY) {
    const dictionary = new SharedDictionary(meta, region);
    harmless(() => dictionary.counts(), 'counts');
    harmless(() => dictionary.countRuns().first(1_000), 'runs');
    harmless(() => dictionary.place(Math.max(dictionary.entryCount - 1, 0)), 'a place');
    harmless(() => dictionary.lengths(), 'lengths');
    harmless(() => dictionary.entries(), 'entries');
    harmless(() => dictionary.verifyHashes(0, dictionary.piece(0)), 'hashes');
  } else if (kind === FrameKind.WORDS) {
    const frame = new WordFrame(meta, region);
    for (let hash = 0; hash < 2 ** 32; hash += 2 ** 28) {
      harmless(() => frame.narrow(new Uint8Array(8).fill(1), hash), `hash ${hash}`);
    }
    harmless(() => frame.rowsWith(Buffer.from('seventh')), 'a count');
  } else {
    const footer = readFooter(plainFooter({ meta, region }, segment), segment);
    const { minutes } = footer;
    harmless(() => [minutes.minutes, minutes.rowsBefore], 'minutes');
    for (const ref of footer.blocks)
      harmless(() => columnsOfBlock(footer, ref)?.(() => true), 'columns');
  }
}

/** The frames of a sealed segment that are no blocks. */
function* framesOf({ bytes }: SmallSegment): Generator<{ header: FrameHeader; frame: Uint8Array }> {
  for (let at = 0; ; ) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined) return;
    const { kind, frameBytes } = header;
    const frame = bytes.subarray(at, at + frameBytes);
    const { DICTIONARY, WORDS, FOOTER } = FrameKind;
    if (kind === DICTIONARY || kind === WORDS || kind === FOOTER) yield { header, frame };
    at += frameBytes;
  }
}

t.test('dictionaries, words and footers that are forged harm nobody', async (t) => {
  const { forge, below } = forger(1);
  for (const segment of segments) {
    for (const { header, frame } of framesOf(segment)) {
      const stored = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + header.metaBytes);
      const meta = checkedMeta(stored, header);
      const regions = frame.subarray(regionsStartOf(header));
      for (let round = 0; round < FRAME_ROUNDS; round++) {
        const [forgedMeta, forgedRegions] =
          below(2) === 0 ? [forge(meta), regions] : [meta, forge(regions)];
        const region = (place: Region): Uint8Array => {
          if (place.inline !== undefined) return place.inline;
          return forgedRegions.subarray(place.offset, place.offset + place.bytes);
        };
        const what = `${segment.name}, frame ${header.ordinal}, round ${round}`;
        harmless(() => readFrame(header.kind, segment.segment, { meta: forgedMeta, region }), what);
      }
      t.pass(`frame ${header.ordinal} of ${segment.name}`);
    }
  }
});
