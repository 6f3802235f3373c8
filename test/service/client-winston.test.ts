import { createRequire } from 'node:module';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { listAll, testService } from '../support/service.ts';

/** npm's `winston-logmatic` against the service, over TLS, the only thing that it speaks. */

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

const service = await testService(t, ['--tls', '127.0.0.1:0']);
t.test('winston-logmatic’s events arrive with message, level and meta data', async (t) => {
  const transport = new LogmaticTransport({
    logmatic: {
      token: service.writeKey,
      tcp: {
        host: '127.0.0.1',
        port: service.tlsPort,
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
