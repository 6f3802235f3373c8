import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { type Disk, openDisk } from '../../engine/base/file.ts';
import { RecordFile } from '../../engine/base/record-file.ts';
import {
  digestName,
  digestNameOf,
  digestOf,
  makeKey,
  sameSecret,
} from '../../server/registry/digest.ts';
import { KeyLookup, NO_CELL } from '../../server/registry/key-table.ts';
import { type Keys, openKeys } from '../../server/registry/keys.ts';
import { openAdminToken, readSecret } from '../../server/registry/secret.ts';
import { dayOf, UsageCells } from '../../server/registry/usage.ts';
import { type Loss, MemoryDisk } from '../support/memory-disk.ts';

const WHO = { who: 'test' };
const ADMIN = { who: 'admin-token', peer: '192.0.2.7' };

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const DAY = dayOf(NOW_MS);

/** A data folder of its own for one test. */
class Folder {
  readonly root: string;
  cells = new UsageCells();

  constructor(t: { teardown(run: () => void): void }) {
    this.root = mkdtempSync(join(tmpdir(), 'logseam-keys-'));
    t.teardown(() => rmSync(this.root, { recursive: true }));
  }

  path(name: string): string {
    return join(this.root, name);
  }

  open(planLimitMb?: number, disk: Disk = openDisk(this.root)): Promise<Keys> {
    this.cells = new UsageCells();
    return openKeys({ disk, cells: this.cells, planLimitMb, nowMs: () => NOW_MS });
  }

  audit(): Record<string, unknown>[] {
    const lines = readFileSync(this.path('audit.log'), 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line));
  }
}

function shown(keys: Keys): unknown[] {
  return [...keys.list('write'), ...keys.list('read')].map(({ cell: _, ...record }) => record);
}

t.test('a key is 128 random bits as 22 characters that are safe in a URL', async (t) => {
  const keys = Array.from({ length: 200 }, makeKey);
  t.ok(keys.every((key) => /^[\w-]{22}$/.test(key)));
  t.equal(new Set(keys).size, keys.length);
  t.ok(sameSecret(keys[0], `${keys[0]}`));
  t.notOk(sameSecret(keys[0], keys[1]));
  t.notOk(sameSecret(keys[0], ''));
});

t.test('the first start makes a write key and a read key, later ones none', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  const made = must(await keys.provision(), 'keys');
  t.equal(keys.lookup(made.writeKey)?.kind, 'write');
  t.equal(keys.lookup(made.readKey)?.kind, 'read');
  t.equal(readFileSync(folder.path('write-key'), 'utf8'), `${made.writeKey}\n`);
  t.equal(await keys.provision(), undefined);
  await keys.close();
  const again = await folder.open();
  t.equal(await again.provision(), undefined);
  t.equal(again.lookup(made.writeKey)?.name, 'default');
  await again.delete(must(again.named('write', 'default'), 'key').id, WHO);
  await again.delete(must(again.named('read', 'default'), 'key').id, WHO);
  await again.close();
  const bare = await folder.open();
  t.equal(await bare.provision(), undefined, 'deleting all keys is no first start');
  await bare.close();
});

t.test('no key stands in any file but write-key, and all are for the owner only', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  const made = must(await keys.provision(), 'keys');
  const { text } = await keys.create({ kind: 'write', name: 'one' }, WHO);
  const token = await openAdminToken(openDisk(folder.root));
  t.match(token, /^[\w-]{43}$/);
  t.equal(await openAdminToken(openDisk(folder.root)), token, 'the token stays');
  for (const name of ['keys', 'audit.log', 'write-key', 'admin-token']) {
    t.equal(statSync(folder.path(name)).mode & 0o777, 0o600, name);
  }
  for (const name of ['keys', 'audit.log']) {
    const content = readFileSync(folder.path(name), 'latin1');
    for (const secret of [text, made.writeKey, made.readKey])
      t.notOk(content.includes(secret), name);
  }
  await keys.close();
});

t.test('keys survive a reopen with all that was changed', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open(1_000);
  const write = await keys.create({ kind: 'write', name: 'web' }, WHO);
  const read = await keys.create({ kind: 'read', name: 'web', filter: 'team:red' }, WHO);
  const gone = await keys.create({ kind: 'write', name: 'gone' }, WHO);
  const quota = { type: 'percentage', value: 12.5 } as const;
  await keys.change(write.key.id, { name: 'Wéb 🙂', enabled: false, quota }, WHO);
  await keys.change(read.key.id, { filter: null }, WHO);
  await keys.delete(gone.key.id, WHO);
  const before = shown(keys);
  t.match(before, [
    { name: 'Wéb 🙂', enabled: false, quota },
    { name: 'web', filter: undefined },
  ]);
  await keys.close();
  const again = await folder.open(1_000);
  t.same(shown(again), before);
  t.equal(again.lookup(write.text)?.id, write.key.id);
  t.equal(again.lookup(gone.text), undefined);
  t.equal(again.named('write', write.key.id)?.name, 'Wéb 🙂');
  await again.close();
});

t.test('changes are in force in the cells at once', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open(10);
  const { key } = await keys.create({ kind: 'write', name: 'a' }, WHO);
  const { cells } = folder;
  t.equal(cells.reserve(key.cell, 900_000, DAY), 'ok');
  await keys.change(key.id, { quota: { type: 'megabytes', value: 0.9 } }, WHO);
  t.equal(cells.reserve(key.cell, 1, DAY), 'quota');
  await keys.change(key.id, { quota: { type: 'percentage', value: 10 } }, WHO);
  t.equal(cells.reserve(key.cell, 100_000, DAY), 'ok', '10 percent of 10 MB are 1 MB');
  t.equal(cells.reserve(key.cell, 1, DAY), 'quota');
  await keys.change(key.id, { quota: null }, WHO);
  t.equal(cells.reserve(key.cell, 1, DAY), 'ok');
  await keys.change(key.id, { enabled: false }, WHO);
  t.equal(cells.reserve(key.cell, 1, DAY), 'disabled');
  t.equal(cells.reserve(key.cell, 1, DAY + 1), 'disabled', 'also after midnight');
  await keys.change(key.id, { enabled: true }, WHO);
  t.equal(cells.reserve(key.cell, 1, DAY), 'ok');
  await keys.delete(key.id, WHO);
  t.equal(cells.reserve(key.cell, 1, DAY), 'disabled');
  const next = await keys.create({ kind: 'write', name: 'a' }, WHO);
  t.not(next.key.cell, key.cell, 'a freed cell rests');
  await keys.close();
});

t.test('what is not allowed is refused with its reason and changes nothing', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  const { key } = await keys.create({ kind: 'write', name: 'a' }, WHO);
  const read = await keys.create({ kind: 'read', name: 'a' }, WHO);
  const before = shown(keys);
  const table: [Promise<unknown>, RegExp][] = [
    [keys.create({ kind: 'write', name: 'a' }, WHO), /"a" is taken/],
    [keys.create({ kind: 'write', name: key.id }, WHO), /is taken/],
    [keys.create({ kind: 'write', name: '' }, WHO), /0 characters.*1 to 100/],
    [keys.create({ kind: 'write', name: 'é'.repeat(101) }, WHO), /101 characters/],
    [keys.create({ kind: 'write', name: 'a\u001b[1m' }, WHO), /control character/],
    [keys.create({ kind: 'write', name: ' a' }, WHO), /blank/],
    [keys.create({ kind: 'write', name: 'b', filter: 'x' }, WHO), /no security filter/],
    [keys.create({ kind: 'read', name: 'b', enabled: false }, WHO), /neither quota nor switch/],
    [keys.change(key.id, { quota: { type: 'megabytes', value: 0 } }, WHO), /value is 0/],
    [keys.change(key.id, { quota: { type: 'megabytes', value: 1e9 } }, WHO), /at most 100000000/],
    [keys.change(key.id, { quota: { type: 'percentage', value: 101 } }, WHO), /at most 100/],
    [keys.change(key.id, { quota: { type: 'percentage', value: 1 } }, WHO), /plan_limit_mb/],
    [keys.change(read.key.id, { filter: 'x'.repeat(10_001) }, WHO), /10001 characters/],
    [keys.change('nobody', {}, WHO), /"nobody"/],
    [keys.delete('nobody', WHO), /"nobody"/],
  ];
  for (const [refused, message] of table) await t.rejects(refused, { code: 'USAGE', message });
  t.same(shown(keys), before);
  t.equal(folder.audit().length, 2);
  const both = [
    keys.create({ kind: 'write', name: 'c' }, WHO),
    keys.create({ kind: 'write', name: 'c' }, WHO),
  ];
  const outcomes = await Promise.allSettled(both);
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
    'names are unique in a race too',
  );
  await keys.close();
  await t.rejects(keys.delete(key.id, WHO), { code: 'CLOSED' });
});

t.test(
  'a key with a percentage quota takes nothing without the plan limit, and follows it',
  async (t) => {
    const folder = new Folder(t);
    const keys = await folder.open(100);
    const { text } = await keys.create(
      { kind: 'write', name: 'a', quota: { type: 'percentage', value: 50 } },
      WHO,
    );
    await keys.close();
    const off = await folder.open();
    t.same(off.withoutLimit(), ['a']);
    t.equal(folder.cells.reserve(must(off.lookup(text), 'key').cell, 1, DAY), 'quota');
    await off.close();
    const again = await folder.open(2);
    t.same(again.withoutLimit(), []);
    const cell = must(again.lookup(text), 'key').cell;
    t.equal(folder.cells.reserve(cell, 1_000_000, DAY), 'ok');
    t.equal(folder.cells.reserve(cell, 1, DAY), 'quota');
    await again.close();
  },
);

t.test('every change is a line of audit.log without the key', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  await keys.provision();
  const { key } = await keys.create({ kind: 'write', name: 'a' }, ADMIN);
  await keys.close();
  appendFileSync(folder.path('audit.log'), '{"cut');
  const again = await folder.open();
  await again.change(key.id, { enabled: false }, ADMIN);
  await again.delete(key.id, ADMIN);
  await again.close();
  const text = readFileSync(folder.path('audit.log'), 'utf8');
  t.match(text, /\n\{"cut\n\{/, 'a line that was cut is closed');
  writeFileSync(folder.path('audit.log'), text.replace('{"cut\n', ''));
  const at = '2026-03-01T12:00:00.000Z';
  const id = key.id;
  t.match(folder.audit(), [
    { at, who: 'first start', what: 'create', resource: 'write_keys', name: 'default' },
    { at, who: 'first start', what: 'create', resource: 'read_keys', name: 'default' },
    {
      at,
      ...ADMIN,
      what: 'create',
      resource: 'write_keys',
      id,
      name: 'a',
      enabled: true,
    },
    { at, ...ADMIN, what: 'change', id, enabled: false },
    { at, ...ADMIN, what: 'delete', id },
  ]);
});

t.test('a change that cannot be written is not in force', async (t) => {
  const folder = new Folder(t);
  const real = openDisk(folder.root);
  let failing = '';
  const disk: Disk = {
    ...real,
    open: (path, mode) => {
      const file = real.open(path, mode);
      return {
        bytes: () => file.bytes(),
        read: (target, position) => file.read(target, position),
        write: (chunks, position) =>
          failing !== '' && path.startsWith(failing)
            ? Promise.reject(new EngineError('IO', 'no space'))
            : file.write(chunks, position),
        sync: () => file.sync(),
        truncate: (bytes) => file.truncate(bytes),
        lock: () => file.lock(),
        standsAt: (name, bytes) => file.standsAt(name, bytes),
        close: () => file.close(),
      };
    },
  };
  const keys = await folder.open(undefined, disk);
  const { key } = await keys.create({ kind: 'write', name: 'a' }, WHO);
  for (const path of ['keys', 'audit.log']) {
    failing = path;
    await t.rejects(keys.change(key.id, { enabled: false }, WHO), { code: 'IO' }, path);
    t.equal(keys.named('write', 'a')?.enabled, true);
    t.equal(folder.cells.reserve(key.cell, 1, DAY), 'ok');
  }
  failing = '';
  await keys.change(key.id, { enabled: false }, WHO);
  await keys.close();
  const again = await folder.open();
  t.equal(again.named('write', 'a')?.enabled, false);
  await again.close();
});

/** First start, then changes; what was acknowledged before a stop, as names and states. */
async function changeKeys(disk: Disk, acknowledged: Map<string, string>): Promise<void> {
  const cells = new UsageCells();
  const keys = await openKeys({ disk, cells, planLimitMb: undefined, nowMs: () => NOW_MS });
  const made = await keys.provision();
  if (made !== undefined) acknowledged.set('default', made.writeKey);
  const { key, text } = await keys.create({ kind: 'write', name: 'a' }, WHO);
  acknowledged.set('a', text);
  await keys.change(key.id, { enabled: false }, WHO);
  acknowledged.set('off', text);
  await keys.delete(key.id, WHO);
  acknowledged.set('gone', text);
}

t.test('after a stop at any call every acknowledged change is there', async (t) => {
  const losses: Loss[] = [{ type: 'none' }, { type: 'all' }];
  for (let seed = 0; seed < 8; seed++) losses.push({ type: 'random', seed });
  let stopCount = 0;
  for (const loss of losses) {
    for (let call = 1, done = false; !done; call++) {
      const disk = new MemoryDisk();
      const acknowledged = new Map<string, string>();
      disk.faults = { crashAtCall: call };
      done = await changeKeys(disk, acknowledged).then(
        () => true,
        () => false,
      );
      stopCount++;
      disk.crash(loss);
      const cells = new UsageCells();
      const keys = await openKeys({ disk, cells, planLimitMb: undefined, nowMs: () => NOW_MS });
      const place = `call ${call}, ${JSON.stringify(loss)}`;
      const text = acknowledged.get('a') ?? '';
      const key = keys.lookup(text);
      if (acknowledged.has('gone') && key !== undefined) t.fail(`${place}: deleted and back`);
      if (acknowledged.has('off') && key?.enabled === true) t.fail(`${place}: on again`);
      const isMade = text !== '' && !acknowledged.has('off');
      if (isMade && key === undefined) t.fail(`${place}: made and gone`);
      const first = acknowledged.get('default') ?? (await keys.provision())?.writeKey;
      const kept = readSecret(disk, 'write-key') ?? '';
      if (first !== undefined && kept !== first) t.fail(`${place}: write-key is another one`);
      if (keys.lookup(kept)?.kind !== 'write') t.fail(`${place}: write-key is of no use`);
    }
  }
  t.ok(stopCount > 200, `${stopCount} stops`);
});

t.test('records that are none of ours are corruption, and named', async (t) => {
  const good = {
    kind: 'write',
    id: 'x',
    name: 'x',
    digest: digestOf('x'),
    createdMs: 1,
    enabled: true,
  };
  const table: [unknown, RegExp][] = [
    ['text', /record 0 of keys: not a list/],
    [[{ type: 'other' }], /type "other"/],
    [[7], /entry is 7/],
    [[{ type: 'key' }], /key is missing/],
    [[{ type: 'key', key: { ...good, kind: 'admin' } }], /wrong kind/],
    [[{ type: 'key', key: { ...good, digest: new Uint8Array(31) } }], /wrong digest/],
    [[{ type: 'key', key: { ...good, name: 7 } }], /name/],
    [[{ type: 'key', key: { ...good, enabled: 1 } }], /wrong enabled/],
    [[{ type: 'key', key: { ...good, quota: { type: 'x', value: 1 } } }], /daily_quota/],
    [[{ type: 'key', key: { ...good, filter: 7 } }], /wrong filter/],
  ];
  for (const [record, message] of table) {
    const folder = new Folder(t);
    const { file } = RecordFile.open(openDisk(folder.root), 'keys');
    await file.append(record);
    await file.close();
    await t.rejects(folder.open(), { code: 'CORRUPTION', message });
  }
});

t.test('a worker finds write keys by their bytes, and nothing else', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  const made = must(await keys.provision(), 'keys');
  const second = await keys.create({ kind: 'write', name: 'second' }, WHO);
  const lookup = new KeyLookup();
  const find = (text: string): number => {
    const line = new TextEncoder().encode(`..${text} content`);
    return lookup.find(line, 2, 2 + new TextEncoder().encode(text).length);
  };
  t.equal(find(made.writeKey), NO_CELL, 'no table, no keys');
  const old = keys.table();
  lookup.update(structuredClone(old));
  const first = must(keys.lookup(made.writeKey), 'key');
  for (let round = 0; round < 3; round++) {
    t.equal(find(made.writeKey), first.cell);
    t.equal(find(second.text), second.key.cell);
    t.equal(find(second.text), second.key.cell);
    t.equal(lookup.id(second.key.cell), second.key.id);
    for (const text of [made.readKey, makeKey(), second.text.slice(1), `${second.text}x`, '']) {
      t.equal(find(text), NO_CELL);
    }
    const changed = (second.text[21] === 'A' ? 'Q' : 'A').padStart(22, second.text.slice(0, 21));
    t.equal(find(changed), NO_CELL, 'a key that differs in its last character');
    t.equal(find(`\u00ff${second.text.slice(2)}`), NO_CELL);
  }
  await keys.delete(second.key.id, WHO);
  lookup.update(keys.table());
  t.equal(find(second.text), NO_CELL);
  t.equal(lookup.id(second.key.cell), second.key.id, 'events on their way still have their key');
  lookup.update(old);
  t.equal(find(second.text), NO_CELL, 'an older table that comes late is left aside');
  t.equal(find(made.writeKey), first.cell);
  await keys.close();
});

t.test('a key that was found before is found as it is by now', async (t) => {
  const folder = new Folder(t);
  const keys = await folder.open();
  const made = [];
  for (let number = 0; number < 300; number++) {
    made.push(
      await keys.create({ kind: number % 2 === 0 ? 'write' : 'read', name: `k${number}` }, WHO),
    );
  }
  for (let round = 0; round < 3; round++) {
    t.ok(made.every(({ text, key }) => keys.lookup(text) === key));
    for (const { text } of made) {
      const last = text[21] === 'A' ? 'Q' : 'A';
      for (const other of [text.slice(0, 21), `${text}x`, `${text.slice(0, 21)}${last}`]) {
        if (keys.lookup(other) !== undefined) t.fail(`${other} is no key`);
      }
    }
  }
  const [first, second] = made;
  await keys.change(first.key.id, { name: 'other', enabled: false }, WHO);
  t.match(keys.lookup(first.text), { name: 'other', enabled: false });
  t.equal(keys.lookup(second.text), second.key);
  await keys.delete(second.key.id, WHO);
  t.equal(keys.lookup(second.text), undefined);
  await keys.close();
});

t.test('more keys than there is memory for are found all the same', async (t) => {
  const texts = Array.from({ length: 3_000 }, makeKey);
  const entries = texts.map((text, cell) => {
    return { digest: digestOf(text), id: `id${cell}`, name: `name${cell}`, cell };
  });
  const lookup = new KeyLookup();
  lookup.update({ version: 1, entries });
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  for (let round = 0; round < 2; round++) {
    t.ok(bytes.every((key, cell) => lookup.find(key, 0, key.length) === cell));
  }
});

t.test('a digest has one name', async (t) => {
  t.equal(
    digestName(digestOf('abc')),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
  t.same(digestOf(new TextEncoder().encode('abc')), digestOf('abc'));
  t.equal(digestNameOf('abc'), digestName(digestOf('abc')));
});

t.test('keys that must be there are not made anew', async (t) => {
  const disk = new MemoryDisk();
  const options = { disk, cells: new UsageCells(), planLimitMb: undefined, nowMs: () => NOW_MS };
  const message = /^keys and keys.copy are missing or empty, but the folder is not new: put one/;
  await t.rejects(openKeys({ ...options, mustExist: true }), { code: 'CORRUPTION', message });
  t.same(disk.list(''), []);
  const keys = await openKeys(options);
  await keys.provision();
  await keys.close();
  await (await openKeys({ ...options, mustExist: true })).close();
  for (const path of ['keys', 'keys.copy']) disk.damage(path, () => new Uint8Array());
  await t.rejects(openKeys({ ...options, mustExist: true }), { code: 'CORRUPTION', message });
});

t.test('an admin-token that was cut is refused, one that is gone is made', async (t) => {
  const disk = new MemoryDisk();
  const token = await openAdminToken(disk);
  for (const length of [0, 1, 42]) {
    disk.damage('admin-token', (bytes) => bytes.subarray(0, length));
    await t.rejects(openAdminToken(disk), { code: 'CORRUPTION', message: /^admin-token does not/ });
  }
  await disk.unlink('admin-token');
  t.not(await openAdminToken(disk), token);
});
