import t from 'tap';
import { type DiskFailure, watchDisk } from '../engine/base/disk-watch.ts';
import { DiskHealth } from '../server/disk-health.ts';
import type { LogFields } from '../server/log.ts';
import { MemoryDisk } from './support/memory-disk.ts';

t.test('every refused change is told, whoever handles its error; reading is not', async (t) => {
  const disk = new MemoryDisk();
  const failures: DiskFailure[] = [];
  const watched = watchDisk(disk, (failure) => failures.push(failure));
  watched.makeFolder('log');
  const file = watched.open('log/a', 'create');
  await file.write([Uint8Array.of(1)], 0);
  await file.sync();
  t.ok(file.standsAt('log/a', 1));
  t.throws(() => watched.open('none', 'read'), { code: 'IO' });
  t.same(failures, []);
  disk.faults = { failFromCall: 0 };
  await t.rejects(file.write([Uint8Array.of(1)], 1));
  await t.rejects(file.sync());
  await t.rejects(file.truncate(0));
  await t.rejects(watched.rename('log/a', 'log/b'));
  await t.rejects(watched.unlink('log/a'));
  await t.rejects(watched.syncFolder('log'));
  t.throws(() => watched.open('log/c', 'create'));
  t.throws(() => watched.makeFolder('sealed'));
  t.notOk(file.standsAt('log/a', 2));
  t.same(
    failures.map(({ op, code }) => `${op} ${code}`),
    [
      ...['write EIO', 'sync EIO', 'truncate EIO', 'rename EIO', 'unlink EIO', 'sync EIO'],
      ...['open EIO', 'folder EIO', 'changed changed from outside'],
    ],
  );
});

t.test(
  'a failing disk is told of, a line a kind and 10 s, until a write works again',
  async (t) => {
    const disk = new MemoryDisk();
    disk.makeFolder('log');
    const lines: LogFields[] = [];
    const states: boolean[] = [];
    let nowMs = 5;
    const log = { error: tell, info: tell, debug: tell };
    function tell(message: string, fields: LogFields = {}): void {
      lines.push({ message, ...fields });
    }
    const health = new DiskHealth(disk, log, () => nowMs);
    health.watch((failing) => states.push(failing));
    health.tick();
    t.equal(disk.calls, 1, 'nothing is tried while all is well');
    const failure: DiskFailure = { op: 'sync', path: 'manifest', code: 'EIO' };
    for (let n = 0; n < 5; n++) health.fail(failure);
    health.fail({ op: 'open', path: 'log/00000001.log', code: 'EROFS' });
    t.equal(lines.length, 2);
    t.match(lines[0], { op: 'sync', path: 'manifest', code: 'EIO', suppressed: 0 });
    nowMs += 10_000;
    health.fail(failure);
    t.match(lines[2], { op: 'sync', suppressed: 4 });
    t.same(health.counts(), [
      ['sync', 6],
      ['open', 1],
    ]);
    disk.faults = { failFromCall: 0 };
    health.tick();
    await health.settled();
    t.ok(health.failing);
    disk.faults = {};
    health.tick();
    await health.settled();
    t.notOk(health.failing);
    t.same(states, [true, false]);
    t.same(disk.list('log'), []);
    t.match(lines.at(-1), { message: 'the disk takes changes again' });
  },
);
