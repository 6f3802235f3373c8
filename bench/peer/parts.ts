import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { eachBody } from '../corpus/bodies.ts';
import type { Part } from './peer.ts';

const PART_EVENTS = 200_000;
/** Bytes that are made before they are written: of fewer objects the collector has less to do. */
const PIECE_BYTES = 65_536;

/**
 * The events of a run in files of NDJSON, so that neither a file nor the memory grows with them. A file is made when
 * the first peer asks for it and stays, as making takes longer than loading.
 */
export class PartFiles {
  readonly #folder: string;
  readonly #next: () => string;
  readonly #stages: readonly number[];
  #madeEvents = 0;

  /** `stages` are counts of events, ascending, at which a part ends. */
  constructor(folder: string, next: () => string, stages: readonly number[]) {
    this.#folder = folder;
    this.#next = next;
    this.#stages = stages;
  }

  /** Gives the parts behind the stage before this one. Those of the stages before were given to somebody earlier. */
  *ofStage(stage: number): Generator<Part, void> {
    const end = this.#stages[stage];
    for (let from = this.#stages[stage - 1] ?? 0; from < end; from += PART_EVENTS) {
      const events = Math.min(PART_EVENTS, end - from);
      const file = join(this.#folder, `${from}.ndjson`);
      if (from >= this.#madeEvents) {
        writePart(file, this.#next, events);
        this.#madeEvents = from + events;
      }
      yield { file, events };
    }
  }
}

function writePart(path: string, next: () => string, events: number): void {
  const file = openSync(path, 'w');
  for (const { body } of eachBody(next, events, PIECE_BYTES)) writeSync(file, body);
  closeSync(file);
}
