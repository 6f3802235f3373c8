import t from 'tap';
import { RecordFile } from '../../engine/base/record-file.ts';
import { FORMAT_VERSION } from '../../engine/segment/frame.ts';
import { Manifest } from '../../engine/store/manifest.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { beginSegment } from './begin.ts';

const FOLDER = new Uint8Array(16);
const SECRET = new Uint8Array(32);
const STORE = { type: 'store', format: 1, folder: FOLDER, secret: SECRET, createdMs: 1 };

t.test('a folder keeps its id, its secret and its segments', async (t) => {
  const disk = new MemoryDisk();
  const first = await Manifest.open(disk, 5);
  t.equal(await beginSegment(first, 0), 1);
  t.equal(await beginSegment(first, 7), 2);
  await first.close(1, 640, 33, [4, 9]);
  t.equal(await beginSegment(first, 0), 3);
  await first.release();
  disk.crash({ type: 'all' });
  const second = await Manifest.open(disk, 6);
  t.same([...second.folderId], [...first.folderId]);
  t.same([...second.secret], [...first.secret]);
  t.same(
    [...second.segments],
    [
      [1, { writer: 0, closed: { bytes: 640, sequence: 33, damaged: [4, 9] } }],
      [2, { writer: 7 }],
      [3, { writer: 0 }],
    ],
  );
  t.equal(second.sequence, 33);
  t.equal(await beginSegment(second, 7), 4);
});

t.test('two folders differ in id and secret', async (t) => {
  const [one, two] = await Promise.all([1, 2].map((ms) => Manifest.open(new MemoryDisk(), ms)));
  t.not(Buffer.compare(Buffer.from(one?.secret ?? []), Buffer.from(two?.secret ?? [])), 0);
  t.not(Buffer.compare(Buffer.from(one?.folderId ?? []), Buffer.from(two?.folderId ?? [])), 0);
});

t.test('a segment without rows does not take the sequences back', async (t) => {
  const manifest = await Manifest.open(new MemoryDisk(), 1);
  await beginSegment(manifest, 0);
  await manifest.close(1, 64, 500);
  await beginSegment(manifest, 0);
  await manifest.close(2, 0, 0);
  t.equal(manifest.sequence, 500);
});

t.test('a segment is closed once, and only when it is known', async (t) => {
  const manifest = await Manifest.open(new MemoryDisk(), 1);
  await beginSegment(manifest, 0);
  await manifest.close(1, 64, 1);
  await t.rejects(manifest.close(1, 64, 1), /assertion/);
  await t.rejects(manifest.close(2, 64, 1), /assertion/);
  await t.rejects(beginSegment(manifest, 256), /assertion/);
});

t.test('numbers do not come twice, whether their record was written or not', async (t) => {
  const disk = new MemoryDisk();
  const manifest = await Manifest.open(disk, 1);
  disk.faults = { failAtCall: disk.calls + 1 };
  await t.rejects(beginSegment(manifest, 0), { code: 'IO' });
  t.equal(await beginSegment(manifest, 0), 2);
  const both = await Promise.all([beginSegment(manifest, 1), beginSegment(manifest, 2)]);
  t.same(both, [3, 4]);
});

t.test('a file that the manifest does not know means that it lost a record', async (t) => {
  const disk = new MemoryDisk();
  const manifest = await Manifest.open(disk, 1);
  const before = disk.content('manifest').length;
  await beginSegment(manifest, 0);
  await manifest.release();
  await disk.open('log/00000001.log', 'create').write([new Uint8Array(129)], 0);
  disk.open('log/readme', 'create');
  await (await Manifest.open(disk, 1)).release();
  // As a stop in the middle of an append leaves it.
  disk.damage('manifest', (bytes) => bytes.subarray(0, bytes.length - 1));
  disk.damage('manifest.copy', (bytes) => bytes.subarray(0, before));
  await t.rejects(Manifest.open(disk, 1), {
    code: 'CORRUPTION',
    message: /^log.00000001.log is not in the manifest, which has lost records/,
  });
});

t.test('no manifest is made beside segments or registries', async (t) => {
  const beside = ['log/00000007.log', 'sealed/00000009.seg', 'keys', 'definitions.copy'];
  for (const path of beside) {
    for (const contents of [[], ['manifest'], ['manifest', 'manifest.copy']]) {
      const disk = new MemoryDisk();
      for (const folder of ['log', 'sealed']) disk.makeFolder(folder);
      for (const each of [path, ...contents]) disk.open(each, 'create').close();
      const names = disk.list('');
      await t.rejects(Manifest.open(disk, 1, ['keys', 'definitions']), {
        code: 'CORRUPTION',
        message: new RegExp(`^manifest and manifest.copy are missing or empty, but ${path} is`),
      });
      t.same([disk.list(''), disk.content(path).length], [names, 0]);
    }
  }
  const disk = new MemoryDisk();
  disk.open('admin-token', 'create').close();
  await Manifest.open(disk, 1, ['keys', 'definitions']);
});

t.test('that the registries were made is known for ever', async (t) => {
  const disk = new MemoryDisk();
  const first = await Manifest.open(disk, 1);
  t.equal(first.hasRegistries, false);
  await first.keepRegistries();
  for (let segment = 1; segment < 9; segment++) {
    await beginSegment(first, 0);
    await first.close(segment, 64, segment);
    await first.drop([segment], []);
  }
  await first.release();
  const second = await Manifest.open(disk, 1);
  const { length } = disk.content('manifest');
  t.equal(second.hasRegistries, true);
  t.equal(second.isGone(8), true);
  await second.compact(1);
  await second.release();
  t.ok(disk.content('manifest').length < length);
  t.equal((await Manifest.open(disk, 1)).hasRegistries, true);
});

const SEALED = {
  bytes: 640,
  rowCount: 5,
  minTimeMs: -7.5,
  maxTimeMs: 9,
  sealedMs: 3,
  blocks: [
    {
      sealed: true,
      segment: 2,
      writer: 0,
      offset: 64,
      bytes: 128,
      ordinal: 1,
      rowCount: 5,
      firstSequence: 0,
      endSequence: 0,
      minTimeMs: -7.5,
      maxTimeMs: 9,
    },
  ],
};
const USAGE = [{ key: '__proto__', day: 20_000, bytes: 7, events: 1 }];

/** A manifest in which segment 1 became segment 2, and segment 3 was dropped. */
async function withSealed(disk: MemoryDisk): Promise<Manifest> {
  const manifest = await Manifest.open(disk, 1);
  await beginSegment(manifest, 0);
  await manifest.close(1, 640, 33);
  t.equal(manifest.reserve(), 2);
  await manifest.seal([1], [{ segment: 2, ...SEALED }], USAGE);
  await beginSegment(manifest, 5);
  await manifest.close(3, 64, 80);
  await manifest.drop([3], USAGE);
  return manifest;
}

t.test(
  'sealed and dropped segments are known after a restart, and after a rewriting',
  async (t) => {
    const disk = new MemoryDisk();
    await (await withSealed(disk)).release();
    const grown = disk.content('manifest').length;
    for (const rewriteBytes of [1e9, 1, 1]) {
      disk.crash({ type: 'all' });
      const manifest = await Manifest.open(disk, 20_001 * 86_400_000);
      await manifest.compact(rewriteBytes);
      t.same([...manifest.segments], []);
      t.same([...manifest.sealed], [[2, SEALED]]);
      t.same(manifest.usage(), [{ key: '__proto__', day: 20_000, bytes: 14, events: 2 }]);
      t.equal(manifest.lastSegment, 3);
      await manifest.release();
    }
    t.ok(disk.content('manifest').length < grown);
    const last = await Manifest.open(disk, 20_002 * 86_400_000);
    await last.compact(1);
    t.equal(last.sequence, 80);
    t.equal(await beginSegment(last, 0), 4);
  },
);

t.test(
  'a rewritten manifest keeps the usage of the newest days, and what retention had',
  async (t) => {
    const disk = new MemoryDisk();
    const manifest = await Manifest.open(disk, 5);
    const retention = { ageMaxMs: 7, waitedMs: 3 };
    for (let day = 1; day <= 40; day++) {
      await manifest.drop([], [{ key: 'k', day, bytes: day, events: 1 }]);
      await manifest.keepRetention({ ...retention, waitedMs: day });
    }
    await manifest.keepRetention(retention);
    const policy = { ageMaxMs: 9, bytesMax: undefined, freeBytesMin: 7 };
    await manifest.keepPolicy(policy);
    await manifest.release();
    const again = await Manifest.open(disk, 500 * 86_400_000);
    await again.compact(1);
    await again.release();
    const last = await Manifest.open(disk, 500 * 86_400_000);
    t.same(
      last.usage().map(({ day }) => day),
      Array.from({ length: 32 }, (_, at) => 9 + at),
    );
    t.same(last.retention, retention);
    t.same(last.policy, policy);
    await last.keepPolicy(undefined);
    await last.release();
    t.equal((await Manifest.open(disk, 500 * 86_400_000)).policy, undefined);
  },
);

t.test('a manifest that is needed as it is, is not rewritten', async (t) => {
  const disk = new MemoryDisk();
  const manifest = await Manifest.open(disk, 1);
  for (let segment = 1; segment < 9; segment++) await beginSegment(manifest, 0);
  await manifest.release();
  const before = disk.content('manifest');
  await (await Manifest.open(disk, 1)).compact(1);
  t.same(disk.content('manifest'), before);
});

t.test('only closed and sealed segments can be sealed or dropped', async (t) => {
  const manifest = await Manifest.open(new MemoryDisk(), 1);
  await beginSegment(manifest, 0);
  await t.rejects(manifest.seal([1], [], []), /assertion/);
  await t.rejects(manifest.drop([1], []), /assertion/);
  await t.rejects(manifest.drop([7], []), /assertion/);
});

const wrong: [string, unknown[], { code: string; message?: string }][] = [
  [
    'an earlier draft',
    [{ ...STORE, format: 0 }],
    {
      code: 'USAGE',
      message: `of draft 0 of the format, this program reads drafts 1 to ${FORMAT_VERSION}`,
    },
  ],
  ['no store record', [{ type: 'segment', segment: 1, writer: 0 }], corrupt()],
  ['a second store record', [STORE, STORE], corrupt()],
  ['a short secret', [{ ...STORE, secret: FOLDER }], corrupt('secret is not 32 bytes')],
  ['a record that is no map', [STORE, 7], corrupt('not a map')],
  ['a type that is not known', [STORE, { type: 'x' }], corrupt('type is x')],
  ['a missing field', [STORE, { type: 'segment', segment: 1 }], corrupt('writer is undefined')],
  ['a negative count', [STORE, { ...closing(1), bytes: -1 }], corrupt('bytes is -1')],
  ['a closed segment that is not known', [STORE, closing(4)], corrupt('segment 4 is not known')],
  ['a source that is not known', [STORE, sealed([4])], corrupt('segment 4 is not known')],
  ['a source that is open', [STORE, segment(4), sealed([4])], corrupt('or not closed')],
  ['a sealed segment twice', [STORE, sealed([]), sealed([])], corrupt('segment 9 a second time')],
  ['a block of five', [STORE, sealed([], [1, 2, 3, 4, 5])], corrupt('is not six numbers')],
  ['a block of texts', [STORE, sealed([], ['1', 2, 3, 4, 5, 6])], corrupt('is not six numbers')],
  ['a dropped segment that is not known', [STORE, dropped(4)], corrupt('segment 4 is not known')],
  ['a writer beyond 255', [STORE, { ...segment(1), writer: 256 }], corrupt('writer is 256')],
  ['a sequence beyond 2^48', [STORE, summary(2 ** 48 + 1)], corrupt('sequence is 281')],
  ['usage that is no list', [STORE, { ...summary(0), usage: 1 }], corrupt('usage is not a list')],
  ['a segment twice', [STORE, segment(1), segment(1)], corrupt('segment 1 a second time')],
];

function segment(number: number): object {
  return { type: 'segment', segment: number, writer: 0 };
}

function sealed(sources: number[], block: unknown[] = [1, 2, 3, 4, 5, 6]): object {
  const facts = { bytes: 1, rowCount: 1, minTimeMs: 1, maxTimeMs: 1, sealedMs: 1 };
  return {
    type: 'sealed',
    sources,
    segments: [{ segment: 9, ...facts, blocks: [block] }],
    usage: [],
  };
}

function dropped(number: number): object {
  return { type: 'dropped', segments: [number], usage: [] };
}

function summary(sequence: number): object {
  return { type: 'summary', lastSegment: 1, sequence, usage: [] };
}

function closing(number: number): object {
  return { type: 'closed', segment: number, bytes: 0, sequence: 0, damaged: [] };
}

function corrupt(what?: string): { code: string; message?: string } {
  return { code: 'CORRUPTION', ...(what === undefined ? {} : { message: what }) };
}

t.test('records that cannot be are refused', async (t) => {
  for (const [name, records, error] of wrong) {
    const disk = new MemoryDisk();
    const { file } = RecordFile.open(disk, 'manifest');
    for (const record of records) await file.append(record);
    await file.close();
    await t.rejects(
      Manifest.open(disk, 1),
      error.message === undefined ? error : { ...error, message: new RegExp(error.message) },
      name,
    );
  }
});
