import { ByteWriter } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Region } from '../../column/chunk.ts';
import { type DateFormResult, parseDateForm } from '../../column/date-form.ts';
import { writeEpochDates } from '../../column/dates.ts';
import type { Entries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { partsOfText, writeNumbers } from '../../column/number-chunk.ts';
import { NumberBuilder } from '../../column/numbers.ts';
import { NUMBER_AS_TEXT } from '../../column/rows.ts';
import { StringEncoding } from '../../column/text.ts';
import { writeIntegers } from '../../packed/integers.ts';

/** Texts of booleans in a map. */
export const TRUE_TEXT = Uint8Array.of(0x31);
export const FALSE_TEXT = Uint8Array.of(0x30);

const decoder = new TextDecoder();
const date: DateFormResult = { form: 0, value: 0, timeMs: 0 };

/** Values of a column of few as a block has them: the encoding of strings, and regions. */
export interface EncodedColumn {
  encoding: number;
  regions: Region[];
}

const inlined = (...regions: Uint8Array[]): Region[] => regions.map((inline) => ({ inline }));

/** Tells that the text of a boolean is that of `true`. */
export function isTrue(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === TRUE_TEXT[0];
}

/** Encodes values of a kind that an overflow map has as texts. Throws CORRUPTION when one is no such text. */
export function encodeColumn(kind: Kind, texts: Entries): EncodedColumn {
  if (kind === Kind.STRING || kind === Kind.ARRAY) return encodeStrings(texts);
  const writer = new ByteWriter(64);
  if (kind === Kind.NUMBER) {
    const builder = numbersOf(texts);
    writeNumbers(writer, builder, 0, builder.count);
  } else if (kind === Kind.DATE) encodeDates(writer, texts);
  else {
    const { bytes, offsets } = texts;
    const values = Float64Array.from(offsets.subarray(1), (_, value) =>
      isTrue(bytes, offsets[value]) ? 1 : 0,
    );
    writeIntegers(writer, values, values.length, 'ids');
  }
  return { encoding: 0, regions: inlined(writer.bytes()) };
}

/** Strings are text, or one that is constant. */
function encodeStrings({ offsets, bytes }: Entries): EncodedColumn {
  const count = offsets.length - 1;
  const writer = new ByteWriter(64);
  if (count === 1) {
    const only = bytes.subarray(offsets[0], offsets[1]);
    writer.varint(only.length);
    writer.blob(only);
    return { encoding: StringEncoding.CONSTANT, regions: inlined(writer.bytes()) };
  }
  const lengths = Float64Array.from({ length: count }, (_, at) => offsets[at + 1] - offsets[at]);
  writeIntegers(writer, lengths, count, 'ids');
  const pieces: Uint8Array[] = [];
  for (let first = 0; first < count; first += TEXT_PIECE_ROWS) {
    pieces.push(bytes.subarray(offsets[first], offsets[Math.min(first + TEXT_PIECE_ROWS, count)]));
  }
  return { encoding: StringEncoding.TEXT, regions: inlined(writer.bytes(), ...pieces) };
}

function numbersOf({ offsets, bytes }: Entries): NumberBuilder {
  const builder = new NumberBuilder(0);
  builder.count = offsets.length - 1;
  builder.values = new Float64Array(builder.count);
  builder.details = new Uint16Array(builder.count);
  for (let at = 0; at < builder.count; at++) {
    const text = decoder.decode(bytes.subarray(offsets[at], offsets[at + 1]));
    const { value, detail } = partsOfText(text);
    if (Number.isNaN(value)) damaged(`a number of ${offsets[at + 1] - offsets[at]} bytes`);
    builder.values[at] = value;
    builder.details[at] = detail;
    if (detail === NUMBER_AS_TEXT)
      builder.texts.add(bytes, offsets[at], offsets[at + 1] - offsets[at]);
  }
  return builder;
}

function encodeDates(writer: ByteWriter, { offsets, bytes }: Entries): void {
  const count = offsets.length - 1;
  const values = new Float64Array(count);
  const forms = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    if (!parseDateForm(bytes, offsets[at], offsets[at + 1], date)) damaged('a date of no form');
    values[at] = date.value;
    forms[at] = date.form;
  }
  writeEpochDates(writer, values, forms);
}
