import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from './service.ts';

/** A folder on a file system of 24 MB of its own; `undefined` when this process may not mount. */
export function smallDisk(t: {
  comment(text: string): void;
  teardown(run: () => void): void;
}): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    removeFolder(folder);
    t.comment(`NOT TESTED: a full disk, as tmpfs cannot be mounted here: ${error}`);
    return undefined;
  }
  t.teardown(() => {
    execFileSync('umount', ['-l', folder]);
    removeFolder(folder);
  });
  return folder;
}

/** Fills the disk with a file until `leftMb` are left, or nothing is. */
export function fill(folder: string, leftMb: number): void {
  const filler = openSync(join(folder, 'filler'), 'a');
  const chunk = new Uint8Array(65_536);
  try {
    let bytes = freeBytes(folder) - leftMb * 1_000_000;
    while (bytes > 0) {
      writeSync(filler, chunk, 0, Math.min(chunk.length, bytes));
      bytes -= chunk.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(filler);
  }
}

/** Bytes that are free on the disk of a folder. */
export function freeBytes(folder: string): number {
  const text = execFileSync('stat', ['-f', '-c', '%a %S', folder]).toString();
  const [blocks, size] = text.split(' ').map(Number);
  return blocks * size;
}
