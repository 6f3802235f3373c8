import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type Answer,
  removeFolder,
  request,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import {
  type Asked,
  asked as askedOf,
  cookieOf,
  logIn as logInTo,
  resultOf,
} from '../support/session.ts';

const folder = temporaryFolder();
let service: Service = await startService(folder);
const { readKey } = service;
const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const PASSWORD = 'correct horse battery';
const OTHER = 'staple of another kind';
const TIME = { from: 'now-1h', to: 'now+1h' };

await send(
  service,
  JSON.stringify([
    { host: 'a', n: 1 },
    { host: 'b', n: 2 },
    { host: 'b', n: 3 },
  ]),
);

const asked = (method: string, path: string, parts: Asked = {}): Promise<Answer> =>
  askedOf(service, method, path, parts);
const logIn = (body: unknown): Promise<string> => logInTo(service, body);

/** Numbers of the events that a session sees, or the status of the refusal. */
async function seen(cookie: string): Promise<number[] | number> {
  const body = { time: TIME, event: true };
  const { status, body: answer } = await asked('POST', '/beta/events/list', { cookie, body });
  if (status !== 200) return status;
  const { events } = Object(answer).result as { events: { event: { custom: { n: number } } }[] };
  return events.map(({ event }) => event.custom.n).sort();
}

let admin = '';

t.test('13.1 the first user is made by the token of the folder, once', async (t) => {
  const path = join(folder, 'setup-token');
  const setup = readFileSync(path, 'utf8').trim();
  const user = { name: 'ann', password: PASSWORD };
  const wrong = { ...user, token: `${setup.slice(1)}x` };
  t.match(await asked('POST', '/account/setup', { body: wrong }), { status: 403 });
  const short = { ...user, token: setup, password: 'short' };
  t.match(await asked('POST', '/account/setup', { body: short }), {
    status: 400,
    text: /password has 5 characters; allowed are 12 to 256/,
  });
  const made = await asked('POST', '/account/setup', { body: { ...user, token: setup } });
  t.equal(made.status, 200, made.text);
  t.match(resultOf(made), { type: 'user', name: 'ann', role: 'admin', security_filter: null });
  t.match(
    made.headers.get('set-cookie'),
    /^logseam=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
  );
  t.equal(made.headers.get('access-control-allow-origin'), null);
  t.equal(made.headers.get('cache-control'), 'no-store');
  admin = cookieOf(made);
  t.equal(existsSync(path), false, 'the link is over');
  const again = { name: 'eve', password: PASSWORD, token: setup };
  t.match(await asked('POST', '/account/setup', { body: again }), { status: 403 });
});

t.test('13.1 an admin manages, and sees all events', async (t) => {
  t.same(await seen(admin), [1, 2, 3]);
  t.match(await asked('GET', '/account/session', { cookie: admin }), { status: 200 });
  const reader = { name: 'rob', role: 'reader', password: OTHER, security_filter: 'host:b' };
  const made = await asked('POST', '/admin/api/users', { cookie: admin, body: reader });
  t.match(resultOf(made), { name: 'rob', role: 'reader', security_filter: 'host:b' });
  t.notMatch(made.text, /staple/);
  const listed = await asked('GET', '/admin/api/users', { cookie: admin });
  t.match(resultOf(listed), { users: [{ name: 'ann' }, { name: 'rob' }] });
  t.match(await asked('GET', '/metrics', { cookie: admin }), { status: 200 });
  const malformed = { ...reader, name: 'x', security_filter: 'a:((' };
  t.match(await asked('POST', '/admin/api/users', { cookie: admin, body: malformed }), {
    status: 400,
    text: /security_filter/,
  });
  t.match(await asked('DELETE', '/admin/api/users/ann', { cookie: admin }), {
    status: 400,
    text: /the last admin stays/,
  });
});

t.test('13.1 a reader sees what the filter leaves, and manages nothing', async (t) => {
  const reader = await logIn({ name: 'rob', password: OTHER });
  t.same(await seen(reader), [2, 3]);
  t.match(await asked('GET', '/admin/api/users', { cookie: reader }), {
    status: 403,
    text: /a reader has logged in; allowed: an admin/,
  });
  t.match(await asked('GET', '/metrics', { cookie: reader }), { status: 403 });
  const change = { security_filter: 'host:a' };
  await asked('PATCH', '/admin/api/users/rob', { cookie: admin, body: change });
  t.same(await seen(reader), [1], 'a changed filter is in force at once');
});

t.test('13.1 whoever has a read key logs in by it', async (t) => {
  t.match(await asked('POST', '/account/session', { body: { read_key: service.writeKey } }), {
    status: 401,
  });
  const body = { name: 'narrow', security_filter: 'n:3' };
  const made = resultOf(await asked('POST', '/admin/api/read_keys', { cookie: admin, body }));
  const cookie = await logIn({ read_key: made['key'] });
  t.match(resultOf(await asked('GET', '/account/session', { cookie })), {
    ...{ type: 'key', name: 'narrow', role: 'reader', security_filter: 'n:3' },
  });
  t.same(await seen(cookie), [3]);
  const passwords = { password: PASSWORD, new_password: OTHER };
  t.match(await asked('POST', '/account/password', { cookie, body: passwords }), { status: 403 });
  await asked('DELETE', '/admin/api/read_keys/narrow', { cookie: admin });
  t.equal(await seen(cookie), 401, 'the session ends with the key');
});

t.test('13.1 requests of other sites are refused', async (t) => {
  const body = { time: TIME };
  for (const headers of [
    { origin: 'https://elsewhere.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]) {
    const list = await asked('POST', '/beta/events/list', { cookie: admin, body, headers });
    t.match(list, { status: 403, text: /same origin/ }, JSON.stringify(headers));
    const user = { cookie: admin, body: {}, headers };
    t.match(await asked('POST', '/admin/api/users', user), { status: 403 });
    const login = { body: { name: 'ann', password: PASSWORD }, headers };
    t.match(await asked('POST', '/account/session', login), { status: 403 });
  }
  const byAddress = { 'sec-fetch-site': 'none', origin: '' };
  t.match(await asked('GET', '/account/session', { cookie: admin, headers: byAddress }), {
    status: 200,
  });
  const keyed = { 'sec-fetch-site': 'cross-site', 'x-api-key': readKey };
  t.match(await asked('POST', '/beta/events/list', { body, headers: keyed }), { status: 200 });
});

t.test('5 a read key is taken as Bearer and as Basic', async (t) => {
  const basic = Buffer.from(`:${readKey}`).toString('base64');
  for (const authorization of [`Bearer ${readKey}`, `Basic ${basic}`]) {
    const headers = { authorization };
    t.match(await asked('POST', '/beta/events/list', { body: { time: TIME }, headers }), {
      status: 200,
    });
  }
  const headers = { authorization: `Bearer ${token}` };
  t.match(await asked('POST', '/beta/events/list', { body: { time: TIME }, headers }), {
    status: 401,
  });
});

t.test('13.1 sessions outlast a restart; logging out and a new password end them', async (t) => {
  const other = await logIn({ name: 'ann', password: PASSWORD });
  await service.stop();
  service = await startService(folder);
  t.same(await seen(admin), [1, 2, 3]);
  const third = await logIn({ name: 'ann', password: PASSWORD });
  const out = await asked('DELETE', '/account/session', { cookie: third });
  t.match(out.headers.get('set-cookie'), /^logseam=; .*Max-Age=0$/);
  t.equal(await seen(third), 401);
  const wrong = { password: OTHER, new_password: OTHER };
  t.match(await asked('POST', '/account/password', { cookie: admin, body: wrong }), {
    status: 403,
  });
  const body = { password: PASSWORD, new_password: OTHER };
  const changed = await asked('POST', '/account/password', { cookie: admin, body });
  t.equal(changed.status, 200, changed.text);
  t.equal(await seen(admin), 401);
  t.equal(await seen(other), 401);
  admin = cookieOf(changed);
  t.same(await seen(admin), [1, 2, 3]);
});

t.test('13.1 whoever guesses has to wait, others have not', async (t) => {
  const guess = { body: { name: 'ann', password: 'a wrong password' } };
  const statuses: number[] = [];
  let last: Answer | undefined;
  for (let count = 0; count < 12; count++) {
    last = await asked('POST', '/account/session', guess);
    statuses.push(last.status);
  }
  t.equal(statuses.filter((status) => status === 401).length, 10);
  t.match(last, { status: 429, text: /too many logins/ });
  t.match(last?.headers.get('retry-after'), /^[1-9]\d?$/);
  t.same(await seen(admin), [1, 2, 3], 'sessions go on');
});

t.test(
  '13.1 the password of the environment makes the user admin, once, and no link',
  async (t) => {
    const other = temporaryFolder();
    const environment = { LOGSEAM_ADMIN_PASSWORD: PASSWORD };
    for (const password of [PASSWORD, OTHER]) {
      const started = await startService(other, [], {
        environment: { LOGSEAM_ADMIN_PASSWORD: password },
      });
      t.equal(existsSync(join(other, 'setup-token')), false);
      t.match(started.output(), /console +http/);
      t.notMatch(started.output(), password);
      const login = await request(`${started.http}/account/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: started.http },
        body: JSON.stringify({ name: 'admin', password: PASSWORD }),
      });
      t.equal(login.status, 200, 'a later password changes nothing');
      await started.stop();
    }
    removeFolder(other);
    const short = temporaryFolder();
    environment.LOGSEAM_ADMIN_PASSWORD = 'short';
    await t.rejects(startService(short, [], { environment }), /password/);
    removeFolder(short);
  },
);

t.test('13.1 the audit log tells who did what', async (t) => {
  const lines = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n');
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const has = (wanted: object): boolean =>
    told.some((line) => Object.entries(wanted).every(([name, value]) => line[name] === value));
  t.ok(has({ who: 'set-up link', what: 'create', resource: 'users', name: 'ann' }));
  t.ok(has({ who: 'ann', what: 'create', resource: 'users', name: 'rob', peer: '127.0.0.1' }));
  t.ok(has({ who: 'rob', what: 'login', resource: 'session' }));
  t.ok(has({ who: 'read key narrow', what: 'login', resource: 'session' }));
  t.ok(has({ who: 'ann', what: 'logout', resource: 'session' }));
  t.ok(has({ who: 'ann', what: 'change with password', resource: 'users' }));
  t.notMatch(lines.join('\n'), /correct horse|staple/);
});
