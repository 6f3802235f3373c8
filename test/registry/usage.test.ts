import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { DAY_MS } from '../../engine/base/durations.ts';
import { openKeys } from '../../server/registry/keys.ts';
import {
  CELLS_MAX,
  dayOf,
  NO_QUOTA,
  secondsToMidnight,
  UsageCells,
} from '../../server/registry/usage.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const USAGE_MODULE = new URL('../../server/registry/usage.ts', import.meta.url).href;

function begun(quotaBytes = NO_QUOTA): UsageCells {
  const cells = new UsageCells();
  cells.begin(1);
  cells.limit(1, quotaBytes);
  return cells;
}

t.test('the request that crosses the quota is taken, the next one refused', async (t) => {
  const cells = begun(100);
  t.equal(cells.reserve(1, 60, 5), 'ok');
  t.equal(cells.isSpent(1, 5), false);
  t.equal(cells.reserve(1, 60, 5), 'ok');
  t.equal(cells.isSpent(1, 5), true);
  t.equal(cells.reserve(1, 1, 5), 'quota');
  t.equal(cells.usedBytes(1, 5), 120, 'a refused request does not count');
  const exact = begun(100);
  t.equal(exact.reserve(1, 100, 5), 'ok');
  t.equal(exact.reserve(1, 0, 5), 'quota', 'a quota that is reached is spent');
});

t.test('midnight opens a spent key, a clock that goes back does not', async (t) => {
  const cells = begun(10);
  cells.reserve(1, 10, 5);
  t.equal(cells.reserve(1, 1, 6), 'ok');
  t.equal(cells.usedBytes(1, 6), 1);
  t.equal(cells.reserve(1, 1, 5), 'quota');
  t.equal(cells.isSpent(1, 5), true);
  t.equal(cells.reserve(1, 9, 6), 'ok');
  t.equal(cells.reserve(1, 1, 6), 'quota');
  t.equal(cells.usedBytes(1, 7), 0);
  t.equal(cells.isSpent(1, 7), false);
});

t.test('a day that came too early is no more than the days before it', async (t) => {
  const cells = begun(10);
  cells.reserve(1, 4, 5);
  t.equal(cells.reserve(1, 10, 65), 'ok', 'the clock is ahead');
  t.equal(cells.reserve(1, 1, 65), 'quota');
  t.equal(cells.usedBytes(1, 5), 4);
  t.equal(cells.reserve(1, 6, 5), 'ok', 'and is put right');
  t.equal(cells.reserve(1, 1, 5), 'quota');
  t.equal(cells.reserve(1, 1, 6), 'ok', 'midnight');
  for (const day of [66, 67]) cells.reserve(1, 1, day);
  t.equal(cells.reserve(1, 9, 6), 'ok');
  t.equal(cells.reserve(1, 1, 6), 'quota', 'also after several days that came too early');
});

t.test('a key that is off stays off whatever the day', async (t) => {
  const cells = begun();
  cells.enable(1, false);
  t.equal(cells.reserve(1, 1, 5), 'disabled');
  t.equal(cells.reserve(1, 1, 6), 'disabled');
  cells.enable(1, true);
  t.equal(cells.reserve(1, 1, 6), 'ok');
  t.equal(cells.reserve(0, 1, 6), 'disabled', 'a cell without a key is off');
});

t.test('what is released can be used again on the same day', async (t) => {
  const cells = begun(10);
  cells.reserve(1, 10, 5);
  cells.release(1, 4, 5);
  t.equal(cells.reserve(1, 1, 5), 'ok');
  t.equal(cells.usedBytes(1, 5), 7);
  cells.reserve(1, 2, 6);
  cells.release(1, 2, 5);
  t.equal(cells.usedBytes(1, 6), 2, 'each day has its own');
  t.equal(cells.usedBytes(1, 5), 5);
  cells.release(1, 2, 4);
  cells.release(1, 100, 6);
  t.equal(cells.usedBytes(1, 6), 0, 'never below zero');
});

t.test('recovered usage counts for its day, in whatever order it comes', async (t) => {
  const cells = begun(10);
  cells.restore(1, 4, 5);
  cells.restore(1, 100, 4);
  cells.restore(1, 5, 5);
  t.equal(cells.usedBytes(1, 4), 100);
  t.equal(cells.usedBytes(1, 5), 9);
  t.equal(cells.reserve(1, 1, 5), 'ok');
  t.equal(cells.reserve(1, 1, 5), 'quota');
  cells.restore(1, 3, 6);
  t.equal(cells.usedBytes(1, 6), 3);
});

t.test("of many days that recovery found, today's and the newest ones are known", async (t) => {
  const cells = new UsageCells();
  const today = 100;
  const nowMs = () => today * DAY_MS;
  const keys = await openKeys({ disk: new MemoryDisk(), cells, planLimitMb: undefined, nowMs });
  await keys.provision();
  const [key] = keys.list('write');
  const days = [90, 99, today, 160, 161, 162];
  keys.restoreUsage(days.map((day) => ({ key: key.id, day, bytes: day })));
  keys.restoreUsage([{ key: 'deleted', day: today, bytes: 7 }]);
  const used = days.map((day) => cells.usedBytes(key.cell, day));
  t.same(used, [0, 0, today, 160, 161, 162]);
  await keys.close();
});

t.test('counts beyond 32 bits and quotas of 100 TB are exact', async (t) => {
  const cells = begun(100_000_000 * 1_000_000);
  cells.restore(1, 2 ** 46, 5);
  cells.reserve(1, 1, 5);
  t.equal(cells.usedBytes(1, 5), 2 ** 46 + 1);
});

t.test('a cell does what a plain model does', async () => {
  const step = fc.record({
    action: fc.constantFrom('reserve', 'release', 'restore', 'enable', 'disable'),
    bytes: fc.integer({ min: 0, max: 60 }),
    day: fc.integer({ min: 1, max: 7 }),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: -1, max: 150 }),
      (steps, quota) => {
        const cells = begun(quota);
        let enabled = true;
        // Bytes by day, the day of the last reservation first.
        let used: [number, number][] = [];
        const usedOn = (day: number): number => used.find(([each]) => each === day)?.[1] ?? 0;
        for (const { action, bytes, day } of steps) {
          if (action === 'enable' || action === 'disable') {
            enabled = action === 'enable';
            cells.enable(1, enabled);
            continue;
          }
          const isSpent = quota >= 0 && usedOn(day) >= quota;
          if (action === 'reserve') {
            const expected = enabled ? (isSpent ? 'quota' : 'ok') : 'disabled';
            if (cells.reserve(1, bytes, day) !== expected) return false;
          } else if (action === 'release') {
            cells.release(1, bytes, day);
          } else {
            cells.restore(1, bytes, day);
          }
          if (action === 'release') {
            used = used.map(([each, sum]) => [each, Math.max(0, each === day ? sum - bytes : sum)]);
          } else if (action === 'restore' || enabled) {
            const more = action === 'reserve' && isSpent ? 0 : bytes;
            const others = used.filter(([each]) => each !== day);
            used = [[day, usedOn(day) + more] as [number, number], ...others].slice(0, 4);
          }
          for (let each = 1; each <= 7; each++) {
            if (cells.usedBytes(1, each) !== usedOn(each)) return false;
          }
        }
        return true;
      },
    ),
  );
});

interface Steps {
  count: number;
  bytes: number;
  days: number;
}

/** Calls `reserve` in two workers at once, `count` times each, spread over `days`; how often each answer came. */
function reserveInTwoWorkers(cells: UsageCells, steps: Steps): Promise<Record<string, number>[]> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  return Promise.all([reserveInWorker(cells, steps, gate), reserveInWorker(cells, steps, gate)]);
}

function reserveInWorker(
  cells: UsageCells,
  steps: Steps,
  gate: Int32Array,
): Promise<Record<string, number>> {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { UsageCells } from ${JSON.stringify(USAGE_MODULE)};
    const { memory, gate, count, bytes, days } = workerData;
    const cells = new UsageCells(memory);
    Atomics.add(gate, 0, 1);
    while (Atomics.load(gate, 0) < 2);
    const granted = { ok: 0, quota: 0, disabled: 0 };
    for (let index = 0; index < count; index++) {
      granted[cells.reserve(1, bytes, 1 + Math.floor((index * days) / count))]++;
      cells.reserve(2, bytes, 1);
    }
    parentPort.postMessage(granted);`;
  const worker = new Worker(source, {
    eval: true,
    workerData: { memory: cells.shared, gate, ...steps },
    execArgv: ['--input-type=module', '--no-warnings'],
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

t.test('two threads lose no count and overshoot by less than two requests', async (t) => {
  const cells = begun(1_000_000);
  cells.begin(2);
  const steps = { count: 1_000_000, bytes: 7, days: 1 };
  const granted = await reserveInTwoWorkers(cells, steps);
  const okCount = granted[0]['ok'] + granted[1]['ok'];
  t.equal(cells.usedBytes(1, 1), okCount * 7);
  t.ok(okCount * 7 >= 1_000_000 && okCount * 7 < 1_000_000 + 7);
  t.equal(cells.usedBytes(2, 1), 2_000_000 * 7, 'no count of a key without quota is lost');
});

t.test('two threads that cross midnight together reset the use once', async (t) => {
  const cells = begun();
  cells.begin(2);
  const steps = { count: 100_000, bytes: 1, days: 2 };
  await reserveInTwoWorkers(cells, steps);
  const usedBytes = cells.usedBytes(1, 2);
  t.ok(usedBytes >= 100_000 && usedBytes <= 150_000, `${usedBytes}`);
});

t.test('retry after midnight UTC is told in whole seconds, at least one', async (t) => {
  const midnight = Date.UTC(2026, 2, 1);
  t.equal(secondsToMidnight(midnight), 86_400);
  t.equal(secondsToMidnight(midnight + 1), 86_400);
  t.equal(secondsToMidnight(midnight + 1_000), 86_399);
  t.equal(secondsToMidnight(midnight - 1), 1);
  t.equal(dayOf(midnight - 1) + 1, dayOf(midnight));
  t.equal(dayOf(midnight) * DAY_MS, midnight);
});

t.test('cells are refused memory of another size', async (t) => {
  t.throws(() => new UsageCells(new SharedArrayBuffer(64)), /memory of 64 bytes/);
  t.equal(new UsageCells().shared.byteLength, CELLS_MAX * 64);
});
