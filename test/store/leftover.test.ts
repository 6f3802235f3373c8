import t from 'tap';
import { compactionOf, keep, open, World, writeSegment } from '../crash/compaction-workload.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const POLICY = { sealRows: 1, idleMs: 0, mergeRows: 8 };

/** A store whose log segments 1 and 2 became sealed segment 3. */
async function sealed(): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  const opened = await open(disk);
  const world = new World();
  for (const writer of [0, 1]) await writeSegment(disk, opened, world, writer, [3]);
  await keep(compactionOf(disk, opened, { policy: POLICY }));
  await opened.manifest.release();
  return disk;
}

async function put(disk: MemoryDisk, path: string, text: string): Promise<void> {
  const file = disk.open(path, 'create');
  await file.write([new TextEncoder().encode(text)], 0);
  await file.sync();
  file.close();
}

const textOf = (disk: MemoryDisk, path: string): string =>
  new TextDecoder().decode(disk.content(path));

t.test('files that no record names are moved to lost, whole and under a free name', async (t) => {
  const disk = await sealed();
  disk.makeFolder('lost');
  await put(disk, 'lost/00000077.seg', 'earlier');
  await put(disk, 'sealed/00000077.seg', 'sealed');
  await put(disk, 'log/00000000.log', 'log');
  const { report, manifest, catalog } = await open(disk);
  t.equal(catalog.totals().rows, 6);
  t.same(report.moved, ['sealed/00000077.seg', 'log/00000000.log']);
  t.same(report.removed, []);
  t.same(report.lost, [
    { path: 'lost/00000000.log', bytes: 3 },
    { path: 'lost/00000077.seg', bytes: 7 },
    { path: 'lost/00000077.seg.1', bytes: 6 },
  ]);
  await manifest.release();
  disk.crash({ type: 'all' });
  t.equal(textOf(disk, 'lost/00000077.seg.1'), 'sealed');
  t.equal(textOf(disk, 'lost/00000077.seg'), 'earlier');
  t.equal(textOf(disk, 'lost/00000000.log'), 'log');
  t.equal((await open(disk)).report.lost.length, 3, 'told at each start');
});

t.test('files that a record says are gone are unlinked, and unfinished ones', async (t) => {
  const disk = await sealed();
  await put(disk, 'log/00000001.log', 'a source');
  await put(disk, 'sealed/00000009.seg.new', 'half');
  // Also when the manifest is rewritten at the same start.
  const { report } = await open(disk, 1);
  t.same(report.removed, ['sealed/00000009.seg.new', 'log/00000001.log']);
  t.same([report.moved, report.lost, disk.list('lost')], [[], [], []]);
});

t.test('a store whose manifest is gone keeps all of its files and does not open', async (t) => {
  const whole = await sealed();
  for (const change of [
    async (disk: MemoryDisk, path: string) => disk.unlink(path),
    async (disk: MemoryDisk, path: string) => disk.damage(path, () => new Uint8Array()),
    async (disk: MemoryDisk, path: string) => disk.damage(path, (bytes) => bytes.subarray(0, 100)),
    async (disk: MemoryDisk, path: string) => disk.damage(path, (bytes) => bytes.fill(0)),
  ]) {
    const disk = whole.clone();
    for (const path of ['manifest', 'manifest.copy']) await change(disk, path);
    await t.rejects(open(disk), { code: 'CORRUPTION', message: /backup/ });
    t.same(disk.list('sealed'), ['00000003.seg']);
    const healed = whole.clone();
    await change(healed, 'manifest');
    const { report, catalog } = await open(healed);
    t.equal(catalog.totals().rows, 6);
    t.equal(report.healed.length, 1);
  }
});
