import t from 'tap';
import { Decoding } from '../support/decoding.ts';

const decoding = new Decoding();

/** The attributes of `syslog` for a PRI, as JSON text without braces. */
function priority(prival: number): string {
  return `"prival":${prival},"severity":${prival % 8},"facility":${Math.floor(prival / 8)}`;
}

/** Event and date of a line. */
function read(line: string): { event: string | undefined; date: string | undefined } {
  const [event] = decoding.lines(line);
  return { event, date: decoding.dates()[0] };
}

const RECEIVED = '2026-11-21T12:00:00.000Z';

t.test('the examples of RFC 5424 become their parts', async (t) => {
  const su = read(
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8",
  );
  t.equal(
    su.event,
    `{"custom":{},"syslog":{${priority(34)},"version":1,"timestamp":"2003-10-11T22:14:15.003Z","hostname":"mymachine.example.com","appname":"su","msgid":"ID47"},"message":"'su root' failed for lonvick on /dev/pts/8"}`,
  );
  t.equal(su.date, '2003-10-11T22:14:15.003Z');
  const donuts = read(
    "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.",
  );
  t.equal(
    donuts.event,
    `{"custom":{},"syslog":{${priority(165)},"version":1,"timestamp":"2003-08-24T05:14:15.000003-07:00","hostname":"192.0.2.1","appname":"myproc","procid":"8710"},"message":"%% It's time to make the do-nuts."}`,
  );
  t.equal(donuts.date, '2003-08-24T12:14:15.000Z');
  const header = `{"custom":{},"syslog":{${priority(165)},"version":1,"timestamp":"2003-10-11T22:14:15.003Z","hostname":"mymachine.example.com","appname":"evntslog","msgid":"ID47",`;
  const line = '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 ';
  const element = '[exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"]';
  const object = '"exampleSDID@32473":{"iut":"3","eventSource":"Application","eventID":"1011"}';
  t.equal(
    read(`${line}${element} \ufeffAn application event log entry...`).event,
    `${header}${object}},"message":"An application event log entry..."}`,
  );
  t.equal(
    read(`${line}${element}[examplePriority@32473 class="high"]`).event,
    `${header}${object},"examplePriority@32473":{"class":"high"}}}`,
  );
});

t.test('the examples of RFC 3164 become their parts, or stay text', async (t) => {
  const su = read("<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8");
  t.equal(
    su.event,
    `{"custom":{},"syslog":{${priority(34)},"timestamp":"2026-10-11T22:14:15Z","hostname":"mymachine","appname":"su"},"message":"'su root' failed for lonvick on /dev/pts/8"}`,
  );
  t.equal(su.date, '2026-10-11T22:14:15.000Z');
  t.same(read('Use the BFG!'), {
    event: '{"custom":{},"message":"Use the BFG!"}',
    date: RECEIVED,
  });
  const text =
    "1987 mymachine myproc[10]: %% It's time to make the do-nuts.  %%  Ingredients: Mix=OK, Jelly=OK #";
  t.equal(
    read(`<165>Aug 24 05:34:00 CST ${text}`).event,
    `{"custom":{"Mix":"OK","Jelly":"OK"},"syslog":{${priority(165)},"timestamp":"2026-08-24T05:34:00Z","hostname":"CST"},"message":"${text}"}`,
  );
  const odd =
    "<0>1990 Oct 22 10:52:01 TZ-6 scapegoat.dmz.example.org 10.1.2.3 sched[0]: That's All Folks!";
  const rest = "scapegoat.dmz.example.org 10.1.2.3 sched[0]: That's All Folks!";
  t.equal(
    read(odd).event,
    `{"custom":{},"syslog":{${priority(0)},"timestamp":"1990-10-22T10:52:01Z","hostname":"TZ-6"},"message":"${rest}"}`,
  );
});

t.test('what programs send is understood', async (t) => {
  const table: [string, string, string, string, string][] = [
    [
      'rsyslog, its forward format',
      '<30>2026-11-21T12:34:56.789012+01:00 web1 nginx[42]: up',
      `${priority(30)},"timestamp":"2026-11-21T12:34:56.789012+01:00","hostname":"web1","appname":"nginx","procid":"42"`,
      '{}',
      'up',
    ],
    [
      'rsyslog, version 0 and a blank before the text',
      '<13>0 2026-11-21T12:00:00+00:00 web1 app 7 - -  code=200',
      `${priority(13)},"version":0,"timestamp":"2026-11-21T12:00:00+00:00","hostname":"web1","appname":"app","procid":"7"`,
      '{"code":200}',
      'code=200',
    ],
    [
      'logger of util-linux',
      '<13>1 2026-11-21T12:00:00.123456+01:00 web1 root - - [timeQuality tzKnown="1" isSynced="0"] hello',
      `${priority(13)},"version":1,"timestamp":"2026-11-21T12:00:00.123456+01:00","hostname":"web1","appname":"root","timeQuality":{"tzKnown":"1","isSynced":"0"}`,
      '{}',
      'hello',
    ],
    [
      'logger to a local socket, without a host',
      '<13>Nov  1 02:03:04 root[12]: hello',
      `${priority(13)},"timestamp":"2026-11-01T02:03:04Z","appname":"root","procid":"12"`,
      '{}',
      'hello',
    ],
    [
      'syslog-ng, an empty part',
      '<11>1 - - app - - - text',
      `${priority(11)},"version":1,"appname":"app"`,
      '{}',
      'text',
    ],
    [
      'a log drain, without structured data',
      '<40>1 2012-11-30T06:45:29+00:00 host app web.3 - [info] State changed',
      `${priority(40)},"version":1,"timestamp":"2012-11-30T06:45:29+00:00","hostname":"host","appname":"app","procid":"web.3"`,
      '{}',
      '[info] State changed',
    ],
    [
      'a line of a log file',
      'Nov 21 02:00:00 web1 kernel: IN=eth0 OUT= SRC=10.0.0.1 TTL=64',
      '"timestamp":"2026-11-21T02:00:00Z","hostname":"web1","appname":"kernel"',
      '{"IN":"eth0","SRC":"10.0.0.1","TTL":64}',
      'IN=eth0 OUT= SRC=10.0.0.1 TTL=64',
    ],
    [
      'a fraction of a second, and a year that is over',
      '<13>Dec 24 23:59:59.250 web1 app: x',
      `${priority(13)},"timestamp":"2026-12-24T23:59:59.250Z","hostname":"web1","appname":"app"`,
      '{}',
      'x',
    ],
  ];
  for (const [title, line, syslog, custom, message] of table) {
    const want = `{"custom":${custom},"syslog":{${syslog}},"message":"${message}"}`;
    t.equal(read(line).event, want, title);
  }
});

t.test('a header that is malformed leaves the line as text, whole', async (t) => {
  const lines = [
    '<192>1 - - app - - - text',
    '<034>1 - - app - - - text',
    '<>1 - - app - - - text',
    '<34',
    '<34>',
    'Oct 11 22:14:15 host some text',
    'Oct 11 22:14:15 (host) app: text',
    'Oct 11 22:14:15 app: text',
    'Oct 11 22:14:15',
    '2026-11-21T12:00:00Z host app[1]: text',
  ];
  for (const line of lines) {
    const want = `{"custom":{},"message":${JSON.stringify(line)}}`;
    t.equal(read(line).event, want, JSON.stringify(line));
  }
});

t.test('behind a PRI a header that is malformed is text', async (t) => {
  const texts = [
    'text',
    '2 - - app - - - text',
    '1',
    '1 ',
    '1 - - app -',
    '1 -  app - - - text',
    '1 yesterday host app - - - text',
    '1 - h\u0001ost app - - - text',
    'Oct 32 22:14:15 host app: text',
    'Oct 11 24:14:15 host app: text',
    'Foo 11 22:14:15 host app: text',
  ];
  for (const text of texts) {
    const want = `{"custom":{},"syslog":{${priority(34)}},"message":${JSON.stringify(text)}}`;
    t.equal(read(`<34>${text}`).event, want, JSON.stringify(text));
  }
  const { event } = read('<189>date=2026-11-21 devname="FG100" n=1');
  t.match(event, '{"custom":{"date":"2026-11-21","devname":"FG100","n":1},"syslog":{"prival":189,');
});

t.test('structured data is taken whole or stays in the text', async (t) => {
  const head = `{"custom":{},"syslog":{${priority(13)},"version":1`;
  const table: [string, string][] = [
    ['[a b="c"] x', ',"a":{"b":"c"}},"message":"x"}'],
    ['[a b="c"]', ',"a":{"b":"c"}}}'],
    ['[a b="\\"\\\\\\]\\n"] x', ',"a":{"b":"\\"\\\\]\\\\n"}},"message":"x"}'],
    ['[a b="c]d"] x', ',"a":{"b":"c]d"}},"message":"x"}'],
    ['[a b=""][c@1] x', ',"a":{"b":""},"c@1":{}},"message":"x"}'],
    ['[a b="1" b="2" c="3"] x', ',"a":{"b":"2","c":"3"}},"message":"x"}'],
    ['[a b="1"][c@1 d="2"][a e="3"] x', ',"a":{"b":"1","e":"3"},"c@1":{"d":"2"}},"message":"x"}'],
    ['[x@1.2.3 a.b="c"] x', ',"x@1.2.3":{"a":{"b":"c"}}},"message":"x"}'],
    ['[version v="2"] x', ',"version.v":"2"},"message":"x"}'],
    ['[info] x', '},"message":"[info] x"}'],
    ['[a b="c] x', '},"message":"[a b=\\"c] x"}'],
    ['[a b=c] x', '},"message":"[a b=c] x"}'],
    ['-x', '},"message":"-x"}'],
    ['- ', '}}'],
    ['', '}}'],
  ];
  for (const [data, rest] of table) {
    const [event] = decoding.lines(`<13>1 - - - - - ${data}`);
    const found =
      data === '[a b=c] x' ? '{"b":"c]"}' : data === '[a b="c] x' ? '{"b":"\\"c]"}' : '{}';
    const custom = head.replace('{}', found);
    t.equal(event, custom + rest, data);
  }
});

t.test('pairs are found in the text of a line', async (t) => {
  const table: [string, string][] = [
    ['a=1,b=2;c=3 d=4', '{"a":1,"b":2,"c":3,"d":4}'],
    [
      'user=john connect_date=11/08/2017 id=123',
      '{"user":"john","connect_date":"11/08/2017","id":123}',
    ],
    ['a="x y" b=\'p, q\' c=<u@v>, d=2', '{"a":"x y","b":"p, q","c":"u@v","d":2}'],
    ['a="he said \\"no\\"" b="C:\\temp"', '{"a":"he said \\"no\\"","b":"C:\\\\temp"}'],
    ['a= b=null c="null" d=""', '{"c":"null","d":""}'],
    ['a=007 b=-1.50 c="1" d=1e5 e=+1', '{"a":"007","b":-1.50,"c":"1","d":1e5,"e":"+1"}'],
    ['url=http://h/?a=b&c=d x', '{"url":"http://h/?a=b&c=d"}'],
    ['a="open b=1', '{"a":"\\"open","b":1}'],
    ['a==b (c=1) d == e', '{}'],
    ['a.b=1 a.c=2 x=0 a.d=3', '{"a":{"b":1,"c":2,"d":3},"x":0}'],
    ['a=1 b=2 a=3', '{"a":3,"b":2}'],
    ['message=mine syslog=log', '{"message":"mine","syslog":"log"}'],
    ['é=ü', '{"é":"ü"}'],
    ['no pairs here', '{}'],
  ];
  for (const [text, custom] of table) {
    const [event] = decoding.lines(`<13>1 - - - - - - ${text}`);
    const syslog = `{${priority(13)},"version":1}`;
    const want = `{"custom":${custom},"syslog":${syslog},"message":${JSON.stringify(text)}}`;
    t.equal(event, want, text);
    t.equal(decoding.lines(text)[0], `{"custom":{},"message":${JSON.stringify(text)}}`, 'plain');
  }
  const [event] = decoding.lines('<13>1 - - app - - - syslog.appname=mine syslog.x=1');
  t.match(event, '{"custom":{"syslog":{"appname":"mine","x":1}},');
  t.match(event, '"appname":"app"}');
  const [object] = decoding.lines(
    '<13>1 - host - - - - {"syslog.hostname":"x","syslog":{"severity":0},"date":1}',
  );
  t.match(object, '{"custom":{"syslog":{"hostname":"x","severity":0},"date":1},');
  t.match(object, '"severity":5,"facility":1,"version":1,"hostname":"host"}');
});

t.test('a date in the text comes before that of the header', async (t) => {
  const line = (text: string): string => `<13>1 2026-01-02T03:04:05Z - - - - - ${text}`;
  const table: [string, string][] = [
    ['text', '2026-01-02T03:04:05.000Z'],
    ['date=2020-05-06T07:08:09Z', '2020-05-06T07:08:09.000Z'],
    ['timestamp=1479731331000', '2016-11-21T12:28:51.000Z'],
    ['{"eventTime":"2020-05-06"}', '2020-05-06T00:00:00.000Z'],
    ['date_access=2020-05-06', '2026-01-02T03:04:05.000Z'],
    ['date=soon', '2026-01-02T03:04:05.000Z'],
  ];
  for (const [text, want] of table) t.equal(read(line(text)).date, want, text);
  const unread = decoding.decoder.counters.datesUnread;
  t.same(read('<13>1 2026-99-99T00:00:00Z - - - - - text').date, RECEIVED);
  t.equal(decoding.decoder.counters.datesUnread, unread + 1);
});

t.test('many pairs, open quotes and long names stay within the limits', async (t) => {
  const many = Array.from({ length: 1500 }, (_, n) => `k${n}=${n}`).join(' ');
  const [wide] = new Decoding().lines(`<13>1 - - - - - - ${many}`);
  t.match(wide, '"k995":995,"_excess":"{\\"k996\\":996,');
  t.match(wide, '\\"k1499\\":1499}"}');
  const long = 'n'.repeat(300);
  t.match(decoding.lines(`<13>1 - - - - - [a ${long}="v"] b=1`)[0], '"b":1,"_excess":');
  for (const piece of ['a=<x ', 'a="x ', "a='x ", 'a="\\', 'a=', '[', '[a ', '=']) {
    const text = piece.repeat(1_000_000 / piece.length);
    t.equal(decoding.lines(`<13>1 - - - - - ${text}`).length, 1, piece);
  }
});

t.test('a line of syslog means the same in bodies, arrays and on raw channels', async (t) => {
  const line = '<13>1 - h app - - - a=1';
  const want = `{"custom":{"a":1},"syslog":{${priority(13)},"version":1,"hostname":"h","appname":"app"},"message":"a=1"}`;
  t.same(decoding.lines(`${line}\r\n${line}`), [want, want]);
  t.same(decoding.json(JSON.stringify([line, { x: 1 }, `${line}\n`]))[0], want);
  t.same(decoding.line(line), [want]);
  t.same(decoding.lines(`  ${line}`), [want], 'blanks before it');
  decoding.decoder.unquotes = true;
  t.same(decoding.line(JSON.stringify(line)), [want]);
  decoding.decoder.unquotes = false;
  const added = { attributes: [{ names: ['hostname'], value: 'q', replaces: false }] };
  t.same(decoding.lines(line, added), [want.replace('"a":1', '"a":1,"hostname":"q"')]);
  const broken = Buffer.concat([Buffer.from(line), Buffer.from([0xff])]);
  t.match(decoding.line(broken)[0], '"message":"a=1\ufffd"');
});
