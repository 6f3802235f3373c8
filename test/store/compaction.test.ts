import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { openReader, type UnitReader } from '../../engine/engine.ts';
import type { CompactionEvent } from '../../engine/store/compaction.ts';
import { rewriteBlocks } from '../../engine/store/rewrite.ts';
import {
  compactionOf,
  DAY,
  KEEP_ALL,
  keep,
  NOW_MS,
  open,
  visibleRows,
  World,
  writeSegment,
} from '../crash/compaction-workload.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { beginSegment } from './begin.ts';
import { fakeSeal } from './fake-seal.ts';
import { Rig } from './rig.ts';

/** A store with a closed log segment for each count of rows. */
async function storeOf(...counts: number[]) {
  const disk = new MemoryDisk();
  const world = new World();
  const opened = await open(disk);
  for (const count of counts) await writeSegment(disk, opened, world, 0, [count]);
  const events: CompactionEvent[] = [];
  const shown = () => [...visibleRows(disk, opened)];
  return { disk, world, opened, events, shown, acked: () => [...world.acked] };
}

t.test('closed log segments become sealed ones, and their files go', async (t) => {
  const { disk, opened, events, shown, acked } = await storeOf(3, 2);
  const gone: number[] = [];
  const unlinked = (files: readonly { segment: number }[]): void => {
    gone.push(...files.map(({ segment }) => segment));
  };
  const compaction = compactionOf(disk, opened, { unlinked }, events);
  t.match(compaction.gauges(), { segments: 2, rows: 5, sealingBacklogRows: 5, sealedRows: 0 });
  await keep(compaction);
  t.same(shown(), acked());
  t.same(disk.list('log'), []);
  t.same(disk.list('sealed'), ['00000003.seg']);
  t.same(gone, [1, 2]);
  t.match(events, [{ type: 'merged', sources: [1, 2], segments: [3], rows: 5 }]);
  t.match(compaction.gauges(), { segments: 1, rows: 5, sealingBacklogRows: 0, storeSealedRows: 5 });
  t.equal(opened.manifest.sequence, 5, 'sequences go on');
  await opened.manifest.release();
  t.equal((await open(disk)).catalog.end, 5, 'behind a restart too');
});

t.test('a log segment that is open is left alone', async (t) => {
  const { disk, opened, events } = await storeOf();
  await beginSegment(opened.manifest, 0);
  const policy = { sealRows: 1, idleMs: 0, mergeRows: 8 };
  await keep(compactionOf(disk, opened, { policy }, events), 3);
  t.same(events, []);
});

t.test('while a query reads, its files stay; new snapshots do not name them', async (t) => {
  const { disk, opened, shown, acked } = await storeOf(3, 2);
  const compaction = compactionOf(disk, opened);
  const release = compaction.pin();
  const { blocks } = opened.catalog.snapshot();
  await keep(compaction);
  t.same(disk.list('log'), ['00000001.log', '00000002.log']);
  t.notOk(opened.catalog.snapshot().blocks.some((ref) => blocks.includes(ref)));
  t.same(shown(), acked());
  release();
  await compaction.settled();
  t.same(disk.list('log'), []);
});

t.test(
  'a merge that fails is tried again later, whatever the clock, and others have their turn',
  async (t) => {
    const { disk, opened, events, shown, acked } = await storeOf(9, 9);
    const clock = { nowMs: NOW_MS, monotonicMs: 5 };
    let runs = 0;
    const compaction = compactionOf(
      disk,
      opened,
      {
        nowMs: () => clock.nowMs,
        monotonicMs: () => clock.monotonicMs,
        merge: async (job, allocate) => {
          runs++;
          const result = await fakeSeal(disk, job, allocate);
          if (job.refs.some((ref) => ref.segment === 1)) throw new Error('the worker died');
          return result;
        },
      },
      events,
    );
    await keep(compaction, 3);
    t.equal(runs, 2, 'the other at once, the one not again');
    t.same(disk.list('sealed'), ['00000004.seg'], 'nothing is left of what failed');
    for (let turn = 0; turn < 40; turn++) {
      clock.monotonicMs += 100_000;
      clock.nowMs -= 1e9;
      await keep(compaction);
    }
    t.ok(runs > 12, 'again and again, though not every 100 seconds');
    t.ok(runs < 40);
    t.match(
      events.slice(0, 3).map(({ type }) => type),
      ['mergeFailed', 'merged', 'mergeFailed'],
    );
    t.match(compaction.gauges(), { sealFailures: runs - 1, sealMismatches: 0, sealWaiting: 1 });
    t.same(disk.list('log'), ['00000001.log']);
    t.same(shown(), acked());
  },
);

t.test('what cannot be rewritten together is tried in smaller and smaller pieces', async (t) => {
  const { disk, opened, shown, acked } = await storeOf(4, 4, 4, 4);
  const jobs: { segments: number[]; rowsMax: number }[] = [];
  let monotonicMs = 0;
  const compaction = compactionOf(disk, opened, {
    monotonicMs: () => monotonicMs,
    policy: { sealRows: 16, idleMs: 0, mergeRows: 1 },
    merge: async (job, allocate) => {
      const segments = [...new Set(job.refs.map(({ segment }) => segment))];
      jobs.push({ segments, rowsMax: job.rowsMax });
      if (segments.includes(1) && job.rowsMax > 2) throw new EngineError('MISMATCH', 'other rows');
      return fakeSeal(disk, job, allocate);
    },
  });
  for (let turn = 0; turn < 12; turn++) {
    await keep(compaction);
    monotonicMs += 10_000;
  }
  t.match(compaction.gauges(), { sealFailures: 3, sealMismatches: 3, sealWaiting: 0 });
  t.same(
    jobs
      .filter(({ segments }) => segments.includes(1))
      .map(({ segments, rowsMax }) => [segments.length, rowsMax]),
    [
      [4, 16],
      [2, 16],
      [1, 16],
      [1, 2],
    ],
  );
  t.same(disk.list('log'), []);
  t.same(shown(), acked());
});

t.test('a segment with damage stays as it is', async (t) => {
  const { disk, opened, events, shown, acked } = await storeOf(9, 9);
  const compaction = compactionOf(
    disk,
    opened,
    { merge: (job, allocate) => fakeSeal(disk, job, allocate, new Set([1])) },
    events,
  );
  await keep(compaction, 4);
  t.match(events, [
    { type: 'heldBack', segments: [1] },
    { type: 'merged', sources: [2] },
  ]);
  t.same(disk.list('log'), ['00000001.log']);
  t.same(disk.list('sealed').length, 1);
  t.same(shown(), acked());
});

t.test('when the record cannot be written, both sets stay until one more can', async (t) => {
  const { disk, opened, events, shown, acked } = await storeOf(9);
  const compaction = compactionOf(
    disk,
    opened,
    {
      merge: async (job, allocate) => {
        const result = await fakeSeal(disk, job, allocate);
        disk.faults = { failAtCall: disk.calls + 1 };
        return result;
      },
    },
    events,
  );
  await keep(compaction);
  t.match(events, [{ type: 'mergeFailed' }]);
  t.same(disk.list('sealed').length, 1);
  t.same(shown(), acked());
  disk.faults = {};
  await keep(compaction);
  t.same(
    disk.list('sealed'),
    [],
    'the record that failed is overwritten, its files are not needed',
  );
  disk.faults = {};
  const again = compactionOf(disk, opened, {}, events);
  await keep(again);
  t.same(disk.list('sealed').length, 1);
  disk.crash({ type: 'all' });
  t.same([...visibleRows(disk, await open(disk))], acked());
});

t.test(
  'usage of what is sealed and dropped is not forgotten, though the clock is ahead',
  async (t) => {
    const { disk, opened } = await storeOf(3, 2);
    const nowMs = (): number => NOW_MS + 90 * 86_400_000;
    await keep(compactionOf(disk, opened, { nowMs }));
    await keep(compactionOf(disk, opened, { nowMs, retention: { ...KEEP_ALL, bytesMax: 0 } }));
    t.same(opened.catalog.totals(), { blocks: 0, rows: 0 });
    await opened.manifest.release();
    for (const rewriteBytes of [1e9, 1, 1]) {
      const again = await open(disk, rewriteBytes);
      t.same(again.usage, [{ key: 'key', day: DAY, bytes: 35, events: 5 }]);
      t.equal(again.manifest.sequence, 5);
      await again.manifest.release();
    }
  },
);

t.test('a segment that is being merged is not dropped meanwhile', async (t) => {
  const { disk, opened, events } = await storeOf(9);
  const merging = Promise.withResolvers<void>();
  const compaction = compactionOf(
    disk,
    opened,
    {
      retention: { ...KEEP_ALL, bytesMax: 0 },
      merge: async (job, allocate) => {
        await merging.promise;
        return fakeSeal(disk, job, allocate);
      },
    },
    events,
  );
  compaction.tick();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  compaction.tick();
  t.same(events, []);
  merging.resolve();
  await compaction.settled();
  await keep(compaction);
  t.match(events, [
    { type: 'merged', sources: [1] },
    { type: 'dropped', segments: [2], rows: 9 },
  ]);
  t.same([...disk.list('log'), ...disk.list('sealed')], []);
});

t.test('merges that run at once have sources of their own, and each ends by itself', async (t) => {
  const { disk, opened, events, shown, acked } = await storeOf(4, 4, 4, 4, 4);
  const jobs: { segments: number[]; isUrgent: boolean; go: () => void }[] = [];
  const compaction = compactionOf(
    disk,
    opened,
    {
      mergesMax: 2,
      merge: async (job, allocate) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const segments = job.refs.map(({ segment }) => segment);
        jobs.push({ segments, isUrgent: job.isUrgent, go: resolve });
        await promise;
        if (segments.includes(2) && jobs.length < 5) throw new Error('the worker died');
        return fakeSeal(disk, job, allocate);
      },
    },
    events,
  );
  const turn = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) await new Promise((resolve) => setImmediate(resolve));
    compaction.tick();
  };
  compaction.tick();
  await turn();
  t.match(jobs, [{ segments: [1], isUrgent: true }, { segments: [2] }], 'no more than may run');
  jobs[1]?.go();
  await turn();
  t.match(jobs[2]?.segments, [3], 'the one that failed waits');
  jobs[2]?.go();
  await turn();
  t.match(jobs[3]?.segments, [4]);
  jobs[0]?.go();
  jobs[3]?.go();
  await turn();
  t.match(jobs[4], { segments: [5], isUrgent: true });
  jobs[4]?.go();
  await compaction.settled();
  t.match(
    events.map((event) => ('sources' in event ? [event.type, event.sources] : [])),
    [
      ['mergeFailed', [2]],
      ['merged', [3]],
      ['merged', [1]],
      ['merged', [4]],
      ['merged', [5]],
    ],
  );
  t.same(disk.list('log'), ['00000002.log']);
  t.same(disk.list('sealed').length, 4);
  t.same(shown().sort(), acked().sort());
});

t.test('merges that run at once leave room for each other', async (t) => {
  const { disk, opened } = await storeOf(4, 4);
  const waiting = Promise.withResolvers<void>();
  let runs = 0;
  const [bytes] = [...opened.manifest.segments.values()].map(({ closed }) => closed?.bytes ?? 0);
  const compaction = compactionOf(disk, opened, {
    mergesMax: 2,
    space: () => ({ freeBytes: 1.5 * bytes, totalBytes: 1e12 }),
    merge: async (job, allocate) => {
      runs++;
      await waiting.promise;
      return fakeSeal(disk, job, allocate);
    },
  });
  compaction.tick();
  compaction.tick();
  t.equal(runs, 1);
  waiting.resolve();
  await keep(compaction, 2);
  t.equal(runs, 2);
});

t.test('nothing is dropped for log segments that are open', async (t) => {
  const { disk, world, opened, events } = await storeOf(9);
  await writeSegment(disk, opened, world, 0, [50, 50, 50], false);
  const [bytes] = [...opened.manifest.segments.values()].map(({ closed }) => closed?.bytes ?? 0);
  const policy = { sealRows: 1e6, idleMs: 1e9, mergeRows: 1e6 };
  const limit = (bytesMax: number) => ({ policy, retention: { ...KEEP_ALL, bytesMax } });
  await keep(compactionOf(disk, opened, limit(bytes), events), 2);
  t.same(events, []);
  await keep(compactionOf(disk, opened, limit(bytes - 1), events), 2);
  t.match(events, [{ type: 'dropped', reason: 'space', segments: [1] }]);
});

t.test('a drop by age that waits goes on waiting after a restart', async (t) => {
  const { disk, world, opened, events } = await storeOf(4, 4);
  const ageMaxMs = 30 * 86_400_000;
  const clock = { nowMs: 1e9, monotonicMs: 0 };
  const options = {
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.monotonicMs,
    retention: { ...KEEP_ALL, ageMaxMs },
  };
  const first = compactionOf(disk, opened, options, events);
  await keep(first, 3);
  t.match(
    events.map(({ type }) => type),
    ['merged', 'merged'],
  );
  clock.nowMs += 60 * 86_400_000;
  await keep(first);
  clock.monotonicMs += 20 * 3_600_000;
  await keep(first);
  t.match(events.slice(2), [{ type: 'dropWaits', segments: 2, rows: 8 }, { type: 'dropWaits' }]);
  t.match(first.gauges().waitingDrop, { rows: 8, leftMs: 4 * 3_600_000 });
  await opened.manifest.release();
  disk.crash({ type: 'none' });
  const again = await open(disk);
  clock.monotonicMs = 0;
  const second = compactionOf(disk, again, options, events);
  await keep(second);
  t.equal(visibleRows(disk, again).size, world.acked.size);
  clock.monotonicMs = 4 * 3_600_000;
  await keep(second);
  t.match(events.at(-1), { type: 'dropped', reason: 'age', rows: 8 });
  t.equal(visibleRows(disk, again).size, 0);
});

t.test('free disk below the reserve is told, and so is its end', async (t) => {
  const { disk, opened, events } = await storeOf(9);
  const space = { freeBytes: 99, totalBytes: 1_000 };
  const compaction = compactionOf(disk, opened, { space: () => space, reserveBytes: 100 }, events);
  t.equal(compaction.full, true);
  await keep(compaction);
  t.same(events, [{ type: 'full', full: true, freeBytes: 99, reserveBytes: 100 }], 'no merge');
  space.freeBytes = 1e6;
  await keep(compaction);
  t.equal(compaction.full, false);
  t.match(events.slice(1), [{ type: 'full', full: false }, { type: 'merged' }]);
  const share = compactionOf(disk, opened, { space: () => space, reserveBytes: undefined });
  t.equal(share.full, false);
  space.freeBytes = 49;
  share.tick();
  t.equal(share.full, true, '5 % of the disk');
  await share.settled();
});

t.test(
  'a start on a full disk serves what it recovered, and closes it when there is room',
  async (t) => {
    const disk = new MemoryDisk();
    const first = await Rig.open(disk);
    await first.append('a', 3);
    disk.crash({ type: 'none' });
    let full = true;
    const manifestOpen = disk.open.bind(disk);
    disk.open = (path, mode) => {
      const file = manifestOpen(path, mode);
      if (path !== 'manifest') return file;
      const write: typeof file.write = async (chunks, position) => {
        const cause = { code: 'ENOSPC' };
        if (full) throw new EngineError('IO', 'write manifest failed: ENOSPC', { cause });
        await file.write(chunks, position);
      };
      return { ...file, write };
    };
    const second = await Rig.open(disk);
    t.equal(second.shown().get('a'), 3);
    t.match(second.opened.report, { recovered: [1], unclosed: [{ segment: 1 }] });
    const events: CompactionEvent[] = [];
    const compaction = compactionOf(disk, second.opened, {}, events);
    await keep(compaction, 2);
    t.equal(second.opened.manifest.segments.get(1)?.closed, undefined);
    full = false;
    await second.append('b', 2);
    t.equal(second.shown().get('b'), 2);
    const sequences = second.opened.catalog.snapshot().blocks.map((ref) => ref.firstSequence);
    t.same(sequences, [0, 3], 'sequences go on above what could not be recorded');
    await keep(compaction);
    t.match(second.opened.manifest.segments.get(1)?.closed, { sequence: 3 });
    t.same(events, []);
  },
);

t.test('real blocks keep their events, ids and order', async (t) => {
  const disk = new MemoryDisk();
  const rig = await Rig.open(disk);
  await rig.append('a', 30);
  await rig.append('b', 5);
  await rig.writer.close();
  const { opened } = rig;
  const list = (reader: UnitReader) => {
    const range = { fromMs: -1e15, toMs: 1e15, predicate: { type: 'all' } as const };
    const query = { ...range, order: 'desc' as const, limit: 100, event: true, columns: [] };
    const units = reader.list(opened.catalog.snapshot(), query);
    for (;;) {
      const { done, value } = units.next();
      if (done === true) return value.events;
    }
  };
  const reader = openReader(disk, opened.manifest.secret);
  const before = list(reader);
  t.equal(before.length, 35);
  const events: CompactionEvent[] = [];
  const compaction = compactionOf(
    disk,
    opened,
    {
      merge: (job, allocate) =>
        rewriteBlocks({
          disk,
          folderId: opened.manifest.folderId,
          seed: opened.manifest.entrySeed,
          nowMs: NOW_MS,
          ...job,
          allocate: async () => allocate(),
        }),
      unlinked: (files) => reader.forget(files.map(({ segment }) => segment)),
    },
    events,
  );
  await keep(compaction);
  t.match(events, [{ type: 'merged', rows: 35 }]);
  t.same(disk.list('log'), []);
  t.same(list(reader), before);
  await opened.manifest.release();
  disk.crash({ type: 'all' });
  const again = await Rig.open(disk);
  t.same(again.opened.manifest.sealed, opened.manifest.sealed, 'and so says the manifest');
});
