import { ByteReader, type FarBytes } from '../../../base/bytes.ts';
import type { Region } from '../../../column/chunk.ts';
import type { DeltaSums } from '../../../packed/delta-sums.ts';
import { free } from '../../../packed/growth.ts';
import { IntegerStream } from '../../../packed/integer-stream.ts';
import { type BlockRef, placed } from '../../frame.ts';
import type { BlockHead } from '../block-head.ts';
import type { Directory } from '../directory.ts';
import type { RowKeys } from './present-writers.ts';
import { openRowKeys, readRowKeys, type SingleKeys } from './row-keys.ts';
import { checkTimes, type RowMarks } from './row-marks.ts';

/** Rows for each of which this many others could be decoded in the time that it takes alone. */
const SINGLE_COST = 64;
const NO_KEYS: RowKeys = { writers: new Uint8Array(0), sequences: new Float64Array(0) };

/** Reads what orders rows and names them, one by one. Throws CORRUPTION. */
export interface RowKeyReader {
  /** Event date, epoch milliseconds. */
  timeAt(row: number): number;
  /** Reception date, epoch milliseconds. */
  receivedAt(row: number): number;
  writerAt(row: number): number;
  sequenceAt(row: number): number;
}

/** Dates, writers and sequences of a block's rows: of all of them, or of a few. Throws CORRUPTION. */
export class BlockKeys implements RowKeyReader {
  readonly #ref: BlockRef;
  readonly #marks: () => RowMarks | undefined;
  readonly #directory: Directory;
  readonly #firstSequence: number;
  readonly #sums: DeltaSums;
  readonly #read: (region: Region) => Uint8Array | FarBytes;
  #times: IntegerStream | undefined;
  #areTimesChecked = false;
  /** The row whose date was read last, and the date. */
  #lastRow = -1;
  #lastTimeMs = 0;
  #received: IntegerStream | undefined;
  #single: SingleKeys | undefined;
  #all: RowKeys | undefined;

  /** Of the block of a head; `read` gives the checked bytes of a region. */
  constructor(head: BlockHead, read: (region: Region) => Uint8Array | FarBytes) {
    const { ref, directory, firstSequence, timeSums } = head;
    this.#ref = ref;
    this.#marks = () => head.marks;
    this.#directory = directory;
    this.#firstSequence = firstSequence;
    this.#sums = timeSums;
    this.#read = read;
  }

  /** Event date of each row, epoch milliseconds. */
  timeMs(): Float64Array {
    const stream = this.#timeStream();
    if (this.#areTimesChecked) return stream.values();
    const marks = this.#marks();
    const times = stream.values();
    if (marks !== undefined) checkTimes(times, marks);
    this.#areTimesChecked = true;
    return times;
  }

  /** Reception date of each row, epoch milliseconds. */
  receivedMs(): Float64Array {
    return this.#receivedStream().values();
  }

  /** Writer and sequence of each row. */
  all(): RowKeys {
    this.#all ??= this.#readAll();
    return this.#all;
  }

  /** Reads what is needed for `count` rows one by one. */
  prepare(count: number): void {
    this.#receivedStream();
    const isFew = count * SINGLE_COST < this.#ref.rowCount;
    if (!isFew) this.timeMs();
    else {
      this.#sums.marks = this.#marks()?.times;
      this.#timeStream();
    }
    if (this.#all !== undefined || (isFew && this.#single !== undefined)) return;
    const { keys } = this.#directory;
    if (isFew) {
      this.#single =
        keys === undefined
          ? this.#arrivalKeys()
          : openRowKeys(this.#read(keys), this.#ref.rowCount, this.#marks());
    }
    if (!isFew || this.#single === undefined) this.all();
  }

  timeAt(row: number): number {
    if (this.#lastRow !== row) {
      this.#lastTimeMs = placed(this.#ref, () => this.#timeStream().at(row));
      this.#lastRow = row;
    }
    return this.#lastTimeMs;
  }

  receivedAt(row: number): number {
    return this.#receivedStream().at(row);
  }

  writerAt(row: number): number {
    if (this.#all !== undefined) return this.#all.writers[row];
    return placed(this.#ref, () => this.#single?.writerAt(row) ?? 0);
  }

  sequenceAt(row: number): number {
    if (this.#all !== undefined) return this.#all.sequences[row];
    return placed(this.#ref, () => this.#single?.sequenceAt(row) ?? 0);
  }

  /** Lets go of times that can be read again; the bytes that it still holds, with those of all keys. */
  rest(): number {
    const { writers, sequences } = this.#all ?? NO_KEYS;
    const bytes = writers.byteLength + sequences.byteLength + (this.#single?.rest() ?? 0);
    return bytes + (this.#times?.rest() ?? 0) + (this.#received?.rest() ?? 0);
  }

  /** Ends it, and frees what it gave. */
  free(): void {
    this.#times?.free();
    this.#received?.free();
    free(this.#all?.sequences, this.#all?.writers);
  }

  #timeStream(): IntegerStream {
    const { time } = this.#directory;
    this.#times ??= new IntegerStream(this.#reader(time), this.#ref.rowCount, true, this.#sums);
    return this.#times;
  }

  #receivedStream(): IntegerStream {
    this.#received ??= new IntegerStream(
      this.#reader(this.#directory.received),
      this.#ref.rowCount,
    );
    return this.#received;
  }

  #reader(region: Region): ByteReader {
    return new ByteReader(this.#read(region));
  }

  /** Keys of a log block: its rows are of one writer, and in the order of their sequences but for runs. */
  #arrivalKeys(): SingleKeys {
    const { runs } = this.#directory;
    const sequenceAt = (row: number): number => {
      let at = row;
      for (const { first, rows } of runs) {
        if (at < rows) return first + at;
        at -= rows;
      }
      return this.#firstSequence + at;
    };
    return { writerAt: () => this.#ref.writer, sequenceAt, rest: () => 0 };
  }

  #readAll(): RowKeys {
    const { keys, runs } = this.#directory;
    const { rowCount, writer } = this.#ref;
    if (keys !== undefined) {
      return readRowKeys(this.#read(keys), rowCount, this.#marks()?.writers);
    }
    const sequences = new Float64Array(rowCount);
    let row = 0;
    for (const { first, rows } of runs) {
      for (let at = 0; at < rows; at++) sequences[row++] = first + at;
    }
    for (let next = this.#firstSequence; row < sequences.length; ) sequences[row++] = next++;
    return { writers: new Uint8Array(rowCount).fill(writer), sequences };
  }
}
