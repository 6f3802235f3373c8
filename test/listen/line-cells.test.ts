import t from 'tap';
import { LineCells } from '../../server/listen/line-cells.ts';
import { claimPort, type LinesOptions, listenTcp } from '../../server/listen/tcp.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const MEGABYTE = 1_048_576;
const HOST = '127.0.0.1';

t.test('each worker holds its part, a peer its share of all, and a dead one nothing', async (t) => {
  const cells = LineCells.for(2);
  const there = new LineCells(cells.shared);
  const [first, second] = [cells.meter(0, 'tcp'), there.meter(1, 'tls')];
  const [one, other] = [first.placeOf('192.0.2.1'), first.placeOf('192.0.2.2')];
  t.equal(second.placeOf('::ffff:192.0.2.1'), one, 'all threads know its place');
  first.hold(one, 10 * MEGABYTE);
  second.hold(one, 6 * MEGABYTE);
  t.notOk(first.holdsMuchOf(one) || second.holdsMuchOf(one));
  second.hold(one, 1);
  t.ok(first.holdsMuchOf(one) && second.holdsMuchOf(one));
  t.notOk(first.holdsMuchOf(other));
  second.hold(other, 26 * MEGABYTE);
  t.ok(second.holdsMuch);
  t.notOk(first.holdsMuch);
  cells.lose(1);
  t.notOk(second.holdsMuch || first.holdsMuchOf(one));
});

t.test('open connections of a dead worker are lost, those of others stay', async (t) => {
  const cells = LineCells.for(2);
  const [dead, other] = [cells.meter(0, 'tcp'), cells.meter(1, 'tcp')];
  for (const meter of [dead, dead, dead, other]) meter.opened();
  dead.closed();
  // As the worker tells by itself, when it still can.
  dead.lost(1);
  cells.lose(0);
  other.refused();
  const counts = { connections: 4, connectionsOpen: 1, connectionsRefused: 1, connectionsLost: 2 };
  t.same(cells.counts('tcp'), counts);
  t.match(cells.counts('tls'), { connections: 0, connectionsLost: 0 });
  dead.opened();
  t.match(cells.counts('tcp'), { connections: 5, connectionsOpen: 2 }, 'its next life goes on');
});

t.test('listeners share a port that nobody else has', async (t) => {
  const claim = await claimPort('tcp', { host: HOST, port: 0 });
  const { port } = claim;
  const refusal = {
    code: 'USAGE',
    message: `tcp is ${HOST}:${port}, which cannot be listened on: this process itself listens there (EADDRINUSE); --tcp or LOGSEAM_TCP sets another address`,
  };
  await t.rejects(claimPort('tcp', { host: HOST, port }), refusal, 'another has it');
  const options: LinesOptions = {
    setting: 'tcp',
    ...{ host: HOST, port, sink: new FakeIntake(1).sink, meter: LineCells.for(1).meter(0, 'tcp') },
    failed: (error) => t.fail(error.message),
  };
  await t.rejects(listenTcp(options), refusal, 'nobody listens before it is released');
  await claim.release();
  const listeners = [await listenTcp(options), await listenTcp(options)];
  await t.rejects(claimPort('tcp', { host: HOST, port }), refusal, 'others have it');
  await Promise.all(listeners.map((listener) => listener.close(0)));
});
