import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t from 'tap';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, PathTable } from '../../engine/column/path.ts';
import { CompactFooter, NameLists } from '../../engine/segment/compact-footer.ts';
import {
  type Footer,
  type FooterParts,
  MinuteCounter,
  writeFooter,
} from '../../engine/segment/footer.ts';
import { type PlainFooter, plainFooter, readFooter } from '../../engine/segment/footer-reader.ts';

const SEGMENTS = 10_000;
const BYTES_MAX = 1_024;
const BLOCK_ROWS = 65_536;
const BLOCKS = 10;
const FIRST_MS = 1_700_000_000_000;
const NAMES = 'host pid method path query status bytes referer agent ip user duration'.split(' ');
const ZONES = new Set(['status', 'bytes', 'duration']);

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes that objects and their buffers take. */
function heldBytes(): number {
  // The second one waits until what the first has found is freed.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The path of a name below `custom`. */
function pathOf(paths: PathTable, name: string): number {
  const bytes = Buffer.from(name);
  return paths.intern(PATH_CUSTOM, bytes, 0, bytes.length);
}

/** Facts of a segment with BLOCKS blocks of an access log, some of which depend on its number. */
function footerParts(segment: number, names: readonly string[]): FooterParts {
  const paths = new PathTable();
  const startMs = FIRST_MS + segment * 3_600_000;
  const minutes = new MinuteCounter();
  const blocks = Array.from({ length: BLOCKS }, (_, block) => {
    const minTimeMs = startMs + block * 360_000 + ((segment * 7) % 1_000);
    minutes.add(Float64Array.from({ length: BLOCK_ROWS }, (__, row) => minTimeMs + row * 5.4));
    const place = {
      offset: (block + segment) * 262_144,
      bytes: 1_024 + block * 64,
      ordinal: block,
    };
    const nowhere = { writer: 0, firstSequence: 0, endSequence: 0 };
    const times = { minTimeMs, maxTimeMs: minTimeMs + 353_000 };
    return { sealed: true, segment, ...place, ...nowhere, rowCount: BLOCK_ROWS, ...times };
  });
  const counts = (less: number): Float64Array => new Float64Array(BLOCKS).fill(BLOCK_ROWS - less);
  const columns = names.map((name, at) => ({
    path: pathOf(paths, name),
    kind: ZONES.has(name) ? Kind.NUMBER : Kind.STRING,
    dictionary: at % 3 === 0 ? -1 : at,
    presentCounts: counts(at % 4 === 0 ? segment % 100 : 0),
    mins: ZONES.has(name) ? new Float64Array(BLOCKS).fill(at) : undefined,
    maxs: ZONES.has(name) ? counts(0).map((_, block) => 9_999 / (block + at)) : undefined,
  }));
  const places = Array.from({ length: 8 }, (_, at) => ({
    offset: (segment + at) * 6_400,
    bytes: 64_000,
    ordinal: at,
  }));
  return {
    rowCount: BLOCKS * BLOCK_ROWS,
    minTimeMs: blocks[0].minTimeMs,
    maxTimeMs: blocks[BLOCKS - 1].maxTimeMs,
    sequences: [{ writer: 0, sequence: segment * BLOCK_ROWS }],
    blocks,
    minutes: minutes.minuteRows(),
    dictionaries: places,
    words: places.slice(0, names.length).map((place, column) => ({ column, ...place })),
    paths,
    columns,
    isComplete: true,
  };
}

/** The plain form of what is written of a footer. */
function plainOf(parts: FooterParts, segment: number, lists = new NameLists()): PlainFooter {
  const { meta, regions } = writeFooter(parts);
  const all = Buffer.concat(regions);
  const region: Parameters<typeof plainFooter>[0]['region'] = (place) =>
    place.inline ?? all.subarray(place.offset, place.offset + place.bytes);
  return plainFooter({ meta, region }, segment, lists.share);
}

/** All that a footer says. */
function said({ columns, minutes, ...facts }: Footer): unknown {
  const blocks = facts.blocks.map((_, block) => columns?.columns(block, () => true));
  return [facts, minutes.count, minutes.minutes, minutes.rowsBefore, columns?.all(), blocks];
}

t.test('of an ordinary segment takes at most a kilobyte', async (t) => {
  const lists = new NameLists();
  const parts = footerParts(1, NAMES);
  const make = (segment: number): CompactFooter =>
    new CompactFooter(plainOf({ ...parts, ...varied(segment) }, segment, lists));
  const varied = (segment: number): Partial<FooterParts> => ({
    minTimeMs: parts.minTimeMs + segment,
    sequences: [{ writer: 0, sequence: segment * BLOCK_ROWS }],
  });
  make(0);
  const before = heldBytes();
  const kept = Array.from({ length: SEGMENTS }, (_, segment) => make(segment));
  const bytes = (heldBytes() - before) / SEGMENTS;
  t.ok(bytes < BYTES_MAX, `${bytes} bytes`);
  const told = kept.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) / SEGMENTS;
  t.ok(told > bytes * 0.8 && told < bytes * 1.3, `${told} of ${bytes} bytes`);
});

t.test(
  'a footer that claims more rows than its blocks have, or more minutes, is damaged',
  async (t) => {
    const parts = footerParts(1, []);
    const [first, ...rest] = parts.blocks;
    const minutes = new Float64Array(parts.rowCount + 1);
    for (const wrong of [
      { rowCount: parts.rowCount + 1 },
      { blocks: [{ ...first, rowCount: BLOCK_ROWS + 1 }, ...rest] },
      { blocks: [{ ...first, rowCount: 0 }, ...rest] },
      { minutes: { count: minutes.length, minutes, rowsBefore: minutes } },
    ]) {
      t.throws(() => plainOf({ ...parts, ...wrong }, 1), { code: 'CORRUPTION' });
    }
  },
);

t.test('says what the footer says', async (t) => {
  const lists = new NameLists();
  const property = fc.property(
    fc.nat(1_000_000),
    fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 40 }),
    (segment, names) => {
      const plain = plainOf(footerParts(segment, names), segment, lists);
      const again = new CompactFooter(plain).plain();
      t.strictSame(said(readFooter(again, segment)), said(readFooter(plain, segment)));
    },
  );
  fc.assert(property, { numRuns: 30 });
});
