import t from 'tap';
import { firstUser, openViewer, picture, violations } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const LINES = 40;
const lineOf = (at: number): object => ({
  message: at % 4 === 0 ? `cache ${at} is cold` : `login user ann${at} took ${at}ms <b>`,
});
await send(service, JSON.stringify(Array.from({ length: LINES }, (_, at) => lineOf(at))));
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(8_000);
const form = page.locator('form');
const rehearsal = page.getByRole('region', { name: 'Rehearsal' });
const RULES = 'login login user %{word:user} took %{number:took}ms%{data}';

/** The newest event that a search finds. */
async function found(search: string): Promise<object | undefined> {
  const answer = await context.request.post(`${service.http}/beta/events/list`, {
    headers: { origin: service.http },
    data: { time: { from: 'now-1d', to: 'now+1d' }, event: true, filters: [{ search }] },
  });
  return (await answer.json()).result.events[0]?.event;
}

t.test('11 an extension is written, rehearsed, turned on and seen in new events', async (t) => {
  await page.goto(`${service.http}/settings?kind=extensions`);
  await page.getByRole('link', { name: 'New extension' }).click();
  await form.getByLabel('Rules', { exact: true }).fill('login login user %{word:user');
  const fault = form.locator('.field-fault').filter({ hasText: /^rules is malformed: / });
  await fault.waitFor();
  t.equal(
    await form.getByLabel('Rules', { exact: true }).getAttribute('aria-invalid'),
    'true',
    'the refusal stands beside the rules before anything is saved',
  );
  t.equal(
    await form.getByLabel('Rules', { exact: true }).inputValue(),
    'login login user %{word:user',
  );
  await form.getByLabel('Rules', { exact: true }).fill(RULES);
  await rehearsal.getByText(/Reads 75.% of 40 events, [\d.]+ µs each/).waitFor();
  t.equal(await fault.count(), 0);
  const text = await rehearsal.innerText();
  t.match(text, /New attributes: custom\.user \(30\) custom\.took \(30\)/);
  t.match(text, /login user ann39 took 39ms <b>\s+custom\.user ann39\s+custom\.took 39/);
  t.equal(await rehearsal.locator('b b').count(), 0, 'an event is no markup');
  t.same(await found('took:*'), undefined, 'nothing is changed');
  await rehearsal.getByLabel('Try it on').fill('cache');
  await rehearsal.getByText('Reads 0 % of 10 events').waitFor();
  await rehearsal.getByText('not read').first().waitFor();
  await form.getByLabel('On', { exact: true }).check();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText(/^name/).waitFor();
  await form.getByLabel('Name', { exact: true }).fill('Logins');
  await form.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Logins' });
  await row.getByText('on', { exact: true }).waitFor();
  await send(service, JSON.stringify([lineOf(41)]));
  t.match(await found('took:41'), { custom: { user: 'ann41', took: 41 } });
});

t.test('11 an extension is changed, moved, turned off and deleted', async (t) => {
  const row = page.getByRole('row').filter({ hasText: 'Logins' });
  const choose = async (name: string): Promise<void> => {
    await row.getByRole('button', { name: 'Logins: more' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const last = (await row.getByRole('cell').first().innerText()).trim();
  await choose('Earlier');
  await row.getByRole('cell', { name: `${Number(last) - 1}`, exact: true }).waitFor();
  await row.getByRole('link', { name: 'Logins' }).click();
  t.equal(await form.getByLabel('Reads').inputValue(), 'message');
  await form.getByLabel('Writes below').fill('custom.login');
  await rehearsal.getByText(/^New attributes: custom\.login\.user \(31\)/).waitFor();
  t.same(await violations(page), []);
  await picture(page, 'settings-extension');
  await form.getByRole('button', { name: 'Save' }).click();
  await row.waitFor();
  await send(service, JSON.stringify([lineOf(43)]));
  t.match(await found('login.took:43'), { custom: { login: { user: 'ann43' } } });
  await choose('Turn off');
  await row.getByText('off', { exact: true }).waitFor();
  await send(service, JSON.stringify([lineOf(45)]));
  t.strictSame(await found('ann45'), { custom: {}, ...lineOf(45) });
  await choose('Delete');
  await row.waitFor({ state: 'detached' });
});

t.test('11 a ready-made extension shows the message that it changes', async (t) => {
  const access =
    '203.0.113.7 - ann [23/Nov/2026:10:00:00 +0000] "GET /cart?id=7 HTTP/1.1" 200 512 "-" "curl/8.5.0"';
  await send(service, JSON.stringify([{ message: access }]));
  await page.goto(`${service.http}/settings?kind=extensions&id=access_log`);
  const box = rehearsal.locator('.box').first();
  await box.locator('del').filter({ hasText: access }).waitFor();
  t.match(await box.innerText(), /message 203.*\s+\+? ?GET \/cart\?id=7 HTTP\/1\.1/);
  await form.getByLabel('On', { exact: true }).check();
  await form.getByLabel('Make the fields').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Access log is on').waitFor();
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.getByRole('row').filter({ hasText: 'Web access' }).waitFor();
  t.same(viewer.faults, []);
});
