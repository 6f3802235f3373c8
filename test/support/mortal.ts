import { existsSync, rmSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';

/**
 * Makes the worker threads of a service mortal, for workers.test.ts, when it is loaded first (`NODE_OPTIONS=--import`):
 * a thread ends when the file `die-<its id>` appears in the folder MORTAL_FOLDER. Threads count from 1 as they start.
 */
const POLL_MS = 5;

if (!isMainThread) {
  const path = `${process.env['MORTAL_FOLDER']}/die-${threadId}`;
  setInterval(() => {
    if (!existsSync(path)) return;
    rmSync(path);
    process.exit(1);
  }, POLL_MS).unref();
}
