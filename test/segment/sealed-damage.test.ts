import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { totalUnits } from '../../engine/query/events/total.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { SEALED_FOLDER, sealedPath } from '../../engine/store/filename.ts';
import { run } from '../query/blocks.ts';
import { MemoryDisk } from '../support/memory-disk.ts';
import type { TestRow } from './leaves.ts';
import { Shelf } from './shelf.ts';

const DRAFTS = [1, 2, 3, 4, 5, 6, 7, 8];

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixture/${name}`, import.meta.url));
}

const SEGMENT_FILE = fixture('sealed-v8.seg');
const ROWS_FILE = fixture('sealed-v8.json');
const START_MS = 1_700_000_000_000;

/**
 * Rows that use a dictionary of the segment, with and without gaps, words, derived texts, columns of every kind, and
 * numbers that are codes or patched, addresses, and strings that tell the same.
 */
function goldenRows(count: number, first: number): TestRow[] {
  return Array.from({ length: count }, (_, index): TestRow => {
    const row = first + index;
    const timeMs = START_MS + row * 9 - (row % 50 === 0 ? 700 : 0);
    const leaves: TestRow['leaves'] = [
      { names: ['custom', 'verb'], kind: 'string', text: ['GET', 'PUT', 'é\ud800'][row % 3] },
      { names: ['custom', 'kind'], kind: 'string', text: ['read', 'write', 'odd'][row % 3] },
      { names: ['custom', 'date'], kind: 'date', text: new Date(timeMs).toISOString() },
      { names: ['custom', 'time'], kind: 'number', text: (row / 100).toFixed(2) },
      { names: ['custom', 'flag'], kind: 'boolean', value: row % 5 === 1 },
      { names: ['custom', 'status'], kind: 'number', text: [200, 304, 404][row % 3].toString() },
      { names: ['custom', 'size'], kind: 'number', text: String((row % 40 === 3 ? row : 1) * 9) },
    ];
    if (row % 2 === 0) leaves.push({ names: ['custom', 'half'], kind: 'array', text: '[1,"a"]' });
    if (row % 100 === 7)
      leaves.push({ names: ['custom', 'rare'], kind: 'string', text: `r${row}` });
    leaves.push({ names: ['custom', 'id'], kind: 'string', text: `id ${row * 7919}` });
    const address = `10.${row >> 8}.${(row * 7) & 255}.${row & 255}`;
    leaves.push({ names: ['custom', 'address'], kind: 'string', text: address });
    leaves.push({
      names: ['message'],
      kind: 'string',
      text: `number: id ${row * 7919} took ${(row / 100).toFixed(2)} s`,
    });
    return { timeMs, leaves };
  });
}

async function goldenShelf(): Promise<Shelf> {
  const shelf = new Shelf();
  await shelf.add(goldenRows(5_000, 0), 3, 2 ** 33);
  await shelf.add(goldenRows(600, 2_000), 1, 50);
  return shelf;
}

/** A reader of a folder with one sealed segment. */
async function readerOf(bytes: Uint8Array, segment: number): Promise<Reader> {
  const disk = new MemoryDisk();
  disk.makeFolder(SEALED_FOLDER);
  const file = disk.open(sealedPath(segment), 'create');
  await file.write([bytes], 0);
  await file.sync();
  file.close();
  return new Reader(disk, new Uint8Array(32));
}

interface Golden {
  refs: BlockRef[];
  sampleEvery: number;
  rows: [key: string, text: string][];
}

/** Makes the files when they are not there: after the format's version went up, and once for the draft. */
async function makeGolden(): Promise<void> {
  const shelf = await goldenShelf();
  const wanted = shelf.texts();
  const { segments } = await shelf.seal(shelf.refs);
  const sampleEvery = 25;
  const rows = [...wanted].filter((_, index) => index % sampleEvery === 0);
  const refs = segments[0].blocks;
  writeFileSync(SEGMENT_FILE, shelf.disk.content(sealedPath(segments[0].segment)));
  writeFileSync(ROWS_FILE, `${JSON.stringify({ refs, sampleEvery, rows })}\n`);
}

if (!existsSync(SEGMENT_FILE)) await makeGolden();

for (const draft of DRAFTS) {
  t.test(
    `a sealed segment of draft ${draft} of the format opens and says what it said`,
    async (t) => {
      const bytes = new Uint8Array(readFileSync(fixture(`sealed-v${draft}.seg`)));
      const golden = JSON.parse(readFileSync(fixture(`sealed-v${draft}.json`), 'utf8')) as Golden;
      const [ref] = golden.refs;
      const reader = await readerOf(bytes, ref.segment);
      const block = reader.open(ref);
      const { writers, sequences } = block.keys();
      const found = new Map<string, string>();
      for (let row = 0; row < ref.rowCount; row++) {
        const key = `${block.timeMs()[row]} ${writers[row]} ${sequences[row]}`;
        found.set(key, `${block.receivedMs()[row]} ${block.eventText(row)}`);
      }
      t.equal(found.size, 5_600);
      t.same(
        golden.rows.map(([key]) => [key, found.get(key)]),
        golden.rows,
      );
      const infos = block.columns;
      const factsOf = (isWanted: (path: string) => boolean): object[] | undefined =>
        reader
          .columns(ref)?.(isWanted)
          .map(({ dictionary, ...facts }) => facts);
      t.same(
        factsOf(() => true),
        infos,
      );
      t.same(
        factsOf((path) => path === infos[2].path),
        infos.filter(({ path }) => path === infos[2].path),
      );
    },
  );
}

t.test('the same rows make the same bytes', async (t) => {
  const seal = async (): Promise<Uint8Array> => {
    const shelf = await goldenShelf();
    const { segments } = await shelf.seal(shelf.refs);
    return shelf.disk.content(sealedPath(segments[0].segment));
  };
  t.ok(Buffer.from(await seal()).equals(Buffer.from(await seal())));
});

const ALL = { fromMs: -1e15, toMs: 1e15, predicate: { type: 'all' as const }, columns: [] };

t.test('a value is found by the words that were written', async (t) => {
  const { refs } = JSON.parse(readFileSync(ROWS_FILE, 'utf8')) as Golden;
  const reader = await readerOf(new Uint8Array(readFileSync(SEGMENT_FILE)), refs[0].segment);
  const match = { type: 'text' as const, text: `id ${17 * 7919}` };
  const predicate = { type: 'value' as const, paths: ['custom.id'], match };
  const query = { ...ALL, predicate, order: 'asc' as const, limit: 3, event: false };
  t.equal(run(listUnits(reader, { blocks: refs }, query)).events.length, 1);
});

t.test('a word that was counted when the segment was written is not looked for', async (t) => {
  const { refs } = JSON.parse(readFileSync(ROWS_FILE, 'utf8')) as Golden;
  const reader = await readerOf(new Uint8Array(readFileSync(SEGMENT_FILE)), refs[0].segment);
  const predicate = { type: 'words' as const, words: [[{ literal: 'number' }]] };
  const { total, stats } = run(totalUnits(reader, { blocks: refs }, { ...ALL, predicate }));
  t.equal(total, 5_600);
  t.match(stats, { blocksOpened: 0, blocksCounted: 1 });
});

t.test('a footer that is cut or damaged is corruption', async (t) => {
  const bytes = new Uint8Array(readFileSync(SEGMENT_FILE));
  const { refs } = JSON.parse(readFileSync(ROWS_FILE, 'utf8')) as Golden;
  const source = (content: Uint8Array) => ({
    bytes: () => content.length,
    read: (target: Uint8Array, position: number) => {
      const part = content.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
  });
  const whole = new SealedFile(source(bytes), refs[0].segment).footer();
  t.same(whole.blocks, refs);
  t.throws(() => new SealedFile(source(bytes), refs[0].segment + 1).footer(), EngineError);
  for (let cut = 1; cut < 400; cut++) {
    const file = new SealedFile(source(bytes.subarray(0, bytes.length - cut)), refs[0].segment);
    t.throws(() => file.footer(), { code: 'CORRUPTION' });
  }
  let noticed = 0;
  for (let back = 1; back < 600; back++) {
    const at = bytes.length - back;
    bytes[at] ^= 0xff;
    try {
      const footer = new SealedFile(source(bytes), refs[0].segment).footer();
      if (JSON.stringify(footer) !== JSON.stringify(whole)) t.fail(`byte ${at}`);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
      noticed++;
    }
    bytes[at] ^= 0xff;
  }
  t.ok(noticed > 300);
});
