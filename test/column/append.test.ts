import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { ByteWriter } from '../../engine/base/bytes.ts';
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

/** Rows of blocks that are not full. */
const FEW = [7, 40, 300, 1_500];

/** Appends to the plain form and to the kernel, and compares the blocks that both make. */
class Twice {
  readonly paths = new PathTable();
  /** Columns that the kernel has encoded, those that it left to the plain form, and parts without room for more. */
  encoded = 0;
  left = 0;
  full = 0;
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
      const encoder = this.#kernel.encode(from, to);
      encoder?.pathNumbers.fill(1);
      let wasEncoded = false;
      for (const part of encoder?.parts() ?? []) {
        const isEncoded = 'regions' in part;
        if (isEncoded) this.encoded += part.count;
        else this.left++;
        if (isEncoded && wasEncoded) this.full++;
        wasEncoded = isEncoded;
      }
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
    t.ok(twice.encoded > 10 * twice.left, `${corpus.name}: the kernel encodes few columns`);
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

t.test('columns that are many, large or rare are those of the plain form', async (t) => {
  const draw = new Draw(3);
  const twice = new Twice();
  const paths = Array.from({ length: 3_000 }, (_, at) => {
    const name = Buffer.from(`a${at}`);
    return twice.paths.intern(PATH_CUSTOM, name, 0, name.length);
  });
  const rows = new Rows();
  rows.reset(
    new Uint8Array(900_000).map(() => draw.below(256)),
    0,
  );
  for (let row = 0; row < 6_000; row++) {
    // Each path in some rows, some of them in the same; the first paths have what fills or exceeds the room of a part.
    for (const place of [0, 1, 2, 3, 4]) {
      const length = place === 0 ? 1_500 : 150;
      rows.add(paths[place], Kind.STRING, draw.below(800_000), length, 0, 0);
    }
    if (row % 300 === 0) rows.add(paths[5], Kind.STRING, draw.below(3) * 1_000, 400_000, 0, 0);
    for (let place = 6 + (row % 97); place < paths.length; place += 97) {
      const isText = draw.below(3) === 0;
      const detail = draw.below(500) === 0 ? NUMBER_AS_TEXT : place % 3;
      if (isText) rows.add(paths[place], Kind.STRING, draw.below(1_000), 3, 0, 0);
      else rows.add(paths[place], Kind.NUMBER, draw.below(1_000), 3, draw.below(900), detail);
    }
    rows.endRow(1e12 + row);
  }
  t.ok(twice.take(rows));
  t.ok(twice.end(1_000));
  t.ok(twice.left > 5, 'some are left');
  t.ok(twice.encoded > 1_000, 'most are not');
  t.ok(twice.full > 0, 'parts are full');
});

t.test('shapes that are many and large are those of the plain form', async (t) => {
  const twice = new Twice();
  const paths = Array.from({ length: 3_000 }, (_, at) => {
    const name = Buffer.from(`a${at}`);
    return twice.paths.intern(PATH_CUSTOM, name, 0, name.length);
  });
  const rows = new Rows();
  for (let first = 0; first < 28_000; first += 4_000) {
    rows.reset(new Uint8Array(8), 0);
    for (let row = first; row < first + 4_000; row++) {
      const place = row % 2_900;
      const count = 75 + Math.floor(row / 2_900);
      for (const path of paths.slice(place, place + count)) rows.add(path, Kind.NULL, 0, 0, 0, 0);
      rows.endRow(1e12 + row);
    }
    t.ok(twice.take(rows));
  }
  t.equal(twice.rowCount, 28_000);
  t.ok(twice.end(1_000));
});

/** An encoder whose kernel is `encodeColumns`; each of its globals is given to that. */
function encoderOf(encodeColumns: (globals: Record<string, WebAssembly.Global>) => number) {
  const names = [
    ...['BATCH_ROWS', 'BLOCK_PATHS', 'BLOCK_REGIONS', 'BLOCK_META', 'BLOCK_OUT', 'BLOCK_TIME'],
    ...['BLOCK_PATH', 'BLOCK_PLACE', 'blockMetaBytes', 'blockOutBytes', 'blockRegions'],
    ...[
      'BLOCK_REGION',
      'columnCount',
      'nextColumn',
      'partColumns',
      'blockShapeCount',
      'regionBytes',
    ],
  ] as const;
  const globals = Object.fromEntries(
    names.map((name) => [name, new WebAssembly.Global({ value: 'i32', mutable: true }, 0)]),
  ) as Record<(typeof names)[number], WebAssembly.Global>;
  for (const name of ['BATCH_ROWS', 'BLOCK_PATHS', 'BLOCK_REGIONS'] as const)
    globals[name].value = 8;
  let dropped = 0;
  const encoder = new EncodeKernel({
    ...globals,
    memory: new WebAssembly.Memory({ initial: 1 }),
    beginBlock: () => {
      globals.nextColumn.value = 0;
    },
    encodeShapes: () => {
      throw new WebAssembly.RuntimeError('unreachable');
    },
    encodeColumns: () => encodeColumns(globals),
    dropTrapped: () => dropped++,
    findRows: () => -1,
  });
  return { encoder, globals, dropped: () => dropped };
}

t.test('a kernel that traps leaves what it had not encoded, and is not asked again', async (t) => {
  let asked = 0;
  const { encoder, globals, dropped } = encoderOf(({ nextColumn, partColumns }) => {
    asked++;
    nextColumn.value = 2;
    partColumns.value = 2;
    throw new WebAssembly.RuntimeError('unreachable');
  });
  globals.columnCount.value = 4;
  encoder.begin(0, new Float64Array(3), 2);
  const parts = [...encoder.parts()].map((part) => (typeof part === 'number' ? part : part.count));
  t.same(parts, [2, 2, 3]);
  t.equal(asked, 1);
  t.equal(dropped(), 1);
  t.ok(encoder.isBroken);
  const other = encoderOf(() => 0).encoder;
  t.equal(
    other.writeShapes(new ByteWriter(8), () => {}),
    -1,
  );
  t.ok(other.isBroken);
});
