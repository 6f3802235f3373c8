import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { EncodeKernel } from '../../engine/column/append/encode-kernel.ts';
import { KernelBatch } from '../../engine/column/append/kernel-batch.ts';
import { Batch } from '../../engine/column/batch.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PathTable } from '../../engine/column/path.ts';
import { NUMBER_AS_TEXT, Rows } from '../../engine/column/rows.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { encodeBlock } from '../../engine/segment/block/block-encoder.ts';
import { Decoder } from '../../server/decode/decoder.ts';

// The build whose every access is checked against the bounds of its region.
useKernels('checked');

/** Rows of blocks whose columns the kernel may encode. */
const FEW = [7, 40, 300, 1_500];

/** Appends to the plain form and to the kernel, and compares the blocks that both make. */
class Twice {
  readonly paths = new PathTable();
  /** Ranges of rows that were compared, and those whose columns the kernel has encoded. */
  ranges = 0;
  encoded = 0;
  readonly #plain = new Batch(this.paths);
  readonly #kernel: KernelBatch;

  constructor() {
    const kernel = KernelBatch.make(this.paths);
    if (kernel === undefined) throw new Error('there are no kernels');
    this.#kernel = kernel;
  }

  get rowCount(): number {
    return this.#plain.rowCount;
  }

  /** Takes rows, blocks that are full being ended; false when the two differ. */
  take(rows: Rows): boolean {
    for (let row = 0; row < rows.rowCount; ) {
      const taken = this.#plain.append(rows, row);
      if (this.#kernel.append(rows, row) !== taken) return false;
      if (this.#plain.isFull !== this.#kernel.isFull) return false;
      if (this.#plain.bytes !== this.#kernel.bytes) return false;
      if (this.#plain.isFull && !this.end(0)) return false;
      row += taken;
    }
    return true;
  }

  /** Ends the block, of which another one begins at row `middle`; false when the two differ. */
  end(middle: number): boolean {
    const { rowCount } = this.#plain;
    if (rowCount === 0) return this.#kernel.rowCount === 0;
    const ranges: [number, number][] = [[0, rowCount]];
    if (middle > 0 && middle < rowCount) {
      ranges.push([0, middle], [middle, rowCount], [middle - 1, middle]);
      for (const count of FEW) ranges.push([middle, Math.min(middle + count, rowCount)]);
    }
    const isSame = ranges.every(([from, to]) => {
      const numbers = new Uint32Array(this.paths.count).fill(1);
      this.ranges++;
      if (this.#kernel.encode(from, to, numbers) !== undefined) this.encoded++;
      const plain = encodeBlock(this.#plain, from, to).bytes;
      return Buffer.compare(plain, encodeBlock(this.#kernel, from, to).bytes) === 0;
    });
    this.#plain.clear();
    this.#kernel.clear();
    return isSame;
  }
}

t.test('the kernel makes the columns of each corpus that the plain form makes', async (t) => {
  for (const corpus of CORPORA) {
    const twice = new Twice();
    const rows = new Rows();
    const decoder = new Decoder(twice.paths, rows);
    const next = corpus.make(11);
    const count = corpus.name === 'hostile' ? 100 : 2_500;
    const all = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    for (let turn = 0; turn < 6; turn++) {
      const body = Buffer.from(Array.from({ length: count }, () => `${next()}\n`).join(''));
      const at = turn % 3;
      decoder.begin(body.subarray(at), 1e12 + turn, undefined);
      decoder.beginBody(0, body.length - at, false);
      while (!decoder.readBody(all));
      t.ok(twice.take(rows), `${corpus.name}, rows of turn ${turn}`);
      if (turn % 2 === 1) t.ok(twice.end(count >> 1), `${corpus.name}, block of turn ${turn}`);
    }
    if (corpus.name === 'hostile') continue;
    t.ok(twice.encoded > twice.ranges / 2, `${corpus.name}: the kernel encodes few rows`);
  }
});

/** Row records of random leaves, whose texts lie anywhere in the source and in the side. */
function randomRows(draw: Draw, paths: readonly number[], rowCount: number): Rows {
  const rows = new Rows();
  const source = new Uint8Array(4_000).map(() => 97 + draw.below(3));
  rows.reset(source, draw.below(1e9));
  rows.addSide(new Uint8Array(500).map(() => 97 + draw.below(2)));
  const text = (): [start: number, length: number] => {
    const length = draw.below(draw.below(4) === 0 ? 200 : 4);
    return draw.below(4) === 0
      ? [~draw.below(500 - length), length]
      : [draw.below(4_000 - length), length];
  };
  for (let row = 0; row < rowCount; row++) {
    const first = draw.below(paths.length);
    for (let count = draw.below(Math.min(12, paths.length)); count > 0; count--) {
      const path = paths[(first + count) % paths.length];
      const kind = draw.pick(Object.values(Kind));
      const [start, length] = text();
      if (kind === Kind.BOOLEAN) rows.add(path, kind, 0, draw.below(2), 0, 0);
      else if (kind < Kind.BOOLEAN) rows.add(path, kind, 0, 0, 0, 0);
      else if (kind === Kind.NUMBER) {
        const detail = draw.below(8) === 0 ? NUMBER_AS_TEXT : draw.below(5);
        rows.add(path, kind, start, length, draw.below(1_000) - 500, detail);
      } else if (kind === Kind.DATE) rows.add(path, kind, start, length, draw.below(1e9), 0x8009);
      else rows.add(path, kind, start, length, 0, 0);
    }
    rows.endRow(1e12 + draw.below(1e6));
  }
  return rows;
}

t.test('columns of random rows are those of the plain form', async (t) => {
  const draw = new Draw(9);
  for (let round = 0; round < 20; round++) {
    const twice = new Twice();
    const paths = Array.from({ length: 1 + draw.below(40) }, (_, at) => {
      const name = Buffer.from(`a${at}`);
      return twice.paths.intern(PATH_CUSTOM, name, 0, name.length);
    });
    for (let block = 0; block < 4; block++) {
      for (let turn = draw.below(4); turn >= 0; turn--) {
        t.ok(twice.take(randomRows(draw, paths, draw.below(3_000))), `rows of ${round}`);
      }
      t.ok(twice.end(draw.below(twice.rowCount + 1)), `block ${block} of ${round}`);
    }
  }
});

t.test('a block ends at its rows and at its bytes as in the plain form', async (t) => {
  const twice = new Twice();
  const rows = new Rows();
  rows.reset(
    new Uint8Array(700_000).map((_, at) => at % 251),
    0,
  );
  for (let row = 0; row < 40_000; row++) {
    rows.add(PATH_MESSAGE, Kind.STRING, row, 5, 0, 0);
    rows.endRow(row);
  }
  t.ok(twice.take(rows), 'rows');
  t.ok(twice.end(1), 'what is left');
  rows.reset(rows.source, 0);
  for (let row = 0; row < 200; row++) {
    rows.add(PATH_MESSAGE, Kind.STRING, row, 600_000, 0, 0);
    rows.endRow(row);
  }
  t.ok(twice.take(rows), 'bytes');
  t.ok(twice.end(1), 'what is left');
});

t.test('rows without texts in the source are taken with those around them', async (t) => {
  for (const isInSide of [(row: number) => row === 4_095, (row: number) => row % 2 === 1]) {
    const twice = new Twice();
    const rows = new Rows();
    rows.reset(new Uint8Array(4_096), 0);
    rows.addSide(new Uint8Array(8));
    for (let row = 0; row < 4_096; row++) {
      rows.add(PATH_MESSAGE, Kind.STRING, isInSide(row) ? ~0 : row, 1, 0, 0);
      rows.endRow(0);
    }
    let copies = 0;
    const { path } = rows;
    rows.path = Object.assign(path.subarray(0), {
      subarray: (from: number, end: number) => {
        copies++;
        return path.subarray(from, end);
      },
    });
    t.ok(twice.take(rows));
    t.equal(copies, 1);
    t.ok(twice.end(1));
  }
});

t.test('of many columns those of the last rows are given alone', async (t) => {
  const paths = new PathTable();
  const kernel = KernelBatch.make(paths);
  const rows = new Rows();
  rows.reset(new Uint8Array(8), 0);
  for (let row = 0; row < 100; row++) {
    const name = Buffer.from(`a${row}`);
    rows.add(paths.intern(PATH_CUSTOM, name, 0, name.length), Kind.STRING, 0, 1, 0, 0);
    rows.add(PATH_MESSAGE, Kind.BOOLEAN, 0, row % 2, 0, 0);
    rows.endRow(0);
  }
  t.equal(kernel?.append(rows, 0), 100);
  t.equal(kernel?.columnsFrom(0).length, 101);
  t.equal(kernel?.columnsFrom(97).length, 4);
  t.equal(kernel?.columnsFrom(100).length, 0);
});

t.test('a row that has an attribute twice is a bug that shows at once', async (t) => {
  const paths = new PathTable();
  const kernel = KernelBatch.make(paths);
  const rows = new Rows();
  rows.reset(new Uint8Array(8), 0);
  for (let leaf = 0; leaf < 2; leaf++) rows.add(PATH_MESSAGE, Kind.STRING, 0, 1, 0, 0);
  rows.endRow(0);
  t.throws(() => kernel?.append(rows, 0), /the kernel of the open block failed/);
  t.ok(kernel?.isBroken);
});

t.test('a row whose texts are far from each other is for the plain form', async (t) => {
  const paths = new PathTable();
  const kernel = KernelBatch.make(paths);
  const rows = new Rows();
  rows.reset(new Uint8Array(3_000_000), 0);
  const add = (from: number, length: number): void => {
    rows.add(PATH_MESSAGE, Kind.STRING, from, length, 0, 0);
    rows.endRow(0);
  };
  add(0, 10);
  add(10, 2_000_000);
  add(5, 10);
  t.equal(kernel?.append(rows, 0), 1, 'the rows before it are taken');
  t.ok(kernel?.isFull);
  kernel?.clear();
  t.equal(kernel?.append(rows, 1), 0);
  kernel?.clear();
  t.equal(kernel?.append(rows, 2), 1, 'and those behind it');
});

t.test('a kernel that traps while it encodes is not asked again', async (t) => {
  const rooms = ['BLOCK_ROWS', 'BLOCK_PATHS', 'BLOCK_REGIONS'];
  const places = ['BLOCK_META', 'BLOCK_OUT', 'BLOCK_TIME', 'BLOCK_PATH', 'BLOCK_PLACE'];
  const sums = ['blockMetaBytes', 'blockOutBytes', 'blockRegions'];
  const globals = [...rooms, ...places, ...sums].map((name) => {
    const value = rooms.includes(name) ? 8 : 0;
    return [name, new WebAssembly.Global({ value: 'i32' }, value)];
  });
  let asked = 0;
  const kernel = new EncodeKernel({
    ...Object.fromEntries(globals),
    memory: new WebAssembly.Memory({ initial: 1 }),
    encodeColumns: () => {
      asked++;
      throw new WebAssembly.RuntimeError('unreachable');
    },
  });
  for (let turn = 0; turn < 2; turn++) {
    t.equal(kernel.encode(0, new Float64Array(3), new Uint32Array(2)), undefined);
  }
  t.equal(asked, 1);
});
