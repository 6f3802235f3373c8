import fc from 'fast-check';
import t from 'tap';
import { RecordFile } from '../../engine/base/record.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

async function write(disk: MemoryDisk, records: unknown[]): Promise<void> {
  const { file } = RecordFile.open(disk, 'r');
  await disk.syncFolder('');
  for (const record of records) await file.append(record);
  await file.close();
}

function read(disk: MemoryDisk): unknown[] {
  return RecordFile.open(disk.clone(), 'r').records;
}

t.test('records come back in their order, over several openings', async (t) => {
  const disk = new MemoryDisk();
  const record = { type: 'a', number: 2 ** 48 - 1, bytes: Uint8Array.of(1, 2), list: [1, 'x'] };
  await write(disk, [record, 'text']);
  await write(disk, [null, -1.5]);
  const [first, ...rest] = read(disk) as [typeof record, ...unknown[]];
  t.equal(first.number, 2 ** 48 - 1);
  t.same([...first.bytes], [1, 2]);
  t.same(rest, ['text', null, -1.5]);
});

t.test('appends at once are written one after the other', async (t) => {
  const disk = new MemoryDisk();
  const { file } = RecordFile.open(disk, 'r');
  await Promise.all([1, 2, 3].map((number) => file.append(number)));
  t.same(disk.trace, ['create r', ...Array(3).fill(['write r', 'sync r']).flat()]);
  t.same(read(disk), [1, 2, 3]);
});

t.test('what append resolved for survives a power loss', async (t) => {
  const disk = new MemoryDisk();
  await write(disk, ['a', 'b']);
  disk.crash({ type: 'all' });
  t.same(read(disk), ['a', 'b']);
});

t.test('a torn last record is cut, and the next one takes its place', async (t) => {
  const disk = new MemoryDisk();
  await write(disk, ['a', 'b', 'c'.repeat(1_000)]);
  const whole = disk.content('r').length;
  for (let cut = 1; cut < 1_000; cut += 13) {
    const torn = disk.clone();
    torn.damage('r', (bytes) => bytes.slice(0, whole - cut));
    const { records, cutBytes, file } = RecordFile.open(torn, 'r');
    t.same(records, ['a', 'b']);
    t.ok(cutBytes > 0);
    await file.append('d');
    torn.crash({ type: 'all' });
    const again = RecordFile.open(torn, 'r');
    t.same(again.records, ['a', 'b', 'd']);
    t.equal(again.cutBytes, 0);
  }
});

t.test('a bad record before a good one is corruption, wherever the damage is', async (t) => {
  const disk = new MemoryDisk();
  const records = ['first', 'second', { third: 3 }, 'last'];
  await write(disk, records);
  const { length } = disk.content('r');
  const lastStart = length - (8 + 1 + 'last'.length);
  fc.assert(
    fc.property(fc.nat(lastStart - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const bad = disk.clone();
      bad.damage('r', (bytes) => {
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        return bytes;
      });
      t.throws(() => read(bad), {
        code: 'CORRUPTION',
        message: /^r: record \d+ at \d+ is damaged/,
      });
    }),
  );
  for (let at = lastStart; at < length; at++) {
    const bad = disk.clone();
    bad.damage('r', (bytes) => bytes.fill(bytes[at] === 0 ? 1 : 0, at, at + 1));
    t.same(read(bad), records.slice(0, 3), 'the last one looks torn');
  }
});

t.test('a record at the place of another is none', async (t) => {
  const disk = new MemoryDisk();
  await write(disk, ['aa', 'bb']);
  const size = disk.content('r').length / 2;
  disk.damage('r', (bytes) => bytes.slice(size));
  t.same(read(disk), []);
});

t.test('a failed write can be tried again, a failed sync cannot', async (t) => {
  const disk = new MemoryDisk();
  const { file } = RecordFile.open(disk, 'r');
  await file.append('a');
  disk.faults = { failAtCall: disk.calls + 1 };
  await t.rejects(file.append('b'.repeat(100)), { code: 'IO' });
  await file.append('c');
  t.same(read(disk), ['a', 'c']);
  disk.faults = { failAtCall: disk.calls + 2 };
  await t.rejects(file.append('d'), { code: 'IO' });
  const syncs = disk.syncs;
  await t.rejects(file.append('e'), { code: 'IO', message: 'r could not be synced earlier' });
  t.equal(disk.syncs, syncs);
});

t.test('a closed file takes nothing', async (t) => {
  const disk = new MemoryDisk();
  const { file } = RecordFile.open(disk, 'r');
  const last = file.append('a');
  await file.close();
  await last;
  await t.rejects(file.append('b'), { code: 'CLOSED' });
  t.same(read(disk), ['a']);
});

t.test('what a killed process left unsynced is synced before anything follows it', async (t) => {
  for (let seed = 1; seed <= 50; seed++) {
    const disk = new MemoryDisk();
    await write(disk, ['a']);
    disk.faults = { failAtCall: disk.calls + 2 };
    const { file } = RecordFile.open(disk, 'r');
    await t.rejects(file.append('b'), { code: 'IO' });
    disk.crash({ type: 'none' });
    const next = RecordFile.open(disk, 'r');
    disk.faults = { crashAtCall: disk.calls + 3 };
    await next.file.append('c').catch(() => undefined);
    disk.crash({ type: 'random', seed });
    t.equal(read(disk)[0], 'a', `seed ${seed}`);
  }
});

t.test('a file takes the place of another whole, wherever it stops', async (t) => {
  const replace = async (crashAtCall: number): Promise<MemoryDisk> => {
    const disk = new MemoryDisk();
    await write(disk, ['old', 1, 2, 3]);
    disk.faults = { crashAtCall: disk.calls + crashAtCall };
    await RecordFile.replace(disk, 'r', ['new', 9]).catch(() => undefined);
    return disk;
  };
  for (let call = 1; call <= 6; call++) {
    for (let seed = 0; seed < 20; seed++) {
      const disk = await replace(call);
      disk.crash(seed === 0 ? { type: 'all' } : { type: 'random', seed });
      const records = JSON.stringify(read(disk));
      t.ok(['["old",1,2,3]', '["new",9]'].includes(records), `call ${call}: ${records}`);
    }
  }
  t.same(read(await replace(99)), ['new', 9]);
});

t.test('when the file that is to take the place cannot be made, the old one stays', async (t) => {
  const attempt = async (failAtCall: number): Promise<[unknown, MemoryDisk]> => {
    const disk = new MemoryDisk();
    await write(disk, ['old']);
    disk.faults = { failAtCall: disk.calls + failAtCall };
    const outcome = await RecordFile.replace(disk, 'r', ['new']).catch((error) => error.code);
    return [outcome, disk];
  };
  for (const call of [1, 2, 3, 4]) {
    const [outcome, disk] = await attempt(call);
    t.equal(outcome, false);
    t.same(read(disk), ['old']);
  }
  const [outcome] = await attempt(5);
  t.equal(outcome, 'IO', 'the new name may not last');
  t.equal((await attempt(6))[0], true);
});
