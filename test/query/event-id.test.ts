import fc from 'fast-check';
import t from 'tap';
import { compareEvents, EventIds } from '../../engine/query/model/event-id.ts';

const secret = Uint8Array.from({ length: 32 }, (_, index) => index);
const ids = new EventIds(secret);

const eventKey = fc.record({
  timeMs: fc.integer({ min: -(2 ** 47), max: 2 ** 47 - 1 }),
  sequence: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  writer: fc.integer({ min: 0, max: 255 }),
});

t.test('an id is 22 URL-safe characters that give its key back', async () => {
  fc.assert(
    fc.property(eventKey, (key) => {
      const id = ids.encode(key);
      const back = ids.decode(id);
      return /^[\w-]{22}$/.test(id) && back !== undefined && compareEvents(back, key) === 0;
    }),
  );
});

t.test('an id stays what it is, from process to process', async (t) => {
  const key = { timeMs: 1_700_000_000_000, sequence: 77, writer: 3 };
  t.equal(ids.encode(key), 'KftqqVJ0tHb0W4YvkmQXEw');
  t.equal(ids.encode(key), new EventIds(secret).encode(key));
});

t.test('an id of another secret, or with a bit changed, is malformed', async (t) => {
  const id = ids.encode({ timeMs: 1_700_000_000_000, sequence: 77, writer: 3 });
  t.equal(new EventIds(secret.slice().fill(9)).decode(id), undefined);
  let accepted = 0;
  const bytes = Buffer.from(id, 'base64url');
  for (let bit = 0; bit < 128; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] ^= 1 << (bit & 7);
    if (ids.decode(changed.toString('base64url')) !== undefined) accepted++;
  }
  t.equal(accepted, 0);
});

t.test('what is not an id is malformed', async (t) => {
  const id = ids.encode({ timeMs: 0, sequence: 0, writer: 0 });
  const last = id.charCodeAt(21);
  for (const text of [
    '',
    'x',
    id.slice(1),
    `${id}A`,
    `${id.slice(0, 21)}=`,
    `${id.slice(0, 21)}${String.fromCharCode(last + 1)}`,
    ' '.repeat(22),
    'é'.repeat(22),
  ]) {
    t.equal(ids.decode(text), undefined, JSON.stringify(text));
  }
});

t.test('ids of neighbours have nothing in common', async (t) => {
  const texts = Array.from({ length: 1_000 }, (_, sequence) =>
    ids.encode({ timeMs: 1_700_000_000_000, sequence, writer: 0 }),
  );
  // By chance two share 5 characters once in two thousand such lists.
  t.equal(new Set(texts.map((text) => text.slice(0, 6))).size, texts.length);
  t.equal(new Set(texts.map((text) => text.slice(-7))).size, texts.length);
});

t.test('events are in the order of time, then sequence, then writer', async (t) => {
  const keys = [
    { timeMs: -5, writer: 9, sequence: 9 },
    { timeMs: 0, writer: 1, sequence: 0 },
    { timeMs: 0, writer: 0, sequence: 1 },
    { timeMs: 0, writer: 1, sequence: 1 },
    { timeMs: 0, writer: 0, sequence: 2 ** 40 },
    { timeMs: 1, writer: 0, sequence: 0 },
  ];
  t.same([...keys].reverse().sort(compareEvents), keys);
});
