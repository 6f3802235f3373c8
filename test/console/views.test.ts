import type { Page } from 'playwright-core';
import t from 'tap';
import { administer, firstUser, openViewer, PASSWORD } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const nowMs = Date.now();
await send(
  service,
  JSON.stringify(
    Array.from({ length: 60 }, (_, at) => ({
      date: new Date(nowMs - at * 10_000).toISOString(),
      message: `order ${at} placed`,
      level: at % 3 === 0 ? 'error' : 'info',
      host: `web-${at % 3}`,
    })),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
const button = page.locator('.view-button');
const search = page.getByRole('combobox');

/** Opens the choice of views and takes one of its entries. */
async function choose(on: Page, name: string): Promise<void> {
  await on.locator('.view-button').click();
  await on.getByRole('dialog', { name: 'Views' }).getByRole('button', { name }).click();
}

async function found(count: number): Promise<void> {
  await page
    .locator('.total')
    .filter({ hasText: `${count} event` })
    .waitFor();
}

t.test(
  'what is shown is kept as a view, and shown again with a range that is relative',
  async (t) => {
    await page.goto(`${service.http}/?q=level:error&from=now-6h&cols=custom.host*222&order=asc`);
    await found(20);
    await page.getByRole('button', { name: 'Wrap long lines' }).click();
    await button.click();
    await page.getByText('There are no views yet').waitFor();
    await page.getByRole('button', { name: 'Save as a new view' }).click();
    await page.getByLabel('Name').fill('Errors');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await button.filter({ hasText: 'Errors' }).waitFor();
    t.equal(await button.filter({ hasText: 'changed' }).count(), 0);

    await page.goto(`${service.http}/`);
    await found(60);
    await choose(page, 'Errors');
    await found(20);
    const { searchParams } = new URL(page.url());
    t.equal(searchParams.get('from'), 'now-6h');
    t.equal(searchParams.get('cols'), 'custom.host*222');
    t.equal(searchParams.get('order'), 'asc');
    t.equal(searchParams.get('wrap'), '1');
    t.equal(await search.inputValue(), 'level:error');
    await page.goBack();
    await found(60);
    t.equal(await button.innerText(), 'Views', 'the back button closes it');
    await page.goForward();
    await found(20);
  },
);

t.test('a view that is not as it was kept says so, is undone, and is saved', async (t) => {
  const changed = button.filter({ hasText: 'changed' });
  await search.fill('level:info');
  await search.press('Escape');
  await search.press('Enter');
  await changed.waitFor();
  await page.reload();
  await changed.waitFor();
  await choose(page, 'Undo the changes');
  await found(20);
  t.equal(await changed.count(), 0);
  const { searchParams } = new URL(page.url());
  searchParams.set('to', 'now');
  await page.goto(`${service.http}/?${searchParams}`);
  await found(20);
  await button.filter({ hasText: 'Errors' }).waitFor();
  t.equal(await changed.count(), 0, 'what holds anyway is no change');
  await page.locator('.row[data-index="1"] .line').click();
  await page.getByRole('region', { name: 'The event' }).waitFor();
  t.equal(await changed.count(), 0, 'an open event is no change');
  await page.getByRole('button', { name: 'Wrap long lines' }).click();
  await changed.waitFor();
  await choose(page, 'Save the changes');
  await page.getByText('The view Errors is saved.').waitFor();
  await changed.waitFor({ state: 'detached' });
});

t.test('all of it is done by keyboard, and the focus comes back', async (t) => {
  await page.locator('.list').focus();
  await page.keyboard.press('v');
  await page.getByRole('searchbox', { name: 'Find a view' }).fill('none of it');
  await page.getByText('No view has such a name.').waitFor();
  await page.keyboard.press('Escape');
  t.equal(await button.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Errors', pressed: true }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  const name = page.getByLabel('Name');
  await name.fill(' ');
  await name.press('Enter');
  await page.getByText(/^name has 0 characters; allowed are 1 to 100/).waitFor();
  await name.fill('<b>Faults</b>');
  await page.getByLabel('Shared with all who log in').press('Space');
  await name.press('Enter');
  await button.filter({ hasText: '<b>Faults</b>' }).waitFor();
  t.equal(await button.evaluate((element) => element === document.activeElement), true);
  t.equal(await page.locator('.view-button b').count(), 0, 'a name is no markup');
});

t.test(
  'a reader and the session of a read key see what is shared, and change nothing',
  async (t) => {
    await administer(service, 'POST', 'users', { name: 'rob', role: 'reader', password: PASSWORD });
    for (const data of [{ name: 'rob', password: PASSWORD }, { read_key: service.readKey }]) {
      const other = await viewer.browser.newContext();
      await other.request.post(`${service.http}/account/session`, {
        headers: { origin: service.http },
        data,
      });
      const theirs = await viewer.page({}, other);
      await theirs.goto(`${service.http}/`);
      await choose(theirs, 'Faults');
      await theirs.locator('.total').filter({ hasText: '20 events' }).waitFor();
      await theirs.locator('.view-button').click();
      await theirs.getByText('by admin').waitFor();
      for (const name of ['Rename or share', 'Delete', 'Save the changes']) {
        t.equal(await theirs.getByRole('button', { name }).count(), 0);
      }
      const own = await theirs.getByRole('button', { name: 'Save as a new view' }).count();
      t.equal(own, 'read_key' in data ? 0 : 1);
      await other.close();
    }
  },
);

t.test('a view is deleted when that is said twice', async (t) => {
  await choose(page, 'Delete');
  const dialog = page.getByRole('dialog', { name: /^Delete/ });
  await dialog.getByText('It goes for all who log in.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await button.filter({ hasText: 'Views' }).waitFor();
  t.equal(new URL(page.url()).searchParams.has('view'), false);
  await found(20);
  await button.click();
  await page.getByText('There are no views yet').waitFor();
  t.same(viewer.faults, []);
});
