import t from 'tap';
import { collectHeap } from '../../engine/base/thread/collect.ts';

/** Collections until one has to have met an object: one that is under way keeps what was made meanwhile. */
const COLLECTIONS_MAX = 5;

function garbage(): WeakRef<Uint8Array> {
  return new WeakRef(new Uint8Array(1_000_000));
}

t.test('what nobody has is gone behind a collection, and what somebody has is not', async (t) => {
  const gone = garbage();
  const kept = new Uint8Array(1_000_000);
  const held = new WeakRef(kept);
  for (let times = 0; times < COLLECTIONS_MAX && gone.deref() !== undefined; times++) {
    // What a weak reference gave stays until the turn ends.
    await new Promise((resolve) => setImmediate(resolve));
    await collectHeap();
  }
  t.equal(gone.deref(), undefined);
  t.equal(held.deref(), kept);
});

t.test('collections that are asked for together all end', async (t) => {
  t.same(await Promise.all([collectHeap(), collectHeap(), collectHeap()]), [
    undefined,
    undefined,
    undefined,
  ]);
});
