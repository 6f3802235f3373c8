import { createSocket } from 'node:dgram';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { socketsIn } from '../../server/listen/kernel-sockets.ts';
import { BatchReader } from '../../server/listen/udp/batch-reader.ts';
import {
  type DatagramReader,
  type DatagramSink,
  SingleReader,
} from '../../server/listen/udp/datagram-reader.ts';
import { DatagramSocket } from '../../server/listen/udp/datagram-socket.ts';
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

t.test(
  'of datagrams that come together the first is an event, the others are read, in either form',
  async (t) => {
    const single = new SingleReader();
    const batch = must(await BatchReader.open(), 'recvmmsg');
    const lengths = [0, 1, 40_000, 65_000, 3, ...Array.from({ length: 300 }, (_, at) => at)];
    const texts = lengths.map((length, at) => `${at} ${'y'.repeat(length)}`);
    for (const host of ['127.0.0.1', '::1']) {
      for (const reader of [single, batch]) {
        const taken = await takenOf(host, reader, ['', ...texts]);
        t.same(
          taken.map(({ text }) => text),
          ['', ...texts],
        );
        t.equal(taken[0].address, host);
        t.ok(taken.some(({ address }) => address === undefined));
      }
    }
  },
);

t.test('a fault of the socket is told, and what comes behind it is taken', async (t) => {
  const faults: string[] = [];
  const broken: DatagramReader = {
    read(): number {
      throw new Error('broken');
    },
  };
  const taken = await takenOf('127.0.0.1', broken, ['one', 'two', 'three'], ({ message }) => {
    faults.push(message);
  });
  t.same(
    taken.map(({ text }) => text),
    ['one', 'two', 'three'],
  );
  t.same(faults, ['broken']);
});

t.test('a descriptor that is no socket is a fault in either form', async (t) => {
  const batch = must(await BatchReader.open(), 'recvmmsg');
  const sink = { take: () => t.fail('nothing is taken') };
  for (const reader of [new SingleReader(), batch]) {
    t.throws(() => reader.read(-1, sink, 1), { code: /^(EBADF|ERR_OUT_OF_RANGE)$/ });
  }
});

/** Datagram that was taken. */
interface Taken {
  text: string;
  address: string | undefined;
}

/** Sends datagrams to a socket after each other; what it takes. */
async function takenOf(
  host: string,
  reader: DatagramReader,
  texts: readonly string[],
  failed = (error: Error): void => {
    throw error;
  },
): Promise<Taken[]> {
  const taken: Taken[] = [];
  const sink: DatagramSink = {
    take: (bytes, start, end, address) => {
      taken.push({ text: bytes.toString('latin1', start, end), address });
    },
  };
  const datagrams = await DatagramSocket.bind({ host, port: 0 }, sink, failed, reader);
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  for (const text of texts) {
    await new Promise((sent) => socket.send(text, datagrams.port, host, sent));
  }
  while (taken.length < texts.length) await new Promise((resolve) => setImmediate(resolve));
  await datagrams.close();
  socket.close();
  return taken;
}
