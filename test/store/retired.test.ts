import t from 'tap';
import { RetiredFiles } from '../../engine/store/retired.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

function withFiles(count: number) {
  const disk = new MemoryDisk();
  disk.makeFolder('log');
  for (let segment = 1; segment <= count; segment++) {
    disk.open(`log/0000000${segment}.log`, 'create');
  }
  const unlinked: number[] = [];
  const errors: unknown[] = [];
  const retired = new RetiredFiles(
    disk,
    (files) => unlinked.push(...files.map(({ segment }) => segment)),
    (error) => errors.push(error),
  );
  const retire = (...segments: number[]): void =>
    retired.retire(segments.map((segment) => ({ sealed: false, segment })));
  return { disk, retired, unlinked, errors, retire };
}

t.test('a file that no snapshot names is unlinked at once', async (t) => {
  const { disk, retired, unlinked, retire } = withFiles(2);
  retire(1, 2);
  await retired.settled();
  t.same(unlinked, [1, 2]);
  t.same(disk.list('log'), []);
});

t.test('a file waits for the snapshots that name it, and for no later ones', async (t) => {
  const { disk, retired, unlinked, retire } = withFiles(3);
  const first = retired.pin();
  const second = retired.pin();
  retire(1);
  const later = retired.pin();
  retire(2);
  first();
  first();
  await retired.settled();
  t.same(unlinked, []);
  second();
  await retired.settled();
  t.same(unlinked, [1]);
  later();
  await retired.settled();
  t.same(unlinked, [1, 2]);
  t.same(disk.list('log'), ['00000003.log']);
});

t.test('a file that cannot be unlinked is told of, and does not hold others', async (t) => {
  const { disk, retired, unlinked, errors, retire } = withFiles(2);
  disk.faults = { failAtCall: disk.calls + 1 };
  retire(1, 2);
  await retired.settled();
  t.same(unlinked, [2]);
  t.equal(errors.length, 1);
});
