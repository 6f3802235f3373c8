import t from 'tap';
import { type MergePolicy, planMerge, type SegmentFacts } from '../../engine/store/policy.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 100 * DAY_MS + 12 * HOUR_MS;
const POLICY: MergePolicy = { sealRows: 1_000, idleMs: 600_000, mergeRows: 8_000 };

let last = 0;
function segment(facts: Partial<SegmentFacts>): SegmentFacts {
  const { rowCount = 100, minTimeMs = NOW_MS - HOUR_MS } = facts;
  const bytes = rowCount * 10;
  last++;
  const times = { minTimeMs, maxTimeMs: minTimeMs + 1_000, sealedMs: NOW_MS, restedMs: 0 };
  return { segment: last, sealed: true, rowCount, bytes, ...times, ...facts };
}

const log = (rowCount: number, ageMs = 0): SegmentFacts =>
  segment({ sealed: false, rowCount, sealedMs: undefined, restedMs: ageMs });
const plan = (...segments: SegmentFacts[]): SegmentFacts[] | undefined =>
  planMerge(segments, POLICY, NOW_MS)?.sources;

t.test('closed log segments are sealed when they have rows enough or have waited', async (t) => {
  t.equal(plan(), undefined);
  t.equal(plan(log(500), log(499)), undefined);
  const [a, b] = [log(500), log(500)];
  t.same(plan(a, b), [a, b]);
  const old = log(1, POLICY.idleMs);
  t.same(plan(log(2), old)?.length, 2);
  t.equal(plan(log(1, POLICY.idleMs - 1)), undefined);
  t.same(plan(log(0, POLICY.idleMs))?.length, 1, 'one without rows goes too');
});

t.test('a sealing takes about the rows of one segment, and leaves no small rest', async (t) => {
  const full = log(1_040);
  t.same(planMerge([full, log(1_040)], POLICY, NOW_MS), { sources: [full], rowsMax: 1_040 });
  t.match(planMerge([log(2_900)], POLICY, NOW_MS), { rowsMax: 967 });
});

t.test(
  'beside others that run, one more begins for each that waits, of log segments only',
  async (t) => {
    const beside = (running: number, ...segments: SegmentFacts[]): SegmentFacts[] | undefined =>
      planMerge(segments, POLICY, NOW_MS, running)?.sources;
    const [a, b] = [log(1_000), log(1_000)];
    t.equal(beside(1, log(999)), undefined);
    t.equal(beside(1, log(10, POLICY.idleMs)), undefined, 'what waits for others goes on waiting');
    t.same(beside(1, a), [a]);
    t.equal(beside(2, a), undefined);
    t.same(beside(2, a, b), [a]);
    const large = { ...log(10), bytes: 256 * 1024 * 1024 };
    t.same(beside(1, large), [large], 'by bytes as by rows');
    t.equal(beside(1, ...Array.from({ length: 9 }, () => segment({ rowCount: 1_000 }))), undefined);
  },
);

t.test('sealed segments of a day are merged when they make a large one', async (t) => {
  const ofToday = Array.from({ length: 9 }, () => segment({ rowCount: 1_000 }));
  t.equal(plan(...ofToday.slice(0, 7)), undefined);
  t.same(plan(...ofToday)?.length, 8);
  const yesterday = Array.from({ length: 5 }, () =>
    segment({ rowCount: 1_000, minTimeMs: NOW_MS - DAY_MS }),
  );
  t.equal(plan(...ofToday.slice(0, 4), ...yesterday), undefined, 'days stay apart');
});

t.test(
  'what is left of a day is merged when it is over, a segment that is large is not',
  async (t) => {
    const past = { minTimeMs: NOW_MS - 2 * DAY_MS, restedMs: HOUR_MS };
    const small = [segment(past), segment(past)];
    t.same(plan(...small), small);
    t.equal(plan(segment(past), segment({ ...past, restedMs: HOUR_MS - 1 })), undefined);
    t.equal(plan(segment({ ...past, rowCount: 4_001 }), segment(past)), undefined);
    const grown = segment({ ...past, rowCount: 3_000 });
    t.equal(plan(grown, segment(past)), undefined, 'not for a few late rows');
    t.equal(plan(grown, ...Array.from({ length: 15 }, () => segment(past)))?.length, 16);
  },
);

t.test('strays of several days are merged when there are rows enough for a day', async (t) => {
  const stray = (rowCount: number): SegmentFacts =>
    segment({ rowCount, minTimeMs: 1, maxTimeMs: 50 * DAY_MS, restedMs: NOW_MS });
  t.equal(plan(stray(10), stray(10)), undefined);
  t.equal(plan(stray(2_500), stray(2_500))?.length, 2);
  t.equal(plan(...Array.from({ length: 16 }, () => stray(10)))?.length, 16);
});

t.test('rows are rewritten a bounded number of times, however they come', async (t) => {
  for (const [rows, segmentsPerDay] of [
    [1_000, 30],
    [10, 144],
    [3, 1_000],
  ] as const) {
    let written = 0;
    let segments: SegmentFacts[] = [];
    const stepMs = DAY_MS / segmentsPerDay;
    let nowMs = NOW_MS - (NOW_MS % DAY_MS);
    for (let step = 0; step < segmentsPerDay * 2; step++) {
      for (const facts of segments) facts.restedMs += stepMs;
      segments.push(segment({ rowCount: rows, minTimeMs: nowMs, maxTimeMs: nowMs }));
      written += rows;
      for (;;) {
        const merge = planMerge(segments, POLICY, nowMs);
        if (merge === undefined) break;
        const { sources } = merge;
        const rowCount = sources.reduce((sum, facts) => sum + facts.rowCount, 0);
        written += rowCount;
        const minTimeMs = Math.min(...sources.map((facts) => facts.minTimeMs));
        const maxTimeMs = Math.max(...sources.map((facts) => facts.maxTimeMs));
        segments = segments.filter((facts) => !sources.includes(facts));
        segments.push(segment({ rowCount, minTimeMs, maxTimeMs }));
      }
      nowMs += stepMs;
    }
    const times = written / (rows * segmentsPerDay * 2);
    t.comment(
      `${rows} rows ${segmentsPerDay} times a day: a row is written ${times.toFixed(2)} times`,
    );
    t.ok(times <= 5);
    t.ok(segments.length <= 140);
  }
});

t.test('the rest of a day that lies ahead is merged when it has long been at rest', async (t) => {
  const ahead = { minTimeMs: NOW_MS + 400 * DAY_MS };
  const resting = (restedMs: number) => plan(...[1, 2].map(() => segment({ ...ahead, restedMs })));
  t.equal(resting(DAY_MS - 1), undefined);
  t.equal(resting(DAY_MS)?.length, 2);
});
