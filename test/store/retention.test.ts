import fc from 'fast-check';
import t from 'tap';
import type { SegmentFacts } from '../../engine/store/policy.ts';
import {
  Retention,
  type RetentionEvent,
  type RetentionPolicy,
} from '../../engine/store/retention.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_000 * DAY_MS;
const NOTHING_KEPT = { ageMaxMs: 0, waitedMs: 0 };

let last = 0;
function segment(facts: Partial<SegmentFacts>): SegmentFacts {
  const { maxTimeMs = NOW_MS, minTimeMs = maxTimeMs } = facts;
  last++;
  const times = { minTimeMs, maxTimeMs, sealedMs: maxTimeMs, restedMs: 0 };
  return { segment: last, sealed: true, bytes: 100, rowCount: 10, ...times, ...facts };
}

const aged = (days: number): SegmentFacts => segment({ maxTimeMs: NOW_MS - days * DAY_MS });
const log = (days: number): SegmentFacts => ({ ...aged(days), sealed: false, sealedMs: undefined });

/** Retention on clocks of its own, for which one pass after the other is made. */
class Store {
  nowMs = NOW_MS;
  monotonicMs = 7;
  freeBytes: number | undefined;
  busy = new Set<number>();
  readonly events: RetentionEvent[] = [];
  readonly policy: RetentionPolicy;
  segments: SegmentFacts[];
  kept = NOTHING_KEPT;
  #retention: Retention | undefined;

  constructor(policy: Partial<RetentionPolicy>, segments: SegmentFacts[]) {
    this.policy = {
      ageMaxMs: undefined,
      bytesMax: undefined,
      freeBytesMin: undefined,
      ...policy,
    };
    this.segments = segments;
  }

  get waitingBytes(): number | undefined {
    return this.#retention?.waiting?.bytes;
  }

  /** Begins anew with what was kept, on a monotonic clock that knows nothing of the one before. */
  restart(): void {
    this.#retention = undefined;
    this.monotonicMs = 3;
  }

  get retention(): Retention {
    this.#retention ??= new Retention({
      policy: this.policy,
      kept: this.kept,
      monotonicMs: () => this.monotonicMs,
      tell: (event) => this.events.push(event),
    });
    return this.#retention;
  }

  /** The segments that one pass drops, in its order. */
  pass(): SegmentFacts[] {
    const { old, surplus } = this.retention.pass(this);
    const drops = [...old, ...surplus];
    this.segments = this.segments.filter((facts) => !drops.includes(facts));
    const { unkept } = this.retention;
    if (unkept !== undefined) {
      this.kept = unkept;
      this.retention.kept(unkept);
    }
    return drops;
  }

  run(ms: number): void {
    this.nowMs += ms;
    this.monotonicMs += ms;
  }
}

const week = { ageMaxMs: 7 * DAY_MS };
/** A store with one segment for each of so many days, whose retention has been in force. */
const dailyStore = (days: number): Store => {
  const store = new Store(week, []);
  store.pass();
  store.segments = Array.from({ length: days }, (_, day) => aged(day));
  return store;
};

t.test('a segment is dropped when its newest row is too old, not before', async (t) => {
  const old = segment({ minTimeMs: 0, maxTimeMs: NOW_MS - 7 * DAY_MS - 1 });
  const reaching = segment({ minTimeMs: 0, maxTimeMs: NOW_MS - 7 * DAY_MS });
  const oldLog = log(8);
  const empty = segment({ rowCount: 0, minTimeMs: 0, maxTimeMs: 0 });
  t.same(new Store(week, [old, reaching, oldLog, empty]).pass(), [old, oldLog]);
  t.same(new Store({}, [old, reaching, oldLog]).pass(), []);
});

t.test('a plan tells what a policy then drops, and changes nothing', async (t) => {
  const facts = fc.record({
    maxTimeMs: fc.integer({ min: -40, max: 3 }).map((days) => NOW_MS + days * DAY_MS),
    bytes: fc.integer({ min: 0, max: 400 }),
    rowCount: fc.integer({ min: 0, max: 9 }),
    sealed: fc.boolean(),
  });
  const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
  const policies = fc.record({
    ageMaxMs: limit(30).map((days) => days && days * DAY_MS),
    bytesMax: limit(2_000),
    freeBytesMin: limit(900),
  });
  fc.assert(
    fc.property(fc.array(facts), policies, policies, (list, before, policy) => {
      const store = new Store(before, []);
      store.freeBytes = 500;
      store.pass();
      store.segments = list.map(segment);
      const { old, surplus, isHeld } = store.retention.plan(policy, store);
      t.same(store.retention.plan(policy, store), { old, surplus, isHeld });
      store.retention.policy = policy;
      const dropped = store.pass();
      t.equal(store.waitingBytes !== undefined, isHeld);
      if (!isHeld) t.same(dropped, [...old, ...surplus]);
    }),
  );
});

t.test('rows dated ahead do not keep a segment: it is as old as its sealing', async (t) => {
  const stray = segment({
    minTimeMs: NOW_MS - 9 * DAY_MS,
    maxTimeMs: NOW_MS + 9_999 * DAY_MS,
    sealedMs: NOW_MS - 8 * DAY_MS,
  });
  const wrongClock = { ...stray, sealedMs: NOW_MS + 9_999 * DAY_MS };
  const openOnce = { ...stray, sealed: false, sealedMs: undefined };
  const near = { ...stray, maxTimeMs: NOW_MS + DAY_MS };
  for (const facts of [stray, wrongClock, openOnce]) {
    t.same(new Store(week, [facts, aged(8)]).pass().length, 2, 'the next sealing is known');
  }
  t.same(new Store(week, [near]).pass(), [], 'a day is the clocks of senders');
  t.same(new Store(week, [wrongClock]).pass(), [], 'no sealing is known');
  const store = new Store(week, [{ ...stray, minTimeMs: NOW_MS - DAY_MS }]);
  t.same(store.pass(), [], 'sealed by a clock that was behind: another row tells');
});

t.test('while closed files are too many bytes sealed segments go, then logs', async (t) => {
  const [newer, older, oldLog] = [aged(1), aged(2), log(9)];
  const all = [newer, oldLog, older];
  const drops = (bytesMax: number) => new Store({ bytesMax }, all).pass();
  t.same(drops(300), []);
  t.same(drops(299), [older]);
  t.same(drops(150), [older, newer]);
  t.same(drops(0), [older, newer, oldLog]);
});

t.test('nothing newer is dropped in the place of a segment that is being merged', async (t) => {
  const store = new Store({ bytesMax: 100 }, [aged(3), aged(2), aged(1)]);
  store.busy.add(store.segments[0].segment);
  t.same(store.pass(), []);
  store.busy.clear();
  t.same(store.pass().length, 2);
});

t.test('below the free disk the oldest sealed segments go, as many as are needed', async (t) => {
  const store = new Store({ freeBytesMin: 1_000 }, [log(9), ...[1, 2, 3, 4, 5].map(aged)]);
  const daysDropped = () => store.pass().map(({ maxTimeMs }) => (NOW_MS - maxTimeMs) / DAY_MS);
  t.same(daysDropped(), [], 'free disk that is not known is no reason');
  store.freeBytes = 1_000;
  t.same(daysDropped(), []);
  store.freeBytes = 850;
  t.same(daysDropped(), [5, 4]);
  t.same(daysDropped(), [], 'their files are still there');
  store.run(60_000);
  t.same(daysDropped(), [3, 2], 'they did not help');
  store.freeBytes = 950;
  t.same(daysDropped(), [1], 'they are gone, and more is needed');
  store.run(60_000);
  t.same(daysDropped(), [], 'never a log segment');
});

t.test('a clock that is ahead for a while drops nothing', async (t) => {
  const store = dailyStore(7);
  store.nowMs += 60 * DAY_MS;
  t.same(store.pass(), []);
  store.run(23 * HOUR_MS);
  t.same(store.pass(), []);
  t.equal(store.waitingBytes, 700);
  store.nowMs -= 60 * DAY_MS + 23 * HOUR_MS;
  t.same(store.pass(), []);
  t.equal(store.waitingBytes, undefined);
  t.match(store.events, [
    { type: 'dropWaits', segments: 7, rows: 70, bytes: 700, leftMs: DAY_MS },
    { type: 'dropWaits', leftMs: HOUR_MS },
    { type: 'dropCalledOff' },
  ]);
  store.nowMs += 60 * DAY_MS;
  store.run(2 * HOUR_MS);
  t.same(store.pass(), [], 'the next wait begins at nothing');
});

t.test('the wait is told every hour, and lasts 24 hours of running time', async (t) => {
  const store = dailyStore(7);
  store.nowMs += 60 * DAY_MS;
  for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
    t.same(store.pass(), []);
    // Ten minutes run, whatever the clock says; the process stops for days now and then.
    store.monotonicMs += 600_000;
    store.nowMs += minutes % 7 === 0 ? -60_000 : 600_000;
    if (minutes % 100 !== 50) continue;
    t.same(store.pass(), []);
    store.restart();
    store.nowMs += 3 * DAY_MS;
  }
  t.equal(store.pass().length, 7);
  t.ok(store.events.length >= 24 && store.events.length <= 40, `${store.events.length} times`);
  store.pass();
  t.same(store.kept, { ageMaxMs: 7 * DAY_MS, waitedMs: 0 });
});

t.test('a segment, and a day of many, never wait', async (t) => {
  const store = dailyStore(8);
  store.run(HOUR_MS);
  t.equal(store.pass().length, 1);
  const hourly = dailyStore(0);
  hourly.segments = Array.from({ length: 8 * 24 }, (_, hour) => aged(hour / 24));
  t.equal(hourly.pass().length, 23);
  hourly.run(1.2 * DAY_MS);
  t.equal(hourly.pass().length, 0, 'more than a day does');
});

t.test('one segment with more than half of the bytes waits', async (t) => {
  const small = dailyStore(2);
  small.nowMs += 6.5 * DAY_MS;
  t.equal(small.pass().length, 1);
  small.nowMs += DAY_MS;
  t.same(small.pass(), [], 'it is all that there is');
});

t.test('a segment that is being merged counts for the size of a drop', async (t) => {
  const store = dailyStore(7);
  for (const { segment } of store.segments.slice(1)) store.busy.add(segment);
  store.nowMs += 60 * DAY_MS;
  t.same(store.pass(), []);
});

t.test(
  'drops that a shorter retention asks for do not wait, those of a longer one do',
  async (t) => {
    const store = dailyStore(7);
    Object.assign(store.policy, { ageMaxMs: 2 * DAY_MS });
    store.restart();
    t.equal(store.pass().length, 4);
    store.pass();
    t.same(store.kept, { ageMaxMs: 2 * DAY_MS, waitedMs: 0 });
    Object.assign(store.policy, { ageMaxMs: 9 * DAY_MS });
    store.restart();
    store.nowMs += 60 * DAY_MS;
    t.same(store.pass(), []);
    Object.assign(store.policy, { ageMaxMs: undefined });
    store.restart();
    t.same(store.pass(), []);
    t.same(store.kept, NOTHING_KEPT);
    Object.assign(store.policy, { ageMaxMs: 30 * DAY_MS });
    store.restart();
    t.equal(store.pass().length, 3, 'there was none before');
  },
);

t.test('drops for space do not wait, also while a drop by age does', async (t) => {
  const store = dailyStore(7);
  Object.assign(store.policy, { bytesMax: 500 });
  store.nowMs += 60 * DAY_MS;
  t.equal(store.pass().length, 2);
  t.equal(store.waitingBytes, 700);
});

/** A span of time in which the clock is off by so much. */
interface Span {
  hours: number;
  skewDays: number;
  restarts: boolean;
}

const spans: fc.Arbitrary<Span[]> = fc.array(
  fc.record({
    hours: fc.integer({ min: 1, max: 23 }),
    skewDays: fc.oneof(
      fc.integer({ min: -60, max: 60 }),
      fc.constantFrom(0, 0.5, 1, 20_000, -20_000),
    ),
    restarts: fc.boolean(),
  }),
  { maxLength: 8 },
);

/** Bytes of the segments of an hour: an hour may have many times those of another. */
const bytesOfHour = (number: number, seed: number): number =>
  1 + ((Math.imul(number + 1, 0x9e3779b1) ^ seed) >>> 22);

t.test('whatever the clock does for less than a day, history stays; all ages out', async () => {
  const days = 10;
  const holds = (glitches: Span[], seed: number): boolean => {
    const store = new Store({ ageMaxMs: days * DAY_MS }, []);
    let trueMs = NOW_MS;
    /** Lets time pass; the share of the bytes that were dropped too early, a single segment apart. */
    const pass = (hours: number, skewDays: number): number => {
      trueMs += hours * HOUR_MS;
      store.monotonicMs += hours * HOUR_MS;
      store.nowMs = trueMs + skewDays * DAY_MS;
      // Events have dates of their own, or get one from a clock that is ahead.
      const maxTimeMs = last % 2 === 0 ? trueMs : Math.max(trueMs, store.nowMs);
      const bytes = bytesOfHour(last, seed);
      store.segments.push(segment({ maxTimeMs, bytes, sealedMs: store.nowMs }));
      const total = store.segments.reduce((sum, facts) => sum + facts.bytes, 0);
      const young = store.pass().filter((facts) => facts.maxTimeMs >= trueMs - days * DAY_MS);
      const dropped = young.reduce((sum, facts) => sum + facts.bytes, 0);
      return young.length > 1 ? dropped / total : 0;
    };
    for (let hours = 0; hours < 12 * 24; hours++) pass(1, 0);
    for (const { hours, skewDays, restarts } of glitches) {
      for (let ran = 0; ran < hours; ran++) {
        if (pass(1, skewDays) > 1 / days) return false;
        if (restarts && ran % 5 === 0) store.restart();
      }
      if (pass(1, 0) > 1 / days) return false;
    }
    const before = last;
    for (let hours = 0; hours < (days + 60 + 3) * 24; hours += 8) pass(8, 0);
    return store.segments.every((facts) => facts.segment > before);
  };
  fc.assert(fc.property(spans, fc.integer(), holds), { numRuns: 25 });
});
