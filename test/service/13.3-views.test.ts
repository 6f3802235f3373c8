import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeFolder, type Service, startService, temporaryFolder } from '../support/service.ts';
import { asked, logIn, resultOf } from '../support/session.ts';

const folder = temporaryFolder();
let service: Service = await startService(folder, [], {
  environment: { LOGSEAM_ADMIN_PASSWORD: 'correct horse battery' },
});
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const VIEWS = '/account/views';
const ERRORS = { name: 'Errors', address: 'q=level%3Aerror&from=now-1d' };
const PASSWORD = 'staple of another kind';

const admin = await logIn(service, { name: 'admin', password: 'correct horse battery' });
for (const name of ['ann', 'rob']) {
  const body = { name, role: 'reader', password: PASSWORD };
  await asked(service, 'POST', '/admin/api/users', { cookie: admin, body });
}
const ann = await logIn(service, { name: 'ann', password: PASSWORD });
const rob = await logIn(service, { name: 'rob', password: PASSWORD });
const keyed = await logIn(service, { read_key: service.readKey });

/** The views that a session sees: name, owner and whether it may change them. */
async function seen(cookie: string): Promise<unknown[][]> {
  const answer = await asked(service, 'GET', VIEWS, { cookie });
  const { views } = resultOf(answer) as { views: Record<string, unknown>[] };
  return views.map((view) => [view['name'], view['owner'], view['may_change']]);
}

let path = '';

t.test('13.3 a view is there for its owner alone until it is shared', async (t) => {
  const made = await asked(service, 'POST', VIEWS, { cookie: ann, body: ERRORS });
  t.match(resultOf(made), { ...ERRORS, shared: false, owner: 'ann', may_change: true });
  t.equal(made.headers.get('access-control-allow-origin'), null);
  path = `${VIEWS}/${resultOf(made)['id']}`;
  t.same(await seen(ann), [['Errors', 'ann', true]]);
  for (const cookie of [rob, admin, keyed]) {
    t.same(await seen(cookie), []);
    const body = { name: 'Mine' };
    t.equal((await asked(service, 'PATCH', path, { cookie, body })).status, 404);
    t.equal((await asked(service, 'DELETE', path, { cookie })).status, 404);
  }
  const body = { shared: true };
  t.match(resultOf(await asked(service, 'PATCH', path, { cookie: ann, body })), {
    ...ERRORS,
    shared: true,
  });
  t.same(await seen(rob), [['Errors', 'ann', false]]);
  t.same(await seen(keyed), [['Errors', 'ann', false]]);
  t.same(await seen(admin), [['Errors', 'ann', true]]);
});

t.test('13.3 what is shared is changed by its owner and by admins', async (t) => {
  const body = { address: 'q=other' };
  for (const cookie of [rob, keyed]) {
    for (const method of ['PATCH', 'DELETE']) {
      const parts = { cookie, ...(method === 'PATCH' ? { body } : {}) };
      t.match(await asked(service, method, path, parts), {
        status: 403,
        text: /allowed: its owner, or an admin/,
      });
    }
  }
  t.match(await asked(service, 'POST', VIEWS, { cookie: keyed, body: ERRORS }), {
    status: 403,
    text: /views are kept for users/,
  });
  const changed = await asked(service, 'PATCH', path, { cookie: admin, body: { name: 'Faults' } });
  t.match(resultOf(changed), { name: 'Faults', address: ERRORS.address, owner: 'ann' });
});

t.test('13.3 what is wrong with a view is told by parameter', async (t) => {
  for (const [body, message] of [
    [{ name: 'x' }, /^address is missing; allowed: parameters of an address/],
    [{ ...ERRORS, share: true }, /^share is unknown; did you mean \\?"shared/],
    [{ ...ERRORS, name: 7 }, /^name 7 is not allowed/],
    [{ ...ERRORS, address: 'q=<b>\n' }, /^address has a character/],
    [{ ...ERRORS, address: 'x'.repeat(5_000) }, /^address has 5000 characters; allowed are 4096/],
    [{ ...ERRORS, name: ' x' }, /^name begins or ends with a blank/],
  ] as const) {
    const answer = await asked(service, 'POST', VIEWS, { cookie: rob, body });
    t.equal(answer.status, 400);
    t.match(Object(answer.body).error.message, message);
  }
  t.equal((await asked(service, 'GET', VIEWS)).status, 401);
  const headers = { origin: 'https://elsewhere.test' };
  t.equal(
    (await asked(service, 'POST', VIEWS, { cookie: rob, body: ERRORS, headers })).status,
    403,
  );
  t.equal((await asked(service, 'GET', `${VIEWS}?all=1`, { cookie: rob })).status, 400);
});

t.test('13.3 views outlast a restart; with a user go those that are not shared', async (t) => {
  await asked(service, 'POST', VIEWS, { cookie: ann, body: ERRORS });
  await service.stop();
  service = await startService(folder);
  t.same(await seen(ann), [
    ['Faults', 'ann', true],
    ['Errors', 'ann', true],
  ]);
  await asked(service, 'DELETE', '/admin/api/users/ann', { cookie: admin });
  t.same(await seen(admin), [['Faults', null, true]]);
  t.same(await seen(rob), [['Faults', null, false]]);
  t.match(resultOf(await asked(service, 'DELETE', path, { cookie: admin })), { name: 'Faults' });
  t.same(await seen(rob), []);
});

t.test('13.3 the audit log tells who changed a view, and nothing of its search', async (t) => {
  const lines = readFileSync(join(folder, 'audit.log'), 'utf8').split('\n');
  const ofViews = lines.filter((line) => line.includes('"views"'));
  t.same(
    ofViews.map((line) => JSON.parse(line)).map(({ who, what, name }) => [who, what, name]),
    [
      ['ann', 'create', 'Errors'],
      ['ann', 'change', 'Errors'],
      ['admin', 'change', 'Faults'],
      ['ann', 'create', 'Errors'],
      ['admin', 'delete', 'Errors'],
      ['admin', 'delete', 'Faults'],
    ],
  );
  t.notMatch(ofViews.join('\n'), /level/);
});

t.test('13.3 a user has at most 100 views', async (t) => {
  for (let at = 0; at < 100; at++) {
    const body = { ...ERRORS, name: `view ${at}` };
    await asked(service, 'POST', VIEWS, { cookie: rob, body });
  }
  t.match(await asked(service, 'POST', VIEWS, { cookie: rob, body: ERRORS }), {
    status: 400,
    text: /the user has 100 views; allowed are so many/,
  });
  t.equal((await seen(rob)).length, 100);
});
