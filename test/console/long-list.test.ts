import t, { type Test } from 'tap';
import { firstUser, openViewer } from '../support/browser.ts';
import { send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

/** More than browsers can show one below the other. */
const EVENTS = 240_000;
const BODY_EVENTS = 60_000;
const FROM_MS = Date.UTC(2026, 10, 20);
const RANGE = { from: '2026-11-20T00:00:00Z', to: '2026-11-20T01:00:00Z' };

for (let first = 0; first < EVENTS; first += BODY_EVENTS) {
  const lines = Array.from({ length: BODY_EVENTS }, (_, at) =>
    JSON.stringify({ date: FROM_MS + (first + at) * 10, message: `event ${first + at}` }),
  );
  const answer = await send(service, lines.join('\n'), 'text/plain');
  if (answer.status !== 200) throw new Error(answer.text);
}
const context = await viewer.browser.newContext({ viewport: { width: 1280, height: 800 } });
await firstUser(service, context);
const page = await viewer.page({}, context);

/** Rows that lie in sight whole, once all of them are there: the number of each in the list, and its message. */
async function inSight(): Promise<{ row: number; text: string }[]> {
  const rows = await page.waitForFunction(() => {
    const list = document.querySelector('.list');
    const [top, bottom] = ['.heads', '.list'].map(
      (name) => document.querySelector(name)?.getBoundingClientRect().bottom ?? 0,
    );
    const shown = [...(list?.querySelectorAll<HTMLElement>('[data-index]') ?? [])]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.top >= top - 1 && box.bottom <= bottom + 1)
      .sort((left, right) => left.box.top - right.box.top)
      .map(({ element }) => ({
        row: Number(element.dataset['index']),
        text: element.querySelector('.cell.text')?.textContent ?? '',
      }));
    return shown.length > 10 && shown.every(({ text }) => text !== '') ? shown : undefined;
  });
  return (await rows.jsonValue()) ?? [];
}

async function scrollTo(part: number): Promise<void> {
  await page.locator('.list').evaluate((list, to) => {
    list.scrollTop = to * (list.scrollHeight - list.clientHeight);
  }, part);
}

/** The rows are one behind the other, and each has the event of its number. */
function check(
  t: Test,
  rows: readonly { row: number; text: string }[],
  isAscending: boolean,
): void {
  const [first] = rows;
  const numbers = rows.map((_, at) => (first?.row ?? 0) + at);
  t.same(
    rows.map(({ row }) => row),
    numbers,
  );
  const events = numbers.map((row) => `event ${isAscending ? row : EVENTS - 1 - row}`);
  t.same(
    rows.map(({ text }) => text),
    events,
  );
}

for (const order of ['desc', 'asc']) {
  t.test(`the scroll bar of a long list leads to the right rows: ${order}`, async (t) => {
    const isAscending = order === 'asc';
    await page.goto(`${service.http}/?${new URLSearchParams({ ...RANGE, q: 'event', order })}`);
    await page.getByText('240,000 events').waitFor();
    check(t, await inSight(), isAscending);
    for (const part of [0.5, 0.9, 0.31, 1]) {
      await scrollTo(part);
      const rows = await inSight();
      check(t, rows, isAscending);
      const wanted = part * EVENTS;
      t.ok(Math.abs((rows[0]?.row ?? 0) - wanted) < EVENTS / 10, `row ${rows[0]?.row} at ${part}`);
    }
    t.equal((await inSight()).at(-1)?.row, EVENTS - 1, 'the last one is the last');
    await scrollTo(0);
    t.equal((await inSight())[0]?.row, 0);
  });
}

t.test('small steps in a long list leave no row out', async (t) => {
  await scrollTo(0.5);
  let before = (await inSight())[0]?.row ?? 0;
  await page.locator('.list').hover();
  for (let step = 0; step < 5; step++) {
    await page.mouse.wheel(0, 260);
    let rows = await inSight();
    while (rows[0]?.row === before) rows = await inSight();
    check(t, rows, true);
    const passed = (rows[0]?.row ?? 0) - before;
    t.ok(passed >= 1 && passed <= 11, `${passed} rows`);
    before += passed;
  }
  t.same(viewer.faults, []);
});
