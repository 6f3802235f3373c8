import t from 'tap';
import { administer, firstUser, openViewer, PASSWORD, rowTexts } from '../support/browser.ts';
import { request, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
let writeKey = '';

function sendEvents(
  key: string,
  events: readonly object[],
): Promise<{ status: number; text: string }> {
  return request(`${service.http}/v1/input/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
}

/** Opens the menu of a key and takes one of its choices. */
async function choose(name: string, choice: string): Promise<void> {
  await page.getByRole('button', { name: `${name}: more` }).click();
  await page.getByRole('menuitem', { name: choice }).click();
}

t.test('2.1 a write key is made, shown once, and takes events', async (t) => {
  await page.goto(`${service.http}/keys`);
  await page.getByRole('button', { name: 'New write key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('x'.repeat(101));
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /^name .*100 characters/ })
    .waitFor();
  await page.getByLabel('Name', { exact: true }).fill('shop');
  await page.getByLabel('Daily quota').selectOption('megabytes');
  await page.getByLabel('MB a day').fill('0.01');
  await page.getByRole('button', { name: 'Make the key' }).click();
  writeKey = await page.locator('.secret code').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  t.equal((await sendEvents(writeKey, [{ message: 'public', team: 'a' }])).status, 200);
  await page
    .locator('.key')
    .filter({ hasText: 'shop' })
    .filter({ hasText: '64 B today of 10' })
    .waitFor();
});

t.test(
  '2.1 a quota that is reached is shown, and differs from a key that is switched off',
  async (t) => {
    const big = Array.from({ length: 30 }, (_, at) => ({
      message: `secret ${at}`,
      team: 'b',
      pad: 'x'.repeat(400),
    }));
    t.equal((await sendEvents(writeKey, big)).status, 200);
    t.equal((await sendEvents(writeKey, big)).status, 429);
    const row = page.locator('.key').filter({ hasText: 'shop' });
    await row.getByText('quota spent, until midnight UTC').waitFor();
    await choose('shop', 'Name and quota');
    await page.getByLabel('Daily quota').selectOption('none');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('takes events').waitFor();
    await row.getByRole('button', { name: 'Switch off' }).click();
    await row.getByText('switched off').waitFor();
    t.not((await sendEvents(writeKey, big)).status, 200);
    await row.getByRole('button', { name: 'Switch on' }).click();
    await row.getByText('takes events').waitFor();
  },
);

let readKey = '';
t.test(
  '2.2 a read key with a filter: its effect is told before, and viewing as it shows nothing hidden',
  async (t) => {
    await page.getByRole('button', { name: 'New read key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('team a');
    await page.getByLabel('Security filter').fill('team:');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /position|offset|character/ })
      .waitFor();
    await page.getByLabel('Security filter').fill('team:a');
    await page.getByRole('button', { name: 'Try the filter' }).click();
    await page.getByText('It would see 1 of the 31 events').waitFor();
    await page.getByRole('button', { name: 'Make the key' }).click();
    readKey = await page.locator('.secret code').innerText();
    await page.getByRole('button', { name: 'Done' }).click();
    await page
      .locator('.key')
      .filter({ hasText: 'team a' })
      .getByRole('button', { name: 'View as it' })
      .click();
    await page.getByText('You see what the read key team a sees').waitFor();
    await page
      .locator('.total')
      .filter({ hasText: /^1 event$/ })
      .waitFor();
    t.same(await rowTexts(page), ['public']);
    t.notMatch(await page.locator('body').innerText(), /secret/);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page
      .locator('.total')
      .filter({ hasText: /^31 events$/ })
      .waitFor();
  },
);

t.test(
  '13.1 a read key logs in as a reader, who sees what it may and has no administration',
  async (t) => {
    const reader = await viewer.page();
    await reader.goto(`${service.http}/keys`);
    await reader.getByRole('button', { name: 'Read key' }).click();
    await reader.getByLabel('Read key', { exact: true }).fill(readKey);
    await reader.getByRole('button', { name: 'Log in' }).click();
    await reader.getByText('This is for administrators').waitFor();
    t.equal(await reader.getByRole('link', { name: 'Keys' }).count(), 0);
    await reader.getByRole('link', { name: 'Explore', exact: true }).click();
    await reader
      .locator('.total')
      .filter({ hasText: /^1 event$/ })
      .waitFor();
    t.notMatch(await reader.locator('.cost').innerText(), /block/, 'blocks tell of what is hidden');
    await reader
      .context()
      .request.delete(`${service.http}/account/session`, { headers: { origin: service.http } });
    await reader.getByRole('button', { name: 'Run' }).click();
    await reader.getByRole('button', { name: 'Log in' }).waitFor();
    t.match(reader.url(), /\/$/, 'the address stays');
    await reader.close();
  },
);

t.test('13 looking as a read key is for administrators, and for keys that are there', async (t) => {
  const body = JSON.stringify({ time: { from: 'now-1h', to: 'now+1h' } });
  const asAdmin = (id: string) =>
    context.request.post(`${service.http}/beta/events/list`, {
      headers: {
        origin: service.http,
        'content-type': 'application/json',
        'x-logseam-view-as': id,
      },
      data: body,
    });
  t.equal((await asAdmin('nothing')).status(), 404);
  const { read_keys: keys } = await administer<{ read_keys: { id: string; name: string }[] }>(
    service,
    'GET',
    'read_keys',
  );
  const id = keys.find(({ name }) => name === 'team a')?.id ?? '';
  const seen = (await (await asAdmin(id)).json()) as { result: { events: unknown[] } };
  t.equal(seen.result.events.length, 1);
});

t.test('2.1 a key is deleted by its name, and refused from then on', async (t) => {
  await page.goto(`${service.http}/keys`);
  await choose('shop', 'Delete');
  const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true });
  t.ok(await remove.isDisabled());
  await page.getByLabel('Type shop to delete it').fill('shop');
  await remove.click();
  await page.locator('.key').filter({ hasText: 'shop' }).waitFor({ state: 'detached' });
  t.equal((await sendEvents(writeKey, [{}])).status, 401);
});

t.test('13.1 users are made, changed and deleted, and the audit log tells of it', async (t) => {
  await page.goto(`${service.http}/users`);
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('ann');
  await dialog.getByLabel('Password').fill('short');
  await dialog.getByRole('button', { name: 'Make the user' }).click();
  await dialog
    .getByRole('alert')
    .filter({ hasText: /password/ })
    .waitFor();
  await dialog.getByLabel('Password').fill('a long enough password');
  await dialog.getByLabel('Security filter').fill('team:a');
  await dialog.getByRole('button', { name: 'Make the user' }).click();
  await page.getByRole('row').filter({ hasText: 'ann' }).filter({ hasText: 'team:a' }).waitFor();
  await choose('admin', 'Delete');
  await page.getByText(/last admin/).waitFor();
  await choose('ann', 'Delete');
  await page.getByRole('row').filter({ hasText: 'ann' }).waitFor({ state: 'detached' });
  await page.goto(`${service.http}/audit`);
  await page.getByLabel('Find in the audit log').fill('ann');
  await page.getByRole('row').filter({ hasText: 'delete users ann' }).waitFor();
  t.equal(await page.locator('tbody tr').count(), 2, 'ann is made and deleted');
});

t.test('names with hidden characters show them', async (t) => {
  await administer(service, 'POST', 'read_keys', { name: 'turn\u202ede' });
  await page.goto(`${service.http}/keys`);
  await page.locator('.key-name').filter({ hasText: 'turn⟨U+202E⟩de' }).waitFor();
  await choose('turn\u202ede', 'Delete');
  await page.getByLabel('Type turn⟨U+202E⟩de to delete it').fill('turn⟨U+202E⟩de');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const rows = page.locator('.key-name').filter({ hasText: 'turn' });
  await rows.waitFor({ state: 'detached' });
  t.equal(await rows.count(), 0);
});

t.test('tables are ordered by their columns, in both directions', async (t) => {
  await page.goto(`${service.http}/audit`);
  const dates = page.locator('tbody td.when');
  await dates.first().waitFor();
  const head = page.getByRole('columnheader', { name: 'When' });
  for (const [order, sign] of [
    ['ascending', 1],
    ['descending', -1],
  ] as const) {
    await head.getByRole('button').click();
    t.equal(await head.getAttribute('aria-sort'), order);
    const shown = await dates.allInnerTexts();
    const sorted = shown.toSorted((left, right) => sign * left.localeCompare(right));
    t.same(shown, sorted);
  }
});

t.test('13.1 a refusal stands beside the field of the parameter that it names', async (t) => {
  await page.goto(`${service.http}/account`);
  const now = page.getByLabel('Password in force');
  const next = page.getByLabel('New password');
  await now.fill(PASSWORD);
  await next.fill('short');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText(/^new_password has 5 characters/).waitFor();
  t.equal(await next.getAttribute('aria-invalid'), 'true');
  t.equal(await now.getAttribute('aria-invalid'), null);
  await now.fill('not the one in force');
  await next.fill('another long password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText(/password is not the one in force/).waitFor();
  t.equal(await now.getAttribute('aria-invalid'), 'true');
  t.equal(await next.inputValue(), 'another long password', 'what was typed stays');
  t.same(viewer.faults, []);
});
