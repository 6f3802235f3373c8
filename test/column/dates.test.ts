import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { BooleanBuilder, readBooleans, writeBooleans } from '../../engine/column/booleans.ts';
import { type DateFormResult, parseDateForm, printDate } from '../../engine/column/date-form.ts';
import { DateBuilder, DateChunk, writeDates } from '../../engine/column/dates.ts';
import { PresenceLayout, PresentRows, writePresence } from '../../engine/column/presence.ts';

interface DatedRow {
  timeMs: number;
  /** Undefined: the row has no date. */
  text: string | undefined;
}

const result: DateFormResult = { form: 0, value: 0, timeMs: 0 };

function build(rows: DatedRow[]): DateBuilder {
  const builder = new DateBuilder(4);
  for (const [row, { text }] of rows.entries()) {
    if (text === undefined) continue;
    if (!parseDateForm(Buffer.from(text), 0, text.length, result))
      throw new Error(`no date ${text}`);
    builder.append(row, result.value, result.form);
  }
  return builder;
}

function presentOf(rows: Uint16Array, count: number, rowCount: number): PresentRows | undefined {
  if (count === rowCount) return undefined;
  const writer = new ByteWriter();
  writePresence(writer, PresenceLayout.BITMAP, rows, 0, count, 0, rowCount);
  return PresentRows.read(new ByteReader(writer.bytes()), PresenceLayout.BITMAP, count, rowCount);
}

function encode(rows: DatedRow[]): {
  bytes: Uint8Array;
  builder: DateBuilder;
  min: number;
  max: number;
} {
  const builder = build(rows);
  const writer = new ByteWriter();
  const timeMs = Float64Array.from(rows, (row) => row.timeMs);
  const zone = writeDates(writer, builder, 0, builder.count, timeMs);
  return { bytes: writer.bytes().slice(), builder, ...zone };
}

function fault(rows: DatedRow[]): string | undefined {
  const { bytes, builder, min, max } = encode(rows);
  const timeMs = Float64Array.from(rows, (row) => row.timeMs);
  const present = presentOf(builder.rows, builder.count, rows.length);
  const column = new DateChunk(bytes, builder.count).column(present, rows.length, timeMs);
  const chunk = new DateChunk(bytes, builder.count);
  for (const [row, { text }] of rows.entries()) {
    if (text === undefined) continue;
    const rank = present === undefined ? row : present.rank(row);
    const printed = printDate(column.values[row], column.forms[row]);
    if (printed !== text) return `${text} is ${printed} in the column`;
    if (chunk.text(rank, timeMs[row]) !== text)
      return `${text} came back as ${chunk.text(rank, timeMs[row])}`;
    const ms = column.values[row] / ((column.forms[row] & 3) === 2 ? 1000 : 1);
    if (ms < min || ms > max) return `${text} is not within ${min} and ${max}`;
  }
  return undefined;
}

t.test('a date that is the time of its event costs nothing', async (t) => {
  const rows = Array.from({ length: 1000 }, (_, index) => {
    const timeMs = 1_700_000_000_000 + index * 17;
    return { timeMs, text: new Date(timeMs).toISOString() };
  });
  t.equal(fault(rows), undefined);
  t.ok(encode(rows).bytes.length < 10, `${encode(rows).bytes.length} bytes`);
});

t.test('dates of the edges of the calendar come back', async (t) => {
  const texts = [
    '0000-01-01T00:00:00',
    '9999-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59.999+05:45',
    '2024-02-29 00:00:00.000001-1130',
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:00.000000Z',
    '1969-12-31T23:59:59.999999Z',
  ];
  for (const timeMs of [0, 1.7e12, -(2 ** 47), 2 ** 47 - 1, 0.5]) {
    t.equal(fault(texts.map((text) => ({ timeMs, text }))), undefined, `at ${timeMs}`);
  }
});

const dateText = fc
  .tuple(
    fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }),
    fc.constantFrom('', '.123', '.000'),
    fc.constantFrom('', 'Z', '+02:00', '-0330'),
    fc.constantFrom('T', ' '),
  )
  .map(([seconds, fraction, zone, separator]) => {
    const iso = new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', separator);
    return `${iso}${fraction}${zone}`;
  });

t.test('any dates of any forms come back, missing ones between them', async () => {
  const row = fc.record({
    timeMs: fc.integer({ min: -(2 ** 47), max: 2 ** 47 - 1 }),
    text: fc.option(dateText, { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), dateText, (rows, text) => {
      const wrong = fault([...rows, { timeMs: 5, text }]);
      if (wrong !== undefined) throw new Error(wrong);
    }),
  );
});

t.test('booleans come back, missing ones between them', async () => {
  const value = fc.option(fc.boolean(), { nil: undefined });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), fc.boolean(), (some, last) => {
      const values = [...some, last];
      const builder = new BooleanBuilder(4);
      for (const [row, boolean] of values.entries()) {
        if (boolean !== undefined) builder.append(row, boolean ? 1 : 0);
      }
      const writer = new ByteWriter();
      writeBooleans(writer, builder, 0, builder.count);
      const present = presentOf(builder.rows, builder.count, values.length);
      const column = readBooleans(writer.bytes(), builder.count, present, values.length);
      return values.every(
        (boolean, row) => ((column.values[row >>> 5] >>> (row & 31)) & 1) === (boolean ? 1 : 0),
      );
    }),
  );
});

t.test('any bytes are dates and booleans or corruption', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 1, max: 500 }),
      (bytes, count) => {
        for (const read of [
          () => new DateChunk(bytes, count).column(undefined, count, new Float64Array(count)),
          () => new DateChunk(bytes, count).text(0, 0),
          () => readBooleans(bytes, count, undefined, count),
        ]) {
          try {
            read();
          } catch (error) {
            if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
          }
        }
      },
    ),
    { numRuns: 1000 },
  );
});
