import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDisk } from '../../../engine/base/file.ts';
import { RecordFile } from '../../../engine/base/record-file.ts';
import { hashPassword, isPassword } from '../../../server/registry/account/password.ts';
import { openUsers, USERS_PATH, type Users } from '../../../server/registry/account/users.ts';

const ASKER = { who: 'a test' };
const PASSWORD = 'correct horse battery';
const OTHER = 'staple of another kind';

function open(folder: string): Promise<Users> {
  return openUsers({ disk: openDisk(folder), nowMs: () => 1_700_000_000_000 });
}

t.test('a password is known by its hash, in either form of its letters', async (t) => {
  const hash = await hashPassword('Größe und mehr davon');
  t.equal(await isPassword('Größe und mehr davon'.normalize('NFD'), hash), true);
  t.equal(await isPassword('Grösse und mehr davon', hash), false);
  t.equal(await isPassword('Größe und mehr davon', undefined), false);
  const again = await hashPassword('Größe und mehr davon');
  t.not(Buffer.compare(hash.hash, again.hash), 0, 'salts differ');
});

t.test('more passwords at once than a queue holds are refused', async (t) => {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => isPassword(PASSWORD, undefined)),
  );
  const refused = results.filter(({ status }) => status === 'rejected');
  t.equal(refused.length, 4);
  t.match(refused[0], { reason: { code: 'LIMIT' } });
  t.equal(await isPassword(PASSWORD, undefined), false, 'then there is room again');
});

t.test('users are there again after a restart, and their passwords are in no file', async (t) => {
  const folder = t.testdir();
  const users = await open(folder);
  const admin = await users.createFirst({ name: 'ann', password: PASSWORD }, ASKER);
  t.match(admin, { name: 'ann', role: 'admin', passwordNumber: 1 });
  const reader = await users.create(
    { name: 'rob', role: 'reader', password: OTHER, filter: 'host:a', filterIds: [] },
    ASKER,
  );
  await users.close();
  const again = await open(folder);
  t.same(
    again.list().map(({ name, role, filter }) => ({ name, role, filter })),
    [
      { name: 'ann', role: 'admin', filter: undefined },
      { name: 'rob', role: 'reader', filter: 'host:a' },
    ],
  );
  t.equal((await again.authenticate('ann', PASSWORD))?.id, admin.id);
  t.equal((await again.authenticate('rob', OTHER))?.id, reader.id);
  t.equal(await again.authenticate('rob', PASSWORD), undefined);
  t.equal(await again.authenticate('nobody', PASSWORD), undefined);
  for (const file of [`${USERS_PATH}`, 'audit.log']) {
    t.notMatch(readFileSync(join(folder, file), 'latin1'), /correct horse|staple/);
  }
  const lines = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n');
  t.match(JSON.parse(lines[1] ?? ''), {
    who: 'a test',
    what: 'create',
    resource: 'users',
    name: 'rob',
  });
  await again.close();
});

t.test('users are changed and deleted, but for the last admin', async (t) => {
  const users = await open(t.testdir());
  const ann = await users.createFirst({ name: 'ann', password: PASSWORD }, ASKER);
  await t.rejects(users.createFirst({ name: 'eve', password: PASSWORD }, ASKER), {
    message: /there is a user already/,
  });
  await t.rejects(users.delete(ann.id, ASKER), { message: /the last admin stays/ });
  await t.rejects(users.change(ann.id, { role: 'reader' }, ASKER), { message: /the last admin/ });
  const rob = await users.create({ name: 'rob', role: 'reader', password: OTHER }, ASKER);
  await t.rejects(users.change(rob.id, { name: 'ann' }, ASKER), { message: /"ann" is taken/ });
  await t.rejects(users.change(rob.id, { password: 'short' }, ASKER), { message: /12 to 256/ });
  await t.rejects(users.change(ann.id, { filter: 'a' }, ASKER), { message: /no security_filter/ });
  const changed = await users.change(rob.id, { role: 'admin', password: PASSWORD }, ASKER);
  t.match(changed, { role: 'admin', passwordNumber: 2 });
  t.equal(await users.authenticate('rob', OTHER), undefined);
  t.equal((await users.authenticate('rob', PASSWORD))?.id, rob.id);
  await users.delete(ann.id, ASKER);
  t.equal(await users.authenticate('ann', PASSWORD), undefined);
  t.same(
    users.list().map(({ name }) => name),
    ['rob'],
  );
  await users.close();
});

t.test('a record that is no user is corruption', async (t) => {
  const folder = t.testdir();
  const { file } = RecordFile.open(openDisk(folder), USERS_PATH);
  await file.append({ type: 'user', user: { id: 'a', name: 'b', role: 'god' } });
  await file.close();
  await t.rejects(open(folder), { code: 'CORRUPTION', message: /record 0 of users: wrong role/ });
});
