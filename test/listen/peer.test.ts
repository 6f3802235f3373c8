import t from 'tap';
import { connectionLimits } from '../../server/listen/descriptors.ts';
import { peerOf } from '../../server/listen/peer.ts';

t.test('a peer is an IPv4 address or the network of an IPv6 address', async (t) => {
  t.equal(peerOf('192.0.2.7'), '192.0.2.7');
  t.equal(peerOf('::ffff:192.0.2.7'), '192.0.2.7');
  t.equal(peerOf('2001:db8:1:2::7'), '2001:db8:1:2');
  t.equal(peerOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
  t.equal(peerOf('2001:db8::7'), '2001:db8:0:0');
  t.equal(peerOf('::3:4:5:6:7'), '0:0:0:3');
  t.equal(peerOf('::1'), '0:0:0:0');
  t.equal(peerOf('fe80::7%eth0'), 'fe80:0:0:0');
});

t.test('connections leave descriptors to files, and those for lines some to HTTP', async (t) => {
  for (const descriptors of [512, 1_024, 20_000, 1_048_576]) {
    const { lines, http } = connectionLimits(descriptors, 3);
    t.ok(lines + 3 * http <= descriptors - Math.max(128, descriptors / 4), `${descriptors}`);
    t.ok(lines >= 8 && http >= 8, `${lines} and ${http} of ${descriptors}`);
  }
  t.same(connectionLimits(20_000, 2), { lines: 12_000, http: 1_500 });
});
