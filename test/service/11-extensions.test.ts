import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import {
  type Answer,
  listAll,
  removeFolder,
  request,
  type Service,
  send,
  sendTcp,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
let service: Service = await startService(folder);
const { writeKey, readKey } = service;
const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

function admin(method: string, path: string, value?: unknown): Promise<Answer> {
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
}

const resultOf = (answer: Answer) => Object(answer.body).result;
const LINE =
  '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif?a=1 HTTP/1.0" 200 2326';

t.test('11 ready-made extensions are listed in their order, all off', async (t) => {
  const { extensions } = resultOf(await admin('GET', 'extensions'));
  t.ok(extensions.length >= 7);
  t.same(
    extensions.map(({ position }: { position: number }) => position),
    [...extensions.keys()],
  );
  t.notOk(extensions.some(({ enabled }: { enabled: boolean }) => enabled));
  t.match(resultOf(await admin('GET', 'extensions/severity')), {
    ...{ id: 'severity', kind: 'severity', target: 'syslog.severity' },
    position: extensions.findIndex(({ id }: { id: string }) => id === 'severity'),
  });
});

t.test('11 a test shows what extensions find, and stores nothing', async (t) => {
  const samples = [
    'user:john connected on 11/08/2017',
    'no match',
    `{"message":"user:x connected on 11/09/2017"}`,
  ];
  const rules = 'login user:%{word:user} connected on %{date("MM/dd/yyyy"):connect_date}';
  const asked = { extension: { kind: 'grok', rules }, samples };
  const answer = await admin('POST', 'extensions/test', asked);
  t.match(resultOf(answer), {
    events: [
      {
        event: { custom: { user: 'john', connect_date: 1_510_099_200_000 }, message: samples[0] },
        ...{ matched: true, rule: 'login' },
      },
      { event: { message: 'no match' }, matched: false },
      { event: { custom: { user: 'x' } }, matched: true, rule: 'login' },
    ],
    ms: Number,
  });
  t.equal(resultOf(answer).events[1].rule, undefined);
  const named = await admin('POST', 'extensions/test', {
    extension: 'access_log',
    samples: [LINE],
  });
  t.match(resultOf(named).events[0], {
    event: { custom: { http: { status_code: 200 } } },
    ...{ date: '2000-10-10T20:55:36.000Z', matched: true },
  });
  const all = await admin('POST', 'extensions/test', { all: true, samples: [LINE] });
  t.match(resultOf(all).events[0], { event: { message: LINE }, matched: false }, 'none is on');
  const lines = ['line\nfeed', '<34>1 2026-01-01T00:00:00Z h a - - - text'];
  const plain = await admin('POST', 'extensions/test', { all: true, samples: lines });
  t.match(resultOf(plain).events, [
    { event: { message: 'line\nfeed' } },
    { event: { syslog: { appname: 'a' } }, date: '2026-01-01T00:00:00.000Z' },
  ]);
  t.same(await listAll(service), []);
});

t.test(
  '11 a rehearsal tells events without the extension too, its cost and where it fails',
  async (t) => {
    const asked = {
      extension: { kind: 'attribute', sources: ['custom.a'], target: 'message', keeps: false },
      samples: ['{"a":"hello","b":1}', '{"b":2}'],
      rehearse: true,
    };
    t.match(resultOf(await admin('POST', 'extensions/test', asked)), {
      events: [
        {
          event: { custom: { b: 1 }, message: 'hello' },
          ...{ matched: true, before: { event: { custom: { a: 'hello', b: 1 } }, date: String } },
        },
        { event: { custom: { b: 2 } }, matched: false, before: { event: { custom: { b: 2 } } } },
      ],
      ...{ us: Number, failed: 0 },
    });
    const rules = 'slow (a?){1000}b%{data:x}';
    const hostile = {
      extension: { kind: 'grok', rules },
      samples: [`${'a'.repeat(20_000)} b`, 'b ok'],
    };
    const { events, failed } = resultOf(
      await admin('POST', 'extensions/test', { ...hostile, rehearse: true }),
    );
    t.match(events, [{ matched: false }, { matched: true, event: { custom: { x: ' ok' } } }]);
    t.equal(failed, 1, 'its pattern could cost too much for one of them');
    const wrong = await admin('POST', 'extensions/test', { ...hostile, rehearse: 1 });
    t.match(wrong.text, /rehearse 1 is not allowed; allowed: true or false/);
    const plain = resultOf(await admin('POST', 'extensions/test', hostile));
    t.same([plain.us, plain.failed, plain.events[0].before], [undefined, undefined, undefined]);
  },
);

t.test('11 a test that is wrong is refused by name, value and what is allowed', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [{ samples: ['x'] }, /extension is missing; allowed: one of extension .* and all/],
    [{ all: true, extension: 'url', samples: ['x'] }, /all is there beside extension/],
    [{ all: false, samples: ['x'] }, /all false is not allowed; allowed: true/],
    [{ all: true }, /samples is missing; allowed: an array of 1 to 100 elements/],
    [{ all: true, samples: [] }, /samples \(an array of 0\) is not allowed/],
    [{ all: true, samples: Array(101).fill('x') }, /samples \(an array of 101\) .* 1 to 100/],
    [{ all: true, samples: ['x', ' '] }, /samples\[1\] is blank/],
    [{ all: true, samples: ['x', 7] }, /samples\[1\] 7 is not allowed/],
    [{ extension: 'urll', samples: ['x'] }, /no extension with the id \\"urll\\"/],
    [{ extension: 7, samples: ['x'] }, /extension is 7; it must be an object/],
    [{ extension: { kind: 'grok' }, samples: ['x'] }, /rules is missing/],
    [{ extension: { kind: 'grok', rules: 'a (b' }, samples: ['x'] }, /rules is malformed/],
    [{ extension: { kind: 'json', filter: '((' }, samples: ['x'] }, /filter .*at position 2/],
  ];
  for (const [body, message] of wrong) {
    const answer = await admin('POST', 'extensions/test', body);
    t.equal(answer.status, 400, `${message}`);
    t.match(answer.text, message);
  }
  const large = await admin('POST', 'extensions/test', {
    all: true,
    samples: ['x'.repeat(1_048_576)],
  });
  t.equal(large.status, 413);
  t.match(large.text, /allowed: 1048576/);
});

t.test('11 an extension is in force at once, on open connections too', async (t) => {
  const socket = connect(service.tcpPort, '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.write(`${service.writeKey} ${text}\n`, (error) => (error ? reject(error) : resolve()));
    });
  const stored = async (count: number): Promise<void> => {
    for (let tries = 0; tries < 500; tries++) {
      if ((await listAll(service)).length >= count) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`there are no ${count} events`);
  };
  await write(`before ${LINE}`);
  await stored(1);
  const answer = await admin('PATCH', 'extensions/access_log', {
    ...{ enabled: true, definitions: true, filter: '-message:never' },
  });
  t.match(resultOf(answer), {
    enabled: true,
    made: {
      fields: [{ id: 'http.request_details.path' }, {}, {}, {}, {}, {}],
      metrics: [{ id: 'response_time_avg' }, {}, { id: 'received_bytes', unit: 'B' }],
      groups: [{ id: 'web_access', name: 'Web access' }],
    },
  });
  await write(LINE);
  await stored(2);
  await send(service, JSON.stringify({ message: LINE, docker: { name: 'web' } }));
  await stored(3);
  t.match(resultOf(await admin('PATCH', 'extensions/access_log', { enabled: false })), {
    enabled: false,
    made: undefined,
  });
  await write(`${LINE} `);
  socket.end();
  await closed;
  const events = await listAll(service);
  const parsed = events.filter(({ event }) => event.custom['http'] !== undefined);
  t.match(parsed, [
    {
      date: '2000-10-10T20:55:36.000Z',
      event: {
        custom: {
          docker: { name: 'web' },
          network: { client_ip: '127.0.0.1', bytes_write: 2326 },
          http: {
            ...{ auth: 'frank', verb: 'GET', status_code: 200, version: /1\.0/ },
            request_details: { path: '/apache_pb.gif', queryString: { a: '1' } },
          },
        },
      },
    },
    { event: { custom: { http: { request: '/apache_pb.gif?a=1' } } } },
  ]);
  for (const { event } of parsed) t.equal(event.message, 'GET /apache_pb.gif?a=1 HTTP/1.0');
  t.equal(events.length, 4);
  const discovered = await request(`${service.http}/beta/discover/groups`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
    body: '{}',
  });
  t.match(discovered.text, /Web access/);
});

t.test(
  '11 access lines turned on name the security filters and tagsets of bare words',
  async (t) => {
    const turnOn = async (): Promise<unknown> => {
      const answer = await admin('PATCH', 'extensions/access_log', { enabled: true });
      t.equal(answer.status, 200);
      return resultOf(answer).warning;
    };
    t.equal(await turnOn(), undefined);
    const filters = {
      ...{ bare: '-frank', quoted: 'custom.a:1 OR "200 2326"', direct: 'message:GET*' },
      ...{ tag: '-kind:inner', other: 'http.auth:frank', open: '*' },
    };
    const tags = [{ id: 'inner', name: 'Inner', query: '127.0.0.1' }];
    await admin('POST', 'tagsets', { id: 'kind', name: 'Kind', tags });
    const others = [{ id: 'get', name: 'GET', query: 'http.verb:GET' }];
    await admin('POST', 'tagsets', { id: 'verbs', name: 'Verbs', tags: others });
    for (const [name, security_filter] of Object.entries(filters)) {
      const made = await admin('POST', 'read_keys', { name, security_filter });
      t.equal(made.status, 200, made.text);
    }
    t.match(await turnOn(), {
      message: /bare words no longer find address, status and agent/,
      security_filters: ['bare', 'quoted', 'direct', 'tag'],
      tagsets: ['kind'],
    });
    const copy = { name: 'Copy', kind: 'access_log', enabled: true };
    t.match(resultOf(await admin('POST', 'extensions', copy)).warning, { tagsets: ['kind'] });
    t.equal(
      resultOf(await admin('PATCH', 'extensions/copy', { enabled: false })).warning,
      undefined,
    );
    t.equal(resultOf(await admin('PATCH', 'extensions/url', { enabled: true })).warning, undefined);
    for (const id of ['access_log', 'url'])
      await admin('PATCH', `extensions/${id}`, { enabled: false });
    await admin('DELETE', 'extensions/copy');
    for (const name of Object.keys(filters)) await admin('DELETE', `read_keys/${name}`);
    for (const id of ['kind', 'verbs']) await admin('DELETE', `tagsets/${id}`);
  },
);

t.test('11 ready-made extensions read the logs of their programs', async (t) => {
  const tested = async (extension: string, sample: string): Promise<unknown> => {
    const answer = await admin('POST', 'extensions/test', { extension, samples: [sample] });
    return resultOf(answer).events[0];
  };
  const docker = JSON.stringify({
    ...{ log: `${LINE}\n`, stream: 'stdout' },
    time: '2026-03-01T10:00:00.123456789Z',
  });
  t.match(await tested('docker', docker), {
    event: { message: `${LINE}\n`, custom: { log: undefined, stream: 'stdout' } },
  });
  t.match(await tested('docker_date', docker), { date: '2026-03-01T10:00:00.123Z' });
  for (const id of ['docker', 'docker_date', 'access_log']) {
    await admin('PATCH', `extensions/${id}`, { enabled: true, filter: null });
  }
  const all = await admin('POST', 'extensions/test', { all: true, samples: [docker] });
  t.match(resultOf(all).events[0], {
    event: { custom: { http: { status_code: 200 } }, message: `${LINE}\n` },
    date: '2026-03-01T10:00:00.123Z',
  });
  for (const id of ['docker', 'docker_date', 'access_log']) {
    await admin('PATCH', `extensions/${id}`, { enabled: false });
  }
  t.match(await tested('kubernetes', '2016-10-06T00:17:09.669794202Z stdout F The content'), {
    ...{ matched: true, rule: 'cri_line', date: '2016-10-06T00:17:09.669Z' },
    event: { message: 'The content', custom: { stream: 'stdout', logtag: 'F' } },
  });
  const error =
    '2026/03/01 10:00:00 [error] 12#34: *5 open() failed, client: 10.0.0.1, server: a.example, request: "GET /x HTTP/1.1"';
  t.match(await tested('nginx_error', error), {
    ...{ matched: true, rule: 'nginx_error_request', date: '2026-03-01T10:00:00.000Z' },
    event: { custom: { level: 'error', network: { client_ip: '10.0.0.1' } }, message: error },
  });
});

t.test('11 extensions are made, moved, changed and deleted', async (t) => {
  const made = await admin('POST', 'extensions', {
    ...{ name: 'My logins', kind: 'grok', rules: 'one %{word:user} in', position: 0 },
    ...{ enabled: true, filter: 'in' },
  });
  t.match(resultOf(made), { id: 'my_logins', position: 0, helperRules: '', sources: ['message'] });
  const { extensions } = resultOf(await admin('GET', 'extensions'));
  t.equal(extensions[0].id, 'my_logins');
  const last = extensions.length - 1;
  t.match(resultOf(await admin('PATCH', 'extensions/my_logins', { position: last })), {
    position: last,
  });
  const level = await admin('POST', 'extensions', {
    ...{ name: 'Level', kind: 'severity', definitions: true },
  });
  t.match(resultOf(level), {
    enabled: false,
    made: { fields: { length: 0 }, metrics: { length: 0 }, groups: { length: 0 } },
  });
  const test = await admin('POST', 'extensions', { name: 'Test', kind: 'json' });
  t.match(resultOf(test), { id: 'test' });
  t.match(resultOf(await admin('GET', 'extensions/test')), { id: 'test', kind: 'json' });
  t.match(await admin('POST', 'extensions/my_logins', {}), { status: 405 });
  const wrong: [string, unknown, RegExp][] = [
    ['PATCH', { position: -1 }, /position -1 is not allowed; allowed: a whole number from 0/],
    ['PATCH', { position: 99 }, /position 99 is not allowed; allowed: 0 to \d+/],
    ['PATCH', { definitions: 1 }, /definitions 1 is not allowed; allowed: true or false/],
    ['PATCH', { rules: 'x %{nothing}' }, /rules is malformed/],
    ['PATCH', { id: 'y' }, /never changes/],
    ['PUT', {}, /GET, PATCH, DELETE/],
  ];
  for (const [method, body, message] of wrong) {
    const answer = await admin(method, 'extensions/my_logins', body);
    t.equal(answer.status, method === 'PUT' ? 405 : 400, `${message}`);
    t.match(answer.text, message);
  }
  t.match(resultOf(await admin('DELETE', 'extensions/my_logins')), { deleted: true });
  t.match(await admin('GET', 'extensions/my_logins'), { status: 404 });
});

t.test('11 troubles tell what was wrong with what came in, and no key', async (t) => {
  const before = resultOf(await admin('GET', 'troubles')).troubles;
  t.ok(before.length >= 9);
  t.match(
    before.find(({ kind }: { kind: string }) => kind === 'date_unread'),
    { count: 0, last: undefined },
  );
  const disabled = 'abcdefghijklmnopqrstuv';
  await sendTcp(service.tcpPort, `${disabled} a lost\u0007 line\n`);
  const malformed = await send(service, '{"a":1}\n{"b":}');
  t.equal(malformed.status, 400);
  await sendTcp(
    service.tcpPort,
    `{"logmaticKey":"${service.writeKey}","date":"never"}\n${service.writeKey} good line\n`,
  );
  const large = await send(service, `"${'x'.repeat(1_100_000)}"`);
  t.equal(large.status, 413);
  const deep = await send(service, `{"x":${'['.repeat(40)}${']'.repeat(40)}}`);
  t.equal(deep.status, 200);
  const wanted = [
    'line_dropped',
    'body_malformed',
    'date_unread',
    'body_too_large',
    'subtree_too_deep',
  ];
  let found = new Map<string, { count: number; last?: string; line?: string; reason?: string }>();
  // Lines come with the next report of a worker, once a second.
  for (let tries = 0; tries < 200; tries++) {
    const { troubles } = resultOf(await admin('GET', 'troubles'));
    found = new Map(troubles.map((trouble: { kind: string }) => [trouble.kind, trouble]));
    if (wanted.every((kind) => found.get(kind)?.line !== undefined)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const now = new Date().toISOString().slice(0, 10);
  t.match(found.get('line_dropped'), { count: 1, line: '*** a lost\\u0007 line', channel: 'tcp' });
  t.match(found.get('body_malformed'), {
    ...{ count: 1, line: '{"a":1}\\n{"b":}', reason: /at byte 13/ },
    ...{ channel: 'http', key: String, peer: '127.0.0.1' },
    last: new RegExp(`^${now.slice(0, 4)}-`),
  });
  t.match(found.get('date_unread'), {
    ...{ count: 1, line: '{"logmaticKey":"***","date":"never"}' },
    ...{ channel: 'tcp', key: String, peer: undefined },
  });
  t.match(found.get('body_too_large'), { count: 1, line: /^"x{511}$/ });
  t.match(found.get('subtree_too_deep'), {
    ...{ count: 1, line: /^\{"x":\[{40}\]{40}\}$/, channel: 'http', key: String },
  });
  const { text } = await admin('GET', 'troubles');
  t.notOk(text.includes(service.writeKey));
  t.notOk(text.includes(disabled));
  t.match(await admin('POST', 'troubles', {}), { status: 405 });
  t.match(await admin('GET', 'troubles/x'), { status: 404 });
});

t.test('11 extensions are in force from the start on, after a kill too', async (t) => {
  await admin('PATCH', 'extensions/key_value', { enabled: true });
  await service.kill();
  service = { ...(await startService(folder)), writeKey, readKey };
  await send(service, 'user=ann late', 'text/plain');
  const [{ event }] = await listAll(service, { filters: [{ search: 'late' }] });
  t.same(event, { custom: { user: 'ann' }, message: 'user=ann late' });
});
