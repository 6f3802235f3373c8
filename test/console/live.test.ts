import t from 'tap';
import { firstUser, openViewer, PASSWORD, rowTexts } from '../support/browser.ts';
import {
  removeFolder,
  request,
  type Service,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
// Below the ports that the system gives to clients, one of which could be this one while the service is down.
const LISTENER = ['--http', `127.0.0.1:${20_000 + (process.pid % 10_000)}`];
let service: Service = await startService(folder, LISTENER);
const { writeKey } = service;
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
  await service.stop();
  removeFolder(folder);
});
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
let sent = 0;

/** Sends so many events, whose messages are numbered through. */
async function sendMore(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => ({ message: `event number ${sent++}` }));
  const answer = await request(`${service.http}/v1/input/${writeKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  if (answer.status !== 200) throw new Error(answer.text);
}

async function shows(text: string): Promise<void> {
  await page.locator('.list .cell.text').filter({ hasText: text }).first().waitFor();
}

t.test(
  'events are on the screen as they come, those that match alone, the newest first',
  async (t) => {
    await page.goto(`${service.http}/?q=event&live=1`);
    await page.locator('.live-state.open').waitFor();
    await request(`${service.http}/v1/input/${writeKey}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'something else',
    });
    await sendMore(30);
    await shows('event number 29');
    const texts = await rowTexts(page);
    t.equal(texts[0], 'event number 29');
    t.notOk(texts.some((text) => text.includes('something')));
  },
);

t.test('what one reads does not move: new events wait, and are counted', async (t) => {
  await sendMore(100);
  await shows('event number 129');
  await page.locator('.list').evaluate((list) => list.scrollTo({ top: 520 }));
  await page.locator('.row[data-index="0"]').waitFor({ state: 'detached' });
  const before = await rowTexts(page);
  await sendMore(40);
  await page.getByRole('button', { name: '40 new' }).waitFor();
  t.same(await rowTexts(page), before);
  await page.getByRole('button', { name: '40 new' }).click();
  await shows('event number 169');
  t.equal((await rowTexts(page))[0], 'event number 169');
});

t.test('an open event holds the list too', async (t) => {
  await page.locator('.row[data-index="0"] .line').click();
  await page.getByRole('region', { name: 'The event' }).waitFor();
  await sendMore(5);
  await page.getByRole('button', { name: '5 new' }).click();
  await shows('event number 174');
  t.pass('they come when one goes on');
});

t.test('the keys lead through what has come in', async (t) => {
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const event = page.getByRole('region', { name: 'The event' });
  await event.getByText(`event number ${sent - 1}`).waitFor();
  await page.keyboard.press('Escape');
  await event.waitFor({ state: 'detached' });
  await sendMore(2);
  await page.getByRole('button', { name: '2 new' }).waitFor();
  t.match(await page.locator('.row.current').innerText(), `event number ${sent - 3}`);
  await page.keyboard.press('Escape');
  await shows(`event number ${sent - 1}`);
});

t.test('what came too fast is told', async (t) => {
  for (let batch = 0; batch < 5; batch++) await sendMore(500);
  await page.getByText(/not shown: too many at once/).waitFor();
  await shows(`event number ${sent - 1}`);
  t.pass('the newest is there');
});

t.test('it goes on behind the last event when the service has restarted', async (t) => {
  await service.stop();
  await page.locator('.live-state.waiting').waitFor();
  service = await startService(folder, LISTENER);
  await sendMore(3);
  await shows(`event number ${sent - 1}`);
  await page.locator('.live-state.open').waitFor();
  const texts = await rowTexts(page);
  const numbers = texts.slice(0, 10).map((text) => Number(/\d+$/.exec(text)?.[0]));
  t.equal(numbers[0], sent - 1);
  t.same(
    numbers,
    Array.from({ length: 10 }, (_, at) => sent - 1 - at),
    'none is missing, none twice',
  );
});

/** A laptop that sleeps: the page stands still, and has no network. */
async function sleep(during: () => Promise<void>): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await context.setOffline(true);
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  await during();
  await devtools.send('Page.setWebLifecycleState', { state: 'active' });
  await context.setOffline(false);
  await devtools.detach();
}

/** Events that are on the screen, and that are told not to be. */
async function counts(): Promise<{ shown: number; left: number }> {
  const text = await page.locator('.toolbar').innerText();
  const countOf = (pattern: RegExp): number =>
    Number((pattern.exec(text)?.[1] ?? '0').replaceAll(',', ''));
  return { shown: countOf(/([\d,]+) shown/), left: countOf(/([\d,]+) not shown/) };
}

t.test('it goes on behind the last event when the laptop has slept', async (t) => {
  const before = await counts();
  await sleep(() => sendMore(40));
  await shows(`event number ${sent - 1}`);
  await page.locator('.live-state.open').waitFor();
  const texts = await rowTexts(page);
  t.same(
    texts.slice(0, 20),
    Array.from({ length: 20 }, (_, at) => `event number ${sent - 1 - at}`),
    'none is missing, none twice',
  );
  t.same(await counts(), { ...before, shown: before.shown + 40 });
});

t.test('of more than it shows after a sleep it tells how many are left out', async (t) => {
  const before = await counts();
  await sleep(async () => {
    for (let batch = 0; batch < 4; batch++) await sendMore(500);
  });
  await shows(`event number ${sent - 1}`);
  const after = await counts();
  t.ok(after.left > before.left);
  t.equal(after.shown - before.shown + after.left - before.left, 2_000);
});

t.test('stopping it leads back to the list', async (t) => {
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.total').waitFor();
  t.notMatch(page.url(), /live/);
  t.same(viewer.faults, []);
});

t.test(
  'a service that is down is said as such, and the screen goes on when it is back',
  async (t) => {
    await page.goto(`${service.http}/?q=event`);
    await page.locator('.total').waitFor();
    await service.stop();
    await page.getByRole('button', { name: 'Run' }).click();
    await page
      .getByText('The service does not answer. This page goes on when it is back.')
      .waitFor();
    t.ok((await rowTexts(page)).length > 0, 'what was found stays');
    service = await startService(folder, LISTENER);
    await page.getByText(/^The service does not answer/).waitFor({ state: 'detached' });
    await page.locator('.results[aria-busy="false"] .total').waitFor();
    t.same(viewer.faults, []);
  },
);

t.test('a session that ends meanwhile leads to the login, and back', async (t) => {
  await page.goto(`${service.http}/?q=event&live=1`);
  await page.locator('.live-state.open').waitFor();
  await context.request.delete(`${service.http}/account/session`, {
    headers: { origin: service.http },
  });
  await page.getByLabel('Name', { exact: true }).fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.live-state.open').waitFor();
  t.match(page.url(), /q=event&live=1/);
  t.same(viewer.faults, []);
});
