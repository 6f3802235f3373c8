import fc from 'fast-check';
import t from 'tap';
import { ByteReader } from '../../engine/base/bytes.ts';
import { type Region, RegionReader, RegionWriter } from '../../engine/column/chunk.ts';
import { Dictionary } from '../../engine/column/dictionary.ts';
import { Kind } from '../../engine/column/kind.ts';
import { StringChunk } from '../../engine/column/string-chunk.ts';
import { StringBuilder } from '../../engine/column/strings.ts';
import {
  StringEncoding,
  stringEncoding,
  usedEntries,
  writeConstantString,
  writeDictionary,
  writeText,
} from '../../engine/column/text.ts';

function build(texts: string[], builder = new StringBuilder(4, Kind.STRING)): StringBuilder {
  for (const [row, text] of texts.entries()) {
    const bytes = Buffer.from(`#${text}`);
    builder.append(row, bytes, 1, bytes.length - 1);
  }
  return builder;
}

interface Written {
  encoding: StringEncoding;
  chunk: StringChunk;
  /** Regions that were read, in order. */
  reads: number[];
  bytes: number;
}

/** Writes the values `[from, to)` as block-encoder.ts does when all rows have one, and opens them. */
function write(builder: StringBuilder, from: number, to: number): Written {
  const out = new RegionWriter();
  const used = usedEntries(builder, from, to);
  const encoding = stringEncoding(builder, used, to - from);
  let entryCount = 0;
  if (encoding === StringEncoding.CONSTANT) writeConstantString(out, builder, used.entries[0]);
  else if (encoding === StringEncoding.TEXT) writeText(out, builder, from, to);
  else writeDictionary(out, builder, used, from, to, undefined);
  const reader = new RegionReader(out.meta.bytes());
  if (encoding === StringEncoding.DICTIONARY) entryCount = reader.meta.varint();
  const regions: Region[] = [];
  while (reader.meta.remaining > 0) regions.push(reader.region());
  const reads: number[] = [];
  const area = Buffer.concat(out.regions.parts());
  const region = (number: number): Uint8Array => {
    reads.push(number);
    const at = regions[number];
    return at.inline ?? area.subarray(at.offset, at.offset + at.bytes);
  };
  const bytes = area.length + out.meta.length;
  return {
    encoding,
    chunk: new StringChunk(encoding, { region }, to - from, entryCount),
    reads,
    bytes,
  };
}

function unguarded<T>(read: () => T): T {
  return read();
}

function textAt(chunk: StringChunk, rank: number): string | undefined {
  const place = chunk.value(rank);
  return place && Buffer.from(place.bytes.subarray(place.start, place.end)).toString();
}

function fault(
  builder: StringBuilder,
  texts: string[],
  from = 0,
  to = texts.length,
): string | undefined {
  const { chunk } = write(builder, from, to);
  const column = write(builder, from, to).chunk.column(
    Kind.STRING,
    undefined,
    to - from,
    unguarded,
  );
  for (let index = from; index < to; index++) {
    const text = texts[index];
    if (textAt(chunk, index - from) !== text) return `${index} is ${textAt(chunk, index - from)}`;
    const entry = column.ids[index - from] - 1;
    const bytes = column.bytes.subarray(column.offsets[entry], column.offsets[entry + 1]);
    if (Buffer.from(bytes).toString() !== text) return `${index} is ${bytes} in the column`;
  }
  chunk.column(Kind.STRING, undefined, to - from, unguarded);
  for (let index = from; index < to; index++) {
    if (textAt(chunk, index - from) !== texts[index])
      return `${index} is wrong after all were read`;
  }
  return undefined;
}

const repeat = (count: number, text: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => text(index));

t.test(
  'at rest a small dictionary stays decoded, and others and texts are read again',
  async (t) => {
    const readsAfterRest = (texts: string[]): { kept: boolean; bytes: number } => {
      const { chunk, reads } = write(build(texts), 0, texts.length);
      t.equal(textAt(chunk, 7), texts[7]);
      const bytes = chunk.rest();
      reads.length = 0;
      t.equal(textAt(chunk, 8), texts[8]);
      return { kept: !reads.includes(0), bytes };
    };
    const few = readsAfterRest(repeat(3000, (i) => `value ${i % 20}`));
    t.ok(few.kept);
    t.ok(few.bytes > 150, `${few.bytes} bytes`);
    t.notOk(readsAfterRest(repeat(9000, (i) => `a longer value ${i % 900}`)).kept);
  },
);

t.test('values come back in each encoding, whole and in part', async (t) => {
  const table: [string, string[], StringEncoding][] = [
    ['one value', repeat(3000, () => 'the same'), StringEncoding.CONSTANT],
    ['empty strings', repeat(100, () => ''), StringEncoding.CONSTANT],
    ['few values', repeat(3000, (i) => `value ${i % 20}`), StringEncoding.DICTIONARY],
    ['distinct values', repeat(3000, (i) => `value ${i}`), StringEncoding.TEXT],
    ['two thirds distinct', repeat(9000, (i) => `v${i % 6000}`), StringEncoding.TEXT],
    ['long values', repeat(2100, (i) => `${i}`.repeat(i % 90)), StringEncoding.TEXT],
    ['distinct only at first', repeat(32_768, (i) => `v${i % 4000}`), StringEncoding.TEXT],
    ['as many as a block holds', repeat(32_768, (i) => `${i}`), StringEncoding.TEXT],
  ];
  for (const [name, texts, encoding] of table) {
    const builder = build(texts);
    t.equal(fault(builder, texts), undefined, name);
    t.equal(write(builder, 0, texts.length).encoding, encoding, `${name}: encoding`);
    t.equal(fault(builder, texts, 17, 90), undefined, `${name}: a part`);
    t.equal(fault(builder, texts, texts.length - 1), undefined, `${name}: the last`);
  }
});

t.test('any strings come back', async () => {
  const text = fc.oneof(fc.constantFrom('', 'a', 'b', 'ä€😀'), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 200 }), fc.nat(), (texts, cut) => {
      const builder = build(texts);
      const from = cut % texts.length;
      const wrong = fault(builder, texts) ?? fault(builder, texts, from);
      if (wrong !== undefined) throw new Error(wrong);
    }),
  );
});

t.test('one value of a text reads its piece alone, the next one keeps it', async (t) => {
  const texts = repeat(5000, (i) => `unique text number ${i}`);
  const { chunk, reads } = write(build(texts), 0, 5000);
  t.equal(textAt(chunk, 2048), texts[2048]);
  t.same(reads, [0, 3]);
  for (const index of [3071, 2047 + 17, 2048]) t.equal(textAt(chunk, index), texts[index]);
  t.same(reads, [0, 3, 3]);
});

t.test(
  'single values are the same as those of a whole chunk, large pieces and entries too',
  async (t) => {
    const tables: [string, string[]][] = [
      ['a dictionary', repeat(9000, (i) => `a longer value ${i % 900}`)],
      ['a large dictionary', repeat(9000, (i) => `${i % 900} `.repeat(200))],
      ['a text', repeat(5000, (i) => `unique text number ${i}`)],
      ['a text that is stored plain', repeat(1200, (i) => `${(i * 2654435761) % 2 ** 32}`)],
      ['a text of large pieces', repeat(2100, (i) => `${i}`.repeat(120))],
    ];
    for (const [name, texts] of tables) {
      const { chunk, encoding } = write(build(texts), 0, texts.length);
      t.ok(encoding === StringEncoding.DICTIONARY || encoding === StringEncoding.TEXT);
      for (let index = 0; index < texts.length; index += 61) {
        if (textAt(chunk, index) !== texts[index]) t.fail(`${index} of ${name}`);
        if (index % 3 > 0) chunk.rest();
      }
    }
  },
);

t.test(
  'a single entry of a dictionary whose lengths are not those of its bytes is damage',
  async (t) => {
    const texts = repeat(9000, (i) => `a longer value ${i % 900}`);
    const out = new RegionWriter();
    const builder = build(texts);
    writeDictionary(out, builder, usedEntries(builder, 0, 9000), 0, 9000, undefined);
    const reader = new RegionReader(out.meta.bytes());
    const entryCount = reader.meta.varint();
    const area = Buffer.concat(out.regions.parts());
    const regions = [reader.region(), reader.region()].map(
      (at) => at.inline ?? area.subarray(at.offset, at.offset + at.bytes),
    );
    const opened = (count: number): StringChunk =>
      new StringChunk(
        StringEncoding.DICTIONARY,
        { region: (number) => regions[number] },
        9000,
        count,
      );
    t.equal(textAt(opened(entryCount), 7), texts[7]);
    t.throws(() => textAt(opened(entryCount - 128), 7), { code: 'CORRUPTION' });
  },
);

t.test(
  'a column of distinct values goes without a dictionary for some blocks, then tries again',
  async (t) => {
    const distinct = repeat(6000, (i) => `value ${i}`);
    const few = repeat(6000, (i) => `value ${i % 7}`);
    const builder = build(distinct);
    t.ok(builder.plain);
    t.ok(builder.dictionary.entryCount === 6000);
    builder.clear();
    t.ok(builder.plain, 'remembered');
    build(few, builder);
    t.equal(builder.dictionary.entryCount, 6000, 'equal values are not looked for');
    t.equal(fault(builder, few), undefined);
    let blocks = 1;
    while (builder.plain && blocks < 100) {
      builder.clear();
      build(builder.plain ? distinct : few, builder);
      blocks++;
    }
    t.equal(blocks, 16);
    t.equal(builder.dictionary.entryCount, 7);
    t.equal(fault(builder, few), undefined);
  },
);

t.test('a dictionary finds equal bytes whatever came between, and forgets', async (t) => {
  const dictionary = new Dictionary();
  const words = repeat(5000, (i) => `word ${i}${'x'.repeat(i % 100)}`).map((word) =>
    Buffer.from(word),
  );
  const intern = (word: Buffer): number => dictionary.intern(word, 0, word.length);
  t.same(
    words.map(intern),
    words.map((_, index) => index),
  );
  t.same(
    words.map(intern),
    words.map((_, index) => index),
  );
  t.equal(
    dictionary.byteCount,
    words.reduce((sum, word) => sum + word.length, 0),
  );
  dictionary.clear();
  t.equal(dictionary.byteCount, 0);
  t.equal(intern(words[77]), 0);
  t.equal(intern(words[3]), 1);
  t.equal(intern(words[77]), 0);
});

t.test('memory of a large block is given back after small ones', async (t) => {
  const builder = build(repeat(20_000, (i) => `a rather long value ${i}`));
  builder.clear();
  build(['a', 'b'], builder);
  builder.clear();
  t.ok(builder.dictionary.bytes.length < 1000, `${builder.dictionary.bytes.length} bytes kept`);
  t.ok(builder.rows.length < 100, `${builder.rows.length} rows kept`);
});

t.test('any regions are strings or corruption', async () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(
      fc.constantFrom<StringEncoding>(0, 1, 2),
      fc.array(bytes, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 2048 }),
      fc.integer({ min: 1, max: 40 }),
      (encoding, regions, valueCount, entryCount) => {
        const source = { region: (number: number) => regions[number] };
        for (const read of [
          (chunk: StringChunk) => chunk.value(valueCount - 1),
          (chunk: StringChunk) => chunk.column(Kind.STRING, undefined, valueCount, unguarded),
        ]) {
          try {
            read(new StringChunk(encoding, source, valueCount, Math.min(entryCount, valueCount)));
          } catch (error) {
            if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
          }
        }
      },
    ),
    { numRuns: 2000 },
  );
});

t.test('regions follow one another, small ones in the directory', async (t) => {
  const out = new RegionWriter();
  const sizes = [0, 1, 128, 129, 200, 3, 1000];
  for (const size of sizes) out.add(new Uint8Array(size).fill(size));
  const reader = new RegionReader(out.meta.bytes());
  const area = Buffer.concat(out.regions.parts());
  for (const size of sizes) {
    const region = reader.region();
    const bytes = region.inline ?? area.subarray(region.offset, region.offset + region.bytes);
    t.same(Array.from(bytes), new Array(size).fill(size & 255), `${size} bytes`);
    t.equal(region.inline !== undefined, size <= 128);
    if (region.inline === undefined) t.equal(region.offset % 8, 0);
  }
  t.equal(reader.end, area.length);
  t.equal(new ByteReader(out.meta.bytes()).remaining, out.meta.length);
});
