import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Disk, openDisk } from './file.ts';

/**
 * Reads a whole small UTF-8 file; `undefined` when it is not there.
 * Throws IO when it is there and cannot be read.
 */
export function readText(disk: Disk, path: string): string | undefined {
  if (!disk.list(folderOf(path)).includes(nameOf(path))) return undefined;
  return new TextDecoder().decode(readBytes(disk, path));
}

/** Reads a small file from `place` on. Throws IO, also when it is not there. */
export function readBytes(disk: Disk, path: string, place = 0): Uint8Array {
  const file = disk.open(path, 'read');
  try {
    const bytes = new Uint8Array(Math.max(0, file.bytes() - place));
    return bytes.subarray(0, file.read(bytes, place));
  } finally {
    file.close();
  }
}

/** Reads a small UTF-8 file that lies in no data folder, as `readText` does. Makes no folder. */
export function readTextAt(path: string): string | undefined {
  return readText(openDisk('/'), resolve(path).slice(1));
}

/** Reads a file of /proc, which has no size; `undefined` when it cannot be read. */
export function readKernelText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Descriptors of this process that are open; 0 where the kernel does not tell. */
export function openDescriptors(): number {
  // Since Linux 6.2 that folder's size is the number of its entries, for which nobody has to read them.
  return statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0;
}

/** The inodes of the sockets of a process, this one by default; none where the kernel does not tell. */
export function socketInodes(pid: number | 'self' = 'self'): Set<string> {
  const inodes = new Set<string>();
  for (const descriptor of namesIn(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(linkedFrom(`/proc/${pid}/fd/${descriptor}`))?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

/** The processes of this machine, in ascending order of their ids; none where the kernel does not tell. */
export function processIds(): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);
}

/** File name of the program that a process runs; `undefined` when it is gone or another user's. */
export function programOf(pid: number): string | undefined {
  const name = nameOf(linkedFrom(`/proc/${pid}/exe`));
  return name === '' ? undefined : name.replace(/[^ -~]/g, '?');
}

/** The names in a folder of /proc; none when it cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Target of a link; nothing when it is gone. */
function linkedFrom(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/**
 * Writes a whole small file, readable by its owner only: after a stop the old text or the new one is there, never
 * a part of it. Resolves when it is on stable storage; rejects with IO.
 */
export async function writeText(disk: Disk, path: string, text: string): Promise<void> {
  const folder = folderOf(path);
  const unfinished = `${path}.new`;
  if (disk.list(folder).includes(nameOf(unfinished))) await disk.unlink(unfinished);
  const file = disk.open(unfinished, 'create');
  try {
    await file.write([new TextEncoder().encode(text)], 0);
    await file.sync();
  } finally {
    file.close();
  }
  await disk.rename(unfinished, path);
  await disk.syncFolder(folder);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
