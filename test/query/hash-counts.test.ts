import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { KeptEntries } from '../../engine/column/entries.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { type CountedHashes, HashCounts } from '../../engine/query/value/hash-counts.ts';
import { Pairs } from '../../engine/query/value/pairs.ts';
import { StringNumbers } from '../../engine/query/value/string-numbers.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';

const PARENTS = 2;

/** A block of rows that each have a text and a parent; the entries are the texts, or equal ones are one. */
interface Made {
  texts: string[];
  parents: number[];
  isText: boolean;
}

const made: fc.Arbitrary<Made> = fc
  .array(fc.record({ text: fc.integer({ min: 0, max: 40 }), parent: fc.nat(PARENTS - 1) }), {
    minLength: 1,
    maxLength: 60,
  })
  .chain((rows) =>
    fc.boolean().map((isText) => ({
      texts: rows.map(({ text }) => `t${text}`),
      parents: rows.map(({ parent }) => parent),
      isText,
    })),
  );

function entriesOf({ texts, isText }: Made): string[] {
  return isText ? texts : [...new Set(texts)];
}

function keptEntries(texts: readonly string[]): KeptEntries {
  const parts = texts.map((text) => encodeText(text));
  const offsets = new Uint32Array(parts.length + 1);
  for (const [at, { length }] of parts.entries()) offsets[at + 1] = offsets[at] + length;
  const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
  const entryUnits = function* () {
    yield;
    return { offsets, bytes };
  };
  return { entryCount: parts.length, entryUnits } as unknown as KeptEntries;
}

/** Counts blocks, numbered in `strings` by hashes that `hashOf` gives their texts. */
function counted(
  strings: StringNumbers,
  blocks: readonly Made[],
  first: number,
  hashOf: (text: string) => number,
): HashCounts {
  const counts = new HashCounts(strings, PARENTS);
  for (const [number, block] of blocks.entries()) {
    const entries = entriesOf(block);
    const pairs = new Pairs();
    pairs.count = block.texts.length;
    for (const [row, parent] of block.parents.entries()) {
      pairs.rows[row] = row;
      pairs.groups[row] = parent;
    }
    const ids = block.texts.map((text, row) => (block.isText ? row : entries.indexOf(text)) + 1);
    const ref = { segment: first + number, offset: 0 } as BlockRef;
    const hashOfEntry = (entry: number): number => strings.number(hashOf(entries[entry]));
    counts.add(strings.add(ref, entries.length, hashOfEntry), Uint32Array.from(ids), pairs);
  }
  return counts;
}

/** Rows by text that has some, in each parent; `undefined` when texts cannot be told apart. */
function found(parts: readonly CountedHashes[]): Map<string, number[]> | undefined {
  const table = new ValueTable(1);
  const byText = new Map<string, number[]>();
  for (const part of parts) {
    const all = Uint32Array.from(part.hashes, (_, number) => number);
    const numbers = finished(part.numbersIn(table, all));
    if (numbers === undefined) return undefined;
    for (const number of all) {
      const counts = Array.from({ length: PARENTS }, (_, parent) => part.countOf(parent, number));
      if (counts.every((count) => count === 0)) continue;
      const key = table.key(numbers[number]);
      const text = key.type === 'string' ? key.text : '';
      const before = byText.get(text) ?? counts.map(() => 0);
      byText.set(
        text,
        counts.map((count, parent) => count + before[parent]),
      );
    }
  }
  return new Map([...byText].sort());
}

function finish(counts: HashCounts, blocks: readonly Made[]): CountedHashes[] {
  return counts.finish(({ segment }) => keptEntries(entriesOf(blocks[segment])));
}

/** Rows by text of blocks, in each parent. */
function rowsByText(blocks: readonly Made[]): Map<string, number[]> {
  const wanted = new Map<string, number[]>();
  for (const { texts, parents } of blocks) {
    for (const [row, text] of texts.entries()) {
      const counts = wanted.get(text) ?? new Array<number>(PARENTS).fill(0);
      counts[parents[row]]++;
      wanted.set(text, counts);
    }
  }
  return new Map([...wanted].sort());
}

t.test(
  'rows are counted by the hashes of their texts, together with what others count',
  async (t) => {
    fc.assert(
      fc.property(fc.array(made, { minLength: 1, maxLength: 4 }), fc.nat(4), (blocks, cut) => {
        const hashOf = (text: string): number => Math.imul(Number(text.slice(1)), 0x2545f491) >>> 1;
        const strings = new StringNumbers();
        const left = counted(strings, blocks.slice(0, cut), 0, hashOf);
        const others = new StringNumbers();
        const right = counted(others, blocks.slice(cut), Math.min(cut, blocks.length), hashOf);
        finished(left.merge(structuredClone(right.data)));
        const parts = finish(left, blocks);
        t.equal(parts.length, 2);
        t.strictSame(found(parts), rowsByText(blocks));
        for (const part of parts) {
          const [{ counts }] = part.stretches(1, 3);
          t.same(
            [...counts],
            [0, 1, 2].slice(0, counts.length).map((entry) => part.countOf(1, entry)),
          );
        }
        t.ok(finished(left.unite()), 'they are put together');
        t.notOk(finished(left.unite()), 'they are together');
        const united = finish(left, blocks);
        t.equal(united.length, 1);
        t.strictSame(found(united), rowsByText(blocks));
        // The next counts get the memory of these.
        left.free();
        // What is numbered and read by now is asked again, of some of the blocks alone.
        const again = finish(counted(strings, blocks.slice(0, cut), 0, hashOf), blocks);
        t.strictSame(found(again), rowsByText(blocks.slice(0, cut)));
      }),
      { numRuns: 50 },
    );
  },
);

t.test('texts of one hash are not told apart', async (t) => {
  const blocks = [
    { texts: ['t1', 't2'], parents: [0, 1], isText: false },
    { texts: ['t12', 't1'], parents: [0, 0], isText: true },
  ];
  const [part] = finish(
    counted(new StringNumbers(), blocks, 0, (text) => text.length),
    blocks,
  );
  t.equal(part.hashes.length, 2);
  t.same([...(finished(part.numbersIn(new ValueTable(1), Uint32Array.of(1))) ?? [])], [0]);
  t.equal(finished(part.numbersIn(new ValueTable(1), Uint32Array.of(0))), undefined);
});
