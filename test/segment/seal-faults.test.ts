import t from 'tap';
import { BooleanBuilder } from '../../engine/column/booleans.ts';
import { DateBuilder } from '../../engine/column/dates.ts';
import { NumberBuilder } from '../../engine/column/numbers.ts';
import { BlockEncoder } from '../../engine/segment/block/block-encoder.ts';
import { EntryMerger } from '../../engine/segment/entry/entry-merger.ts';
import { Placement } from '../../engine/segment/seal/placement.ts';
import { selectedPlace } from '../../engine/segment/seal/segment-rows.ts';
import { StringValues } from '../../engine/segment/seal/string-values.ts';
import { TextSources } from '../../engine/segment/seal/text-sources.ts';
import type { TestRow } from './leaves.ts';
import { Shelf } from './shelf.ts';

const ROWS = 5_000;

/** Rows with values of all kinds, shared and own ones, and messages that are derived. */
function someRows(): TestRow[] {
  return Array.from({ length: ROWS }, (_, row): TestRow => {
    const timeMs = 1_700_000_000_000 + row * 7 - (row % 30 === 0 ? 500 : 0);
    const url = `/item/${(row * 7_919) % 900}?page=${row}`;
    const leaves: TestRow['leaves'] = [
      { names: ['custom', 'verb'], kind: 'string', text: ['GET', 'PUT', 'POST'][row % 3] },
      { names: ['custom', 'url'], kind: 'string', text: url },
      { names: ['custom', 'taken'], kind: 'number', text: (row / 100).toFixed(2) },
      { names: ['custom', 'flag'], kind: 'boolean', value: row % 5 === 1 },
      { names: ['custom', 'at'], kind: 'date', text: new Date(timeMs).toISOString() },
    ];
    if (row % 2 === 0)
      leaves.push({ names: ['custom', 'half'], kind: 'array', text: `[${row % 9}]` });
    const text = `${url} took ${(row / 100).toFixed(2)} s`;
    leaves.push({ names: ['message'], kind: 'string', text });
    return { timeMs, leaves };
  });
}

/** Exchanges two numbers of a list. */
function exchange(list: Uint32Array, left: number, right: number): void {
  [list[left], list[right]] = [list[right], list[left]];
}

/** Puts another method in the place of one, and gives what undoes that. */
function replaced<T extends object, K extends keyof T>(
  target: T,
  name: K,
  make: (right: T[K]) => T[K],
): () => void {
  const right = target[name];
  target[name] = make(right);
  return () => {
    target[name] = right;
  };
}

/** A column that is written, with one value of it changed before. */
const withValue = (change: (builder: object, from: number) => void): (() => void) =>
  replaced(BlockEncoder.prototype, 'writeColumn', (right) => {
    return function (this: BlockEncoder, builder, from, to) {
      change(builder, from);
      return right.call(this, builder, from, to);
    };
  });

const FAULTS: Record<string, () => () => void> = {
  'entries of a source are exchanged': () =>
    replaced(EntryMerger.prototype, 'take', (right) => {
      return function (this: EntryMerger, name, strings) {
        const map = right.call(this, name, strings)?.slice();
        if (map !== undefined && map.length > 2) exchange(map, 1, 2);
        return map;
      };
    }),
  'places of entries are exchanged': () =>
    replaced(EntryMerger.prototype, 'ranks', (right) => {
      return function (this: EntryMerger, counts) {
        const ranks = right.call(this, counts);
        if (ranks !== undefined && ranks.ids.length > 1) exchange(ranks.ids, 0, 1);
        return ranks;
      };
    }),
  'an id is that of another entry': () =>
    replaced(StringValues.prototype, 'intoIds', (right) => {
      return function (this: StringValues, ranks) {
        const ids = right.call(this, ranks);
        ids[77] = ids[77] === 1 ? 2 : 1;
        return ids;
      };
    }),
  'values of a column go to each others rows': () =>
    replaced(Placement.prototype, 'targets', (right) => {
      return function (this: Placement, source, rows) {
        const targets = right.call(this, source, rows).slice();
        exchange(targets, 10, 11);
        return targets;
      };
    }),
  'values of a block are taken in another order': () =>
    replaced(Placement.prototype, 'selections', (right) => {
      return function (this: Placement) {
        const selections = right.call(this);
        return selections.map((selection) => {
          const at = Uint32Array.from(selection.rows, (_, index) =>
            selectedPlace(selection, index),
          );
          if (at.length > 21) exchange(at, 20, 21);
          return { ...selection, at };
        });
      };
    }),
  'a byte of a text is another': () =>
    replaced(TextSources.prototype, 'read', (right) => {
      return function (this: TextSources, column, number) {
        const text = right.call(this, column, number);
        text.bytes[1_000] ^= 1;
        return text;
      };
    }),
  'an id of a block is another': () =>
    replaced(BlockEncoder.prototype, 'writeShared', (right) => {
      return function (this: BlockEncoder, column) {
        column.ids[5] = column.ids[5] === 1 ? 2 : 1;
        right.call(this, column);
      };
    }),
  'a message is made of another template': () =>
    replaced(BlockEncoder.prototype, 'writeDerived', (right) => {
      return function (this: BlockEncoder, column, text, derived) {
        derived.numbers[3] = derived.templates.length - 1;
        right.call(this, column, text, derived);
      };
    }),
  'a number is another': () =>
    withValue((builder, from) => {
      if (builder instanceof NumberBuilder) builder.values[from] += 1;
    }),
  'a number has other decimals': () =>
    withValue((builder, from) => {
      if (builder instanceof NumberBuilder) builder.details[from] += 1;
    }),
  'a date has another form': () =>
    withValue((builder, from) => {
      if (builder instanceof DateBuilder) builder.forms[from] ^= 4;
    }),
  'a boolean is the other': () =>
    withValue((builder, from) => {
      if (builder instanceof BooleanBuilder) builder.values[from] ^= 1;
    }),
};

async function shelfOf(): Promise<Shelf> {
  const shelf = new Shelf();
  await shelf.add(someRows(), 1, 7);
  return shelf;
}

for (const [what, begin] of Object.entries(FAULTS)) {
  t.test(`sealing finds its own fault when ${what}`, async (t) => {
    const shelf = await shelfOf();
    const undo = begin();
    try {
      await t.rejects(shelf.sealOnly(shelf.refs), { code: 'MISMATCH' });
    } finally {
      undo();
    }
    t.same(shelf.disk.list('sealed'), []);
    t.equal((await shelf.sealOnly(shelf.refs)).rowCount, ROWS);
  });
}
