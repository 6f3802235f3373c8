import fc from 'fast-check';
import t from 'tap';
import { type OpenedRecords, RecordFile, readRecords } from '../../engine/base/record-file.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const COPIES = ['r', 'r.copy'] as const;

async function write(disk: MemoryDisk, records: readonly unknown[]): Promise<void> {
  const { file } = await settled(disk);
  for (const record of records) await file.append(record);
  await file.close();
}

function read(disk: MemoryDisk): unknown[] {
  return readRecords(disk, 'r').records;
}

async function settled(disk: MemoryDisk): Promise<OpenedRecords> {
  const opened = RecordFile.open(disk, 'r');
  await opened.file.settle();
  return opened;
}

async function stored(records: readonly unknown[]): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  await write(disk, records);
  return disk;
}

const RECORDS = ['first', 'second', { third: 3 }, 'last'];
const PREFIX_BYTES = 16;

t.test('records come back in their order, over several openings', async (t) => {
  const disk = new MemoryDisk();
  const record = { type: 'a', number: 2 ** 48 - 1, bytes: Uint8Array.of(1, 2), list: [1, 'x'] };
  await write(disk, [record, 'text']);
  await write(disk, [null, -1.5]);
  const [first, ...rest] = read(disk) as [typeof record, ...unknown[]];
  t.equal(first.number, 2 ** 48 - 1);
  t.same([...first.bytes], [1, 2]);
  t.same(rest, ['text', null, -1.5]);
  t.same(disk.content('r'), disk.content('r.copy'));
});

t.test('opening makes nothing, settling both copies', async (t) => {
  const disk = new MemoryDisk();
  const { file, records } = RecordFile.open(disk, 'r');
  t.same([records, disk.list('')], [[], []]);
  await file.settle();
  disk.crash({ type: 'all' });
  t.same(disk.list(''), [...COPIES]);
});

t.test('an append is in one copy before it is written to the other', async (t) => {
  const disk = await stored([]);
  const { file } = await settled(disk);
  const before = disk.trace.length;
  await Promise.all([1, 2, 3].map((number) => file.append(number)));
  const each = ['write r', 'sync r', 'write r.copy', 'sync r.copy'];
  t.same(disk.trace.slice(before), [...each, ...each, ...each]);
  t.same(read(disk), [1, 2, 3]);
});

t.test('a bit that is flipped anywhere in one copy is healed from the other', async (t) => {
  const whole = await stored(RECORDS);
  const content = whole.content('r');
  for (const [place, path] of COPIES.entries()) {
    for (let at = 0; at < content.length; at++) {
      const disk = whole.clone();
      disk.damage(path, (bytes) => bytes.fill((bytes[at] ?? 0) ^ (1 << (at % 8)), at, at + 1));
      const { file, records, remarks } = await settled(disk);
      await file.close();
      t.same(records, RECORDS);
      const isLast = at >= content.length - (PREFIX_BYTES + 1 + 'last'.length);
      // The last record of the second copy may be what a stop has left.
      t.same(remarks, isLast && place > 0 ? [] : [`${path} was damaged at ${at}`]);
      disk.crash({ type: 'all' });
      for (const each of COPIES) t.same(disk.content(each), content);
    }
  }
});

t.test('a copy that is cut anywhere, or gone, is healed from the other', async (t) => {
  const whole = await stored(RECORDS);
  const content = whole.content('r');
  for (const path of COPIES) {
    for (let length = -1; length < content.length; length++) {
      const disk = whole.clone();
      if (length < 0) await disk.unlink(path);
      else disk.damage(path, (bytes) => bytes.subarray(0, length));
      const { file, records, remarks } = await settled(disk);
      t.same(records, RECORDS);
      if (path === 'r') t.same(remarks, [length < 0 ? 'r was missing' : `r was cut at ${length}`]);
      await file.append('more');
      disk.crash({ type: 'all' });
      t.same(read(disk), [...RECORDS, 'more']);
      t.same(disk.content('r'), disk.content('r.copy'));
    }
  }
});

t.test(
  'damage at several places of both copies is healed where one of them is whole',
  async (t) => {
    const disk = await stored(RECORDS);
    const content = disk.content('r');
    const second = PREFIX_BYTES + 1 + 'first'.length;
    disk.damage('r', (bytes) => bytes.fill(0xff, 0, 3));
    disk.damage('r.copy', (bytes) => bytes.fill(0xff, second, second + 9));
    const { records, remarks } = await settled(disk);
    t.same(records, RECORDS);
    t.same(remarks, ['r was damaged at 0', `r.copy was damaged at ${second}`]);
    for (const path of COPIES) t.same(disk.content(path), content);
  },
);

t.test('a record that is damaged in both copies is refused, and nothing is written', async (t) => {
  const whole = await stored(RECORDS);
  const { length } = whole.content('r');
  const starts = [0, 22, 45, 71, length];
  fc.assert(
    fc.property(fc.nat(3), fc.nat(), fc.nat(), fc.nat(7), (number, left, right, bit) => {
      const disk = whole.clone();
      const [start, end] = [starts[number] ?? 0, starts[number + 1] ?? 0];
      for (const [path, offset] of [
        ['r', left],
        ['r.copy', right],
      ] as const) {
        disk.damage(path, (bytes) => {
          bytes[start + (offset % (end - start))] ^= 1 << bit;
          return bytes;
        });
      }
      const calls = disk.calls;
      t.throws(() => RecordFile.open(disk, 'r'), {
        code: 'CORRUPTION',
        message: new RegExp(`^r and r.copy: record ${number} at ${start}.*from a backup`, 's'),
      });
      t.equal(disk.calls, calls);
    }),
  );
});

t.test('a copy that was cut is no witness when the other has more', async (t) => {
  const disk = await stored(RECORDS);
  disk.damage('r', (bytes) => bytes.subarray(0, 22));
  disk.damage('r.copy', (bytes) => bytes.fill(0xff, 30, 31));
  t.throws(() => read(disk), { code: 'CORRUPTION', message: /record 1 at 22 .* at 45/ });
});

t.test('what a stop tore in one copy is cut, and the next record takes its place', async (t) => {
  const disk = await stored(['a', 'b', 'c'.repeat(1_000)]);
  const { length } = disk.content('r');
  const before = 2 * (PREFIX_BYTES + 2);
  for (let cut = 1; cut < 1_000; cut += 13) {
    const torn = disk.clone();
    torn.damage('r', (bytes) => bytes.subarray(0, length - cut));
    torn.damage('r.copy', (bytes) => bytes.subarray(0, before));
    const { records, remarks, file } = await settled(torn);
    t.same([records, remarks], [['a', 'b'], []]);
    await file.append('d');
    torn.crash({ type: 'all' });
    t.same(read(torn), ['a', 'b', 'd']);
  }
  disk.damage('r.copy', (bytes) => bytes.subarray(0, before));
  const { records, remarks } = await settled(disk);
  t.same([records.length, remarks], [3, []], 'one that only one copy has counts');
  t.same(disk.content('r.copy'), disk.content('r'));
});

t.test('copies of different files are refused', async (t) => {
  const disk = await stored(['a', 'b']);
  const other = await stored(['a', 'c']);
  disk.damage('r.copy', () => other.content('r'));
  t.throws(() => read(disk), { code: 'CORRUPTION', message: /record 1 at 18 differs/ });
});

t.test('a record of another file is none, though it has the right number', async (t) => {
  const disk = await stored(['a', 'b']);
  const other = await stored(['x', 'c']);
  const end = PREFIX_BYTES + 2;
  disk.damage('r', (bytes) =>
    Buffer.concat([bytes.subarray(0, end), other.content('r').subarray(end)]),
  );
  disk.damage('r.copy', (bytes) => bytes.subarray(0, end));
  t.same(read(disk), ['a']);
});

t.test('after a stop at any call all that was acknowledged is there, in both copies', async (t) => {
  for (let call = 1; ; call++) {
    for (let seed = 0; seed < 12; seed++) {
      const disk = new MemoryDisk();
      const acked: unknown[] = [];
      disk.faults = { crashAtCall: call };
      const run = async (): Promise<void> => {
        const { file } = RecordFile.open(disk, 'r');
        for (let number = 0; number < 3; number++) {
          await file.append(number);
          acked.push(number);
        }
      };
      const ended = await run().then(
        () => true,
        () => false,
      );
      disk.crash(seed === 0 ? { type: 'none' } : { type: 'random', seed });
      const { file, records, remarks } = await settled(disk);
      const extra = records.length - acked.length;
      if (extra < 0 || extra > 1) t.fail(`call ${call}, seed ${seed}: ${records.length}`);
      t.same(remarks, []);
      await file.append('next');
      disk.crash({ type: 'all' });
      t.same(read(disk), [...records, 'next']);
      t.same(disk.content('r'), disk.content('r.copy'));
      if (ended && seed === 11) return;
    }
  }
});

t.test(
  'after any failed call the next append succeeds, and no failed file is synced',
  async (t) => {
    for (let call = 1; call <= 4; call++) {
      const disk = await stored(['a']);
      const { file } = await settled(disk);
      const from = disk.trace.length;
      disk.faults = { failAtCall: disk.calls + call };
      await t.rejects(file.append('b'.repeat(100)), { code: 'IO' });
      const failed = disk.trace.at(-1) ?? '';
      await file.append('c');
      t.same(read(disk), ['a', 'c']);
      const syncs = disk.trace.slice(from).filter((each) => each === failed);
      if (failed.startsWith('sync')) {
        const path = failed.slice('sync '.length);
        const renamed = disk.trace.indexOf(`rename ${path}.new ${path}`, from);
        t.ok(renamed > 0, `${path} was made anew`);
        t.equal(disk.trace.slice(from, renamed).filter((each) => each === failed).length, 1);
      } else t.equal(syncs.length, 2, failed);
      disk.crash({ type: 'random', seed: call });
      t.same(read(disk), ['a', 'c']);
    }
  },
);

t.test('while the disk fails each append rejects, and a stop loses nothing', async (t) => {
  for (let seed = 0; seed < 40; seed++) {
    const disk = new MemoryDisk();
    const { file } = await settled(disk);
    await file.append('a');
    disk.faults = { failFromCall: disk.calls + 1 + (seed % 5) };
    for (let turn = 0; turn < 3; turn++) await file.append(turn).catch(() => undefined);
    if (seed % 2 === 0) {
      disk.crash({ type: 'random', seed });
      t.equal(read(disk)[0], 'a');
      t.ok(read(disk).length <= 3);
      continue;
    }
    disk.faults = {};
    await file.append('z');
    disk.crash({ type: 'all' });
    const records = read(disk);
    t.same([records[0], records.at(-1)], ['a', 'z']);
  }
});

t.test('on a full disk one whole copy is enough to start, and both to append', async (t) => {
  const disk = await stored(['a', 'b', 'c']);
  disk.damage('r', (bytes) => bytes.fill(0xff, 0, 4));
  disk.full = true;
  const { file, records } = await settled(disk);
  t.same(records, ['a', 'b', 'c']);
  await t.rejects(file.append('d'), { code: 'IO' });
  disk.full = false;
  await file.append('e');
  t.same(read(disk), ['a', 'b', 'c', 'e']);
  t.same(disk.content('r'), disk.content('r.copy'));
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

/** A file of four records of which the call `crashAtCall` of a rewriting is refused, as all after it. */
async function rewritten(faults: (calls: number) => MemoryDisk['faults']): Promise<MemoryDisk> {
  const disk = await stored(['old', 1, 2, 3]);
  const { file } = await settled(disk);
  disk.faults = faults(disk.calls);
  await file.rewrite(['new', 9]).catch(() => undefined);
  return disk;
}

t.test('a rewriting leaves the old records or the new ones, wherever it stops', async (t) => {
  const seen = new Set<string>();
  for (let call = 1; call <= 12; call++) {
    for (let seed = 0; seed < 20; seed++) {
      const disk = await rewritten((calls) => ({ crashAtCall: calls + call }));
      disk.crash(seed === 0 ? { type: 'none' } : { type: 'random', seed });
      const { file, records, remarks } = await settled(disk);
      seen.add(JSON.stringify(records));
      t.same(remarks, []);
      await file.append('next');
      disk.crash({ type: 'all' });
      t.same(read(disk), [...records, 'next']);
      t.same(disk.content('r'), disk.content('r.copy'));
    }
  }
  t.same([...seen].sort(), ['["new",9]', '["old",1,2,3]']);
});

t.test('a rewriting that fails leaves a file that takes appends', async (t) => {
  for (let call = 1; call <= 9; call++) {
    const disk = await stored(['old', 1, 2, 3]);
    const { file } = await settled(disk);
    disk.faults = { failAtCall: disk.calls + call };
    const done = await file.rewrite(['new', 9]);
    t.equal(done, false, `call ${call}`);
    await file.append('next');
    disk.crash({ type: 'all' });
    const records = JSON.stringify(read(disk));
    t.ok(['["old",1,2,3,"next"]', '["new",9,"next"]'].includes(records), records);
  }
});
