import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 50;

/** Asks until `done` says so. Rejects with `what` did not come when that takes longer than `maxMs`. */
export async function until(
  what: string,
  done: () => Promise<boolean> | boolean,
  maxMs = 20_000,
): Promise<void> {
  const endMs = Date.now() + maxMs;
  while (!(await done())) {
    if (Date.now() > endMs) throw new Error(`${what} did not come in ${maxMs} ms`);
    await sleep(STEP_MS);
  }
}
