import t from 'tap';
import { RecordFile, readRecords } from '../../engine/base/record-file.ts';
import { definitionRules } from '../../server/api/admin/definition-rules.ts';
import { type Definitions, openDefinitions } from '../../server/registry/definitions.ts';
import { digestOf } from '../../server/registry/digest.ts';
import type { KeyEntry } from '../../server/registry/key-record.ts';
import { type Keys, openKeys } from '../../server/registry/keys.ts';
import { UsageCells } from '../../server/registry/usage.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const WHO = { who: 'test' };

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const nowMs = (): number => NOW_MS;

/** A registry of which a journal can be grown. */
interface Registry {
  close(): Promise<void>;
}

/** One kind of journal: its file, many records, how it is opened, and what is to stay the same. */
interface Kind<T extends Registry> {
  path: string;
  records: unknown[];
  open: (disk: MemoryDisk) => Promise<T>;
  state: (registry: T) => unknown;
  /** A change that is there afterwards. */
  change: (registry: T) => Promise<unknown>;
}

function keyEntry(id: string, name: string, enabled = true): KeyEntry {
  const key = { kind: 'write' as const, id, name, digest: digestOf(id), createdMs: 7, enabled };
  return { type: 'key', key };
}

/** 1,302 records of three keys, of which the last one was deleted. */
const keyRecords: KeyEntry[][] = [[keyEntry('a', 'first'), keyEntry('b', 'second')]];
for (let turn = 0; turn < 1_300; turn++) {
  keyRecords.push([
    turn % 3 === 2 ? keyEntry('c', 'third') : keyEntry('ab'[turn % 3], `n${turn}`, turn % 2 > 0),
  ]);
}
keyRecords.push([{ type: 'deleted', id: 'c' }]);

const KEYS: Kind<Keys> = {
  path: 'keys',
  records: keyRecords,
  open: (disk) => openKeys({ disk, cells: new UsageCells(), planLimitMb: undefined, nowMs }),
  state: (keys) => keys.list('write').map((key) => ({ ...key, digest: [...key.digest] })),
  change: (keys) => keys.create({ kind: 'write', name: 'new' }, WHO),
};

const definition = (id: string, name: string): object => ({
  type: 'definition',
  kind: 'fields',
  definition: { id, name, attribute: `custom.${id}` },
});

/** 1,302 records of three fields and of an extension that was deleted, in an order of their own. */
const definitionRecords: object[][] = [
  [definition('a', 'A'), definition('b', 'B'), definition('c', 'C')],
  ...Array.from({ length: 1_299 }, (_, turn) => [definition('abc'[turn % 3], `name ${turn}`)]),
  [{ type: 'order', kind: 'fields', ids: ['c', 'a', 'b'] }],
  [{ type: 'deleted', kind: 'extensions', id: 'gone' }],
];

const DEFINITIONS: Kind<Definitions> = {
  path: 'definitions',
  records: definitionRecords,
  open: (disk) => openDefinitions({ disk, rules: definitionRules(() => [], nowMs), nowMs }),
  state: (definitions) => definitions.list('fields'),
  change: (definitions) =>
    definitions.create('fields', new Map(Object.entries(FIELD_OF_TEST)), WHO),
};

const FIELD_OF_TEST = { id: 'd', name: 'D', attribute: 'custom.d' };

async function grown({ path, records }: Pick<Kind<Keys>, 'path' | 'records'>): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  const { file } = RecordFile.open(disk, path);
  await file.rewrite(records);
  await file.close();
  return disk;
}

function recordCount(disk: MemoryDisk, path: string): number {
  return readRecords(disk, path).records.length;
}

async function checkKind<T extends Registry>(t: Tap, kind: Kind<T>): Promise<void> {
  const { path, open, state, change } = kind;
  const first = await grown(kind);
  const calls = first.calls;
  const registry = await open(first);
  const wanted = JSON.stringify(state(registry));
  const callCount = first.calls - calls;
  t.ok(callCount >= 5, `${callCount} calls`);
  const liveCount = recordCount(first, path);
  t.ok(liveCount < 6, `${liveCount} records are left`);
  await change(registry);
  const changed = JSON.stringify(state(registry));
  await registry.close();
  first.crash({ type: 'all' });
  t.equal(JSON.stringify(state(await open(first))), changed, 'what came after it is there');

  for (let call = 1; call <= callCount; call++) {
    for (const seed of [0, 1, 2, 3, 4]) {
      const disk = await grown(kind);
      disk.faults = { crashAtCall: disk.calls + call };
      await open(disk).catch(() => undefined);
      disk.crash(seed === 0 ? { type: 'all' } : { type: 'random', seed });
      const next = await open(disk);
      const found = JSON.stringify(state(next));
      if (found !== wanted) t.fail(`stopped at call ${call}, seed ${seed}: ${found}`);
      await next.close();
      if (recordCount(disk, path) !== liveCount) t.fail(`stopped at call ${call}: not rewritten`);
    }
  }
}

type Tap = Pick<typeof t, 'ok' | 'equal' | 'fail'>;

t.test('a grown file of keys is rewritten whole, wherever it stops', async (t) => {
  await checkKind(t, KEYS);
});

t.test('a grown file of definitions is rewritten whole, wherever it stops', async (t) => {
  await checkKind(t, DEFINITIONS);
});

t.test('when all keys were deleted, none are made again', async (t) => {
  const deleted = ['a', 'b'].map((id): KeyEntry => ({ type: 'deleted', id }));
  const disk = await grown({ path: 'keys', records: [...keyRecords, deleted] });
  for (const _ of [1, 2]) {
    const keys = await KEYS.open(disk);
    t.equal(await keys.provision(), undefined);
    t.same(keys.list('write'), []);
    await keys.close();
    t.equal(recordCount(disk, 'keys'), 1);
    disk.crash({ type: 'all' });
  }
});

t.test('a kind of definitions that was emptied stays empty', async (t) => {
  const disk = await grown(DEFINITIONS);
  const definitions = await DEFINITIONS.open(disk);
  await definitions.provision();
  await definitions.close();
  const again = await DEFINITIONS.open(disk);
  await again.provision();
  t.same(again.list('extensions'), []);
  t.equal(again.list('fields').length, 3);
});

t.test('without room for another file the old one is as good', async (t) => {
  for (const call of [4, 5, 6, 7, 8, 9, 10, 11, 12]) {
    const disk = await grown(KEYS);
    disk.faults = { failAtCall: disk.calls + call };
    const keys = await KEYS.open(disk);
    t.equal(keys.list('write').length, 2);
    await keys.create({ kind: 'write', name: 'new' }, WHO);
    await keys.close();
    disk.crash({ type: 'all' });
    t.equal((await KEYS.open(disk)).list('write').length, 3);
  }
});

t.test('a file that is needed as it is, or is small, stays', async (t) => {
  for (const records of [
    keyRecords.slice(0, 900),
    Array.from({ length: 1_100 }, (_, at) => [keyEntry(`k${at % 400}`, `n${at % 400}`)]),
  ]) {
    const disk = await grown({ path: 'keys', records });
    const before = disk.content('keys');
    await KEYS.open(disk);
    t.same(Buffer.compare(disk.content('keys'), before), 0);
  }
});
