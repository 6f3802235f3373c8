import type { Mutation } from './mutate.ts';

const tests = ['test/base/record-file.test.ts'];

/** Faults in the chained records and their two copies: manifest, keys and definitions. */
export const RECORD_MUTATIONS: readonly Mutation[] = [
  {
    name: 'the checksum of a record is not compared',
    file: 'engine/base/record.ts',
    find: 'if (checksum(bytes, at + COVERED_AT, end) !== stored) return undefined;',
    replace: '',
    tests: ['test/base/record.test.ts'],
  },
  {
    name: 'a record need not follow on the one before',
    file: 'engine/base/record-copies.ts',
    find: 'if (record?.number !== number || record.previous !== (last ?? record.previous)) continue;',
    replace: 'if (record?.number !== number) continue;',
    tests,
  },
  {
    name: 'copies of different files are taken for one',
    file: 'engine/base/record-copies.ts',
    find: 'if (shared !== undefined && shared.record.checksum !== record.checksum) {',
    replace: 'if (shared !== undefined && shared.record.checksum < 0) {',
    tests,
  },
  {
    name: 'records that are lost in both copies are not missed',
    file: 'engine/base/record-copies.ts',
    find: 'checkEnd(sources, at, records.length);',
    replace: '',
    tests,
  },
  {
    name: 'a damaged copy is not healed',
    file: 'engine/base/record-file.ts',
    find: 'if (stale.length > 0) await this.#replace(stale, this.#whole());',
    replace: 'if (stale.length > 2) await this.#replace(stale, this.#whole());',
    tests,
  },
  {
    name: 'a record is written to both copies at once',
    file: 'engine/base/record-file.ts',
    find: 'for (const copy of this.#copies) await copy.append(bytes, this.#bytes);',
    replace: 'await Promise.all(this.#copies.map((copy) => copy.append(bytes, this.#bytes)));',
    tests,
  },
  {
    name: 'a file whose sync failed is synced again',
    file: 'engine/base/record-copy.ts',
    find: "    } catch (error) {\n      this.state = 'stale';\n      throw error;",
    replace: '    } catch (error) {\n      throw error;',
    tests,
  },
  {
    name: 'a manifest that was removed or replaced is written to',
    file: 'engine/base/record-copy.ts',
    find: "refuseForeign(file, this.path, this.state === 'tail' ? file.bytes() : bytes);",
    replace: '',
    tests: ['test/store/two-processes.test.ts'],
  },
  {
    name: 'a manifest that another process has is opened',
    file: 'engine/base/record-copy.ts',
    find: "if (mode === 'write') this.#claim(file, path);",
    replace: '',
    tests: ['test/store/two-processes.test.ts'],
  },
];
