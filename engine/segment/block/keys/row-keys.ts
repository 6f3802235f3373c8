import { ByteReader, type ByteWriter, type FarBytes } from '../../../base/bytes.ts';
import { damaged } from '../../../base/errors.ts';
import { writeDense } from '../../../packed/dense-integers.ts';
import { free } from '../../../packed/growth.ts';
import { IntegerStream } from '../../../packed/integer-stream.ts';
import { valuesOfRuns } from '../../../packed/stored-runs.ts';
import { presentWriters, type RowKeys } from './present-writers.ts';
import { MARK_ROWS, type RowMarks, type WriterMarks } from './row-marks.ts';

/** Greatest sequence of a writer. Source: FORMAT.md 8. */
const SEQUENCE_MAX = 2 ** 48 - 1;
/** Writers of a block, at most. */
const WRITERS_MAX = 256;

/**
 * Writes the keys of a sealed block: which writers, whose each row is, and per writer a stream of its rows' sequences,
 * each less its place among them: a writer's rows that follow one another as they came cost nothing.
 * Source: FORMAT.md 10.2.
 */
export function writeRowKeys(region: ByteWriter, keys: RowKeys): void {
  const { writers, sequences } = keys;
  const { present, ranks, countOf } = presentWriters(writers);
  region.u8(present.length - 1);
  for (const writer of present) region.u8(writer);
  if (present.length > 1) {
    const ids = Float64Array.from(writers, (writer) => ranks[writer]);
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

/** Reads the keys of `rowCount` rows, and compares them with their marks. Throws CORRUPTION. */
export function readRowKeys(
  bytes: Uint8Array | FarBytes,
  rowCount: number,
  marks: readonly WriterMarks[] = [],
): RowKeys {
  const reader = new ByteReader(bytes);
  const present = readWriters(reader, marks);
  if (present.length === 1) {
    return keysOfOne(present[0], new IntegerStream(reader, rowCount), marks[0]);
  }
  const ids = new IntegerStream(reader, rowCount).ids(present.length - 1);
  const countOf = new Uint32Array(present.length);
  for (let row = 0; row < rowCount; row++) countOf[ids[row]]++;
  const streams = Array.from(countOf, (count) => new IntegerStream(reader, count).values());
  const writers = new Uint8Array(rowCount);
  const sequences = new Float64Array(rowCount);
  const next = new Uint32Array(present.length);
  for (let from = 0; from < rowCount; from += MARK_ROWS) {
    for (const [id, mark] of marks.entries()) {
      checkMark(mark, from / MARK_ROWS, next[id], streams[id]);
    }
    const end = Math.min(from + MARK_ROWS, rowCount);
    for (let row = from; row < end; row++) {
      const id = ids[row];
      const at = next[id]++;
      writers[row] = present[id];
      sequences[row] = checkedSequence(streams[id][at] + at);
    }
  }
  return { writers, sequences };
}

/** Reads which writers have rows. Throws CORRUPTION when there are not as many marks. */
function readWriters(reader: ByteReader, marks: readonly WriterMarks[]): Uint8Array {
  const present = new Uint8Array(reader.u8() + 1);
  for (let index = 0; index < present.length; index++) present[index] = reader.u8();
  const isMarked = marks.length > 0;
  if (isMarked && marks.length !== present.length) damaged(`marks of ${marks.length} writers`);
  return present;
}

/** Throws CORRUPTION unless a mark is that of a writer of which so many rows stand before it. */
function checkMark(
  { before, firsts }: WriterMarks,
  mark: number,
  rows: number,
  stream: Float64Array,
): void {
  if (before[mark] !== rows) damaged(`${rows} rows of a writer before a mark of ${before[mark]}`);
  if (mark === 0) return;
  const first = stream[Math.min(rows, stream.length - 1)];
  if (firsts[mark - 1] !== first) damaged(`a mark of ${firsts[mark - 1]}, not ${first}`);
}

/** The keys of rows that are read one by one. Throws CORRUPTION, unless it is known that none is damaged. */
export interface SingleKeys {
  writerAt(row: number): number;
  sequenceAt(row: number): number;
  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number;
}

/**
 * Opens keys for reading one by one, by their marks when they have some; `undefined` when they have to be read whole.
 * Throws CORRUPTION.
 */
export function openRowKeys(
  bytes: Uint8Array | FarBytes,
  rowCount: number,
  marks?: RowMarks,
): SingleKeys | undefined {
  const reader = new ByteReader(bytes);
  const writerMarks = marks?.writers ?? [];
  const present = readWriters(reader, writerMarks);
  if (writerMarks.length > 0) return new MarkedKeys(reader, rowCount, present, writerMarks);
  if (present.length > 1) return undefined;
  const stream = new IntegerStream(reader, rowCount);
  if (!stream.isBetween(0, SEQUENCE_MAX - rowCount)) return undefined;
  return {
    writerAt: () => present[0],
    sequenceAt: (row) => stream.at(row) + row,
    rest: () => stream.rest(),
  };
}

/** Keys of marked rows: with those of a row all are read that stand between the marks around it. */
class MarkedKeys implements SingleKeys {
  readonly #rowCount: number;
  readonly #present: Uint8Array;
  readonly #marks: readonly WriterMarks[];
  /** Whose each row is, by `#present`; `undefined` with one writer. */
  readonly #ids: IntegerStream | undefined;
  readonly #streams: IntegerStream[];
  #stretch: Stretch | undefined;

  constructor(
    reader: ByteReader,
    rowCount: number,
    present: Uint8Array,
    marks: readonly WriterMarks[],
  ) {
    this.#rowCount = rowCount;
    this.#present = present;
    this.#marks = marks;
    this.#ids = present.length > 1 ? new IntegerStream(reader, rowCount) : undefined;
    this.#streams = marks.map(({ before }) => new IntegerStream(reader, before[before.length - 1]));
  }

  writerAt(row: number): number {
    return this.#present[this.#idAt(row)];
  }

  sequenceAt(row: number): number {
    const id = this.#idAt(row);
    const mark = Math.floor(row / MARK_ROWS);
    const at = row % MARK_ROWS;
    const { before, firsts } = this.#marks[id];
    const place = before[mark] + (this.#stretchAt(row)?.places[at] ?? at);
    const stream = this.#streams[id];
    const stored =
      mark === 0 ? stream.at(place) : stream.atBehind(before[mark], firsts[mark - 1], place);
    return checkedSequence(stored + place);
  }

  rest(): number {
    this.#stretch = undefined;
    let bytes = this.#ids?.rest() ?? 0;
    for (const stream of this.#streams) bytes += stream.rest();
    return bytes;
  }

  #idAt(row: number): number {
    return this.#stretchAt(row)?.ids[row % MARK_ROWS] ?? 0;
  }

  /** The rows between the marks around a row; `undefined` with one writer. */
  #stretchAt(row: number): Stretch | undefined {
    if (this.#ids === undefined) return undefined;
    const mark = Math.floor(row / MARK_ROWS);
    if (this.#stretch?.mark !== mark) this.#stretch = this.#read(this.#ids, mark);
    return this.#stretch;
  }

  #read(stream: IntegerStream, mark: number): Stretch {
    const from = mark * MARK_ROWS;
    const count = Math.min(MARK_ROWS, this.#rowCount - from);
    const found = idsFrom(stream, from, count);
    const ids = new Uint8Array(count);
    const places = new Uint16Array(count);
    const next = new Uint32Array(this.#present.length);
    for (let at = 0; at < count; at++) {
      const id = found[at];
      if (next[id] === undefined) damaged(`writer ${id} of ${next.length}`);
      ids[at] = id;
      places[at] = next[id]++;
    }
    for (const [id, { before }] of this.#marks.entries()) {
      const rows = before[mark + 1] - before[mark];
      if (next[id] !== rows) damaged(`${next[id]} rows of a writer, ${rows} by its marks`);
    }
    return { mark, ids, places };
  }
}

/** Rows from one mark to the next: the writer of each, and its place among those of this writer. */
interface Stretch {
  mark: number;
  ids: Uint8Array;
  places: Uint16Array;
}

/** The ids of `count` rows, MARK_ROWS at most, from `from` on, a multiple of MARK_ROWS. Throws CORRUPTION. */
function idsFrom(ids: IntegerStream, from: number, count: number): ArrayLike<number> {
  if (ids.hasRuns) return valuesOfRuns(ids.runs(), from, count);
  return ids.some(from, count, WRITERS_MAX) ?? ids.values().subarray(from, from + count);
}

/** The keys of rows of one writer, whose sequences less their rows are `stream`. */
function keysOfOne(writer: number, stream: IntegerStream, marks: WriterMarks | undefined): RowKeys {
  // Nobody else reads the stream.
  const sequences = stream.values();
  for (let from = 0; marks !== undefined && from < sequences.length; from += MARK_ROWS) {
    checkMark(marks, from / MARK_ROWS, from, sequences);
  }
  for (let row = 0; row < sequences.length; row++) {
    sequences[row] = checkedSequence(sequences[row] + row);
  }
  return { writers: new Uint8Array(sequences.length).fill(writer), sequences };
}

function checkedSequence(sequence: number): number {
  if (!(sequence >= 0 && sequence <= SEQUENCE_MAX)) damaged(`sequence ${sequence}`);
  return sequence;
}
