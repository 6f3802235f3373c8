import fc from 'fast-check';
import t from 'tap';
import { TailTokens } from '../../server/query/tail/tail-token.ts';

const tokens = new TailTokens(new Uint8Array(32).fill(7));
const others = new TailTokens(new Uint8Array(32));

const place = fc.record({
  timeMs: fc.nat(2 ** 31).map((seconds) => seconds * 1_000),
  position: fc.maxSafeNat().map((n) => n % 2 ** 48),
});

t.test('a place comes back from its token, which is safe in a URL', async () => {
  fc.assert(
    fc.property(place, (one) => {
      const token = tokens.encode(one);
      if (!/^[\w-]{48}$/.test(token)) throw new Error(token);
      const back = tokens.decode(token);
      if (back?.timeMs !== one.timeMs) throw new Error('another time');
      if (back.position !== one.position) throw new Error('another position');
    }),
  );
});

t.test('a token that was changed, or is of another folder, is none', async () => {
  fc.assert(
    fc.property(place, fc.nat(), fc.nat(287), (one, at, bit) => {
      const token = tokens.encode(one);
      const bytes = Buffer.from(token, 'base64url');
      bytes[bit >> 3] ^= 1 << (bit & 7);
      if (tokens.decode(bytes.toString('base64url')) !== undefined) throw new Error('taken');
      const place = at % token.length;
      const cut = token.slice(0, place) + token.slice(place + 1);
      if (tokens.decode(cut) !== undefined) throw new Error('taken though it is short');
      if (others.decode(token) !== undefined) throw new Error('taken of another folder');
    }),
  );
});

t.test('tokens of one place have nothing in common', async (t) => {
  const one = { timeMs: 1_700_000_000_000, position: 77 };
  const texts = Array.from({ length: 100 }, () => tokens.encode(one));
  for (const [from, to] of [
    [0, 16],
    [16, 32],
    [32, 48],
  ]) {
    t.equal(new Set(texts.map((text) => text.slice(from, to))).size, texts.length);
  }
});

t.test('any text can be asked', async (t) => {
  for (const text of ['', 'A', '=', '*', 'é', 'A'.repeat(1e6), '__proto__']) {
    t.equal(tokens.decode(text), undefined, text.slice(0, 20));
  }
});
