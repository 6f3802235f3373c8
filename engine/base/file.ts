import * as fs from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { EngineError } from './errors.ts';

/**
 * One open file. Reads are synchronous (page cache); what makes bytes durable is asynchronous.
 * Every method throws or rejects with IO; CLOSED after `close`.
 */
export interface DiskFile {
  /** Bytes the file has now. */
  bytes(): number;
  /** Fills `target` from `position`; returns the bytes read, fewer only at the file's end. */
  read(target: Uint8Array, position: number): number;
  /**
   * Writes all chunks, in order, in one call from `position`. Keeps no reference after it resolves. Then they are
   * durable, as after `sync`, when the file was made by `create-synced`. `blocks`: the calling thread may do nothing
   * else meanwhile, which costs less than to have another thread wait.
   */
  write(chunks: readonly Uint8Array[], position: number, blocks?: boolean): Promise<void>;
  /** Resolves when all that was written before is on stable storage (fdatasync). */
  sync(): Promise<void>;
  /** Cuts the file to `bytes`. Durable only after `sync`. */
  truncate(bytes: number): Promise<void>;
  /**
   * Takes the file for this descriptor alone, until it is closed or the process has ended; false when another
   * descriptor has it, of this process too. The file must be open for writing. Source: fcntl(2), F_OFD_SETLK.
   */
  lock(): boolean;
  /** Reports whether `path` still names this very file, with exactly `bytes`; false when nothing is there. */
  standsAt(path: string, bytes: number): boolean;
  close(): void;
}

/**
 * Ways to open a file. `create` fails when it exists; `write` and `read` fail when it does not. `create-synced` is
 * `create`, and each write is a sync too: one call of the system in place of two.
 */
export type OpenMode = 'create' | 'create-synced' | 'write' | 'read';

/**
 * The folder a store lives in. Paths are relative, with `/`. The real one is `openDisk`; tests use one in memory
 * that forgets unsynced bytes and fails on demand.
 */
export interface Disk {
  open(path: string, mode: OpenMode): DiskFile;
  /** Names in a folder, sorted; an absent folder has none. */
  list(folder: string): string[];
  /** Bytes of the file at `path`; `undefined` when there is none. */
  sizeOf(path: string): number | undefined;
  makeFolder(folder: string): void;
  /**
   * Makes `path` another name of the file with the absolute path `file`; false where that cannot be, as on another file
   * system. `path` must be free.
   */
  link(file: string, path: string): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes creations, renames and unlinks in `folder` durable. `''` is the root. */
  syncFolder(folder: string): Promise<void>;
}

function ioError(what: string, cause: unknown): EngineError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
  return new EngineError('IO', `${what} failed: ${code}`, { cause });
}

/** Locks a file that this process alone is to write. Throws USAGE when another has it, IO. */
export function claimFile(file: DiskFile, path: string): void {
  if (!file.lock()) throw new EngineError('USAGE', `${path} is in use by another process`);
}

/** Throws IO unless `path` still is this file, with the bytes that were written to it. */
export function refuseForeign(file: DiskFile, path: string, bytes: number): void {
  if (file.standsAt(path, bytes)) return;
  throw new EngineError('IO', `${path} was removed, replaced or changed from outside`);
}

/** Error codes of the operating system for a path that is missing, is no file, or cannot be read from the disk. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EIO']);

/**
 * Runs `read` on a file that was written and must be there. Throws CORRUPTION when it is lost, as when its bytes are
 * wrong; IO when it may be readable later, as for want of descriptors.
 */
export function readWritten<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'IO') throw error;
    const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
    if (!UNREADABLE.has(code)) throw error;
    throw new EngineError('CORRUPTION', `${path} cannot be read: ${code}`, { cause: error });
  }
}

/** The operating system's code of an IO error; `undefined` for all other errors. */
export function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof EngineError) || error.code !== 'IO') return undefined;
  return (error.cause as NodeJS.ErrnoException | undefined)?.code;
}

/** Recognises the errors of a full disk or a spent disk quota. The operation may succeed later. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Recognises the errors of too many open files in the process or the machine. They say nothing about the file at
 * hand.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Runs a callback-style fs call as a promise, naming what failed. */
function promised(what: string, run: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    run((error) => (error === null ? resolve() : reject(ioError(what, error))));
  });
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw ioError(what, cause);
  }
}

const { O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = fs.constants;
const FLAGS: Readonly<Record<OpenMode, string | number>> = {
  create: 'wx+',
  'create-synced': O_CREAT | O_EXCL | O_RDWR | O_DSYNC,
  write: 'r+',
  read: 'r',
};

class RealFile implements DiskFile {
  readonly #root: string;
  readonly #path: string;
  #fd: number;
  /** Device and inode, once they were asked for. */
  #identity: { dev: bigint; ino: bigint } | undefined;

  constructor(root: string, name: string, mode: OpenMode) {
    this.#root = root;
    this.#path = join(root, name);
    this.#fd = attempt(`open ${this.#path}`, () => fs.openSync(this.#path, FLAGS[mode], 0o600));
  }

  #open(): number {
    if (this.#fd < 0) throw new EngineError('CLOSED', `${this.#path} is closed`);
    return this.#fd;
  }

  bytes(): number {
    const fd = this.#open();
    return attempt(`stat ${this.#path}`, () => fs.fstatSync(fd).size);
  }

  read(target: Uint8Array, position: number): number {
    const fd = this.#open();
    return attempt(`read ${this.#path}`, () => {
      let done = 0;
      while (done < target.length) {
        const count = fs.readSync(fd, target, done, target.length - done, position + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    });
  }

  async write(chunks: readonly Uint8Array[], position: number, blocks = false): Promise<void> {
    const fd = this.#open();
    let rest = chunks.filter((chunk) => chunk.length > 0);
    let at = position;
    while (rest.length > 0) {
      const written = blocks
        ? attempt(`write ${this.#path}`, () => fs.writevSync(fd, rest, at))
        : await this.#writeSome(fd, rest, at);
      at += written;
      rest = dropBytes(rest, written);
    }
  }

  #writeSome(fd: number, chunks: readonly Uint8Array[], position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.writev(fd, chunks, position, (error, count) =>
        error === null ? resolve(count) : reject(ioError(`write ${this.#path}`, error)),
      );
    });
  }

  sync(): Promise<void> {
    const fd = this.#open();
    return promised(`sync ${this.#path}`, (done) => fs.fdatasync(fd, done));
  }

  truncate(bytes: number): Promise<void> {
    const fd = this.#open();
    return promised(`truncate ${this.#path}`, (done) => fs.ftruncate(fd, bytes, done));
  }

  lock(): boolean {
    const fd = this.#open();
    return attempt(`lock ${this.#path}`, () => tryLock(fd));
  }

  standsAt(path: string, bytes: number): boolean {
    const fd = this.#open();
    return attempt(`stat ${path}`, () => {
      this.#identity ??= fs.fstatSync(fd, { bigint: true });
      const there = fs.statSync(join(this.#root, path), { bigint: true, throwIfNoEntry: false });
      const { dev, ino } = this.#identity;
      return there?.ino === ino && there.dev === dev && there.size === BigInt(bytes);
    });
  }

  close(): void {
    if (this.#fd < 0) return;
    fs.closeSync(this.#fd);
    this.#fd = -1;
  }
}

/** The rest of `chunks` after a write of `count` bytes, because a write may be short. */
function dropBytes(chunks: Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  const rest: Uint8Array[] = [];
  for (const chunk of chunks) {
    const skipped = Math.min(left, chunk.length);
    left -= skipped;
    if (skipped < chunk.length) rest.push(chunk.subarray(skipped));
  }
  return rest;
}

/** Makes `root` and the missing folders above it, durably: a folder's name is lost with the folder that it lies in. */
function makeRoot(root: string): void {
  const first = attempt(`make ${root}`, () => fs.mkdirSync(root, { recursive: true, mode: 0o700 }));
  if (first === undefined) return;
  for (let made = resolvePath(root); made.length >= first.length; made = dirname(made)) {
    const fd = attempt(`open ${dirname(made)}`, () => fs.openSync(dirname(made), 'r'));
    try {
      attempt(`sync ${dirname(made)}`, () => fs.fsyncSync(fd));
    } finally {
      fs.closeSync(fd);
    }
  }
}

/** Error codes of the operating system for a file that cannot have another name there. */
const UNLINKABLE: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS']);

async function linkFile(file: string, path: string): Promise<boolean> {
  try {
    await promised(`link ${path}`, (done) => fs.link(file, path, done));
    return true;
  } catch (error) {
    if (UNLINKABLE.has(systemCodeOf(error) ?? '')) return false;
    throw error;
  }
}

/** The folder `root` of the operating system, made when it is not there. */
export function openDisk(root: string): Disk {
  makeRoot(root);
  const at = (path: string): string => join(root, path);
  return {
    open: (path, mode) => new RealFile(root, path, mode),
    list: (folder) =>
      fs.existsSync(at(folder))
        ? attempt(`list ${folder}`, () => fs.readdirSync(at(folder)).sort())
        : [],
    sizeOf: (path) => {
      const there = attempt(`stat ${path}`, () => fs.statSync(at(path), { throwIfNoEntry: false }));
      return there?.isFile() === true ? there.size : undefined;
    },
    makeFolder: (folder) => {
      attempt(`make ${folder}`, () => fs.mkdirSync(at(folder), { recursive: true, mode: 0o700 }));
    },
    link: (file, path) => linkFile(file, at(path)),
    rename: (from, to) => promised(`rename ${from}`, (done) => fs.rename(at(from), at(to), done)),
    unlink: (path) => promised(`unlink ${path}`, (done) => fs.unlink(at(path), done)),
    syncFolder: async (folder) => {
      const fd = attempt(`open ${folder}`, () => fs.openSync(at(folder), 'r'));
      try {
        await promised(`sync ${folder}`, (done) => fs.fsync(fd, done));
      } finally {
        fs.closeSync(fd);
      }
    },
  };
}

/** Room of the file system that a folder lies in. */
export interface DiskSpace {
  /** Free space that this process may still use. */
  freeBytes: number;
  totalBytes: number;
}

/** Looks how much room there is where `root` lies. Throws IO. */
export function diskSpace(root: string): DiskSpace {
  const { bavail, blocks, bsize } = attempt(`statfs ${root}`, () => fs.statfsSync(root));
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
