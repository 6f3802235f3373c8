import { createSocket } from 'node:dgram';
import t from 'tap';
import { socketsIn } from '../../server/listen/kernel-sockets.ts';
import { DATAGRAM_BYTES_MAX, DatagramSocket } from '../../server/listen/udp/datagram-socket.ts';
import { dropsOf, listenUdp } from '../../server/listen/udp/udp.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const KERNEL = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  392: 0100007F:2912 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 30733 2 0000000000000000 17
  393: 00000000:2912 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 30734 2 0000000000000000 4
  512: 00000000:0202 0100007F:2912 07 00000000:00000000 00:00000000 00000000     0        0 30735 2 0000000000000000 900
  913: 00000000000000000000000000000000:00A1 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 9 2 0 1
`;

t.test('what the kernel dropped is summed over the sockets of the port', async (t) => {
  t.equal(dropsOf(socketsIn(KERNEL, 0x2912)), 21);
  t.equal(dropsOf(socketsIn(KERNEL, 514)), 900);
  t.equal(dropsOf(socketsIn(KERNEL, 0xa1)), 1);
  t.equal(dropsOf(socketsIn(KERNEL, 0x912)), undefined, 'no socket of it is there');
  t.equal(dropsOf(socketsIn('', 514)), undefined);
});

t.test('datagrams for which there is no room are dropped and counted', async (t) => {
  const intake = new FakeIntake(6);
  const failed = (error: Error): void => {
    throw error;
  };
  const listener = await listenUdp({ setting: 'udp', host: '127.0.0.1', port: 0, intake, failed });
  const socket = createSocket('udp4');
  const send = (text: string): Promise<void> =>
    new Promise((resolve, reject) =>
      socket.send(text, listener.port, '127.0.0.1', (error) => (error ? reject(error) : resolve())),
    );
  const { counts } = listener;
  const sentOne = async (text: string): Promise<void> => {
    const before = counts.datagrams;
    await send(text);
    while (counts.datagrams === before) await new Promise((resolve) => setImmediate(resolve));
  };
  const text = `key ${'x'.repeat(40_000)}`;
  let sentCount = 0;
  while (counts.datagramsDropped === 0 && sentCount < 1_000) {
    await sentOne(text);
    sentCount++;
  }
  t.equal(counts.datagramsDropped, 1);
  await sentOne(text);
  t.match(counts, { datagrams: sentCount + 1, datagramsDropped: 2 });
  intake.settle();
  const lineCount = (): number => intake.texts.join('').split('\n').length - 1;
  await intake.until(() => lineCount() === sentCount - 1);
  intake.settle();
  await sentOne('key later');
  await intake.until(() => intake.texts.at(-1) === 'key later\n');
  t.equal(lineCount(), sentCount, 'all others are taken, whole');
  t.match(counts, { datagramsDropped: 2 }, 'there is room again');
  t.equal(typeof listener.kernelDropCount(), 'number');
  socket.close();
  await listener.close();
});

t.test(
  'lines are handed over together, those of a datagram as such, and the last at the close',
  async (t) => {
    const intake = new FakeIntake(6);
    const failed = (error: Error): void => {
      throw error;
    };
    const listener = await listenUdp({
      setting: 'udp',
      host: '127.0.0.1',
      port: 0,
      intake,
      failed,
    });
    const socket = createSocket('udp4');
    for (const text of ['key one\n', '\r\n', 'key two\nthree\r\n', 'key four']) {
      socket.send(text, listener.port, '127.0.0.1');
    }
    while (listener.counts.datagrams < 4) await new Promise((resolve) => setImmediate(resolve));
    socket.close();
    await listener.close();
    const given = 'key one\nkey two\nthree\nkey four\n';
    await intake.until(() => intake.texts.join('') === given);
    t.match(intake.tasks, [{ spans: [{ form: 'datagram', start: 8, end: 21 }] }]);
  },
);

t.test('of datagrams that come together the first is an event, the others are read', async (t) => {
  const texts = [0, 1, 40_000, 65_000, 3].map((length, at) => `${at} ${'y'.repeat(length)}`);
  const bytes = Buffer.alloc(4 * DATAGRAM_BYTES_MAX);
  const taken: { length: number; address: string | undefined }[] = [];
  const sink = {
    bytes,
    start: 0,
    take(length: number, address?: string): void {
      taken.push({ length, address });
      sink.start += length;
    },
  };
  const failed = (error: Error): void => {
    t.fail(error.message);
  };
  const datagrams = await DatagramSocket.bind({ host: '127.0.0.1', port: 0 }, sink, failed);
  const { port } = datagrams;
  const socket = createSocket('udp4');
  for (const text of texts) {
    await new Promise((sent) => socket.send(text, port, '127.0.0.1', sent));
  }
  while (taken.length < texts.length) await new Promise((resolve) => setImmediate(resolve));
  await datagrams.close();
  socket.close();
  t.equal(bytes.toString('latin1', 0, sink.start), texts.join(''));
  t.equal(taken[0].address, '127.0.0.1');
  t.ok(taken.some(({ address }) => address === undefined));
});
