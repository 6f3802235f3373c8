import fc from 'fast-check';
import t from 'tap';
import { decodeTailToken, encodeTailToken } from '../../server/query/tail-token.ts';

const SECRET = new Uint8Array(32).fill(7);

const place = fc.record({
  timeMs: fc.nat(2 ** 31).map((seconds) => seconds * 1_000),
  position: fc.maxSafeNat().map((n) => n % 2 ** 48),
});

t.test('a place comes back from its token, which is safe in a URL', async () => {
  fc.assert(
    fc.property(place, (one) => {
      const token = encodeTailToken(SECRET, one);
      if (!/^[\w-]+$/.test(token)) throw new Error(token);
      const back = decodeTailToken(SECRET, token);
      if (back?.timeMs !== one.timeMs) throw new Error('another time');
      if (back.position !== one.position) throw new Error('another position');
    }),
  );
});

t.test('a token that was changed, or is of another folder, is none', async () => {
  fc.assert(
    fc.property(place, fc.nat(), fc.nat(61), (one, at, letter) => {
      const token = encodeTailToken(SECRET, one);
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
      const place = at % token.length;
      const changed = token.slice(0, place) + letters[letter] + token.slice(place + 1);
      if (changed !== token && decodeTailToken(SECRET, changed) !== undefined)
        throw new Error('taken');
      const other = new Uint8Array(32);
      if (decodeTailToken(other, token) !== undefined) throw new Error('taken of another folder');
    }),
  );
});

t.test('any text can be asked', async (t) => {
  for (const text of ['', 'A', '=', '*', 'é', 'A'.repeat(1e6), '__proto__']) {
    t.equal(decodeTailToken(SECRET, text), undefined, text.slice(0, 20));
  }
});
