import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import type { ValueTest } from '../../engine/query/filter/match.ts';
import { planOf } from '../../engine/query/filter/plan.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { allRows, hasRow } from '../../engine/query/model/bitmap.ts';
import type { Predicate, ValueMatch } from '../../engine/query/model/predicate.ts';
import { columnsAt, rowsWhere } from '../../engine/query/scan/scan.ts';
import { type Block, openBlock } from '../../engine/segment/block/block.ts';
import type { TestRow } from '../segment/leaves.ts';
import { seededRandom } from '../support/memory-disk.ts';
import { seedOf } from '../support/seed.ts';
import { Blocks } from './blocks.ts';

/** Texts of log blocks, which a kernel searches as they are stored, pass as they do one by one. */

seedOf(t);
t.teardown(() => useKernels('fast'));

const PARTS = [
  'GET',
  'get',
  '286',
  '/cart/',
  '-',
  ' ',
  'x286',
  '\u00e9',
  '\u0130a',
  '\u212a',
  'k_',
];
const any = { wildcard: '*' as const };
const MATCHES: readonly ValueMatch[] = [
  { type: 'words', words: [[{ literal: '286' }]] },
  { type: 'words', words: [[{ literal: 'k' }]] },
  { type: 'words', words: [[{ literal: 'get' }], [{ literal: '286' }]] },
  { type: 'words', words: [[{ literal: '28' }, any]] },
  { type: 'words', words: [[any, { literal: 'ge' }, any]] },
  { type: 'pattern', pattern: [any, { literal: 'cart' }, any], ignoresCase: true },
  { type: 'pattern', pattern: [any, { literal: 'GET' }, any] },
  { type: 'pattern', pattern: [{ literal: 'GET' }, any, { literal: '286' }], ignoresCase: true },
  { type: 'regex', source: '.*[a-t]{3} ?[0-9]+.*[13579]' },
  { type: 'regex', source: '(?i)get.*/cart/.*' },
  { type: 'regex', source: '.*\\bcart\\b.*' },
];

/** Texts of so many parts, behind each of which is a number of the row; some have many more bytes. */
function textsOf(count: number, most: number, long: number): string[] {
  const random = seededRandom(fc.readConfigureGlobal().seed ?? 1);
  return Array.from({ length: count }, (_, row) => {
    const parts = Array.from({ length: Math.floor(random() * most) }, () => {
      const part = PARTS[Math.floor(random() * PARTS.length)];
      return random() < 0.5 ? part : `${part}${row * 7}`;
    });
    return `${parts.join('')}${row % 1_000 < 2 ? '' : ` ${row}`}${'GET '.repeat(row % 8 === 0 ? long : 0)}`;
  });
}

/** A log block of messages, its bytes, and how often some of them were read. */
interface Opened {
  block: Block;
  bytes: Uint8Array;
  readCount: () => number;
}

function opened(texts: readonly string[]): Opened {
  const blocks = new Blocks();
  const rows = texts.map(
    (text, row): TestRow => ({
      timeMs: 1_000 + row,
      leaves: [{ names: ['message'], kind: 'string', text }],
    }),
  );
  const ref = blocks.encode(rows, 0, 0);
  const bytes = blocks.bytes(ref);
  let readCount = 0;
  const read = (target: Uint8Array, position: number): number => {
    readCount++;
    target.set(bytes.subarray(position, position + target.length));
    return target.length;
  };
  return { block: openBlock({ read }, ref), bytes, readCount: () => readCount };
}

function testOf(predicate: Predicate): ValueTest {
  const plan = planOf(predicate);
  if (plan.type !== 'value') throw new Error(plan.type);
  return plan.test;
}

/** Rows that pass, and those whose texts pass one by one. */
function bothOf(block: Block, texts: readonly string[], match: ValueMatch): number[][] {
  const predicate: Predicate = { type: 'value', paths: ['message'], match };
  const found = finished(rowsWhere(planOf(predicate), block, allRows(texts.length)));
  const test = testOf(predicate);
  const passes = (text: string): boolean => {
    const bytes = encodeText(text);
    return test.text(bytes, 0, bytes.length);
  };
  const rows = [...texts.keys()];
  return [rows.filter((row) => hasRow(found, row)), rows.filter((row) => passes(texts[row]))];
}

for (const [name, count, most, long] of [
  ['short', 2_600, 6, 0],
  ['long', 1_100, 6, 3_000],
  ['equally long', 1_500, 1, 0],
] as const) {
  t.test(`texts that are ${name} pass in all forms`, async (t) => {
    const texts = textsOf(count, most, long);
    const { block } = opened(texts);
    const [index] = columnsAt(block, 'message');
    const column = block.column(index);
    t.ok('storedPieces' in column && column.storedPieces !== undefined);
    let foundCount = 0;
    for (const form of ['checked', 'fast', 'off'] as const) {
      useKernels(form);
      for (const match of MATCHES) {
        const [found, wanted] = bothOf(block, texts, match);
        t.same(found, wanted, `${form} ${JSON.stringify(match)}`);
        foundCount += found.length;
      }
    }
    t.ok(most === 1 || foundCount > count);
  });
}

t.test('pieces that are stored one behind the other are read together', async (t) => {
  useKernels('checked');
  const texts = textsOf(5_000, 6, 0);
  const one = opened(texts);
  bothOf(one.block, texts, MATCHES[5]);
  const before = one.readCount();
  bothOf(one.block, texts, MATCHES[5]);
  t.equal(one.readCount() - before, 1);
});

t.test('a piece that is damaged is told', async (t) => {
  useKernels('checked');
  const texts = textsOf(2_600, 6, 0);
  const { block, bytes } = opened(texts);
  bytes[bytes.length - 200] ^= 4;
  t.throws(() => bothOf(block, texts, MATCHES[5]), { code: 'CORRUPTION' });
});
