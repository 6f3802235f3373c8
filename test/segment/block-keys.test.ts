import t from 'tap';
import type { TestRow } from './leaves.ts';
import { Shelf } from './shelf.ts';

const ROWS = 1_000;

/** Rows whose times step forth and back. */
function rowsFrom(startMs: number): TestRow[] {
  return Array.from({ length: ROWS }, (_, row) => ({
    timeMs: startMs + row * 7 - (row % 5) * 20,
    leaves: [{ names: ['message'], kind: 'string', text: `row ${row}` }],
  }));
}

t.test('keys of rows are the same one by one and all together', async (t) => {
  for (const writers of [[0], [0, 1]]) {
    for (const isSealed of [false, true]) {
      const shelf = new Shelf();
      for (const writer of writers) await shelf.add(rowsFrom(writer * 3), writer, 2 ** 33);
      if (isSealed) await shelf.seal(shelf.refs);
      for (const ref of shelf.refs) {
        const all = shelf.reader.open(ref);
        const times = all.timeMs();
        const received = all.receivedMs();
        const { writers: writer, sequences } = all.keys();
        for (const count of [1, ROWS]) {
          shelf.reader.forget([ref.segment]);
          const keys = shelf.reader.open(ref).keysOf(count);
          for (let row = ref.rowCount - 1; row >= 0; row -= 3) {
            const found = [keys.timeAt(row), keys.receivedAt(row)];
            found.push(keys.writerAt(row), keys.sequenceAt(row));
            const wanted = [times[row], received[row], writer[row], sequences[row]];
            if (found.join() !== wanted.join()) t.same(found, wanted, `row ${row}`);
          }
        }
      }
      t.pass(`${writers.length} writers, ${isSealed ? 'sealed' : 'not sealed'}`);
    }
  }
});
