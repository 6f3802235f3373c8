import type { Mutation } from './mutate.ts';

/** Faults in what makes events durable, and in what a start makes of the files. */
export const STORE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a commit group is acknowledged without a sync',
    file: 'engine/store/log-file.ts',
    find: 'await this.#file.sync();',
    replace: '',
    tests: ['test/store/log-file.test.ts'],
  },
  {
    name: 'the name of a new log segment is not synced',
    file: 'engine/store/log-file.ts',
    find: 'await disk.syncFolder(LOG_FOLDER);',
    replace: '',
    tests: ['test/store/log-file.test.ts'],
  },
  {
    name: 'a log segment whose write failed is written again',
    file: 'engine/store/log-file.ts',
    find: 'if (this.#failure !== undefined) throw this.#failure;',
    replace: '',
    tests: ['test/store/log-file.test.ts'],
  },
  {
    name: 'recovery shows a part of a group that was never durable',
    file: 'engine/store/recovery.ts',
    find: 'if (!whole && !durable) return;',
    replace: '',
    tests: ['test/crash/recovery.test.ts'],
  },
  {
    name: 'superseded blocks stay',
    file: 'engine/store/recovery.ts',
    find: 'for (const ordinal of commit.superseded) this.#live.delete(ordinal);',
    replace: '',
    tests: ['test/crash/recovery.test.ts'],
  },
  {
    name: 'what a killed process left is shown before it is synced',
    file: 'engine/store/recovery.ts',
    find: 'await file.sync();',
    replace: '{}',
    tests: ['test/crash/recovery.test.ts'],
  },
  {
    name: 'the checksum of a frame header is not compared',
    file: 'engine/segment/frame.ts',
    find: 'if (checksum(bytes, at, at + CHECKSUM_AT) !== sum) return undefined;',
    replace: '',
    tests: ['test/crash/corruption.test.ts'],
  },
  {
    name: 'a log segment is written though its file was removed or replaced',
    file: 'engine/store/log-file.ts',
    find: 'refuseForeign(this.#file, segmentPath(this.segment), this.#bytes);',
    replace: '',
    tests: ['test/store/two-processes.test.ts'],
  },
  {
    name: 'a log segment that another process writes is recovered',
    file: 'engine/store/recovery.ts',
    find: 'if (claim) claimFile(file, path);',
    replace: '',
    tests: ['test/store/two-processes.test.ts'],
  },
  {
    name: 'a large drop by age does not wait',
    file: 'engine/store/retention.ts',
    find: 'this.#wait(old, WAIT_MS - waitedMs);\n    return false;',
    replace: 'this.#wait(old, WAIT_MS - waitedMs);\n    return true;',
    tests: ['test/store/retention.test.ts'],
  },
  {
    name: 'a row dated ahead keeps its segment for ever',
    file: 'engine/store/retention.ts',
    find: 'if (maxTimeMs <= this.#aheadMs) return maxTimeMs;',
    replace: 'if (maxTimeMs > 0) return maxTimeMs;',
    tests: ['test/store/retention.test.ts'],
  },
  {
    name: 'a failed merge waits by the clock of the wall',
    file: 'engine/store/upkeep.ts',
    find: 'if (this.#options.monotonicMs() < this.#retryAtMs) return;',
    replace: 'if (this.#options.nowMs() < this.#retryAtMs) return;',
    tests: ['test/store/upkeep.test.ts'],
  },
];
