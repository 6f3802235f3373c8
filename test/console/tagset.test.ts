import type { Page } from 'playwright-core';
import t from 'tap';
import { administer, firstUser, openViewer, picture, violations } from '../support/browser.ts';
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
      message: `order ${at}`,
      team: ['shop', 'mail', 'none'][at % 3],
    })),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(8_000);
const dialog = page.getByRole('dialog');
/** A colour that is seen on both surfaces, and two of which each is too dark or too light for one. */
const [MIDDLE, DARK, LIGHT] = ['#c05a20', '#10204a', '#f4f4a0'];

/** The colour that is painted in front of an item of the legend, as #rrggbb. */
function shownColour(on: Page, name: string): Promise<string> {
  const item = on.locator('.legend .legend-item').filter({ hasText: name });
  return item.evaluate((element) => {
    const canvas = document.createElement('canvas').getContext('2d');
    if (canvas === null) throw new Error('no canvas');
    canvas.fillStyle = getComputedStyle(element, '::before').backgroundColor;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  });
}

/** The colours that the histogram's canvas has, as #rrggbb. */
async function drawnColours(on: Page): Promise<Set<string>> {
  const colours = await on.locator('.chart canvas').evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const { data } = must(canvas.getContext('2d')).getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set<string>();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] !== 255) continue;
      const parts = [...data.slice(at, at + 3)];
      found.add(`#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`);
    }
    return [...found];
    function must<T>(value: T | null): T {
      if (value === null) throw new Error('no canvas');
      return value;
    }
  });
  return new Set(colours);
}

/** Contrast of two colours. Source: WCAG 2.2, contrast ratio. */
function contrast(left: string, right: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(left), luminance(right)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

t.test(
  '2.5 a tagset is made, and its colours are those of the histogram and the facet',
  async (t) => {
    await page.goto(`${service.http}/`);
    await page.locator('.legend-item').first().waitFor();
    t.equal(await page.getByLabel('Tagset').count(), 0, 'there is but one to choose');
    await page.goto(`${service.http}/settings?kind=tagsets`);
    await page.getByRole('button', { name: 'New tagset' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Teams');
    await dialog.getByLabel('Tag name').fill('Shop <b>');
    await dialog.getByLabel('Search').fill('team:shop');
    await dialog.getByLabel('Colour').fill(MIDDLE);
    await dialog.getByRole('button', { name: 'Another tag' }).click();
    await dialog.getByLabel('Tag name').nth(1).fill('Mail');
    await dialog.getByLabel('Search').nth(1).fill('team:mail');
    await dialog.getByLabel('Colour').nth(1).fill(DARK);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`${service.http}/`);
    await page.getByLabel('Tagset').selectOption('Teams');
    await page.waitForURL(/tags=teams/);
    await page.getByRole('region', { name: 'Teams' }).waitFor();
    t.match(await page.locator('.legend').innerText(), /Shop <b>\s*20\s*Mail\s*20\s*no tag\s*20/);
    await page.locator('.view-button').click();
    await page.getByRole('button', { name: 'Save as a new view' }).click();
    await page.getByLabel('Name').fill('By team');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.view-button').filter({ hasText: 'By team' }).waitFor();
    await page.goto(`${service.http}/`);
    await page.getByRole('region', { name: 'Status' }).waitFor();
    await page.locator('.view-button').click();
    await page
      .getByRole('dialog', { name: 'Views' })
      .getByRole('button', { name: 'By team' })
      .click();
    await page.getByRole('region', { name: 'Teams' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      t.equal(await shownColour(page, 'Shop'), MIDDLE, `as chosen in the ${colorScheme} theme`);
      const surface = colorScheme === 'light' ? '#f4f2ed' : '#16191c';
      const mail = await shownColour(page, 'Mail');
      t.ok(contrast(mail, surface) >= 3, `${mail} on ${surface}`);
      t.equal(mail === DARK, colorScheme === 'light', 'changed only where it would not be seen');
      // The bars are drawn anew a moment after the theme has changed.
      const isDrawn = (drawn: Set<string>): boolean => drawn.has(MIDDLE) && drawn.has(mail);
      while (!isDrawn(await drawnColours(page)));
      const bar = page.getByRole('region', { name: 'Teams' }).locator('.bar').first();
      const colour = await bar.evaluate((element) => getComputedStyle(element).backgroundColor);
      t.match(colour, /oklch/);
      t.same(await violations(page), []);
      await picture(page, `explore-tagset-${colorScheme}`);
    }
    await page
      .getByRole('region', { name: 'Teams' })
      .getByRole('button', { name: /^Mail/ })
      .click();
    await page.getByText('20 events').first().waitFor();
    t.equal(await page.getByRole('combobox', { name: 'Search' }).inputValue(), 'teams:mail');
  },
);

t.test('2.5 a status has the colours of the theme until another one is chosen', async (t) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${service.http}/`);
  await page.locator('.legend-item').first().waitFor();
  t.equal(await shownColour(page, 'Info'), '#3b6ea8');
  const { tagsets } = await administer<{ tagsets: { id: string; tags: { id: string }[] }[] }>(
    service,
    'GET',
    'tagsets',
  );
  const { tags } = tagsets.find(({ id }) => id === 'log_status') ?? { tags: [] };
  await administer(service, 'PATCH', 'tagsets/log_status', {
    tags: tags.map((tag) => (tag.id === 'info' ? { ...tag, color: LIGHT } : tag)),
  });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.reload();
  await page.getByLabel('Tagset').waitFor();
  t.equal(await shownColour(page, 'Info'), LIGHT);
  await page.emulateMedia({ colorScheme: 'light' });
  const info = await shownColour(page, 'Info');
  t.ok(contrast(info, '#f4f2ed') >= 3, info);
  t.same(viewer.faults, []);
});
