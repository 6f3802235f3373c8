import { existsSync, readFileSync, rmSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';

/**
 * Makes the worker threads of a service mortal, for mortal-service.ts, when it is loaded first
 * (`NODE_OPTIONS=--import`): a thread ends when the file `die-<its id>` appears in the folder MORTAL_FOLDER, by an
 * error that nobody catches when it says `throw`, by filling its memory when it says `fill`; with `stall` it stands
 * still for good. Threads count from 1 as they start.
 */
const POLL_MS = 5;
const FILL_NUMBERS = 1_000_000;

if (!isMainThread) {
  const path = `${process.env['MORTAL_FOLDER']}/die-${threadId}`;
  setInterval(() => {
    if (!existsSync(path)) return;
    const how = readFileSync(path, 'utf8');
    rmSync(path);
    if (how === 'throw') throw new Error('the thread was told to die');
    if (how === 'stall') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    if (how !== 'fill') process.exit(1);
    const kept: number[][] = [];
    setInterval(() => kept.push(new Array<number>(FILL_NUMBERS).fill(0.5)), 1);
  }, POLL_MS).unref();
}
