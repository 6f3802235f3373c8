import { connect } from 'node:net';
import t from 'tap';
import { ask, listAll, request, runCommand, testService } from '../support/service.ts';

const service = await testService(t);
/** Runs `logseam key ...` on the service's service.folder; its output without the line end. */
async function key(...args: string[]): Promise<string> {
  const [action, ...rest] = args;
  const { code, stdout, stderr } = await runCommand([
    'key',
    action,
    '--data',
    service.folder,
    ...rest,
  ]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

function post(writeKey: string, body: string): ReturnType<typeof request> {
  return request(`${service.http}/v1/input/${writeKey}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body,
  });
}

t.test('2.1 a new write key is printed alone and works at once', async (t) => {
  const made = await key('create', '--write', '--name', 'second');
  t.match(made, /^[\w-]{22}$/);
  t.equal((await post(made, 'with the second key')).status, 200);
  t.match(await key('list'), /second/);
  t.notMatch(await key('list'), made, 'a key is shown once');
});

t.test('3 a disabled key is refused on every channel, open connections included', async (t) => {
  const made = await key('create', '--write', '--name', 'switch');
  const socket = connect(service.tcpPort, '127.0.0.1');
  socket.write(`${made} {"test":"switch","n":1}\n`);
  const count = async (): Promise<number> =>
    (await listAll(service, { filters: [{ search: 'test:switch' }] })).length;
  while ((await count()) === 0);
  await key('disable', 'switch');
  const refused = await post(made, 'x');
  t.equal(refused.status, 401);
  t.match(refused.text, /could not be authenticated/);
  await new Promise((resolve) => socket.write(`${made} {"test":"switch","n":2}\n`, resolve));
  await key('enable', 'switch');
  t.equal((await post(made, 'x')).status, 200);
  socket.end(`${made} {"test":"switch","n":3}\n`);
  await new Promise((resolve) => socket.on('close', resolve).resume());
  const events = await listAll(service, { filters: [{ search: 'test:switch' }] });
  t.ok(events.some(({ event }) => event.custom['n'] === 3));
  await key('delete', 'switch');
  t.equal((await post(made, 'x')).status, 401);
});

t.test('3 a reached quota refuses with 429 until midnight UTC, over all channels', async (t) => {
  const made = await key('create', '--write', '--name', 'small', '--quota-mb', '1');
  const half = 'a'.repeat(600_000);
  t.equal((await post(made, half)).status, 200);
  t.equal((await post(made, half)).status, 200, 'the request that crosses the line is taken');
  const spent = await post(made, 'one more');
  t.equal(spent.status, 429);
  t.match(spent.text, /could not be authenticated/);
  const seconds = Number(spent.headers.get('retry-after'));
  t.ok(seconds > 0 && seconds <= 86_400);
  const socket = connect(service.tcpPort, '127.0.0.1');
  socket.end(`${made} {"test":"overquota"}\n`);
  await new Promise((resolve) => socket.on('close', resolve).resume());
  t.equal((await listAll(service, { filters: [{ search: 'test:overquota' }] })).length, 0);
});

t.test('2.2 a security filter holds on list, fetch and aggregate', async (t) => {
  await post(service.writeKey, '{"team":"red","secret":1}\n{"team":"blue","secret":2}');
  const readKey = await key('create', '--read', '--name', 'red only', '--filter', 'team:red');
  const limited = { ...service, readKey };
  t.same(
    (await listAll(limited)).map(({ event }) => event.custom['team']),
    ['red'],
  );
  const all = await listAll(service, { filters: [{ search: 'team:blue' }] });
  const nobodys = 'AAAAAAAAAAAAAAAAAAAA';
  const hidden = await ask(limited, '/beta/events/fetch', { id: all[0].id });
  const unknown = await ask(limited, '/beta/events/fetch', { id: nobodys });
  t.equal(hidden.status, 404);
  t.equal(hidden.text.replace(all[0].id, nobodys), unknown.text, 'as an unknown one');
  const time = { from: 'now-1d', to: 'now' };
  const told = await ask(limited, '/beta/events/list', { time, explain: true });
  t.equal(told.status, 403, 'what was read would tell of hidden events');
  const sum = await ask(limited, '/beta/events/aggregate', {
    time: { from: 'now-1d', to: 'now+1d' },
    compute: [{ metric: { id: 'sum:custom.secret', output: 's' } }, { metric: { id: 'count' } }],
  });
  t.match(sum.body, { result: { aggregates: [{ values: { s: 1, count: 1 } }] } });
});

t.test('5 a write key does not read, a read key does not write', async (t) => {
  const answer = await ask({ ...service, readKey: service.writeKey }, '/beta/events/list', {});
  t.equal(answer.status, 403);
  t.equal((await ask({ ...service, readKey: 'nobody' }, '/beta/events/list', {})).status, 401);
});

t.test('key commands say what is wrong', async (t) => {
  const wrong: [string[], RegExp][] = [
    [['key', 'delete', '--data', service.folder, 'nobody'], /nobody/],
    [['key', 'create', '--data', service.folder, '--write', '--name', 'second'], /second/],
    [['key', 'create', '--data', service.folder, '--name', 'x'], /--write|--read/],
    [
      ['key', 'create', '--data', service.folder, '--read', '--name', 'x', '--filter', '(('],
      /filter/i,
    ],
    [
      [
        'key',
        'create',
        '--data',
        service.folder,
        '--write',
        '--name',
        'x',
        '--quota-percent',
        '10',
      ],
      /plan/i,
    ],
    [['key', 'list', '--data', `${service.folder}/nowhere`], /serve|running/],
    [['serve', '--dta', service.folder], /--data/],
  ];
  for (const [args, expected] of wrong) {
    const { code, stderr } = await runCommand(args);
    t.not(code, 0, args.join(' '));
    t.match(stderr, expected, args.join(' '));
  }
});
