import t from 'tap';
import { type KernelForm, useKernels } from '../../engine/kernel/kernel.ts';
import { pack, packedWords } from '../../engine/packed/bitpack.ts';
import {
  type CellLevel,
  type CellRows,
  type PackedValues,
  plainValues,
} from '../../engine/packed/cells.ts';
import {
  chooseValues,
  countCells,
  countSpan,
  findValues,
  groupCells,
  hasKernel,
  sumCells,
  tallyRows,
  unpackValues,
} from '../../engine/packed/packed.ts';
import { countRows } from '../../engine/query/model/bitmap.ts';

/** The kernel gives what the plain form gives. */

let state = 1;

/** A whole number below `below`. */
function next(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** The answers of both forms. */
function both<T>(ask: () => T): { found: T; wanted: T } {
  const answer = (form: KernelForm): T => {
    useKernels(form);
    return structuredClone(ask());
  };
  return { found: answer('checked'), wanted: answer('off') };
}

function valuesOf(count: number, width: number, base: number, below = 2 ** width): PackedValues {
  const values = new Uint32Array(count + 4);
  for (let at = 0; at < count; at++) values[at] = next(below);
  const words = pack(values, count, width, new Uint32Array(packedWords(count, width)));
  return { words, count, width, base };
}

function bitmapOf(count: number, share: number): Uint32Array {
  const bits = new Uint32Array(Math.ceil(count / 32));
  for (let row = 0; row < count; row++) {
    if (share === 1 || next(1000) < share * 1000) bits[row >>> 5] |= 1 << (row & 31);
  }
  return bits;
}

const COUNTS = [1, 3, 31, 32, 127, 128, 129, 1_000, 4_097, 65_535, 65_536];

t.test('there are kernels to be compared', async (t) => {
  useKernels('checked');
  t.ok(hasKernel());
  useKernels('off');
  t.notOk(hasKernel());
});

t.test('values of each width are unpacked and found alike', async (t) => {
  for (let width = 0; width <= 31; width++) {
    for (const count of [COUNTS[width % COUNTS.length], COUNTS[next(COUNTS.length)]]) {
      const base = width > 29 ? 0 : next(1_000);
      const values = valuesOf(count, width, base);
      const last = base + 2 ** width - 1;
      for (const most of [last, base + next(2 ** width)]) {
        const { found, wanted } = both(() => unpackValues(values, Math.min(most, 2 ** 31 - 1)));
        t.same(found, wanted, `${count} of ${width} bits`);
      }
      const first = next(2 ** width);
      for (const [from, to] of [
        [first, first],
        [first, first + next(2 ** width)],
        [0, 2 ** 31 - 1],
        [2 ** width, 2 ** 31 - 1],
      ]) {
        if (width === 0) continue;
        const { found, wanted } = both(() => findValues(values, from, to));
        t.same(found, wanted, `${count} of ${width} bits from ${from} to ${to}`);
      }
    }
  }
});

t.test('plain values are found alike', async (t) => {
  for (const count of COUNTS) {
    const values = plainValues(Uint32Array.from({ length: count }, () => next(1_000)));
    for (const [first, last] of [
      [990, 2 ** 31 - 1],
      [0, 3],
      [500, 499],
      [1_000, 2_000],
    ]) {
      const { found, wanted } = both(() => findValues(values, first, last));
      t.same(found, wanted, `${count} from ${first} to ${last}`);
      const among = values.words.filter((value) => value >= first && value <= last);
      t.equal(countRows(found), among.length);
    }
  }
});

t.test('values of each width are counted by runs of rows alike', async (t) => {
  for (let width = 1; width <= 31; width++) {
    const count = COUNTS[width % COUNTS.length];
    const values = valuesOf(count, width, 0);
    const ends = Uint32Array.from([0, next(count), next(count), next(count), count]).sort();
    for (const [first, last] of [
      [0, next(2 ** width)],
      [next(2 ** width), 2 ** 31],
      [1, 0],
      [2 ** width, 2 ** 31 - 1],
    ]) {
      const span = { values, first, last };
      const { found, wanted } = both(() => countSpan(span, ends, ends.length));
      t.same(found, wanted, `${count} of ${width} bits from ${first} to ${last}`);
      const bits = findValues(values, first, Math.min(last, 2 ** 31 - 1));
      const sum = found.reduce((sum, runCount) => sum + runCount, 0);
      t.equal(sum, countRows(bits), 'each row is in one run');
    }
  }
});

t.test(
  'values of each width are chosen alike, and none that is behind the last choice',
  async (t) => {
    for (let width = 0; width <= 18; width++) {
      for (const count of [COUNTS[width % COUNTS.length], COUNTS[next(COUNTS.length)]]) {
        const base = next(2) * next(300);
        const values = valuesOf(count, width, base);
        const share = [0, 2, 500][next(3)];
        const chosen = new Uint8Array(base + 2 ** width).map(() => (next(1_000) < share ? 1 : 0));
        const { found, wanted } = both(() => chooseValues(values, chosen));
        t.same(found, wanted, `${count} of ${width} bits`);
        const rows = unpackValues(values, 2 ** 31 - 1) ?? new Uint32Array(0);
        const bits = Array.from(rows, (_, row) => ((found?.[row >>> 5] ?? 0) >>> (row & 31)) & 1);
        t.same(
          bits,
          Array.from(rows, (value) => chosen[value]),
        );
        const short = chosen.subarray(
          0,
          rows.reduce((most, value) => Math.max(most, value), 0),
        );
        t.same(
          both(() => chooseValues(values, short)),
          { found: undefined, wanted: undefined },
        );
      }
    }
  },
);

/** Cells of random runs and levels. */
function cellsOf(count: number): CellRows {
  let cellCount = 1;
  const levels: CellLevel[] = Array.from({ length: next(4) }, () => {
    const width = next(7);
    const size = 1 + next(9);
    cellCount *= size;
    const isWide = next(4) === 0;
    const codes = isWide
      ? plainValues(new Uint32Array(count).map(() => next(2 ** width)))
      : valuesOf(count, width, next(3), 2 ** width);
    const digits = new Uint32Array(1 + next(2 ** width)).map(() => next(size));
    return { codes, size, digits: next(2) === 0 ? digits : undefined };
  });
  const ends = [...new Set([...Array.from({ length: next(5) }, () => 1 + next(count)), count])];
  ends.sort((left, right) => left - right);
  const runCells = ends.map(() => next(3) * cellCount);
  const runs = {
    count: ends.length,
    ends: Uint32Array.from(ends),
    cells: Uint32Array.from(runCells),
  };
  const rows = bitmapOf(count, [0, 0.02, 0.7, 1][next(4)]);
  const hasRuns = next(2) === 0;
  return {
    ...{ rowCount: count, rows, levels },
    runs: hasRuns ? runs : undefined,
    cellCount: cellCount * (hasRuns ? 3 : 1),
  };
}

t.test('rows are counted, grouped and summed by cell alike', async (t) => {
  for (let round = 0; round < 400; round++) {
    const count = round < 380 ? 1 + next(3_000) : COUNTS[next(COUNTS.length)];
    const cells = cellsOf(count);
    const counted = both(() => countCells(cells).slice());
    t.same(counted.found, counted.wanted);
    const groups = Uint32Array.from({ length: cells.cellCount }, () => next(4));
    const grouped = both(() => {
      const { count: length, rows, groups: of } = groupCells(cells, groups);
      return { rows: rows.slice(0, length), groups: of.slice(0, length) };
    });
    t.same(grouped.found, grouped.wanted);
    const numbers = valuesOf(count, next(32), next(2) * next(1_000_000));
    const withBounds = next(2) === 0;
    const summed = both(() => {
      const { counts, sums, least, greatest } = sumCells(cells, numbers, withBounds);
      const of = (values: Uint32Array) =>
        Array.from(values, (value, cell) => (withBounds && counts[cell] > 0 ? value : 0));
      return { counts: [...counts], sums: [...sums], least: of(least), greatest: of(greatest) };
    });
    t.same(summed.found, summed.wanted);
  }
});

t.test('codes of runs of rows are tallied alike', async (t) => {
  for (let round = 0; round < 200; round++) {
    const width = 1 + next(13);
    const count = 1 + next(round < 190 ? 3_000 : 65_536);
    const isPlain = next(3) === 0;
    const codes = valuesOf(count, isPlain ? 32 : width, next(9), 2 ** width);
    const plainCodes = () => unpackValues(codes, 2 ** 31 - 1) ?? new Uint32Array(0);
    const rows = bitmapOf(count, next(3) === 0 ? 1 : 0.7);
    const ends = [...Array.from({ length: next(6) }, () => next(count)), count];
    ends.sort((left, right) => left - right);
    const { found, wanted } = both(() => {
      const tallies = tallyRows(codes, rows, plainCodes);
      const answers: unknown[] = [];
      for (const [place, to] of ends.entries()) {
        const from = ends[place - 1] ?? 0;
        const { codes: all, codeCount, times, ...sums } = tallies.tally(from, to);
        const own = [...all.subarray(0, codeCount)];
        answers.push([own, own.map((code) => times[code]), sums.rowCount && sums]);
      }
      return answers;
    });
    t.same(found, wanted);
  }
});

t.test('rows are counted by the ranks of their codes', async (t) => {
  for (let round = 0; round < 100; round++) {
    const width = 1 + next(13);
    const count = 1 + next(round < 95 ? 3_000 : 65_536);
    const codes = valuesOf(count, width, next(9), 2 ** width);
    const plainCodes = unpackValues(codes, 2 ** 31 - 1) ?? new Uint32Array(0);
    const rows = bitmapOf(count, next(3) === 0 ? 1 : 0.7);
    const step = 1 + next(3);
    const ranks = Uint16Array.from({ length: 65_537 }, (_, code) => Math.ceil(code / step));
    useKernels('checked');
    const tallies = tallyRows(codes, rows, () => plainCodes);
    const ends = [next(count), next(count), count].sort((left, right) => left - right);
    for (const [place, to] of ends.entries()) {
      const from = ends[place - 1] ?? 0;
      const spread = tallies.spread?.(from, to, ranks);
      const chosen = [...plainCodes.keys()].filter(
        (row) => row >= from && row < to && ((rows[row >>> 5] >>> (row & 31)) & 1) === 1,
      );
      const found = chosen.map((row) => plainCodes[row]).filter((code) => code > 0);
      t.equal(spread?.rowCount, found.length);
      if (spread === undefined || found.length === 0) continue;
      const wanted = new Map<number, number>();
      for (const code of found) wanted.set(ranks[code], (wanted.get(ranks[code]) ?? 0) + 1);
      const { total, least, greatest, counts } = spread;
      const sum = found.reduce((all, code) => all + code, 0);
      t.same([total, least, greatest], [sum, Math.min(...found), Math.max(...found)]);
      t.same(new Map([...wanted.keys()].map((rank) => [rank, counts[rank]])), wanted);
      t.equal(spread.rankCount(), wanted.size + (found.length < chosen.length ? 1 : 0));
    }
  }
});

t.test('what the kernel has no room for is done without it', async (t) => {
  const codes = valuesOf(500, 20, 0);
  const wide = {
    rowCount: 500,
    rows: bitmapOf(500, 1),
    runs: undefined,
    levels: [{ codes, size: 3, digits: new Uint32Array(2 ** 20).fill(1) }],
  };
  const many = both(() => countCells({ ...wide, cellCount: 3 }).slice());
  t.same(many.found, many.wanted);
  const cells = {
    ...wide,
    levels: [{ codes, size: 2 ** 21, digits: undefined }],
    cellCount: 2 ** 21,
  };
  const counted = both(() => countCells(cells).slice());
  t.same(counted.found, counted.wanted);
});
