import type { Page } from 'playwright-core';
import t from 'tap';
import { firstUser, openViewer, picture, violations } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const nowMs = Date.now();
const LEVELS = ['info', 'debug', 'info', 'warn', 'error', 'info', 'fatal'];
const WORK = [
  'order placed',
  'user signed in',
  'cache refreshed',
  'retrying the inventory',
  'payment declined',
];
await send(
  service,
  JSON.stringify(
    Array.from({ length: 2000 }, (_, at) => ({
      date: new Date(nowMs - ((at * 7919) % 3600) * 1000 - at).toISOString(),
      message: `${WORK[at % WORK.length]}, request ${at}`,
      level: LEVELS[(at * 31) % LEVELS.length],
      service: ['shop', 'search', 'mail'][at % 3],
      host: `web-${at % 4}`,
      http: { method: at % 5 === 0 ? 'POST' : 'GET', status_code: [200, 200, 404, 500][at % 4] },
      duration: (at * 37) % 900,
    })),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const state = await context.storageState();
const [view] = await Promise.all(
  ['Requests by service', 'Errors of today', 'Slow checkouts'].map(async (name, at) => {
    const made = await context.request.post(`${service.http}/account/views`, {
      headers: { origin: service.http },
      data: { name, address: 'q=request', shared: at > 0 },
    });
    return (await made.json()).result.id as string;
  }),
);

/** A screen, and the way to a state of it. */
interface Look {
  name: string;
  path: string;
  isLoggedOut?: boolean;
  ready: (page: Page) => Promise<unknown>;
}

const listed = (page: Page): Promise<void> =>
  page.locator('.list .row:not(.heads)').first().waitFor();
const LOOKS: readonly Look[] = [
  {
    name: 'login',
    path: '/',
    isLoggedOut: true,
    ready: (page) => page.getByLabel('Password').waitFor(),
  },
  {
    name: 'setup',
    path: '/setup',
    isLoggedOut: true,
    ready: (page) => page.getByLabel('Set-up token').waitFor(),
  },
  {
    ...{ name: 'explore', path: '/?q=request&cols=custom.service,custom.http.status_code' },
    ready: async (page) => {
      await listed(page);
      await page.locator('.facet-value').nth(6).waitFor();
      await page.locator('.u-over').waitFor();
    },
  },
  {
    ...{ name: 'explore-event', path: '/' },
    ready: async (page) => {
      await listed(page);
      await page.locator('.facet-value').nth(6).waitFor();
      await page.locator('.row[data-index="2"] .line').click();
      await page.getByRole('region', { name: 'The event' }).waitFor();
    },
  },
  {
    name: 'explore-nothing',
    path: '/?q=level%3AERROR',
    ready: (page) => page.locator('.hints li').first().waitFor(),
  },
  {
    ...{ name: 'explore-time', path: '/' },
    ready: async (page) => {
      await listed(page);
      await page.locator('.time-button').click();
      await page.getByLabel('Zone').waitFor();
    },
  },
  {
    ...{ name: 'explore-views', path: `/?view=${view}&q=request&cols=custom.service` },
    ready: async (page) => {
      await listed(page);
      await page.locator('.view-button').click();
      await page.getByRole('button', { name: 'Rename or share' }).waitFor();
    },
  },
  {
    ...{ name: 'view-new', path: '/?q=level:error' },
    ready: async (page) => {
      await listed(page);
      await page.locator('.view-button').click();
      await page.getByRole('button', { name: 'Save as a new view' }).click();
      await page.getByLabel('Name').waitFor();
    },
  },
  {
    ...{ name: 'explore-search', path: '/' },
    ready: async (page) => {
      await listed(page);
      await page.getByRole('combobox').fill('level:');
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    ...{ name: 'context', path: '/' },
    ready: async (page) => {
      await listed(page);
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      await page.locator('.context-row.centre').waitFor();
    },
  },
  {
    ...{ name: 'statistics', path: '/' },
    ready: async (page) => {
      await listed(page);
      await page.getByRole('button', { name: 'custom.level: more' }).click();
      await page.getByRole('menuitem', { name: 'Statistics' }).click();
      await page.getByText('Distinct values').waitFor();
    },
  },
  { name: 'live', path: '/?live=1', ready: (page) => page.locator('.live-state.open').waitFor() },
  {
    ...{
      name: 'analytics',
      path: '/analytics?m=count,avg:custom.duration&g=custom.service&step=5m&vs=1',
    },
    ready: async (page) => {
      await page.locator('.figure canvas').nth(1).waitFor();
      await page
        .locator('.answer .loading, .answer[aria-busy="true"]')
        .waitFor({ state: 'detached' });
    },
  },
  {
    ...{ name: 'analytics-one', path: '/analytics?g=log_status&step=2m' },
    ready: (page) => page.getByRole('table').locator('tbody tr').nth(9).waitFor(),
  },
  {
    name: 'analytics-toplist',
    path: '/analytics?kind=toplist&m=count,pc95:custom.duration,max:custom.duration&g=custom.host,custom.service*2*m1:desc&vs=1',
    ready: (page) => page.getByRole('columnheader', { name: 'count, before' }).waitFor(),
  },
  {
    ...{
      name: 'analytics-refused',
      path: '/analytics?kind=table&m=avg:nothing&g=@time,custom.service',
    },
    ready: (page) => page.locator('.field-fault').waitFor(),
  },
  {
    ...{ name: 'analytics-saved', path: '/analytics?kind=toplist&g=custom.service' },
    ready: async (page) => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(/is saved as/).waitFor();
      await page.getByRole('button', { name: 'Saved analyses' }).click();
      await page
        .getByRole('link', { name: /^Execute/ })
        .first()
        .waitFor();
    },
  },
  {
    name: 'send',
    path: '/send',
    ready: async (page) => {
      await page.getByText('What could be read').waitFor();
      await page.locator('.page .loading').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'keys',
    path: '/keys',
    ready: (page) => page.getByText('takes events').first().waitFor(),
  },
  {
    ...{ name: 'keys-new', path: '/keys' },
    ready: async (page) => {
      await page.getByRole('button', { name: 'New read key' }).click();
      await page.getByLabel('Security filter').waitFor();
    },
  },
  { name: 'users', path: '/users', ready: (page) => page.getByText('(you)').waitFor() },
  ...['fields', 'metrics', 'tagsets', 'groups', 'saved_analyses'].map((kind) => ({
    name: `settings-${kind}`,
    path: `/settings?kind=${kind}`,
    ready: (page: Page) => page.getByRole('table').waitFor(),
  })),
  {
    ...{ name: 'settings-tagset', path: '/settings?kind=tagsets' },
    ready: async (page) => {
      await page.getByRole('button', { name: 'Status: more' }).click();
      await page.getByRole('menuitem', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.locator('.preview-row').nth(3).waitFor();
    },
  },
  {
    name: 'settings-extensions',
    path: '/settings?kind=extensions',
    ready: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'settings-retention',
    path: '/settings?kind=retention',
    ready: async (page) => {
      await page.getByLabel('Days').fill('30');
      await page.getByRole('button', { name: 'What would go?' }).click();
      await page.getByText('Nothing now').waitFor();
    },
  },
  {
    name: 'settings-extension',
    path: '/settings?kind=extensions&id=severity',
    ready: (page) => page.locator('.difference').first().waitFor(),
  },
  {
    name: 'health',
    path: '/health',
    ready: (page) => page.getByRole('table', { name: 'Disk by day' }).waitFor(),
  },
  {
    name: 'audit',
    path: '/audit',
    ready: (page) => page.getByText('first start').first().waitFor(),
  },
  { name: 'account', path: '/account', ready: (page) => page.getByLabel('New password').waitFor() },
];

for (const colorScheme of ['light', 'dark'] as const) {
  t.test(`every screen is without violations in the ${colorScheme} theme`, async (t) => {
    for (const { name, path, isLoggedOut, ready } of LOOKS) {
      const page = await viewer.page({
        ...{ colorScheme, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' },
        ...(isLoggedOut === true ? {} : { storageState: state }),
      });
      await page.goto(service.http + path);
      await ready(page);
      t.same(await violations(page), [], name);
      await picture(page, `${name}-${colorScheme}`);
      await page.context().close();
    }
  });
}

t.test(
  'at 320 pixels nothing is wider than the screen, and the list and the facets are reached',
  async (t) => {
    const page = await viewer.page({ viewport: { width: 320, height: 640 }, storageState: state });
    for (const { name, path, ready } of LOOKS.filter((look) =>
      [
        ...['explore', 'analytics', 'analytics-one', 'analytics-toplist'],
        ...['keys', 'users', 'send', 'audit', 'settings-tagset', 'health'],
        ...['settings-extensions', 'settings-extension', 'settings-retention'],
      ].includes(look.name),
    )) {
      await page.goto(service.http + path);
      if (name === 'explore') {
        await listed(page);
        await page.getByRole('button', { name: 'Facets' }).click();
        await page.locator('.facet-value').nth(6).waitFor();
        await picture(page, 'narrow-facets');
        await page.getByRole('button', { name: 'Hide the facets' }).click();
      } else await ready(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      t.ok(width <= 320, `${name} is ${width} wide`);
      await picture(page, `narrow-${name}`);
    }
  },
);

t.test('forced colours keep controls and bars, and a chosen theme is kept', async (t) => {
  const page = await viewer.page({ forcedColors: 'active', storageState: state });
  await page.goto(`${service.http}/`);
  await listed(page);
  await picture(page, 'explore-forced');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await page.reload();
  t.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  t.same(viewer.faults, []);
});
