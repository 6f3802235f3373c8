import { ByteWriter } from '../base/bytes.ts';
import { RegionWriter } from '../column/chunk.ts';
import type { PathTable } from '../column/path.ts';
import type { Shapes } from '../column/shape.ts';
import { BlockEncoder } from './block-encoder.ts';
import type { RowWindow } from './placement.ts';
import type { Source } from './source-rows.ts';

/** The shapes of all sources, and by source the number among them of each of its own. */
export interface SourceShapes {
  shapes: Shapes;
  numbersOf: readonly Uint32Array[];
}

/** Bytes a row that blocks have room for at first. */
const ROW_BYTES = 40;

/** What all rows of a window have, by their position in it. */
export class WindowRows {
  readonly timeMs: Float64Array;
  readonly writers: Uint8Array;
  readonly sequences: Float64Array;
  readonly #window: RowWindow;
  readonly #shapes: Shapes;
  readonly #receivedMs: Float64Array;
  readonly #shapeIds: Uint32Array;

  /** Reads them of the sources. Throws CORRUPTION. */
  constructor(window: RowWindow, sources: readonly Source[], { shapes, numbersOf }: SourceShapes) {
    const capacity = window.rowCount + 1;
    const timeMs = new Float64Array(capacity);
    const receivedMs = new Float64Array(capacity);
    const shapeIds = new Uint32Array(capacity);
    const writers = new Uint8Array(capacity);
    const sequences = new Float64Array(capacity);
    for (const source of window.sources) {
      const { block } = sources[source];
      const targets = window.targetsOf(source);
      const own = { timeMs: block.timeMs(), receivedMs: block.receivedMs(), ...block.keys() };
      const { ids } = block.shapes();
      const numbers = numbersOf[source];
      for (let row = 0; row < targets.length; row++) {
        const target = targets[row];
        timeMs[target] = own.timeMs[row];
        receivedMs[target] = own.receivedMs[row];
        shapeIds[target] = numbers[ids[row]];
        writers[target] = own.writers[row];
        sequences[target] = own.sequences[row];
      }
      block.forget();
    }
    this.#window = window;
    this.#shapes = shapes;
    this.#receivedMs = receivedMs;
    this.#shapeIds = shapeIds;
    this.timeMs = timeMs.subarray(0, window.rowCount);
    this.writers = writers.subarray(0, window.rowCount);
    this.sequences = sequences.subarray(0, window.rowCount);
  }

  /** Begins each block of the window. The encoders keep `timeMs` alone. */
  encoders(paths: PathTable): BlockEncoder[] {
    const region = new ByteWriter(2 ** 16);
    return Array.from({ length: this.#window.blockCount }, (_, block) => {
      const { from, to } = this.#window.bounds(block);
      const rows = {
        timeMs: this.timeMs.subarray(from, to),
        receivedMs: this.#receivedMs.subarray(from, to),
        shapes: this.#shapes,
        shapeIds: this.#shapeIds.subarray(from, to),
        keys: {
          writers: this.writers.subarray(from, to),
          sequences: this.sequences.subarray(from, to),
        },
      };
      return new BlockEncoder(paths, rows, 0, new RegionWriter((to - from) * ROW_BYTES, region));
    });
  }
}
