import t from 'tap';
import { connectionLimits, queryFiles } from '../../server/listen/descriptors.ts';
import { socketsIn } from '../../server/listen/kernel-sockets.ts';
import { countsByPeer, peerOf } from '../../server/listen/peer.ts';

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
    const queried = 8 * queryFiles(descriptors, 8);
    t.ok(queried <= Math.max(128, descriptors / 4) / 2, `${queried} of ${descriptors}`);
    t.ok(lines >= 8 && http >= 8, `${lines} and ${http} of ${descriptors}`);
  }
  t.same(connectionLimits(20_000, 2), { lines: 12_000, http: 1_500 });
});

t.test('the connections of a port are counted by peer as the kernel tells them', async (t) => {
  const text = `  sl  local_address rem_address   st
   0: 0100007F:1F90 00000000:0000 0A
   1: 0100007F:1F90 070200C0:C350 01
   2: 0100007F:1F90 070200C0:C351 08
   3: 0100007F:1F90 070200C0:C352 06
   4: 0100007F:1F91 070200C0:C353 01
  sl  local_address                         remote_address                        st
   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF0000070200C0:C354 01
   1: 00000000000000000000000001000000:1F90 B80D0120020001000000000007000000:C355 01
`;
  t.same(
    countsByPeer(socketsIn(text, 8_080)),
    new Map([
      ['192.0.2.7', 3],
      ['2001:db8:1:2', 1],
    ]),
  );
});
