import {
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Disk, openDisk } from '../../engine/base/file.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'file-'));
t.teardown(() => rmSync(root, { recursive: true }));

const disks: [string, Disk][] = [
  ['the real disk', openDisk(join(root, 'a', 'b'))],
  ['the disk in memory', new MemoryDisk()],
];

for (const [name, disk] of disks) {
  t.test(`${name} keeps files`, async (t) => {
    disk.makeFolder('folder');
    disk.makeFolder('folder');
    t.same(disk.list('folder'), []);
    t.same(disk.list('none'), []);
    t.throws(() => disk.open('folder/x', 'read'), { code: 'IO' });
    t.throws(() => disk.open('folder/x', 'write'), { code: 'IO' });
    const file = disk.open('folder/x', 'create');
    t.throws(() => disk.open('folder/x', 'create'), { code: 'IO' });
    await file.write([Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)], 0);
    await file.write([Uint8Array.of(9, 9)], 2);
    t.equal(file.bytes(), 4);
    await file.sync();
    await disk.syncFolder('folder');
    const target = new Uint8Array(8);
    t.equal(file.read(target, 1), 3);
    t.same([...target], [2, 9, 9, 0, 0, 0, 0, 0]);
    await file.truncate(1);
    t.equal(file.bytes(), 1);
    file.close();
    file.close();
    t.throws(() => file.bytes(), { code: 'CLOSED' });
    await disk.rename('folder/x', 'folder/y');
    t.same(disk.list('folder'), ['y']);
    t.same(disk.list(''), ['folder']);
    await t.rejects(disk.unlink('folder/x'), { code: 'IO' });
    await disk.unlink('folder/y');
    t.same(disk.list('folder'), []);
    await disk.syncFolder('');
  });
}

t.test('writes to a file that is made so are synced', async (t) => {
  const memory = new MemoryDisk();
  const bytes = Uint8Array.of(1, 2);
  for (const disk of [memory, openDisk(root)]) {
    const file = disk.open('synced', 'create-synced');
    t.throws(() => disk.open('synced', 'create-synced'), { code: 'IO' });
    await file.write([bytes], 0);
    await file.write([bytes], 2);
    await file.write([bytes, bytes], 4, true);
    t.equal(file.bytes(), 8);
    if (disk === memory) continue;
    const fd = readdirSync('/proc/self/fd').find((each) => linkOf(each) === join(root, 'synced'));
    const [, flags] =
      /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    t.ok(Number.parseInt(flags, 8) & constants.O_DSYNC, `flags ${flags}`);
    file.close();
  }
  await memory.syncFolder('');
  memory.crash({ type: 'all' });
  t.same([...memory.content('synced')], [1, 2, 1, 2, 1, 2, 1, 2]);
});

/** The file of a descriptor; nothing when it was closed meanwhile. */
function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

for (const [name, disk] of disks) {
  t.test(`${name} gives a file to one descriptor at a time`, async (t) => {
    const first = disk.open('taken', 'create');
    const second = disk.open('taken', 'write');
    t.ok(first.lock());
    t.ok(first.lock(), 'it has it already');
    t.notOk(second.lock());
    const reader = disk.open('taken', 'read');
    t.throws(() => reader.lock(), { code: 'IO' });
    reader.close();
    t.notOk(second.lock(), 'another that is closed frees nothing');
    await disk.rename('taken', 'moved');
    const third = disk.open('moved', 'write');
    t.notOk(third.lock(), 'a rename frees nothing');
    third.close();
    first.close();
    t.ok(second.lock());
    second.close();
  });

  t.test(`${name} tells that a path is still the file that was opened`, async (t) => {
    const file = disk.open('here', 'create');
    await file.write([Uint8Array.of(1, 2, 3)], 0);
    t.ok(file.standsAt('here', 3));
    t.notOk(file.standsAt('here', 2), 'it has grown');
    t.notOk(file.standsAt('none', 3));
    await disk.rename('here', 'there');
    t.notOk(file.standsAt('here', 3));
    t.ok(file.standsAt('there', 3));
    const other = disk.open('here', 'create');
    await other.write([Uint8Array.of(1, 2, 3)], 0);
    t.notOk(file.standsAt('here', 3), 'an equal one in its place is another');
    other.close();
    file.close();
    t.throws(() => file.standsAt('there', 3), { code: 'CLOSED' });
  });
}

t.test('what the real disk makes is for its owner only', async (t) => {
  const disk = openDisk(join(root, 'c'));
  const file = disk.open('x', 'create');
  file.close();
  t.equal(statSync(join(root, 'c')).mode & 0o777, 0o700);
  t.equal(statSync(join(root, 'c', 'x')).mode & 0o777, 0o600);
});
