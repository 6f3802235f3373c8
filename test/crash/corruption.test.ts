import fc from 'fast-check';
import t from 'tap';
import { BLOCK_AGE_MAX_MS } from '../../engine/base/limits.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import {
  FRAME_ALIGNMENT,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  FrameKind,
  readFrameHeader,
} from '../../engine/segment/frame.ts';
import { HEAD_BYTES } from '../../engine/store/commit.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import { openStore, Rig, visibleTexts } from '../store/rig.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const PATH = segmentPath(1);

interface Place {
  header: FrameHeader;
  offset: number;
}

interface Written {
  disk: MemoryDisk;
  /** Texts by id of all rows. */
  rows: Map<string, string>;
  frames: Place[];
  lastGroup: number;
}

function framesOf(bytes: Uint8Array): Place[] {
  const frames: Place[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const header = readFrameHeader(bytes, offset);
    if (header === undefined) throw new Error(`no frame at ${offset}`);
    frames.push({ header, offset });
    offset += header.frameBytes;
  }
  return frames;
}

/** A segment with small blocks, one that supersedes some of them, and later groups. */
async function written(closed: boolean): Promise<Written> {
  const disk = new MemoryDisk();
  const rig = await Rig.open(disk);
  for (const name of ['a', 'b', 'c']) await rig.append(name, 3);
  rig.nowMs += BLOCK_AGE_MAX_MS;
  await rig.append('d', 4);
  await rig.append('e', 2);
  await rig.append('f', 2);
  if (closed) await rig.writer.close();
  disk.crash({ type: 'all' });
  const rows = visibleTexts(disk, rig.opened);
  const frames = framesOf(disk.content(PATH));
  return { disk, rows, frames, lastGroup: Number(frames.at(-1)?.header.group) };
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  return bytes;
}

/** True when a flip at `at` of the frame changes anything that was written, padding aside. */
function matters(bytes: Uint8Array, { header, offset }: Place, at: number): boolean {
  if (at < FRAME_HEADER_BYTES) return true;
  if (header.kind !== FrameKind.BLOCK) return at < FRAME_HEADER_BYTES + header.metaBytes;
  return !verifyBlock(flipped(bytes.slice(offset, offset + header.frameBytes), at));
}

/** Ids that may be missing when a frame is damaged: those of a block, or of the last group of an open segment. */
function mayMiss(written: Written, { header }: Place, closed: boolean): Set<string> {
  const lost = written.frames.filter((frame) =>
    !closed && header.group === written.lastGroup
      ? frame.header.group === header.group
      : frame.header.ordinal === header.ordinal,
  );
  const ids = new Set<string>();
  for (const { header: one } of lost) {
    for (let row = 0; row < one.rowCount; row++) ids.add(`3.${one.firstSequence + row}`);
  }
  return ids;
}

for (const closed of [false, true]) {
  const kind = closed ? 'a closed' : 'an open';
  t.test(`a flipped bit in any frame of ${kind} segment is named, the rest served`, async (t) => {
    const all = await written(closed);
    t.ok(all.frames.length > 12);
    const content = all.disk.content(PATH);
    for (const place of all.frames) {
      const { header, offset } = place;
      const step = header.kind === FrameKind.BLOCK ? 11 : 3;
      for (let at = 0; at < header.frameBytes; at += step) {
        const block = header.kind === FrameKind.BLOCK && at >= FRAME_HEADER_BYTES;
        if (closed && block) continue;
        if (!matters(content, place, at)) continue;
        const disk = all.disk.clone();
        disk.damage(PATH, (bytes) => flipped(bytes, offset + at));
        const opened = await openStore(disk);
        const remark = opened.report.remarks[0];
        const what = `frame ${header.ordinal}, byte ${at}`;
        const cut = !closed && header.group === all.lastGroup;
        const named = remark?.damaged.some(
          (damage) => damage.offset <= offset && damage.offset + damage.bytes > offset,
        );
        if (cut ? !remark?.cutBytes || remark.damaged.length > 0 : !named) {
          t.fail(`${what}: ${JSON.stringify(opened.report.remarks)}`);
        }
        if (opened.catalog.isDamaged(header.segment) === cut) t.fail(`${what}: the mark`);
        const served = visibleTexts(disk, opened);
        const excused = mayMiss(all, place, closed);
        for (const [id, text] of all.rows) {
          if (served.get(id) === text || (!served.has(id) && excused.has(id))) continue;
          t.fail(`${what}: row ${id} is ${served.get(id)} instead of ${text}`);
        }
        if (served.size > all.rows.size) t.fail(`${what}: ${served.size} rows`);
      }
    }
    t.pass('all frames');
  });
}

t.test('a flipped bit in a block of a closed segment is found when it is read', async (t) => {
  const all = await written(true);
  const place = all.frames.findLast((frame) => frame.header.kind === FrameKind.BLOCK) as Place;
  const { disk } = all;
  disk.damage(PATH, (bytes) => flipped(bytes, place.offset + FRAME_HEADER_BYTES + 1));
  const opened = await openStore(disk);
  t.same(opened.report.remarks, []);
  t.throws(() => visibleTexts(disk, opened), { code: 'CORRUPTION' });
});

t.test('a lost commit frame takes no rows with it, and no row shows twice', async (t) => {
  const all = await written(false);
  const commits = all.frames.filter(
    ({ header }) => header.kind === FrameKind.COMMIT && header.group < all.lastGroup,
  );
  for (const { offset } of commits) {
    const disk = all.disk.clone();
    disk.damage(PATH, (bytes) => flipped(bytes, offset + 20));
    t.same(visibleTexts(disk, await openStore(disk)), all.rows);
  }
});

t.test('small blocks come back when the one that superseded them is damaged', async (t) => {
  const all = await written(false);
  const whole = all.frames.find(({ header }) => header.rowCount === 13) as Place;
  const disk = all.disk.clone();
  disk.damage(PATH, (bytes) => flipped(bytes, whole.offset + 70));
  const served = visibleTexts(disk, await openStore(disk));
  t.equal(served.size, all.rows.size - 4, 'only the rows that were in no small block are lost');
});

t.test('a file that was cut short', async (t) => {
  for (const closed of [false, true]) {
    const all = await written(closed);
    const { length } = all.disk.content(PATH);
    for (let bytes = 0; bytes < length; bytes += FRAME_ALIGNMENT / 2) {
      const disk = all.disk.clone();
      disk.damage(PATH, (content) => content.slice(0, bytes));
      const opened = await openStore(disk);
      for (const [id, text] of visibleTexts(disk, opened)) {
        if (all.rows.get(id) !== text) t.fail(`row ${id} at ${bytes} bytes`);
      }
      const damaged = opened.report.remarks[0]?.damaged ?? [];
      const end = damaged.at(-1);
      const isMissed = bytes < HEAD_BYTES;
      if (!closed)
        t.equal(damaged.length > 0, isMissed, 'of an open segment the end may be missing');
      else if (end === undefined || end.offset + end.bytes !== length) t.fail(`${bytes} bytes`);
    }
  }
});

t.test(
  'an open segment whose file is gone, emptied or from elsewhere is damaged until it is put back',
  async (t) => {
    const { disk, rows } = await written(false);
    const damaged = [{ segment: 1, damaged: [{ offset: 0, bytes: HEAD_BYTES }], cutBytes: 0 }];
    const content = disk.content(PATH);
    const emptied = disk.clone();
    emptied.damage(PATH, () => new Uint8Array(0));
    await disk.unlink(PATH);
    await disk.syncFolder('log');
    for (const each of [disk, emptied]) {
      for (let start = 1; start <= 2; start++) {
        const { report, manifest } = await openStore(each);
        t.same(report.remarks, damaged, `start ${start}`);
        await manifest.release();
        each.crash({ type: 'all' });
      }
    }
    const other = await written(false);
    const foreign = emptied.clone();
    foreign.damage(PATH, () => other.disk.content(PATH));
    const { report: told, manifest } = await openStore(foreign);
    t.match(told.remarks, [{ segment: 1, damaged: [{ offset: 0 }] }]);
    await manifest.release();
    foreign.crash({ type: 'all' });
    for (const each of [emptied, foreign]) {
      each.damage(PATH, () => content);
      const { report, catalog } = await openStore(each);
      t.same(report.remarks, []);
      t.equal(catalog.totals().rows, rows.size);
    }
  },
);

t.test('closed segments without a file, or with one from elsewhere, are named', async (t) => {
  const { disk } = await written(true);
  const { length } = disk.content(PATH);
  const gone = disk.clone();
  await gone.unlink(PATH);
  const whole = [{ segment: 1, damaged: [{ offset: 0, bytes: length }], cutBytes: 0 }];
  t.same((await openStore(gone)).report.remarks, whole);
  const other = await written(true);
  disk.damage(PATH, () => other.disk.content(PATH));
  const opened = await openStore(disk);
  t.same(opened.report.remarks, whole);
  t.same(opened.catalog.totals(), { blocks: 0, rows: 0 });
});

t.test('whatever is damaged, no row is wrong and none shows twice', async (t) => {
  const all = await written(false);
  const { length } = all.disk.content(PATH);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(length - 1), { minLength: 1, maxLength: 6 }),
      fc.option(fc.record({ at: fc.nat(length - 1), bytes: fc.integer({ min: 1, max: 2_000 }) })),
      async (flips, hole) => {
        const disk = all.disk.clone();
        disk.damage(PATH, (bytes) => {
          for (const at of flips) flipped(bytes, at);
          return hole === null ? bytes : bytes.fill(0, hole.at, hole.at + hole.bytes);
        });
        const opened = await openStore(disk);
        for (const [id, text] of visibleTexts(disk, opened)) {
          if (all.rows.get(id) !== text) throw new Error(`row ${id} is ${text}`);
        }
        const again = await openStore(disk);
        t.same(again.catalog.totals(), opened.catalog.totals(), 'the second start sees the same');
      },
    ),
    { numRuns: 300 },
  );
});
