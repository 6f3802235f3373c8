import { createReadStream } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { GIVEN, type Inflated, type InflateJob } from './file.ts';

/** The thread that unpacks a file for `file.ts`. */

/** Bytes of content in a piece. */
const PIECE_BYTES = 1_000_000;

/** Gives what is asked for next; waits until it is. */
function give({ port, turn }: InflateJob, inflated: Inflated): void {
  Atomics.wait(turn, 0, GIVEN);
  port.postMessage(inflated);
  Atomics.store(turn, 0, GIVEN);
  Atomics.notify(turn, 0);
}

/** Unpacks the file, a piece each time that one is asked for. */
async function inflate(job: InflateJob): Promise<void> {
  const packed = createReadStream(job.path);
  const content = createGunzip({ chunkSize: PIECE_BYTES });
  packed.on('error', (error) => content.destroy(error));
  try {
    for await (const piece of packed.pipe(content)) give(job, { piece });
    give(job, { end: true });
  } catch (error) {
    give(job, { error: error instanceof Error ? error.message : String(error) });
  }
}

await inflate(workerData);
