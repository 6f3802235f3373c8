import t from 'tap';
import { AuthFailures } from '../../server/api/access/failures.ts';

/** Failures by a clock that stands, and what the log was told. */
function open(): {
  failures: AuthFailures;
  lines: Record<string, unknown>[];
  go: (ms: number) => void;
} {
  let nowMs = 0;
  const lines: Record<string, unknown>[] = [];
  const failures = new AuthFailures({ info: (_, fields) => lines.push(fields ?? {}) }, () => nowMs);
  const go = (ms: number): void => {
    nowMs += ms;
  };
  return { failures, lines, go };
}

t.test('a peer has a hundred failures a minute, others have theirs', async (t) => {
  const { failures, go } = open();
  const noted = (peer: string, count: number): boolean[] =>
    Array.from({ length: count }, () => failures.note('admin', peer));
  t.same(noted('192.0.2.1', 100).includes(true), false);
  t.same(noted('192.0.2.1', 3).includes(false), false);
  t.same(noted('192.0.2.2', 1), [false]);
  noted('2001:db8:1:2:3:4:5:6', 100);
  t.same(noted('2001:db8:1:2::9', 1), [true], 'a network of IPv6 is one');
  t.same(noted('2001:db8:1:3::9', 1), [false]);
  go(60_000);
  t.same(noted('192.0.2.1', 1), [false]);
  t.same(failures.counts, { admin: 207, input: 0, login: 0, read: 0 });
});

t.test('the log has a few lines a minute, however many failures there are', async (t) => {
  const { failures, lines, go } = open();
  for (let at = 0; at < 1_000; at++) failures.note('input', '192.0.2.1');
  t.same(
    lines.map(({ failures: count }) => count),
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  );
  failures.note('read', '192.0.2.2');
  t.equal(lines.length, 10);
  go(60_000);
  failures.note('read', '192.0.2.3');
  t.match(lines[10], { route: 'read', peer: '192.0.2.3', failures: 1, untold: 489 });
});

t.test('peers are forgotten when there are too many', async (t) => {
  const { failures } = open();
  for (let at = 0; at < 101; at++) failures.note('admin', '192.0.2.1');
  for (let at = 0; at < 5_000; at++) failures.note('admin', `10.0.${at >> 8}.${at & 255}`);
  t.notOk(failures.note('admin', '192.0.2.1'));
});
