import fc from 'fast-check';
import t from 'tap';
import { compareEvents, decodeEventId, encodeEventId } from '../../engine/query/event-id.ts';

const secret = Uint8Array.from({ length: 32 }, (_, index) => index);

const eventKey = fc.record({
  timeMs: fc.integer({ min: -(2 ** 47), max: 2 ** 47 - 1 }),
  writer: fc.integer({ min: 0, max: 255 }),
  sequence: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
});

t.test('an id is 20 URL-safe characters that give its key back', async () => {
  fc.assert(
    fc.property(eventKey, (key) => {
      const id = encodeEventId(secret, key);
      const back = decodeEventId(secret, id);
      return /^[\w-]{20}$/.test(id) && back !== undefined && compareEvents(back, key) === 0;
    }),
  );
});

t.test('an id of another secret, or with a character changed, is malformed', async (t) => {
  const id = encodeEventId(secret, { timeMs: 1_700_000_000_000, writer: 3, sequence: 77 });
  t.equal(decodeEventId(secret.slice().fill(9), id), undefined);
  let accepted = 0;
  for (let at = 0; at < id.length; at++) {
    const changed = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
    if (decodeEventId(secret, changed) !== undefined) accepted++;
  }
  t.equal(accepted, 0);
});

t.test('what is not an id is malformed', async (t) => {
  const id = encodeEventId(secret, { timeMs: 0, writer: 0, sequence: 0 });
  for (const text of [
    '',
    'x',
    id.slice(1),
    `${id}A`,
    `${id.slice(0, 19)}=`,
    ' '.repeat(20),
    'é'.repeat(20),
  ]) {
    t.equal(decodeEventId(secret, text), undefined, JSON.stringify(text));
  }
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
