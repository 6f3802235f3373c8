import fc from 'fast-check';
import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import { totalUnits } from '../../engine/query/events/total.ts';
import type { ListResult } from '../../engine/query/model/query.ts';
import { Reader } from '../../engine/query/reader.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import { naiveEvent, type TestLeaf, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { seededRandom } from '../support/memory-disk.ts';
import { Model, type ModelPattern, type ModelPredicate } from '../support/model.ts';
import { seedOf } from '../support/seed.ts';
import { run } from './blocks.ts';
import { Crew } from './crew.ts';

/** Searches of words in segments that are large enough to have an index of them. */

seedOf(t);

const ROWS = 8_000;
const PART = 2_000;
const EVER = { fromMs: -1e12, toMs: 1e12 };
const WORDS = ['Get', 'POST', 'cart', 'ÜBER', 'naïve', '日本', 'a_b', '\u212aelvin', 'ΟΔΟΣ', '7'];
const ADDRESSES = 4_000;

function addressOf(number: number): string {
  return `10.${number % 7}.${number % 200}.${Math.floor(number / 200)}, by the proxy ${number % 3}`;
}

/** A row whose message is its own, with an address of a dictionary and values that no index has. */
function rowOf(row: number, random: () => number): TestRow {
  const pick = (): string => WORDS[Math.floor(random() * WORDS.length)];
  const place = Math.floor(random() * ADDRESSES);
  const session = Math.floor(random() * 2 ** 32).toString(16);
  const text = `${pick()} /${pick()}/p${row % 97}?id=${row} ${pick()}-${pick()} ${session}`;
  const leaves: TestLeaf[] = [
    { names: ['custom', 'address'], kind: 'string', text: addressOf(place) },
    { names: ['custom', 'mixed'], kind: row % 2 === 0 ? 'number' : 'string', text: `${row}` },
    { names: ['custom', 'list'], kind: 'array', text: `["${pick()}",${row}]` },
    { names: ['custom', 'at'], kind: 'date', text: new Date(row * 10).toISOString() },
    { names: ['custom', 'ratio'], kind: 'number', text: `${row % 50}e-7` },
    { names: ['custom', 'short'], kind: 'string', text: `${pick()} ${row % 5}` },
  ];
  if (row % 3 !== 0) leaves.push({ names: ['message'], kind: 'string', text });
  return { timeMs: row * 10, leaves };
}

/** Two segments, one of them merged, and a block that is not sealed. */
async function filled(): Promise<{ shelf: Shelf; model: Model }> {
  const random = seededRandom(7);
  const shelf = new Shelf();
  const model = new Model();
  for (let from = 0; from < ROWS * 2 + PART; from += PART) {
    const rows = Array.from({ length: PART }, (_, index) => rowOf(from + index, random));
    await shelf.add(rows, 0, from);
    for (const [index, { timeMs, leaves }] of rows.entries()) {
      model.add({ timeMs, writer: 0, sequence: from + index, event: naiveEvent(leaves) });
    }
  }
  const logs = shelf.refs;
  const parts = ROWS / PART;
  await shelf.seal(logs.slice(0, 2));
  await shelf.seal([...shelf.refs.slice(-1), ...logs.slice(2, parts)]);
  await shelf.seal(logs.slice(parts, parts * 2));
  return { shelf, model };
}

const { shelf, model } = await filled();
const segments = [...new Set(shelf.refs.filter((ref) => ref.sealed).map((ref) => ref.segment))];

/** A list of all that is selected, by a reader that knows nothing yet unless it is given. */
function listed(
  predicate: ModelPredicate,
  reader = new Reader(shelf.disk, shelf.reader.secret),
): ListResult {
  const view = { event: false, columns: [] };
  const query = { ...EVER, predicate, order: 'asc' as const, limit: 100_000, ...view };
  return run(listUnits(reader, { blocks: shelf.refs }, query));
}

/** Compares a list and a total with the model's. */
function check(predicate: ModelPredicate): void {
  const wanted = model.selected(EVER.fromMs, EVER.toMs, predicate).map(({ timeMs }) => timeMs);
  for (const reader of [shelf.reader, new Reader(shelf.disk, shelf.reader.secret)]) {
    const found = listed(predicate, reader).events.map(({ timeMs }) => timeMs);
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      throw new Error(`${found.length} events, not ${wanted.length}`);
    }
  }
  const units = totalUnits(shelf.reader, { blocks: shelf.refs }, { ...EVER, predicate });
  const { total } = run(units);
  if (total !== wanted.length) throw new Error(`a total of ${total}, not ${wanted.length}`);
}

const plain = (word: string): ModelPattern => [{ literal: word.toLowerCase() }];
const row = fc.nat(ROWS * 2 + PART + 50);
const word = fc.oneof(
  fc.constantFrom(...WORDS, 'absent', 'nirgends', 'p', 'k', '1970', '01t00', '010z', '7e', 'e'),
  row.map(String),
  row.map((row) => `p${row % 97}`),
);
const pattern = fc.oneof(
  { weight: 5, arbitrary: word.map(plain) },
  {
    weight: 1,
    arbitrary: word.map((word): ModelPattern => [...plain(word.slice(0, 2)), { wildcard: '*' }]),
  },
);
const words = fc.record({
  type: fc.constant('words' as const),
  words: fc.array(pattern, { minLength: 1, maxLength: 3 }),
});
const paths = fc
  .constantFrom('message', 'custom.address', 'custom.mixed', 'custom.list', 'custom.short')
  .map((path) => [path]);
const text = fc.oneof(
  fc.nat(ADDRESSES + 20).map(addressOf),
  row.map(String),
  row.map((row) => `Get ${row % 5}`),
  fc.constantFrom('cart', '', '--'),
);
const match = fc.oneof(
  text.map((text) => ({ type: 'text' as const, text })),
  words,
);
const { predicate } = fc.letrec<{ predicate: ModelPredicate }>((tie) => ({
  predicate: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    words,
    fc.record({ type: fc.constant('value' as const), paths, match }),
    words.map((match) => ({ type: 'anywhere' as const, match })),
    fc.record({ type: fc.constant('not' as const), child: tie('predicate') }),
    fc.record({
      type: fc.constantFrom('and' as const, 'or' as const),
      children: fc.array(tie('predicate'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));

t.test('columns of many values have words, those of few and arrays have none', async (t) => {
  for (const segment of segments) {
    const file = shelf.disk.open(sealedPath(segment), 'read');
    const { words, columns } = new SealedFile(file, segment).footer();
    const numbers = ['custom.address', 'custom.mixed', 'message'].map((path) =>
      columns?.numberOf(path, 4),
    );
    t.same(new Set(words.map(({ column }) => column)), new Set(numbers));
  }
});

t.test('a search finds what the model finds', async () => {
  fc.assert(fc.property(predicate, check), { numRuns: 40 });
});

t.test('a search together with others finds the same', async () => {
  const next = fc.nat(2 ** 31);
  fc.assert(
    fc.property(words, next, (predicate, seed) => {
      const random = seededRandom(seed);
      const crew = new Crew(shelf, 2, (below) => Math.floor(random() * below));
      const query = { ...EVER, predicate, order: 'desc' as const, limit: 50 };
      const view = { event: false, columns: [] };
      const source = new Reader(shelf.disk, shelf.reader.secret);
      const snapshot = { blocks: shelf.refs };
      const alone = listUnits(source, snapshot, { ...query, ...view });
      const shared = crew.run(listUnits(source, snapshot, { ...query, ...view }, crew));
      if (JSON.stringify(shared.events) !== JSON.stringify(run(alone).events)) {
        throw new Error('another list');
      }
    }),
    { numRuns: 30 },
  );
});

t.test('blocks of segments without a word are not opened', async (t) => {
  const absent = listed({ type: 'words', words: [plain('nirgends')] });
  const sealedCount = shelf.refs.filter(({ sealed }) => sealed).length;
  t.match(absent.stats, { blocksRefuted: sealedCount, blocksOpened: 1 });
  const path = { paths: ['custom.address'] };
  const address = (text: string): ListResult =>
    listed({ type: 'value', ...path, match: { type: 'text', text } });
  t.match(address('10.1.2.3').stats, { blocksRefuted: sealedCount, blocksOpened: 1 });
  t.ok(address(addressOf(17)).events.length > 0);
  const phrase = listed({ type: 'words', words: [plain('get'), plain('nirgends')] });
  t.match(phrase.stats, { blocksRefuted: sealedCount, blocksOpened: 1 });
  const other = listed({
    type: 'not',
    child: { type: 'words', words: [plain('nirgends')] },
  });
  t.match(other.stats, { blocksRefuted: 0 });
  t.equal(other.events.length, model.events.length);
});

t.test('words that are damaged are not used, and nothing is partial', async (t) => {
  const asked: ModelPredicate = { type: 'words', words: [plain('17')] };
  const wanted = listed(asked);
  for (const segment of segments) {
    const path = sealedPath(segment);
    const whole = shelf.disk.content(path);
    const sealed = () => new SealedFile(shelf.disk.open(path, 'read'), segment);
    for (const place of sealed().footer().words) {
      const { offset, bytes } = place;
      sealed().words(place).verify();
      for (let at = offset; at < offset + bytes; at += 7_919) {
        shelf.disk.damage(path, (content) => content.fill(content[at] ^ 0x55, at, at + 1));
        const found = listed(asked);
        t.same(found.events, wanted.events);
        t.equal(found.stats.blocksDamaged, 0);
        t.throws(() => sealed().words(place).verify(), { code: 'CORRUPTION' });
        shelf.disk.damage(path, () => whole);
      }
    }
  }
});

t.test('rows with a frequent word are counted without a look at them', async (t) => {
  const sealedCount = shelf.refs.filter(({ sealed }) => sealed).length;
  const counted = (predicate: ModelPredicate) => {
    const source = new Reader(shelf.disk, shelf.reader.secret);
    const found = run(totalUnits(source, { blocks: shelf.refs }, { ...EVER, predicate }));
    t.equal(found.total, model.selected(EVER.fromMs, EVER.toMs, predicate).length);
    return found.stats;
  };
  for (const word of WORDS) {
    const stats = counted({ type: 'words', words: [plain(word)] });
    t.match(stats, { blocksOpened: 1, blocksCounted: sealedCount }, word);
  }
  const match = { type: 'words' as const, words: [plain('cart')] };
  const named = counted({ type: 'value', paths: ['message'], match });
  t.match(named, { blocksOpened: 1, blocksCounted: sealedCount });
  const phrase = counted({ type: 'words', words: [plain('get'), plain('cart')] });
  t.equal(phrase.blocksCounted, 0);
  const other = counted({ type: 'value', paths: ['custom.mixed'], match });
  t.equal(other.blocksCounted, 0);
});

t.test('a word of a dictionary counts all rows of the entries that have it', async (t) => {
  const small = new Shelf();
  const rows = Array.from({ length: 9_000 }, (_, row): TestRow => {
    const text = `${row % 3500 < 700 ? 'Put' : 'get'} the thing of number ${row % 3500}`;
    return { timeMs: row, leaves: [{ names: ['message'], kind: 'string', text }] };
  });
  await small.add(rows, 0, 0);
  await small.seal(small.refs);
  const predicate = { type: 'words' as const, words: [plain('put')] };
  const found = run(totalUnits(small.reader, { blocks: small.refs }, { ...EVER, predicate }));
  t.equal(found.total, 2_100);
  t.equal(found.stats.blocksCounted, 1);
  const [{ segment }] = small.refs;
  const { words } = new SealedFile(small.disk.open(sealedPath(segment), 'read'), segment).footer();
  t.equal(words.length, 1);
});

t.test('whichever byte of counted words is damaged, the count is right', async (t) => {
  const small = new Shelf();
  const rows = Array.from({ length: 4_000 }, (_, row): TestRow => {
    const digits = [...`${row}`].map((digit) => `n${digit}`);
    const text = `${row % 3 === 0 ? 'GET' : 'PUT'} ${digits.join(' ')}`;
    return { timeMs: row, leaves: [{ names: ['message'], kind: 'string', text }] };
  });
  await small.add(rows, 0, 0);
  await small.seal(small.refs);
  const [{ segment }] = small.refs;
  const path = sealedPath(segment);
  const whole = small.disk.content(path);
  const [place] = new SealedFile(small.disk.open(path, 'read'), segment).footer().words;
  const predicate = { type: 'words' as const, words: [plain('get')] };
  let countedCount = 0;
  for (let at = place.offset; at < place.offset + place.bytes; at++) {
    small.disk.damage(path, (content) => content.fill(content[at] ^ 0x55, at, at + 1));
    const reader = new Reader(small.disk, small.reader.secret);
    const { total, stats } = run(
      totalUnits(reader, { blocks: small.refs }, { ...EVER, predicate }),
    );
    if (total !== 1_334 || stats.blocksDamaged > 0) t.fail(`byte ${at}: ${total}`);
    countedCount += stats.blocksCounted;
    small.disk.damage(path, () => whole);
  }
  t.ok(countedCount < place.bytes / 2, `${countedCount} of ${place.bytes}`);
});
