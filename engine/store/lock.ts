import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { type Disk, type DiskFile, openDisk } from '../base/file.ts';
import { readTextAt } from '../base/text-file.ts';
import { LOCK_NAME } from './filename.ts';

/** The holder's facts are written over the ones before, so that even a full disk takes them. */
const TEXT_BYTES = 256;
/** Attempts of a start to get the lock. A process that asks for the holder has it for an instant. */
const ATTEMPTS_MAX = 10;
const RETRY_MS = 20;

/** A folder that this process has. */
export interface FolderLock {
  /** Writes the facts that a process gets which asks for the holder, beside `pid`. Rejects with IO. */
  tell(facts: Readonly<Record<string, unknown>>): Promise<void>;
  /** Lets go of it. */
  release(): void;
}

/**
 * Takes the folder `root` by locking its file `lock`, before anything in it is read; makes the folder when it is not
 * there. The data files are locked too when they are opened, so removing this file gives nobody the folder. Throws
 * USAGE naming the process that has the folder; IO. Source: FORMAT.md 2.
 */
export async function lockFolder(root: string): Promise<FolderLock> {
  const disk = openDisk(root);
  for (let attempt = 1; ; attempt++) {
    const file = openLock(disk);
    if (file.lock()) {
      const { pid } = process;
      const tell: FolderLock['tell'] = (facts) => write(file, { pid, ...facts });
      await tell({});
      return { tell, release: () => file.close() };
    }
    file.close();
    if (attempt === ATTEMPTS_MAX) throw taken(root);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * Asks the process that holds the folder `root` about itself. Gives its answer as JSON; `undefined` when no process
 * holds the folder. Throws IO.
 */
export async function askHolder(root: string): Promise<string | undefined> {
  const path = join(root, LOCK_NAME);
  if (readTextAt(path) === undefined) return undefined;
  const file = openDisk(root).open(LOCK_NAME, 'write');
  try {
    return file.lock() ? undefined : readTextAt(path)?.trim();
  } finally {
    file.close();
  }
}

function openLock(disk: Disk): DiskFile {
  try {
    return disk.open(LOCK_NAME, disk.list('').includes(LOCK_NAME) ? 'write' : 'create');
  } catch (error) {
    // Another start made it meanwhile; it is never removed.
    if (disk.list('').includes(LOCK_NAME)) return disk.open(LOCK_NAME, 'write');
    throw error;
  }
}

async function write(file: DiskFile, facts: object): Promise<void> {
  await file.write([Buffer.from(`${JSON.stringify(facts).padEnd(TEXT_BYTES - 1)}\n`)], 0);
}

function taken(root: string): EngineError {
  const pid = /"pid":\s*(\d+)/.exec(readTextAt(join(root, LOCK_NAME)) ?? '')?.[1];
  const holder = pid === undefined ? 'another process' : `process ${pid}`;
  return new EngineError('USAGE', `${root} is in use by ${holder}`);
}
