import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { draftOf } from '../../engine/backup/found-segment.ts';
import { repairStore } from '../../engine/backup/repair.ts';
import { type UpgradeReport, upgradeStore } from '../../engine/backup/upgrade.ts';
import { FORMAT_VERSION } from '../../engine/segment/frame.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import { openStore } from '../store/rig.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { finished, makeStore } from './stores.ts';

const DRAFTS = [1, 2, 3, 4, 5, 6, 7];
const ROWS = 5_600;

/** A store with one sealed segment, of an earlier draft. */
async function storeOf(draft: number): Promise<MemoryDisk> {
  const fixture = new URL(`../fixture/sealed-v${draft}.seg`, import.meta.url);
  const bytes = new Uint8Array(readFileSync(fileURLToPath(fixture)));
  const segment = new DataView(bytes.buffer).getUint32(4, true);
  const disk = new MemoryDisk();
  for (const folder of ['log', 'sealed']) disk.makeFolder(folder);
  const file = disk.open(sealedPath(segment), 'create');
  await file.write([bytes], 0);
  await file.sync();
  file.close();
  await finished(repairStore(disk, 1_000));
  return disk;
}

function upgrade(disk: MemoryDisk): Promise<UpgradeReport> {
  disk.end();
  return finished(upgradeStore(disk, 2_000));
}

/** Numbers of the sealed segments, and by id the dates and the text of each row that queries see. */
async function contentsOf(
  disk: MemoryDisk,
): Promise<{ segments: number[]; rows: Map<string, string> }> {
  const { manifest, catalog } = await openStore(disk);
  const segments = [...manifest.sealed.keys()];
  const rows = new Map<string, string>();
  for (const segment of segments) {
    const file = disk.open(sealedPath(segment), 'read');
    const sealed = new SealedFile(file, segment);
    for (const ref of catalog.blocksOf(segment)) {
      const block = sealed.open(ref);
      const { writers, sequences } = block.keys();
      for (let row = 0; row < ref.rowCount; row++) {
        const dates = `${block.timeMs()[row]} ${block.receivedMs()[row]}`;
        rows.set(`${writers[row]}.${sequences[row]}`, `${dates} ${block.eventText(row)}`);
      }
    }
    file.close();
  }
  await manifest.release();
  disk.end();
  return { segments, rows };
}

for (const draft of DRAFTS) {
  t.test(`a segment of draft ${draft} is written anew with the same rows`, async (t) => {
    const disk = await storeOf(draft);
    const before = await contentsOf(disk.clone());
    t.equal(before.rows.size, ROWS);
    const report = await upgrade(disk);
    t.match(report, { segments: 1, rows: ROWS, damaged: [], logSegments: 0 });
    const after = await contentsOf(disk.clone());
    t.same(after.rows, before.rows);
    t.same(
      after.segments.map((segment) => draftOf(disk, segment)),
      after.segments.map(() => FORMAT_VERSION),
    );
    t.same(
      disk.list('sealed'),
      after.segments.map((segment) => sealedPath(segment).replace('sealed/', '')),
    );
    t.equal(report.bytesAfter, disk.content(sealedPath(after.segments[0])).length);
    t.match(await upgrade(disk), { segments: 0 }, 'then nothing is left to do');
  });
}

t.test('a segment with damaged rows stays as it is, and is told', async (t) => {
  const disk = await storeOf(3);
  const { segments } = await contentsOf(disk.clone());
  const path = sealedPath(segments[0]);
  disk.damage(path, (bytes) => bytes.fill(0, 6_000, 6_100));
  const before = disk.content(path).slice();
  t.match(await upgrade(disk), { segments: 0, damaged: segments });
  t.same(disk.list('sealed'), [path.replace('sealed/', '')]);
  t.same(disk.content(path), before);
});

t.test('log segments and segments of the draft of the day are left alone', async (t) => {
  const { disk } = await makeStore();
  disk.crash({ type: 'all' });
  const before = disk.list('sealed');
  t.match(await upgrade(disk), { segments: 0, logSegments: 2, damaged: [] });
  t.same(disk.list('sealed'), before);
});
