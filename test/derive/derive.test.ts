import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { RegionWriter } from '../../engine/column/chunk.ts';
import { NumberChunk, writeNumbers } from '../../engine/column/number-chunk.ts';
import { printNumber } from '../../engine/column/number-text.ts';
import { NumberBuilder } from '../../engine/column/numbers.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { DeriveKernel } from '../../engine/derive/derive-kernel.ts';
import { DerivedText } from '../../engine/derive/derived-text.ts';
import { numberTexts } from '../../engine/derive/number-texts.ts';
import type { ColumnTexts, RowsText, RowTexts } from '../../engine/derive/row-texts.ts';
import { writeTemplates } from '../../engine/derive/template.ts';
import { findTemplates, type Sample } from '../../engine/derive/template-finder.ts';
import { type DerivedParts, deriveText } from '../../engine/derive/text-deriver.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { compress, writePacked } from '../../engine/packed/compress.ts';
import { IntegerStream } from '../../engine/packed/integer-stream.ts';
import { idsToWrite, writeIds } from '../../engine/packed/integers.ts';

/** Entries of a dictionary that are read together here. */
const PIECE_TEXTS = 3;

useKernels('checked');
const kernel = DeriveKernel.make();

/** Strings one after the other. */
function entriesOf(texts: readonly string[]): { offsets: Uint32Array; bytes: Uint8Array } {
  const parts = texts.map((text) => Buffer.from(text));
  const offsets = new Uint32Array(parts.length + 1);
  for (const [at, { length }] of parts.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(parts)) };
}

/** Reads another stream, as columns are read: numbers of which a part was read are not good afterwards. */
function readAnother(): void {
  const writer = new ByteWriter();
  idsToWrite(1_024).set(Uint32Array.from({ length: 1_024 }, (_, at) => (at * 7_919) % 1_000));
  writeIds(writer, 1_024);
  new IntegerStream(new ByteReader(writer.bytes()), 1_024).part(0, 1_024);
}

/** Columns of rows; `undefined`: no value. */
function columnsOf(rows: readonly (string | undefined)[][], count: number): ColumnTexts {
  const columns = Array.from({ length: count }, (_, column): RowTexts => {
    const ids = Uint32Array.from(rows, (row, at) => (row[column] === undefined ? 0 : at + 1));
    return { ids, ...entriesOf(rows.map((row) => row[column] ?? '')) };
  });
  const dictionaries = columns.map(({ offsets, bytes }) => ({
    entryCount: offsets.length - 1,
    piece: (first: number) => ({
      offsets: offsets.subarray(first, first + PIECE_TEXTS + 1),
      bytes,
    }),
  }));
  return {
    texts: (column) => {
      readAnother();
      return columns[column];
    },
    ids: (column) => columns[column].ids,
    dictionary: (column) => (column % 2 === 0 ? dictionaries[column] : undefined),
    numbers: () => undefined,
    place: (column, row) => {
      const { ids, offsets, bytes } = columns[column];
      if (ids[row] === 0) return undefined;
      return { bytes, start: offsets[row], end: offsets[row + 1] };
    },
  };
}

/** Parts of a derived text in a block, read again: by the kernel, when it is `by` that. */
function read(
  derived: DerivedParts,
  rows: Uint16Array,
  columns: ColumnTexts,
  by?: DeriveKernel,
): DerivedText {
  const regions: Uint8Array[] = [];
  const add = (write: (writer: ByteWriter) => void): void => {
    const writer = new ByteWriter();
    write(writer);
    regions.push(writer.bytes().slice());
  };
  add(() => {});
  add((writer) => {
    const raw = new ByteWriter();
    writeTemplates(raw, derived.templates);
    writePacked(writer, raw.bytes(), compress);
  });
  add((writer) => {
    idsToWrite(derived.numbers.length).set(derived.numbers);
    writeIds(writer, derived.numbers.length);
  });
  for (const own of derived.own) add((writer) => writePacked(writer, own, compress));
  const source = { region: (number: number) => regions[number], rows: () => new Uint32Array(rows) };
  return new DerivedText({ ...source, columns, kernel: () => by }, rows.length);
}

/** Throws unless the kernel makes `wanted` of the numbers of a chunk. */
function compareMade(wanted: readonly string[], chunk: NumberChunk): void {
  const ids = Uint32Array.from(wanted, (_, row) => row + 1);
  const columns: ColumnTexts = {
    texts: () => ({ ids, ...numberTexts(chunk) }),
    ids: () => ids,
    dictionary: () => undefined,
    numbers: () => ({ ids, chunk }),
    place: () => undefined,
  };
  const templates = [[{ kind: 1 as const, column: 0, bytes: new Uint8Array(0) }]];
  if (kernel?.load({}, templates, columns) !== true) throw new Error('there is room');
  const { offsets, bytes } = entriesOf(wanted);
  const made = new Uint8Array(bytes.length);
  const chosen = new Float64Array(wanted.length);
  const rows = Uint32Array.from(chosen.keys());
  const isMade = kernel.make(rows, chosen, new Uint8Array(0), { offsets, bytes: made });
  if (!isMade || Buffer.compare(made, bytes) !== 0) throw new Error(`${made}, not ${bytes}`);
}

/**
 * The texts that `deriveText` made, as they are read piece by piece and one by one; undefined when there are none.
 * Throws when the kernel does it otherwise.
 */
function derivedTexts(
  rows: readonly (string | undefined)[][],
  columnCount: number,
  texts: readonly (string | undefined)[],
): [string[], string[]] | undefined {
  const plain = derivedBy(rows, columnCount, texts);
  const found = derivedBy(rows, columnCount, texts, kernel);
  if (!isDeepStrictEqual(found, plain)) throw new Error('the kernel finds other texts');
  return plain?.texts;
}

function derivedBy(
  rows: readonly (string | undefined)[][],
  columnCount: number,
  texts: readonly (string | undefined)[],
  by?: DeriveKernel,
): { derived: DerivedParts; texts: [string[], string[]] } | undefined {
  const columns = columnsOf(rows, columnCount);
  const present = texts.flatMap((text, row) => (text === undefined ? [] : [row]));
  const own = present.map((row) => texts[row] ?? '');
  const text: RowsText = { rows: Uint16Array.from(present), ...entriesOf(own) };
  const columnNumbers = Array.from({ length: columnCount }, (_, column) => column);
  const derived = deriveText(text, columns, columnNumbers, by);
  if (derived === undefined) return undefined;
  const again = deriveText(text, columns, columnNumbers, by);
  if (!isDeepStrictEqual(again, derived)) throw new Error('of kept dictionaries it finds others');
  const reader = read(derived, text.rows, columns, by);
  const pieces: string[] = [];
  for (let first = 0; first < own.length; first += 1_024) {
    const { offsets } = text;
    const end = Math.min(first + 1_024, own.length);
    const local = offsets.slice(first, end + 1).map((offset) => offset - offsets[first]);
    const bytes = new Uint8Array(local[end - first]);
    reader.piece(first / 1_024, local, bytes);
    for (let at = 0; at < end - first; at++) {
      pieces.push(Buffer.from(bytes.subarray(local[at], local[at + 1])).toString());
    }
  }
  const single = own.map((value, rank) => {
    const { bytes, start, end } = reader.value(rank, Buffer.byteLength(value));
    return Buffer.from(bytes.subarray(start, end)).toString();
  });
  return { derived, texts: [pieces, single] };
}

const word = fc.constantFrom('GET', '/a/b?c=1', 'x', '', '17', '0.250', 'é', 'GET /a', 'a b', '"');

t.test('texts come back of the values that they are made of, whatever they are', async (t) => {
  const row = fc.array(fc.option(word, { nil: undefined }), { minLength: 4, maxLength: 4 });
  const part = fc.oneof(fc.nat(3), fc.constantFrom(' ', '=', ' took ', 'é', '"', 'GET'));
  const template = fc.array(part, { maxLength: 7 });
  const templates = fc.array(template, { minLength: 1, maxLength: 4 });
  const sizes = fc.tuple(fc.nat(40), fc.constantFrom(3, 700, 1_300));
  let derivedCount = 0;
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 5, maxLength: 30 }),
      templates,
      sizes,
      (few, templates, [noise, count]) => {
        const rows = Array.from({ length: count }, (_, at) => few[(at * 7) % few.length]);
        const texts = rows.map((values, at) => {
          if (noise > 0 && at % (noise + 3) === 1) return at % 2 === 0 ? `odd ${at}` : undefined;
          const chosen = templates[(at * 13) % templates.length];
          return chosen.map((each) => (typeof each === 'string' ? each : values[each])).join('');
        });
        const wanted = texts.flatMap((text) => (text === undefined ? [] : [text]));
        const found = derivedTexts(rows, 4, texts);
        if (found === undefined) return;
        derivedCount++;
        for (const texts of found) {
          if (texts.join('\n') !== wanted.join('\n')) throw new Error('other texts');
        }
      },
    ),
    { numRuns: 150 },
  );
  t.ok(derivedCount > 5, `${derivedCount} were derived`);
});

t.test('key=value text is derived, with words of its own', async (t) => {
  const rows = Array.from({ length: 2_500 }, (_, at) => [
    `10.0.${at % 250}.${(at * 31) % 250}`,
    `${(at * 7919) % 60_000}`,
    at % 3 === 0 ? 'tcp' : 'udp',
  ]);
  const texts = rows.map(
    ([address, port, protocol], at) =>
      `connection ${'abcdefgh'[at % 8]} of ${at % 90} src=${address} spt=${port} proto=${protocol}`,
  );
  const found = derivedTexts(rows, 3, texts);
  t.same(found, [texts, texts]);
});

t.test('a template is made of values that stand as whole words', async (t) => {
  const values = ['GET', '12'].map((text, column) => ({ column, bytes: Buffer.from(text) }));
  const sample = (text: string): Sample => ({ text: Buffer.from(text), values });
  const [template] = findTemplates(Array.from({ length: 40 }, () => sample('FORGET GET 123 12')));
  t.same(
    template.map(({ column, bytes }) => [column, Buffer.from(bytes).toString()]),
    [
      [-1, 'FORGET '],
      [0, ''],
      [-1, ' 123 '],
      [1, ''],
    ],
  );
  t.same(findTemplates(Array.from({ length: 40 }, () => sample('nothing of that'))), []);
});

t.test('texts without order are not derived', async (t) => {
  const rows = Array.from({ length: 1_500 }, (_, at) => [`${at}`]);
  t.equal(
    derivedTexts(
      rows,
      1,
      rows.map((_, at) => `the text number ${at * 3} of some`),
    ),
    undefined,
  );
});

t.test('numbers are printed as their chunk prints them', async () => {
  const digits = fc.integer({ min: 0, max: 22 });
  const mantissa = fc.oneof(
    ...[2_000, 2e8, Number.MAX_SAFE_INTEGER].map((max) => fc.integer({ min: -max, max })),
  );
  const odd = fc.constantFrom('-0', '1e400', '007', '1.50e3');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(mantissa, digits, fc.option(odd)), { minLength: 1 }),
      (numbers) => {
        const builder = new NumberBuilder(1);
        const wanted: string[] = [];
        for (const [row, [value, decimals, text]] of numbers.entries()) {
          const bytes = Buffer.from(text ?? '');
          const detail = text === null ? decimals : NUMBER_AS_TEXT;
          builder.append(row, value, detail, bytes, 0, bytes.length);
          wanted.push(text ?? printNumber(value, decimals, 0));
        }
        const out = new RegionWriter();
        writeNumbers(out.region, builder, 0, numbers.length);
        const { offsets, bytes } = numberTexts(
          new NumberChunk(out.region.bytes().slice(), numbers.length),
        );
        const found = wanted.map((_, at) =>
          Buffer.from(bytes.subarray(offsets[at], offsets[at + 1])).toString(),
        );
        if (found.join() !== wanted.join()) throw new Error(`${found}, not ${wanted}`);
        compareMade(wanted, new NumberChunk(out.region.bytes().slice(), numbers.length));
      },
    ),
  );
});

t.test('damaged templates, numbers and lengths are corruption', async (t) => {
  const rows = Array.from({ length: 30 }, (_, at) => [at === 7 ? undefined : `value ${at}`]);
  const columns = columnsOf(rows, 1);
  const part = { kind: 1 as const, column: 0, bytes: new Uint8Array(0) };
  const made = (numbers: Uint8Array, own: Uint8Array): DerivedText =>
    read({ templates: [[part]], numbers, own: [own] }, Uint16Array.of(3, 4), columns, kernel);
  const lengths = Uint32Array.of(0, 7, 14);
  const bytes = new Uint8Array(14);
  const nothing = new Uint8Array(0);
  made(Uint8Array.of(0, 0), nothing).piece(0, lengths, bytes);
  t.equal(Buffer.from(bytes).toString(), 'value 3value 4');
  const corrupt = { code: 'CORRUPTION' };
  t.throws(() => made(Uint8Array.of(0, 1), nothing).piece(0, lengths, bytes), corrupt);
  t.throws(() => made(Uint8Array.of(1, 1), nothing).value(1, 7), corrupt);
  t.equal(made(Uint8Array.of(0, 0), nothing).numberAt(1), 0);
  t.throws(() => made(Uint8Array.of(1, 1), nothing).numberAt(1), corrupt);
  t.throws(() => made(Uint8Array.of(0, 0), Uint8Array.of(0)).piece(0, lengths, bytes), corrupt);
  t.throws(
    () => made(Uint8Array.of(0, 0), nothing).piece(0, Uint32Array.of(0, 6, 14), bytes),
    corrupt,
  );
  t.throws(
    () => made(Uint8Array.of(0, 0), nothing).piece(0, Uint32Array.of(0, 8, 15), bytes),
    corrupt,
  );
  t.throws(() => made(Uint8Array.of(0, 0), nothing).value(0, 8), corrupt);
  const absent = read(
    { templates: [[part]], numbers: Uint8Array.of(0, 0), own: [nothing] },
    Uint16Array.of(7, 8),
    columns,
    kernel,
  );
  t.throws(() => absent.piece(0, lengths, bytes), corrupt);
  t.throws(() => absent.value(0, 7), corrupt);
});
