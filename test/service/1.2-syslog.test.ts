import t from 'tap';
import { listAll, request, send, sendTcp, testService } from '../support/service.ts';

const service = await testService(t);
const LINE =
  '<165>1 2026-11-20T10:11:12.345+01:00 fw-1 filter 8710 ID47 [meta env="pre\\"prod"] blocked src=10.0.0.1 spt=443 user="a b"';
const EVENT = {
  custom: { src: '10.0.0.1', spt: 443, user: 'a b' },
  syslog: {
    prival: 165,
    severity: 5,
    facility: 20,
    version: 1,
    timestamp: '2026-11-20T10:11:12.345+01:00',
    hostname: 'fw-1',
    appname: 'filter',
    procid: '8710',
    msgid: 'ID47',
    meta: { env: 'pre"prod' },
  },
  message: 'blocked src=10.0.0.1 spt=443 user="a b"',
};

t.test(
  '1.2 a line of RFC 5424 is the same event over HTTP, in an array and over TCP',
  async (t) => {
    t.equal((await send(service, LINE, 'text/plain')).status, 200);
    t.equal((await send(service, JSON.stringify([LINE]))).status, 200);
    await sendTcp(service.tcpPort, `${service.writeKey} ${LINE}\r\n`);
    await sendTcp(service.tcpPort, `${service.writeKey} ${JSON.stringify(LINE)}`);
    const query = 'syslog.appname:filter spt:443 blocked';
    const found = await listAll(service, { filters: [{ search: { query } }] });
    t.equal(found.length, 4);
    for (const { event, date } of found) {
      t.same(event, EVENT);
      t.equal(new Date(date).getTime(), Date.parse('2026-11-20T09:11:12.345Z'));
    }
  },
);

t.test('1.2 JSON in the text of a line gives its attributes and its message', async (t) => {
  const line = '<14>0 2026-11-20T10:11:12Z h api - - -  {"a":{"b":1},"message":"hello","c":[1]}';
  await sendTcp(service.tcpPort, `${service.writeKey} ${line}\n`);
  const [found] = await listAll(service, {
    filters: [{ search: { query: 'syslog.appname:api' } }],
  });
  t.same(found?.event.custom, { a: { b: 1 }, c: [1] });
  t.equal(found?.event.message, 'hello');
});

t.test('1.2 a line of RFC 3164 gives syslog attributes, a malformed one stays text', async (t) => {
  const lines = [
    '<34>Nov 21 11:12:13 mymachine su[77]: failed for lonvick',
    '<999>1 - - broken - - - header',
  ];
  await sendTcp(service.tcpPort, lines.map((line) => `${service.writeKey} ${line}\n`).join(''));
  const [su] = await listAll(service, { filters: [{ search: { query: 'lonvick' } }] });
  t.match(su?.event, {
    syslog: { prival: 34, hostname: 'mymachine', appname: 'su', procid: '77' },
    message: 'failed for lonvick',
  });
  t.match(su?.event.syslog?.['timestamp'], /^\d{4}-11-21T11:12:13Z$/);
  const [text] = await listAll(service, { filters: [{ search: { query: 'broken' } }] });
  t.same(text?.event, { custom: {}, message: lines[1] });
});

t.test('1.2 a log drain sends frames; a wrong count stores nothing of them', async (t) => {
  const frame = '<40>1 2026-11-20T10:11:12+00:00 host drain web.1 - State changed\n';
  const post = (body: string) =>
    request(`${service.http}/v1/input/${service.writeKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/logplex-1', 'logplex-msg-count': '2' },
      body,
    });
  const bad = await post(`${frame.length} ${frame}${frame.length + 1} ${frame}`);
  t.equal(bad.status, 400);
  t.match(bad.text, 'longer than the body');
  t.equal((await post(`${frame.length} ${frame}`.repeat(2))).status, 200);
  const query = 'syslog.appname:drain';
  const found = await listAll(service, { filters: [{ search: { query } }] });
  t.equal(found.length, 2);
  t.match(found[0]?.event, { syslog: { procid: 'web.1' }, message: 'State changed' });
});
