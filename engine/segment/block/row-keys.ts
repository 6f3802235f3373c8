import { ByteReader, type ByteWriter, type FarBytes } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import { writeDense } from '../../packed/dense-integers.ts';
import { free } from '../../packed/growth.ts';
import { IntegerStream } from '../../packed/integer-stream.ts';

/** Greatest sequence of a writer. Source: FORMAT.md 8. */
const SEQUENCE_MAX = 2 ** 48 - 1;

/** Writer and sequence of each row of a block. */
export interface RowKeys {
  writers: Uint8Array;
  sequences: Float64Array;
}

/**
 * Writes the keys of a sealed block: which writers, whose each row is, and per writer a stream of its rows' sequences,
 * each less its place among them: a writer's rows that follow one another as they came cost nothing.
 * Source: FORMAT.md 10.2.
 */
export function writeRowKeys(region: ByteWriter, keys: RowKeys): void {
  const { writers, sequences } = keys;
  const countOf = new Uint32Array(256);
  for (let row = 0; row < writers.length; row++) countOf[writers[row]]++;
  const present: number[] = [];
  for (let writer = 0; writer < countOf.length; writer++) {
    if (countOf[writer] > 0) present.push(writer);
  }
  region.u8(present.length - 1);
  for (const writer of present) region.u8(writer);
  if (present.length > 1) {
    const ids = Float64Array.from(writers, (writer) => present.indexOf(writer));
    writeDense(region, ids, ids.length, 'ids');
  }
  for (const writer of present) {
    const own = new Float64Array(countOf[writer]);
    let at = 0;
    for (let row = 0; row < writers.length; row++) {
      if (writers[row] !== writer) continue;
      own[at] = sequences[row] - at;
      at++;
    }
    writeDense(region, own, own.length, 'values');
    free(own);
  }
}

/** Reads the keys of `rowCount` rows. Throws CORRUPTION. */
export function readRowKeys(bytes: Uint8Array | FarBytes, rowCount: number): RowKeys {
  const reader = new ByteReader(bytes);
  const present = new Uint8Array(reader.u8() + 1);
  for (let index = 0; index < present.length; index++) present[index] = reader.u8();
  if (present.length === 1) return keysOfOne(present[0], new IntegerStream(reader, rowCount));
  const ids = new IntegerStream(reader, rowCount).ids(present.length - 1);
  const countOf = new Uint32Array(present.length);
  for (let row = 0; row < rowCount; row++) countOf[ids[row]]++;
  const streams = Array.from(countOf, (count) => new IntegerStream(reader, count).values());
  const writers = new Uint8Array(rowCount);
  const sequences = new Float64Array(rowCount);
  const next = new Uint32Array(present.length);
  for (let row = 0; row < rowCount; row++) {
    const id = ids[row];
    const at = next[id]++;
    writers[row] = present[id];
    sequences[row] = checkedSequence(streams[id][at] + at);
  }
  return { writers, sequences };
}

/** The keys of rows of one writer, open for reading one by one. */
export interface OneWriterKeys {
  writer: number;
  sequenceAt(row: number): number;
  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number;
}

/** Opens keys for reading one by one; `undefined` when they have to be read whole. Throws CORRUPTION. */
export function openRowKeys(
  bytes: Uint8Array | FarBytes,
  rowCount: number,
): OneWriterKeys | undefined {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== 0) return undefined;
  const writer = reader.u8();
  const stream = new IntegerStream(reader, rowCount);
  if (!stream.isBetween(0, SEQUENCE_MAX - rowCount)) return undefined;
  return { writer, sequenceAt: (row) => stream.at(row) + row, rest: () => stream.rest() };
}

/** The keys of rows of one writer, whose sequences less their rows are `stream`. */
function keysOfOne(writer: number, stream: IntegerStream): RowKeys {
  // Nobody else reads the stream.
  const sequences = stream.values();
  for (let row = 0; row < sequences.length; row++) {
    sequences[row] = checkedSequence(sequences[row] + row);
  }
  return { writers: new Uint8Array(sequences.length).fill(writer), sequences };
}

function checkedSequence(sequence: number): number {
  if (!(sequence >= 0 && sequence <= SEQUENCE_MAX)) damaged(`sequence ${sequence}`);
  return sequence;
}
