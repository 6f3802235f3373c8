import t from 'tap';
import { firstUser, openViewer } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

/** More than an answer may have. */
const LARGE = 75;
const SMALL = 100;
const nowMs = Date.now();
const filler = 'word '.repeat(200_000);

await send(
  service,
  JSON.stringify(
    Array.from({ length: SMALL }, (_, at) => ({ date: nowMs - at, message: `small ${at}` })),
  ),
);
for (let at = 0; at < LARGE; at++) {
  const event = { date: nowMs - 1_000 - at, message: `large ${at} ${filler}` };
  const answer = await send(
    service,
    JSON.stringify({ ...event, value: at % 2 ? at : filler.slice(0, 40_000) }),
  );
  if (answer.status !== 200) throw new Error(answer.text);
}
const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);

/** Scrolls to the end of the list, and waits for its last event. */
async function scrollToEnd(row: number): Promise<void> {
  await page.locator('.list').evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
  const last = page.locator(`.row[data-index="${row}"] .cell.text`);
  await last.filter({ hasText: `large ${LARGE - 1} ` }).waitFor();
}

t.test('events of a megabyte each are listed, in pages that an answer has room for', async (t) => {
  await page.goto(`${service.http}/?q=large`);
  await page.getByText('75 events').waitFor();
  await page.locator('.row[data-index="0"] .cell.text').filter({ hasText: 'large 0 ' }).waitFor();
  await scrollToEnd(LARGE - 1);
  t.equal(await page.locator('.fault-note').count(), 0);
});

t.test('so are those behind pages of small ones', async (t) => {
  await page.goto(`${service.http}/`);
  await page.getByText('175 events').waitFor();
  await scrollToEnd(SMALL + LARGE - 1);
  await page.locator('.list').evaluate((list) => list.scrollTo({ top: 0 }));
  await page.locator('.row[data-index="0"] .cell.text').filter({ hasText: 'small 0' }).waitFor();
  t.equal(await page.locator('.fault-note').count(), 0);
  t.same(viewer.faults, []);
});
