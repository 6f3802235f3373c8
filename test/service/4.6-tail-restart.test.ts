import t from 'tap';
import { removeFolder, send, startService, temporaryFolder } from '../support/service.ts';
import { openTail } from '../support/tail-client.ts';

t.test('tails end with the service, and go on with the next one', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const before = await startService(folder);
  const { readKey, writeKey } = before;
  const tail = await openTail(before);
  t.equal((await send(before, '[{"n":0},{"n":1},{"n":2}]')).status, 200);
  await tail.until(() => tail.data().length === 3, 'the events');
  t.equal(await before.stop(), 0);
  await tail.until(() => tail.isOver, 'the end');
  t.same(tail.data('end'), [{ reason: 'stopping' }]);
  const after = { ...(await startService(folder)), readKey, writeKey };
  t.equal((await send(after, '[{"n":3},{"n":4}]')).status, 200);
  const next = await openTail(after, { last_event_id: tail.messages[0].id });
  await next.until(() => next.data().length >= 4, 'the rest');
  t.same(next.numbers(), [1, 2, 3, 4]);
  next.close();
  t.equal(await after.stop(), 0);
});
