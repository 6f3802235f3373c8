import fc from 'fast-check';
import t from 'tap';
import { CountRuns } from '../../engine/column/count-runs.ts';

t.test('counts by runs are those of the entries', async () => {
  const lengths = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9 })),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(lengths, fc.nat(60), fc.nat(60), (steps, end, least) => {
      const counts: number[] = [];
      const starts: number[] = [];
      const heads: number[] = [];
      let head = steps.reduce((sum, [step]) => sum + step, 0);
      for (const [step, length] of steps) {
        starts.push(counts.length);
        heads.push(head);
        for (let at = 0; at < length; at++) counts.push(head);
        head -= step;
      }
      const runs = new CountRuns(
        counts.length,
        Float64Array.from(starts),
        Float64Array.from(heads),
      );
      return (
        runs.total === counts.reduce((sum, count) => sum + count, 0) &&
        counts.every((count, entry) => runs.countOf(entry) === count) &&
        runs.countFrom(least) === counts.filter((count) => count >= least).length &&
        runs.first(end).join() === counts.slice(0, end).join()
      );
    }),
  );
});
