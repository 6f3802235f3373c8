import t from 'tap';
import { encodeText } from '../../engine/query/filter/text.ts';
import { TupleTable } from '../../engine/query/value/tuple-table.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';

/** More than two pages of values, and of pairs. */
const COUNT = 20_000;

/** Long ones, so that pages do not take as much each, and an empty one. */
function textOf(number: number): string {
  return number === 9_000 ? '' : `${number}`.repeat(1 + (number % 7) * (number >> 12));
}

function numberOf(table: ValueTable, text: string): number {
  const bytes = encodeText(text);
  return table.string(bytes, 0, bytes.length);
}

t.test('values keep their numbers over all pages, and are told from others', async (t) => {
  const table = new ValueTable(7);
  for (let number = 0; number < COUNT; number++) {
    if (numberOf(table, textOf(number)) !== number) t.fail(`number ${number} is new`);
  }
  const copy = ValueTable.of(structuredClone(table.data));
  const other = new ValueTable(7);
  for (let number = COUNT - 1; number >= 0; number--) {
    const text = textOf(number);
    const key = { type: 'string', text };
    if (numberOf(table, text) !== number) t.fail(`number ${number} is known`);
    if (number % 97 === 0) t.same([table.key(number), copy.key(number)], [key, key]);
    if (other.take(copy, number) !== COUNT - 1 - number) t.fail(`number ${number} is taken`);
  }
  t.equal(table.hashes().length, COUNT);
  t.same(other.hashes().reverse(), table.hashes());
  table.freeze();
  t.equal(numberOf(table, 'another'), -1);
  t.equal(numberOf(table, textOf(8_192)), 8_192);
});

t.test('pairs keep their numbers over all pages, also read by another thread', async (t) => {
  const table = new TupleTable();
  const pairOf = (tuple: number): [number, number] => [tuple % 3, tuple >> 1];
  const numbers = new Map<string, number>();
  for (let tuple = 0; tuple < COUNT; tuple++) {
    const pair = pairOf(tuple);
    numbers.set(pair.join(), table.add(...pair));
  }
  const copy = TupleTable.of(structuredClone(table.data));
  const read = TupleTable.over(structuredClone(table.data));
  t.equal(table.count, numbers.size);
  for (let tuple = 0; tuple < COUNT; tuple++) {
    const pair = pairOf(tuple);
    const number = numbers.get(pair.join()) ?? -1;
    const found = [table.find(...pair), copy.find(...pair)];
    const back = [read.parent(number), read.value(number)];
    if (found.join() !== `${number},${number}` || back.join() !== pair.join()) t.fail(`${tuple}`);
  }
  t.equal(table.find(1, COUNT), -1);
});
