import fc from 'fast-check';
import t from 'tap';
import { facetsUnits } from '../../engine/query/group/facets.ts';
import type { BucketKey } from '../../engine/query/model/query.ts';
import { modelBuckets } from '../support/bucket-model.ts';
import { fraction, Model } from '../support/model.ts';
import { run } from './blocks.ts';
import { PATHS, predicate, testRow } from './events.ts';
import { stored } from './stored.ts';

const EVER = { fromMs: -1e12, toMs: 1e12 };

function keyText(key: BucketKey): string {
  if (key.type === 'boolean') return `boolean ${key.value}`;
  if (key.type === 'string') return `string ${key.text}`;
  if (key.type !== 'number') throw new Error(`a key of type ${key.type}`);
  const { mantissa, exponent } = fraction(key.text) ?? {};
  return `number ${mantissa}e${exponent}`;
}

t.test('facets are the top lists of the model, counted together or alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(testRow, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      fc.oneof(predicate, fc.constant({ type: 'all' as const })),
      fc.uniqueArray(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(3, 50_000),
      fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      async (written, sealedCount, asked, paths, limit, distinctMax, boundCount) => {
        const { shelf, model } = await stored(written, sealedCount);
        const newest = model
          .list({ ...EVER, predicate: { type: 'all' }, order: 'desc', limit: boundCount ?? 1e9 })
          .reverse();
        const reached = new Model();
        for (const event of newest) reached.add(event);
        const bounded = boundCount === undefined ? {} : { boundCount };
        const query = { ...EVER, predicate: asked, paths, limit, ...bounded };
        const snapshot = { blocks: shelf.refs };
        const { facets } = run(facetsUnits(shelf.reader, snapshot, query, distinctMax));
        const order = { by: { type: 'core' as const }, direction: 'desc' as const };
        for (const [place, path] of paths.entries()) {
          const buckets = modelBuckets(reached, {
            ...{ ...EVER, predicate: asked },
            computes: [{ type: 'metric', metric: { type: 'core' } }],
            groupBys: [{ type: 'field', path, limit: 1e9, order, total: false }],
          });
          const wanted = buckets.map(({ keys, values }) => `${keys[0]} ${Object(values[0]).exact}`);
          const { values, more } = facets[place];
          const found = values.map(({ key, eventCount }) => `${keyText(key)} ${eventCount}`);
          const first = wanted.slice(0, limit);
          if (found.join() !== first.join()) throw new Error(`${path}: ${found}, not ${first}`);
          if (more !== wanted.length > limit) throw new Error(`${path}: more ${more}`);
        }
      },
    ),
    { numRuns: 100 },
  );
});
