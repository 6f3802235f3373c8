import t from 'tap';
import { openReader } from '../../engine/engine.ts';
import type { Catalog, OpenedCatalog } from '../../engine/store/catalog.ts';
import type { CompactionOptions } from '../../engine/store/compaction.ts';
import { type FileChange, FileWatch } from '../../engine/store/file-watch.ts';
import { rewriteBlocks } from '../../engine/store/rewrite.ts';
import { compactionOf, keep, NOW_MS } from '../crash/compaction-workload.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { openStore, Rig } from './rig.ts';

/** Fates of a file while nobody looks. */
const LOSSES: Readonly<Record<string, (disk: MemoryDisk, path: string) => Promise<void>>> = {
  removed: (disk, path) => disk.unlink(path),
  emptied: async (disk, path) => disk.damage(path, () => new Uint8Array(0)),
  cut: async (disk, path) => disk.damage(path, (bytes) => bytes.slice(0, bytes.length >> 1)),
};
const ROWS = 5;
const SEALED = 'sealed/00000002.seg';
const CLOSED = 'log/00000003.log';

/** A store of a sealed segment and a closed log segment, 5 rows each. */
async function stored(): Promise<{ disk: MemoryDisk; opened: OpenedCatalog }> {
  const disk = new MemoryDisk();
  for (const part of ['sealed', 'closed']) {
    const one = await Rig.open(disk);
    await one.append(part, ROWS);
    await one.writer.close();
    if (part === 'closed') break;
    const { folderId, entrySeed: seed } = one.opened.manifest;
    const policy = { sealRows: ROWS, idleMs: 0, mergeRows: ROWS };
    const merge: CompactionOptions['merge'] = ({ refs, rowsMax }, allocate) =>
      rewriteBlocks({
        ...{ disk, refs, rowsMax, folderId, seed, nowMs: NOW_MS },
        allocate: async () => allocate(),
      });
    await keep(compactionOf(disk, one.opened, { policy, merge }));
  }
  const opened = await openStore(disk);
  t.same(disk.list('sealed').concat(disk.list('log')), ['00000002.seg', '00000003.log']);
  return { disk, opened };
}

interface Answer {
  listed: number;
  counted: number;
  /** True when the list, and the count, say that they are partial. */
  marked: [boolean, boolean];
}

function finish<T>(units: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = units.next();
    if (done === true) return value;
  }
}

/** Answers of a list and a count of everything. */
function answers(disk: MemoryDisk, opened: OpenedCatalog): Answer {
  const reader = openReader(disk, opened.manifest.secret);
  const range = { predicate: { type: 'all' as const }, fromMs: -1e17, toMs: 1e17 };
  const snapshot = opened.catalog.snapshot();
  const query = { limit: 100, order: 'desc' as const, event: false, columns: [] };
  const list = finish(reader.list(snapshot, { ...range, ...query }));
  const count = finish(
    reader.aggregate(snapshot, {
      ...range,
      groupBys: [],
      computes: [{ type: 'metric', metric: { type: 'core' } }],
    }),
  );
  reader.close();
  return {
    listed: list.events.length,
    counted: opened.catalog.totals().rows,
    marked: [list.stats.blocksDamaged > 0, count.stats.blocksDamaged > 0],
  };
}

for (const [what, lose] of Object.entries(LOSSES)) {
  for (const [path, segment] of [
    [SEALED, 2],
    [CLOSED, 3],
  ] as const) {
    t.test(`${path} is ${what} before a start: every answer says that it is partial`, async (t) => {
      const { disk } = await stored();
      await lose(disk, path);
      const opened = await openStore(disk);
      t.match(opened.report.remarks, [{ segment }]);
      t.ok(opened.catalog.isDamaged(segment));
      const { listed, marked } = answers(disk, opened);
      t.same(marked, [true, true]);
      t.ok(listed >= ROWS && listed < 2 * ROWS, `${listed} rows are left`);
    });

    t.test(`${path} is ${what} while it runs: it is seen and told`, async (t) => {
      const { disk, opened } = await stored();
      const changes: FileChange[] = [];
      const watch = new FileWatch(disk, opened, (change) => changes.push(change));
      watch.tick();
      t.same(answers(disk, opened), {
        listed: 2 * ROWS,
        counted: 2 * ROWS,
        marked: [false, false],
      });
      const content = disk.content(path);
      await lose(disk, path);
      watch.tick();
      watch.tick();
      t.match(changes, [{ segment, path, lost: true, bytesWritten: content.length }]);
      t.match(answers(disk, opened), { counted: 2 * ROWS, marked: [true, true] });
      if (what === 'removed') disk.open(path, 'create').close();
      disk.damage(path, () => content);
      watch.tick();
      t.match(changes.slice(1), [{ segment, lost: false }]);
      t.same(answers(disk, opened).marked, [false, false], 'all of it is back');
    });
  }
}

t.test('what is lost is met with in the times that it may have, and sealed no more', async (t) => {
  const { disk, opened } = await stored();
  const { catalog } = opened;
  const times = { minTimeMs: 500, maxTimeMs: 600 };
  catalog.markDamaged(3, times);
  const marked = (fromMs: number, toMs: number): boolean => {
    const reader = openReader(disk, opened.manifest.secret);
    const query = {
      groupBys: [],
      computes: [{ type: 'metric', metric: { type: 'core' } }],
    } as const;
    const units = reader.aggregate(catalog.snapshot(), {
      ...{ predicate: { type: 'all' }, fromMs, toMs, groupBys: [...query.groupBys] },
      computes: [...query.computes],
    });
    return finish(units).stats.blocksDamaged > 0;
  };
  t.ok(marked(0, 1_000));
  t.ok(marked(600, 700));
  t.notOk(marked(0, 500));
  t.notOk(marked(601, 1e9));
  const policy = { sealRows: 1, idleMs: 0, mergeRows: 8 };
  await keep(compactionOf(disk, opened, { policy }));
  t.same(disk.list('log'), ['00000003.log'], 'what is left of it stays');
  sameAfter(catalog, () => catalog.markDamaged(3));
  catalog.unmarkDamaged(3);
  t.notOk(marked(0, 1_000));
  t.equal(catalog.damagedCount, 0);
});

/** Changes nothing that queries see. */
function sameAfter(catalog: Catalog, change: () => void): void {
  const before = catalog.snapshot();
  change();
  t.equal(catalog.snapshot(), before);
}

t.test('files that cannot be opened for want of descriptors are not given up', async (t) => {
  const { disk, opened } = await stored();
  disk.refuseOpens = 'EMFILE';
  t.throws(() => answers(disk, opened), { code: 'IO' });
  disk.refuseOpens = undefined;
  t.same(answers(disk, opened).marked, [false, false]);
});
