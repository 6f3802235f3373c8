import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { KeptByBytes } from '../../engine/query/kept-by-bytes.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const SEGMENT = 1;
const BYTES = 1_000;
const KEPT_MAX = 10;

t.test('what was used longest ago goes for others, and is told', async (t) => {
  const gone: string[] = [];
  const kept = new KeptByBytes<string, number>(2 * BYTES, (key) => gone.push(key));
  kept.keep('a', SEGMENT, 1, BYTES);
  kept.keep('b', SEGMENT, 2, BYTES);
  kept.get('a');
  kept.keep('c', SEGMENT, 3, BYTES);
  t.same(gone, ['b']);
  t.equal(kept.bytes, 2 * BYTES);
  t.same([kept.get('a'), kept.get('b'), kept.get('c')], [1, undefined, 3]);
});

t.test(
  'a value that is found to take more makes others go, and never counts for less',
  async (t) => {
    const gone: string[] = [];
    const kept = new KeptByBytes<string, number>(3 * BYTES, (key) => gone.push(key));
    for (const key of ['a', 'b', 'c']) kept.keep(key, SEGMENT, 1, BYTES);
    kept.weigh('b', BYTES / 2);
    kept.weigh('none', 5 * BYTES);
    t.equal(kept.bytes, 3 * BYTES);
    kept.weigh('c', 2 * BYTES);
    t.same(gone, ['a']);
    t.equal(kept.bytes, 3 * BYTES);
  },
);

t.test('values are weighed in turn, each once, while others come and go', async (t) => {
  const kept = new KeptByBytes<string, string>(KEPT_MAX * BYTES);
  for (const key of ['a', 'b', 'c']) kept.keep(key, SEGMENT, key, BYTES);
  const weighed: string[] = [];
  const weigh = (): void =>
    kept.weighNext((value) => {
      weighed.push(value);
      return BYTES / 2;
    });
  weigh();
  kept.drop('b');
  kept.keep('d', SEGMENT, 'd', BYTES);
  for (let turn = 0; turn < 5; turn++) weigh();
  t.same(weighed, ['a', 'c', 'a', 'c', 'd']);
  t.equal(kept.bytes, (3 * BYTES) / 2);
});

t.test('values that went are free, whether values are weighed or not', async (t) => {
  for (const everyNth of [1, 7, Number.POSITIVE_INFINITY]) {
    const kept = new KeptByBytes<number, object>(KEPT_MAX * BYTES);
    const values: WeakRef<object>[] = [];
    for (let key = 0; key < 1_000; key++) {
      const value = { key };
      values.push(new WeakRef(value));
      kept.keep(key, SEGMENT, value, BYTES);
      if (key % everyNth === 0) kept.weighNext(() => BYTES);
    }
    // A reference that was made or read is held until its task is over.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    const held = values.filter((value) => value.deref() !== undefined).length;
    t.equal(held, KEPT_MAX, `weighed every ${everyNth}`);
  }
});
