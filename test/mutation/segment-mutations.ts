import type { Mutation } from './mutate.ts';

const file = 'engine/segment/sum/row-sum.ts';
const tests = ['test/segment/row-sum.test.ts'];

/** Faults in what compares sealed rows with their sources, and in what reads columns. */
export const SEGMENT_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a sealing is believed when the number of rows is right',
    file: 'engine/segment/sum/verify.ts',
    find: 'if (found.equals(wanted)) return;',
    replace: 'if (found.rowCount === wanted.rowCount) return;',
    tests,
  },
  {
    name: 'the sum of a row has not its time',
    file,
    find: 'const times = wordsOf(block.timeMs());',
    replace: 'const times = new Int32Array(2 * block.rowCount);',
    tests,
  },
  {
    name: 'the sum of a row has not its reception date',
    file,
    find: 'const received = wordsOf(block.receivedMs());',
    replace: 'const received = new Int32Array(2 * block.rowCount);',
    tests,
  },
  {
    name: 'the sum of a row has not its sequence',
    file,
    find: 'const numbers = wordsOf(sequences);',
    replace: 'const numbers = wordsOf(sequences.map(() => 0));',
    tests,
  },
  {
    name: 'the sum of a row has not its writer',
    file,
    find: 'const { writers, sequences } = block.keys();',
    replace: 'const { sequences } = block.keys();\n    const writers = sequences.map(() => 0);',
    tests,
  },
  {
    name: 'the sum of a row has not the order of its attributes',
    file,
    find: `        low = mixLow(low, lows[path] + kind);
        high = mixHigh(high, highs[path] + kind);`,
    replace: `        low = (low + spread(lows[path] + kind)) | 0;
        high = (high + spread(highs[path] + kind)) | 0;`,
    tests,
  },
  {
    name: 'the sum of a value has not its attribute',
    file,
    find: `      columns.low[index] = spread(mixLow(this.#paths.low[path], kind));
      columns.high[index] = spread(mixHigh(this.#paths.high[path], kind));`,
    replace: `      columns.low[index] = spread(mixLow(path * 0, kind));
      columns.high[index] = spread(mixHigh(path * 0, kind));`,
    tests,
  },
  {
    name: 'the sum of a row has not its strings',
    file: 'engine/segment/sum/leaf-sum.ts',
    find: 'hashes.rows.addEntries({ ids, rows, ...this.#entryHashes(hashes, index, dense) });',
    replace: 'this.#entryHashes(hashes, index, dense);',
    tests,
  },
  {
    name: 'the sum of a number has not its digits, nor that of a date its form',
    file: 'engine/segment/sum/leaf-sum.ts',
    find: 'rows.addWords(columns.low[index], columns.high[index], leaves);',
    replace:
      'rows.addWords(columns.low[index], columns.high[index], { ...leaves, details: leaves.details.slice().fill(0) });',
    tests,
  },
  {
    name: 'a text that was read once is not added to the sum',
    file: 'engine/segment/sum/block-sum.ts',
    find: 'if (this.#left[index]?.delete(number)) leaves.addPiece(',
    replace: 'if (this.#left[index]?.delete(number) === false) leaves.addPiece(',
    tests,
  },
  {
    name: 'the bytes of a source are not compared before it is sealed',
    file: 'engine/segment/seal/source-rows.ts',
    find: 'block.verify(this.#scratch);',
    replace: 'void this.#scratch;',
    tests: ['test/segment/seal.test.ts'],
  },
  {
    name: 'the checksum of a column is not compared',
    file: 'engine/segment/frame-source.ts',
    find: 'if (checksum(bytes) !== region.checksum)',
    replace: 'if (region.checksum < 0)',
    tests: ['test/segment/corruption.test.ts'],
  },
  {
    name: 'sealed blocks are bounded by rows alone',
    file: 'engine/segment/seal/segment-rows.ts',
    find: ' || this.#blockBytes + bytes > bytesMax',
    replace: ' || bytesMax === 0',
    tests: ['test/segment/segment-rows.test.ts'],
  },
  {
    name: 'sealed segments are not bounded by their text',
    file: 'engine/segment/seal/segment-rows.ts',
    find: 'this.#segmentBytes + bytes > SEGMENT_BYTES_MAX',
    replace: 'this.#segmentBytes + bytes > SEGMENT_BYTES_MAX * 1_000',
    tests: ['test/segment/segment-rows.test.ts'],
  },
  {
    name: 'chunks are looked for in the frame of their directory',
    file: 'engine/segment/frame-source.ts',
    find: 'this.#regions = { from: 0, to: offset };',
    replace: 'this.#regions = { from: offset, to: offset };',
    tests: ['test/segment/chunks.test.ts'],
  },
  {
    name: 'a segment is read whichever features it needs',
    file: 'engine/segment/head.ts',
    find: 'features <= KNOWN_FEATURES',
    replace: 'features >= KNOWN_FEATURES',
    tests: ['test/segment/chunks.test.ts'],
  },
  {
    name: 'sources of any width are opened together',
    file: 'engine/segment/seal/source-rows.ts',
    find: 'columnCount > COLUMNS_MAX',
    replace: 'columnCount > COLUMNS_MAX * 1_000',
    tests: ['test/service/sealing-memory.test.ts'],
  },
];
