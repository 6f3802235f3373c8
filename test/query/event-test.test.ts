import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { EventTest } from '../../engine/query/filter/event-test.ts';
import { planOf } from '../../engine/query/filter/plan.ts';
import { hasRow, noRows } from '../../engine/query/model/bitmap.ts';
import { rowsWhere } from '../../engine/query/scan/scan.ts';
import { noDecodeCounters } from '../../server/decode/counters.ts';
import { Draft } from '../../server/extend/draft.ts';
import { addRow, naiveEvent, type TestRow } from '../segment/leaves.ts';
import { holds, type ModelPredicate, parseNode } from '../support/model.ts';
import { Blocks } from './blocks.ts';
import { predicate, testRow } from './events.ts';

/** True when the predicate holds for each row, asked of them one by one as they are added. */
function tested(rows: readonly TestRow[], asked: ModelPredicate): boolean[] {
  const paths = new PathTable();
  const records = new Rows();
  const draft = new Draft(paths, records, noDecodeCounters());
  const test = new EventTest(asked);
  records.reset(new Uint8Array(0), 0);
  return rows.map((row) => {
    addRow(records, paths, row);
    draft.begin();
    return test.holds(draft.values);
  });
}

/** The same by a scan of their block. */
function scanned(rows: TestRow[], asked: ModelPredicate): boolean[] {
  const blocks = new Blocks();
  const block = blocks.open(blocks.encode(rows, 0, 0));
  const all = noRows(rows.length);
  for (let row = 0; row < rows.length; row++) all[row >>> 5] |= 1 << (row & 31);
  const found = finished(rowsWhere(planOf(asked), block, all));
  return rows.map((_, row) => hasRow(found, row));
}

t.test('a predicate means the same of an event alone as in a scan and in the model', async () => {
  fc.assert(
    fc.property(fc.array(testRow, { minLength: 1, maxLength: 30 }), predicate, (rows, asked) => {
      const alone = tested(rows, asked);
      const inBlock = scanned(rows, asked);
      for (const [row, { leaves }] of rows.entries()) {
        const event = naiveEvent(leaves);
        const expected = holds(asked, parseNode(event));
        if (alone[row] !== expected) throw new Error(`${alone[row]} of ${event}`);
        if (inBlock[row] !== expected) throw new Error(`${inBlock[row]} in the block of ${event}`);
      }
    }),
    { numRuns: 400 },
  );
});
