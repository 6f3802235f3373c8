import t from 'tap';
import { FORMAT_VERSION, readFrameHeader } from '../../engine/segment/frame.ts';
import { readHead } from '../../engine/segment/head.ts';
import { readCommit } from '../../engine/store/commit.ts';
import { LogFile } from '../../engine/store/log-file.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { groupOf, opaqueBlock, readOpaque } from './opaque.ts';

const folderId = Uint8Array.from({ length: 16 }, (_, index) => index);
const PATH = 'log/00000007.log';

async function create(
  disk = new MemoryDisk(),
  roomBytes = 0,
  monotonicMs = () => 0,
): Promise<{ disk: MemoryDisk; log: LogFile }> {
  disk.makeFolder('log');
  const options = { disk, segment: 7, writer: 2, folderId, createdMs: 5, roomBytes, monotonicMs };
  return { disk, log: await LogFile.create(options) };
}

t.test('a new file has a head, and its name is durable', async (t) => {
  const { disk, log } = await create();
  t.same(disk.trace.slice(-4), [
    'create log/00000007.log',
    `write ${PATH}`,
    `sync ${PATH}`,
    'sync folder log',
  ]);
  const bytes = disk.content(PATH);
  const header = readFrameHeader(bytes);
  t.match(header, { kind: 1, segment: 7, ordinal: 0, previous: 0, group: 0, frameBytes: 128 });
  const head = readHead(bytes.subarray(64));
  t.same(
    { ...head, folderId: [...head.folderId] },
    {
      format: FORMAT_VERSION,
      writer: 2,
      folderId: [...folderId],
      createdMs: 5,
      features: 0,
      sources: [],
    },
  );
  t.equal(log.durableBytes, 0);
});

t.test('a group is one write, a chain of frames, and one sync', async (t) => {
  const { disk, log } = await create();
  const calls = disk.calls;
  const usage = [{ key: 'k', day: 1, bytes: 2, events: 3 }];
  const blocks = [opaqueBlock([1, 2], 40), opaqueBlock([3], 42)];
  const one = await log.append(groupOf(40, blocks, [], usage));
  t.same(disk.trace.slice(calls), [`write ${PATH}`, `sync ${PATH}`]);
  t.match(one, { segment: 7, group: 1, superseded: [], usage });
  t.match(one.blocks, [
    {
      segment: 7,
      writer: 2,
      offset: 128,
      bytes: 512,
      ordinal: 1,
      rowCount: 2,
      firstSequence: 40,
      endSequence: 42,
    },
    {
      segment: 7,
      writer: 2,
      offset: 640,
      ordinal: 2,
      rowCount: 1,
      firstSequence: 42,
      endSequence: 43,
    },
  ]);
  t.same(
    one.blocks.map((ref) => readOpaque(disk, ref)),
    [
      [
        [40, 1],
        [41, 2],
      ],
      [[42, 3]],
    ],
  );
  t.equal(log.sequence, 43);
  t.equal(log.durableBytes, disk.content(PATH).length);
  const two = await log.append(
    groupOf(43, [opaqueBlock([1, 2, 3], 40, [{ first: 40, rows: 3 }])], [1, 2]),
  );
  t.match(two, { group: 2, superseded: [1, 2], usage: [] });
  t.match(two.blocks, [{ ordinal: 4, firstSequence: 40, endSequence: 43 }]);

  const bytes = disk.content(PATH);
  const kinds: number[] = [];
  let previous = 0;
  let commitAt = 0;
  for (let at = 0; at < bytes.length; ) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined) throw new Error(`no frame at ${at}`);
    t.equal(header.ordinal, kinds.length);
    t.equal(header.previous, previous);
    kinds.push(header.kind);
    previous = header.checksum;
    if (header.kind === 3) commitAt = at;
    at += header.frameBytes;
  }
  t.same(kinds, [1, 2, 2, 3, 2, 3]);
  const commit = readCommit(bytes.subarray(commitAt + 64));
  t.match(commit, { blocks: [{ ordinal: 4 }], superseded: [1, 2], usage: [] });
});

t.test('room is made behind small groups, used up by later ones, and given back', async (t) => {
  const { disk, log } = await create(new MemoryDisk(), 10_000);
  const length = (): number => disk.content(PATH).length;
  await log.append(groupOf(0, [opaqueBlock([1], 0)]));
  const made = log.durableBytes + 10_000;
  t.equal(length(), made);
  t.ok(
    disk
      .content(PATH)
      .subarray(log.durableBytes)
      .every((byte) => byte === 0),
  );
  const [{ offset }] = (await log.append(groupOf(1, [opaqueBlock([2], 1)]))).blocks;
  t.equal(length(), made, 'the next group lies in it');
  t.ok(offset < made);
  const large = opaqueBlock(
    Array.from({ length: 20_000 }, (_, row) => row),
    2,
  );
  t.ok(large.bytes.length > 65_536);
  const { bytes } = await log.append(groupOf(2, [large]));
  t.equal(length(), bytes, 'none is made behind a large one');
  await log.append(groupOf(20_002, [opaqueBlock([3], 20_002)]));
  t.equal(length(), log.durableBytes + 10_000);
  await log.trim();
  t.equal(length(), log.durableBytes);
});

t.test('a small group may keep its thread from all else, while the disk is quick', async (t) => {
  let nowMs = 0;
  let tookMs = 1;
  const { disk, log } = await create(new MemoryDisk(), 0, () => (nowMs += tookMs));
  let sequence = 0;
  const blocks = async (rows: number, blocking: boolean): Promise<boolean> => {
    const before = disk.blockingWrites;
    const values = Array.from({ length: rows }, (_, row) => row);
    const group = groupOf(sequence, [opaqueBlock(values, sequence)]);
    await log.append({ ...group, blocking });
    sequence += rows;
    return disk.blockingWrites > before;
  };
  t.ok(await blocks(1, true));
  t.notOk(await blocks(1, false), 'others may come meanwhile');
  t.notOk(await blocks(20_000, true), 'a large one takes long');
  tookMs = 60;
  t.ok(await blocks(1, true));
  t.notOk(await blocks(1, true), 'one took long');
  nowMs += 1_000;
  t.ok(await blocks(1, true));
});

t.test('after a failure the file is dead', async (t) => {
  for (const offset of [1, 2]) {
    const { disk, log } = await create();
    const { blocks } = await log.append(groupOf(0, [opaqueBlock([1], 0)]));
    const { durableBytes } = log;
    disk.faults = { failAtCall: disk.calls + offset };
    await t.rejects(log.append(groupOf(1, [opaqueBlock([2], 1)])), { code: 'IO' });
    const { calls } = disk;
    await t.rejects(log.append(groupOf(1, [opaqueBlock([3], 1)])), {
      code: 'IO',
      message: 'segment 7 failed earlier',
    });
    t.equal(disk.calls, calls, 'neither written nor synced again');
    t.equal(log.durableBytes, durableBytes);
    t.equal(log.sequence, 1);
    t.equal(blocks.length, 1);
    log.close();
    await t.rejects(log.append(groupOf(0, [])), { code: 'IO' });
  }
});

t.test('a closed file takes nothing', async (t) => {
  const { log } = await create();
  log.close();
  await t.rejects(log.append(groupOf(0, [])), { code: 'CLOSED' });
});

t.test('a segment is made once', async (t) => {
  const { disk } = await create();
  await t.rejects(create(disk), { code: 'IO' });
});
