import { renameSync, writeFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/**
 * Loaded into every thread of the service (`NODE_OPTIONS=--expose-gc --import`) when its memory is measured: SIGUSR2
 * makes all threads collect their garbage and writes what is left into the file SOAK_MEMORY.
 */

/** Bytes that a collection left in a thread. */
interface Left {
  heap: number;
  outside: number;
}

/** Time that the threads have to collect; the longest unit of work of any of them is far below it. */
const ANSWER_MS = 1_500;
const channel = new BroadcastChannel('soak-collect');

function collect(): Left {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, outside: external };
}

if (isMainThread) {
  const path = process.env['SOAK_MEMORY'] ?? '';
  let lefts: Left[] = [];
  channel.onmessage = (event) => {
    if ('left' in event.data) lefts.push(event.data.left);
  };
  process.on('SIGUSR2', () => {
    lefts = [collect()];
    channel.postMessage({ ask: true });
    setTimeout(() => {
      const sum = (pick: (left: Left) => number): number =>
        lefts.reduce((total, left) => total + pick(left), 0);
      const { rss } = process.memoryUsage();
      const figures = {
        threads: lefts.length,
        rss,
        heap: sum((l) => l.heap),
        outside: sum((l) => l.outside),
      };
      writeFileSync(`${path}.new`, JSON.stringify(figures));
      renameSync(`${path}.new`, path);
    }, ANSWER_MS).unref();
  });
} else {
  channel.onmessage = (event) => {
    if ('ask' in event.data) channel.postMessage({ left: collect() });
  };
}
channel.unref();
