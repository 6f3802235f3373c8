import fc from 'fast-check';
import t from 'tap';
import { type ExactNumber, parseExact, printJson, textOf } from '../../server/console/api/exact.ts';
import { bytes, duration, percent, pointTime, short } from '../../server/console/base/format.ts';
import { instantIn, pointsIn, rangeOf, stepFor, stepMs } from '../../server/console/base/range.ts';
import {
  existsTerm,
  opposite,
  piecesOf,
  termOf,
  withOnly,
  withoutTerm,
  withTerm,
  wordsOf,
} from '../../server/console/base/terms.ts';
import { instantOf, offsetAt, startOf } from '../../server/console/base/zone.ts';
import { RowPlaces } from '../../server/console/parts/row-places.ts';
import { ScrollSpace } from '../../server/console/parts/scroll-space.ts';
import { evaluateDateMath } from '../../server/language/date-math.ts';
import { parseSearch } from '../../server/language/search.ts';
import { parseZone } from '../../server/language/zone.ts';

const NOW = Date.UTC(2026, 10, 23, 15, 20, 30, 123);

t.test('numbers keep the text that was sent', async (t) => {
  const json = '{"a":12345678901234567890,"b":0.610,"c":-0,"d":1E5,"e":[1,2.5],"f":"x"}';
  t.equal(printJson(parseExact(json) as never), json);
  const { a } = parseExact(json) as { a: ExactNumber };
  t.equal(textOf(a), '12345678901234567890');
  fc.assert(
    fc.property(fc.json(), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      return printJson(parseExact(compact) as never) === compact;
    }),
  );
});

t.test(
  'a term that a click writes is one that the service understands as it is meant',
  async (t) => {
    t.equal(termOf('custom.http.status_code', 200), 'http.status_code:200');
    t.equal(termOf('syslog.appname', 'sshd'), 'syslog.appname:sshd');
    t.equal(termOf('custom.a b', 'x "y" \\z'), 'a\\ b:"x \\"y\\" \\\\z"');
    t.equal(existsTerm('custom.user.id'), 'user.id:*');
    t.equal(termOf('custom.-x', 1), '\\-x:1');
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (name, value) => {
        const query = termOf(`custom.n${name}`, value);
        parseSearch(`${query} ${opposite(query)}`);
        return piecesOf(query).length === 1;
      }),
    );
  },
);

t.test(
  'terms come into a search, go out of it, and replace others of their attribute',
  async (t) => {
    t.equal(withTerm('', 'a:1'), 'a:1');
    t.equal(withTerm('x -a:1', 'a:1'), 'x a:1');
    t.equal(withTerm('x a:1', 'a:1'), 'x a:1');
    t.equal(withTerm('x OR y', 'a:1'), '(x OR y) a:1');
    t.equal(withoutTerm('a:1 AND b:2', 'a:1'), 'AND b:2'.replace('AND ', ''));
    t.equal(withoutTerm('b:2 a:1', 'a:1'), 'b:2');
    t.equal(withOnly('x a:1 -a:2', 'a:3'), 'x a:3');
    t.equal(opposite('-a:1'), 'a:1');
    t.same(
      piecesOf('a:"x y" (b OR c) d\\ e').map(({ text }) => text),
      ['a:"x y"', '(b OR c)', 'd\\ e'],
    );
    t.same(wordsOf('failed -order a:1 "two words" pay* *:x message:y'), [
      'failed',
      'two words',
      'pay',
      'x',
      'y',
    ]);
  },
);

t.test('date math is that of the service, in every zone', async (t) => {
  const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
  for (const name of zones) {
    const zone = parseZone(name);
    for (const text of [
      'now',
      'now-15m',
      'now - 1M/M + 3h',
      'now/d',
      'now-1w/w',
      'now/y',
      'now-26h',
    ]) {
      const wanted = zone === undefined ? undefined : evaluateDateMath(text, zone, NOW);
      t.equal(instantIn(text, name, NOW), wanted, `${text} in ${name}`);
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2e12 }), (ms) => {
        const wall = ms + offsetAt(ms, name);
        const back = instantOf(wall, name);
        return (
          back === ms || back + offsetAt(back, name) === wall || Math.abs(back - ms) <= 3_600_000
        );
      }),
      { numRuns: 60 },
    );
  }
  t.equal(startOf(NOW, 'h', 'UTC'), Date.UTC(2026, 10, 23, 15));
});

t.test('ranges are read as people write them', async (t) => {
  t.same(pointsIn('15m'), { from: 'now-15m', to: 'now' });
  t.same(pointsIn('last 2 days'), { from: 'now-2d', to: 'now' });
  t.same(pointsIn('Yesterday'), { from: 'now-1d/d', to: 'now/d' });
  t.same(pointsIn('2026-11-20 08:00 to now-1h'), { from: '2026-11-20 08:00', to: 'now-1h' });
  t.equal(pointsIn('3 months')?.from, 'now-3M');
  t.equal(rangeOf('nonsense', 'now', 'UTC', NOW), undefined);
  t.equal(rangeOf('now', 'now-1h', 'UTC', NOW), undefined);
  t.same(rangeOf('2026-11-20', '2026-11-21T00:00:00+01:00', 'UTC', NOW), {
    fromMs: Date.UTC(2026, 10, 20),
    toMs: Date.UTC(2026, 10, 20, 23),
  });
  t.equal(instantIn('1700000000', 'UTC', NOW), 1_700_000_000_000);
  t.equal(instantIn('2026-11-20 08:00', 'Europe/Paris', NOW), Date.UTC(2026, 10, 20, 7));
});

t.test('a histogram has at most as many bars as are asked for', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3e12 }),
      fc.integer({ min: 20, max: 200 }),
      (length, bars) => {
        const step = stepFor({ fromMs: 0, toMs: length }, bars);
        return /^\d+[smhdwMy]$/.test(step) && length / stepMs(step) <= bars + 1;
      },
    ),
  );
  t.equal(stepFor({ fromMs: 0, toMs: 3_600_000 }, 110), '1m');
});

t.test('rows are placed behind one another, whatever was measured', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(50), fc.integer({ min: 10, max: 400 }))),
      fc.nat(60),
      (measures, row) => {
        const places = new RowPlaces(26);
        const heights = Array.from({ length: 61 }, () => 26);
        for (const [at, px] of measures) {
          places.measure(at, px);
          heights[at] = Math.abs(px - 26) < 1 ? 26 : px;
        }
        const start = heights.slice(0, row).reduce((sum, px) => sum + px, 0);
        return places.startOf(row) === start && places.rowAt(start, 61) === row;
      },
    ),
  );
  t.pass('as a plain sum');
});

t.test(
  'a space that is too high for browsers has its ends as they are, and each place once',
  async (t) => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000_000),
        fc.integer({ min: 0, max: 2_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (wholePx, sightPx, part) => {
          const space = new ScrollSpace(wholePx + sightPx);
          const end = space.shownPx - sightPx;
          const [px, next] = [part * end, Math.min(part * end + 1, end)];
          const at = space.wholeOf(px, sightPx);
          const isPlain = px <= 1e6 ? at === px : true;
          const isEnd = end - px <= 1e6 ? Math.abs(wholePx - at - (end - px)) < 1e-6 : true;
          const isBack = Math.abs(space.shownOf(at, sightPx) - px) < 1e-3;
          return isPlain && isEnd && isBack && space.wholeOf(next, sightPx) >= at;
        },
      ),
    );
    t.equal(new ScrollSpace(100_000 * 26).shownPx, 100_000 * 26);
  },
);

t.test('points of a range that say nothing are none, whatever they are', async (t) => {
  for (const text of ['constructor', '__proto__', 'now-999999999y/d', 'now-9d/d/d/x', '%', '']) {
    const { from, to } = pointsIn(text) ?? { from: text, to: text };
    t.equal(rangeOf(from, to, 'Europe/Paris', NOW), undefined, text);
  }
  const far = 'now-999999999h-999999999h-999999999h';
  t.equal(instantIn(far, 'UTC', NOW), undefined);
  fc.assert(
    fc.property(fc.string(), fc.string(), (from, to) => {
      const range = rangeOf(from, to, 'UTC', NOW);
      return range === undefined || range.fromMs < range.toMs;
    }),
  );
});

t.test('numbers and times are short and exact enough', async (t) => {
  t.same(
    [bytes(0), bytes(999), bytes(1_234), bytes(52_400_000)],
    ['0 B', '999 B', '1.2 kB', '52.4 MB'],
  );
  t.same([short(950), short(1_250_000)], ['950', '1.3M']);
  t.same([duration(12), duration(1_500), duration(120_000)], ['12 ms', '1.5 s', '2 min']);
  t.equal(percent(1, 3), '33\u00a0%');
  t.equal(percent(1, 100_000), '<\u00a00.1\u00a0%');
  t.equal(pointTime(NOW, 'UTC'), '2026-11-23 15:20:30.123');
});
