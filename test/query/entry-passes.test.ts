import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { StringColumn } from '../../engine/column/column.ts';
import { type Entries, type EntrySource, PIECE_ENTRIES } from '../../engine/column/entries.ts';
import { Kind } from '../../engine/column/kind.ts';
import { addRow, noRows } from '../../engine/query/model/bitmap.ts';
import { type EntryTest, entriesThatPass } from '../../engine/query/scan/entry-passes.ts';

const ENTRIES = 3 * PIECE_ENTRIES + 100;
const NO_BYTES = new Uint8Array(0);

/** A dictionary whose entry e is one byte, e modulo 251. */
function dictionary(): EntrySource {
  const unused = () => {
    throw new Error('not needed');
  };
  const piece = (first: number): Entries => {
    const count = Math.min(PIECE_ENTRIES, ENTRIES - first);
    return {
      offsets: Uint32Array.from({ length: count + 1 }, (_, at) => at),
      bytes: Uint8Array.from({ length: count }, (_, at) => (first + at) % 251),
    };
  };
  const whole = { entries: unused, entryUnits: unused, hashUnits: unused };
  const others = { ...whole, lengths: unused, place: unused, verify: unused };
  return { entryCount: ENTRIES, piece, ...others };
}

/** A block's column with these entries, one a row. */
function columnOf(entries: readonly number[], shared: EntrySource): StringColumn {
  const ids = Uint32Array.from(entries, (entry) => entry + 1);
  const own = { entryCount: ENTRIES, offsets: new Uint32Array(0), bytes: NO_BYTES };
  return { kind: Kind.STRING, ids, ...own, shared };
}

/** A test that even bytes pass; counts how often each entry was tested. */
function evenTest(counts: Uint32Array): EntryTest {
  return (bytes, offsets, passes, first) => {
    for (let at = 0; at < offsets.length - 1; at++) {
      if (passes[first + at] === 0) continue;
      counts[first + at - 1]++;
      passes[first + at] = bytes[offsets[at]] % 2 === 0 ? 1 : 0;
    }
  };
}

const entry = fc.integer({ min: 0, max: ENTRIES - 1 });
const dense = fc
  .tuple(entry, fc.integer({ min: 1, max: ENTRIES }))
  .map(([from, count]) => Array.from({ length: count }, (_, at) => (from + at) % ENTRIES));
const someBlocks = fc.array(fc.oneof(fc.array(entry, { minLength: 1, maxLength: 40 }), dense), {
  minLength: 1,
  maxLength: 6,
});

t.test('the entries of the rows pass as the test says, and none is tested thrice', async () => {
  fc.assert(
    fc.property(someBlocks, fc.nat({ max: 3 }), (blocks, skipped) => {
      const shared = dictionary();
      const counts = new Uint32Array(ENTRIES);
      const owner = {};
      for (const entries of blocks) {
        const rows = noRows(entries.length);
        for (let row = 0; row < entries.length; row++) if (row % 4 !== skipped) addRow(rows, row);
        const column = columnOf(entries, shared);
        const passes = finished(entriesThatPass(column, rows, owner, evenTest(counts)));
        for (const [row, wanted] of entries.entries()) {
          if (row % 4 === skipped) continue;
          const expected = (wanted % 251) % 2 === 0 ? 1 : 0;
          if (passes[wanted + 1] !== expected) throw new Error(`entry ${wanted}`);
        }
        if (passes[0] !== 0) throw new Error('a row without an entry passes');
      }
      if (Math.max(...counts) > 2) throw new Error(`tested ${Math.max(...counts)} times`);
    }),
    { numRuns: 100 },
  );
});

t.test('of a few rows only their entries are tested', async (t) => {
  const shared = dictionary();
  const counts = new Uint32Array(ENTRIES);
  const rows = noRows(4);
  for (let row = 0; row < 4; row++) addRow(rows, row);
  finished(entriesThatPass(columnOf([5, 6, 2_000, 5], shared), rows, {}, evenTest(counts)));
  const tested = Array.from(counts.keys()).filter((at) => counts[at] > 0);
  t.same(tested, [5, 6, 2_000]);
});

t.test('a damaged piece is told to the blocks alone that need it', async (t) => {
  const whole = dictionary();
  const piece = (first: number): Entries => {
    if (first === PIECE_ENTRIES) throw new Error('damaged');
    return whole.piece(first);
  };
  const shared = { ...whole, piece };
  const owner = {};
  const rows = noRows(1);
  addRow(rows, 0);
  const ask = (entries: number[]): Uint8Array =>
    finished(
      entriesThatPass(columnOf(entries, shared), rows, owner, evenTest(new Uint32Array(ENTRIES))),
    );
  t.throws(() => ask([PIECE_ENTRIES]), { message: 'damaged' });
  t.equal(ask([4])[5], 1);
  t.throws(() => ask([PIECE_ENTRIES]), { message: 'damaged' });
});
