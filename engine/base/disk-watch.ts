import { EngineError } from './errors.ts';
import type { Disk, DiskFile } from './file.ts';

/**
 * An operation that failed. `changed`: a file that this process writes was removed, replaced or changed from outside.
 */
export type DiskOp =
  | 'open'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'link'
  | 'rename'
  | 'unlink'
  | 'folder'
  | 'changed';

/** A call that changes the disk and that the operating system refused. Plain data that crosses threads. */
export interface DiskFailure {
  op: DiskOp;
  /** Relative to the data folder. */
  path: string;
  /** The operating system's code, such as `EIO`. */
  code: string;
}

/** The failure that an error is, when it is one of the disk. */
export function diskFailureOf(error: unknown, op: DiskOp, path: string): DiskFailure | undefined {
  if (!(error instanceof EngineError) || error.code !== 'IO') return undefined;
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown';
  return { op, path, code };
}

/**
 * Wraps a disk: every failed call that would change it is reported to `failed`, whoever handles the error. Reads are
 * left alone.
 */
export function watchDisk(disk: Disk, failed: (failure: DiskFailure) => void): Disk {
  const watch = new Watch(failed);
  return {
    open: (path, mode) => {
      if (mode === 'read') return disk.open(path, mode);
      return watchFile(
        watch.now('open', path, () => disk.open(path, mode)),
        path,
        watch,
      );
    },
    list: (folder) => disk.list(folder),
    sizeOf: (path) => disk.sizeOf(path),
    makeFolder: (folder) => watch.now('folder', folder, () => disk.makeFolder(folder)),
    link: (file, path) => watch.later('link', path, disk.link(file, path)),
    rename: (from, to) => watch.later('rename', to, disk.rename(from, to)),
    unlink: (path) => watch.later('unlink', path, disk.unlink(path)),
    syncFolder: (folder) => watch.later('sync', folder, disk.syncFolder(folder)),
  };
}

class Watch {
  readonly failed: (failure: DiskFailure) => void;

  constructor(failed: (failure: DiskFailure) => void) {
    this.failed = failed;
  }

  now<T>(op: DiskOp, path: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      this.#tell(op, path, error);
      throw error;
    }
  }

  async later<T>(op: DiskOp, path: string, done: Promise<T>): Promise<T> {
    try {
      return await done;
    } catch (error) {
      this.#tell(op, path, error);
      throw error;
    }
  }

  #tell(op: DiskOp, path: string, error: unknown): void {
    const failure = diskFailureOf(error, op, path);
    if (failure !== undefined) this.failed(failure);
  }
}

function watchFile(file: DiskFile, path: string, watch: Watch): DiskFile {
  return {
    bytes: () => file.bytes(),
    read: (target, position) => file.read(target, position),
    write: (...write) => watch.later('write', path, file.write(...write)),
    sync: () => watch.later('sync', path, file.sync()),
    truncate: (bytes) => watch.later('truncate', path, file.truncate(bytes)),
    lock: () => file.lock(),
    standsAt: (at, bytes) => {
      const stands = file.standsAt(at, bytes);
      if (!stands) watch.failed({ op: 'changed', path: at, code: 'changed from outside' });
      return stands;
    },
    close: () => file.close(),
  };
}
