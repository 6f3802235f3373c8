import t from 'tap';
import { administer, firstUser, openViewer } from '../support/browser.ts';
import { listAll, send, testService } from '../support/service.ts';

const service = await testService(t, ['--seal-idle-minutes', '0']);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const DAY_MS = 86_400_000;
/** As many as make a segment of a day. */
const ROWS = 4_200;
const oldMs = Date.now() - 100 * DAY_MS;
await send(
  service,
  JSON.stringify(
    [oldMs, Date.now()].flatMap((date) => Array.from({ length: ROWS }, () => ({ date }))),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(8_000);
const told = page.getByRole('region', { name: 'What would go' });

t.test('12 what would go is told before a retention is saved, and then goes', async (t) => {
  await page.goto(`${service.http}/settings?kind=retention`);
  await page.getByLabel('Days').fill('soon');
  await page.getByRole('button', { name: 'What would go?' }).click();
  await page
    .locator('.field-fault')
    .filter({ hasText: /^days "soon" is not allowed; allowed: / })
    .waitFor();
  t.equal(await page.getByLabel('Days').inputValue(), 'soon', 'what was typed stays');
  await page.getByLabel('Days').fill('50');
  await page.getByRole('button', { name: 'What would go?' }).click();
  await told.waitFor();
  while (!(await told.innerText()).includes('are too old')) {
    t.match(await told.innerText(), /Up to [48],[24]00 events more go when their files are sealed/);
    await page.getByLabel('Days').fill('');
    await page.getByLabel('Days').fill('50');
    await page.getByRole('button', { name: 'What would go?' }).click();
    await told.waitFor();
  }
  const day = new Date(oldMs).toISOString().slice(0, 10);
  t.match(
    await told.innerText(),
    new RegExp(`4,200 events in .* are too old: of ${day} to ${day}`),
  );
  t.match(await administer(service, 'GET', 'retention'), { days: null, set: false });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The retention is in force').waitFor();
  while ((await listAll(service)).length > ROWS);
  await page.reload();
  t.equal(await page.getByLabel('Days').inputValue(), '50');
  await page.getByRole('button', { name: 'As configured' }).click();
  await page.getByText('The configuration is in force again').waitFor();
  while ((await page.getByLabel('Days').inputValue()) !== '');
  t.same(viewer.faults, []);
});
