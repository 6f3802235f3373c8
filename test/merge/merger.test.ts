import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDisk } from '../../engine/base/file.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { openReader, openWriter } from '../../engine/engine.ts';
import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import { Compaction, type CompactionEvent } from '../../engine/store/compaction.ts';
import { makeSequences, Sequences } from '../../engine/store/sequences.ts';
import { Merger } from '../../server/merge/merger.ts';
import { addRow } from '../segment/leaves.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';

const ENTRY = new URL('../support/dying-merge.ts', import.meta.url);
const ROWS = 500;

/** A store with a closed log segment, and its compaction with merges in threads that may die. */
async function open(t: Test) {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const disk = openDisk(folder);
  const opened = await openCatalog({ disk, nowMs: 0 });
  const { manifest, catalog } = opened;
  const paths = new PathTable();
  const writer = openWriter({
    disk,
    writer: 0,
    folderId: manifest.folderId,
    paths,
    sequences: new Sequences(makeSequences(1, 0)),
    allocate: async () => manifest.reserve(),
    begun: (segment) => manifest.begin(segment, 0),
    closed: (segment, bytes, sequence) => manifest.close(segment, bytes, sequence),
    committed: async (group) => catalog.apply(group),
    nowMs: () => 0,
    monotonicMs: () => 0,
  });
  const rows = new Rows();
  rows.reset(new Uint8Array(0), 0);
  for (let row = 0; row < ROWS; row++) {
    const leaf = { names: ['custom', 'n'], kind: 'number' as const, text: String(row) };
    addRow(rows, paths, { timeMs: row, leaves: [leaf] });
  }
  await writer.append(rows, []);
  await writer.close();
  const merger = new Merger(2, {
    root: folder,
    folderId: manifest.folderId,
    seed: 7,
    entry: ENTRY,
  });
  const events: CompactionEvent[] = [];
  const clock = { nowMs: 0 };
  const compaction = new Compaction({
    disk,
    opened,
    merge: (job, allocate) => merger.run(job, allocate),
    mergesMax: 2,
    space: () => ({ freeBytes: 1e12, totalBytes: 1e12 }),
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.nowMs,
    policy: { sealRows: ROWS, idleMs: 0, mergeRows: ROWS },
    retention: { ageMaxMs: undefined, bytesMax: undefined, freeBytesMin: undefined },
    reserveBytes: 0,
    unlinked: () => {},
    tell: (event) => events.push(event),
  });
  const turn = async (): Promise<void> => {
    clock.nowMs += 10_000;
    compaction.tick();
    await compaction.settled();
  };
  return { folder, disk, opened, merger, compaction, events, turn };
}

/** How many rows a query sees, and that it sees each once. */
function countOf(folder: string, { catalog, manifest }: OpenedCatalog): number {
  const reader = openReader(openDisk(folder), manifest.secret);
  const query = { fromMs: -1, toMs: 1e9, predicate: { type: 'all' as const }, limit: 1_000 };
  const page = { ...query, order: 'asc' as const, event: true, columns: [] };
  const units = reader.list(catalog.snapshot(), page);
  for (;;) {
    const { done, value } = units.next();
    if (done !== true) continue;
    reader.close();
    return new Set(value.events.map(({ event }) => event)).size;
  }
}

t.test('a merge thread that dies at work loses nothing, and another one does it', async (t) => {
  const { folder, disk, opened, merger, compaction, events, turn } = await open(t);
  writeFileSync(join(folder, 'die'), '');
  await turn();
  t.match(events, [{ type: 'mergeFailed', sources: [1] }]);
  t.same(disk.list('log'), ['00000001.log'], 'the source is there');
  t.same(disk.list('sealed'), [], 'nothing is left of what it wrote');
  t.equal(countOf(folder, opened), ROWS);
  rmSync(join(folder, 'die'));
  await turn();
  t.match(events[1], { type: 'merged', sources: [1], rows: ROWS });
  t.same(disk.list('log'), []);
  t.equal(disk.list('sealed').length, 2, 'in smaller pieces');
  t.equal(countOf(folder, opened), ROWS);
  await merger.close();
  await compaction.close();
  await opened.manifest.release();
});

t.test(
  'merges that follow one another are of one thread; an urgent one of none of low priority',
  async (t) => {
    const { folder, opened, merger, compaction } = await open(t);
    const refs = opened.catalog.snapshot().blocks;
    let segment = 100;
    const merge = async (isUrgent: boolean): Promise<number> => {
      const job = { refs, rowsMax: ROWS, isUrgent };
      t.equal((await merger.run(job, () => segment++)).rowCount, ROWS);
      return readFileSync(join(folder, 'begun'), 'utf8').split('\n').length - 1;
    };
    t.equal(await merge(true), 1);
    t.equal(await merge(true), 1);
    t.equal(await merge(false), 1);
    t.equal(await merge(false), 1);
    t.equal(await merge(true), 2);
    await merger.close();
    await t.rejects(merge(true), { code: 'CLOSED' });
    await compaction.close();
    await opened.manifest.release();
  },
);

t.test('merges that overlap are done by a thread each, and closing ends them all', async (t) => {
  const { folder, opened, merger, compaction } = await open(t);
  const refs = opened.catalog.snapshot().blocks;
  let segment = 100;
  const merge = () => merger.run({ refs, rowsMax: ROWS, isUrgent: true }, () => segment++);
  const both = [merge(), merge()];
  await t.rejects(async () => merge(), /idle merge thread/);
  t.match(await Promise.all(both), [{ rowCount: ROWS }, { rowCount: ROWS }]);
  t.equal(readFileSync(join(folder, 'begun'), 'utf8'), 'begun\nbegun\n');
  const closed = [merge(), merge()].map((each) => t.rejects(each, { code: 'CLOSED' }));
  await merger.close();
  await Promise.all(closed);
  await compaction.close();
  await opened.manifest.release();
});

t.test('a merge that gets no number fails with why, and the next one is done', async (t) => {
  const { opened, merger, compaction } = await open(t);
  const job = { refs: opened.catalog.snapshot().blocks, rowsMax: ROWS, isUrgent: false };
  const none = (): number => {
    throw new Error('no number is left');
  };
  await t.rejects(merger.run(job, none), { message: 'no number is left' });
  t.equal((await merger.run(job, () => 100)).rowCount, ROWS);
  await merger.close();
  await compaction.close();
  await opened.manifest.release();
});

t.test('what a thread left that died with its process goes at the next start', async (t) => {
  const { folder, disk, opened, compaction } = await open(t);
  disk.makeFolder('sealed');
  writeFileSync(join(folder, 'sealed', '00000009.seg.new'), 'half of a segment');
  await compaction.close();
  await opened.manifest.release();
  const again = await openCatalog({ disk: openDisk(folder), nowMs: 0 });
  t.same(openDisk(folder).list('sealed'), []);
  t.equal(countOf(folder, again), ROWS);
  await again.manifest.release();
});
