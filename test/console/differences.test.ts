import t from 'tap';
import { firstUser, openViewer, violations } from '../support/browser.ts';
import { request, send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const HOUR_MS = 3_600_000;
const BEGIN_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 4 * HOUR_MS;
const HOSTILE = '<img src=x onerror=alert(1)>';
const COUNT = 3_600;
/** An hour of events: in its second quarter a host fails, and each request has an id of its own. */
await send(
  service,
  JSON.stringify(
    Array.from({ length: COUNT }, (_, at) => {
      const isIncident = at >= 900 && at < 1_800;
      return {
        date: new Date(BEGIN_MS + at * 1_000).toISOString(),
        level: isIncident && at % 3 === 0 ? 'error' : 'info',
        host: isIncident && at % 3 === 0 ? HOSTILE : `web-${at % 4}`,
        tags: at % 2 === 0 ? ['a', `n${at % 300}`] : ['b'],
        request: `r${isIncident ? at % 450 : at}`,
        status: at % 3 === 0 ? 500 : 200,
        message: `request ${at}`,
      };
    }),
  ),
);
const iso = (ms: number): string => new Date(ms).toISOString();
const [FROM, TO] = [iso(BEGIN_MS), iso(BEGIN_MS + HOUR_MS)];
const [SELECTED_FROM, SELECTED_TO] = [iso(BEGIN_MS + 900_000), iso(BEGIN_MS + 1_800_000)];
const ADDRESS = `from=${FROM}&to=${TO}&tz=UTC`;

const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);
page.setDefaultTimeout(10_000);

/** Number of the events that a search finds. */
async function countOf(search: string, from: string, to: string): Promise<number> {
  const answer = await request(`${service.http}/beta/events/list`, {
    method: 'POST',
    headers: { 'x-api-key': service.readKey, 'content-type': 'application/json' },
    body: JSON.stringify({ time: { from, to }, filters: [{ search }], total: true, limit: 1 }),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { total: number } }).result.total;
}

async function settled(): Promise<void> {
  await page.locator('.answer[aria-busy="false"] table').waitFor();
}

/** The cells of the table, a row each: attribute, value, and the counts of the selection and of the rest. */
async function rows(): Promise<{ attribute: string; value: string; own: number; rest: number }[]> {
  const cells = await page
    .getByRole('table', { name: 'Differences' })
    .locator('tbody tr')
    .evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())),
    );
  const countIn = (text: string): number => Number(text.split(/\s/).at(-1)?.replaceAll(',', ''));
  return cells.map(([attribute, value, own, rest]) => ({
    ...{ attribute, value, own: countIn(own), rest: countIn(rest) },
  }));
}

t.test(
  '15 values are compared between a selected span and the rest, with the counts of the API',
  async (t) => {
    await page.goto(`${service.http}/differences?${ADDRESS}`);
    await page.getByText('Drag over a stretch of the chart').waitFor();
    await page.goto(`${service.http}/differences?${ADDRESS}&sf=${SELECTED_FROM}&st=${SELECTED_TO}`);
    await settled();
    await page.getByText('900 selected events').waitFor();
    await page.locator('.answer .exact').first().waitFor();
    const found = await rows();
    t.match(
      found
        .slice(0, 2)
        .map(({ attribute }) => attribute)
        .sort(),
      ['host', 'level'],
    );
    t.ok(found.some(({ value, own, rest }) => value === HOSTILE && own === 300 && rest === 0));
    t.equal(await page.locator('.answer img').count(), 0, 'a value is no markup');
    for (const { attribute, value, own, rest } of found) {
      const search = `${attribute}:"${value}"`;
      const counted = await countOf(search, SELECTED_FROM, SELECTED_TO);
      t.equal(own, counted, `${search} in the selection`);
      t.equal(rest, (await countOf(search, FROM, TO)) - counted, `${search} in the rest`);
    }
    t.ok(
      found.some(({ attribute, own, rest }) => attribute === 'request' && own === 2 && rest > 0),
      'values are compared that are among the most frequent of one side alone',
    );
    t.same(await violations(page), []);
  },
);

t.test(
  '15 a selection by a search is compared with all others, and leads to its events',
  async (t) => {
    await page.goto(`${service.http}/differences?${ADDRESS}`);
    await page.getByLabel('Selected by a search').fill('level:error');
    await page.getByRole('button', { name: 'Compare' }).click();
    await settled();
    await page.getByText('300 selected events').waitFor();
    t.match(new URL(page.url()).searchParams.get('sq'), 'level:error');
    const host = (await rows()).find(({ value }) => value === HOSTILE);
    t.match(host, { attribute: 'host', own: 300, rest: 0 });
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByText('300 events', { exact: true }).waitFor();
    t.equal(new URL(page.url()).pathname, '/');
  },
);

t.test('15 a drag over the chart selects a span', async (t) => {
  await page.goto(`${service.http}/differences?${ADDRESS}`);
  const chart = await page.locator('.chart .u-over').boundingBox();
  if (chart === null) throw new Error('there is no chart');
  const y = chart.y + chart.height / 2;
  await page.mouse.move(chart.x + chart.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width * 0.5, y, { steps: 5 });
  await page.mouse.up();
  await settled();
  const { searchParams } = new URL(page.url());
  const from = Date.parse(searchParams.get('sf') ?? '');
  t.ok(Math.abs(from - BEGIN_MS - 900_000) < 60_000, 'the span begins where the drag began');
  t.equal(searchParams.get('from'), FROM, 'the range stays');
  t.match((await rows())[0], { rest: 0 });
});

t.test('15 a faulty selection is told beside its field, in the words of the API', async (t) => {
  await page.goto(`${service.http}/differences?${ADDRESS}`);
  await page.getByLabel('Selected by a search').fill('level:(');
  await page.getByRole('button', { name: 'Compare' }).click();
  const field = page.locator('.field', { hasText: 'Selected by a search' });
  t.match(await field.getByRole('alert').innerText(), /position/);
  await page.getByLabel('Selected by a search').fill('');
  await page.getByLabel('Selected from').fill('some day');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.field', { hasText: 'Selected from' }).getByRole('alert').waitFor();
  t.equal(await page.getByLabel('Selected from').inputValue(), 'some day');
});

t.test('15 exploring leads to what is different from the time around it', async (t) => {
  await page.goto(`${service.http}/?from=${SELECTED_FROM}&to=${SELECTED_TO}&tz=UTC`);
  await page.getByRole('button', { name: 'Take away all that is found' }).click();
  await page.getByRole('button', { name: 'What is different from the time around it' }).click();
  await settled();
  await page.getByText('900 selected events').waitFor();
  await page.getByText('beside 1,800 others').waitFor();
  t.same(viewer.faults, []);
});
