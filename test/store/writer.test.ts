import { mock } from 'node:test';
import t from 'tap';
import {
  BLOCK_AGE_MAX_MS,
  BLOCK_BYTES_FINAL,
  BLOCK_ROWS_CLOSE,
  BLOCK_ROWS_FINAL,
  LOG_SEGMENT_ROWS_MAX,
} from '../../engine/base/limits.ts';
import { Rows } from '../../engine/column/rows.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { countRequests, DAY, openStore, Rig, visibleTexts } from './rig.ts';

const rig = () => Rig.open(new MemoryDisk());
const blockRows = (rig: Rig) => rig.opened.catalog.snapshot().blocks.map((b) => b.rowCount);

t.test('rows are visible when append resolves, and after a power loss', async (t) => {
  const { disk } = await (async () => {
    const one = await rig();
    await one.append('a', 3);
    t.same([...one.shown()], [['a', 3]]);
    return one;
  })();
  disk.crash({ type: 'all' });
  const opened = await openStore(disk);
  t.same([...countRequests(visibleTexts(disk, opened))], [['a', 3]]);
  t.same(opened.usage, [{ key: 'key', day: DAY, bytes: 30, events: 3 }]);
  t.same(opened.report, {
    segments: 1,
    recovered: [1],
    remarks: [],
    unclosed: [],
    removed: [],
    healed: [],
    moved: [],
    lost: [],
  });
});

t.test('what comes while a group is written joins the next one', async (t) => {
  const one = await rig();
  await one.append('z', 1);
  const first = one.append('a', 1);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = ['b', 'c', 'd'].map((name) => one.append(name, 2));
  await first;
  t.same(
    [...one.shown()],
    [
      ['z', 1],
      ['a', 1],
    ],
  );
  await Promise.all(rest);
  t.equal(one.groups.length, 3);
  t.same(one.groups[2]?.usage, [{ key: 'key', day: DAY, bytes: 60, events: 6 }]);
  t.same([...one.shown().values()], [1, 1, 2, 2, 2]);
});

t.test(
  'senders that were just answered are waited for, when there are four and more',
  async (t) => {
    const one = await rig();
    await one.append('z', 1);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const send = async (name: string, turns: number, rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await one.append(`${name}${round}`, 1);
        for (let at = 0; at < turns; at++) await turn();
      }
    };
    const sizesOf = async (names: string, rounds = 3): Promise<number[]> => {
      const { length } = one.groups;
      await Promise.all([...names].map((name, turns) => send(name, turns, rounds)));
      return one.groups.slice(length).map(({ claim }) => claim.end - claim.first);
    };
    const sendAlone = async (name: string): Promise<void> => {
      const { length } = one.groups;
      const alone = one.append(name, 1);
      await turn();
      t.equal(one.groups.length, length, 'the others may come');
      mock.timers.tick(2);
      await alone;
      t.equal(one.groups.length, length + 1, 'those that do not come are not waited for long');
    };
    mock.timers.enable({ apis: ['setTimeout'] });
    t.teardown(() => mock.timers.reset());
    t.same(await sizesOf('abcd'), [4, 4, 4]);
    await sendAlone('e');
    const sizes = await sizesOf('fghi');
    t.ok(sizes.length > 3, `nor is anybody, for a while after that: ${sizes}`);
    one.nowMs += 1_000;
    t.same(await sizesOf('jklm', 6), [4, 4, 4, 4, 4, 4]);
    await sendAlone('n');
    await one.append('o', 1);
    t.same((await sizesOf('pqrs')).length, 3, 'once in a while they may not come');
  },
);

t.test('a group of most senders keeps the thread until it is durable', async (t) => {
  const one = await rig();
  await one.append('z', 1);
  const append = async (names: string, urgent = true, senders = 1): Promise<number> => {
    const { blockingWrites } = one.disk;
    await Promise.all([...names].map((name) => one.append(name, 1, urgent, senders)));
    return one.disk.blockingWrites - blockingWrites;
  };
  t.equal(await append('a'), 0, 'nobody told of senders');
  one.writer.told(18);
  t.equal(await append('b'), 0, '17 are to come');
  t.equal(await append('c'), 1, '16 are');
  t.equal(await append('i', true, 16), 1, 'one append has the rows of all');
  t.equal(await append('d'), 0, 'nobody is known');
  one.writer.told(1);
  const lines = one.append('g', 1, false);
  t.equal(await append('h'), 0, 'sockets of the thread have lines');
  await lines;
});

t.test('senders that were told of are waited for, wherever their bodies are', async (t) => {
  const one = await rig();
  await one.append('z', 1);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  one.writer.told(4);
  await one.append('a', 1);
  const { length } = one.groups;
  await Promise.all(
    ['b', 'c', 'd', 'e'].map(async (name, turns) => {
      for (let at = 0; at < turns; at++) await new Promise((resolve) => setImmediate(resolve));
      await one.append(name, 1);
    }),
  );
  t.equal(one.groups.length, length + 1);
});

t.test('a thread that has nothing else to do waits for senders by itself', async (t) => {
  const rest: Promise<void>[] = [];
  let coming = '';
  let isFree = true;
  const waitFor = (ms: number): boolean | undefined => {
    t.ok([0, 1].includes(ms), 'the clock stands still');
    if (ms === 0 || !isFree) return ms === 0 ? false : undefined;
    const [name] = coming;
    if (name === undefined) return false;
    coming = coming.slice(1);
    rest.push(one.append(name, 1));
    return true;
  };
  const one = await Rig.open(new MemoryDisk(), { waitFor });
  const sizeOf = async (name: string, others: string): Promise<number | undefined> => {
    coming = others;
    one.writer.told(4);
    await Promise.all([one.append(name, 1), ...rest.splice(0)]);
    const claim = one.groups.at(-1)?.claim;
    return claim && claim.end - claim.first;
  };
  t.equal(await sizeOf('z', ''), 1);
  for (const name of 'abcde') t.equal(await sizeOf(name, 'fgh'), 4);
  t.equal(await sizeOf('i', 'j'), 2, 'some do not come');
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  isFree = false;
  const size = sizeOf('k', '');
  await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(2);
  t.equal(await size, 1, 'its event loop waits');
  await Promise.all(rest);
});

t.test('what came while the first body of a group was read is of that group', async (t) => {
  let rest: Promise<void> | undefined;
  const waitFor = (): boolean => {
    rest ??= one.append('b', 2);
    return false;
  };
  const one = await Rig.open(new MemoryDisk(), { waitFor });
  await one.append('a', 1);
  await rest;
  t.equal(one.groups.length, 1);
});

t.test(
  'many senders are waited for longer, as each takes its time, but no more than 64',
  async (t) => {
    const rest: Promise<void>[] = [];
    const waited: number[] = [];
    let coming = 0;
    const waitFor = (ms: number): boolean => {
      if (ms > 0) waited.push(ms);
      if (ms === 0 || coming === 0) return false;
      coming--;
      rest.push(one.append('a', 1));
      return true;
    };
    const one = await Rig.open(new MemoryDisk(), { waitFor });
    const sizeOf = async (senders: number, others: number): Promise<number | undefined> => {
      coming = others;
      one.writer.told(senders);
      await Promise.all([one.append('b', 1), ...rest.splice(0)]);
      const claim = one.groups.at(-1)?.claim;
      return claim && claim.end - claim.first;
    };
    const timeOf = async (senders: number): Promise<unknown> => {
      waited.length = 0;
      const size = await sizeOf(senders, 1_000);
      coming = 0;
      return { size, ms: [...new Set(waited)] };
    };
    await sizeOf(16, 0);
    t.same(await timeOf(64), { size: 16, ms: [1] }, 'there were 16 until now');
    t.same(await timeOf(500), { size: 64, ms: [4] });
    t.same(await timeOf(500), { size: 64, ms: [4] });
  },
);

t.test('what comes while the first segment is made is of the first group', async (t) => {
  const one = await rig();
  const first = one.append('a', 1);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, one.append('b', 2)]);
  t.equal(one.groups.length, 1);
  t.same(one.groups[0]?.claim, { first: 0, end: 3 });
});

t.test('requests of one turn are one group', async (t) => {
  const one = await rig();
  await Promise.all(['a', 'b', 'c'].map((name) => one.append(name, 2)));
  t.equal(one.groups.length, 1);
});

t.test('an old open block is written whole and supersedes its small ones', async (t) => {
  const one = await rig();
  for (const name of ['a', 'b', 'c']) await one.append(name, 5);
  t.same(blockRows(one), [5, 5, 5]);
  const before = visibleTexts(one.disk, one.opened);
  one.writer.tick();
  await one.append('d', 5);
  t.same(blockRows(one), [5, 5, 5, 5]);
  one.nowMs += BLOCK_AGE_MAX_MS;
  one.writer.tick();
  await one.append('e', 1);
  t.same(blockRows(one), [21]);
  const after = visibleTexts(one.disk, one.opened);
  for (const [id, text] of before) t.equal(after.get(id), text, 'ids do not change');
  await one.append('f', 1);
  t.same(blockRows(one), [21, 1]);
});

t.test('one small block of all rows is not written again', async (t) => {
  const one = await rig();
  await one.append('a', 5);
  one.nowMs += BLOCK_AGE_MAX_MS;
  one.writer.tick();
  await new Promise((resolve) => setImmediate(resolve));
  await one.append('b', 5);
  await one.append('c', 5);
  t.same(blockRows(one), [5, 5, 5]);
  await one.writer.close();
  t.same(blockRows(one), [5, 10]);
});

t.test('a flush of many rows closes the open block', async (t) => {
  const one = await rig();
  await one.append('a', 7);
  await one.append('b', BLOCK_ROWS_FINAL - 1);
  t.same(blockRows(one), [7, BLOCK_ROWS_FINAL - 1]);
  await one.append('c', BLOCK_ROWS_FINAL);
  t.same(blockRows(one), [7 + 2 * BLOCK_ROWS_FINAL - 1]);
});

t.test('rows that nobody waits for wait for a larger block, when many come', async (t) => {
  const one = await rig();
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const quarter = BLOCK_ROWS_FINAL / 4;
  const many = ['a', 'b', 'c', 'd'].map((name) => {
    const stored = one.append(name, quarter, false);
    mock.timers.tick(50);
    return stored;
  });
  await Promise.all(many);
  t.same(blockRows(one), [BLOCK_ROWS_FINAL]);
  const some = one.append('e', quarter, false);
  for (let waitedMs = 0; waitedMs < 200; waitedMs += 50) mock.timers.tick(50);
  await some;
  t.same(blockRows(one), [BLOCK_ROWS_FINAL, quarter], 'no longer than 200 ms');
  const few = one.append('f', quarter - 1, false);
  mock.timers.tick(50);
  await few;
  t.same(blockRows(one), [BLOCK_ROWS_FINAL, quarter, quarter - 1]);
  const more = one.append('g', BLOCK_ROWS_FINAL, false);
  mock.timers.tick(50);
  const last = one.append('h', 4 * BLOCK_ROWS_FINAL, false);
  mock.timers.tick(50);
  await Promise.all([more, last]);
  const rows = 5 * BLOCK_ROWS_FINAL + 2 * quarter - 1;
  t.same(blockRows(one), [BLOCK_ROWS_FINAL, rows], 'until they are enough for one');
});

t.test('a flush of few rows with much in them closes the open block', async (t) => {
  const one = await rig();
  const name = 'x'.repeat(BLOCK_BYTES_FINAL / 8);
  await one.append(name, 7);
  await one.append('b', 1);
  t.same(blockRows(one), [7, 1], 'less is in small blocks');
  await one.append(name, 8);
  t.same(blockRows(one), [16]);
});

t.test('a request that fills several blocks is one group', async (t) => {
  const one = await rig();
  await one.append('a', 10);
  const rest = one.append('b', 2 * BLOCK_ROWS_CLOSE);
  t.ok(one.writer.pendingBytes > 0);
  await rest;
  t.equal(one.writer.pendingBytes, 0);
  t.equal(one.groups.length, 2);
  t.same(blockRows(one), [BLOCK_ROWS_CLOSE, BLOCK_ROWS_CLOSE, 10]);
  t.same(one.groups[1]?.superseded, [1]);
  t.same([...one.shown()].sort(), [
    ['a', 10],
    ['b', 2 * BLOCK_ROWS_CLOSE],
  ]);
});

t.test('rows that fill the block while its small one is written supersede that too', async (t) => {
  const one = await rig();
  await one.append('a', 10);
  const small = one.append('b', 10);
  await new Promise((resolve) => setImmediate(resolve));
  const full = one.append('c', BLOCK_ROWS_CLOSE);
  await small;
  t.same(blockRows(one), [10, 10]);
  await full;
  t.same(blockRows(one), [BLOCK_ROWS_CLOSE, 20]);
  t.same([...one.shown().values()].sort(), [10, 10, BLOCK_ROWS_CLOSE]);
});

t.test('rows that nobody waits for wait for others, but not for ever', async (t) => {
  const one = await rig();
  const lines = one.append('a', 1, false);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(one.groups.length, 0);
  await one.append('b', 1);
  await lines;
  t.equal(one.groups.length, 1, 'an urgent request takes them along');
  await one.append('c', 1, false);
  t.equal(one.groups.length, 2, 'the time is up');
  await one.append('d', BLOCK_ROWS_CLOSE, false);
  t.equal(one.groups.length, 3, 'the block is full');
});

t.test('usage without rows is durable too', async (t) => {
  const one = await rig();
  const empty = new Rows();
  empty.reset(new Uint8Array(0), 0);
  await one.writer.append(empty, []);
  t.equal(one.groups.length, 0);
  await one.writer.append(empty, [{ key: 'k', day: DAY, bytes: 9, events: 0 }]);
  one.disk.crash({ type: 'all' });
  t.same((await openStore(one.disk)).usage, [{ key: 'k', day: DAY, bytes: 9, events: 0 }]);
});

t.test('a full segment is closed, and the next one goes on with its sequences', async (t) => {
  const one = await rig();
  await one.append('small', 3);
  const rows = one.rows('many', BLOCK_ROWS_CLOSE);
  const requests = Math.ceil(LOG_SEGMENT_ROWS_MAX / BLOCK_ROWS_CLOSE);
  for (let request = 0; request < requests; request++) await one.writer.append(rows, []);
  t.equal(one.opened.manifest.segments.get(1)?.closed, undefined, 'small blocks are open');
  await one.append('last', BLOCK_ROWS_FINAL);
  await one.append('next', 1);
  const total = 3 + requests * BLOCK_ROWS_CLOSE + BLOCK_ROWS_FINAL;
  t.match(one.opened.manifest.segments.get(1)?.closed, { sequence: total });
  const last = one.opened.catalog.snapshot().blocks.at(-1);
  t.match(last, { segment: 2, firstSequence: total, rowCount: 1 });
  await one.writer.close();
  t.match(one.opened.manifest.segments.get(2)?.closed, { sequence: total + 1 });
});

t.test('close writes the open block whole; later rows are refused', async (t) => {
  const one = await rig();
  await one.append('a', 2);
  const late = one.append('b', 2, false);
  await Promise.all([late, one.writer.close()]);
  t.same(blockRows(one), [4]);
  await t.rejects(one.append('c', 1), { code: 'CLOSED' });
  await one.writer.close();
  const opened = await openStore(one.disk);
  t.same(opened.report, {
    segments: 1,
    recovered: [],
    remarks: [],
    unclosed: [],
    removed: [],
    healed: [],
    moved: [],
    lost: [],
  });
  t.same([...countRequests(visibleTexts(one.disk, opened))].sort(), [
    ['a', 2],
    ['b', 2],
  ]);
});

t.test(
  'a segment that got no rows for a while is closed, its small blocks written whole',
  async (t) => {
    const disk = new MemoryDisk();
    const one = await Rig.open(disk, { segmentIdleMs: 600_000 });
    await one.append('a', 2);
    one.nowMs += 1_000;
    await one.append('b', 3);
    const settled = async (): Promise<void> => {
      one.writer.tick();
      for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    one.nowMs += BLOCK_AGE_MAX_MS;
    await settled();
    t.same(blockRows(one), [5]);
    one.nowMs += 599_999;
    await settled();
    t.equal(one.opened.manifest.segments.get(1)?.closed, undefined);
    one.nowMs += 1;
    await settled();
    t.match(one.opened.manifest.segments.get(1)?.closed, { sequence: 5 });
    t.same(blockRows(one), [5]);
    await one.append('c', 1);
    t.equal(one.opened.manifest.segments.size, 2, 'the next rows begin another');
  },
);

t.test('a segment that grows without end is closed when it is an hour old', async (t) => {
  const one = await Rig.open(new MemoryDisk(), { segmentIdleMs: 600_000 });
  for (let minute = 0; minute <= 61; minute++) {
    await one.append(`m${minute}`, 1);
    one.nowMs += 60_000;
    one.writer.tick();
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(one.opened.manifest.segments.get(1)?.closed);
  t.equal(one.opened.manifest.segments.size, 2);
  t.equal(one.shown().size, 62);
});

t.test('a segment is closed at the rows that it was given, small blocks or not', async (t) => {
  const one = await Rig.open(new MemoryDisk(), { segmentRowsMax: 10 });
  for (let request = 0; request < 4; request++) await one.append(`r${request}`, 6);
  await one.writer.close();
  t.equal(one.opened.manifest.segments.size, 2);
  t.equal(one.shown().size, 4);
});

t.test('a segment is closed at the bytes that it was given, under constant load too', async (t) => {
  const one = await Rig.open(new MemoryDisk(), { segmentBytesMax: 4_096 });
  for (let request = 0; request < 40; request++) {
    const first = one.append(`a${request}`, 5);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, one.append(`b${request}`, 5)]);
  }
  await one.writer.close();
  const { segments } = one.opened.manifest;
  t.ok(segments.size > 5, `${segments.size} segments`);
  for (const [segment, { closed }] of segments) {
    if ((closed?.bytes ?? 0) > 3 * 4_096) t.fail(`segment ${segment} has ${closed?.bytes} bytes`);
  }
  t.equal(one.shown().size, 80);
});

t.test('a writer that was given nothing makes no segment', async (t) => {
  const one = await rig();
  await one.writer.close();
  t.same(one.disk.list('log'), []);
});

t.test('another path table ends the open block', async (t) => {
  const one = await rig();
  await one.append('a', 2);
  const waiting = one.append('b', 2, false);
  one.replacePaths();
  await one.append('c', 2);
  await waiting;
  t.same([...one.shown().values()], [2, 2, 2]);
  t.same(blockRows(one), [4, 2]);
});

t.test('a group that the front refuses is rejected, and the writer goes on', async (t) => {
  const one = await rig();
  await one.append('a', 2);
  one.refuseGroup = true;
  await t.rejects(one.append('b', 2), { message: 'refused' });
  await t.rejects(one.append('c', 2), { code: 'IO', message: 'a write failed 0 ms ago' });
  one.nowMs += 1_000;
  await one.append('d', 2);
  t.same([...one.shown().keys()], ['a', 'd']);
  t.same([...one.opened.manifest.segments.keys()], [1, 2]);
});
