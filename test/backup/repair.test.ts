import t from 'tap';
import { type RepairReport, repairStore } from '../../engine/backup/repair.ts';
import { openStore, Rig } from '../store/rig.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { finished, makeStore, sealAll, textsIn } from './stores.ts';

const MANIFESTS = ['manifest', 'manifest.copy'];

function repair(disk: MemoryDisk): Promise<RepairReport> {
  disk.end();
  return finished(repairStore(disk, 1_000, ['keys']));
}

async function stoppedStore(): Promise<MemoryDisk> {
  const { disk } = await makeStore();
  disk.crash({ type: 'all' });
  return disk;
}

/** Puts a file of another disk into this one. */
async function put(disk: MemoryDisk, path: string, from: MemoryDisk): Promise<void> {
  const file = disk.open(path, 'create');
  await file.write([from.content(path)], 0);
  await file.sync();
  file.close();
}

t.test('a manifest that is well is left alone', async (t) => {
  const disk = await stoppedStore();
  const before = disk.content('manifest');
  t.match(await repair(disk), { fault: undefined, segments: 0, moved: [] });
  t.same(disk.content('manifest'), before);
});

t.test('without a manifest all events are there again, with new ids', async (t) => {
  const disk = await stoppedStore();
  const before = await textsIn(disk.clone());
  for (const path of MANIFESTS) await disk.unlink(path);
  await t.rejects(openStore(disk), { code: 'CORRUPTION', message: /logseam repair/ });
  const report = await repair(disk);
  t.match(report, { fault: 'there is no manifest', segments: 3, rows: 44, moved: [] });
  t.equal(report.hasNewIds, true);
  t.same(await textsIn(disk), before);
});

t.test('behind damage in both copies the ids are as before', async (t) => {
  const disk = await stoppedStore();
  const before = await textsIn(disk.clone());
  const { manifest } = await openStore(disk.clone());
  for (const path of MANIFESTS) disk.damage(path, (bytes) => bytes.fill(0, 150, 160));
  await t.rejects(openStore(disk), { code: 'CORRUPTION' });
  t.match(await repair(disk), { rows: 44, hasNewIds: false });
  t.same(disk.list('lost'), MANIFESTS);
  const opened = await openStore(disk);
  t.same(opened.manifest.secret, manifest.secret);
  t.ok(opened.catalog.end >= 44, 'sequences go on above those that were given');
  await opened.manifest.release();
  t.same(await textsIn(disk), before);
});

t.test('sources whose rows are sealed go to lost, so that no event is there twice', async (t) => {
  const disk = new MemoryDisk();
  const rig = await Rig.open(disk);
  await rig.append('a', 30);
  await rig.writer.close();
  const before = disk.clone();
  await sealAll(disk, rig.opened);
  t.same(disk.list('log'), []);
  await put(disk, 'log/00000001.log', before);
  for (const path of MANIFESTS) await disk.unlink(path);
  const { moved, rows } = await repair(disk);
  t.equal(rows, 30);
  t.same(moved, [{ path: 'log/00000001.log', reason: 'its rows are in sealed/00000002.seg' }]);
  t.equal((await textsIn(disk)).length, 30);
});

t.test('of segments that were sealed together and not all written the sources stay', async (t) => {
  const disk = new MemoryDisk();
  const rig = await Rig.open(disk);
  await rig.append('a', 5_000);
  await rig.append('b', 5_000);
  await rig.writer.close();
  const before = disk.clone();
  await sealAll(disk, rig.opened);
  t.ok(disk.list('sealed').length > 1);
  await put(disk, 'log/00000001.log', before);
  await disk.unlink('sealed/00000003.seg');
  for (const path of MANIFESTS) await disk.unlink(path);
  t.match(await repair(disk), {
    rows: 10_000,
    moved: [
      {
        path: 'sealed/00000002.seg',
        reason: 'it holds only a part of the rows of log/00000001.log',
      },
    ],
  });
  t.equal((await textsIn(disk)).length, 10_000);
});

t.test('files that cannot be read and those of other stores go to lost', async (t) => {
  const disk = await stoppedStore();
  const other = await stoppedStore();
  await other.rename('log/00000003.log', 'log/00000009.log');
  await put(disk, 'log/00000009.log', other);
  disk.damage('log/00000004.log', (bytes) => bytes.fill(0, 0, 64));
  for (const path of MANIFESTS) await disk.unlink(path);
  const { moved, rows } = await repair(disk);
  t.equal(rows, 42);
  t.match(moved, [
    { path: 'log/00000004.log', reason: 'its head is damaged' },
    { path: 'log/00000009.log' },
  ]);
  t.equal((await textsIn(disk)).length, 42);
});

t.test('a folder without segments is refused', async (t) => {
  await t.rejects(repair(new MemoryDisk()), { code: 'USAGE' });
});

t.test('a repair that stops anywhere can be done again', async (t) => {
  const broken = await stoppedStore();
  const before = await textsIn(broken.clone());
  for (const path of MANIFESTS) broken.damage(path, (bytes) => bytes.fill(0, 150, 160));
  for (let call = 1; ; call++) {
    const disk = broken.clone();
    disk.faults = { crashAtCall: call };
    const isOver = await repair(disk).then(
      () => true,
      () => false,
    );
    disk.crash({ type: 'random', seed: call });
    await repair(disk);
    t.same(await textsIn(disk), before, `call ${call}`);
    if (isOver) break;
  }
});
