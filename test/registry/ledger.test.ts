import t from 'tap';
import { Ledger, OTHER_KEYS } from '../../server/registry/ledger.ts';

const MINUTE_MS = 60_000;

/** Gives a ledger groups of one key and one event each. */
function take(ledger: Ledger, key: string, nowMs: number): void {
  const claim = { first: ledger.end, end: ledger.end + 1 };
  ledger.take({ claim, usage: [{ key, day: 0, bytes: 10, events: 1 }] }, nowMs);
}

t.test('a ledger counts by minute and key, and begins each minute at its first row', async (t) => {
  const ledger = new Ledger();
  ledger.take({ claim: { first: 7, end: 7 }, usage: [] }, 0);
  t.same(ledger.minutes(), [], 'a group without new rows is none');
  ledger.end = 7;
  take(ledger, 'a', 0);
  take(ledger, 'b', 59_999);
  take(ledger, 'a', MINUTE_MS);
  take(ledger, 'a', MINUTE_MS - 1);
  t.same(
    ledger.minutes().map(({ keys, ...minute }) => ({ ...minute, keys: Object.fromEntries(keys) })),
    [
      { startMs: 0, first: 7, events: 2, keys: { a: 1, b: 1 } },
      { startMs: MINUTE_MS, first: 9, events: 2, keys: { a: 2 } },
    ],
    'a clock that is put back opens no minute again',
  );
  t.equal(ledger.end, 11);
  t.equal(ledger.events, 4);
});

t.test('a ledger has a day of minutes at most, and 64 keys in each', async (t) => {
  const ledger = new Ledger();
  for (let minute = 0; minute < 1_500; minute++) take(ledger, 'a', minute * MINUTE_MS);
  t.equal(ledger.minutes().length, 1_440);
  t.equal(ledger.minutes()[0].startMs, 60 * MINUTE_MS);
  t.equal(ledger.events, 1_500);
  for (let key = 0; key < 100; key++) take(ledger, `k${key}`, 2_000 * MINUTE_MS);
  const keys = ledger.minutes().at(-1)?.keys ?? new Map<string, number>();
  t.equal(keys.size, 65);
  t.equal(keys.get(OTHER_KEYS), 36);
});
