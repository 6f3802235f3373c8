import { join } from 'node:path';
import t from 'tap';
import {
  type Listed,
  listAll,
  removeFolder,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import {
  areInstalled,
  logLine,
  runPython,
  type Shipper,
  startRsyslog,
  startSyslogNg,
  type Target,
} from './programs.ts';

/** `make test-shippers`: rsyslog, syslog-ng and logmatic-python against the running service. */

if (!areInstalled()) throw new Error('test/shippers/install.sh has not unpacked the shippers');

const folder = temporaryFolder();
const service = await startService(folder, ['--tls', '127.0.0.1:0', '--udp', '127.0.0.1:0']);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const ports = { tcp: service.tcpPort, tls: service.tlsPort, udp: service.udpPort };
const LINES = 20;

/** Events whose program is `tag`, when there are as many as were sent; the test's time-out bounds the wait. */
async function arrived(tag: string, count: number): Promise<Listed[]> {
  for (;;) {
    const events = await listAll(service, { filters: [{ search: `syslog.appname:${tag}` }] });
    if (events.length >= count) return events;
  }
}

const shippers: [string, (target: Target) => Promise<Shipper>][] = [
  ['rsyslog', startRsyslog],
  ['syslog-ng', startSyslogNg],
];
for (const [name, start] of shippers) {
  for (const protocol of ['tcp', 'tls', 'udp'] as const) {
    t.test(`${name} over ${protocol}: every line arrives, taken apart`, async (t) => {
      const shipper = await start({
        protocol,
        port: ports[protocol],
        key: service.writeKey,
        certificate: join(folder, 'tls/cert.pem'),
      });
      const tag = `${name}-${protocol}`;
      for (let n = 0; n < LINES; n++) await logLine(shipper.socket, tag, `user=jo n=${n} said "é"`);
      const events = await arrived(tag, LINES);
      await shipper.stop();
      const numbers = events.map(({ event }) => Number(event.custom['n'])).sort((a, b) => a - b);
      t.same(
        numbers,
        Array.from({ length: LINES }, (_, n) => n),
        'each once',
      );
      const [{ event }] = events;
      t.match(event.syslog, { appname: tag, severity: 4, facility: 4, prival: 36 });
      t.equal(event.custom['user'], 'jo');
      t.match(event.message, /^user=jo n=\d+ said "é"$/);
    });
  }
}

for (const secure of [false, true]) {
  t.test(`logmatic-python over ${secure ? 'TLS' : 'TCP'}: every event arrives`, async (t) => {
    const port = secure ? ports.tls : ports.tcp;
    const mark = secure ? 'py-tls' : 'py-tcp';
    await runPython(`
import logging, logmatic
logger = logging.getLogger("${mark}")
handler = logmatic.LogmaticHandler("${service.writeKey}", host="127.0.0.1", port=${port}, ssl=${secure ? 'True' : 'False'})
handler.setFormatter(logmatic.JsonFormatter(extra={"hostname": "snake"}))
logger.addHandler(handler)
logger.setLevel(logging.INFO)
for n in range(${LINES}):
    logger.info("hello from python", extra={"n": n})
`);
    let events: Listed[] = [];
    while (events.length < LINES) {
      events = await listAll(service, { filters: [{ search: `name:${mark}` }] });
    }
    t.equal(events.length, LINES);
    t.match(events[0].event, { message: 'hello from python', custom: { hostname: 'snake' } });
    t.ok(
      Math.abs(Date.parse(events[0].date) - Date.now()) < 3_600_000,
      'its odd date is understood',
    );
  });
}
