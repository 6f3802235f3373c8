import fc from 'fast-check';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { RegionReader } from '../../engine/column/chunk.ts';
import { type Block, openBlock } from '../../engine/segment/block/block.ts';
import { readDirectory } from '../../engine/segment/block/directory.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import { readFrameHeader, writeFrameHeader } from '../../engine/segment/frame.ts';
import { batchOf, frameOf, type MadeBlock, MemorySource, open } from './block-maker.ts';
import { anyRows } from './event-arbitrary.ts';
import type { TestRow } from './leaves.ts';

/** Everything a block says, as text. */
function dump(block: Block): string {
  const parts = [String(block.timeMs()), String(block.receivedMs())];
  for (let row = 0; row < block.rowCount; row++) parts.push(block.eventText(row));
  for (const [index, info] of block.columns.entries()) {
    parts.push(JSON.stringify(info));
    parts.push(JSON.stringify(block.column(index), (_, value) => value ?? null));
  }
  return parts.join('\n');
}

/** Outcome of opening a block whose bytes are `frame`: its dump, or the code of the error. */
function outcome({ ref }: MadeBlock, frame: Uint8Array): string {
  try {
    return dump(openBlock(new MemorySource(frame), ref));
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
}

const rows = Array.from({ length: 2_500 }, (_, row): TestRow => {
  const timeMs = 1_700_000_000_000 + row * 5;
  return {
    timeMs,
    leaves: [
      { names: ['custom', 'n'], kind: 'number', text: ((row * row) % 977).toFixed(2) },
      { names: ['custom', 's'], kind: 'string', text: `value ${row % 30}` },
      { names: ['custom', 'd'], kind: 'date', text: new Date(timeMs).toISOString() },
      { names: ['custom', 'b'], kind: 'boolean', value: (row * 7) % 5 < 2 },
      ...(row % 3 === 0
        ? [{ names: ['custom', 'o'], kind: 'string' as const, text: `o${row % 7}` }]
        : []),
      { names: ['message'], kind: 'string', text: `message number ${row}` },
    ],
  };
});

t.test('a damaged byte anywhere is corruption, or was not in use', async (t) => {
  const made = frameOf(batchOf(rows), 0, rows.length);
  const whole = outcome(made, made.frame);
  const wrong: string[] = [];
  let found = 0;
  const damage = (at: number, bit: number): void => {
    const frame = made.frame.slice();
    frame[at] ^= 1 << bit;
    const result = outcome(made, frame);
    if (result === 'CORRUPTION') found++;
    else if (result !== whole) wrong.push(`byte ${at}: ${result.slice(0, 80)}`);
    if ((result === 'CORRUPTION') === verifyBlock(frame))
      wrong.push(`byte ${at}: verification differs`);
  };
  for (let at = 0; at < 200; at += 3) damage(at, at % 8);
  for (let at = 200; at < made.frame.length; at += 311) damage(at, at % 8);
  t.same(wrong, []);
  t.ok(found > 100, `${found} found`);
});

t.test('a frame that ends early, or is not the one asked for, is corruption', async (t) => {
  const made = frameOf(batchOf(rows), 0, rows.length);
  for (const length of [0, 10, 63, 64, 200, made.frame.length - 64]) {
    const result = outcome(made, made.frame.subarray(0, length));
    t.equal(result, 'CORRUPTION', `${length} bytes`);
    t.equal(verifyBlock(made.frame.subarray(0, length)), false);
  }
  const { ref } = made;
  for (const other of [
    { segment: 8 },
    { ordinal: 4 },
    { rowCount: 5 },
    { firstSequence: 1 },
    { minTimeMs: 1 },
    { maxTimeMs: 1 },
    { bytes: ref.bytes - 64 },
  ]) {
    t.throws(
      () => openBlock(new MemorySource(made.frame), { ...ref, ...other }),
      { code: 'CORRUPTION', message: /segment \d at 0/ },
      JSON.stringify(other),
    );
  }
  t.equal(verifyBlock(new Uint8Array(128)), false);
});

t.test('errors of the file are passed on', async (t) => {
  const made = frameOf(batchOf(rows), 0, rows.length);
  const source = {
    read(): number {
      throw new RangeError('no disk');
    },
  };
  t.throws(() => openBlock(source, made.ref), /no disk/);
});

t.test('a directory of any bytes is read or is corruption', async () => {
  const small = frameOf(batchOf(rows), 0, 3);
  const metaBytes = new DataView(small.frame.buffer).getUint32(20, true);
  const meta = small.frame.slice(64, 64 + metaBytes);
  const header = must(readFrameHeader(small.frame), 'header');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(meta.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const changed = meta.slice();
        for (const [at, value] of changes) changed[at] = value;
        try {
          readDirectory(changed, header);
        } catch (error) {
          if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
        }
      },
    ),
    { numRuns: 2000 },
  );
});

t.test('wrong bytes under right checksums do no harm', async () => {
  fc.assert(
    fc.property(
      anyRows,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      (events, changes) => {
        const made = frameOf(batchOf(events), 0, events.length);
        const frame = forge(made, changes);
        if (frame === undefined) return;
        const result = outcome(made, frame);
        if (!result.includes('\n') && result !== 'CORRUPTION') throw new Error(result);
      },
    ),
    { numRuns: 300 },
  );
});

/** The frame with bytes of its meta changed and the checksums made right again; undefined when it is compressed. */
function forge({ frame, ref }: MadeBlock, changes: [number, number][]): Uint8Array | undefined {
  const view = new DataView(frame.buffer);
  const metaBytes = view.getUint32(20, true);
  if (view.getUint32(24, true) !== 0) return undefined;
  const forged = frame.slice();
  for (const [at, value] of changes) forged[64 + (at % metaBytes)] = value;
  const meta = forged.subarray(64, 64 + metaBytes);
  writeFrameHeader(forged, {
    ...ref,
    kind: 2,
    repeats: false,
    previous: 5,
    frameBytes: frame.length,
    group: 2,
    metaBytes,
    metaRawBytes: 0,
    metaChecksum: crc32(meta),
  });
  return forged;
}

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

t.test('a region list that claims too much is corruption', async (t) => {
  t.throws(() => new RegionReader(Uint8Array.of(0xff, 0x7f)).region(), { code: 'CORRUPTION' });
  t.throws(() => new RegionReader(Uint8Array.of(0x80)).region(), { code: 'CORRUPTION' });
  t.ok(open(frameOf(batchOf(rows), 0, 1)).rowCount === 1);
});
