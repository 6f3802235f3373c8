import t from 'tap';
import { Acknowledger } from '../../server/ingest/acknowledge.ts';
import type { FromIngest, TaskOutcome } from '../../server/ingest/protocol.ts';

function outcome(task: number): TaskOutcome {
  return { task, status: 200, message: '', events: 1, linesDropped: 0, usage: [] };
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
    { type: 'report', own: [['tcp', { task: 7 }]], outcomes: [], asks: true },
    { type: 'report', own: [], outcomes: [{ task: 8 }], asks: false },
    { type: 'report', own: [], outcomes: [], asks: true },
  ]);
  t.equal(posted.length, 3);
  t.same(resumed, []);
  acknowledger.visible();
  t.same(resumed, ['first', 'beside it']);
  acknowledger.visible();
  t.same(resumed, ['first', 'beside it', 'later']);
});

t.test('a small slot is freed with the end of its task', async (t) => {
  const posted: FromIngest[] = [];
  const acknowledger = new Acknowledger((message) => posted.push(message));
  acknowledger.free(1, 65_535);
  acknowledger.flush();
  t.same(posted, []);
  acknowledger.free(2, 65_536);
  acknowledger.flush();
  t.match(posted, [{ freed: [2], asks: false }]);
});
