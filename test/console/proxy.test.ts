import t from 'tap';
import { administer, openViewer, PASSWORD } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const HEADER = 'X-Forwarded-User';
const service = await testService(t, [
  ...['--trusted-proxies', '127.0.0.1', '--proxy-user-header', HEADER],
]);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});
await administer(service, 'POST', 'users', { name: 'ann', role: 'admin', password: PASSWORD });
await send(service, JSON.stringify([{ message: 'order placed' }]));

t.test('a user whom a proxy names is in at once, and logs out at the proxy', async (t) => {
  const page = await viewer.page({ extraHTTPHeaders: { [HEADER]: 'ann' } });
  await page.goto(`${service.http}/users`);
  await page.getByText('(you)').waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Keyboard' }).waitFor();
  for (const name of ['Log out', 'Password']) {
    t.equal(await page.getByRole('menuitem', { name }).count(), 0, name);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Explore' }).click();
  await page.locator('.total').filter({ hasText: '1 event' }).waitFor();
});

t.test('one who is no user is told so', async (t) => {
  const page = await viewer.page({ extraHTTPHeaders: { [HEADER]: 'no <b>body' } });
  await page.goto(`${service.http}/`);
  await page.getByText('the proxy names "no <b>body", who is no user').waitFor();
  t.equal(await page.getByLabel('Password').count(), 0);
  t.same(viewer.faults, []);
});
