import t from 'tap';
import { FORMAT_VERSION } from '../../engine/segment/frame.ts';
import { Catalog, openCatalog, recoverWriter } from '../../engine/store/catalog.ts';
import { buildHead } from '../../engine/store/commit.ts';
import type { LogFile } from '../../engine/store/log-file.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { beginLog, beginSegment } from './begin.ts';
import { groupOf, opaqueBlock, verifyOpaque } from './opaque.ts';

const DAY = 20_000;
const open = (disk: MemoryDisk) => openCatalog({ disk, nowMs: 1, verifyBlock: verifyOpaque });

function group(segment: number, ordinals: number[], superseded: number[] = []) {
  const ref = {
    sealed: false,
    segment,
    writer: 0,
    offset: 0,
    bytes: 64,
    rowCount: 2,
    firstSequence: 0,
    endSequence: 2,
  };
  const blocks = ordinals.map((ordinal) => ({ ...ref, ordinal, minTimeMs: 0, maxTimeMs: 0 }));
  return {
    segment,
    group: 1,
    bytes: 64,
    claim: { first: 0, end: 2 },
    blocks,
    superseded,
    usage: [],
  };
}

t.test('a snapshot is the same until something changes, and never changes itself', async (t) => {
  const catalog = new Catalog();
  const empty = catalog.snapshot();
  t.same(empty, { blocks: [] });
  catalog.apply(group(1, [1, 2]));
  const one = catalog.snapshot();
  t.equal(catalog.snapshot(), one);
  t.same(catalog.totals(), { blocks: 2, rows: 4 });
  catalog.apply(group(2, [1]));
  catalog.apply(group(1, [4], [1, 2]));
  t.same(empty, { blocks: [] });
  t.same(
    one.blocks.map((block) => block.ordinal),
    [1, 2],
  );
  t.same(
    catalog.snapshot().blocks.map((block) => [block.segment, block.ordinal]),
    [
      [1, 4],
      [2, 1],
    ],
  );
  t.same(catalog.totals(), { blocks: 2, rows: 4 });
  t.throws(() => (one.blocks as unknown[]).push(1));
});

t.test('a group that supersedes what is not there is a bug', async (t) => {
  const catalog = new Catalog();
  t.throws(() => catalog.apply(group(1, [2], [1])), /assertion/);
  catalog.apply(group(2, [2]));
  t.throws(() => catalog.apply(group(2, [2])), /assertion/);
});

t.test('a first start finds nothing', async (t) => {
  const { catalog, report, usage } = await open(new MemoryDisk());
  t.same(catalog.snapshot().blocks, []);
  t.same(report, {
    segments: 0,
    recovered: [],
    remarks: [],
    unclosed: [],
    removed: [],
    healed: [],
    moved: [],
    lost: [],
  });
  t.same(usage, []);
});

t.test('usage is summed over segments, days and keys apart', async (t) => {
  const disk = new MemoryDisk();
  const { manifest } = await open(disk);
  for (const writer of [0, 1]) {
    const log = await beginLog(disk, manifest, writer);
    for (const key of ['__proto__', 'k']) {
      const entry = { key, bytes: 10, events: 1 };
      const usage = [
        { ...entry, day: DAY },
        { ...entry, day: DAY - 1 },
      ];
      await log.append(groupOf(log.sequence, [opaqueBlock([1], log.sequence)], [], usage));
    }
  }
  disk.crash({ type: 'none' });
  const { usage } = await open(disk);
  const sums = { bytes: 20, events: 2 };
  t.same(usage, [
    { key: '__proto__', day: DAY - 1, ...sums },
    { key: 'k', day: DAY - 1, ...sums },
    { key: '__proto__', day: DAY, ...sums },
    { key: 'k', day: DAY, ...sums },
  ]);
});

t.test(
  'the segments of a writer that died are recovered and closed while others go on',
  async (t) => {
    const disk = new MemoryDisk();
    const opened = await open(disk);
    const { manifest, catalog } = opened;
    const logs: LogFile[] = [];
    for (const writer of [0, 1]) {
      const log = await beginLog(disk, manifest, writer);
      catalog.apply(await log.append(groupOf(2 * writer, [opaqueBlock([1, 2], 0)])));
      logs.push(log);
    }
    await logs[0]?.append(groupOf(4, [opaqueBlock([3], 2)]));
    t.equal(catalog.totals().rows, 4, 'the last group was durable, but nobody was told');
    await recoverWriter({ disk, verifyBlock: verifyOpaque }, opened, 0);
    t.equal(catalog.totals().rows, 5);
    t.match(manifest.segments.get(1)?.closed, { sequence: 5 });
    t.equal(catalog.end, 5);
    t.equal(manifest.segments.get(2)?.closed, undefined);
    t.equal(await beginSegment(manifest, 0), 3);
  },
);

t.test('a segment of an earlier draft of the format ends the start', async (t) => {
  const disk = new MemoryDisk();
  const { manifest } = await open(disk);
  await beginSegment(manifest, 0);
  disk.open('log/00000001.log', 'create');
  const head = { format: 0, writer: 0, folderId: manifest.folderId, createdMs: 1 };
  disk.damage('log/00000001.log', () => buildHead(1, head).bytes);
  disk.crash({ type: 'none' });
  await t.rejects(open(disk), {
    code: 'USAGE',
    message: `the segment is of draft 0 of the format, this program reads drafts 1 to ${FORMAT_VERSION}`,
  });
});
