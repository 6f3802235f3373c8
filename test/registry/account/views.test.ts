import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDisk } from '../../../engine/base/file.ts';
import { RecordFile } from '../../../engine/base/record-file.ts';
import {
  openViews,
  VIEWS_PATH,
  VIEWS_PER_USER_MAX,
  type Views,
} from '../../../server/registry/account/views.ts';

const ASKER = { who: 'ann', peer: '192.0.2.1' };
const ERRORS = { ownerId: 'ann', name: 'Errors', address: 'q=level%3Aerror', isShared: false };

function open(folder: string): Promise<Views> {
  return openViews({ disk: openDisk(folder), nowMs: () => 1_700_000_000_000 });
}

t.test(
  'views are there again after a restart, and the audit log has no search of them',
  async (t) => {
    const folder = t.testdir();
    const views = await open(folder);
    const errors = await views.create(ERRORS, ASKER);
    const slow = await views.create({ ...ERRORS, name: 'Slow', isShared: true }, ASKER);
    await views.change(errors.id, { address: 'q=level%3Afatal' }, ASKER);
    await views.delete(slow.id, ASKER);
    await views.close();
    const again = await open(folder);
    t.same(again.list(), [{ ...errors, address: 'q=level%3Afatal' }]);
    const log = readFileSync(join(folder, 'audit.log'), 'utf8');
    t.notMatch(log, /level/);
    const lines = log.trim().split('\n');
    t.same(
      lines.map((line) => JSON.parse(line)).map(({ what, name, shared }) => [what, name, shared]),
      [
        ['create', 'Errors', false],
        ['create', 'Slow', true],
        ['change', 'Errors', false],
        ['delete', 'Slow', true],
      ],
    );
    await again.close();
  },
);

t.test('names are unique for a user, and names and addresses are bounded', async (t) => {
  const views = await open(t.testdir());
  const errors = await views.create(ERRORS, ASKER);
  await t.rejects(views.create(ERRORS, ASKER), { code: 'USAGE', message: /"Errors" is taken/ });
  await views.create({ ...ERRORS, ownerId: 'rob' }, ASKER);
  const slow = await views.create({ ...ERRORS, name: 'Slow' }, ASKER);
  await t.rejects(views.change(slow.id, { name: 'Errors' }, ASKER), { message: /is taken/ });
  await views.change(errors.id, { name: 'Errors', isShared: true }, ASKER);
  for (const [change, message] of [
    [{ name: '' }, /^name has 0 characters/],
    [{ name: 'a\nb' }, /^name has a control character/],
    [{ address: 'q=a b' }, /^address has a character/],
    [{ address: 'x'.repeat(4_097) }, /^address has 4097 characters; allowed are 4096/],
  ] as const) {
    await t.rejects(views.change(slow.id, change, ASKER), { code: 'USAGE', message });
  }
  t.match(views.get(slow.id), { name: 'Slow', address: ERRORS.address }, 'it is as it was');
  await t.rejects(views.change('none', {}, ASKER), { code: 'USAGE', message: /"none"/ });
  await views.close();
});

t.test('a user has so many views and no more', async (t) => {
  const views = await open(t.testdir());
  for (let at = 0; at < VIEWS_PER_USER_MAX; at++) {
    await views.create({ ...ERRORS, name: `view ${at}` }, ASKER);
  }
  await t.rejects(views.create(ERRORS, ASKER), {
    code: 'USAGE',
    message: /the user has 100 views/,
  });
  await views.create({ ...ERRORS, ownerId: 'rob' }, ASKER);
  await views.close();
});

t.test('the file does not grow with each change', async (t) => {
  const folder = t.testdir();
  const disk = openDisk(folder);
  const views = await open(folder);
  const { id } = await views.create(ERRORS, ASKER);
  for (let at = 0; at < 1_010; at++) await views.change(id, { address: `q=${at}` }, ASKER);
  t.ok((disk.sizeOf(VIEWS_PATH) ?? 0) < 100_000, 'it is shorter than 1,010 records');
  await views.close();
  const again = await open(folder);
  t.match(again.list(), [{ id, address: 'q=1009' }]);
  await again.close();
});

t.test('what a user who is gone kept alone is deleted, and what was shared stays', async (t) => {
  const views = await open(t.testdir());
  await views.create(ERRORS, ASKER);
  await views.create({ ...ERRORS, name: 'Shared', isShared: true }, ASKER);
  await views.create({ ...ERRORS, ownerId: 'rob' }, ASKER);
  await views.forget('ann', ASKER);
  t.same(
    views.list().map(({ ownerId, name }) => [ownerId, name]),
    [
      ['ann', 'Shared'],
      ['rob', 'Errors'],
    ],
  );
  await views.close();
});

t.test('a record that is no view is corruption', async (t) => {
  const folder = t.testdir();
  const { file } = RecordFile.open(openDisk(folder), VIEWS_PATH);
  await file.append({ type: 'view', view: { ...ERRORS, id: 'a', changedMs: 'now' } });
  await file.close();
  await t.rejects(open(folder), { code: 'CORRUPTION', message: /record 0 of views/ });
});
