import t from 'tap';
import { RecordFile } from '../../engine/base/record-file.ts';
import { type CheckReport, checkStore } from '../../engine/store/check.ts';
import { makeStore, sealAll } from '../backup/stores.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { Rig } from './rig.ts';

/** A store of real blocks: a sealed segment of 35 rows, a closed log segment of 7, an open one of 2. */
async function store(): Promise<MemoryDisk> {
  const { disk } = await makeStore();
  disk.crash({ type: 'all' });
  return disk;
}

async function checked(disk: MemoryDisk): Promise<CheckReport> {
  const checking = checkStore(disk, ['keys'], ['users']);
  for (;;) {
    const { done, value } = await checking.next();
    if (done === true) return value;
  }
}

t.test('what is whole is told so, and nothing is written', async (t) => {
  const disk = await store();
  disk.open('sealed/00000099.seg.new', 'create');
  const names = [...disk.list('log'), ...disk.list('sealed')];
  const manifest = disk.content('manifest');
  const { segments, leftovers } = await checked(disk);
  t.match(segments, [
    { segment: 2, sealed: true, rows: 35, blocks: 1, damaged: [] },
    { segment: 3, sealed: false, rows: 7, damaged: [] },
    { segment: 4, sealed: false, rows: 2, damaged: [] },
  ]);
  t.same(leftovers, ['sealed/00000099.seg.new']);
  t.same([...disk.list('log'), ...disk.list('sealed')], names);
  t.same(disk.content('manifest'), manifest);
});

t.test('a flipped bit anywhere but in padding is found, and the segment named', async (t) => {
  const whole = await store();
  for (const path of ['sealed/00000002.seg', 'log/00000003.log']) {
    const bytes = whole.content(path);
    let missed = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      if (bytes[at] === 0) continue;
      const disk = whole.clone();
      disk.damage(path, (content) => {
        content[at] ^= 1;
        return content;
      });
      const { segments } = await checked(disk);
      const damaged = segments.filter((segment) => segment.damaged.length > 0);
      if (damaged.length === 0) missed++;
      else t.equal(damaged.length, 1);
    }
    t.comment(`${path}: ${missed} of ${Math.ceil(bytes.length / 7)} places were not found`);
    t.equal(missed, 0, path);
  }
});

t.test('a file that is gone or short is damage', async (t) => {
  const whole = await store();
  for (const [path, segment] of [
    ['sealed/00000002.seg', 2],
    ['log/00000003.log', 3],
  ] as const) {
    const short = whole.clone();
    short.damage(path, (bytes) => bytes.subarray(0, bytes.length - 64));
    const gone = whole.clone();
    await gone.unlink(path);
    for (const disk of [short, gone]) {
      const damaged = (await checked(disk)).segments.filter((each) => each.damaged.length > 0);
      t.match(damaged, [{ segment }]);
    }
  }
});

t.test('a folder without a manifest, and one with a damaged one, are refused', async (t) => {
  await t.rejects(checked(new MemoryDisk()), { code: 'USAGE' });
  const disk = await store();
  for (const path of ['manifest', 'manifest.copy']) {
    disk.damage(path, (bytes) => {
      bytes[20] ^= 1;
      return bytes;
    });
  }
  await t.rejects(checked(disk), { code: 'CORRUPTION' });
});

t.test('a manifest that lost the record of a sealing is found out by a start', async (t) => {
  const disk = new MemoryDisk();
  const rig = await Rig.open(disk);
  await rig.append('a', 5);
  await rig.writer.close();
  const { length } = disk.content('manifest');
  await sealAll(disk, rig.opened);
  await rig.opened.manifest.release();
  for (const path of ['manifest', 'manifest.copy']) {
    disk.damage(path, (bytes) => bytes.subarray(0, length));
  }
  await t.rejects(Rig.open(disk), {
    code: 'CORRUPTION',
    message: /^segment 1 has no file, and sealed.00000002.seg is not in the manifest/,
  });
  t.same(disk.list('sealed'), ['00000002.seg'], 'it is not removed');
});

t.test('damage in one copy of a record file is told, and a head of another folder', async (t) => {
  const whole = await store();
  for (const [path, change] of [
    ['manifest', (bytes: Uint8Array) => bytes.fill(1, 4, 5)],
    ['manifest.copy', (bytes: Uint8Array) => bytes.subarray(0, 20)],
  ] as const) {
    const disk = whole.clone();
    disk.damage(path, change);
    const { faults } = await checked(disk);
    t.equal(faults.length, 1);
    t.match(faults[0], path);
  }
  for (const name of ['keys', 'users']) {
    const registry = whole.clone();
    const { file } = RecordFile.open(registry, name);
    for (const record of ['a', 'b']) await file.append(record);
    await file.close();
    t.same((await checked(registry)).faults, []);
    for (const path of [name, `${name}.copy`]) {
      registry.damage(path, (bytes) => bytes.fill(1, 4, 5));
      t.match((await checked(registry)).faults, [new RegExp(`${name}.*(damaged|record 0 at 0)`)]);
    }
  }
  const other = await store();
  const disk = whole.clone();
  disk.damage('sealed/00000002.seg', () => other.content('sealed/00000002.seg'));
  const [sealed] = (await checked(disk)).segments;
  t.match(sealed?.damaged, [{ offset: 0 }]);
});
