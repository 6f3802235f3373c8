import { openDisk } from '../engine/base/file.ts';
import { type CheckReport, checkStore, type SegmentCheck } from '../engine/store/check.ts';
import { lockFolder } from '../engine/store/lock.ts';
import { USERS_PATH } from './registry/account/users.ts';
import { VIEWS_PATH } from './registry/account/views.ts';
import { DEFINITIONS_PATH } from './registry/definitions.ts';
import { KEYS_PATH } from './registry/keys.ts';

/** Texts go here; progress only where a person looks on. */
export interface CheckOutput {
  print(text: string): void;
  /** Writes a line in the place of the one before; `undefined` when the output is no terminal. */
  progress: ((text: string) => void) | undefined;
}

const MEGABYTE_BYTES = 1_000_000;

/** Bytes as megabytes, for people. */
export function megabytes(bytes: number): string {
  return Math.round(bytes / MEGABYTE_BYTES).toLocaleString('en-US');
}

/** Runs steps to their end, and shows the progress of each as `shown` says it; the result. */
export async function toEnd<P, T>(
  steps: AsyncGenerator<P, T>,
  { progress }: CheckOutput,
  shown: (step: P) => string,
): Promise<T> {
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
    progress?.(shown(value));
  }
}

/**
 * Verifies the store in the folder `root`, which no service may have, and prints what there is. Resolves with whether
 * all of it is as it was written. Rejects with EngineError when a service has the folder, or the manifest is damaged.
 */
export async function check(root: string, output: CheckOutput): Promise<boolean> {
  const disk = openDisk(root);
  const lock = await lockFolder(root);
  try {
    const checking = checkStore(disk, [KEYS_PATH, DEFINITIONS_PATH], [USERS_PATH, VIEWS_PATH]);
    const shown = (step: { doneBytes: number; totalBytes: number }): string =>
      `${megabytes(step.doneBytes)} of ${megabytes(step.totalBytes)} MB`;
    return printReport(await toEnd(checking, output, shown), output.print);
  } finally {
    lock.release();
  }
}

function printReport(
  { segments, leftovers, lost, faults }: CheckReport,
  print: (text: string) => void,
): boolean {
  const heads = ['SEGMENT', 'KIND', 'BLOCKS', 'EVENTS', 'BYTES', 'DAMAGE'];
  const rows = [heads, ...segments.map(rowOf)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]));
    print(`${cells.join('  ').trimEnd()}\n`);
  }
  for (const path of leftovers) {
    print(`${path} is left from a stop; the next start removes it or moves it to lost\n`);
  }
  for (const { path, bytes } of lost) print(`${path}, ${bytes} bytes, is not served\n`);
  for (const fault of faults) print(`${fault}\n`);
  const damaged = segments.filter((segment) => segment.damaged.length > 0).length;
  if (damaged > 0) print(`${damaged} of ${segments.length} segments are damaged\n`);
  const isWell = damaged === 0 && faults.length === 0;
  if (isWell) print('all is well\n');
  return isWell;
}

function rowOf({ segment, sealed, blocks, rows, bytes, damaged }: SegmentCheck): string[] {
  const places = damaged.map((damage) => `${damage.bytes} bytes at ${damage.offset}`);
  const counts = [blocks, rows, bytes].map((count) => count.toLocaleString('en-US'));
  return [String(segment), sealed ? 'sealed' : 'log', ...counts, places.join(', ') || '-'];
}
