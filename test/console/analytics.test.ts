import type { Page } from 'playwright-core';
import t from 'tap';
import type { AggregateResult } from '../../server/console/api/contract.ts';
import { answerOf, Before } from '../../server/console/screens/analytics/answer.ts';
import { administer, firstUser, openViewer, PASSWORD, violations } from '../support/browser.ts';
import { request, send, testService } from '../support/service.ts';

const service = await testService(t);
const viewer = await openViewer();
t.teardown(async () => {
  await viewer.close();
});

const HOUR_MS = 3_600_000;
const BEGIN_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 4 * HOUR_MS;
const HOSTILE = '<img src=x onerror="document.title=\'broken\'">';
const SERVICES = ['shop', 'shop', 'shop', 'search', 'search', 'mail'];
const COUNT = 720;
/** Events of two hours, the later one with other services on top. */
await send(
  service,
  JSON.stringify(
    Array.from({ length: COUNT }, (_, at) => ({
      date: new Date(BEGIN_MS + at * 10_000).toISOString(),
      message: `order ${at} placed`,
      level: at % 5 === 0 ? 'error' : 'info',
      service: at === 400 ? HOSTILE : at >= 360 && at % 7 === 0 ? 'late' : SERVICES[at % 6],
      duration: at * 1.5,
      big: '12345678901234567890',
    })),
  ).replaceAll('"12345678901234567890"', '12345678901234567890'),
);
const FROM = new Date(BEGIN_MS + HOUR_MS).toISOString();
const TO = new Date(BEGIN_MS + 2 * HOUR_MS).toISOString();
const LATER = `from=${FROM}&to=${TO}&tz=UTC`;

const context = await viewer.browser.newContext();
await firstUser(service, context);
const page = await viewer.page({}, context);

interface Bucket {
  bucket: Record<string, string | number>;
  values: Record<string, number | null | { time: string; value: number | null }[]>;
}

/** The buckets that the API answers with, of the later hour. */
async function aggregate(body: object, from = FROM, to = TO): Promise<Bucket[]> {
  const answer = await request(`${service.http}/beta/events/aggregate`, {
    method: 'POST',
    headers: { 'x-api-key': service.readKey, 'content-type': 'application/json' },
    body: JSON.stringify({ time: { from, to, timezone: 'UTC' }, ...body }),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { aggregates: Bucket[] } }).result.aggregates;
}

async function visit(address: string, on: Page = page): Promise<void> {
  await on.goto(`${service.http}/analytics?${address}`);
  await settled(on);
}

/** Waits until an answer is there and nothing is loading. */
async function settled(on: Page = page): Promise<void> {
  await on.locator('.answer .exact').first().waitFor();
  await on.locator('.answer[aria-busy="true"]').waitFor({ state: 'detached' });
}

/** The texts of the cells of a table, a row each. */
function cells(name: string, on: Page = page): Promise<string[][]> {
  return on
    .getByRole('table', { name })
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())),
    );
}

const shown = (value: unknown): string =>
  Number.isSafeInteger(value) ? (value as number).toLocaleString('en-US') : String(value);

t.test('a time series has a chart and a table with the numbers of the API', async (t) => {
  await page.goto(`${service.http}/`);
  await page.getByRole('link', { name: 'Analytics' }).click();
  await page.getByRole('form', { name: 'Analysis' }).waitFor();
  await visit(`${LATER}&m=count,avg:custom.duration&step=10m`);
  await page.locator('.figure canvas').nth(1).waitFor();
  t.equal(await page.locator('.figure canvas').count(), 2);
  await page.locator('.figure summary').first().click();
  await page.getByRole('table', { name: 'count over time' }).waitFor();
  const [bucket] = await aggregate({
    compute: [{ timeseries: { metricId: 'count', interval: '10m', output: 'n' } }],
  });
  const series = bucket?.values['n'] as { time: string; value: number }[];
  t.same(
    (await cells('count over time')).map(([, count]) => count),
    series.map(({ value }) => shown(value)),
  );
  t.match(await page.locator('.cost').innerText(), /ms|s · read \d+ of \d+ block/);
});

t.test('a top list and a table are built in the form, and the address keeps them', async (t) => {
  await visit(LATER);
  await page.getByRole('button', { name: 'Top list' }).click();
  await page.getByRole('button', { name: 'Group by' }).click();
  await page.getByLabel('Group 1', { exact: true }).fill('custom.service');
  await page.getByLabel('Group 1', { exact: true }).press('Enter');
  await page.getByRole('table', { name: 'Buckets' }).getByText('shop').waitFor();
  t.equal(
    await page
      .getByLabel('Group 1', { exact: true })
      .evaluate((field) => field === document.activeElement),
    true,
    'the focus stays',
  );
  await page.getByRole('button', { name: 'Add a metric' }).click();
  await page.getByLabel('Metric 2', { exact: true }).fill('avg:custom.dur');
  await page.locator('datalist option[value="avg:custom.duration"]').waitFor({ state: 'attached' });
  await page.getByLabel('Metric 2', { exact: true }).fill('sum:custom.big');
  await page.getByLabel('Metric 2', { exact: true }).press('Enter');
  await page.getByRole('columnheader', { name: 'sum of big' }).waitFor();
  await page.getByLabel('Limit 1', { exact: true }).fill('3');
  await page.getByLabel('Limit 1', { exact: true }).press('Enter');
  await page.getByLabel('Order 1').selectOption({ label: 'Count, smallest first' });
  await page.waitForFunction(() => document.querySelectorAll('.answer tbody tr').length === 3);
  await settled();
  const wanted = await aggregate({
    compute: [
      { metric: { id: 'count', output: 'n' } },
      { metric: { id: 'sum:custom.big', output: 's' } },
    ],
    groupBy: [{ field: { id: 'custom.service', limit: 3, order: { n: 'asc' }, output: 'g' } }],
  });
  const rows = await cells('Buckets');
  t.same(
    rows.map(([name, count]) => [name, count]),
    wanted.map(({ bucket, values }) => [String(bucket['g']), shown(values['n'])]),
  );
  t.equal(rows[0]?.[2], '12345678901234567890', 'all digits are shown');
  t.equal(rows[0]?.[0], HOSTILE, 'a value is no markup');
  const address = page.url();
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  await page.waitForURL(/kind=table/);
  await page.goBack();
  t.equal(page.url(), address);
  await page.goto(address);
  await settled();
  t.same(await cells('Buckets'), rows, 'the address shows the same');
});

t.test('a table groups by three, also by time', async (t) => {
  await visit(`${LATER}&kind=table&step=30m&g=@time,custom.service*2,custom.level`);
  const wanted = await aggregate({
    compute: [{ metric: { id: 'count', output: 'n' } }],
    groupBy: [
      { time: { interval: '30m', output: 'x' } },
      { field: { id: 'custom.service', limit: 2, output: 'y' } },
      { field: { id: 'custom.level', output: 'z' } },
    ],
  });
  t.same(
    (await cells('Buckets')).map((row) => row.slice(1)),
    wanted.map(({ bucket, values }) => [bucket['y'], bucket['z'], shown(values['n'])]),
  );
});

t.test('the time before is counted for the same buckets, absent ones as none', async (t) => {
  await visit(`${LATER}&kind=toplist&g=custom.service*3&vs=1`);
  await page.getByRole('columnheader', { name: 'count, difference' }).waitFor();
  const group = (limit: number) => ({
    compute: [{ metric: { id: 'count', output: 'n' } }],
    groupBy: [{ field: { id: 'custom.service', limit, output: 'g' } }],
  });
  const now = await aggregate(group(3));
  const then = await aggregate(group(100), new Date(BEGIN_MS).toISOString(), FROM);
  const countThen = (name: unknown): number =>
    (then.find(({ bucket }) => bucket['g'] === name)?.values['n'] as number | undefined) ?? 0;
  t.same(
    (await cells('Buckets')).map(([name, count, earlier]) => [name, count, earlier]),
    now.map(({ bucket, values }) => [
      bucket['g'],
      shown(values['n']),
      shown(countThen(bucket['g'])),
    ]),
  );
  await visit(`${LATER}&m=count&step=10m&vs=1`);
  await page.getByRole('columnheader', { name: 'count, before' }).waitFor();
  t.same(
    (await cells('count over time')).map(([, count, earlier, by]) => [count, earlier, by]),
    Array.from({ length: 6 }, () => ['60', '60', '±0 (±0 %)']),
  );
});

t.test('a bucket and a step lead to their events', async (t) => {
  await visit(`${LATER}&kind=toplist&g=custom.service`);
  const [first] = await cells('Buckets');
  await page.getByRole('link', { name: 'shop', exact: true }).click();
  await page
    .locator('.total')
    .filter({ hasText: `${first?.[1]} events` })
    .waitFor();
  t.equal(await page.getByRole('combobox').inputValue(), 'service:shop');
  await page.goBack();
  await settled();
  await visit(`${LATER}&step=10m&q=level:error`);
  await page.getByRole('table').getByRole('link').nth(2).click();
  await page.locator('.total').filter({ hasText: '12 events' }).waitFor();
  t.equal(
    new URL(page.url()).searchParams.get('to'),
    new Date(BEGIN_MS + 1.5 * HOUR_MS).toISOString(),
  );
  await page.goBack();
  await settled();
  const plot = page.locator('.u-over');
  await plot.click({ position: { x: 20, y: 60 } });
  await page.locator('.total').filter({ hasText: '12 events' }).waitFor();
});

t.test(
  'a refusal stands beside its field in the words of the API, and what was typed stays',
  async (t) => {
    await visit(`${LATER}&kind=toplist&g=custom.service`);
    for (const [label, text] of [
      ['Metric 1', 'avg:nothing'],
      ['Group 1', 'no such field'],
      ['Limit 1', '5000'],
    ] as const) {
      const field = page.getByLabel(label, { exact: true });
      const before = await field.inputValue();
      await field.fill(text);
      await field.press('Enter');
      await page.locator('.field', { has: field }).locator('.field-fault').waitFor();
      t.equal(await field.inputValue(), text);
      t.equal(await field.getAttribute('aria-invalid'), 'true');
      await field.fill(before);
      await field.press('Enter');
      await page.locator('.field-fault').waitFor({ state: 'detached' });
    }
    await visit(`${LATER}&step=10m`);
    await page.getByLabel('Interval').fill('1 parsec');
    await page.getByLabel('Interval').press('Enter');
    await page
      .getByText(/^compute\[0\]\.timeseries\.interval/)
      .first()
      .waitFor();
    t.equal(await page.getByLabel('Interval').inputValue(), '1 parsec');
  },
);

t.test(
  'an analysis is saved in one click, opened, executed, and the API gives the same',
  async (t) => {
    await visit(
      `${LATER}&q=level:error&kind=toplist&m=count,max:custom.duration&g=custom.service*4`,
    );
    const rows = await cells('Buckets');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/is saved as/).waitFor();
    const { saved_analyses } = await administer<{ saved_analyses: { id: string; name: string }[] }>(
      service,
      'GET',
      'saved_analyses',
    );
    const [saved] = saved_analyses;
    const executed = await request(`${service.http}/beta/saved_analyses/${saved?.id}/execute`, {
      method: 'POST',
      headers: { 'x-api-key': service.readKey },
    });
    const { values } = (
      executed.body as {
        result: { values: { fields: Record<string, string>; metrics: Record<string, number> }[] };
      }
    ).result;
    t.same(
      values.map(({ fields, metrics }) => [
        fields['f0'],
        shown(metrics['m0']),
        shown(metrics['m1']),
      ]),
      rows,
    );

    await page.goto(`${service.http}/analytics`);
    await settled();
    await page.getByRole('button', { name: 'Saved analyses' }).click();
    await page.getByRole('link', { name: /^Open/ }).click();
    await page.getByRole('table', { name: 'Buckets' }).waitFor();
    await settled();
    t.same(await cells('Buckets'), rows);
    await page.getByRole('button', { name: 'Saved analyses' }).click();
    await page.getByRole('link', { name: /^Execute/ }).click();
    await page.getByText('as it is saved').waitFor();
    await settled();
    t.same(await cells('Buckets'), rows);

    await administer(service, 'POST', 'users', { name: 'rob', role: 'reader', password: PASSWORD });
    const other = await viewer.browser.newContext();
    await other.request.post(`${service.http}/account/session`, {
      headers: { origin: service.http },
      data: { name: 'rob', password: PASSWORD },
    });
    const theirs = await viewer.page({}, other);
    await visit('', theirs);
    t.equal(await theirs.getByRole('button', { name: 'Save', exact: true }).count(), 0);
    await theirs.getByRole('button', { name: 'Saved analyses' }).click();
    await theirs.getByLabel('Id of the analysis').fill(saved?.id ?? '');
    await theirs.getByRole('button', { name: 'Execute' }).click();
    await theirs.getByText('as it is saved').waitFor();
    await settled(theirs);
    t.same(await cells('Buckets', theirs), rows);
    const heads = theirs.getByRole('table', { name: 'Buckets' }).getByRole('columnheader');
    t.same(
      await heads.allInnerTexts(),
      await page.getByRole('table', { name: 'Buckets' }).getByRole('columnheader').allInnerTexts(),
      'a reader sees the names of groups and metrics',
    );
    await theirs
      .locator('.running b')
      .getByText(saved?.name ?? '')
      .waitFor();
    await other.close();
  },
);

t.test('a saved time series and a saved list are executed as they are', async (t) => {
  const time = { from: FROM, to: TO, timezone: 'UTC' };
  await administer(service, 'POST', 'saved_analyses', {
    ...{ name: 'By level', kind: 'timeseries', time },
    compute: [{ metric: { id: 'count' } }],
    groupBy: [{ field: { id: 'custom.level' } }, { time: { interval: '10m' } }],
  });
  await administer(service, 'POST', 'saved_analyses', {
    ...{ name: 'Errors', kind: 'list', time, filters: [{ search: 'level:error' }] },
  });
  await page.goto(`${service.http}/analytics?run=by_level`);
  await page.locator('.figure canvas').waitFor();
  const rows = await cells('count over time');
  t.same(
    rows.map((row) => row.slice(1)),
    Array.from({ length: 6 }, () => ['48', '12']),
  );
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.waitForURL(/step=10m/);
  await settled();
  t.same(
    (await cells('count over time')).map((row) => row.slice(1)),
    rows.map((row) => row.slice(1)),
  );
  await page.goto(`${service.http}/analytics?run=errors`);
  await page.getByRole('table', { name: 'Events' }).getByText('order 715 placed').waitFor();
  await page.goto(`${service.http}/analytics?run=nothing`);
  await page.getByRole('alert').filter({ hasText: 'nothing' }).waitFor();
});

t.test('of a bucket that an earlier answer may have cut off nothing is said', (t) => {
  const asked = {
    ...{ range: { fromMs: 0, toMs: 1 }, zone: 'UTC', query: '', step: '', metrics: ['count'] },
    groupings: ['a', 'b'],
  };
  const bucket = (g0: string, g1: string, m0: number) =>
    ({ bucket: { g0, g1 }, values: { m0 } }) as unknown as AggregateResult['aggregates'][number];
  const aggregates = [bucket('x', 'p', 3), bucket('x', 'q', 2), bucket('y', 'p', 1)];
  const earlier = new Before(answerOf({ ...asked, limits: [3, 2] }, { aggregates }));
  const countOf = (...groups: string[]) => {
    const [wanted] = answerOf(
      { ...asked, limits: [] },
      { aggregates: [bucket(groups[0] ?? '', groups[1] ?? '', 0)] },
    ).buckets;
    return wanted && earlier.valuesOf(wanted, 0, 0)?.[0];
  };
  t.equal(countOf('x', 'q'), 2);
  t.equal(countOf('x', 'r'), undefined, 'x has as many as it may have');
  t.equal(countOf('y', 'r'), 0, 'y has fewer');
  t.equal(countOf('z', 'p'), 0, 'all of the first are there');
  t.end();
});

t.test('the word on exactness says which numbers are near', async (t) => {
  const word = page.locator('.answer .exact').first();
  await visit(`m=count,sum:custom.duration&${LATER}`);
  t.equal((await word.innerText()).trim(), 'exact');
  await visit(`m=count,pc95:custom.duration,cardinality:custom.service&${LATER}`);
  t.match(
    await word.innerText(),
    /exact; percentiles .* within 0\.1 %, distinct values .* within 1 %/,
  );
});

t.test('an analysis is copied as a command line that asks the same', async (t) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit(`${LATER}&q=message:"order 7"&kind=toplist&g=custom.level`);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByRole('button', { name: 'Copied' }).or(page.getByText('Copied')).first().waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  t.match(text, /^curl -sS 'http.*\/beta\/events\/aggregate'/);
  const body = /-d '(.*)'$/s.exec(text)?.[1] ?? '';
  const again = await aggregate(JSON.parse(body));
  t.same(
    await cells('Buckets'),
    again.map(({ bucket, values }) => [bucket['g0'], shown(values['m0'])]),
  );
});

t.test('it is without violations, also with five charts, and no script failed', async (t) => {
  await visit(
    `${LATER}&m=count,avg:custom.duration,max:custom.duration,min:custom.duration,sum:custom.duration&g=custom.service&vs=1`,
  );
  await page.locator('.figure canvas').nth(4).waitFor();
  t.same(await violations(page), []);
  t.same(viewer.faults, []);
});
