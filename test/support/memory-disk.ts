import { EngineError } from '../../engine/base/errors.ts';
import type { Disk, DiskFile, OpenMode } from '../../engine/base/file.ts';

const SECTOR_BYTES = 512;

/** Remains of unsynced bytes after a power loss: nothing, or sectors and names at random. */
export type Loss = { type: 'all' } | { type: 'random'; seed: number } | { type: 'none' };

/** A fault, and its moment. Calls and syncs are counted from 1. */
export interface Faults {
  /** This call and all after it are refused: the process has ended. */
  crashAtCall?: number;
  /** This call alone is refused with IO; a write leaves its first half, a sync nothing that later ones repair. */
  failAtCall?: number;
  /** All calls from this one on are refused with IO. */
  failFromCall?: number;
  /** These syncs (of files or folders) say that all is well and do nothing. */
  ignoreSyncs?: readonly number[];
}

/** A change of a file that is in the page cache only. */
type Change = { position: number; bytes: Uint8Array } | { cut: number };

class Inode {
  cached: Uint8Array = new Uint8Array(0);
  stable: Uint8Array = new Uint8Array(0);
  /** Changes that the next sync makes durable. */
  dirty: Change[] = [];
  /** The open file that has it for itself; the process that opened it may have ended. */
  holder: { readonly epoch: number } | undefined;
}

/** A seeded generator of numbers in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function applied(content: Uint8Array, change: Change): Uint8Array {
  if ('cut' in change) return content.slice(0, change.cut);
  const { position, bytes } = change;
  const grown = new Uint8Array(Math.max(content.length, position + bytes.length));
  grown.set(content);
  grown.set(bytes, position);
  return grown;
}

/** A change as a disk may have got it: sector by sector, each or not. */
function torn(change: Change, random: () => number): Change[] {
  if ('cut' in change) return random() < 0.5 ? [change] : [];
  const kept: Change[] = [];
  const all = random();
  for (let at = 0; at < change.bytes.length; ) {
    const position = change.position + at;
    const end = Math.min(at + SECTOR_BYTES - (position % SECTOR_BYTES), change.bytes.length);
    if (random() < all) kept.push({ position, bytes: change.bytes.slice(at, end) });
    at = end;
  }
  return kept;
}

/**
 * A `Disk` that keeps page cache and stable storage apart. `crash` is a power loss or the end of the process;
 * what it leaves is the disk that the next process finds.
 */
export class MemoryDisk implements Disk {
  readonly #cachedNames = new Map<string, Inode>();
  readonly #stableNames = new Map<string, Inode>();
  readonly #cachedFolders = new Set<string>(['']);
  readonly #stableFolders = new Set<string>(['']);
  faults: Faults = {};
  /** True when writes are refused with ENOSPC. */
  full = false;
  /** Every open fails with this, as for want of descriptors. */
  refuseOpens: string | undefined;
  calls = 0;
  syncs = 0;
  /** Writes that kept the calling thread from all else. */
  blockingWrites = 0;
  /** A name of each call, for messages. */
  readonly trace: string[] = [];
  #epoch = 0;

  /** Ends the process: its open files are of no use and its locks are gone. What is to fail still does. */
  end(): void {
    this.#epoch++;
  }

  /** Ends the process, and the power too unless `loss` is none. Nothing fails any more. */
  crash(loss: Loss): void {
    this.end();
    this.faults = {};
    this.calls = 0;
    this.syncs = 0;
    this.trace.length = 0;
    if (loss.type === 'none') return;
    const random = loss.type === 'random' ? seededRandom(loss.seed) : () => 1;
    for (const [path, inode] of this.#cachedNames) {
      if (this.#stableNames.get(path) === inode || random() < 0.5) {
        this.#stableNames.set(path, inode);
        this.#stableFolders.add(folderOf(path));
      }
    }
    for (const path of this.#stableNames.keys()) {
      if (!this.#cachedNames.has(path) && loss.type === 'random' && random() < 0.5) {
        this.#stableNames.delete(path);
      }
    }
    for (const inode of new Set([...this.#stableNames.values()])) {
      for (const change of loss.type === 'random' ? inode.dirty : []) {
        for (const part of torn(change, random)) inode.stable = applied(inode.stable, part);
      }
      inode.dirty = [];
      inode.cached = inode.stable.slice();
    }
    this.#cachedNames.clear();
    for (const [path, inode] of this.#stableNames) {
      // A name in a folder that was never made durable is gone with it.
      if (this.#stableFolders.has(folderOf(path))) this.#cachedNames.set(path, inode);
    }
    this.#cachedFolders.clear();
    for (const folder of this.#stableFolders) this.#cachedFolders.add(folder);
  }

  /** A copy of what the next process would find. */
  clone(): MemoryDisk {
    const copy = new MemoryDisk();
    const inodes = new Map<Inode, Inode>();
    const copied = (inode: Inode): Inode => {
      let other = inodes.get(inode);
      if (other === undefined) {
        other = new Inode();
        other.cached = inode.cached;
        other.stable = inode.stable;
        other.dirty = [...inode.dirty];
        inodes.set(inode, other);
      }
      return other;
    };
    for (const [path, inode] of this.#cachedNames) copy.#cachedNames.set(path, copied(inode));
    for (const [path, inode] of this.#stableNames) copy.#stableNames.set(path, copied(inode));
    for (const folder of this.#cachedFolders) copy.#cachedFolders.add(folder);
    for (const folder of this.#stableFolders) copy.#stableFolders.add(folder);
    return copy;
  }

  /** The bytes of a file; a copy. */
  content(path: string): Uint8Array {
    return this.#inode(path).cached.slice();
  }

  /** Changes a file behind everyone's back, durably: bit rot. */
  damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const inode = this.#inode(path);
    inode.cached = change(inode.cached.slice());
    inode.stable = inode.cached.slice();
    inode.dirty = [];
  }

  open(path: string, mode: OpenMode): DiskFile {
    if (this.refuseOpens !== undefined) throw failure(`open ${path}`, this.refuseOpens);
    if (mode === 'create' || mode === 'create-synced') {
      this.#call(`create ${path}`);
      if (this.#cachedNames.has(path)) throw failure(`open ${path}`, 'EEXIST');
      if (!this.#cachedFolders.has(folderOf(path))) {
        throw failure(`open ${path}`, 'ENOENT');
      }
      this.#cachedNames.set(path, new Inode());
    }
    return this.#file(path, this.#inode(path), mode);
  }

  list(folder: string): string[] {
    const prefix = folder === '' ? '' : `${folder}/`;
    const names = new Set<string>();
    for (const path of [...this.#cachedNames.keys(), ...this.#cachedFolders]) {
      if (path === '' || !path.startsWith(prefix)) continue;
      names.add(path.slice(prefix.length).split('/')[0]);
    }
    return [...names].sort();
  }

  sizeOf(path: string): number | undefined {
    return this.#cachedNames.get(path)?.cached.length;
  }

  makeFolder(folder: string): void {
    if (this.#cachedFolders.has(folder)) return;
    this.#call(`make ${folder}`);
    this.#cachedFolders.add(folder);
  }

  /** Files of other folders are always on another file system. */
  async link(): Promise<boolean> {
    return false;
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#later();
    this.#call(`rename ${from} ${to}`);
    this.#cachedNames.set(to, this.#inode(from));
    this.#cachedNames.delete(from);
  }

  async unlink(path: string): Promise<void> {
    await this.#later();
    this.#call(`unlink ${path}`);
    this.#inode(path);
    this.#cachedNames.delete(path);
  }

  async syncFolder(folder: string): Promise<void> {
    await this.#later();
    this.#call(`sync folder ${folder}`);
    if (this.#ignored()) return;
    for (const path of this.#stableNames.keys()) {
      if (folderOf(path) === folder && !this.#cachedNames.has(path)) this.#stableNames.delete(path);
    }
    for (const [path, inode] of this.#cachedNames) {
      if (folderOf(path) === folder) this.#stableNames.set(path, inode);
    }
    for (const child of this.#cachedFolders) {
      if (child !== '' && folderOf(child) === folder) this.#stableFolders.add(child);
    }
  }

  #inode(path: string): Inode {
    const inode = this.#cachedNames.get(path);
    if (inode === undefined) throw failure(path, 'ENOENT');
    return inode;
  }

  /** Counts a call; refuses it when it is its turn. */
  #call(what: string, onFailure?: () => void): void {
    this.calls++;
    this.trace.push(what);
    const { crashAtCall, failAtCall, failFromCall } = this.faults;
    if (crashAtCall !== undefined && this.calls >= crashAtCall) {
      throw new EngineError('IO', `${what} failed: the process has ended`);
    }
    if (this.calls === failAtCall || this.calls >= (failFromCall ?? Number.POSITIVE_INFINITY)) {
      onFailure?.();
      throw failure(what, 'EIO');
    }
  }

  #ignored(): boolean {
    this.syncs++;
    return this.faults.ignoreSyncs?.includes(this.syncs) ?? false;
  }

  /** Gives way as a real call would. */
  #later(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #file(path: string, inode: Inode, mode: OpenMode): DiskFile {
    const writable = mode !== 'read';
    const epoch = this.#epoch;
    const self = { epoch };
    let closed = false;
    const check = (): void => {
      if (closed) throw new EngineError('CLOSED', `${path} is closed`);
      if (epoch !== this.#epoch) throw new EngineError('IO', `${path}: of an earlier process`);
    };
    const change = (next: Change): void => {
      inode.cached = applied(inode.cached, next);
      inode.dirty.push(next);
    };
    const sync = async (): Promise<void> => {
      await this.#later();
      check();
      this.#call(`sync ${path}`, () => {
        // As Linux does: the pages count as clean from now on, and the disk does not have them.
        inode.dirty = [];
      });
      if (this.#ignored()) return;
      for (const next of inode.dirty) inode.stable = applied(inode.stable, next);
      inode.dirty = [];
    };
    return {
      bytes: () => {
        check();
        return inode.cached.length;
      },
      read: (target, position) => {
        check();
        const part = inode.cached.subarray(position, position + target.length);
        target.set(part);
        return part.length;
      },
      write: async (chunks, position, blocks = false) => {
        if (blocks) this.blockingWrites++;
        else await this.#later();
        check();
        if (!writable) throw new EngineError('IO', `write ${path} failed: EBADF`);
        if (this.full) {
          const cause = { code: 'ENOSPC' };
          throw new EngineError('IO', `write ${path} failed: ENOSPC`, { cause });
        }
        const bytes = Uint8Array.from(Buffer.concat(chunks));
        const half = bytes.subarray(0, bytes.length >>> 1);
        // A crash in the middle of a write may have brought all of it to the page cache.
        if (this.calls + 1 === this.faults.crashAtCall) change({ position, bytes });
        this.#call(`write ${path}`, () => change({ position, bytes: half }));
        change({ position, bytes });
        if (mode === 'create-synced') await sync();
      },
      sync,
      truncate: async (bytes) => {
        await this.#later();
        check();
        this.#call(`truncate ${path}`);
        change({ cut: bytes });
      },
      lock: () => {
        check();
        if (!writable) throw new EngineError('IO', `lock ${path} failed: EBADF`);
        const { holder } = inode;
        if (holder !== undefined && holder !== self && holder.epoch === this.#epoch) return false;
        inode.holder = self;
        return true;
      },
      standsAt: (name, bytes) => {
        check();
        return this.#cachedNames.get(name) === inode && inode.cached.length === bytes;
      },
      close: () => {
        closed = true;
        if (inode.holder === self) inode.holder = undefined;
      },
    };
  }
}

/** The error of a call of the real disk that the operating system refuses. */
function failure(what: string, code: string): EngineError {
  const cause = Object.assign(new Error(code), { code });
  return new EngineError('IO', `${what} failed: ${code}`, { cause });
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
