import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { Scheduler, type Units } from '../../server/query/scheduler.ts';

/** A clock that stands still but for what the units take. */
class Clock {
  nowMs = 0;
  readonly trace: string[] = [];

  *units(name: string, count: number, unitMs: number, ended?: () => void): Units<string> {
    try {
      for (let unit = 0; unit < count; unit++) {
        this.nowMs += unitMs;
        this.trace.push(name);
        yield;
      }
      return `${name} done`;
    } finally {
      ended?.();
    }
  }
}

function schedulerOf(clock: Clock): Scheduler {
  return new Scheduler(() => clock.nowMs);
}

t.test('queries get the same time, whatever a unit takes', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const slow = scheduler.run(1, clock.units('slow', 10, 8));
  const quick = scheduler.run(2, clock.units('quick', 20, 4));
  t.equal(await quick, 'quick done');
  t.equal(await slow, 'slow done');
  const shares = clock.trace.slice(0, 15).filter((name) => name === 'quick').length;
  t.ok(shares >= 9 && shares <= 11, `quick had ${shares} of the first 15 units`);
});

t.test('a query that comes later is not made to wait for a long one', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const long = scheduler.run(1, clock.units('long', 200, 5));
  await new Promise((resolve) => setImmediate(resolve));
  const before = clock.trace.length;
  await scheduler.run(2, clock.units('short', 1, 5));
  const waited = clock.trace.indexOf('short') - before;
  t.ok(waited <= 1, `${waited} units of the long one came first`);
  t.ok(clock.trace.length < 200);
  t.equal(await long, 'long done');
});

t.test('a stream of short queries does not starve a long one', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let longIsDone = false;
  scheduler.run(0, clock.units('long', 20, 5)).then(() => {
    longIsDone = true;
  });
  let shortCount = 0;
  while (!longIsDone && shortCount < 200) {
    shortCount++;
    await scheduler.run(shortCount, clock.units('short', 1, 5));
  }
  t.ok(longIsDone, `the long one ended beside ${shortCount} short ones`);
});

t.test('a cancelled query stops between units and cleans up', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let cleaned = false;
  const cancelled = scheduler.run(
    7,
    clock.units('never', Number.POSITIVE_INFINITY, 5, () => {
      cleaned = true;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const other = scheduler.run(8, clock.units('other', 3, 5));
  setImmediate(() => scheduler.cancel(7));
  await t.rejects(cancelled, { code: 'CANCELLED' });
  t.ok(cleaned);
  t.equal(await other, 'other done');
  t.equal(scheduler.activeCount, 0);
  scheduler.cancel(7);
});

t.test('an error of one query is its own', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const bad = scheduler.run(
    1,
    // biome-ignore lint/correctness/useYield: fails before its first unit is done
    (function* (): Units<string> {
      throw new EngineError('USAGE', 'no such thing');
    })(),
  );
  const good = scheduler.run(2, clock.units('good', 3, 1));
  await t.rejects(bad, { code: 'USAGE', message: 'no such thing' });
  t.equal(await good, 'good done');
});

t.test('the event loop works between turns', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let turns = 0;
  const timer = setInterval(() => {
    turns++;
    if (turns === 3) scheduler.cancel(1);
  }, 1);
  await t.rejects(scheduler.run(1, clock.units('endless', Number.POSITIVE_INFINITY, 5)), {
    code: 'CANCELLED',
  });
  clearInterval(timer);
});
