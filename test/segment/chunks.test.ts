import t from 'tap';
import { ByteWriter } from '../../engine/base/bytes.ts';
import { type Region, RegionReader } from '../../engine/column/chunk.ts';
import { openBlock } from '../../engine/segment/block/block.ts';
import {
  FORMAT_VERSION,
  FRAME_HEADER_BYTES,
  FrameKind,
  readFrameHeader,
  writeFrameHeader,
} from '../../engine/segment/frame.ts';
import { layFrame } from '../../engine/segment/frame-layout.ts';
import { Feature, readHead, writeHead } from '../../engine/segment/head.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import type { TestRow } from './leaves.ts';
import { compareTexts, FOLDER_ID, Shelf } from './shelf.ts';

/** Rows with a column of ids, one of numbers, one of texts, and messages. */
function rowsFrom(first: number, count: number): TestRow[] {
  return Array.from({ length: count }, (_, index): TestRow => {
    const row = first + index;
    return {
      timeMs: 1_700_000_000_000 + row,
      leaves: [
        { names: ['custom', 'verb'], kind: 'string', text: ['GET', 'PUT', 'POST'][(row * 7) % 3] },
        { names: ['custom', 'size'], kind: 'number', text: `${(row * 7919) % 10_007}` },
        { names: ['custom', 'id'], kind: 'string', text: `id ${row * 7919} of all` },
        { names: ['message'], kind: 'string', text: `${row * 31} is no number of another` },
      ],
    };
  });
}

const PART_ROWS = 30_000;

/** A segment of three blocks. */
async function sealedShelf(): Promise<{ shelf: Shelf; bytes: Uint8Array; segment: number }> {
  const shelf = new Shelf();
  for (let part = 0; part < 5; part++) {
    await shelf.add(rowsFrom(part * PART_ROWS, PART_ROWS), 1, part * PART_ROWS);
  }
  const { segments } = await shelf.seal(shelf.refs);
  const { segment } = segments[0];
  return { shelf, bytes: shelf.disk.content(sealedPath(segment)), segment };
}

/** Kind and place of each frame of a file. */
function framesOf(bytes: Uint8Array): { kind: FrameKind; from: number; to: number }[] {
  const frames: { kind: FrameKind; from: number; to: number }[] = [];
  for (let at = 0; ; ) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined) return frames;
    frames.push({ kind: header.kind, from: at, to: at + header.frameBytes });
    at += header.frameBytes;
  }
}

/** Chunks of a column of a block. */
function chunksOf(regions: readonly Region[]): { from: number; to: number }[] {
  return regions.flatMap((region) =>
    region.inline === undefined ? [{ from: region.offset, to: region.offset + region.bytes }] : [],
  );
}

t.test('the chunks of a column of all blocks lie side by side, in frames of chunks', async (t) => {
  const { shelf, bytes } = await sealedShelf();
  const frames = framesOf(bytes).filter(({ kind }) => kind === FrameKind.CHUNKS);
  t.ok(frames.length > 1);
  const file = shelf.disk.open(sealedPath(shelf.refs[0].segment), 'read');
  const blocks = shelf.refs.map((ref) => openBlock(file, ref).head.directory);
  t.equal(blocks.length, 3);
  let columnEnd = 0;
  for (let column = 0; column < blocks[0].columns.length; column++) {
    const chunks = blocks.flatMap(({ columns }) => chunksOf(columns.entry(column).regions));
    t.ok(chunks.length >= 3);
    for (const { from, to } of chunks) {
      if (from % 64 !== 0) t.fail(`a chunk at ${from}`);
      if (from < columnEnd) t.fail(`a chunk at ${from} before the end of another, ${columnEnd}`);
      const isInside = frames.some(
        (frame) => frame.from + FRAME_HEADER_BYTES <= from && to <= frame.to,
      );
      if (!isInside) t.fail(`a chunk at ${from} outside of all frames of chunks`);
      columnEnd = to;
    }
  }
  file.close();
});

t.test('a frame of a block has its directory alone', async (t) => {
  const { shelf, bytes } = await sealedShelf();
  for (const ref of shelf.refs) {
    const header = readFrameHeader(bytes, ref.offset);
    t.match(header, { kind: FrameKind.DIRECTORY, rowCount: ref.rowCount });
    t.ok(ref.bytes < 4_096, `${ref.bytes} bytes`);
    const opened = shelf.reader.open(ref);
    t.ok(opened.bytes > 100_000, `${opened.bytes} bytes with its chunks`);
  }
});

t.test('strings that tell the same share their ids', async (t) => {
  const shelf = new Shelf();
  const rows = Array.from({ length: 5_000 }, (_, row): TestRow => {
    const number = (row * 7) % 40;
    const leaves = ['pod', 'node', 'zone'].map((name) => {
      const text = `${name} ${name === 'zone' ? number % 7 : number}`;
      return { names: ['custom', name], kind: 'string' as const, text };
    });
    return { timeMs: 1_700_000_000_000 + row, leaves };
  });
  await shelf.add(rows, 1, 0);
  const wanted = shelf.texts();
  await shelf.seal(shelf.refs);
  compareTexts(shelf.texts(), wanted);
  const block = shelf.reader.open(shelf.refs[0]);
  const { columns } = block.head.directory;
  const offsets = [...columns.entries()].map(({ regions: [, ids] }) =>
    ids.inline === undefined ? ids.offset : -1,
  );
  t.equal(offsets[0], offsets[1]);
  t.not(offsets[1], offsets[2]);
  const bytes = new Map(block.columnBytes().map((column) => [column.path, column.bytes]));
  t.equal(bytes.get('custom.node'), 0);
  t.ok((bytes.get('custom.pod') ?? 0) > 3_000);
});

t.test('a chunk before the begin of the file is corruption', async (t) => {
  const meta = new ByteWriter();
  meta.varint(400);
  meta.u32(7);
  meta.varint(2 ** 32 + 1);
  t.throws(() => new RegionReader(meta.bytes(), true).region(), { code: 'CORRUPTION' });
});

t.test('a head says which segments a sealed one is made of', async (t) => {
  const { bytes, segment } = await sealedShelf();
  const header = readFrameHeader(bytes);
  const head = readHead(
    bytes.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + (header?.metaBytes ?? 0)),
  );
  t.same(head.sources, [1, 2, 3, 4, 5]);
  t.equal(segment, 6);
});

/** A head of this draft with features, and something behind what is known. */
function headWith(required: number, optional: number): Uint8Array {
  const meta = new ByteWriter(64);
  meta.u32(FORMAT_VERSION);
  meta.u8(0);
  meta.blob(FOLDER_ID);
  meta.f64(5);
  meta.varint(required);
  meta.varint(optional);
  meta.varint(1);
  meta.varint(7);
  meta.raw(Uint8Array.of(1, 2, 3));
  return meta.bytes();
}

t.test('a head with features that one may do without is read, others are refused', async (t) => {
  const facts = { format: FORMAT_VERSION, writer: 0, folderId: FOLDER_ID, createdMs: 5 };
  const head = { ...facts, features: Feature.OVERFLOW };
  t.same(readHead(headWith(0, 6)), { ...head, features: 0, sources: [7] });
  t.same(readHead(headWith(1, 6)), { ...head, sources: [7] });
  t.same(readHead(writeHead({ ...head, sources: [3, 9] })), { ...head, sources: [3, 9] });
  t.same(readHead(writeHead({ ...head, format: 4, sources: [3] })).sources, []);
  t.throws(() => readHead(headWith(2, 0)), {
    code: 'USAGE',
    message: 'the segment needs features 0x2 that this program lacks',
  });
});

t.test('a sealed segment that needs an unknown feature is damage', async (t) => {
  const { bytes, segment } = await sealedShelf();
  const header = readFrameHeader(bytes);
  if (header === undefined) throw new Error('no head');
  const { bytes: frame, metaChecksum, metaBytes } = layFrame(headWith(2, 0), []);
  const changed = Buffer.from(bytes);
  changed.set(frame.subarray(FRAME_HEADER_BYTES), FRAME_HEADER_BYTES);
  writeFrameHeader(changed, { ...header, metaBytes, metaChecksum });
  const source = {
    bytes: () => changed.length,
    read: (target: Uint8Array, position: number) =>
      changed.copy(target, 0, position, position + target.length),
  };
  t.throws(() => new SealedFile(source, segment).footer(), {
    code: 'CORRUPTION',
    message: /needs features 0x2/,
  });
});
