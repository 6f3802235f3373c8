import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { StringColumn } from '../../engine/column/column.ts';
import { type Entries, PIECE_ENTRIES, TEXT_HASH } from '../../engine/column/entries.ts';
import { Kind } from '../../engine/column/kind.ts';
import { DictionaryColumn, TextColumn } from '../../engine/column/lazy-strings.ts';
import { allRows, type Bitmap, noRows } from '../../engine/query/model/bitmap.ts';
import { entriesThatPass } from '../../engine/query/scan/entry-passes.ts';
import { SumCache } from '../../engine/query/sum-cache.ts';

/** Two texts of one hash. */
function collision(): [string, string] {
  const texts = new Map<number, string>();
  for (let number = 0; ; number++) {
    const text = Math.imul(number, 0x9e3779b1).toString(36);
    const hash = hashOf(text);
    const other = texts.get(hash);
    if (other !== undefined && other.length === text.length) return [other, text];
    texts.set(hash, text);
  }
}

function hashOf(text: string): number {
  return TEXT_HASH.hashOf(Buffer.from(text), 0, text.length);
}

function entriesOf(texts: readonly string[]): Entries {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, text] of texts.entries()) offsets[at + 1] = offsets[at] + text.length;
  return { offsets, bytes: Buffer.from(texts.join('')) };
}

/** A column of a log block with these texts, one a row, opened again. */
function opened(texts: readonly string[], isText: boolean, cache: SumCache): StringColumn {
  const keeper = cache.keeper(1, '64 0');
  const entries = (): Entries => entriesOf(texts);
  const ids = (): Uint32Array => Uint32Array.from(texts, (_, at) => at + 1);
  if (!isText) {
    const reads = { ids, entries, packed: () => undefined };
    return new DictionaryColumn(Kind.STRING, texts.length, reads, keeper);
  }
  const piece = (first: number): Entries => entriesOf(texts.slice(first, first + PIECE_ENTRIES));
  const reads = { ids, entries, piece, partsWith: undefined };
  return new TextColumn(Kind.STRING, texts.length, reads, keeper);
}

/** The texts that pass when `wanted` is looked for. */
function found(column: StringColumn, texts: readonly string[], wanted: string, rows: Bitmap) {
  const test = (bytes: Uint8Array, offsets: Uint32Array, passes: Uint8Array, first: number) => {
    for (let at = 0; at < offsets.length - 1; at++) {
      const text = Buffer.from(bytes.subarray(offsets[at], offsets[at + 1])).toString();
      passes[first + at] &= text === wanted ? 1 : 0;
    }
  };
  const text = Buffer.from(wanted);
  const { passes, only } = finished(entriesThatPass(column, rows, {}, test, 1, text));
  return only === 0 ? [] : texts.flatMap((_, at) => (passes[at + 1] === 1 ? [at] : []));
}

const colliding = collision();

t.test('the entries that are a text are the same, however often they were asked for', async () => {
  const text = fc.oneof(
    fc.constantFrom(...colliding, '', 'a', 'b'),
    fc.stringMatching(/^[ab]{2}$/),
  );
  const lists = fc.oneof(
    fc.array(text, { minLength: 1, maxLength: 20 }),
    fc.array(text, { minLength: PIECE_ENTRIES, maxLength: PIECE_ENTRIES + 40 }),
  );
  fc.assert(
    fc.property(lists, fc.boolean(), fc.array(text, { minLength: 4 }), (texts, isText, asked) => {
      const cache = new SumCache();
      for (const wanted of asked) {
        const column = opened(texts, isText, cache);
        const expected = texts.flatMap((one, at) => (one === wanted ? [at] : []));
        const passed = found(column, texts, wanted, allRows(texts.length));
        if (String(passed) !== String(expected)) throw new Error(`${passed}, not ${expected}`);
      }
    }),
    { numRuns: 60 },
  );
});

t.test('texts are not read to find none, when they were looked up twice', async (t) => {
  const cache = new SumCache();
  const texts = [...Array.from({ length: 31 }, () => 'a'), colliding[0]];
  let readCount = 0;
  const ask = (wanted: string): number[] => {
    const keeper = cache.keeper(1, '64 0');
    const ids = (): Uint32Array => Uint32Array.from(texts, (_, at) => at + 1);
    const entries = (): Entries => {
      readCount++;
      return entriesOf(texts);
    };
    const reads = { ids, entries, packed: () => undefined };
    const column = new DictionaryColumn(Kind.STRING, 32, reads, keeper);
    return found(column, texts, wanted, allRows(32));
  };
  t.same([ask('c'), ask('c')], [[], []]);
  readCount = 0;
  t.same([ask('c'), ask('d')], [[], []]);
  t.equal(readCount, 0);
  t.same([ask(colliding[1]), ask(colliding[0])], [[], [31]]);
  t.equal(readCount, 2);
});

t.test('few rows are compared alone', async (t) => {
  const cache = new SumCache();
  const rows = noRows(400);
  rows[0] = 2;
  const texts = Array.from({ length: 400 }, (_, at) => String(at));
  for (let ask = 0; ask < 3; ask++) {
    t.same(found(opened(texts, true, cache), texts, '1', rows), [1]);
    t.same(found(opened(texts, true, cache), texts, '2', rows), []);
  }
});
