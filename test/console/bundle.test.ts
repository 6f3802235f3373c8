import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Download } from 'playwright-core';
import t from 'tap';
import { firstUser, openViewer, violations } from '../support/browser.ts';
import { removeFolder, send, temporaryFolder, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
const folder = temporaryFolder();
t.teardown(async () => {
  await viewer.close();
  removeFolder(folder);
});

const HOSTILE = [
  '</script><script>document.title = "broken"</script>',
  '<img src=x onerror="document.title=\'broken\'">',
  '--></style></pre></details><h1>broken</h1>',
  `'"&amp;\u202e\u0000<svg onload=alert(1)>`,
];
const HOUR_MS = 3_600_000;
const BEGIN_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
const COUNT = 1_200;
await send(
  service,
  JSON.stringify(
    Array.from({ length: COUNT }, (_, at) => ({
      date: new Date(BEGIN_MS + at * 2_000).toISOString(),
      level: at % 5 === 0 ? 'error' : 'info',
      message: HOSTILE[at % HOSTILE.length],
      host: at % 3 === 0 ? HOSTILE[1] : 'web-1',
      big: 1,
      took: at * 1.5,
    })),
  ).replaceAll('"big":1', '"big":12345678901234567890'),
);
const iso = (ms: number): string => new Date(ms).toISOString();
const TIME = `from=${iso(BEGIN_MS)}&to=${iso(BEGIN_MS + HOUR_MS)}&tz=UTC`;

const context = await viewer.browser.newContext({ acceptDownloads: true });
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(15_000);

/** Opens a saved page where there is no network, in a theme; what it had asked for is in `asked`. */
async function openOffline(download: Download, colorScheme: 'light' | 'dark') {
  const path = join(folder, download.suggestedFilename());
  writeFileSync(path, readFileSync(await download.path()));
  const offline = await viewer.browser.newContext({ offline: true, colorScheme });
  const opened = await offline.newPage();
  const asked: string[] = [];
  opened.on('request', (request) => asked.push(request.url()));
  opened.on('dialog', () => asked.push('a dialog'));
  await opened.goto(pathToFileURL(path).href);
  return { opened, asked, text: readFileSync(path, 'utf8'), url: pathToFileURL(path).href };
}

t.test('15 what one explores is saved as one page that needs nothing else', async (t) => {
  await page.goto(`${service.http}/?q=web OR level:*&${TIME}`);
  await page.getByText('1,200 events', { exact: true }).waitFor();
  await page.locator('.facet .bar-row').first().waitFor();
  await page.getByRole('button', { name: 'Take away all that is found' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^This view as one HTML file/ }).click(),
  ]);
  for (const scheme of ['light', 'dark'] as const) {
    const { opened, asked, text, url } = await openOffline(download, scheme);
    t.same(asked, [url], 'nothing else is asked for');
    t.equal(await opened.title(), 'Events: web OR level:*');
    t.equal(await opened.locator('script, img, link, iframe, object, [onerror]').count(), 0);
    t.equal(await opened.locator('h1').count(), 1);
    t.equal(await opened.locator('details').count(), 1_000);
    t.match(await opened.locator('dl').innerText(), /1,200, of which the newest 1,000 are here/);
    t.match(await opened.locator('dl').innerText(), /exact/);
    t.match(await opened.locator('dl').innerText(), /by admin, from http/);
    t.ok((await opened.locator('svg rect').count()) > 1, 'the histogram is drawn');
    const last = opened.locator('details').first();
    t.match(await last.locator('summary').innerText(), /<svg onload=alert\(1\)>/);
    await last.locator('summary').click();
    t.match(await last.locator('pre').innerText(), /"big": 12345678901234567890/);
    t.match(
      await opened.locator('pre').last().innerText(),
      /^curl -sS 'http.*\/beta\/events\/list'/,
    );
    t.equal(await opened.locator('[src], [href], [srcset], [action]').count(), 0);
    t.notMatch(text, /url\(|@import/, 'there is no reference');
    t.same(await violations(opened), []);
    await opened.context().close();
  }
});

t.test('15 an analysis is saved with its chart, its table and its events', async (t) => {
  await page.goto(`${service.http}/analytics?m=count,avg:custom.took&g=custom.host&${TIME}`);
  await page.locator('.answer .exact').first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'HTML' }).click(),
  ]);
  const { opened, asked, url } = await openOffline(download, 'light');
  t.same(asked, [url]);
  t.equal(await opened.locator('svg').count(), 2);
  t.equal(await opened.locator('table').count(), 2);
  t.equal(await opened.locator('img').count(), 0);
  t.match(await opened.locator('table').first().innerText(), /<img src=x onerror=/);
  t.match(await opened.locator('pre').nth(-2).innerText(), /aggregate/);
  t.same(await violations(opened), []);
  await page.goto(`${service.http}/analytics?kind=table&m=count&g=custom.host&${TIME}`);
  await page.locator('.answer .exact').first().waitFor();
  const [table] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'HTML' }).click(),
  ]);
  const saved = await openOffline(table, 'dark');
  t.match(await saved.opened.locator('table').first().innerText(), /web-1\s+800/);
  t.same(await violations(saved.opened), []);
  t.same(viewer.faults, []);
});
