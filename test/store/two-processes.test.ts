import t from 'tap';
import { RecordFile } from '../../engine/base/record-file.ts';
import { openCatalog } from '../../engine/store/catalog.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { Rig } from './rig.ts';

/** Changes of a file behind the back of the process that writes it. */
const CHANGES: Readonly<Record<string, (disk: MemoryDisk, path: string) => Promise<void>>> = {
  removed: (disk, path) => disk.unlink(path),
  'moved away': (disk, path) => disk.rename(path, 'elsewhere'),
  'replaced by its copy': replaceByCopy,
  longer: async (disk, path) => disk.damage(path, (bytes) => Buffer.concat([bytes, bytes])),
  emptied: async (disk, path) => disk.damage(path, () => new Uint8Array(0)),
};

async function replaceByCopy(disk: MemoryDisk, path: string): Promise<void> {
  const content = disk.content(path);
  await disk.rename(path, 'elsewhere');
  const copy = disk.open(path, 'create');
  await copy.write([content], 0);
  copy.close();
}

/** The start of a second process while the first one runs. */
const startSecond = (disk: MemoryDisk) => openCatalog({ disk, nowMs: 1 });

for (const [what, change] of Object.entries(CHANGES)) {
  t.test(`nothing is written to a record file that was ${what}`, async (t) => {
    for (const path of ['r', 'r.copy']) {
      const disk = new MemoryDisk();
      const { file } = RecordFile.open(disk, 'r');
      await file.append('a');
      await change(disk, path);
      const contents = () => disk.list('').map((name) => [name, disk.content(name)]);
      const left = contents();
      const message = new RegExp(`^${path} was removed, replaced`);
      await t.rejects(file.append('b'), { code: 'IO', message });
      t.same(contents(), left);
    }
  });

  t.test(`a group for a log segment that was ${what} is refused, and rows go on`, async (t) => {
    const one = await Rig.open(new MemoryDisk());
    await one.append('a', 1);
    await change(one.disk, 'log/00000001.log');
    await t.rejects(one.append('b', 1), { code: 'IO', message: /was removed, replaced/ });
    one.nowMs += 10_000;
    await one.append('c', 1);
    t.equal(one.groups.at(-1)?.segment, 2);
    t.notOk(
      one.groups.some(({ usage }) => usage[0]?.events !== 1),
      'b was never told of',
    );
    t.equal(one.groups.length, 2);
  });
}

t.test('a second process is refused by the manifest', async (t) => {
  const one = await Rig.open(new MemoryDisk());
  await t.rejects(startSecond(one.disk), {
    code: 'USAGE',
    message: 'manifest is in use by another process',
  });
  await one.append('a', 1);
  t.same([...one.shown()], [['a', 1]]);
});

t.test(
  'a second process that has a copy of the manifest is refused by the open segment',
  async (t) => {
    const one = await Rig.open(new MemoryDisk());
    await one.append('a', 1);
    const before = one.disk.content('manifest');
    for (const path of ['manifest', 'manifest.copy']) await replaceByCopy(one.disk, path);
    await t.rejects(startSecond(one.disk), {
      code: 'USAGE',
      message: 'log/00000001.log is in use by another process',
    });
    t.same(one.disk.content('manifest'), before, 'nothing was written');
  },
);
