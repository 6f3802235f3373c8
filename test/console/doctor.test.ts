import t from 'tap';
import { administer, firstUser, openViewer } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
const doctor = page.getByLabel('Doctor');

/** Opens the doctor on what came in. */
async function look(): Promise<void> {
  await page.goto(`${service.http}/send`);
  await doctor.waitFor();
  await doctor.locator('.loading').waitFor({ state: 'detached' });
}

/** Takes the advice of a name and waits until it is not given any more. */
async function turnOn(name: string): Promise<void> {
  const box = doctor.locator('.box').filter({ has: page.getByText(name, { exact: true }) });
  await box.getByRole('button', { name: 'Turn it on' }).click();
  await page.getByText(`${name} is on`).waitFor();
  await box.waitFor({ state: 'detached' });
}

/** The event that a search finds. */
async function found(search: string): Promise<{ date: string; event: Record<string, unknown> }> {
  const answer = await context.request.post(`${service.http}/beta/events/list`, {
    headers: { origin: service.http },
    data: { time: { from: '2026-01-01', to: 'now+1d' }, event: true, filters: [{ search }] },
  });
  return (await answer.json()).result.events[0];
}

t.test(
  'attributes that look like what events lack are offered, with the effect on them',
  async (t) => {
    const day = new Date(Date.now() - 3_600_000).toISOString().slice(0, 10);
    const line = (at: number): object => ({
      meta: { happened: `${day}T00:00:0${at}Z`, label: `${at}` },
      log: { level: 'ERROR', text: `payment ${at} was declined <b>twice</b>` },
    });
    await send(service, JSON.stringify(Array.from({ length: 6 }, (_, at) => line(at))));
    await look();
    const text = await doctor.innerText();
    t.match(text, /Date of meta\.happened\s+reads 100/);
    t.match(text, /Message of log\.text/);
    t.match(text, /MESSAGE|message\s+payment \d was declined <b>twice<\/b>/);
    t.match(text, /Severity of log\.level/);
    t.match(text, /syslog\.severity\s+3/);
    t.equal(await doctor.locator('b b').count(), 0, 'what came in is no markup');
    for (const name of ['Date of meta.happened', 'Message of log.text', 'Severity of log.level']) {
      await turnOn(name);
    }
    await doctor.getByText(/there is nothing that a ready-made extension would add/).waitFor();
    await send(service, JSON.stringify([line(9)]));
    t.match(await found('payment 9'), {
      date: `${day}T00:00:09.000Z`,
      event: { message: 'payment 9 was declined <b>twice</b>', syslog: { severity: 3 } },
    });
  },
);

t.test('ready-made extensions come before what is made, and give dates', async (t) => {
  for (const id of ['date_of_meta_happened', 'message_of_log_text', 'severity_of_log_level']) {
    await administer(service, 'DELETE', `extensions/${id}`);
  }
  const time = Date.now() - 60_000;
  const lines = Array.from({ length: 20 }, (_, at) => ({
    ...{ level: 50, time: time + at, msg: `order ${at} lost`, pid: 7 },
  }));
  await send(service, JSON.stringify(lines));
  await look();
  const text = await doctor.innerText();
  t.match(text, /\bDate\s+reads 100/);
  t.match(text, /\bMessage\s+reads 100/);
  t.match(text, /\bSeverity\s+reads 100/);
  t.match(text, /no date of their own: .* Finds the date of pino/);
  t.notMatch(text, /Date of|Message of|Severity of/);
  await turnOn('Date');
  await send(service, JSON.stringify([{ level: 50, time: time - 1_000, msg: 'paid', pid: 7 }]));
  t.equal((await found('msg:paid')).date, new Date(time - 1_000).toISOString());
});

t.test('a date that needs a pattern is read by the extension that is offered', async (t) => {
  const day = new Date().toUTCString().slice(5, 16).replaceAll(' ', '/');
  const line = (at: number): object => ({ when: `${day}:00:00:${10 + at} +0000`, note: `p${at}` });
  await send(service, JSON.stringify(Array.from({ length: 20 }, (_, at) => line(at))));
  await look();
  t.match(await doctor.innerText(), /Events have no date of their own/);
  t.match(await doctor.innerText(), /00:00:\d\d\.000, in place of 20/);
  await turnOn('Date of when');
  await send(service, JSON.stringify([line(40)]));
  t.match((await found('note:p40')).date, /T00:00:50\.000Z$/);
});

t.test('what nothing can be turned on for is told', async (t) => {
  await send(
    service,
    JSON.stringify(Array.from({ length: 20 }, (_, at) => ({ cpu: at, load: 0.5 }))),
  );
  await look();
  await doctor.getByText(/20 of the newest 20 events have no date of their own/).waitFor();
  await doctor.getByText(/20 of the newest 20 events have no message/).waitFor();
  t.same(viewer.faults, []);
});
