import type { Mutation } from './mutate.ts';

/** Faults in the order of events and in the bounds of blocks. */
export const ORDER_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a writer that dies with the lock keeps it',
    file: 'engine/store/sequences.ts',
    find: 'if (Atomics.load(this.#lock, 0) !== writer + 1) return claim;',
    replace: 'return claim;',
    tests: ['test/store/sequences.test.ts'],
  },
  {
    name: 'a block forgets the runs of its small blocks',
    file: 'engine/store/open-block.ts',
    find: 'this.#encode(0, this.#batch.rowCount, this.#runs)',
    replace: 'this.#encode(0, this.#batch.rowCount, [])',
    tests: ['test/store/writer.test.ts'],
  },
  {
    name: 'blocks are bounded by rows alone',
    file: 'engine/column/batch.ts',
    find: 'return textBytes <= BLOCK_TEXT_BYTES_MAX;',
    replace: 'return textBytes >= 0;',
    tests: ['test/column/batch.test.ts'],
  },
  {
    name: 'log segments are bounded by rows alone',
    file: 'engine/store/writer.ts',
    find: ' && bytes < segmentBytesMax',
    replace: ' && bytes < Number.POSITIVE_INFINITY',
    tests: ['test/store/writer.test.ts'],
  },
];
