import t from 'tap';
import { termOf } from '../../server/console/base/terms.ts';
import { firstUser, openViewer, rowTexts } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const MINUTE_MS = 60_000;
const nowMs = Date.now();
const LEVELS = ['info', 'info', 'info', 'warn', 'error'];
const HOSTILE = '<script>document.title="broken"</script><svg onload="document.title=\'broken\'">';
await send(
  service,
  JSON.stringify(
    Array.from({ length: 300 }, (_, at) => ({
      date: new Date(nowMs - at * 10_000).toISOString(),
      message: at === 7 ? `hostile ${HOSTILE}` : `order ${at} placed`,
      level: LEVELS[at % LEVELS.length],
      host: `web-${at % 3}`,
      duration: at * 1.5,
      big: at === 7 ? undefined : at,
      user: { id: at % 11 },
    })),
  ).replace('"big":9,', '"big":12345678901234567890,'),
);
await send(
  service,
  JSON.stringify([
    {
      date: new Date(nowMs - 3 * 60 * MINUTE_MS).toISOString(),
      message: `long ${'x'.repeat(1_000_000)} end`,
    },
    {
      date: new Date(nowMs - 4 * 60 * MINUTE_MS).toISOString(),
      message: 'wide \u001b[31mred\u001b[0m \u202eturned \u0007 bell',
      ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`name${at}`, at])),
    },
  ]),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
const HOUR = `${service.http}/`;
const search = page.getByRole('combobox');
const total = page.locator('.total');

/** Waits until the list says so many events, and nothing beside it changes any more. */
async function found(count: number): Promise<void> {
  await total
    .filter({ hasText: new RegExp(`^${count.toLocaleString('en-US')} events?$`) })
    .waitFor();
  await page.locator('.explore [aria-busy="true"]').first().waitFor({ state: 'detached' });
}

async function ask(query: string): Promise<void> {
  await search.fill(query);
  await search.press('Escape');
  await search.press('Enter');
}

t.test('a search finds, marks and counts exactly, and the back button undoes it', async (t) => {
  await page.goto(HOUR);
  await found(300);
  t.match(await page.locator('.toolbar').innerText(), /exact/);
  t.match(await page.locator('.cost').innerText(), /ms|s · read \d+ of \d+ block/);
  await ask('order level:error');
  await found(60);
  t.equal(await page.locator('.list mark').first().innerText(), 'order');
  t.match(page.url(), /q=order\+level%3Aerror/);
  await page.goBack();
  await found(300);
  t.equal(await search.inputValue(), '');
});

t.test('what is typed is completed from what is there', async (t) => {
  await search.fill('hos');
  await page.getByRole('option', { name: /host:/ }).click();
  await page.getByRole('option', { name: /web-2/ }).waitFor();
  await search.press('ArrowDown');
  await search.press('Enter');
  const value = await search.inputValue();
  t.match(value, /^host:web-\d$/);
  await search.press('Escape');
  await search.press('Enter');
  await found(100);
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await found(300);
});

t.test('facets filter, filter out and leave only', async (t) => {
  const level = page.getByRole('region', { name: 'level', exact: true });
  await level.getByRole('button', { name: /^error/ }).click();
  await found(60);
  t.equal(await search.inputValue(), 'level:error');
  await level.getByRole('button', { name: /^error/ }).click();
  await found(300);
  await level.getByRole('listitem').filter({ hasText: 'info' }).hover();
  await level.getByRole('button', { name: 'Filter out info' }).click();
  await found(120);
  await level.getByRole('listitem').filter({ hasText: 'warn' }).hover();
  await level.getByRole('button', { name: 'Only warn' }).click();
  await found(60);
  t.equal(await search.inputValue(), 'level:warn');
  await ask('');
  await found(300);
  await page.getByLabel('Find an attribute').fill('user');
  await page.getByRole('button', { name: 'user.id', exact: true }).click();
  await page.getByRole('region', { name: 'user.id' }).getByRole('button', { name: /^0/ }).waitFor();
  await page.getByLabel('Find an attribute').fill('');
});

t.test('the histogram counts by status, zooms by a drag, and is a table too', async (t) => {
  t.match(
    await page.locator('.legend').innerText(),
    /Error\s*60[\s\S]*Warning\s*60[\s\S]*Info\s*180/,
  );
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('dialog', { name: 'Events over time' }).waitFor();
  const rows = await page.locator('dialog tbody tr').count();
  t.ok(rows > 40 && rows < 55, `${rows} minutes have events`);
  await page.keyboard.press('Escape');
  const box = await page.locator('.u-over').boundingBox();
  if (box === null) throw new Error('there is no chart');
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 30, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=20/);
  await total.filter({ hasText: /^(?:8|9)\d events$/ }).waitFor();
  await page.goBack();
  await found(300);
  t.pass('the range is back');
});

t.test('an event opens in its place, with what can be done with each value', async (t) => {
  await ask('order AND -hostile');
  await found(299);
  await page.locator('.row[data-index="8"] .line').click();
  const event = page.getByRole('region', { name: 'The event' });
  t.match(await event.innerText(), /big\s+12345678901234567890/, 'the digits that were sent');
  await event.getByRole('button', { name: 'JSON', exact: true }).click();
  t.match(await event.locator('pre').innerText(), /"big": 12345678901234567890/);
  await event.getByRole('button', { name: 'JSON', exact: true }).click();
  await event.getByRole('button', { name: 'custom.host: what can be done with it' }).click();
  await page.getByRole('menuitem', { name: 'Show as a column' }).click();
  await page.getByRole('columnheader', { name: /host/ }).waitFor();
  t.match(page.url(), /cols=custom\.host/);
  const handle = await page.locator('.resize').boundingBox();
  if (handle === null) throw new Error('there is no handle');
  await page.mouse.move(handle.x + 4, handle.y + 8);
  await page.mouse.down();
  await page.mouse.move(handle.x + 104, handle.y + 8, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/cols=custom\.host(?:\*|%2A)\d{3}/);
  t.match(
    await page.locator('.list').getAttribute('style'),
    /--line-columns: 10\.75rem 2\.75rem \d{3}px/,
  );
  await event.getByRole('button', { name: 'custom.host: what can be done with it' }).click();
  await page.getByRole('menuitem', { name: 'Filter for it' }).click();
  await found(100);
  t.match(await search.inputValue(), /host:web-0$/);
  await page
    .getByRole('columnheader', { name: /host/ })
    .getByRole('button', { name: 'host', exact: true })
    .click();
  await page.waitForURL(/by=custom\.host/);
  await page.getByRole('button', { name: 'Column custom.host' }).click();
  await page.getByRole('menuitem', { name: 'Remove the column' }).click();
  await page.goto(HOUR);
  await found(300);
});

t.test('context shows the events around one, keeping the same host', async (t) => {
  await page.locator('.row[data-index="8"] .line').click();
  await page.getByRole('button', { name: 'Context' }).click();
  const dialog = page.getByRole('dialog', { name: 'Context' });
  await dialog.locator('.context-row.centre').waitFor();
  const texts = await dialog.locator('.context-row').allInnerTexts();
  t.equal(texts.length, 23, 'twenty before, three of the same host after');
  await dialog.getByRole('checkbox').first().uncheck();
  await dialog.getByText('order 7').waitFor({ state: 'detached' });
  await dialog.getByText(/order 9 placed/).waitFor();
  await dialog.getByLabel('Another attribute that is the same').selectOption('custom.user.id');
  await dialog.getByText(/order 9 placed/).waitFor({ state: 'detached' });
  await dialog.getByRole('checkbox', { name: /^user\.id = \d+$/ }).waitFor();
  const same = await dialog.locator('.context-row').allInnerTexts();
  t.ok(same.length > 20);
  for (const text of same) t.equal(Number(/order (\d+) placed/.exec(text)?.[1]) % 11, 8);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

t.test('statistics tell coverage, distinct values and numbers', async (t) => {
  const event = page.getByRole('region', { name: 'The event' });
  await event.getByRole('button', { name: 'custom.duration: what can be done with it' }).click();
  await page.getByRole('menuitem', { name: 'Statistics' }).click();
  const dialog = page.getByRole('dialog', { name: 'duration' });
  await dialog.getByText('300 of 300').waitFor();
  const text = await dialog.innerText();
  t.match(text, /Distinct values\s+300/);
  t.match(text, /max\s+448\.5/);
  t.match(text, /pc95/);
  await page.keyboard.press('Escape');
});

t.test('an event has an address of its own', async (t) => {
  await page.locator('body').click({ position: { x: 5, y: 5 } });
  await page.goto(HOUR);
  await found(300);
  await page.locator('.row[data-index="4"] .line').click();
  const id = new URL(page.url()).searchParams.get('e') ?? '';
  await page.goto(`${service.http}/event?id=${id}`);
  await page.getByText('order 4 placed').waitFor();
  await page.getByRole('link', { name: 'Events of that time' }).click();
  await total.filter({ hasText: /^\d\d events$/ }).waitFor();
  await page.goto(`${service.http}/event?id=AAAAAAAAAAAAAAAAAAAAAA`);
  await page
    .getByRole('alert')
    .filter({ hasText: /AAAA|event|id/ })
    .waitFor();
  t.pass('one that is not there is told');
});

t.test('nothing found says why, and one click mends it', async (t) => {
  await page.goto(`${service.http}/?q=level%3AERROR`);
  await page.getByText('Nothing found').waitFor();
  await page.getByRole('button', { name: 'level:error', exact: true }).click();
  await found(60);
  await ask('level:');
  await page.locator('.results .fault-note').waitFor();
  t.ok((await rowTexts(page)).length > 0, 'what was found stays');
});

t.test('the keys lead through the list, and do nothing while one types', async (t) => {
  await page.goto(HOUR);
  await found(300);
  await page.keyboard.press('/');
  await page.keyboard.type('jkx?');
  t.equal(await search.inputValue(), 'jkx?');
  await search.fill('');
  await search.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  t.match(await page.locator('.row.current').innerText(), /order 1 placed/);
  await page.getByRole('region', { name: 'The event' }).waitFor();
  t.match(await page.locator('.toolbar').innerText(), /row 2 of 300/);
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'The event' }).waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('checkbox', { name: /Single keys/ }).uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  t.notMatch(page.url(), /live/);
  await page.reload();
  await found(300);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: /Keyboard/ }).click();
  await page.getByRole('checkbox', { name: /Single keys/ }).check();
  await page.keyboard.press('Escape');
});

t.test('what events hold is never markup, and hidden characters are seen', async (t) => {
  await ask('hostile');
  await found(1);
  t.match((await rowTexts(page))[0], '<script>document.title=');
  await page.locator('.row[data-index="0"] .line').click();
  t.not(await page.title(), 'broken');
  await page.goto(`${service.http}/?from=now-1d&q=wide`);
  await found(1);
  t.match((await rowTexts(page))[0], /wide red ⟨U\+202E⟩turned ␇ bell/);
  t.equal(await page.locator('.list .ansi-red').innerText(), 'red');
  await page.locator('.row[data-index="0"] .line').click();
  await page.getByRole('button', { name: 'Show all 1001 attributes' }).click();
  t.equal(await page.locator('.attribute').count(), 1001);
});

t.test('an address that is garbled is read as far as it goes', async (t) => {
  const facets = `%25,custom.level,nothing,${'custom.x,'.repeat(3)}custom.__proto__`;
  const cols = '%25,custom.host,custom.host,,custom.duration*9999,constructor';
  await page.goto(`${service.http}/?cols=${cols}&facets=${facets}&tz=nowhere&order=x&e=%00`);
  await found(300);
  await page.getByRole('columnheader', { name: /host/ }).waitFor();
  await page.getByRole('region', { name: 'level', exact: true }).waitFor();
  t.equal(await page.locator('.facets .fault-note').count(), 0);
  for (const from of ['constructor', 'now-999999999y', '%', '1e99']) {
    await page.goto(`${service.http}/?from=${encodeURIComponent(from)}`);
    await page.getByText('The address has no range that can be read').waitFor();
  }
});

t.test('attributes of any name can be filtered for and shown as columns', async (t) => {
  const names = [
    '__proto__',
    'constructor',
    '-x',
    'a,b',
    'a*300',
    'q"\\',
    'AND',
    '%',
    '<b>',
    '\u202e',
  ];
  const members = names.map((name) => `${JSON.stringify(name)}:"only here"`).join();
  await send(service, `{"message":"names","date":${nowMs - 48 * 60 * MINUTE_MS},"":1,${members}}`);
  const address = `${service.http}/?from=now-3d&q=names`;
  await page.goto(address);
  await found(1);
  await page.locator('.row[data-index="0"] .line').click();
  for (const name of names) {
    const attribute = page.locator(`.attribute[data-path=${JSON.stringify(`custom.${name}`)}]`);
    await attribute.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Show as a column' }).click();
  }
  t.equal(await page.getByRole('columnheader').count(), 3 + names.length);
  await page.reload();
  await found(1);
  const cells = await page.locator('.row[data-index="0"] .line .cell').allInnerTexts();
  t.same(
    cells.slice(2, -1),
    names.map(() => 'only here'),
  );
  for (const name of names) {
    await ask(termOf(`custom.${name}`, 'only here'));
    await found(1);
  }
});

t.test(
  'a message of a megabyte opens by its beginning, and whole when that is asked for',
  async (t) => {
    await page.goto(`${service.http}/?from=now-1d&q=long`);
    await found(1);
    await page.locator('.row[data-index="0"] .line').click();
    await page.getByRole('button', { name: 'Show all 1,000,009 characters' }).click();
    await page.getByRole('button', { name: /Show all/ }).waitFor({ state: 'detached' });
    t.equal((await page.locator('.long pre').innerText()).length, 1_000_009);
  },
);

t.test('all that is found is exported', async (t) => {
  await page.goto(`${service.http}/?q=level%3Aerror`);
  await found(60);
  await page.getByRole('button', { name: 'Take away all that is found' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'All events as NDJSON' }).click(),
  ]);
  t.match(download.suggestedFilename(), /^logseam-.*\.ndjson$/);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  t.equal(Buffer.concat(chunks).toString().trim().split('\n').length, 60);
});

t.test('the range is picked by name, by hand and by keys', async (t) => {
  await page.goto(HOUR);
  await found(300);
  await page.locator('.time-button').click();
  await page.getByRole('button', { name: 'Last 24 hours' }).click();
  await found(302);
  await page.locator('.time-button').click();
  await page.getByLabel('Range', { exact: true }).fill('nonsense');
  await page.getByLabel('Range', { exact: true }).press('Enter');
  await page.getByText(/Allowed: 15m, last 2 days/).waitFor();
  await page.getByLabel('Range', { exact: true }).fill('10m');
  await page.getByLabel('Range', { exact: true }).press('Enter');
  await total.filter({ hasText: /^(?:5\d|60|61) events$/ }).waitFor();
  t.match(page.url(), /from=now-10m/, 'a relative range stays relative');
  await page.keyboard.press('[');
  await page.waitForURL(/from=20.*to=20/);
});

t.test('no page had an error', async (t) => {
  t.same(viewer.faults, []);
});
