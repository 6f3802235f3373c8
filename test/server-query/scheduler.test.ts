import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import {
  LIGHT_BYTES,
  type QueryUnits,
  Scheduler,
  type UnitProgress,
} from '../../server/query/scheduler.ts';

/** A clock that stands still but for what the units take. */
class Clock {
  nowMs = 0;
  readonly trace: string[] = [];

  *units(name: string, count: number, unitMs: number, ended?: () => void): QueryUnits<string> {
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
  return new Scheduler({ nowMs: () => clock.nowMs });
}

t.test('queries get the same time, whatever a unit takes', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const slow = scheduler.run(1, 'key', clock.units('slow', 10, 8));
  const quick = scheduler.run(2, 'key', clock.units('quick', 20, 4));
  t.equal(await quick, 'quick done');
  t.equal(await slow, 'slow done');
  const shares = clock.trace.slice(0, 15).filter((name) => name === 'quick').length;
  t.ok(shares >= 9 && shares <= 11, `quick had ${shares} of the first 15 units`);
});

t.test('a query that comes later is not made to wait for a long one', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const long = scheduler.run(1, 'key', clock.units('long', 200, 5));
  await new Promise((resolve) => setImmediate(resolve));
  const before = clock.trace.length;
  await scheduler.run(2, 'key', clock.units('short', 1, 5));
  const waited = clock.trace.indexOf('short') - before;
  t.ok(waited <= 1, `${waited} units of the long one came first`);
  t.ok(clock.trace.length < 200);
  t.equal(await long, 'long done');
});

t.test('a stream of short queries does not starve a long one', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let longIsDone = false;
  scheduler.run(0, 'key', clock.units('long', 20, 5)).then(() => {
    longIsDone = true;
  });
  let shortCount = 0;
  while (!longIsDone && shortCount < 200) {
    shortCount++;
    await scheduler.run(shortCount, 'key', clock.units('short', 1, 5));
  }
  t.ok(longIsDone, `the long one ended beside ${shortCount} short ones`);
});

t.test('a cancelled query stops between units and cleans up', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let cleaned = false;
  const cancelled = scheduler.run(
    7,
    'key',
    clock.units('never', Number.POSITIVE_INFINITY, 5, () => {
      cleaned = true;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const other = scheduler.run(8, 'key', clock.units('other', 3, 5));
  setImmediate(() => scheduler.cancel(7));
  await t.rejects(cancelled, { code: 'CANCELLED' });
  t.ok(cleaned);
  t.equal(await other, 'other done');
  scheduler.cancel(7);
});

t.test('an error of one query is its own', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const bad = scheduler.run(
    1,
    'key',
    // biome-ignore lint/correctness/useYield: fails before its first unit is done
    (function* (): QueryUnits<string> {
      throw new EngineError('USAGE', 'no such thing');
    })(),
  );
  const good = scheduler.run(2, 'key', clock.units('good', 3, 1));
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
  await t.rejects(scheduler.run(1, 'key', clock.units('endless', Number.POSITIVE_INFINITY, 5)), {
    code: 'CANCELLED',
  });
  clearInterval(timer);
});

t.test('queries that are done in one turn do not starve a long one', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  let longIsDone = false;
  scheduler.run(0, 'long', clock.units('long', 20, 5)).then(() => {
    longIsDone = true;
  });
  let shortCount = 0;
  while (!longIsDone && shortCount < 200) {
    shortCount++;
    await scheduler.run(shortCount, `short ${shortCount % 3}`, instant(clock, 5));
  }
  t.ok(longIsDone, `the long one ended beside ${shortCount} short ones`);
});

/** A query whose first unit is its last one. */
// biome-ignore lint/correctness/useYield: has one unit
function* instant(clock: Clock, unitMs: number): QueryUnits<string> {
  clock.nowMs += unitMs;
  clock.trace.push('instant');
  return 'done';
}

t.test(
  'keys get the same time, however many queries they have and whatever these take',
  async (t) => {
    const clock = new Clock();
    const scheduler = schedulerOf(clock);
    const many = Array.from({ length: 9 }, (_, number) =>
      scheduler.run(number, 'many', clock.units('many', 20, 3)),
    );
    const alone = scheduler.run(100, 'alone', clock.units('alone', 40, 6));
    await alone;
    const ends = clock.trace.lastIndexOf('alone');
    const manyMs = clock.trace.slice(0, ends).filter((name) => name === 'many').length * 3;
    t.ok(Math.abs(manyMs - 240) <= 12, `the others had ${manyMs} ms beside 240`);
    t.same(new Set(await Promise.all(many)), new Set(['many done']));
  },
);

t.test(
  'a light query of another key has the very next turn, beside however many heavy ones',
  async (t) => {
    const clock = new Clock();
    const scheduler = schedulerOf(clock);
    const heavy = Array.from({ length: 8 }, (_, query) =>
      scheduler.run(query, 'heavy', clock.units('heavy', 100, 5)),
    );
    while (clock.trace.length < 80) await new Promise((resolve) => setImmediate(resolve));
    for (let bystander = 0; bystander < 5; bystander++) {
      const before = clock.trace.length;
      await scheduler.run(100 + bystander, 'light', clock.units('light', 1, 1));
      t.ok(clock.trace.indexOf('light', before) - before <= 1, 'one turn of the others at most');
    }
    await Promise.all(heavy);
  },
);

t.test('of a query that takes long it is told how far it is, now and then', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const told: [number, number][] = [];
  function* units(count: number): QueryUnits<void> {
    for (let unit = 1; unit <= count; unit++) {
      clock.nowMs += 5;
      yield { unitsDone: unit, unitsTotal: count };
    }
  }
  const progressed = ({ unitsDone }: UnitProgress): void =>
    void told.push([clock.nowMs, unitsDone]);
  await scheduler.run(1, 'key', units(19), { progressed });
  t.same(told, [], 'a short one says nothing');
  const startMs = clock.nowMs;
  await scheduler.run(2, 'key', units(101), { progressed });
  t.same(
    told,
    [20, 40, 60, 80, 100].map((unit) => [startMs + unit * 5, unit]),
    'every 100 ms',
  );
});

t.test('while ingestion is behind, heavy queries pause and light ones do not', async (t) => {
  const clock = new Clock();
  let behind = false;
  const scheduler = new Scheduler({ nowMs: () => clock.nowMs, isBehind: () => behind });
  const heavy = scheduler.run(1, 'a', clock.units('heavy', 100, 5));
  while (clock.trace.length < 20) await new Promise((resolve) => setImmediate(resolve));
  behind = true;
  const before = clock.trace.length;
  await scheduler.run(2, 'b', clock.units('light', 9, 5));
  const beside = clock.trace.slice(before).filter((name) => name === 'heavy').length;
  t.ok(beside >= 1 && beside <= 4, `the heavy one had ${beside} turns beside 9`);
  const paused = clock.trace.length;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(clock.trace.length, paused, 'the clock stands still, and so does the heavy one');
  clock.nowMs += 20;
  while (clock.trace.length === paused) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(clock.trace.length, paused + 1, 'it goes on when the pause is over');
  behind = false;
  t.equal(await heavy, 'heavy done');
});

t.test('a query that waits takes no turn until it is woken, and others go on', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  function* units(): QueryUnits<string> {
    clock.trace.push('waits');
    yield { unitsDone: 0, unitsTotal: 1, waits: true };
    clock.trace.push('woken');
    return 'done';
  }
  const waiting = scheduler.run(1, 'key', units());
  t.equal(await scheduler.run(2, 'key', clock.units('other', 5, 1)), 'other done');
  t.notOk(clock.trace.includes('woken'));
  scheduler.wake(1);
  t.equal(await waiting, 'done');
  const never = scheduler.run(3, 'key', units());
  scheduler.cancel(3);
  scheduler.wake(3);
  await t.rejects(never, { code: 'CANCELLED' });
});

t.test('a query that needs more than it may take stands still until it may', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const needed: string[] = [];
  function* growing(): QueryUnits<string> {
    yield { unitsDone: 1, unitsTotal: 2, heldBytes: LIGHT_BYTES };
    clock.trace.push('small');
    yield { unitsDone: 2, unitsTotal: 2, heldBytes: LIGHT_BYTES + 1 };
    clock.trace.push('large');
    return yield* clock.units('long', 500, 5);
  }
  const asked = Promise.withResolvers<void>();
  const answer = scheduler.run(1, 'key', growing(), {
    needs: (allowance) => {
      needed.push(allowance);
      asked.resolve();
    },
  });
  await asked.promise;
  t.equal(await scheduler.run(2, 'key', clock.units('other', 50, 5)), 'other done');
  scheduler.wake(1);
  await scheduler.run(3, 'key', clock.units('other', 1, 5));
  t.notOk(clock.trace.includes('large'), 'also when what it waited for is there');
  scheduler.allow(1, 'memory');
  t.equal(await answer, 'long done');
  t.same(needed, ['memory'], 'who may take memory may take time');
});

t.test('a query that takes long needs time, a light one passes it by', async (t) => {
  const clock = new Clock();
  const scheduler = schedulerOf(clock);
  const needed: string[] = [];
  const long = scheduler.run(1, 'key', clock.units('long', 700, 5), {
    needs: (allowance) => {
      needed.push(allowance);
      scheduler.allow(1, allowance);
    },
  });
  while (needed.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const before = clock.trace.length;
  await scheduler.run(2, 'other', clock.units('light', 40, 5));
  const passed = clock.trace.slice(before).filter((name) => name === 'long').length;
  t.ok(passed <= 12, `${passed} units of the long one beside 40 of the light one`);
  t.equal(await long, 'long done');
  t.same(needed, ['time']);
});
