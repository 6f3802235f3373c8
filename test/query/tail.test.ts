import fc from 'fast-check';
import t from 'tap';
import { tailUnits } from '../../engine/query/events/tail-scan.ts';
import type { TailedEvent, TailQuery } from '../../engine/query/model/query.ts';
import { Shelf } from '../segment/shelf.ts';
import { Blocks, run } from './blocks.ts';

const EVERYTHING: Omit<TailQuery, 'from' | 'to'> = {
  receivedFromMs: Number.NEGATIVE_INFINITY,
  predicate: { type: 'all' },
  limit: 1_000,
  eventsMax: 1_000,
  charactersMax: 1_000_000,
  event: true,
  columns: [],
};
const WORD: TailQuery['predicate'] = {
  type: 'words',
  words: [[{ literal: 'yes' }]],
};

function message(text: string) {
  return [{ names: ['message'], kind: 'string' as const, text }];
}

/** A commit: rows of a writer at these times, of which the even ones are selected; some blocks are sealed behind it. */
const commit = fc.record({
  writer: fc.nat(2),
  times: fc.array(fc.nat(50), { minLength: 1, maxLength: 5 }),
  seals: fc.nat(4),
});

t.test(
  'a tail has each selected row behind its position once, in the order of arrival',
  async () => {
    const property = fc.asyncProperty(
      fc.array(commit, { minLength: 1, maxLength: 12 }),
      fc.nat(12),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 7 }),
      async (commits, begin, limit, eventsMax) => {
        const shelf = new Shelf();
        let end = 0;
        let from = 0;
        const expected: string[] = [];
        for (const [number, { writer, times, seals }] of commits.entries()) {
          if (number === begin) from = end;
          if (number === begin) expected.length = 0;
          const first = end;
          const rows = times.map((timeMs) => ({
            timeMs,
            leaves: message(timeMs % 2 ? 'no' : 'yes'),
          }));
          await shelf.add(rows, writer, first, number * 1_000);
          for (const [row, timeMs] of times.entries()) {
            if (timeMs % 2 === 0) expected.push(`${first + row} ${timeMs}`);
          }
          end = first + times.length;
          if (seals > 2) await shelf.seal(shelf.refs.slice(0, seals));
        }
        if (begin >= commits.length) {
          from = end;
          expected.length = 0;
        }
        const kept = expected.slice(Math.max(expected.length - limit, 0));
        const found: string[] = [];
        let dropped = 0;
        for (;;) {
          const query = { ...EVERYTHING, predicate: WORD, from, to: end, eventsMax };
          const left = limit - found.length;
          const result = run(
            tailUnits(shelf.reader, { blocks: shelf.refs }, { ...query, limit: left }),
          );
          dropped += result.droppedCount;
          found.push(...result.events.map(nameOf));
          from = result.position;
          if (result.isWhole) break;
          if (result.events.length !== eventsMax) throw new Error('a part is not full');
        }
        if (found.join() !== kept.join()) throw new Error(`${found.join()} is not ${kept.join()}`);
        if (dropped !== expected.length - kept.length) throw new Error(`${dropped} were dropped`);
        if (from !== end) throw new Error(`ends at ${from} of ${end}`);
      },
    );
    await fc.assert(property, { numRuns: 150 });
  },
);

function nameOf({ sequence, timeMs }: TailedEvent): string {
  return `${sequence} ${timeMs}`;
}

t.test('a part ends with the event that makes it long enough', async (t) => {
  const blocks = new Blocks();
  blocks.add(
    [1, 2, 3].map((timeMs) => ({ timeMs, leaves: message('x'.repeat(100)) })),
    0,
    10,
  );
  const query = { ...EVERYTHING, from: 10, to: 13 };
  const part = run(tailUnits(blocks, { blocks: blocks.refs }, { ...query, charactersMax: 150 }));
  t.same(part.events.map(nameOf), ['10 1', '11 2']);
  t.equal(part.position, 12);
  t.notOk(part.isWhole);
});

t.test('what was received too long ago is neither shown nor counted', async (t) => {
  const shelf = new Shelf();
  for (const [number, receivedMs] of [1_000, 2_000].entries()) {
    await shelf.add([{ timeMs: 5, leaves: message('x') }], 0, number, receivedMs);
  }
  const query = { ...EVERYTHING, receivedFromMs: 2_000, from: 0, to: 2 };
  const found = run(tailUnits(shelf.reader, { blocks: shelf.refs }, query));
  t.same(found.events.map(nameOf), ['1 5']);
  t.equal(found.droppedCount, 0);
});

t.test('a block that is damaged hides its rows alone', async (t) => {
  const blocks = new Blocks();
  for (const first of [0, 1]) blocks.add([{ timeMs: 1, leaves: message('x') }], 0, first);
  const frame = blocks.bytes(blocks.refs[0]);
  frame.fill(0xff, 64);
  const query = { ...EVERYTHING, from: 0, to: 2 };
  const found = run(tailUnits(blocks, { blocks: blocks.refs }, query));
  t.same(found.events.map(nameOf), ['1 1']);
  t.ok(found.isWhole);
});
