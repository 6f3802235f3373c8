import { Batch } from '../../engine/column/batch.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Reader } from '../../engine/query/reader.ts';
import { encodeBlock } from '../../engine/segment/block/block-encoder.ts';
import { type BlockRef, FrameKind, writeFrameHeader } from '../../engine/segment/frame.ts';
import { type SealOptions, type SealResult, sealBlocks } from '../../engine/segment/seal/seal.ts';
import { LOG_FOLDER, pathOfSegment, segmentPath } from '../../engine/store/filename.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { addRow, type TestRow } from './leaves.ts';

export const FOLDER_ID = Uint8Array.from({ length: 16 }, (_, index) => index);
/** Of the hashes of entries. */
const SEED = 0x5eed;

/** A folder of segments in memory: log segments of one block each, and what they are sealed to. */
export class Shelf {
  readonly disk = new MemoryDisk();
  readonly reader: Reader;
  /** The live blocks. */
  refs: BlockRef[] = [];
  readonly #columnsMax: number | undefined;
  #segment = 0;

  /** `columnsMax`: columns of a sealed segment that are stored one by one, as for `sealBlocks`. */
  constructor(columnsMax?: number) {
    this.#columnsMax = columnsMax;
    this.disk.makeFolder(LOG_FOLDER);
    this.reader = new Reader(this.disk, new Uint8Array(32));
  }

  /** Writes `rows` as a log segment of one block. */
  async add(
    rows: readonly TestRow[],
    writer: number,
    firstSequence: number,
    receivedMs = 1_000_000,
  ): Promise<BlockRef> {
    const paths = new PathTable();
    const records = new Rows();
    records.reset(new Uint8Array(0), receivedMs);
    for (const row of rows) addRow(records, paths, row);
    return this.addRecords(records, paths, writer, firstSequence);
  }

  /** Writes row records as a log segment of one block. */
  async addRecords(
    records: Rows,
    paths: PathTable,
    writer: number,
    firstSequence: number,
  ): Promise<BlockRef> {
    const batch = new Batch(paths);
    if (batch.append(records, 0) !== records.rowCount) throw new Error('the rows are one block');
    const { bytes, ...block } = encodeBlock(batch, 0, batch.rowCount);
    const segment = ++this.#segment;
    const { rowCount, minTimeMs, maxTimeMs } = block;
    writeFrameHeader(bytes, {
      kind: FrameKind.BLOCK,
      ...block,
      repeats: false,
      firstSequence,
      segment,
      ordinal: 1,
      previous: 0,
      group: 1,
      frameBytes: bytes.length,
    });
    const place = { segment, ordinal: 1, offset: 0, bytes: bytes.length };
    const endSequence = firstSequence + rowCount;
    const facts = { writer, firstSequence, endSequence, rowCount, minTimeMs, maxTimeMs };
    const ref = { sealed: false, ...place, ...facts };
    const file = this.disk.open(segmentPath(segment), 'create');
    await file.write([bytes], 0);
    await file.sync();
    file.close();
    this.refs.push(ref);
    return ref;
  }

  /** Puts sealed segments in the place of `refs`. */
  async seal(refs: readonly BlockRef[], rowsMax = 1_000_000): Promise<SealResult> {
    const result = await this.sealOnly(refs, rowsMax);
    const blocks = result.segments.flatMap((segment) => segment.blocks);
    this.refs = [...this.refs.filter((ref) => !refs.includes(ref)), ...blocks];
    return result;
  }

  /** Seals `refs`, which stay live. */
  sealOnly(
    refs: readonly BlockRef[],
    rowsMax = 1_000_000,
    more: Pick<SealOptions, 'signal'> = {},
  ): Promise<SealResult> {
    const { disk } = this;
    const allocate = async (): Promise<number> => ++this.#segment;
    const options = {
      disk,
      pathOf: pathOfSegment,
      folderId: FOLDER_ID,
      seed: SEED,
      nowMs: 5,
      refs,
      rowsMax,
    };
    const columnsMax = this.#columnsMax;
    const budget = columnsMax === undefined ? {} : { columnsMax };
    return sealBlocks({ ...options, ...budget, allocate, ...more });
  }

  /** All that a query can tell of the rows of `refs`: a text a row, by key. Throws when a key is there twice. */
  texts(refs: readonly BlockRef[] = this.refs): Map<string, string> {
    const texts = new Map<string, string>();
    for (const ref of refs) {
      const block = this.reader.open(ref);
      const times = block.timeMs();
      const received = block.receivedMs();
      const { writers, sequences } = block.keys();
      for (let row = 0; row < ref.rowCount; row++) {
        const key = `${times[row]} ${writers[row]} ${sequences[row]}`;
        if (texts.has(key)) throw new Error(`row ${key} is there twice`);
        texts.set(key, `${received[row]} ${block.eventText(row)}`);
      }
    }
    return texts;
  }
}

/** Throws when two maps differ, naming the first difference. */
export function compareTexts(found: Map<string, string>, wanted: Map<string, string>): void {
  for (const [key, text] of wanted) {
    if (found.get(key) !== text) throw new Error(`${key}: ${found.get(key)}, not ${text}`);
  }
  if (found.size !== wanted.size) throw new Error(`${found.size} rows, not ${wanted.size}`);
}

/** Throws when rows of sealed blocks are not in the order of events. */
export function checkOrder(shelf: Shelf, blocks: readonly BlockRef[]): void {
  let last: [number, number, number] = [Number.NEGATIVE_INFINITY, 0, 0];
  for (const ref of blocks) {
    const block = shelf.reader.open(ref);
    const { writers, sequences } = block.keys();
    const times = block.timeMs();
    for (let row = 0; row < ref.rowCount; row++) {
      const key: [number, number, number] = [times[row], sequences[row], writers[row]];
      const order = key[0] - last[0] || key[1] - last[1] || key[2] - last[2];
      if (!(order > 0)) throw new Error(`${key} after ${last}`);
      last = key;
    }
    if (times[0] !== ref.minTimeMs || times[times.length - 1] !== ref.maxTimeMs) {
      throw new Error('wrong bounds of times');
    }
  }
}
