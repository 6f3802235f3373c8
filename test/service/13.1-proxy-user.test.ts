import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import {
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { asked as askedOf, logIn } from '../support/session.ts';

const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';
const PASSWORD = 'correct horse battery';
const TIME = { from: 'now-1h', to: 'now+1h' };

const folder = temporaryFolder();
const service: Service = await startService(
  folder,
  ['--trusted-proxies', PROXY, '--proxy-user-header', 'X-Auth-Request-User'],
  { environment: { LOGSEAM_ADMIN_PASSWORD: PASSWORD } },
);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

interface Sent {
  from?: string;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  user?: string | string[];
}

/** A request through the proxy, or from another peer; its status and its answer. */
function asked(path: string, sent: Sent = {}): Promise<{ status: number; text: string }> {
  const { from = PROXY, method = 'GET', body, headers = {}, user } = sent;
  const named = user === undefined ? {} : { 'x-auth-request-user': user };
  return new Promise((resolve, reject) => {
    const options = {
      ...{ method, localAddress: from, agent: false as const },
      headers: { 'content-type': 'application/json', origin: service.http, ...named, ...headers },
    };
    const request = httpRequest(`${service.http}${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Numbers of the events that a request sees, or the status of the refusal. */
async function seen(sent: Sent): Promise<number[] | number> {
  const body = { time: TIME, event: true };
  const { status, text } = await asked('/beta/events/list', { method: 'POST', body, ...sent });
  if (status !== 200) return status;
  const { events } = JSON.parse(text).result as { events: { event: { custom: { n: number } } }[] };
  return events.map(({ event }) => event.custom.n).sort();
}

await send(
  service,
  JSON.stringify([
    { host: 'a', n: 1 },
    { host: 'b', n: 2 },
    { host: 'b', n: 3 },
  ]),
);
const admin = await logIn(service, { name: 'admin', password: PASSWORD });
const rob = { name: 'rob', role: 'reader', password: PASSWORD, security_filter: 'host:b' };
await askedOf(service, 'POST', '/admin/api/users', { cookie: admin, body: rob });

t.test(
  '13.1 the user whom a trusted proxy names is let in, with the rights of that user',
  async (t) => {
    t.same(await seen({ user: 'rob' }), [2, 3]);
    t.same(await seen({ user: 'admin' }), [1, 2, 3]);
    const session = await asked('/account/session', { user: 'rob' });
    t.match(JSON.parse(session.text), {
      result: { type: 'user', name: 'rob', role: 'reader', security_filter: 'host:b', ends: null },
    });
    t.equal((await asked('/admin/api/users', { user: 'rob' })).status, 403);
    t.equal((await asked('/admin/api/users', { user: 'admin' })).status, 200);
    t.equal((await asked('/metrics', { user: 'admin' })).status, 200);
    t.same(await seen({ user: 'rob', headers: { cookie: admin } }), [2, 3], 'above a session');
    t.same(await seen({ user: 'rob', headers: { 'x-api-key': service.readKey } }), [1, 2, 3]);
    t.match(await asked('/account/session', { method: 'DELETE', user: 'rob' }), {
      status: 403,
      text: /log out there/,
    });
  },
);

t.test('13.1 the header of any other peer is as if it were not there', async (t) => {
  t.equal(await seen({ from: STRANGER, user: 'admin' }), 401);
  t.equal(await seen({ from: STRANGER, user: ['admin', 'rob'] }), 401);
  const forwarded = { 'x-forwarded-for': PROXY };
  t.equal(await seen({ from: STRANGER, user: 'admin', headers: forwarded }), 401);
  t.same(await seen({ from: STRANGER, user: 'rob', headers: { cookie: admin } }), [1, 2, 3]);
  t.equal((await asked('/admin/api/users', { from: STRANGER, user: 'admin' })).status, 401);
});

t.test(
  '13.1 one who is no user, and several at once, are refused; an empty name is none',
  async (t) => {
    const nobody = await asked('/account/session', { user: 'no <b>body' });
    t.match(nobody, { status: 403, text: /the proxy names \\"no <b>body\\", who is no user/ });
    t.equal(await seen({ user: 'no body', headers: { cookie: admin } }), 403);
    t.match(await asked('/account/session', { user: ['rob', 'rob'] }), {
      status: 403,
      text: /the proxy names 2 users; allowed: one/,
    });
    t.equal((await asked('/admin/api/users', { user: ['admin', ''] })).status, 403);
    t.equal(await seen({ user: '' }), 401);
    t.same(await seen({ user: '', headers: { cookie: admin } }), [1, 2, 3]);
    const [id] = JSON.parse((await asked('/admin/api/users', { user: 'admin' })).text).result.users;
    t.equal(await seen({ user: id.id }), 403, 'an id is no name');
  },
);

t.test('13.1 requests of other sites are refused through a proxy too', async (t) => {
  const body = { name: 'eve', role: 'admin', password: PASSWORD };
  for (const headers of [
    { origin: 'https://elsewhere.test' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const sent = { method: 'POST', body, headers, user: 'admin' };
    t.match(await asked('/admin/api/users', sent), { status: 403, text: /same origin/ });
    t.equal(await seen({ headers, user: 'admin' }), 403);
  }
});

t.test(
  '13.1 an admin whom a proxy names looks as a read key does, and is in the audit log',
  async (t) => {
    const key = { name: 'narrow', security_filter: 'n:3' };
    const caller = { 'x-forwarded-for': '192.0.2.9' };
    const sent = { method: 'POST', body: key, user: 'admin', headers: caller };
    const made = JSON.parse((await asked('/admin/api/read_keys', sent)).text).result;
    const headers = { 'x-logseam-view-as': made.id };
    t.same(await seen({ user: 'admin', headers }), [3]);
    t.equal(await seen({ user: 'rob', headers }), 403);
    const lines = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n');
    t.match(JSON.parse(lines.at(-1) ?? ''), {
      ...{ who: 'admin', peer: '192.0.2.9', what: 'create', resource: 'read_keys', name: 'narrow' },
    });
  },
);

t.test('13.1 a user who is deleted is not let in any more', async (t) => {
  await asked('/admin/api/users/rob', { method: 'DELETE', user: 'admin' });
  t.equal(await seen({ user: 'rob' }), 403);
});

t.test(
  '13.1 without the setting the header says nothing, and without proxies the log says so',
  async (t) => {
    const other = temporaryFolder();
    const plain = await startService(other, ['--trusted-proxies', PROXY]);
    const headers = { 'x-auth-request-user': 'admin', 'x-forwarded-user': 'admin' };
    t.match(await askedOf(plain, 'GET', '/account/session', { headers }), { status: 401 });
    await plain.stop();
    const lonely = await startService(other, ['--proxy-user-header', 'X-Forwarded-User']);
    t.match(lonely.output(), /proxy_user_header is believed from nobody/);
    t.match(await askedOf(lonely, 'GET', '/account/session', { headers }), { status: 401 });
    await lonely.stop();
    await t.rejects(
      startService(other, ['--proxy-user-header', 'X Forwarded']),
      /proxy_user_header/,
    );
    removeFolder(other);
  },
);
