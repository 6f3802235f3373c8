import t from 'tap';
import { momentOf } from '../../engine/backup/moment.ts';
import {
  type CopyReport,
  copyStore,
  type StoreCopyOptions,
} from '../../engine/backup/store-copy.ts';
import { RecordFile } from '../../engine/base/record-file.ts';
import { readText, writeText } from '../../engine/base/text-file.ts';
import { checkStore } from '../../engine/store/check.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { finished, makeStore, sealAll, textsIn } from './stores.ts';

const SIDE = { records: ['keys', 'users'], texts: ['admin-token', 'audit.log'] };

function copy(
  from: MemoryDisk,
  to: MemoryDisk,
  options: Partial<StoreCopyOptions> = {},
): Promise<CopyReport> {
  const folders = { from: { root: '/from', disk: from }, to: { root: '/to', disk: to } };
  return finished(copyStore({ ...folders, side: SIDE, renews: true, ...options }));
}

t.test('a copy has what was visible at its moment, and no more', async (t) => {
  const { disk, rig } = await makeStore();
  const moment = momentOf(rig.opened);
  await rig.append('later', 3);
  const to = new MemoryDisk();
  const report = await copy(disk, to, { moment });
  t.match(report, { segments: 3, copied: 3, kept: 0, linked: 0, removed: 0 });
  const texts = await textsIn(to);
  t.equal(texts.length, 44);
  t.notOk(texts.some((text) => text.startsWith('later')));
  const { segments, leftovers, faults } = await finished(checkStore(to));
  t.same([leftovers, faults], [[], []]);
  t.ok(segments.every(({ damaged }) => damaged.length === 0));
  await rig.writer.close();
  await rig.opened.manifest.release();
  t.equal((await textsIn(disk)).length, 47, 'the store goes on');
});

t.test('a copy of a copy has the same, as has one of a store that nobody has open', async (t) => {
  const { disk } = await makeStore();
  disk.end();
  const before = await textsIn(disk);
  const one = new MemoryDisk();
  await copy(disk, one);
  t.same(await textsIn(one), before);
  const two = new MemoryDisk();
  await copy(one, two, { renews: false });
  t.same(await textsIn(two), before);
});

t.test('a later copy brings what is new and removes what is gone', async (t) => {
  const { disk, rig } = await makeStore();
  const to = new MemoryDisk();
  await copy(disk, to, { moment: momentOf(rig.opened) });
  t.match(await copy(disk, to, { moment: momentOf(rig.opened) }), { kept: 3, copied: 0 });
  await rig.append('e', 4);
  t.match(await copy(disk, to, { moment: momentOf(rig.opened) }), { kept: 2, copied: 1 });
  await rig.writer.close();
  await sealAll(disk, rig.opened);
  const report = await copy(disk, to, { moment: momentOf(rig.opened) });
  t.ok(report.removed > 0);
  t.equal((await textsIn(to)).length, 48);
});

t.test('a file of an earlier copy that is another one is copied again', async (t) => {
  const { disk, rig } = await makeStore();
  const to = new MemoryDisk();
  await copy(disk, to, { moment: momentOf(rig.opened) });
  to.damage('sealed/00000002.seg', (bytes) => bytes.fill(7, 64, 120));
  t.match(await copy(disk, to, { moment: momentOf(rig.opened) }), { kept: 2, copied: 1 });
  t.equal((await textsIn(to)).length, 44);
});

t.test('registries and texts come along', async (t) => {
  const { disk, rig } = await makeStore();
  const { file } = RecordFile.open(disk, 'keys');
  await file.append({ type: 'key' });
  await writeText(disk, 'admin-token', 'secret\n');
  const to = new MemoryDisk();
  await copy(disk, to, { moment: momentOf(rig.opened) });
  t.same(RecordFile.open(to, 'keys').records, [{ type: 'key' }]);
  t.equal(readText(to, 'admin-token'), 'secret\n');
  t.equal(readText(to, 'audit.log'), undefined);
  t.notOk(to.list('').includes('users'));
});

t.test('a folder with something else is refused and left as it is', async (t) => {
  const { disk } = await makeStore();
  disk.end();
  const other = (await makeStore()).disk;
  other.end();
  const names = other.list('sealed');
  await t.rejects(copy(disk, other), {
    code: 'USAGE',
    message: '/to holds another store than /from',
  });
  t.same(other.list('sealed'), names);
  const full = new MemoryDisk();
  await writeText(full, 'letter', 'dear');
  await t.rejects(copy(disk, full), {
    message: '/to is not empty; allowed: a new folder, or an earlier backup of the same store',
  });
  await t.rejects(copy(disk, disk.clone(), { renews: false }), {
    message: '/to holds a store; allowed: a new folder',
  });
});

t.test('a copy that stops anywhere is none, or the one before, and goes on later', async (t) => {
  const { disk, rig } = await makeStore();
  const earlier = new MemoryDisk();
  await copy(disk, earlier, { moment: momentOf(rig.opened) });
  await rig.append('e', 4);
  const moment = momentOf(rig.opened);
  let stops = 0;
  for (const start of [new MemoryDisk(), earlier]) {
    for (let call = 1; ; call++) {
      const to = start.clone();
      to.faults = { crashAtCall: call };
      const isOver = await copy(disk, to, { moment }).then(
        () => true,
        () => false,
      );
      to.crash({ type: 'random', seed: call });
      stops++;
      const hasManifest = to.sizeOf('manifest') !== undefined;
      if (start === earlier) {
        const count = (await textsIn(to.clone())).length;
        t.ok(count === 44 || count === 48, `call ${call}: ${count} rows`);
      } else if (hasManifest && (to.sizeOf('manifest') ?? 0) > 0) {
        t.equal((await textsIn(to.clone())).length, 48, `call ${call}`);
      }
      await copy(disk, to, { moment });
      t.equal((await textsIn(to)).length, 48, `after call ${call}`);
      if (isOver) break;
    }
  }
  t.comment(`${stops} stops`);
});
