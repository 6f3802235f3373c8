import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import t from 'tap';
import { listAll, removeFolder, startService, temporaryFolder } from '../support/service.ts';

/**
 * npm's `winston-logmatic` against the service. The client speaks TLS only, so a TLS end that passes bytes on to the
 * TCP port stands between them.
 */

interface Winston {
  Logger: new (options: {
    transports: object[];
  }) => {
    info(message: string, meta?: object): void;
    error(message: string, meta?: object): void;
  };
}
type Transport = new (options: object) => { logmatic: { socket: TLSSocket; end(): void } };

const require = createRequire(import.meta.url);
const winston: Winston = require('winston');
const LogmaticTransport: Transport = require('winston-logmatic');
const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../fixture/${name}`, import.meta.url));

const folder = temporaryFolder();
const service = await startService(folder);
const terminator = createServer(
  { cert: fixture('tls-cert.pem'), key: fixture('tls-key.pem') },
  (outside) => {
    const inside = connect({ port: service.tcpPort, host: '127.0.0.1', allowHalfOpen: true });
    outside.pipe(inside).pipe(outside);
  },
);
await new Promise<void>((resolve) => terminator.listen(0, '127.0.0.1', resolve));
t.teardown(async () => {
  terminator.close();
  await service.stop();
  removeFolder(folder);
});

t.test('winston-logmatic’s events arrive with message, level and meta data', async (t) => {
  const transport = new LogmaticTransport({
    logmatic: {
      token: service.writeKey,
      tcp: {
        host: '127.0.0.1',
        port: (terminator.address() as AddressInfo).port,
        rejectUnauthorized: false,
      },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      retryTimeout: 3_600_000,
    },
  });
  const logger = new winston.Logger({ transports: [transport] });
  logger.info('a visitor came', { user: { name: 'Jo', id: 7 }, path: '/é' });
  logger.error('it broke', { code: 500 });
  let events = await listAll(service);
  while (events.length < 2) events = await listAll(service);
  const found = new Map(events.map(({ event }) => [event.message, event.custom]));
  t.same(found.get('a visitor came'), {
    level: 'info',
    meta: { user: { name: 'Jo', id: 7 }, path: '/é' },
  });
  t.same(found.get('it broke'), { level: 'error', meta: { code: 500 } });
  // The client connects again whenever its connection ends; it is let go for good.
  transport.logmatic.socket.removeAllListeners('close');
  transport.logmatic.end();
});
