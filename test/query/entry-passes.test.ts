import fc from 'fast-check';
import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { finished } from '../../engine/base/pause.ts';
import type { StringColumn } from '../../engine/column/column.ts';
import { type Entries, type EntrySource, PIECE_ENTRIES } from '../../engine/column/entries.ts';
import { Kind } from '../../engine/column/kind.ts';
import { LiteralFinder } from '../../engine/query/filter/literal.ts';
import { addRow, allRows, noRows } from '../../engine/query/model/bitmap.ts';
import {
  type EntryTest,
  entriesThatPass,
  type Passes,
  testEach,
} from '../../engine/query/scan/entry-passes.ts';

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
  const units = { entryUnits: unused, findUnits: unused, hashUnits: unused, keptUnits: unused };
  const whole = { ...units, entries: unused, countRuns: unused, verifyHashes: unused };
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
        const { passes } = finished(entriesThatPass(column, rows, owner, evenTest(counts)));
        for (const [row, wanted] of entries.entries()) {
          if (row % 4 === skipped) continue;
          const expected = (wanted % 251) % 2 === 0 ? 1 : 0;
          if (passes[wanted + 1] !== expected) throw new Error(`entry ${wanted}`);
        }
        if (passes[0] === 1) throw new Error('a row without an entry passes');
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
    if (first === PIECE_ENTRIES) throw new EngineError('CORRUPTION', 'damaged');
    return whole.piece(first);
  };
  const shared = { ...whole, piece };
  const owner = {};
  const rows = noRows(1);
  addRow(rows, 0);
  const ask = (entries: number[]): Passes =>
    finished(
      entriesThatPass(columnOf(entries, shared), rows, owner, evenTest(new Uint32Array(ENTRIES))),
    );
  t.throws(() => ask([PIECE_ENTRIES]), { message: 'damaged' });
  t.equal(ask([4]).passes[5], 1);
  t.throws(() => ask([PIECE_ENTRIES]), { message: 'damaged' });
  const many = Array.from({ length: 32 }, (_, at) => at);
  const all = allRows(many.length);
  const test = evenTest(new Uint32Array(ENTRIES));
  t.equal(finished(entriesThatPass(columnOf(many, shared), all, owner, test)).passes[5], 1);
  t.equal(finished(entriesThatPass(columnOf(many, shared), all, owner, test)).passes[5], 1);
  const needing = columnOf([...many.slice(1), PIECE_ENTRIES], shared);
  t.throws(() => finished(entriesThatPass(needing, all, owner, test)), { message: 'damaged' });
});

t.test('a dictionary in which nothing passes costs no ids from the second block on', async (t) => {
  const shared = dictionary();
  const counts = new Uint32Array(ENTRIES);
  const none: EntryTest = (_bytes, offsets, passes, first) => {
    for (let at = 0; at < offsets.length - 1; at++) {
      counts[first + at - 1] += passes[first + at];
      passes[first + at] = 0;
    }
  };
  const many = Array.from({ length: 64 }, (_, at) => at);
  const owner = {};
  let readCount = 0;
  const { ids, ...rest } = columnOf(many, shared);
  const column: StringColumn = {
    ...rest,
    get ids() {
      readCount++;
      return ids;
    },
  };
  finished(entriesThatPass(column, allRows(many.length), owner, none));
  const readFirst = readCount;
  for (let block = 0; block < 3; block++) {
    t.equal(
      finished(entriesThatPass(column, allRows(many.length), owner, none)).only,
      0,
      `block ${block}`,
    );
  }
  t.equal(readCount, readFirst);
  t.ok(Math.max(...counts) <= 2);
});

t.test('texts that are searched as a whole pass as one by one', async () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'A', '-'), maxLength: 6 }), {
    minLength: 1,
    maxLength: 40,
  });
  const literal = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(texts, literal, fc.nat(), fc.boolean(), (all, wanted, holes, decides) => {
      const bytes = Buffer.from(all.join(''));
      const offsets = new Uint32Array(all.length + 1);
      for (const [at, text] of all.entries()) offsets[at + 1] = offsets[at] + text.length;
      const finder = new LiteralFinder(Buffer.from(wanted), decides);
      const test = (start: number, end: number): boolean =>
        bytes.toString('latin1', start, end).toLowerCase().includes(wanted);
      const asked = Uint8Array.from({ length: all.length + 1 }, (_, at) =>
        at > 0 && ((holes >>> (at % 31)) & 3) !== 3 ? 1 : 0,
      );
      const together = asked.slice();
      const search = { finder, isExact: decides, needsLetters: false };
      testEach({ bytes, offsets }, together, 1, search, test);
      const alone = asked.slice();
      testEach({ bytes, offsets }, alone, 1, undefined, test);
      if (Buffer.compare(together, alone) !== 0) throw new Error(`${together} is not ${alone}`);
    }),
    { numRuns: 2_000 },
  );
});
