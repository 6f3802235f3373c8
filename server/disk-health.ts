import type { DiskFailure, DiskOp } from '../engine/base/disk-watch.ts';
import type { Disk } from '../engine/base/file.ts';
import type { Log } from './log.ts';

/** Lines of the log about one kind of failure are at least so far apart. */
const LINE_EVERY_MS = 10_000;
/** Files that are written to see whether the disk takes writes again: where the manifest lies, and where events go. */
const PROBES = ['probe', 'log/probe'];

/** State of one kind of failure. */
interface Kind {
  count: number;
  toldMs: number;
  suppressed: number;
}

/**
 * Health of the disk for writes. Every failure is counted and logged, one line a kind and 10 s. After a failure the
 * disk counts as failing until a file can be written, synced and removed again. Owned by the front thread.
 */
export class DiskHealth {
  readonly #disk: Disk;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #changed: (failing: boolean) => void = () => {};
  readonly #kinds = new Map<DiskOp, Kind>();
  #failing = false;
  #probing: Promise<void> | undefined;

  /** Probes write to `disk`, the one whose failures are not reported here. */
  constructor(disk: Disk, log: Log, monotonicMs: () => number = () => performance.now()) {
    this.#disk = disk;
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** Calls `changed` when the disk begins to fail and when it is well again, and no longer the function set before. */
  watch(changed: (failing: boolean) => void): void {
    this.#changed = changed;
  }

  /** Is set while the last write that was tried has failed. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Failures since the start, by what was refused. */
  counts(): [DiskOp, number][] {
    return [...this.#kinds].map(([op, { count }]) => [op, count]);
  }

  /** Takes a failure of any thread. */
  fail({ op, path, code }: DiskFailure): void {
    const kind = this.#kinds.get(op) ?? { count: 0, toldMs: -Infinity, suppressed: 0 };
    this.#kinds.set(op, kind);
    kind.count++;
    const nowMs = this.#monotonicMs();
    if (nowMs - kind.toldMs >= LINE_EVERY_MS) {
      const { suppressed } = kind;
      this.#log.error('the disk refused a change', { op, path, code, suppressed });
      kind.toldMs = nowMs;
      kind.suppressed = 0;
    } else {
      kind.suppressed++;
    }
    this.#set(true);
  }

  /** Tries a write while the disk is failing. To be called about once a second. */
  tick(): void {
    if (!this.#failing) return;
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
  }

  /** Resolves when no probe of the disk runs. */
  async settled(): Promise<void> {
    await this.#probing;
  }

  async #probe(): Promise<void> {
    try {
      for (const path of PROBES) await probe(this.#disk, path);
    } catch {
      // It fails still, and that was told.
      return;
    }
    this.#set(false);
  }

  #set(failing: boolean): void {
    if (this.#failing === failing) return;
    this.#failing = failing;
    if (!failing) this.#log.info('the disk takes changes again');
    this.#changed(failing);
  }
}

async function probe(disk: Disk, path: string): Promise<void> {
  const file = disk.open(path, disk.sizeOf(path) === undefined ? 'create' : 'write');
  try {
    await file.write([Uint8Array.of(1)], 0);
    await file.sync();
  } finally {
    file.close();
  }
  await disk.unlink(path);
}
