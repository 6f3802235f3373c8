import { readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administer, firstUser, openViewer, picture, violations } from '../support/browser.ts';
import {
  type Answer,
  ask,
  removeFolder,
  request,
  send,
  startService,
  temporaryFolder,
  testService,
} from '../support/service.ts';
import { fill, smallDisk } from '../support/small-disk.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const isSegment = (name: string): boolean => name.endsWith('.seg');
const EVENTS = 20_000;
const IN_FLIGHT = 40;
const nowMs = Date.now();
await send(
  service,
  JSON.stringify(
    Array.from({ length: EVENTS }, (_, at) => ({
      date: new Date(nowMs - at).toISOString(),
      message: `order ${at} of ${at * 7919} placed`,
    })),
  ),
);
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(10_000);

t.test('14 health tells rates, troubles with their last line, disk and version', async (t) => {
  await request(`${service.http}/v1/input/${service.writeKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '[{"message":"<b>cut</b>"',
  });
  await page.goto(`${service.http}/health`);
  const input = page.getByRole('table', { name: 'Input' });
  await input.getByRole('row').filter({ hasText: '20,000' }).filter({ hasText: 'http' }).waitFor();
  const troubles = page.getByRole('table', { name: 'Troubles' });
  await troubles.getByText('<b>cut</b>').waitFor();
  t.equal(await troubles.locator('b').count(), 0, 'a line is no markup');
  await page.getByText(/^Logseam \d+\.\d+\.\d+, started/).waitFor();
  const disk = page.getByRole('table', { name: 'Disk by day' });
  t.match(await disk.innerText(), new RegExp(new Date(nowMs).toISOString().slice(0, 10)));
  await send(service, '[{"message":"one more"}]');
  await input.getByRole('row').filter({ hasText: '20,001' }).waitFor();
  await input
    .getByRole('row')
    .filter({ hasText: /[\d.]+\/s/ })
    .first()
    .waitFor();
  const { disk: told } = await administer<{ disk: { events: number } }>(service, 'GET', 'health');
  t.equal(told.events, EVENTS + 1);
});

t.test(
  '13 delivery says that all is stored, by key and minute, and what takes the disk',
  async (t) => {
    const delivery = page.getByRole('region', { name: 'Delivery' });
    await delivery.getByRole('button', { name: 'Count what is stored' }).click();
    await delivery.getByText(/^All 20,001 events since .* are stored\./).waitFor();
    await delivery.getByText('exact').waitFor();
    const minutes = delivery.getByRole('table', { name: 'Delivery by minute' });
    t.match(await minutes.innerText(), /default/);
    t.match(await delivery.innerText(), /http malformed 1/, 'what was refused is told');

    const keys = page.getByRole('region', { name: 'Bytes by key' });
    await keys.getByRole('button').click();
    await keys
      .getByRole('row')
      .filter({ hasText: 'default' })
      .filter({ hasText: '20,001' })
      .waitFor();

    const disk = page.getByRole('region', { name: 'Disk by attribute' });
    await disk.getByRole('button').click();
    await disk.getByRole('row').filter({ hasText: 'message' }).waitFor();
    const {
      attributes,
      bytes,
      rest_bytes: rest,
    } = await administer<{
      attributes: { attribute: string; bytes: number }[];
      bytes: number;
      rest_bytes: number;
    }>(service, 'GET', 'disk');
    const { disk: files } = await administer<{ disk: { bytes: number } }>(service, 'GET', 'health');
    t.ok(files.bytes >= bytes, `files of ${files.bytes} bytes have blocks of ${bytes}`);
    t.equal(attributes[0].attribute, 'message');
    t.equal(
      attributes.reduce((sum, each) => sum + each.bytes, rest),
      bytes,
      'attributes and the rest are all',
    );
    t.same(await violations(page), []);
  },
);

t.test('13 delivery marks minutes of which events are lost', async (t) => {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const other = await startService(folder, ['--seal-rows', '300', '--seal-idle-minutes', '0']);
  t.teardown(() => other.kill());
  const body = JSON.stringify(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  t.equal((await send(other, body)).status, 200);
  const sealed = (): string[] => readdirSync(join(folder, 'sealed')).filter(isSegment);
  const isSealed = async (): Promise<boolean> => {
    const { sealing } = await administer<{ sealing: { backlog_events: number } }>(
      other,
      'GET',
      'health',
    );
    // Before that the log has the events too.
    return sealed().length > 0 && sealing.backlog_events === 0;
  };
  while (!(await isSealed())) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const name of sealed()) unlinkSync(join(folder, 'sealed', name));
  const theirs = await viewer.browser.newContext();
  await firstUser(other, theirs);
  const shown = await viewer.page({}, theirs);
  await shown.goto(`${other.http}/health`);
  const delivery = shown.getByRole('region', { name: 'Delivery' });
  await delivery.getByRole('button').click();
  await delivery
    .getByText(/events of 1,000 since .* are not stored; retention dropped 0/)
    .waitFor();
  await delivery.getByText(/partial: \d+ damaged block/).waitFor();
  await delivery.locator('td .warn-text').first().waitFor();
  t.same(await violations(shown), []);
  await theirs.close();
});

t.test('14 a query of another is seen and cancelled', async (t) => {
  let isOver = false;
  const cancelled: Answer[] = [];
  const keepAsking = async (number: number): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      const answer = await ask(service, '/beta/events/aggregate', {
        time: { from: 'now-1d', to: 'now+1h' },
        filters: [{ search: `message:/.*${number}.*${round}.*placed/ OR order` }],
        compute: [{ metric: { id: 'cardinality:message' } }],
        groupBy: [{ field: { id: 'message', limit: 100 } }],
      });
      if (answer.status === 503) cancelled.push(answer);
    }
  };
  const asking = Array.from({ length: IN_FLIGHT }, (_, number) => keepAsking(number));
  const queries = page.getByRole('table', { name: 'Queries' });
  while (cancelled.length === 0) {
    await queries.getByRole('button', { name: 'Cancel' }).last().click();
    await page.locator('.notice p').waitFor();
  }
  isOver = true;
  await Promise.all(asking);
  t.match(cancelled[0].text, /cancelled by an administrator/);
  const { slow } = await administer<{ slow: { text: string; ms: number; state: string }[] }>(
    service,
    'GET',
    'queries',
  );
  t.ok(
    slow.every(({ text, ms }) => ms >= 1_000 && text.startsWith('/beta/')),
    'slow ones are told with their request',
  );
  const { queries: left } = await administer<{ queries: object[] }>(service, 'GET', 'queries');
  t.same(left, []);
  t.same(viewer.faults, []);
});

t.test('12 a full disk is told, with what helps, until there is room again', async (t) => {
  const folder = smallDisk(t);
  if (folder === undefined) return;
  const small = await startService(folder, ['--disk-reserve-mb', '6']);
  t.teardown(() => small.stop());
  const own = await viewer.browser.newContext();
  await firstUser(small, own);
  const screen = await viewer.page({}, own);
  await screen.goto(`${small.http}/health`);
  await screen.getByText(/^Logseam \d/).waitFor();
  t.equal(await screen.getByRole('alert').count(), 0);
  fill(folder, 3);
  const alert = screen.getByRole('alert');
  await alert.filter({ hasText: 'The disk is full: nothing is taken in' }).waitFor();
  t.match(await alert.innerText(), /[23]\.\d MB are free, and 6\.0 MB have to stay free/);
  t.equal((await send(small, '[{"message":"late"}]')).status, 507);
  t.same(await violations(screen), []);
  await picture(screen, 'health-full');
  rmSync(join(folder, 'filler'));
  await alert.waitFor({ state: 'detached' });
  t.equal((await send(small, '[{"message":"in time"}]')).status, 200);
  await own.close();
  t.same(viewer.faults, []);
});
