import t from 'tap';
import type { CommittedGroup } from '../../engine/engine.ts';
import { Acknowledger } from '../../server/ingest/acknowledge.ts';
import {
  type FromIngest,
  groupOf,
  plainGroup,
  type TaskOutcome,
} from '../../server/ingest/protocol.ts';

function outcome(task: number): TaskOutcome {
  return { task, status: 200, message: '', events: 1, linesDropped: 0, usage: [] };
}

function group(number: number): CommittedGroup {
  const claim = { first: 0, end: 0 };
  return { segment: 1, group: number, bytes: 0, claim, blocks: [], superseded: [], usage: [] };
}

t.test('who asks goes on when the report that asks for it was taken', async (t) => {
  const posted: FromIngest[] = [];
  const acknowledger = new Acknowledger((message) => posted.push(message));
  const resumed: string[] = [];
  acknowledger.count('tcp', outcome(7));
  acknowledger.whenVisible(() => resumed.push('first'));
  acknowledger.whenVisible(() => resumed.push('beside it'));
  acknowledger.flush();
  acknowledger.done(outcome(8));
  acknowledger.flush();
  acknowledger.whenVisible(() => resumed.push('later'));
  acknowledger.flush();
  acknowledger.flush();
  t.match(posted, [
    { type: 'report', rest: { own: [['tcp', { task: 7 }]], outcomes: [], asks: true } },
    { type: 'report', rest: { own: [], outcomes: [{ task: 8 }], asks: false } },
    { type: 'report', rest: { own: [], outcomes: [], asks: true } },
  ]);
  t.equal(posted.length, 3);
  t.same(resumed, []);
  acknowledger.visible();
  t.same(resumed, ['first', 'beside it']);
  acknowledger.visible();
  t.same(resumed, ['first', 'beside it', 'later']);
});

t.test('a group is told with the tasks that it ends, and before the next one', async (t) => {
  const posted: FromIngest[] = [];
  const acknowledger = new Acknowledger((message) => posted.push(message));
  acknowledger.committed(group(1));
  acknowledger.done(outcome(7));
  t.same(posted, []);
  acknowledger.committed(group(2));
  acknowledger.done(outcome(8));
  acknowledger.flush();
  acknowledger.flush();
  t.match(posted, [
    { group: plainGroup(group(1)), rest: { outcomes: [{ task: 7 }] } },
    { group: plainGroup(group(2)), rest: { outcomes: [{ task: 8 }] } },
  ]);
  t.equal(posted.length, 2);
});

t.test('a small slot is freed with the end of its task', async (t) => {
  const posted: FromIngest[] = [];
  const acknowledger = new Acknowledger((message) => posted.push(message));
  acknowledger.free(1, 65_535);
  acknowledger.flush();
  t.same(posted, []);
  acknowledger.free(2, 65_536);
  acknowledger.flush();
  t.match(posted, [{ rest: { freed: [2], asks: false } }]);
});

t.test('a group is the same behind its plain form', async (t) => {
  const block = (ordinal: number): CommittedGroup['blocks'][number] => ({
    ...{ sealed: false, segment: 9, writer: 3, offset: 2 ** 33 + ordinal, bytes: 4_096, ordinal },
    ...{ rowCount: 65_536, firstSequence: 2 ** 40, endSequence: 2 ** 40 + 65_536 },
    ...{ minTimeMs: -8.64e15, maxTimeMs: 0.5 },
  });
  const usage = (key: string) => ({ key, day: 20_000, bytes: 2 ** 50, events: 8 });
  const groups: CommittedGroup[] = [
    group(1),
    {
      ...{ segment: 9, group: 2, bytes: 2 ** 34, claim: { first: 2 ** 40, end: 2 ** 40 + 65_536 } },
      ...{ blocks: [block(1), block(2)], superseded: [7, 6, 5], usage: [usage('a'), usage('')] },
    },
    { ...group(3), superseded: [1] },
    { ...group(4), usage: [usage('b')] },
  ];
  for (const one of groups) t.same(groupOf(structuredClone(plainGroup(one))), one);
});
