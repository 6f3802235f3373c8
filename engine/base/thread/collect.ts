import { measureMemory } from 'node:vm';

/** How long a collection is waited for at most: a thread that is busy takes 0.1 s. */
const WAIT_MS = 2_000;

/**
 * Collects the heap of the thread: resolves when V8 has freed what nobody has. The `gc` of `--expose-gc` throws away
 * what was compiled for objects of which none is there at the moment, and to compile that again takes more than half of
 * what sealing takes; this one does not.
 */
export async function collectHeap(): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WAIT_MS);
  });
  try {
    await Promise.race([measureMemory({ mode: 'summary', execution: 'eager' }), waited]);
  } catch {
    // Without it memory is freed later.
  } finally {
    clearTimeout(timer);
  }
}
