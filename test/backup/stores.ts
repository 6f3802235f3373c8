import { openBlock } from '../../engine/segment/block/block.ts';
import { isHole } from '../../engine/segment/frame.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import type { OpenedCatalog } from '../../engine/store/catalog.ts';
import { pathOfSegment } from '../../engine/store/filename.ts';
import { rewriteBlocks } from '../../engine/store/rewrite.ts';
import { compactionOf, keep, NOW_MS } from '../crash/compaction-workload.ts';
import { openStore, Rig } from '../store/rig.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

/** Seals what is closed; the manifest stays open. */
export async function sealAll(disk: MemoryDisk, opened: OpenedCatalog): Promise<void> {
  const { folderId, entrySeed: seed } = opened.manifest;
  const compaction = compactionOf(disk, opened, {
    policy: { sealRows: 1_000, idleMs: 0, mergeRows: 8_000 },
    merge: (job, allocate) =>
      rewriteBlocks({
        disk,
        folderId,
        seed,
        nowMs: NOW_MS,
        ...job,
        allocate: async () => allocate(),
      }),
  });
  await keep(compaction);
}

/** A store that a process has open: a sealed segment of 35 rows, a closed log segment of 7, an open one of 2. */
export async function makeStore(): Promise<{ disk: MemoryDisk; rig: Rig }> {
  const disk = new MemoryDisk();
  const first = await Rig.open(disk);
  await first.append('a', 30);
  await first.append('b', 5);
  await first.writer.close();
  await sealAll(disk, first.opened);
  await first.opened.manifest.release();
  const second = await Rig.open(disk);
  await second.append('c', 7);
  await second.writer.close();
  await second.opened.manifest.release();
  const rig = await Rig.open(disk);
  await rig.append('d', 2);
  return { disk, rig };
}

/** Texts of all rows that queries see once the store is opened by a new process; twice when a row is there twice. */
export async function textsIn(disk: MemoryDisk): Promise<string[]> {
  const opened = await openStore(disk);
  const texts: string[] = [];
  for (const ref of opened.catalog.snapshot().blocks) {
    if (isHole(ref)) continue;
    const file = disk.open(pathOfSegment(ref.sealed, ref.segment), 'read');
    const block = ref.sealed ? new SealedFile(file, ref.segment).open(ref) : openBlock(file, ref);
    for (let row = 0; row < ref.rowCount; row++) {
      texts.push(JSON.parse(block.eventText(row)).message);
    }
    file.close();
  }
  await opened.manifest.release();
  disk.end();
  return texts.sort();
}

/** Runs a generator to its end; its result. */
export async function finished<T>(steps: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
  }
}
