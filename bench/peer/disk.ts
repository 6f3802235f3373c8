import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of all files below a folder. A file that goes meanwhile, as merged parts do, counts nothing. */
export function folderBytes(folder: string): number {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += folderBytes(path);
    else if (entry.isFile()) total += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return total;
}
