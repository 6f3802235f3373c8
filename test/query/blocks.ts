import { Batch } from '../../engine/column/batch.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { EventIds } from '../../engine/query/model/event-id.ts';
import type { AggregateQuery, Metric } from '../../engine/query/model/query.ts';
import type { Progress } from '../../engine/query/model/source.ts';
import { type Block, openBlock } from '../../engine/segment/block/block.ts';
import { encodeBlock } from '../../engine/segment/block/block-encoder.ts';
import { type BlockRef, FrameKind, writeFrameHeader } from '../../engine/segment/frame.ts';
import { addRow, naiveEvent, type TestRow } from '../segment/leaves.ts';
import type { ModelEvent } from '../support/model.ts';

const FRAME_OF_NOTHING = { kind: FrameKind.BLOCK, repeats: false, previous: 0, group: 1 } as const;

/** Blocks in memory that queries read from. */
export class Blocks {
  readonly secret = Uint8Array.from({ length: 32 }, (_, index) => index * 7);
  readonly ids = new EventIds(this.secret);
  readonly refs: BlockRef[] = [];
  readonly #frames = new Map<BlockRef, Uint8Array>();
  opened = 0;

  /** Encodes `rows` as one block of `writer`; returns where it is and its events as the model has them. */
  add(rows: TestRow[], writer: number, firstSequence: number): ModelEvent[] {
    const ref = this.encode(rows, writer, firstSequence);
    this.refs.push(ref);
    return rows.map((row, index) => ({
      timeMs: row.timeMs,
      writer,
      sequence: firstSequence + index,
      event: naiveEvent(row.leaves),
    }));
  }

  /** Encodes a block that no snapshot has yet. */
  encode(rows: TestRow[], writer: number, firstSequence: number): BlockRef {
    const paths = new PathTable();
    const batch = new Batch(paths);
    const records = new Rows();
    records.reset(new Uint8Array(0), 1_000_000);
    for (const row of rows) addRow(records, paths, row);
    batch.append(records, 0);
    return this.place(batch, writer, firstSequence);
  }

  place(batch: Batch, writer: number, firstSequence: number): BlockRef {
    const { bytes, ...block } = encodeBlock(batch, 0, batch.rowCount);
    const ordinal = this.#frames.size + 1;
    writeFrameHeader(bytes, {
      ...FRAME_OF_NOTHING,
      ...block,
      firstSequence,
      segment: writer + 1,
      ordinal,
      frameBytes: bytes.length,
    });
    const ref: BlockRef = {
      sealed: false,
      segment: writer + 1,
      writer,
      offset: 0,
      bytes: bytes.length,
      ordinal,
      rowCount: block.rowCount,
      firstSequence,
      endSequence: firstSequence + block.rowCount,
      minTimeMs: block.minTimeMs,
      maxTimeMs: block.maxTimeMs,
    };
    this.#frames.set(ref, bytes);
    return ref;
  }

  open(ref: BlockRef): Block {
    this.opened++;
    const frame = this.bytes(ref);
    const source = {
      read: (target: Uint8Array, position: number): number => {
        const part = frame.subarray(position, position + target.length);
        target.set(part);
        return part.length;
      },
    };
    return openBlock(source, ref);
  }

  /** The frame of a block; a change of it is damage. */
  bytes(ref: BlockRef): Uint8Array {
    const frame = this.#frames.get(ref);
    if (frame === undefined) throw new Error('no such block');
    return frame;
  }
}

/** The parts of an aggregation that computes metrics of all events together. */
export function ofAll(...metrics: Metric[]): Pick<AggregateQuery, 'computes' | 'groupBys'> {
  return { computes: metrics.map((metric) => ({ type: 'metric', metric })), groupBys: [] };
}

/** A generator of whole numbers below `below`. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Runs all units of a query; the progress must not fall, nor exceed its total. */
export function run<T>(units: Generator<Progress, T>): T {
  let done = 0;
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
    const { unitsDone, unitsTotal } = step.value;
    if (unitsDone < done || unitsDone > unitsTotal) {
      throw new Error(`progress from ${done} to ${unitsDone} of ${unitsTotal}`);
    }
    done = unitsDone;
  }
}
