import t from 'tap';
import { administer, firstUser, openViewer } from '../support/browser.ts';
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
      team: at % 3 === 0 ? 'shop' : '<b>mail</b>',
      took: at,
    })),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(8_000);
const dialog = page.getByRole('dialog');

/** Opens the definitions of a kind, and the form of a new one with a name. */
async function begin(kind: string, button: string, name: string): Promise<void> {
  await page.goto(`${service.http}/settings?kind=${kind}`);
  await page.getByRole('button', { name: button }).click();
  await dialog.getByLabel('Name', { exact: true }).fill(name);
}

/** Shows the preview of the form, and returns the texts of its rows. */
async function preview(rows: number): Promise<string[]> {
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog
    .locator('.preview-row')
    .nth(rows - 1)
    .waitFor();
  const texts = await dialog.locator('.preview-row').allInnerTexts();
  return texts.map((text) => text.replaceAll(/\s+/g, ' '));
}

async function save(): Promise<void> {
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
}

t.test(
  '2.5 a field: a refusal stands beside, its values are shown before it is saved',
  async (t) => {
    await begin('fields', 'New field', 'Team');
    await dialog.getByLabel('Attribute').fill('team');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByRole('alert')
      .filter({ hasText: /^attribute "team" is not allowed/ })
      .waitFor();
    t.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Team');
    await dialog.getByLabel('Attribute').fill('custom.team');
    t.same(await preview(2), ['<b>mail</b> 40 · 67 %', 'shop 20 · 33 %']);
    t.equal(await dialog.locator('b').count(), 0, 'a value is no markup');
    await save();
    await page.getByRole('row').filter({ hasText: 'custom.team' }).waitFor();
  },
);

t.test('2.6 metrics and a formula: what they give is shown, a cycle is refused', async (t) => {
  await begin('metrics', 'New metric', 'Slowest');
  await dialog.getByLabel('Attribute', { exact: true }).fill('custom.took');
  await dialog.getByLabel('Aggregation').selectOption('max');
  await dialog.getByLabel('Unit').fill('ms');
  t.same(await preview(1), ['max:custom.took 59 ms']);
  await dialog.getByLabel('Id').fill('slowest');
  await save();
  await begin('metrics', 'New metric', 'Twice');
  await dialog.getByLabel('Type').selectOption('formula');
  await dialog.getByLabel('Formula').fill('slowest * (');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .getByRole('alert')
    .filter({ hasText: /^formula .*malformed/ })
    .waitFor();
  await dialog.getByLabel('Formula').fill('slowest * 2');
  t.same(await preview(2), ['slowest * 2 118', 'slowest 59 ms']);
  await save();
  await page.getByRole('button', { name: 'Slowest: more' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alert').filter({ hasText: /twice/i }).waitFor();
});

t.test('2.5 a tagset: each tag has the events that those before it left', async (t) => {
  await begin('tagsets', 'New tagset', 'Teams');
  await dialog.getByLabel('Tag name').fill('Shop');
  await dialog.getByLabel('Search').fill('team:(');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .locator('.field-fault')
    .filter({ hasText: /^tags\[0\]\.query/ })
    .waitFor();
  await dialog.getByLabel('Search').fill('team:shop');
  await dialog.getByLabel('Tag name').fill('s'.repeat(101));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .locator('.field-fault')
    .filter({ hasText: /^tags\[0\]\.name has 101 characters; allowed are 1 to 100 characters$/ })
    .waitFor();
  const tagName = dialog.getByLabel('Tag name');
  t.equal(await tagName.getAttribute('aria-invalid'), 'true', 'it stands beside its field');
  t.equal((await tagName.inputValue()).length, 101, 'what was typed stays');
  await tagName.fill('Shop');
  await dialog.getByLabel('Colour').fill('#123456');
  await dialog.getByRole('button', { name: 'Another tag' }).click();
  await dialog.getByLabel('Tag name').nth(1).fill('Slow');
  await dialog.getByLabel('Search').nth(1).fill('took:>=30');
  t.same(await preview(3), ['Shop 20 · 33 %', 'Slow 20 · 33 %', 'without a tag 20 · 33 %']);
  await dialog.getByRole('button', { name: 'Tag 2 up' }).click();
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog
    .locator('.preview-row')
    .filter({ hasText: /Slow\s*30/ })
    .waitFor();
  await save();
  const { tagsets } = await administer<{ tagsets: { id: string; tags: { color: string }[] }[] }>(
    service,
    'GET',
    'tagsets',
  );
  t.same(
    tagsets.find(({ id }) => id === 'teams')?.tags.map(({ color }) => color),
    ['#ff7f0e', '#123456'],
  );
});

t.test('2.4 and 2.7 a group and a saved analysis are made, changed and deleted', async (t) => {
  await begin('groups', 'New group', 'Orders');
  await dialog.getByLabel('Teams').check();
  await dialog.getByLabel('Slowest').check();
  await save();
  await page.getByRole('row').filter({ hasText: 'teams, slowest' }).waitFor();
  await begin('saved_analyses', 'New saved analysis', 'By team');
  await dialog.getByLabel('Kind').selectOption('toplist');
  await dialog.getByRole('button', { name: 'Write it as JSON' }).click();
  await dialog.getByLabel('compute').fill('[{"metric":{"id":"count"}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field-fault').filter({ hasText: 'compute is no JSON' }).waitFor();
  await dialog.getByLabel('compute').fill('[{"metric":{"id":"count"}}]');
  await dialog.getByLabel('groupBy').fill('[{"field":{"id":"teams"}}]');
  t.same(await preview(2), ['Slow 30', 'Shop 10']);
  await save();
  await page.getByRole('button', { name: 'By team: more' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  await dialog.getByLabel('Description').fill('Who is slow');
  await save();
  await page.getByRole('row').filter({ hasText: 'Who is slow' }).waitFor();

  await begin('saved_analyses', 'New saved analysis', 'Slow over time');
  await dialog.getByLabel('Kind').selectOption('timeseries');
  await dialog.getByLabel('Search').fill('duration:>100');
  await dialog.getByLabel('Metrics').fill('count, nothing');
  await dialog.getByLabel('Groups').fill('teams');
  await dialog.getByLabel('Interval').fill('10m');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field', { hasText: 'Metrics' }).getByRole('alert').waitFor();
  t.equal(await dialog.getByLabel('Metrics').inputValue(), 'count, nothing', 'it stays');
  await dialog.getByLabel('Metrics').fill('count, avg:custom.duration');
  await save();
  t.match(await administer(service, 'GET', 'saved_analyses/slow_over_time'), {
    kind: 'timeseries',
    filters: [{ search: { query: 'duration:>100' } }],
    compute: [
      { timeseries: { metricId: 'count', interval: '10m' } },
      { timeseries: { metricId: 'avg:custom.duration', interval: '10m' } },
    ],
    groupBy: [{ field: { id: 'teams' } }],
  });
  await page.getByRole('button', { name: 'Slow over time: more' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  t.equal(await dialog.getByLabel('Metrics').inputValue(), 'count, avg:custom.duration');
  await dialog.getByLabel('Interval').fill('1h');
  await save();
  t.match(await administer(service, 'GET', 'saved_analyses/slow_over_time'), {
    compute: [{ timeseries: { interval: '1h' } }, { timeseries: { interval: '1h' } }],
  });
  await page.getByRole('link', { name: 'Tagsets' }).click();
  await page.getByRole('button', { name: 'Teams: more' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const told = page.getByRole('alert').filter({ hasText: /group|analysis/ });
  await told.waitFor();
  t.match(await told.innerText(), /orders|by_team/);
  t.same(viewer.faults, []);
});
