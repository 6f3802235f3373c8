import { proveCaught } from './prove.ts';

/** Faults in what makes events durable, and in what a start makes of the files. */

await proveCaught([
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
    name: 'the checksum of a column is not compared',
    file: 'engine/segment/frame-source.ts',
    find: 'if (checksum(bytes) !== region.checksum)',
    replace: 'if (region.checksum < 0)',
    tests: ['test/segment/corruption.test.ts'],
  },
]);
