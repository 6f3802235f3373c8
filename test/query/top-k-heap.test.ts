import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { type TopEntry, TopKHeap } from '../../engine/query/events/top-k-heap.ts';
import { compareEvents } from '../../engine/query/model/event-id.ts';

const key = fc.record({ timeMs: fc.nat(5), writer: fc.nat(3) });

t.test('the last of the first are those that a sort has there', async () => {
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 60 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.nat(70),
      fc.nat(70),
      (keys, order, limit, count) => {
        const top = new TopKHeap(limit, order);
        const sign = order === 'asc' ? 1 : -1;
        const entries: TopEntry[] = keys.map((one, row) => ({
          ...{ ...one, sequence: (row * 7) % keys.length, block: row % 3, row },
        }));
        const compare = (a: TopEntry, b: TopEntry) => sign * compareEvents(a, b) || a.row - b.row;
        for (const entry of entries) {
          const { timeMs, writer, sequence, block, row } = entry;
          const admits = top.admits(timeMs, writer, sequence);
          if (top.offer(timeMs, writer, sequence, block, row) !== admits) return false;
        }
        const first = entries.toSorted(compare).slice(0, limit);
        if (top.count !== first.length || top.isFull !== first.length >= limit) return false;
        if (top.lastTimeMs !== (first.length === limit ? first.at(-1)?.timeMs : undefined)) {
          return false;
        }
        const keysOf = (some: TopEntry[]) =>
          JSON.stringify(some.map(({ timeMs, writer, sequence }) => [timeMs, writer, sequence]));
        const last = finished(top.takeLast(count));
        const rest = first.slice(0, Math.max(first.length - count, 0));
        return (
          keysOf(last) === keysOf(first.slice(rest.length)) &&
          keysOf(finished(top.takeLast(limit))) === keysOf(rest)
        );
      },
    ),
  );
});

t.test('they are taken out in units', async (t) => {
  const top = new TopKHeap(20_000, 'desc');
  for (let row = 0; row < 30_000; row++) top.offer((row * 7_919) % 30_000, 0, row, 0, row);
  const units = top.takeLast(20_000);
  let unitCount = 1;
  let left = top.count;
  for (;;) {
    const step = units.next();
    t.ok(left - top.count <= 2_048);
    left = top.count;
    if (step.done === true) break;
    unitCount++;
  }
  t.equal(left, 0);
  t.equal(unitCount, 10);
});
