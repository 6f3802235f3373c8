import { Batch } from '../../engine/column/batch.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Reader } from '../../engine/query/reader.ts';
import { encodeBlock } from '../../engine/segment/block-encoder.ts';
import { type BlockRef, FrameKind, writeFrameHeader } from '../../engine/segment/frame.ts';
import { type SealResult, sealBlocks } from '../../engine/segment/seal.ts';
import { LOG_FOLDER, pathOfSegment, segmentPath } from '../../engine/store/filename.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import { addRow, type TestRow } from './leaves.ts';

export const FOLDER_ID = Uint8Array.from({ length: 16 }, (_, index) => index);

/** A folder of segments in memory: log segments of one block each, and what they are sealed to. */
export class Shelf {
  readonly disk = new MemoryDisk();
  readonly reader: Reader;
  /** The live blocks. */
  refs: BlockRef[] = [];
  #segment = 0;

  constructor() {
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
    const batch = new Batch(paths);
    const records = new Rows();
    records.reset(new Uint8Array(0), receivedMs);
    for (const row of rows) addRow(records, paths, row);
    if (batch.append(records, 0) !== rows.length) throw new Error('the rows are one block');
    const { bytes, ...block } = encodeBlock(batch, 0, batch.rowCount, firstSequence);
    const segment = ++this.#segment;
    const { rowCount, minTimeMs, maxTimeMs } = block;
    writeFrameHeader(bytes, {
      kind: FrameKind.BLOCK,
      ...block,
      segment,
      ordinal: 1,
      previous: 0,
      group: 1,
      frameBytes: bytes.length,
    });
    const place = { segment, ordinal: 1, offset: 0, bytes: bytes.length };
    const facts = { writer, firstSequence, rowCount, minTimeMs, maxTimeMs };
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
    signal?: AbortSignal,
  ): Promise<SealResult> {
    const { disk } = this;
    const allocate = async (): Promise<number> => ++this.#segment;
    const options = { disk, pathOf: pathOfSegment, folderId: FOLDER_ID, nowMs: 5, refs, rowsMax };
    return sealBlocks({ ...options, allocate, ...(signal === undefined ? {} : { signal }) });
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
