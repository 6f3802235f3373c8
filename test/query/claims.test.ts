import t from 'tap';
import { Claims, OWNER } from '../../engine/query/model/claims.ts';

/** Blocks of a scan that are claimed by several threads. */

const OTHER = OWNER + 1;
const REFS = [7, 7, 7, 4, 4, 9, 4].map((segment) => ({ segment }));

t.test('a segment is of another who claimed one of its blocks', async (t) => {
  const owner = new Claims(REFS);
  const other = new Claims(REFS, OTHER, owner.cells);
  const ofOthers = (claims: Claims): number[] =>
    [...REFS.keys()].filter((place) => claims.isOfOther(place));
  t.same(ofOthers(owner), [], 'nobody has claimed one');
  t.ok(owner.claim(1));
  t.same(ofOthers(owner), [], 'its own');
  t.same(ofOthers(other), [0, 1, 2]);
  t.ok(other.claim(3));
  t.same(ofOthers(owner), [3, 4], 'blocks that lie one after the other');
  owner.release(OTHER);
  t.same(ofOthers(owner), []);
  owner.close();
  t.same(ofOthers(owner), [], 'closed blocks are of nobody');
});

t.test('a block is claimed by one', async (t) => {
  const owner = new Claims(REFS);
  const other = new Claims(REFS, OTHER, owner.cells);
  t.ok(other.claim(2));
  t.notOk(owner.claim(2));
  t.same(owner.placesOf(OTHER), [2]);
  t.ok(other.has(2));
});
