import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { planOf } from '../../engine/query/filter/plan.ts';
import { allRows, type Bitmap, countRows } from '../../engine/query/model/bitmap.ts';
import type { Pattern, Predicate } from '../../engine/query/model/predicate.ts';
import { rowsThatPass } from '../../engine/query/scan/column-rows.ts';
import { columnsAt, rowsWhere } from '../../engine/query/scan/scan.ts';
import type { Block } from '../../engine/segment/block/block.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { seededRandom } from '../support/memory-disk.ts';
import { seedOf } from '../support/seed.ts';

/** Searches in derived messages, which are not made for that, find what searches in the made ones find. */

seedOf(t);
const ROUNDS = 6;
const NEEDLES = 20;
const TEXTS = [
  'GET',
  'cart',
  '/a/b?c=1',
  'x-y',
  '',
  'É naïve',
  '\u212aelvin',
  'ΟΔΟΣ',
  '日本 7',
  'aab',
];
const LITERALS = [' ', '=', ' took ', '"', 'é', 'ab', '/', ' 286 ', '\u0130', '. GET'];

type Random = () => number;

function pickOf<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)];
}

/** Rows with messages in some forms, of values of the row and of something that is theirs alone. */
function rowsOf(random: Random, count: number): TestRow[] {
  const parts = (count: number): (number | string)[] =>
    Array.from({ length: Math.floor(random() * count) }, () =>
      random() < 0.5 ? Math.floor(random() * 5) : pickOf(random, LITERALS),
    );
  const forms = Array.from({ length: 3 }, () => [...parts(4), ' at ', 1, ...parts(4)]);
  const isOdd = random() < 0.5;
  return Array.from({ length: count }, (_, row): TestRow => {
    const values = [
      pickOf(random, TEXTS),
      `/${pickOf(random, TEXTS)}/${Math.floor(random() * 2 ** 50).toString(36)}`,
      pickOf(random, [
        '1e-3',
        '286',
        '0.286',
        '-286',
        '50',
        '0',
        `${row}`,
        (row / 1_000).toFixed(3),
      ]),
      pickOf(random, ['POST', 'cart']),
    ];
    const leaves = values.map(
      (text, at): TestLeaf => ({
        names: ['custom', 'abcd'[at]],
        kind: at === 2 ? 'number' : 'string',
        text,
      }),
    );
    const own = `${pickOf(random, TEXTS)}${Math.floor(random() * 90)}`;
    const made = pickOf(random, forms).map((part) =>
      typeof part === 'string' ? part : (values[part] ?? own),
    );
    const text = row % 211 === 3 ? `restarted ${row} \ud800` : made.join('');
    if (!isOdd || row % 23 !== 5) leaves.push({ names: ['message'], kind: 'string', text });
    return { timeMs: 1_000 + row, leaves };
  });
}

function textOf(leaves: readonly TestLeaf[]): string {
  const last = leaves.at(-1);
  return last?.kind === 'string' ? last.text : '';
}

/** Something of a text, about as long as a word. */
function sliceOf(random: Random, text: string): string {
  const points = [...text];
  const from = Math.floor(random() * points.length);
  return points.slice(from, from + 1 + Math.floor(random() * 6)).join('');
}

/** A word with wildcards, of letters of a slice; `undefined` when it has none. */
function wordOf(random: Random, slice: string): Pattern | undefined {
  const [word] = slice.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/u) ?? [];
  if (word === undefined) return undefined;
  const any = { wildcard: '*' as const };
  return pickOf<Pattern>(random, [
    [{ literal: word }],
    [any, { literal: word }, any],
    [{ literal: word }, any],
    [any, { literal: word[0] }, any, { literal: word.slice(-1) }],
    [{ wildcard: '?' }, { literal: word.slice(1) }],
  ]);
}

function predicatesOf(random: Random, text: string): Predicate[] {
  const paths = ['message'];
  const slices = [sliceOf(random, text), sliceOf(random, text)];
  const words = slices.flatMap((slice) => {
    const word = wordOf(random, slice);
    return word === undefined ? [] : [word];
  });
  const any = { wildcard: '*' as const };
  const pattern = [any, { literal: slices[0] }, any];
  const longer = [any, { literal: slices[0] }, any, { literal: slices[1] }];
  const escaped = slices[0].replace(/[^\p{L}\p{N}]/gu, '.');
  const predicates: Predicate[] = [
    { type: 'value', paths, match: { type: 'pattern', pattern } },
    { type: 'value', paths, match: { type: 'pattern', pattern, ignoresCase: true } },
    { type: 'value', paths, match: { type: 'pattern', pattern: longer } },
    { type: 'value', paths, match: { type: 'regex', source: `.*${escaped}.*` } },
    { type: 'value', paths, match: { type: 'text', text } },
  ];
  if (words.length === 0) return predicates;
  const match = { type: 'words' as const, words };
  return [
    ...predicates,
    { type: 'words', words },
    { type: 'words', words: words.slice(0, 1) },
    { type: 'value', paths, match },
  ];
}

/** Some rows of a block: all, few, or a stretch. */
function someRows(random: Random, rowCount: number): Bitmap {
  const rows = allRows(rowCount);
  const kind = random();
  if (kind < 0.5) return rows;
  return rows.map((word, at) => (kind < 0.75 ? word & (1 << at) : at < 40 ? word : 0));
}

/** The rows that pass by texts that are made, without a kernel. */
function madeRows(block: Block, predicate: Predicate, rows: Bitmap): Bitmap {
  block.deriveBy(undefined);
  const plan = planOf(predicate);
  if (plan.type !== 'words' && plan.type !== 'value') throw new Error(plan.type);
  const [index] = columnsAt(block, 'message');
  return finished(rowsThatPass(block.column(index), plan.test, rows));
}

t.test('searches in derived messages find the rows that their texts say', async (t) => {
  const random = seededRandom(fc.readConfigureGlobal().seed ?? 1);
  let derivedCount = 0;
  let foundCount = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const shelf = new Shelf();
    const rows = rowsOf(random, 3_300);
    await shelf.add(rows, 1, 0);
    await shelf.seal(shelf.refs);
    for (const ref of shelf.refs) {
      const block = shelf.reader.open(ref);
      const [index] = columnsAt(block, 'message');
      if (block.derived(index) === undefined) continue;
      derivedCount++;
      for (let needle = 0; needle < NEEDLES; needle++) {
        const { leaves } = pickOf(random, rows);
        const text = textOf(leaves);
        for (const predicate of predicatesOf(random, text)) {
          const among = someRows(random, block.rowCount);
          const found = finished(rowsWhere(planOf(predicate), block, among));
          const wanted = madeRows(block, predicate, among);
          if (Buffer.compare(Buffer.from(found.buffer), Buffer.from(wanted.buffer)) !== 0) {
            const counts = `${countRows(found)}, not ${countRows(wanted)}`;
            t.fail(`${counts}: ${JSON.stringify(predicate)} in round ${round}`);
          }
          foundCount += countRows(found);
        }
      }
    }
  }
  t.ok(derivedCount >= ROUNDS / 2, `${derivedCount} blocks are derived`);
  t.ok(foundCount > 1_000, `${foundCount} rows are found`);
});
